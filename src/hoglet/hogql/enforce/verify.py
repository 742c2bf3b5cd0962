"""Verifies the printed SQL independently of plans.

Every FROM and JOIN must be followed by a subselect, by ``numbers(``, by the rows of a recursion of
the same SQL, or by an allowed table with ``[FINAL] WHERE project_id = {project_id:Int64}`` and
nothing that could loosen it; in a flat read, ``AS e WHERE e.project_id = {project_id:Int64}``.
Rows bound as a parameter have one fixed form, with the same condition. Anything but one SELECT,
comments and unbalanced brackets are rejected too.

Source: docs/adr/0008-warehouse.md.
"""

import re

from hoglet.hogql.plan import RECURSION
from hoglet.hogql.schema.system import ROWS
from hoglet.hogql.sql_tokens import tokens
from hoglet.kit.errors import Bug

_RECURSION = re.compile(rf"{RECURSION}\d+")
_PROJECT = ["project_id", "=", "{project_id:Int64}"]
_PREDICATE = ["WHERE", *_PROJECT]
_ENDS = frozenset({")", "AND", "GROUP"})
_FLAT_ENDS = frozenset(
    {")", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", ""}
)
_BOUND_ROWS = "{" + ROWS
_BEFORE_ROWS = ["FROM", "(", "SELECT", "arrayJoin", "(", "JSONExtract", "("]
_AFTER_ROWS = [",", "''", ")", ")", "AS", "bound_row", ")", ")", *_PREDICATE]
_STRAY = frozenset({";", "#", "'", "`"})
_COMMENTS = (["-", "-"], ["/", "*"])
_CHECKED = frozenset({"(", ")", "-", "/", "FROM", "JOIN", *_STRAY})
_FORBIDDEN = frozenset(
    {
        "SETTINGS", "FORMAT", "INTO", "INSERT", "ALTER", "DROP", "CREATE", "TRUNCATE", "ATTACH",
        "DETACH", "SYSTEM", "GRANT",
    }
)  # fmt: skip


def verify_sql(sql: str, tables: frozenset[str]) -> None:
    """Verify that every table is read with its project.

    Args:
        sql: the printed SQL.
        tables: allowed physical tables.

    Raises:
        Bug: the SQL violates the rule and must not be executed.
    """
    words = [*tokens(sql), *[""] * (len(_AFTER_ROWS) + 1)]  # so that looking ahead is safe
    if words[0] not in {"SELECT", "("}:
        raise Bug("printed SQL is not a SELECT")
    if forbidden := _FORBIDDEN & set(words):
        raise Bug(f"printed SQL holds {min(forbidden)}")
    depth = 0
    for index, word in enumerate(words):
        if word.startswith(_BOUND_ROWS):
            _check_bound_rows(words, index)
        if word not in _CHECKED:
            continue
        depth += (word == "(") - (word == ")")
        if depth < 0 or word in _STRAY or words[index : index + 2] in _COMMENTS:
            raise Bug(f"printed SQL holds a stray {word!r}")
        if words[index - 2 : index] == ["WITH", "FILL"]:
            continue  # ORDER BY ... WITH FILL FROM a value
        if word == "FROM" or (word == "JOIN" and words[index - 1] != "ARRAY"):
            _check_relation(words, index + 1, tables)
    if depth:
        raise Bug("printed SQL has unbalanced brackets")


def _check_relation(words: list[str], start: int, tables: frozenset[str]) -> None:
    table = words[start].removeprefix("`")
    if table == "(" or (table == "numbers" and words[start + 1] == "("):
        return
    if _RECURSION.fullmatch(table) and table not in tables and words[start + 1] == ")":
        return  # rows of the query itself: they come from reads that are checked too
    if table not in tables:
        raise Bug(f"printed SQL reads {table!r}")
    if words[start + 1] == "AS":
        _check_flat(words, start)
        return
    after = start + 1 + (words[start + 1] == "FINAL")
    end = after + len(_PREDICATE)
    if words[after:end] != _PREDICATE or words[end] not in _ENDS:
        raise Bug(f"printed SQL reads {table!r} without its project")


def _check_flat(words: list[str], start: int) -> None:
    """``events AS e WHERE e.project_id = {…}`` and at most ``AND (…)`` before the next clause."""
    table, alias = words[start], words[start + 2]
    end = start + 3 + len(predicate := ["WHERE", alias, ".", *_PROJECT])
    if words[start + 3 : end] != predicate:
        raise Bug(f"printed SQL reads {table!r} without its project")
    if words[end : end + 2] == ["AND", "("]:
        end = _after_bracket(words, end + 1)
    if words[end] not in _FLAT_ENDS:
        raise Bug(f"printed SQL reads {table!r} with {words[end]!r} after its project")


def _after_bracket(words: list[str], opening: int) -> int:
    depth = 0
    for index in range(opening, len(words)):
        depth += (words[index] == "(") - (words[index] == ")")
        if not depth:
            return index + 1
    raise Bug("printed SQL has unbalanced brackets")


def _check_bound_rows(words: list[str], index: int) -> None:
    end = index + 1 + len(_AFTER_ROWS)
    before = words[max(0, index - len(_BEFORE_ROWS)) : index]
    if before != _BEFORE_ROWS or words[index + 1 : end] != _AFTER_ROWS or words[end] not in _ENDS:
        raise Bug(f"printed SQL reads {words[index]} without its project")
