"""Comparisons as functions: what ``<`` and ``NOT LIKE`` are called in HogQL and in ClickHouse."""

from typing import Final

COMPARISONS: Final = {
    "==": "equals",
    "!=": "notEquals",
    "<": "less",
    "<=": "lessOrEquals",
    ">": "greater",
    ">=": "greaterOrEquals",
    "like": "like",
    "ilike": "ilike",
    "not like": "notLike",
    "not ilike": "notILike",
    "in": "in",
    "not in": "notIn",
}
