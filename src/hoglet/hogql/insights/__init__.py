"""Translates insight queries to HogQL trees, and their rows to results.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from hoglet.hogql.insights.breakdowns import has_rest
from hoglet.hogql.insights.plan import (
    InsightPlan,
    build_insight,
    compile_insight,
    expressions,
)

__all__ = ["InsightPlan", "build_insight", "compile_insight", "expressions", "has_rest"]
