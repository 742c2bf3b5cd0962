"""Syntax trees to plans: names, types, lazily joined tables, function calls."""

from hoglet.hogql.resolve.resolver import Resolver

__all__ = ["Resolver"]
