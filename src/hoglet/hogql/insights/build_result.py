"""The result type of every kind's ``build``."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hoglet.hogql.insights.date_range import DateSpan

type Rows = Sequence[Sequence[Any]]


class Built(msgspec.Struct, frozen=True):
    """The queries to run, how their rows become results, and the date range."""

    queries: Sequence[Any]
    shape: Callable[[Sequence[Rows]], list[Any] | dict[str, Any]]
    span: DateSpan
