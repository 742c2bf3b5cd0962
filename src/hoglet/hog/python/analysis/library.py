"""What library functions do with the objects and arrays they are given."""

from typing import Final

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
