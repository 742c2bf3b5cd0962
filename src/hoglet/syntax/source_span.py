"""Converts offsets to lines and columns."""

from hoglet.kit.errors import SourceSpan


def source_span(text: str, start: int, end: int) -> SourceSpan:
    """The span of ``text[start:end]``; offsets outside of the text are clamped."""
    start = max(0, min(start, len(text)))
    before = text[:start]
    return SourceSpan(
        line=before.count("\n") + 1,
        column=start - before.rfind("\n"),
        start=start,
        end=max(start, min(end, len(text))),
    )
