"""The formatter changes layout only."""

import pytest

from hoglet.hog.format import format_program
from hoglet.kit.errors import SourceError
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
if (a>1) { print(f'a {  x }', 'it''s') }
"""


def test_layout() -> None:
    assert format_program(MESSY) == NEAT


@pytest.mark.parametrize(
    "case", [case for case in read_cases() if case.compile_error is None], ids=repr
)
def test_formatting_twice_changes_nothing_more(case) -> None:
    once = format_program(case.source)

    assert format_program(once) == once


def test_text_that_does_not_parse_is_refused() -> None:
    with pytest.raises(SourceError):
        format_program("let := 1")
