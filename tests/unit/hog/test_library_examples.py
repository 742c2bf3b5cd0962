"""The example of every library function prints what the table says."""

import pytest

from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.stdlib.table import STL


@pytest.mark.parametrize("entry", STL.values(), ids=lambda entry: entry.name)
def test_example_prints_what_the_table_says(entry) -> None:
    outcome = run_program(entry.example)

    assert outcome.error is None
    if entry.printed is not None:
        assert "\n".join(outcome.lines) == entry.printed


@pytest.mark.parametrize("entry", STL.values(), ids=lambda entry: entry.name)
def test_wrong_number_of_arguments_is_named(entry) -> None:
    most = entry.most
    if most is None and entry.least == 0:
        pytest.skip("takes any number of arguments")
    count = entry.least - 1 if entry.least else (most or 0) + 1
    if entry.name in {"if", "not", "and", "or", "multiIf", "ifNull", "in"}:
        pytest.skip("an operator when called")

    outcome = run_program(f"{entry.name}({', '.join(['1'] * count)})")

    if entry.name == "sleep":
        assert outcome.error is None or "requires" in outcome.error.text
    else:
        assert outcome.error is not None
        assert outcome.error.text.startswith(f"Function {entry.name} requires")


NULL_RULE = {
    "lower": "null", "upper": "null", "reverse": "null", "trim": "null", "length": "null",
    "splitByString(',', null)": "null", "replaceOne(null, 'a', 'b')": "null",
    "substring(null, 1)": "null", "extractRegex(null, 'a')": "null",
    "match(null, 'a')": "false", "match('a', null)": "false", "startsWith(null, 'a')": "false",
    "base64Encode": "null", "tryBase64Decode": "null", "encodeURLComponent": "null",
    "decodeURLComponent": "null", "md5": "null", "sha256Hex": "null",
    "sha256HmacChainHex": "null", "jsonParse": "null", "JSONHas(null, 'a')": "false",
    "JSONLength": "0", "JSONExtractBool": "false", "JSONExtractString": "null",
    "keys": "[]", "values": "[]", "empty": "true", "has(null, 1)": "false",
    "indexOf(null, 1)": "0", "arrayPushBack(null, 1)": "[1]", "arrayPopBack": "[]",
    "arraySort": "[]", "arrayReverse": "[]", "arrayStringConcat": "",
    "arrayMap(x -> x, null)": "[]", "arrayFilter(x -> x, null)": "[]",
    "arrayExists(x -> x, null)": "false", "arrayCount(x -> x, null)": "0",
    "arrayReduce((a, b) -> a, null, 5)": "5", "toDate": "null", "toDateTime": "null",
    "fromUnixTimestamp": "null", "toUnixTimestamp": "null", "toTimeZone(null, 'UTC')": "null",
    "formatDateTime(null, '%Y')": "null", "dateAdd('day', 1, null)": "null",
    "dateDiff('day', null, null)": "null", "dateTrunc('day', null)": "null",
    "addDays(null, 1)": "null", "toYear": "null", "toStartOfDay": "null",
    "isIPAddressInRange(null, '10.0.0.0/8')": "false", "toInt": "null", "toFloat": "null",
    "toString": "null", "less(null, 1)": "false", "sortableSemver": "null",
}  # fmt: skip


@pytest.mark.parametrize("call", NULL_RULE)
def test_null_subject(call: str) -> None:
    source = call if "(" in call else f"{call}(null)"

    assert run_program(f"print({source})").lines == [NULL_RULE[call]]


@pytest.mark.parametrize(
    ("call", "function", "argument"),
    [
        ("lower(5)", "lower", "text"),
        ("splitByString(',', 5)", "splitByString", "text"),
        ("sha256Hex([])", "sha256Hex", "data"),
        ("sha256HmacChainHex('a')", "sha256HmacChainHex", "data"),
        ("toYear(5)", "toYear", "date"),
    ],
)
def test_wrong_type_names_function_and_argument(call: str, function: str, argument: str) -> None:
    outcome = run_program(f"try {{ {call} }} catch (e) {{ print('caught') }}")

    assert outcome.lines == []
    assert outcome.error is not None
    assert outcome.error.kind == "engine"
    assert function.removesuffix("Hex") in outcome.error.text
    assert argument in outcome.error.text
