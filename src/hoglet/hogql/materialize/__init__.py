"""Materialization of queries with variables: eligibility, and building and reading tables."""

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
