"""Bodies of cohorts (JSON, or a form with a file), and the persons in CSV uploads.

Source: docs/spec/data-and-queries.md#33-static-cohorts (CSV, multipart ``csv``).
"""

import csv
import io
from collections.abc import Sequence
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from starlette.requests import Request

from hoglet.cohorts.static.service import DISTINCT_ID, EMAIL, PERSON_ID
from hoglet.kit.errors import Invalid
from hoglet.web.request_body import parse_json, read_body, read_object

type Json = dict[str, Any]

_FORM = "multipart/form-data"
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_PARSED = ("filters", "query", "groups", "_create_static_person_ids")
_MAX_PARTS = 100


async def read_cohort_body(request: Request) -> tuple[Json, bytes | None]:
    """The fields of a body, and its file.

    Raises:
        Invalid: attr ``csv``; the form is invalid. Otherwise as ``read_object``.
    """
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith(_FORM):
        return await read_object(request), None
    body = await read_body(request)
    head = f"Content-Type: {kind}\r\n\r\n".encode("latin-1", "replace")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    if not isinstance(message, EmailMessage) or not message.is_multipart():
        raise Invalid("The form is invalid.", attr="csv")
    fields: Json = {}
    file: bytes | None = None
    for part in list(message.iter_parts())[:_MAX_PARTS]:
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        data = content if isinstance(content, bytes) else b""
        if name == "csv":
            file = data
        elif isinstance(name, str):
            fields[name] = _value(name, data)
    return fields, file


def _value(name: str, data: bytes) -> Any:
    text = data.decode("utf-8", "replace").strip()
    if name in {"is_static", "deleted"}:
        return _FLAGS.get(text.lower(), text)
    if name in _PARSED:
        return parse_json(data) if text else None
    return text


MAX_BYTES = 20 * 1024 * 1024
_NAMES = {
    "person_id": PERSON_ID,
    "person-id": PERSON_ID,
    "person .id": PERSON_ID,
    "distinct_id": DISTINCT_ID,
    "distinct-id": DISTINCT_ID,
    "email": EMAIL,
    "e-mail": EMAIL,
}
_ORDER = (PERSON_ID, DISTINCT_ID, EMAIL)


def read_csv(data: bytes) -> tuple[str, list[str]]:
    """The kind of the identifiers in a file, and the identifiers: ``("email", ["a@b.c"])``.

    Raises:
        Invalid: attr ``csv``; it is invalid, or has no persons.
    """
    if len(data) > MAX_BYTES:
        raise _refused("The file is larger than 20 MB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused("The file is not UTF-8 text.") from None
    if "\x00" in text:
        raise _refused("The file contains null characters; it is not CSV.")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(row)]
    except csv.Error as error:
        raise _refused(f"The file is not valid CSV: {error}.") from None
    if not rows:
        raise _refused("The file is empty.")
    kind, column, body = _column(rows)
    texts = [row[column].strip() for row in body if len(row) > column]
    texts = list(dict.fromkeys(each for each in texts if each))
    if not texts:
        raise _refused("The file has no persons.")
    return kind, texts


def _column(rows: Sequence[Sequence[str]]) -> tuple[str, int, Sequence[Sequence[str]]]:
    header = [name.strip().lower() for name in rows[0]]
    if len(header) == 1:
        kind = _NAMES.get(header[0])
        if kind in {PERSON_ID, EMAIL}:
            return str(kind), 0, rows[1:]
        return DISTINCT_ID, 0, rows
    kinds = [_NAMES.get(name) for name in header]
    for kind in _ORDER:
        if kind in kinds:
            return kind, kinds.index(kind), rows[1:]
    listed = ", ".join(name[:60] for name in rows[0][:20])
    raise _refused(
        f"No column person_id, distinct_id or email; the columns are: {listed}.",
    )


def _refused(detail: str) -> Invalid:
    return Invalid(detail, attr="csv")
