"""The limits of tenant tokens: the last value that is accepted, and the first that is not."""

from typing import Any

import pytest

from hoglet.access.tenant_tokens.codec import (
    MAX_ENDPOINTS,
    MAX_TOKEN_CHARACTERS,
    MAX_VALUES,
    MAX_VARIABLES,
    grant_problem,
    read_token,
)
from hoglet.kit.errors import Unauthenticated


@pytest.mark.parametrize(
    ("count", "refused"),
    [(0, True), (1, False), (MAX_ENDPOINTS, False), (MAX_ENDPOINTS + 1, True)],
)
def test_endpoints_of_a_token(count: int, *, refused: bool) -> None:
    assert (grant_problem(["e"] * count, {}) is not None) == refused


@pytest.mark.parametrize(("count", "refused"), [(MAX_VARIABLES, False), (MAX_VARIABLES + 1, True)])
def test_variables_of_a_token(count: int, *, refused: bool) -> None:
    variables = {f"v{number}": 1 for number in range(count)}
    assert (grant_problem(["e"], variables) is not None) == refused


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ([], True),
        ([1], False),
        ([1] * MAX_VALUES, False),
        ([1] * (MAX_VALUES + 1), True),
        (-(2**63), False),
        (-(2**63) - 1, True),
        (2**64 - 1, False),
        (2**64, True),
        ([1, 2**64], True),
        (float("inf"), True),
        ([float("nan")], True),
        (None, True),
        ([None], True),
        ([[1]], True),
        (False, False),
        ("", False),
    ],
)
def test_values_of_a_token(value: Any, *, refused: bool) -> None:
    assert (grant_problem(["e"], {"v": value}) is not None) == refused


def test_the_longest_token_is_read() -> None:
    head = "pht_eyJhbGciOiJIUzI1NiIsImtpZCI6ImEifQ."
    claims = "A" * ((MAX_TOKEN_CHARACTERS - len(head) - len(".AA")) // 4 * 4)
    padded = (MAX_TOKEN_CHARACTERS - len(head) - len(claims) - 1) // 4 * 4
    longest = f"{head}{claims}.{'A' * padded}"
    assert MAX_TOKEN_CHARACTERS - 4 < len(longest) <= MAX_TOKEN_CHARACTERS
    assert read_token(longest).key_id == "a"
    with pytest.raises(Unauthenticated):
        read_token(longest + "AAAA")


@pytest.mark.parametrize("changed", ["AB", "A_"])
def test_unused_bits_of_a_part_cannot_be_changed(changed: str) -> None:
    head = "pht_eyJhbGciOiJIUzI1NiIsImtpZCI6ImEifQ."
    assert read_token(f"{head}AA.AA").signature == b"\0"
    with pytest.raises(Unauthenticated):
        read_token(f"{head}AA.{changed}")
