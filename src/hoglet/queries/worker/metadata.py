"""Metadata of a text for editors, in one of the languages.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from hoglet.hog.bind.diagnostics import CompileError
from hoglet.hog.compile import DEFAULT_GLOBALS, compile_program, compile_template
from hoglet.hogql.ast_builders import constant, fill, walk
from hoglet.hogql.context import QueryContext
from hoglet.hogql.frontend.preprocess import read_expression, read_query
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.inspection import Inspection, PropertyRead, inspect_query
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import SourceError
from hoglet.queries.worker.diagnostics import Finding, finding, of_error
from hoglet.queries.worker.messages import Inspected, InspectRequest, Report
from hoglet.syntax import tree

type Shares = Mapping[tuple[str, str], tuple[str, float]]

HOGQL, EXPRESSION = "hogQL", "hogQLExpr"
_MAX_SHARE = 0.01
"""Share of values that do not convert above which a warning is shown."""
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_UNQUOTED_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_KINDS = {"event": "Event", "person": "Person", "session": "Session"}


def inspect(payload: Any) -> Inspected:
    """Metadata of a text, and the plan of a query; ``payload`` is an ``InspectRequest``."""
    request = msgspec.convert(payload, InspectRequest)
    shares = {(kind, name): (type_, share) for kind, name, type_, share in request.shares}
    report = metadata(request.query, request.context.query_context(), shares)
    return Inspected(report.answer(), report.plan)


def metadata(node: QueryNode, context: QueryContext, shares: Shares) -> Report:
    """The findings of a text.

    Args:
        node: a validated metadata query; ``variables`` are values by code name.
        context: the project.
        shares: ``{("event", "price"): ("Numeric", 0.2)}``: the share of a property's latest values
            that do not convert to its type.
    """
    text, language = node["query"], node["language"]
    report = Report(text)
    if language in {HOGQL, EXPRESSION}:
        _inspect(report, node, context, shares)
    else:
        _compile(report, text, language, node.get("globals") or {})
    return report


def _inspect(report: Report, node: QueryNode, context: QueryContext, shares: Shares) -> None:
    text = node["query"]
    try:
        parsed = _parsed(node)
    except SourceError as error:
        report.errors.append(of_error(text, error))
        return
    inspection = inspect_query(
        parsed,
        context,
        variables=node.get("variables"),
        filters=node.get("filters"),
        values=node.get("values"),
    )
    report.errors += [of_error(text, error) for error in inspection.errors]
    report.tables = list(inspection.tables)
    report.index_use = inspection.index_use
    report.plan = list(inspection.plan)
    if node["language"] == HOGQL:
        _warn_of_time(report, text, inspection)
    report.warnings += _unquoted_dates(text, parsed)
    for read in inspection.reads:
        report.notices.append(_type_notice(text, read))
        type_, share = shares.get((read.kind, read.name), ("", 0.0))
        if share > _MAX_SHARE:
            report.warnings.append(_share_warning(text, read, type_, share))
    report.notices += _cohort_notices(text, parsed, context)


def _parsed(node: QueryNode) -> Any:
    """The tree of a query, or of its source with the expression as the only column."""
    if node["language"] == HOGQL:
        return read_query(node["query"])
    expression = read_expression(node["query"])
    source = (node.get("sourceQuery") or {}).get("query")
    query = read_query(source) if isinstance(source, str) else fill("SELECT 1 FROM events")
    if not isinstance(query, tree.SelectQuery):
        query = fill("SELECT 1 FROM {source}", source=query)
    changes = dict.fromkeys(("group_by", "having", "order_by", "limit", "offset", "limit_by"))
    return msgspec.structs.replace(query, select=(expression,), distinct=None, **changes)


def _warn_of_time(report: Report, text: str, inspection: Inspection) -> None:
    for position in inspection.unbounded:
        if position.start is None or position.end is None:
            continue
        message = (
            "No bound on timestamp: all events are read. Add a condition such as "
            "timestamp > now() - INTERVAL 7 DAY."
        )
        report.warnings.append(finding(text, message, position.start.offset, position.end.offset))


def _unquoted_dates(text: str, query: Any) -> Iterator[Finding]:
    """Subtractions that were meant as dates: ``timestamp > 2026-01-05``."""
    for node in walk(query):
        if not isinstance(node, tree.ArithmeticOperation) or not node.start or not node.end:
            continue
        start, end = node.start.offset, node.end.offset
        match = _UNQUOTED_DATE.fullmatch(text, start, end)
        if match is not None:
            year, month, day = map(int, match.groups())
            message = (
                f"{match[0]} is the number {year - month - day}; a date is a string: '{match[0]}'."
            )
            yield finding(text, message, start, end, fix=f"'{match[0]}'")


def _type_notice(text: str, read: PropertyRead) -> Finding:
    kind = _KINDS.get(read.kind) or f"Group {read.kind.removeprefix('group').strip('_')}".strip()
    visible = f"{kind} property '{read.name}'"
    if read.type is None:
        message = f"{visible} has no type and is read as String."
    else:
        message = f"{visible} is of type '{read.type}'."
    return finding(text, message, read.start, read.end)


def _share_warning(text: str, read: PropertyRead, type_: str, share: float) -> Finding:
    message = (
        f"{share:.1%} of the latest values of '{read.name}' are not of type {type_} "
        "and read as null. If the type is wrong, change it in the property "
        "definition."
    )
    return finding(text, message, read.start, read.end)


def _cohort_notices(text: str, query: Any, context: QueryContext) -> Iterator[Finding]:
    """Notices about cohorts by id and by name; the other form is the fix, if it is unambiguous."""
    names = Counter(cohort.name for cohort in context.cohorts.values())
    ids = {each.name: cohort for cohort, each in context.cohorts.items() if names[each.name] == 1}
    for node in walk(query):
        if not isinstance(node, tree.CompareOperation) or not node.op.endswith("in cohort"):
            continue
        named = node.right
        if not isinstance(named, tree.Constant) or named.start is None or named.end is None:
            continue
        cohort_name = str(named.value)
        position = (named.start.offset, named.end.offset)
        if isinstance(named.value, str) and cohort_name in ids:
            message = f"Cohort '{cohort_name}' has the id {ids[cohort_name]}."
            yield finding(text, message, *position, fix=ids[cohort_name])
        elif cohort_name in context.cohorts:
            name = context.cohorts[cohort_name].name
            quoted = print_expression(constant(name))
            fix = quoted if names[name] == 1 else None
            yield finding(text, f"Cohort {cohort_name} is {quoted}.", *position, fix=fix)


def _compile(report: Report, text: str, language: str, given: Mapping[str, Any]) -> None:
    known = DEFAULT_GLOBALS | set(map(str, given))
    if language == "hog":
        _check(report, text, lambda: compile_program(text, known_globals=known))
    elif language == "hogTemplate":
        _check(report, text, lambda: compile_template(text, known_globals=known))
    else:
        _check_json(report, text, known)


def _check(
    report: Report,
    text: str,
    compiled: Callable[[], Any],
    shift: int = 0,
    whole: tuple[int, int] | None = None,
) -> None:
    """Record compiler errors; ``whole`` is the position of errors without one."""
    try:
        warnings = compiled().warnings
    except CompileError as error:
        report.errors += [_shifted(text, each, shift, whole) for each in error.errors]
        return
    except SourceError as error:
        report.errors.append(_shifted(text, error, shift, whole))
        return
    for each in warnings:
        position = whole or (each.start + shift, each.end + shift)
        message = f"{each.message.rstrip('.')}. {each.hint}" if each.hint else each.message
        report.warnings.append(finding(text, message, *position))


def _shifted(text: str, error: SourceError, shift: int, whole: tuple[int, int] | None) -> Finding:
    if whole is not None:
        return finding(text, error.message, *whole)
    return of_error(text, error, shift)


def _check_json(report: Report, text: str, known: frozenset[str]) -> None:
    """Check JSON whose strings are templates."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        report.errors.append(finding(text, f"{error.msg}.", error.pos, error.pos + 1))
        return
    except (RecursionError, ValueError):
        report.errors.append(
            finding(text, "The JSON is nested too deeply, or a number is too long.")
        )
        return
    for literal in _LITERAL.finditer(text):
        if text[literal.end() :].lstrip()[:1] == ":":
            continue
        template = json.loads(literal[0])
        is_plain = template == literal[0][1:-1]
        _check(
            report,
            text,
            lambda template=template: compile_template(template, known_globals=known),
            literal.start() + 1,
            None if is_plain else literal.span(),
        )
