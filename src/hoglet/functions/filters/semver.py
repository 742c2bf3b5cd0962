"""Version ranges of the ``semver_*`` operators, as comparisons of ``sortableSemver`` arrays."""

import re

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.nodes import all_of, call, compare, constant
from hoglet.syntax import tree

_COMPARISONS = {
    "semver_eq": "==",
    "semver_neq": "!=",
    "semver_gt": ">",
    "semver_gte": ">=",
    "semver_lt": "<",
    "semver_lte": "<=",
}
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-+].*)?", re.IGNORECASE)
_WILDCARD = re.compile(r"v?(\d+(?:\.\d+)*)(?:\.[*xX])+|[*xX]", re.IGNORECASE)

OPERATORS = frozenset({*_COMPARISONS, "semver_tilde", "semver_caret", "semver_wildcard"})


def compare_versions(
    subject: "tree.Expression", operator: str, version: object
) -> "tree.Expression":
    """A version test.

    Args:
        subject: the property.
        operator: one of :data:`OPERATORS`.
        version: ``1.2.3``; for ``semver_wildcard`` ``1.2.*``.

    Raises:
        FilterRefused: the version is not of that form.
    """
    text = str(version).strip()
    if operator in _COMPARISONS:
        return _test(subject, _COMPARISONS[operator], text)
    if operator == "semver_wildcard":
        return _within(subject, *_wildcard_range(text))
    numbers = _numbers(text)
    following = _tilde(numbers) if operator == "semver_tilde" else _caret(numbers)
    return _within(subject, text, following)


def _test(subject: "tree.Expression", operator: str, version: str) -> "tree.Expression":
    wanted = call("sortableSemver", constant(version))
    return compare(call("sortableSemver", subject), operator, wanted)


def _within(subject: "tree.Expression", low: str, below: str) -> "tree.Expression":
    return all_of([_test(subject, ">=", low), _test(subject, "<", below)])


def _numbers(text: str) -> list[int]:
    match = _NUMBERS.fullmatch(text)
    if match is None:
        raise FilterRefused(f'"{text}" is not a version: expected numbers such as 1.2.3')
    return [int(part) for part in match[1].split(".")]


def _tilde(numbers: list[int]) -> str:
    """``~1.2.3`` ends below 1.3.0, ``~1`` below 2.0.0."""
    if len(numbers) == 1:
        return f"{numbers[0] + 1}.0.0"
    return f"{numbers[0]}.{numbers[1] + 1}.0"


def _caret(numbers: list[int]) -> str:
    """``^1.2.3`` ends below 2.0.0, ``^0.2.3`` below 0.3.0, ``^0.0.3`` below 0.0.4."""
    padded = [*numbers, 0, 0][:3]
    for index, number in enumerate(padded):
        if number or index == len(numbers) - 1 or index == len(padded) - 1:
            upper = [*padded[:index], number + 1, 0, 0][:3]
            return ".".join(str(part) for part in upper)
    raise AssertionError  # the last index always returns


def _wildcard_range(text: str) -> tuple[str, str]:
    match = _WILDCARD.fullmatch(text)
    if match is None:
        raise FilterRefused(f'"{text}" is not a version pattern: expected one such as 1.2.*')
    if match[1] is None:
        raise FilterRefused("A version pattern needs at least one number, such as 1.*")
    numbers = [int(part) for part in match[1].split(".")]
    low = [*numbers, 0, 0][: max(3, len(numbers))]
    upper = [*numbers[:-1], numbers[-1] + 1, 0, 0][: max(3, len(numbers))]
    return ".".join(map(str, low)), ".".join(map(str, upper))
