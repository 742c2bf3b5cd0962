"""What every kind's ``build`` gives."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hoglet.hogql.insights.date_range import Span

type Rows = Sequence[Sequence[Any]]


class Built(msgspec.Struct, frozen=True):
    """Queries to run, how their rows become results, and the dates they cover."""

    queries: Sequence[Any]
    shape: Callable[[Sequence[Rows]], list[Any] | dict[str, Any]]
    span: Span
