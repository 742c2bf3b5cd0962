"""The last stages: tenancy and allow-lists before printing, and verification after it."""

from hoglet.hogql.enforce.tenancy import enforce
from hoglet.hogql.enforce.verify import verify_sql

__all__ = ["enforce", "verify_sql"]
