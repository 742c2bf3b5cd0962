"""What editors show of a query: all its errors, what it reads, how it will be run."""

from hoglet.hogql.inspection.inspect import Inspection, inspect_query
from hoglet.hogql.inspection.property_reads import PropertyRead

__all__ = ["Inspection", "PropertyRead", "inspect_query"]
