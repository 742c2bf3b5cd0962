# ruff: noqa: E501 (lines of pages)
"""The reference pages of HogQL: tables and functions, from the tables in the code."""

from collections.abc import Iterator
from itertools import chain

from hogql_examples import example_results

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import UNSUPPORTED
from hoglet.hogql.functions import FunctionEntry, functions
from hoglet.hogql.schema import (
    EMPTY_TABLES,
    TABLES,
    LazyTable,
    Nested,
    Properties,
    table_names,
)
from hoglet.hogql.schema.fields import Field
from hoglet.hogql.schema.system import SYSTEM_TABLES


def tables_page() -> str:
    """Every table with its fields."""
    lines = [
        "# Tables of HogQL\n",
        "Fields in *italics* are left out by `SELECT *`. A field of another table is joined when it is used.",
        "In `events`, the project's group types are additional names for `group_0` to `group_4`.\n",
    ]
    for name, table in TABLES.items():
        lines.extend([f"## {name}\n", "| field | content |", "|---|---|"])
        lines.extend(_field(field_name, field) for field_name, field in table.fields.items())
        lines.append("")
    lines += [*_system_tables()]
    known = {*TABLES, *EMPTY_TABLES}
    others = [name for name in table_names(QueryContext(project_id=0)) if name not in known]
    lines.append("## Others\n")
    lines.append(
        f"`{'`, `'.join(others)}(n)` with the column `number`; materialized endpoints under the name of their table."
    )
    lines.append(f"Present, but always empty: `{'`, `'.join(EMPTY_TABLES)}`.")
    return "\n".join(lines) + "\n"


def _system_tables() -> Iterator[str]:
    yield "## Tables of system\n"
    yield "The project's own records, read live. A key needs the scope of the table. Flags are 0 or 1, objects and lists are JSON text (*JSON*), times are in UTC.\n"
    yield "| table | scope | fields |"
    yield "|---|---|---|"
    for name, each in SYSTEM_TABLES.items():
        fields = ", ".join(_system_field(field, kind) for field, kind in each.table.fields.items())
        yield f"| `{name}` | `{each.scope}` | {fields} |"
    yield ""


def _system_field(name: str, field: Field) -> str:
    return f"`{name}` *JSON*" if isinstance(field, Properties) else f"`{name}`"


def _field(name: str, field: Field) -> str:
    label = f"`{name}`" if field.star else f"*`{name}`*"
    if isinstance(field, LazyTable):
        return f"| {label} | the fields of `{field.table}` |"
    if isinstance(field, Properties):
        return f"| {label} | {field.kind} properties: `{name}.key`, `{name}['any key']`, `{name}.a.b` |"
    if isinstance(field, Nested):
        return f"| {label} | `{'`, `'.join(f'{name}.{each}' for each in field.fields)}` |"
    type_ = getattr(field, "type", None)
    return f"| {label} | {type_.name if type_ else 'another name of ' + '.'.join(getattr(field, 'chain', ()))} |"


def functions_page() -> str:
    """Every function with an example and its result."""
    rows, results = functions(), example_results()
    plain = [row for row in rows if not (row.aggregate or row.window)]
    lines = [
        "# Functions of HogQL\n",
        f"{len(rows)} functions. Names are accepted in any case. The results come from running the examples, in UTC, over",
        "`numbers(5)`, whose column is `number`; window functions show all five rows.\n",
        "Aggregates accept the suffixes `If`, `Array`, `Distinct`, `OrNull`, `OrDefault`, `State`, `Merge`, `ForEach`, `Map`, `ArgMin`, `ArgMax`.\n",
    ]
    for title, group in (
        ("Functions", plain),
        ("Aggregates", [row for row in rows if row.aggregate]),
        ("Window functions", [row for row in rows if row.window]),
    ):
        lines.extend(
            [f"## {title}\n", "| function | arguments | example | result |", "|---|---|---|---|"]
        )
        group.sort(key=lambda row: row.name.lower())
        lines.extend(_function(row, results[row.name]) for row in group)
        lines.append("")
    lines += ["## Functions of PostHog that are refused\n", "| function | instead |", "|---|---|"]
    lines += [f"| `{name}` | {reason} |" for name, reason in sorted(UNSUPPORTED.items())]
    lines.append("")
    return "\n".join(chain(lines))


def _function(row: FunctionEntry, result: str) -> str:
    high = "more" if row.high is None else str(row.high)
    count = str(row.low) if row.low == row.high else f"{row.low} to {high}"
    return f"| `{row.name}` | {count} | {_code(row.example)} | {_code(result)} |"


def _code(text: str) -> str:
    """Text as code within a table: pipes are escaped, control characters shown."""
    printable = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    quotes = "``" if "`" in printable else "`"
    return f"{quotes}{printable.replace('|', chr(92) + '|')}{quotes}"
