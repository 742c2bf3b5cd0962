"""The scanner finds the bounds of strings, templates, tags and comments."""

import pytest

from hoglet.syntax.scan import pieces, template_tokens, tokens


def texts(source: str) -> list[str]:
    return [token.text for token in tokens(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a - -1 -- b", ["a", "-", "-", "1"]),
        ("'it''s \\' (' + 1", ["'it''s \\' ('", "+", "1"]),
        ("f'a {b + f'{c}'} \\{ d' e", ["f'", "${", "b", "+", "f'", "${", "c", "}", "}", "e"]),
        ("f'{ {'a': 1} }'", ["f'", "${", "{", "'a'", ":", "1", "}", "}"]),
        ("a <b> c", ["a", "<", "b", ">", "c"]),
        ("return <b>it's // {x}</b> + 1", ["return", "<", "${", "x", "}", ">", "+", "1"]),
        ("<a b={1} c='x'/> d", ["<", "${", "1", "}", ">", "d"]),
        ("<a><b/></a>", ["<", "<", ">", ">"]),
        ("x -> y ?? z =~* w", ["x", "->", "y", "??", "z", "=~*", "w"]),
        ("/* ( */ a // )", ["a"]),
        ("'open (", []),
        ('`a``b` "c"', ["`a``b`", '"c"']),
    ],
)
def test_tokens(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_template_text_is_scanned_in_its_braces_only() -> None:
    texts = [token.text for token in template_tokens("it's (( {a} ' {b")]

    assert texts == ["${", "a", "}", "${", "b"]


@pytest.mark.parametrize("source", ["let a := f'x {y}' -- c\n<a>b</a>\n\t'q'", "'open", "", "f'{"])
def test_pieces_joined_are_the_text(source: str) -> None:
    assert "".join(piece.text for piece in pieces(source)) == source
