"""Materialization of queries with variables: eligibility, building and reading of tables."""

from hoglet.hogql.materialize.plan import (
    ColumnRange,
    MaterialisationPlan,
    MergeableAggregate,
    plan_materialisation,
)
from hoglet.hogql.materialize.refusal import Refusal

__all__ = [
    "ColumnRange",
    "MaterialisationPlan",
    "MergeableAggregate",
    "Refusal",
    "plan_materialisation",
]
