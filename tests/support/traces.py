"""A collector of OpenTelemetry traces that decodes what arrives."""

import gzip
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from support.local_http import Handler, LocalHttp

WAIT_SECONDS = 120


class ReceivedSpan(NamedTuple):
    """A span as received; ids in hexadecimal."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    service: str
    failed: bool
    attributes: dict[str, str | int | float | bool]


class TraceCollector(LocalHttp):
    """Receives OTLP over HTTP at ``/v1/traces``."""

    def __init__(self) -> None:
        self.spans: list[ReceivedSpan] = []
        spans = self.spans

        class Collected(Handler):
            def handle_any(self) -> None:
                body = self.body()
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces", self.path
                spans.extend(_decode(ExportTraceServiceRequest.FromString(body)))
                self.answer(200)

        super().__init__(Collected)

    def until(self, is_there: Callable[[list[ReceivedSpan]], bool]) -> list[ReceivedSpan]:
        """Wait for spans and return all of them."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_there(received := list(self.spans)):
            assert time.monotonic() < deadline, [each.name for each in received]
            time.sleep(0.05)
        return received


def _decode(request: ExportTraceServiceRequest) -> list[ReceivedSpan]:
    return [
        ReceivedSpan(
            name=span.name,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            kind=ProtoSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
            service=_values(resource.resource.attributes).get("service.name", ""),
            failed=span.status.code == Status.STATUS_CODE_ERROR,
            attributes=_values(span.attributes),
        )
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _values(attributes: Iterable[Any]) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value")
        for each in attributes
    }
