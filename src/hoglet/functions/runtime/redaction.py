"""Masks secrets in log lines, including their JSON, URL-encoded and base64 forms.

Source: docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

import base64
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from hoglet.functions.executable.model import ExecutableInput
from hoglet.functions.inputs.types import INTEGRATION_TYPES
from hoglet.functions.json_types import BuiltInputs
from hoglet.hog.runtime.trace import TraceStep
from hoglet.kit.json import JsonObject, dump_json, is_array, is_list_like, is_object

REDACTED = "***REDACTED***"
_HOLE = (
    "\ufdd0"  # a noncharacter in place of the mask, in which a secret such as "RED" would be found
)
MAX_LINE_CHARACTERS = 10_000
TRUNCATED = "... (truncated)"
_MIN_SECRET_CHARACTERS = 3  # shorter ones would mask ordinary words
_MIN_NUMBER_CHARACTERS = 4
_MIN_BASE64_CHARACTERS = 8  # shorter base64 could be part of anything
_JSON_DEPTH = 3  # a string in JSON in JSON in JSON
# A program can print megabytes. The inspected part leaves room for secrets longer than their mask.
_LOOKED_AT = 4 * MAX_LINE_CHARACTERS
_MAX_VALUE_CHARACTERS = 8192  # of a header in a line; bounds the search for its closing quote
# Every name below contains one of these; searching for them takes a tenth of the time.
_HINTS = ("auth", "cookie", "key", "token", "secret", "password", "signature")
# The name of a header with credentials, quoted or not, and its value: quoted (also in nested JSON,
# so with backslashes), a list, or the words up to the next separator.
_HEADER = re.compile(
    rf"""(?isx)
    (?P<name> (?<![\w-])
      (?: (?:proxy-)?authorization
        | (?:set-)?(?P<cookie>cookie)
        | (?:\w+-)*(?:api[-_]?key|access[-_]?key|access[-_]?token|auth[-_]?token)
        | (?:\w+-)+(?:token|secret|password|signature(?:-\w+)?)
        | (?:\w+-)+(?:functions|subscription|private|secret|auth)-key
        | x-auth(?:-key)?
      )
      (?: \\*["'] )? \s* [:=] \s* )
    (?P<value>
        (?P<quote> \\*["'] ) .{{0,{_MAX_VALUE_CHARACTERS}}}? (?<!\\) (?P=quote)
      | \[ [^\]]{{0,{_MAX_VALUE_CHARACTERS}}} \]
      | (?(cookie) [^"'\n]+ | [^\s,;&}}"']+ (?: [^\S\n]+ [^\s,;&}}"']+ )? )
    )
    """
)


def secret_texts(inputs: Iterable[ExecutableInput], built: BuiltInputs) -> list[str]:
    """Every text that reveals a secret input, raw and rendered, and the tokens' placeholders.

    Each secret in the forms that programs and requests produce: plain, JSON, URL-encoded, base64,
    and in lower case (as host names are sent) or upper case (methods). Longest first.
    """
    texts: set[str] = set()
    for item in inputs:
        if item.type in INTEGRATION_TYPES:
            _collect_tokens(item.value, texts)
        if item.secret:
            _collect(item.value, texts)
            _collect(built.get(item.key), texts)
    forms = {form for text in texts for form in _forms(text)}
    return sorted(forms, key=len, reverse=True)


def clean_line(message: str, secrets: list[str]) -> str:
    """A log line without secrets, at most 10,000 characters long plus the truncation mark."""
    is_long = len(message) > _LOOKED_AT
    message = message[:_LOOKED_AT].replace(_HOLE, "\ufffd").replace("\0", "\ufffd")
    for secret in secrets:
        message = message.replace(secret, _HOLE)
    if is_long:
        message = _without_cut_secret(message, secrets)
    message = message.replace(_HOLE, REDACTED)
    lowered = message.lower()
    if any(hint in lowered for hint in _HINTS):
        message = _HEADER.sub(_redact_header, message)
    if is_long or len(message) > MAX_LINE_CHARACTERS:
        return message[:MAX_LINE_CHARACTERS] + TRUNCATED
    return message


def _without_cut_secret(message: str, secrets: list[str]) -> str:
    """The message without a truncated secret at its end.

    Only needed if masks shorten the message, as they do for long secrets.
    """
    for secret in secrets:
        head = secret[:_MIN_SECRET_CHARACTERS]
        at = message.find(head, max(0, len(message) - len(secret)))
        while at >= 0:
            if secret.startswith(message[at:]):
                message = message[:at] + _HOLE
                break
            at = message.find(head, at + 1)
    return message


def _redact_header(match: re.Match[str]) -> str:
    mark = match["quote"] or ""
    return f"{match['name']}{mark}{REDACTED}{mark}"


@lru_cache(maxsize=1024)
def _forms(secret: str) -> frozenset[str]:
    """The encodings of a secret."""
    raw = secret.encode("utf-8", "replace")
    plain = {
        secret,
        secret.lower(),
        secret.upper(),
        quote(raw, safe=""),
        quote_plus(raw),
        quote(raw, safe="!'()*"),
    }
    for ensure_ascii in (False, True):
        text = secret
        for _ in range(_JSON_DEPTH):
            text = json.dumps(text, ensure_ascii=ensure_ascii)[1:-1]
            plain |= {text, text.replace("/", "\\/")}
    return frozenset(plain).union(*(_base64_forms(raw, before) for before in range(3)))


def _base64_forms(raw: bytes, before: int) -> set[str]:
    """Base64 of a secret that follows ``before`` (modulo 3) other bytes.

    Only the characters determined by the secret alone, as in ``Basic`` headers.
    """
    first = -(-before * 8 // 6)
    end = (before + len(raw)) * 8 // 6
    written = base64.b64encode(bytes(before) + raw).decode()[first:end]
    if len(written) < _MIN_BASE64_CHARACTERS:
        return set()
    return {written, written.replace("+", "-").replace("/", "_")}


def _collect_tokens(value: Any, texts: set[str]) -> None:
    for item in value if is_array(value) else [value]:
        if is_object(item):
            _collect(item.get("access_token"), texts)


def _collect(value: Any, texts: set[str]) -> None:
    if isinstance(value, str):
        if len(value) >= _MIN_SECRET_CHARACTERS:
            texts.add(value[:_LOOKED_AT])
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if len(str(value)) >= _MIN_NUMBER_CHARACTERS:
            texts.add(str(value))
    elif is_object(value):
        for part in value.values():
            _collect(part, texts)
    elif is_list_like(value):
        for part in value:
            _collect(part, texts)


def redacted_trace(trace: list[TraceStep], secrets: list[str]) -> list[TraceStep]:
    """A trace without the values of secrets."""
    return [
        TraceStep(
            step.line,
            {name: clean_line(text, secrets) for name, text in step.values.items()},
            [clean_line(call, secrets) for call in step.calls],
        )
        for step in trace
    ]


def rendered_call(name: str, arguments: list[Any]) -> str:
    """A call as text, options as JSON indented by two spaces.

    Example:
        >>> rendered_call("fetch", ["https://host", {}])
        "fetch('https://host', {})"
    """
    arguments = [_without_signer(argument) for argument in arguments]
    rendered = [
        f"'{argument}'" if isinstance(argument, str) else _indented(argument)
        for argument in arguments
    ]
    return f"{name}({', '.join(rendered)})"


def _without_signer(value: Any) -> Any:
    """Options of ``fetch`` for display, without the keys in ``aws_sigv4``."""
    if not is_object(value) or not is_object(value.get("aws_sigv4")):
        return value
    masks = {"secret_access_key": REDACTED, "session_token": REDACTED}
    signer: JsonObject = value["aws_sigv4"]
    return {**value, "aws_sigv4": {k: masks.get(k, v) for k, v in signer.items()}}


def _indented(value: Any) -> str:
    return dump_json(value, indent=True).decode()
