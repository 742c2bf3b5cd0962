"""Materialization of queries with variables: eligibility, building and reading of tables."""

from hoglet.hogql.materialize.plan import (
    Aggregate,
    MaterialisationPlan,
    RangePair,
    plan_materialisation,
)
from hoglet.hogql.materialize.refusal import Refusal

__all__ = [
    "Aggregate",
    "MaterialisationPlan",
    "RangePair",
    "Refusal",
    "plan_materialisation",
]
