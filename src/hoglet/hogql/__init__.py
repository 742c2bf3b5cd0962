"""HogQL: compiles user queries to ClickHouse SQL, scoped to one project. Pure."""

from hoglet.hogql.compile import CompiledQuery, OutputColumn, compile_query
from hoglet.hogql.context import Limits, QueryContext, SavedColumn, SavedTable
from hoglet.hogql.filters.properties import property_condition
from hoglet.hogql.paging.limit import ResolvedLimit, cut_page

__all__ = [
    "CompiledQuery",
    "Limits",
    "OutputColumn",
    "QueryContext",
    "ResolvedLimit",
    "SavedColumn",
    "SavedTable",
    "compile_query",
    "cut_page",
    "property_condition",
]
