"""Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT by OTLP over HTTP, with OpenTelemetry's own SDK.

The standard variables apply: OTEL_EXPORTER_OTLP_* (headers, timeout, compression, certificates),
OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_SDK_DISABLED.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from hoglet.app.startup.errors import StartupFault
from hoglet.kit import tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_FLUSH_SECONDS = 5.0


def wanted_by(environment: Mapping[str, str]) -> str | None:
    """The environment variable that enables traces, or None.

    Raises:
        StartupFault: the requested protocol is not supported.
    """
    name = next((name for name in ENDPOINTS if environment.get(name)), None)
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if name is None or is_disabled or environment.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    protocol = next((environment[each] for each in _PROTOCOLS if environment.get(each)), None)
    if protocol not in {None, "http/protobuf"}:
        raise StartupFault(
            f"hoglet sends traces by http/protobuf only, not by {protocol}: unset "
            "OTEL_EXPORTER_OTLP_PROTOCOL, and name a collector's HTTP port (4318) in "
            f"{name}."
        )
    return name


@asynccontextmanager
async def tracing_of_server() -> AsyncGenerator[None]:
    """Record spans during the block if the environment enables them; flush them at its end."""
    if wanted_by(os.environ) is None:
        yield
        return
    provider = await asyncio.to_thread(_provider)
    tracing.install(OtelTracer(provider))
    try:
        yield
    finally:
        tracing.install(None)
        await asyncio.to_thread(provider.force_flush, int(_FLUSH_SECONDS * 1000))
        # An unreachable collector must not delay shutdown: unsent spans are dropped.
        asyncio.get_running_loop().run_in_executor(None, provider.shutdown)


def _provider() -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    ours = {"service.name": "hoglet", "service.version": version("hoglet")}
    named = {name: value for name, value in ours.items() if not _is_named(name)}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _is_named(attribute: str) -> bool:
    """Whether the operator sets the attribute; the SDK would prefer hoglet's value."""
    given = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    is_service = attribute == "service.name" and bool(os.environ.get("OTEL_SERVICE_NAME"))
    return is_service or f"{attribute}=" in given


class _Span:
    def __init__(self, recorded: "OtelSpan") -> None:
        self.recorded = recorded

    @property
    def is_recorded(self) -> bool:
        return self.recorded.is_recording()

    @property
    def parent_header(self) -> str | None:
        context = self.recorded.get_span_context()
        if not context.is_valid:
            return None
        flags = int(context.trace_flags)
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags:02x}"

    def set(self, name: str, value: str | float) -> None:
        self.recorded.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self.recorded.update_name(name)

    def fail(self, kind: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        self.recorded.set_status(Status(StatusCode.ERROR))
        self.recorded.set_attribute("error.type", kind)

    def end(self) -> None:
        self.recorded.end()


class OtelTracer:
    """The tracer on OpenTelemetry's SDK."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._trace = trace
        self._tracer = provider.get_tracer("hoglet", version("hoglet"))
        self._propagator = TraceContextTextMapPropagator()

    def start(
        self,
        name: str,
        *,
        parent: str | None,
        kind: tracing.Kind,
        attributes: tracing.Attributes | None,
    ) -> tracing.Span:
        """See the port."""
        context = None
        if parent is not None:
            context = self._propagator.extract({"traceparent": parent})
        kinds = self._trace.SpanKind
        return _Span(
            self._tracer.start_span(
                name, context=context, kind=kinds[kind.upper()], attributes=attributes
            )
        )

    @contextmanager
    def current(self, span: tracing.Span) -> Generator[None]:
        """See the port."""
        assert isinstance(span, _Span)  # noqa: S101 (narrows the type)
        with self._trace.use_span(
            span.recorded, record_exception=False, set_status_on_exception=False
        ):
            yield

    def parent_header(self) -> str | None:
        """See the port."""
        return _Span(self._trace.get_current_span()).parent_header
