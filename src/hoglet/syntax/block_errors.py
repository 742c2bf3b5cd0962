"""Finds the place of a parse error inside blocks.

The body of ``if``, ``while``, ``for`` and ``try`` may be a block or a dictionary. If a block has an
error, the parser reports at its first statements why it is not a dictionary. The body of a function
is always a block, so parsing the block as a function body reports the actual error.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hoglet.kit.errors import SourceError
from hoglet.syntax.scan import Token, tokens

FUNCTION_HEAD = "fun f(){"
_BEFORE_BLOCKS = frozenset([")", "else", "try", "finally", "catch", "->", ";", "{", "}"])
_BRACES = frozenset(["{", "${"])


def error_in_blocks(
    source: str, error: SourceError, parse_block: Callable[[str], object]
) -> SourceError:
    """The error of the innermost block around an error, or the error itself.

    Args:
        source: the whole program.
        error: the error that the parser reported for it.
        parse_block: parses ``FUNCTION_HEAD`` and a text with the offsets of ``source``; raises
            SourceError.
    """
    for block in sorted(_blocks(source)):
        if block.reported_from <= error.start <= block.end:
            before = "".join([each if each == "\n" else " " for each in source[: block.start]])
            try:
                parse_block(f"{FUNCTION_HEAD}{before}{source[block.start : block.end]}")
            except SourceError as inner:
                error = inner
    return error


class _Block(NamedTuple):
    """Offsets of a block: after its opening brace, and after its closing one."""

    start: int
    end: int
    reported_from: int  # the parser reports errors in the block at or after this offset


def _blocks(source: str) -> Iterator[_Block]:
    """The blocks of statements; one that is not closed ends with the source."""
    all_tokens = [Token("end", ";", 0), *tokens(source)]
    opened: list[int] = []
    parenthesis = 0  # index of the opening parenthesis closed last
    reported_from: dict[int, int] = {}
    for number, token in enumerate(all_tokens):
        if token.kind == "open":
            is_loop = (
                all_tokens[number - 1].text == ")" and all_tokens[parenthesis - 1].text == "for"
            )
            reported_from[number] = all_tokens[parenthesis if is_loop else number].offset
            opened.append(number)
        elif token.text == "}":
            while opened and all_tokens[opened[-1]].text not in _BRACES:
                opened.pop()  # its closing bracket is missing
            if opened and _is_block(all_tokens, opener := opened.pop()):
                yield _Block(all_tokens[opener].offset + 1, token.offset + 1, reported_from[opener])
        elif token.kind == "close" and opened and all_tokens[opened[-1]].text not in _BRACES:
            parenthesis = opened.pop()
    for opener in opened:
        if _is_block(all_tokens, opener):
            yield _Block(all_tokens[opener].offset + 1, len(source), reported_from[opener])


def _is_block(all_tokens: list[Token], opener: int) -> bool:
    """Whether statements follow rather than the first key of a dictionary and its colon."""
    following = all_tokens[opener + 2 : opener + 3]
    is_key = bool(following) and following[0].text == ":"
    return (
        all_tokens[opener].text == "{"
        and all_tokens[opener - 1].text in _BEFORE_BLOCKS
        and not is_key
    )
