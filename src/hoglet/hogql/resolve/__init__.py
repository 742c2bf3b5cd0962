"""Syntax trees to plans: names, types, lazily joined tables, function calls."""

from hoglet.hogql.resolve.node_resolver import NodeResolver

__all__ = ["NodeResolver"]
