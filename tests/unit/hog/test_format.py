"""The formatter changes layout only."""

import random
from typing import Any

import pytest

from hoglet.hog.format import format_program
from hoglet.kit.errors import SourceError
from hoglet.syntax.scan import Piece, pieces
from support.hog_cases import read_cases

MESSY = """

let   a:=1   // one
-- two
fun f( x,y ){
return x
      }


/* block */
if (a>1){ print( f'a {  x }' ,'it''s' ) }
"""
NEAT = """\
let a := 1  // one
-- two
fun f(x, y) {
    return x
}

/* block */
if (a > 1) { print(f'a {  x }', 'it''s') }
"""


def test_layout() -> None:
    assert format_program(MESSY) == NEAT


@pytest.mark.parametrize(
    ("source", "neat"),
    [
        ("if(a){b}else{c}", "if (a) { b } else { c }"),
        ("let x:=if(a, 1, 2)", "let x := if(a, 1, 2)"),
        ("let w:=a- -1+(-b)", "let w := a - -1 + (-b)"),
        ("for(let i:=0;i<3;i:=i+1){p(i)}", "for (let i := 0; i < 3; i := i + 1) { p(i) }"),
        ("try{a}catch(e:T){b}catch{}", "try { a } catch (e: T) { b } catch {}"),
        ("let o:={'a':b?c:d}", "let o := {'a': b ? c : d}"),
        ("a<>b", "a <> b"),
        ("1e-7-2", "1e-7 - 2"),
        ("f(/* x */a) // y", "f(/* x */ a)  // y"),
        ("let a :=\n1\n+ 2", "let a :=\n    1\n    + 2"),
        ("if (a)\nb\nelse\nc", "if (a)\n    b\nelse\n    c"),
        ("f(u, {\n'a': 1\n})", "f(u, {\n    'a': 1\n})"),
        ("f(\n// why\n1\n)", "f(\n    // why\n    1\n)"),
    ],
)
def test_spaces_and_lines(source: str, neat: str) -> None:
    assert format_program(source) == neat + "\n"


@pytest.mark.parametrize("seed", range(3))
def test_any_layout_keeps_its_meaning_and_is_done_once(seed: int) -> None:
    choice = random.Random(seed).choice  # noqa: S311 (a test)
    for case in read_cases():
        if case.compile_error is None:
            once = format_program("".join([_moved(piece, choice) for piece in pieces(case.source)]))
            assert format_program(once) == once


def _moved(piece: Piece, choice: Any) -> str:
    if piece.kind == "space":
        return choice([" ", "\n", "\n\n", "\t", piece.text])
    return piece.text + ("\n" if piece.kind == "comment" else "")


@pytest.mark.parametrize(
    "case", [case for case in read_cases() if case.compile_error is None], ids=repr
)
def test_formatting_twice_changes_nothing_more(case) -> None:
    once = format_program(case.source)

    assert format_program(once) == once


def test_text_that_does_not_parse_is_refused() -> None:
    with pytest.raises(SourceError):
        format_program("let := 1")
