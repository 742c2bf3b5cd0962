"""OpenTelemetry spans, if a tracer is installed; without one, calls cost next to nothing.

A trace is passed between processes as a ``traceparent`` (W3C Trace Context) in the spooled request
and in the job of a run.

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
        """Whether attributes are recorded."""
        ...

    @property
    def parent_header(self) -> str | None:
        """The ``traceparent`` for work that this span causes; None without a tracer."""
        ...

    def set(self, name: str, value: str | float) -> None:
        """Add an attribute."""
        ...

    def rename(self, name: str) -> None:
        """Set the final name."""
        ...

    def fail(self, kind: str) -> None:
        """Mark the span as failed; ``kind`` names the error, without user data."""
        ...

    def end(self) -> None:
        """End a span started by :meth:`Tracer.start`."""
        ...


class Tracer(Protocol):
    """Starts spans; the implementation is in :mod:`hoglet.app.startup.tracing`."""

    def start(
        self, name: str, *, parent: str | None, kind: Kind, attributes: Attributes | None
    ) -> Span:
        """Start a span as a child of ``parent``, or of the current span."""
        ...

    def current(self, span: Span) -> AbstractContextManager[None]:
        """Make a span the parent of those started within this context."""
        ...

    def parent_header(self) -> str | None:
        """The ``traceparent`` of the current span."""
        ...


class _NoSpan:
    """Stands in for spans without a tracer; its methods do nothing."""

    is_recorded: bool = False
    parent_header: str | None = None

    def set(self, name: str, value: str | float) -> None:
        """Do nothing."""

    def rename(self, name: str) -> None:
        """Do nothing."""

    def fail(self, kind: str) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


_NO_SPAN = _NoSpan()
_NOTHING: AbstractContextManager[Span] = nullcontext(_NO_SPAN)


class _Installed:
    tracer: Tracer | None = None


def install(tracer: Tracer | None) -> None:
    """Set the tracer of this process, or remove it."""
    _Installed.tracer = tracer


def is_installed() -> bool:
    """Whether there is a tracer."""
    return _Installed.tracer is not None


def span(
    name: str,
    *,
    parent: str | None = None,
    kind: Kind = "internal",
    attributes: Attributes | None = None,
) -> AbstractContextManager[Span]:
    """Record this context as a span; an exception marks it as failed.

    Args:
        name: a name of low cardinality, ``run function``.
        parent: a ``traceparent``; None for the current span. An invalid one is ignored.
        kind: OpenTelemetry's span kind.
        attributes: must not contain user data: no properties, URLs or error texts.
    """
    if _Installed.tracer is None:
        return _NOTHING
    return _recorded(_Installed.tracer, name, parent, kind, attributes)


def child(
    name: str, *, kind: Kind = "internal", attributes: Attributes | None = None
) -> AbstractContextManager[Span]:
    """Record this context as a child of the current span; no effect if there is none."""
    tracer = _Installed.tracer
    if tracer is None or tracer.parent_header() is None:
        return _NOTHING
    return _recorded(tracer, name, None, kind, attributes)


def parent_header() -> str | None:
    """The ``traceparent`` of the current span, for work that it causes; None without one."""
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
        name: name of the spans.
        parents: the ``traceparent`` of each cause; None for causes that are not traced.
        attributes: attributes of all spans.
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
        """The ``traceparent`` for work that this work causes on behalf of one of the parents."""
        if parent is None or parent not in self._spans:
            return None
        return self._spans[parent].parent_header

    @contextmanager
    def ending(self) -> Generator[None]:
        """End the spans after this context; spans started within it belong to the first one."""
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
