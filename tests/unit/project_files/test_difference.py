"""The difference between two documents, as ``hoglet diff`` shows it."""

from hoglet.project_files.formats.difference import difference


def test_only_values_differ() -> None:
    batch = {"max_events": 10, "max_seconds": 2.0}
    steps = [{"event": "a", "url": "/docs"}, {"event": "b"}]
    before = {"name": "A", "delivery": {"batch": batch}, "steps": steps}
    batch = {"max_seconds": 2, "max_events": 11}
    steps = [{"url": "/docs", "event": "a"}, {"event": "b"}, {"event": "c"}]
    after = {"steps": steps, "delivery": {"batch": batch}, "name": "A"}

    lines = difference("action", "A", before, after)

    changed = [line for line in lines[2:] if line[0] in "-+"]
    assert changed == ["-    max_events: 10", "+    max_events: 11", "+  - event: c"]
