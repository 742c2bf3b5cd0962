"""Whether a query with variables can be kept as a table, and how that table is built and read."""

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
