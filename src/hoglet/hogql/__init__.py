"""HogQL: compiles user queries to ClickHouse SQL, scoped to one project. Pure."""

from typing import TYPE_CHECKING

from hoglet.kit.lazy_exports import lazy_exports

if TYPE_CHECKING:
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

# A server imports parts of this package, but hardly ever compiles a query itself.
__getattr__ = lazy_exports(
    __name__,
    {
        "CompiledQuery": "hoglet.hogql.compile",
        "Limits": "hoglet.hogql.context",
        "OutputColumn": "hoglet.hogql.compile",
        "QueryContext": "hoglet.hogql.context",
        "ResolvedLimit": "hoglet.hogql.paging.limit",
        "SavedColumn": "hoglet.hogql.context",
        "SavedTable": "hoglet.hogql.context",
        "compile_query": "hoglet.hogql.compile",
        "cut_page": "hoglet.hogql.paging.limit",
        "property_condition": "hoglet.hogql.filters.properties",
    },
)
