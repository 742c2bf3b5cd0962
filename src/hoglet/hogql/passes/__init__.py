"""Rewrites of a resolved plan, one a file, in order. Each takes and gives a whole plan."""

from collections.abc import Callable

from hoglet.hogql.plan import Relation

PASSES: tuple[Callable[[Relation], Relation], ...] = ()
"""What ``compile_query`` applies between resolving and enforcing."""
