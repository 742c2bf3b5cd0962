"""Runs every HogQL conformance case: the generated SQL, and the rows on a real engine.

The rows also conform to the schema of the OpenAPI documents of endpoints.
"""

import re
from typing import Any

import msgspec
import pytest

from hoglet.hogql import compile_query, cut_page
from hoglet.hogql.paging.keyset import RowPage
from hoglet.kit.errors import SourceError
from support.hogql_cases import Case, read_cases
from support.hogql_world import CONTEXT, HogqlWorld, plain_rows
from support.row_schemas import violations

CASES = read_cases()
REFUSED = [case for case in CASES if "refused" in case.given]
ANSWERED = [case for case in CASES if "refused" not in case.given]
_REFUSED = re.compile(r'(?P<code>\w+)(?: at (?P<place>\d+:\d+))?(?:: "(?P<text>.*)")?')


def compile_case(case: Case) -> Any:
    given = case.given
    context = msgspec.structs.replace(CONTEXT, timezone=given.get("timezone", "UTC"))
    return compile_query(
        case.query,
        context=context,
        variables=given.get("variables"),
        filters=given.get("filters"),
        values=given.get("values"),
        page=RowPage(given.get("limit"), given.get("offset")),
    )


@pytest.mark.parametrize("case", REFUSED, ids=repr)
def test_refused(case: Case) -> None:
    expected = _REFUSED.fullmatch(case.given["refused"])
    assert expected is not None

    with pytest.raises(SourceError) as caught:
        compile_case(case)

    assert caught.value.error_code == expected["code"]
    if expected["place"]:
        assert f"{caught.value.line}:{caught.value.column}" == expected["place"]
    if expected["text"]:
        assert expected["text"] in caught.value.message


@pytest.mark.parametrize("case", ANSWERED, ids=repr)
def test_answered(case: Case, hogql_world: HogqlWorld) -> None:
    compiled = compile_case(case)
    if case.becomes:
        assert compiled.sql == case.becomes
    if "params" in case.given:
        assert {k: v for k, v in compiled.params.items() if k != "project_id"} == case.given[
            "params"
        ]
    if "columns" in case.given:
        assert [column.name for column in compiled.columns] == case.given["columns"]
    if "types" in case.given:
        assert [column.type for column in compiled.columns] == case.given["types"]
    answer = hogql_world.answer(compiled)
    rows, more = cut_page(plain_rows(answer), compiled.limits)
    if "rows" in case.given:
        assert rows == case.given["rows"]
    if "has more" in case.given:
        assert more == case.given["has more"]
    assert violations(compiled, answer, case.given.get("timezone", "UTC")) == []
