"""The last stage before printing: tenancy and allow-lists; and the check of what was printed."""

from hoglet.hogql.enforce.tenancy import enforce
from hoglet.hogql.enforce.verify import verify_sql

__all__ = ["enforce", "verify_sql"]
