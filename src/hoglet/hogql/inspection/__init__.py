"""Inspection of queries for editors: all errors, what they read, and their plan."""

from hoglet.hogql.inspection.inspect import Inspection, inspect_query
from hoglet.hogql.inspection.property_reads import PropertyRead

__all__ = ["Inspection", "PropertyRead", "inspect_query"]
