"""What library functions do with the objects and arrays they are given."""

from typing import Any, Final

from hoglet.hog.bind import tree as bound

LAMBDA_PARAMETER: Final = {
    "arrayMap": 0, "arrayFilter": 0, "arrayExists": 0, "arrayCount": 0, "arrayReduce": 1,
}  # fmt: skip
"""Callback functions: which parameter of the lambda gets the items."""

BY_IDENTITY: Final = frozenset(
    {"has", "indexOf", "in", "equals", "notEquals", "inCohort", "notInCohort"}
)
"""Library functions that compare objects and arrays by identity."""

HANDS_ON: Final = frozenset(
    {
        "ifNull", "coalesce", "assumeNotNull", "if", "multiIf", "tuple", "min2", "max2", "values",
        "arrayPushBack", "arrayPushFront", "arrayPopBack", "arrayPopFront", "arraySort",
        "arrayReverseSort", "arrayReverse", "JSONExtract", "JSONExtractArrayRaw", "Error",
        "RetryError", "NotImplementedError", "HogError", "toIntervalDay", "toIntervalHour",
        "toIntervalMinute", "toIntervalMonth",
    }
)  # fmt: skip
"""Library functions whose result may contain their arguments."""


def formatted_arguments(node: bound.CallGlobal) -> tuple[Any, ...]:
    """The arguments of ``print``, and of ``jsonStringify`` without a number of spaces."""
    is_compact = node.name == "jsonStringify" and len(node.arguments) == 1
    return node.arguments if node.name == "print" or is_compact else ()


def lambda_argument(node: Any, host_names: frozenset[str]) -> bound.BoundFunction | None:
    """The lambda written as the argument of ``arrayMap`` or a similar function, else None."""
    if not isinstance(node, bound.CallGlobal) or node.name in host_names:
        return None
    if node.name not in LAMBDA_PARAMETER or len(node.arguments) < 2:
        return None
    callee = node.arguments[0]
    return callee.function if isinstance(callee, bound.MakeFunction) else None
