"""Resolves syntax trees to plans: names, types, lazy joins, function calls."""

from hoglet.hogql.resolve.node_resolver import NodeResolver

__all__ = ["NodeResolver"]
