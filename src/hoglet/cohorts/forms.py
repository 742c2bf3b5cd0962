"""Parses bodies of cohorts: JSON, or a form with a file.

Source: docs/spec/data-and-queries.md#33-static-cohorts (multipart ``csv``).
"""

from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from starlette.requests import Request

from hoglet.kit.errors import Invalid
from hoglet.web.request_body import parse_json, read_body, read_object

type Json = dict[str, Any]

_FORM = "multipart/form-data"
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_PARSED = ("filters", "query", "groups", "_create_static_person_ids")
_MOST_PARTS = 100


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
    for part in list(message.iter_parts())[:_MOST_PARTS]:
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
