"""Wrong values for every parameter and key of the API, one at a time in valid requests.

The valid requests come from ``support.fuzz_parameters.Seeds``.
"""

import copy
import gzip
import json
import zlib
from collections.abc import Generator, Iterator
from functools import cache
from typing import Any, NamedTuple

from support.fuzz_parameters import Json, Seeds

HALF = "\ud83d"
UUID = "01a208e8-d644-7870-ab2d-f4234cdd16b3"
IDS = (
    "0", "-1", "1.5", "1e3", "+1", " 1", "%D9%A3", str(2**31), str(2**63), str(2**64), "9" * 400,
    UUID, UUID.upper(), UUID.replace("-", ""), f"{{{UUID}}}", f"urn:uuid:{UUID}", "0" * 32, "null",
    "true", "@current", "a%20b", "%C3%A9", "%00", "%ed%a0%bd", "%ff", "%2e%2e", "%2F", "a%0d%0ab",
    "x" * 5000,
)  # fmt: skip
QUERY = (
    "", "-1", "0", "1e3", "1.5", "NaN", "Infinity", str(2**63), str(2**64), "9" * 5000, "null",
    "true", "[]", "{}", '{"a":', "[" * 2000, "%00", "%ed%a0%bd", "%ff", "%C3%A9", "0000-00-00",
    "0001-01-01", "9999-12-31T23:59:59.999999Z", "10000-01-01", "2026-02-30", "-1d", "-9999999999d",
    "2026-03-29T02:30:00", "all", "2026-01-01T00:00:00+99:99", "x,,x", "-", "a%0d%0ab",
)  # fmt: skip
VALUES = (
    None, True, 0, -1, 1.5, 2**31, 2**63, 2**64, 10**400, -0.0, "", " ", "x", "\0", HALF,
    "x" * 70_000, "1", "null", "0001-01-01", "9999-12-31T23:59:59Z", "10000-01-01", "2026-02-30",
    UUID, "http://169.254.169.254/", [], [None], [1, "a"], [[[]]], {}, {"a": None}, {"": {}},
    {HALF: HALF}, {"$ne": 1}, {"kind": "x"},
)  # fmt: skip
_DEEP = b"[" * 100_000
_BODIES = (
    b"", b"null", b"[]", b"1", b'"x"', b"{", _DEEP, b'{"a":' * 100_000, _DEEP + b"]" * 100_000,
    b'{"name": NaN}', b'{"name": 1e400}', b'{"name": -Infinity}', b'{"name": 1, "name": {}}',
    b"\xff\xfe{}", b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b'{"name": "\xed\xa0\xbd"}',
    b'{"name": "\\ud83d", "\\udc00": 1}', b'{"name": ' + b"9" * 5000 + b"}",
)  # fmt: skip
_TYPED = (
    (b"{}", "text/plain"), (b"{}", "application/json; charset=utf-7"), (b"{}", "x"),
    (b"a=1", "application/x-www-form-urlencoded"), (b"--x", "multipart/form-data; boundary=x"),
)  # fmt: skip


@cache
def _raw() -> tuple[tuple[bytes, Json], ...]:
    """Bodies and headers; made when first asked for, since packing bombs takes seconds."""
    bomb = gzip.compress(b" " * 200_000_000, 9)
    encoded = (
        (b"{}", "gzip"), (b"{}", "x, gzip"), (b"{}", "br"), (bomb, "gzip"),
        (gzip.compress(bomb), "gzip, gzip"), (zlib.compress(b" " * 100_000_000), "deflate"),
    )  # fmt: skip
    return (
        *((body, {}) for body in _BODIES),
        *((body, {"Content-Encoding": encoding}) for body, encoding in encoded),
        *((body, {"Content-Type": kind}) for body, kind in _TYPED),
    )


class Request(NamedTuple):
    """One request; ``operation`` is as in the document ("GET /path/{id}")."""

    operation: str
    path: str
    query: str = ""
    body: Any = None
    content: bytes | None = None
    headers: Json = {}  # noqa: RUF012 (never changed)

    @property
    def content_sent(self) -> bytes | None:
        """The body as bytes."""
        if self.content is not None or self.body is None:
            return self.content
        return json.dumps(self.body).encode()


def requests(document: Json, seeds: Seeds) -> Iterator[Request]:
    """Every wrong value in every place of every operation of the OpenAPI document."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in {"get", "post", "put", "patch", "delete"}:
                yield from _of_operation(document, seeds, f"{method.upper()} {path}", operation)


def _of_operation(document: Json, seeds: Seeds, label: str, operation: Json) -> Iterator[Request]:
    path = label.split(" ")[1]
    parameters = _parameters_of(seeds, label)
    bodies = seeds.bodies.get(label, [None])
    good = Request(label, _filled(path, parameters), body=bodies[0])
    for name in parameters:
        if f"{{{name}}}" in path:
            for value in IDS:
                yield good._replace(path=_filled(path, parameters | {name: value}))
    for query in _queries(operation):
        yield good._replace(query=query)
    if not label.startswith(("GET", "DELETE")):
        for content, headers in _raw():
            yield good._replace(content=content, headers=headers)
        keys = _keys(document, operation)
        for body in _bodies(keys, bodies):
            yield good._replace(body=body)


def _queries(operation: Json) -> Iterator[str]:
    yield "nobody_knows=1"
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query":
            name = parameter["name"]
            yield from (f"{name}={value}" for value in QUERY)
            yield from (f"{name}=1&{name}=x", f"{name}[]=1")


def _bodies(keys: list[str], bodies: list[Any]) -> Iterator[Json]:
    for body in bodies:
        base: Json = body if isinstance(body, dict) else {}  # pyright: ignore[reportUnknownVariableType]
        yield from _changed({**dict.fromkeys(keys), **base}, base)


def _parameters_of(seeds: Seeds, label: str) -> Json:
    path = label.split(" ")[1]
    if label.startswith("DELETE") and seeds.spares.get(path):
        return seeds.project | seeds.spares[path][0]
    fitting = [at for at in seeds.places if label.startswith(at) or path.startswith(at)]
    return seeds.project | seeds.places[max(fitting, key=len)][0]


def _filled(path: str, parameters: Json) -> str:
    for name, value in parameters.items():
        path = path.replace(f"{{{name}}}", str(value))
    return path


def _keys(document: Json, operation: Json) -> list[str]:
    """The keys of the body in the document; for a union, those of all models."""
    content = operation.get("requestBody", {}).get("content", {})
    schemas = [each["schema"] for each in content.values() if "schema" in each]
    names: list[str] = []
    while schemas:
        schema = schemas.pop()
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/")[-1]]
        names += schema.get("properties", {})
        for union in ("anyOf", "oneOf", "allOf"):
            schemas += schema.get(union, [])
    return list(dict.fromkeys(names))


def _changed(template: Json, body: Json) -> Generator[Json]:
    for name in template:
        for value in VALUES:
            yield {**body, name: value}
    yield {**body, "nobody_knows": 1}
    yield {**body, HALF: 1}
    for at in _inner(body):
        for value in VALUES:
            changed = copy.deepcopy(body)
            holder: Any = changed
            for step in at[:-1]:
                holder = holder[step]
            holder[at[-1]] = value
            yield changed


def _inner(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all nested values, and of one additional key in every object."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        items = list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType]
    for step, inner in items:
        if at:
            yield (*at, step)
        yield from _inner(inner, (*at, step))
    if isinstance(value, dict) and at:
        yield (*at, "nobody_knows")
