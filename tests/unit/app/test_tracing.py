"""Tracing without a tracer, and with OpenTelemetry's SDK and a list of spans."""

import subprocess
import sys
from collections.abc import Generator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hoglet.app.startup.errors import StartupFault
from hoglet.app.startup.tracing import OtelTracer, wanted_by
from hoglet.kit import tracing

FIRST = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SECOND = "00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"


@pytest.fixture
def finished() -> Generator[InMemorySpanExporter]:
    """The spans that ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.install(OtelTracer(provider))
    yield exporter
    tracing.install(None)


def test_without_a_tracer_nothing_is_recorded_or_passed_on() -> None:
    shared = tracing.SharedWork("group", [FIRST, None])
    with tracing.span("one", parent=FIRST) as span, tracing.child("two") as below, shared.ending():
        assert not span.is_recorded
        assert span is below
        assert tracing.parent_header() is None
        assert shared.below(FIRST) is None


def test_a_server_without_traces_does_not_load_the_sdk() -> None:
    modules = "hoglet.app.startup.requirements, hoglet.app.startup.tracing"
    code = f"import {modules}, sys; sys.exit('opentelemetry.sdk' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_spans_are_below_their_parents(finished: InMemorySpanExporter) -> None:
    with tracing.span("one", parent=FIRST) as span, tracing.child("two"):
        assert tracing.parent_header() != span.parent_header

    two, first = finished.get_finished_spans()
    assert first.context is not None
    assert two.parent == first.context
    assert f"{first.context.trace_id:032x}" in FIRST
    assert tracing.parent_header() is None


def test_a_child_needs_a_parent(finished: InMemorySpanExporter) -> None:
    with tracing.child("alone") as span:
        assert not span.is_recorded

    assert not finished.get_finished_spans()


def test_errors_are_named_but_not_told(finished: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="secret"), tracing.span("one"):
        raise ValueError("secret")

    (span,) = finished.get_finished_spans()
    assert not span.status.is_ok
    assert span.attributes == {"error.type": "ValueError"}
    assert "secret" not in span.to_json()


def test_shared_work_is_in_each_trace_once(finished: InMemorySpanExporter) -> None:
    shared = tracing.SharedWork("group", [FIRST, SECOND, None, FIRST])
    headers = {parent: shared.below(parent) for parent in (FIRST, SECOND, None)}
    with shared.ending(), tracing.child("insert"):
        pass

    contexts = [span.context for span in finished.get_finished_spans()]
    traces = [f"{context.trace_id:032x}" for context in contexts if context is not None]
    assert sorted(traces) == sorted([FIRST[3:35], FIRST[3:35], SECOND[3:35]])
    assert (headers[FIRST] or "")[3:35] == FIRST[3:35]
    assert (headers[SECOND] or "")[3:35] == SECOND[3:35]
    assert headers[None] is None


@pytest.mark.parametrize(
    "given", ["", "nothing", FIRST.replace("4", "x"), "00-" + "0" * 32 + FIRST[35:]]
)
def test_an_invalid_parent_begins_a_new_trace(finished: InMemorySpanExporter, given: str) -> None:
    with tracing.span("one", parent=given):
        pass

    (span,) = finished.get_finished_spans()
    assert span.parent is None


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        (
            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c"},
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, None),
    ],
)
def test_an_endpoint_asks_for_traces(environment: dict[str, str], exporter: str | None) -> None:
    assert wanted_by(environment) == exporter


def test_grpc_is_refused() -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
    }

    with pytest.raises(StartupFault, match="http/protobuf only, not by grpc"):
        wanted_by(environment)
