"""Checks of rows against the schemas of the OpenAPI documents of endpoints."""

import orjson
from jsonschema import FormatChecker
from openapi_schema_validator import OAS30Validator

from hoglet.endpoints.encoding.json import encode_rows
from hoglet.endpoints.openapi.row_schemas import row_schema
from hoglet.hogql import CompiledQuery
from hoglet.warehouse import QueryResult

_FORMATS = FormatChecker(["date", "date-time", "uuid"])  # not int64: hashes are beyond it


def violations(compiled: CompiledQuery, answer: QueryResult, timezone: str = "UTC") -> list[str]:
    """What the rows hold that their schemas do not allow."""
    rows = orjson.loads(encode_rows(answer.columns, answer.rows, timezone))
    columns = [{"name": column.name, "type": column.type} for column in compiled.columns]
    types = [column.kind for column in compiled.columns]
    validator = OAS30Validator(row_schema(columns, types), format_checker=_FORMATS)
    cut = [row[: len(columns)] for row in rows]  # without the place of a page
    return [error.message[:200] for row in cut for error in validator.iter_errors(row)]
