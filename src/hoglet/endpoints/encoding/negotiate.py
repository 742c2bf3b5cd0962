"""Content negotiation by the ``Accept`` header (RFC 9110 section 12.5.1)."""

from collections.abc import Iterable

from hoglet.kit.errors import NotAcceptable

JSON = "application/json"
CSV = "text/csv"
NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
FORMS = (JSON, CSV, NDJSON, ARROW, PARQUET)  # the first of equal quality wins
_ALIASES = {"application/ndjson": NDJSON, "application/jsonl": NDJSON}


def wanted_form(accept: str, offered: Iterable[str] = FORMS) -> str:
    """The best of the offered media types; JSON if the header is empty.

    Example:
        >>> wanted_form("text/csv, application/json;q=0.5"), wanted_form("*/*")
        ('text/csv', 'application/json')

    Raises:
        NotAcceptable: none of them is acceptable.
    """
    if not accept.strip():
        return JSON
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best, chosen = 0.0, None
    for form in offered:
        quality = _quality(form, ranges)
        if quality > best:
            best, chosen = quality, form
    if chosen is None:
        listed = ", ".join(offered)
        raise NotAcceptable(f"Results are available as {listed}; none of these is in Accept.")
    return chosen


def _range(part: str) -> tuple[str, float]:
    kind, *parameters = (text.strip().lower() for text in part.split(";"))
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            quality = _number(value)
    return _ALIASES.get(kind, kind), quality


def _number(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def _quality(form: str, ranges: list[tuple[str, float]]) -> float:
    """The quality of a media type by its most specific range; 0 if no range matches."""
    group = form.partition("/")[0]
    for wanted in (form, f"{group}/*", "*/*"):
        found = [quality for kind, quality in ranges if kind == wanted]
        if found:
            return max(found)
    return 0.0
