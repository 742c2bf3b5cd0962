"""Spans of OpenTelemetry, where a tracer is installed; without one, calls cost next to nothing.

A trace goes from process to process as a ``traceparent`` (W3C Trace Context), in the spooled
request and in the job of a run.

Source: docs/operating.md#traces; docs/adr/0046-traces.md.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Literal, Protocol

type Kind = Literal["internal", "server", "client", "producer", "consumer"]
type Attributes = Mapping[str, str | int | float | bool]


class Span(Protocol):
    """Work in progress."""

    @property
    def is_recorded(self) -> bool:
        """Whether attributes are kept."""
        ...

    @property
    def parent_header(self) -> str | None:
        """The ``traceparent`` of what this span causes; None without a tracer."""
        ...

    def set(self, name: str, value: str | float) -> None:
        """Add an attribute."""
        ...

    def rename(self, name: str) -> None:
        """Give it its final name."""
        ...

    def fail(self, kind: str) -> None:
        """Mark it as failed; ``kind`` names the error, without user data."""
        ...

    def end(self) -> None:
        """End a span of :meth:`Tracer.start`."""
        ...


class Tracer(Protocol):
    """Starts spans; the implementation is in :mod:`hoglet.app.startup.tracing`."""

    def start(
        self, name: str, *, parent: str | None, kind: Kind, attributes: Attributes | None
    ) -> Span:
        """A span below ``parent``, or below the current span."""
        ...

    def current(self, span: Span) -> AbstractContextManager[None]:
        """Make a span the parent of those that start during the block."""
        ...

    def parent_header(self) -> str | None:
        """The ``traceparent`` of the current span."""
        ...


class _NoSpan:
    """Stands for a span without a tracer."""

    is_recorded: bool = False
    parent_header: str | None = None

    def set(self, name: str, value: str | float) -> None:
        """Nothing."""

    def rename(self, name: str) -> None:
        """Nothing."""

    def fail(self, kind: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


_NO_SPAN = _NoSpan()
_NOTHING: AbstractContextManager[Span] = nullcontext(_NO_SPAN)


class _Installed:
    tracer: Tracer | None = None


def install(tracer: Tracer | None) -> None:
    """Set the tracer of this process, or remove it."""
    _Installed.tracer = tracer


def span(
    name: str,
    *,
    parent: str | None = None,
    kind: Kind = "internal",
    attributes: Attributes | None = None,
) -> AbstractContextManager[Span]:
    """A span during the block; an exception marks it as failed.

    Args:
        name: low cardinality, ``run function``.
        parent: a ``traceparent``; None for the current span. An invalid one is ignored.
        kind: of OpenTelemetry.
        attributes: no user data: no properties, no URLs, no texts of errors.
    """
    if _Installed.tracer is None:
        return _NOTHING
    return _recorded(_Installed.tracer, name, parent, kind, attributes)


def child(
    name: str, *, kind: Kind = "internal", attributes: Attributes | None = None
) -> AbstractContextManager[Span]:
    """A span below the current one; nothing if there is none."""
    tracer = _Installed.tracer
    if tracer is None or tracer.parent_header() is None:
        return _NOTHING
    return _recorded(tracer, name, None, kind, attributes)


def parent_header() -> str | None:
    """The ``traceparent`` of the current span, for what this work causes; None without one."""
    return None if _Installed.tracer is None else _Installed.tracer.parent_header()


@contextmanager
def _recorded(
    tracer: Tracer, name: str, parent: str | None, kind: Kind, attributes: Attributes | None
) -> Generator[Span]:
    started = tracer.start(name, parent=parent, kind=kind, attributes=attributes)
    try:
        with tracer.current(started):
            yield started
    except Exception as error:
        started.fail(type(error).__name__)
        raise
    finally:
        started.end()


class SharedWork:
    """Work that several traces wait for, such as a group of requests: a span in each.

    Args:
        name: of the spans.
        parents: the ``traceparent`` of each cause; None for one that is not traced.
        attributes: of all spans.
    """

    def __init__(
        self, name: str, parents: Sequence[str | None], attributes: Attributes | None = None
    ) -> None:
        tracer = self._tracer = _Installed.tracer
        self._spans: dict[str, Span] = {}
        if tracer is not None:
            self._spans = {
                parent: tracer.start(name, parent=parent, kind="consumer", attributes=attributes)
                for parent in dict.fromkeys(parents)
                if parent is not None
            }

    def below(self, parent: str | None) -> str | None:
        """The ``traceparent`` of what this work causes for one of the parents."""
        if parent is None or parent not in self._spans:
            return None
        return self._spans[parent].parent_header

    @contextmanager
    def ending(self) -> Generator[None]:
        """End the spans after the block; what starts during it belongs to the first."""
        with ExitStack() as stack:
            for each in self._spans.values():
                stack.callback(each.end)
            first = next(iter(self._spans.values()), None)
            if self._tracer is not None and first is not None:
                stack.enter_context(self._tracer.current(first))
            try:
                yield
            except Exception as error:
                self.fail(type(error).__name__)
                raise

    def fail(self, kind: str) -> None:
        """Mark the spans as failed."""
        for each in self._spans.values():
            each.fail(kind)
