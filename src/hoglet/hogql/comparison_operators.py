"""Comparison operators as functions of HogQL and ClickHouse."""

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
