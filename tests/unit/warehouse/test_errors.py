"""Messages of the engine, as chDB and as servers write them."""

import pytest

from hoglet.warehouse.errors import plain_message

_SCOPE = "In scope SELECT nope(1)"
_VERSION = "(version 25.8.1.5101 (official build))"


@pytest.mark.parametrize(
    "message",
    [
        "Code: 46. DB::Exception: No such function",
        "Code: 46. DB::Exception: No such function. (UNKNOWN_FUNCTION)",
        f"Code: 46. DB::Exception: No such function. {_SCOPE}. (UNKNOWN_FUNCTION)",
        f"Code: 46. DB::Exception: No such function. (UNKNOWN_FUNCTION) {_VERSION}",
        f"Code: 46. DB::Exception: No such function. {_SCOPE}. (UNKNOWN_FUNCTION) {_VERSION}",
        (
            "Received ClickHouse exception, code: 46, server response: Code: 46. DB::Exception: "
            f"No such function. (UNKNOWN_FUNCTION) {_VERSION} (for url http://warehouse:8123)"
        ),
        (
            "Received ClickHouse exception, code: 46, server response: Code: 46. DB::Exception: "
            "No such function. (UNKNOWN_FUNCTION) (for url http://warehouse:8123)"
        ),
        (
            "Received ClickHouse exception, code: 46, server response: Code: 46. DB::Exception: "
            "Received from shard-2:9000. DB::Exception: No such function. Stack trace: 1. 2. 3."
        ),
    ],
)
def test_only_the_sentence_remains(message: str) -> None:
    assert plain_message(message).removesuffix(".") == "No such function"


@pytest.mark.parametrize(
    "text", ["Write (A) or (AB)", "Use toFloat(x) (see docs)", "(NULL) or not"]
)
def test_parentheses_of_the_sentence_remain(text: str) -> None:
    message = f"Code: 46. DB::Exception: {text}. (UNKNOWN_FUNCTION) {_VERSION}"

    assert plain_message(message).removesuffix(".") == text
