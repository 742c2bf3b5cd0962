"""Calls with special syntax, whose arguments are not plain values.

Each takes the node and returns the plan, or None for a plain function call.
"""

from collections.abc import Callable
from typing import Any

from hoglet.hogql.ast_builders import call, compare, constant, every, field, fill
from hoglet.hogql.errors import ARITY, near, refused
from hoglet.hogql.filters.actions import action_condition
from hoglet.hogql.frontend.print_hogql import INTERVAL_PARTS
from hoglet.hogql.plan import Expr
from hoglet.hogql.resolve.aggregation import percentile
from hoglet.hogql.resolve.expressions import cast_to
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.resolve.subqueries import resolve_exists
from hoglet.syntax import tree


def _exists(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr | None:
    if len(node.args) != 1:
        return None
    return resolve_exists(resolver, node, scope)


def _cast(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr | None:
    if len(node.args) != 2:
        return None
    target = getattr(node.args[1], "value", None)
    if not isinstance(target, str):
        raise refused("CAST needs the name of a type", node)
    return cast_to(resolver, node.args[0], target, node, scope)


def _extract(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr | None:
    """``extract(day FROM x)``, which ``preprocess`` rewrites to a named argument."""
    if len(node.args) != 1 or not isinstance(node.args[0], tree.NamedArgument):
        return None
    named = node.args[0]
    unit = tree.Constant(value=named.name)
    part = tree.Call(name="date_part", args=(unit, named.value), start=node.start, end=node.end)
    return resolver.expression(part, scope)


def _matches_action(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr:
    action = getattr(node.args[0], "value", None) if len(node.args) == 1 else None
    if not isinstance(action, str | int):
        raise refused("matchesAction needs the id or the name of an action", node)
    return resolver.expression(action_condition(str(action), resolver.context), scope)


def _make_interval(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr:
    """``make_interval(days := 3)``, or all positional: seven with weeks, or six as in PostHog."""
    parts = _interval_parts(node)
    steps = [
        call(f"toInterval{INTERVAL_PARTS[unit]}", amount)
        for unit, amount in parts
        if getattr(amount, "value", None) != 0
    ]
    total: Any = steps[0] if steps else call("toIntervalSecond", constant(0))
    for step in steps[1:]:
        total = tree.ArithmeticOperation(left=total, right=step, op="+")
    return resolver.expression(total, scope)


def _interval_parts(node: tree.Call) -> list[tuple[str, Any]]:
    if not any(isinstance(arg, tree.NamedArgument) for arg in node.args):
        units = [
            unit
            for unit in INTERVAL_PARTS
            if unit != "weeks" or len(node.args) == len(INTERVAL_PARTS)
        ]
        if len(node.args) != len(units):
            message = f"make_interval takes 6 or 7 arguments, found {len(node.args)}"
            raise refused(message, node, code=ARITY, hint="name them: make_interval(days := 3)")
        return list(zip(units, node.args, strict=True))
    parts: list[tuple[str, Any]] = []
    for arg in node.args:
        if not isinstance(arg, tree.NamedArgument):
            raise refused("make_interval takes all arguments by name, or none", arg)
        if arg.name not in INTERVAL_PARTS:
            message = f"Unknown part of an interval: '{arg.name}'.{near(arg.name, INTERVAL_PARTS)}"
            raise refused(message, node, hint=f"known are {', '.join(INTERVAL_PARTS)}")
        parts.append((arg.name, arg.value))
    return parts


def _percentile(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr:
    """``percentile_cont(0.5) WITHIN GROUP (ORDER BY x)``."""
    shares, items = node.params or (), node.within_group or ()
    if len(shares) != 1 or len(items) != 1 or node.args:
        hint = f"write {node.name}(0.5) WITHIN GROUP (ORDER BY x)"
        raise refused(f"{node.name} needs a share and an order", node, code=ARITY, hint=hint)
    share, item = resolver.expression(shares[0], scope), items[0]
    value = resolver.expression(item.expr, scope)
    descending = item.order == "DESC"
    return percentile(node.name.lower(), share, value, descending=descending, node=node)


def _survey_response(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr:
    """``getSurveyResponse(0)``, by the question's index, optionally also by its id."""
    values = [getattr(arg, "value", None) for arg in node.args]
    if not 1 <= len(values) <= 3:
        message = f"getSurveyResponse expects 1 to 3 arguments, found {len(values)}"
        raise refused(message, node, code=ARITY)
    index, question, multiple = (*values, None, None)[:3]
    if isinstance(index, bool) or not isinstance(index, int):
        raise refused("getSurveyResponse needs the index of a question, from 0", node)
    keys = ["$survey_response" if index == 0 else f"$survey_response_{index}"]
    if question:
        keys.insert(0, f"$survey_response_{question}")
    texts = [call("nullIf", field("properties", key), constant("")) for key in keys]
    answer = call("coalesce", *texts) if len(texts) > 1 else texts[0]
    if multiple:
        answer = call("JSONExtractArrayRaw", call("ifNull", answer, constant("[]")))
    return resolver.expression(answer, scope)


_SUBMISSIONS = (
    "SELECT argMax(uuid, timestamp) FROM events WHERE {where} GROUP BY "
    "if(empty(ifNull(properties.$survey_submission_id, '')), toString(uuid), "
    "ifNull(properties.$survey_submission_id, ''))"
)


def _unique_submissions(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr:
    """The last event of each survey submission, optionally in a time range."""
    if not 1 <= len(node.args) <= 3:
        message = f"uniqueSurveySubmissionsFilter expects 1 to 3 arguments, found {len(node.args)}"
        raise refused(message, node, code=ARITY)
    conditions: list[Any] = [
        compare("==", field("event"), constant("survey sent")),
        compare("==", field("properties", "$survey_id"), node.args[0]),
    ]
    for operator, edge in zip((">=", "<="), node.args[1:], strict=False):
        conditions.append(compare(operator, field("timestamp"), edge))
    query = fill(_SUBMISSIONS, where=every(conditions))
    return resolver.expression(compare("in", field("uuid"), query), scope)


def _property_or_text(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr | None:
    """Columns that hold a property by its type and as text; comparisons choose one of them.

    Only used in the reading query of a materialized endpoint.
    """
    columns = [resolver.expression(arg, scope) for arg in node.args if isinstance(arg, tree.Field)]
    if len(columns) != 2 or len(node.args) != 2:
        raise refused("_propertyOrText needs two columns", node)
    value, text = columns
    scope.property_texts[value] = text
    return value


type SpecialForm = Callable[[Resolver, tree.Call, Scope], Expr | None]

SPECIAL_FORMS: dict[str, SpecialForm] = {
    "exists": _exists,
    "cast": _cast,
    "extract": _extract,
    "matchesaction": _matches_action,
    "make_interval": _make_interval,
    "percentile_cont": _percentile,
    "percentile_disc": _percentile,
    "getsurveyresponse": _survey_response,
    "_propertyortext": _property_or_text,
    "uniquesurveysubmissionsfilter": _unique_submissions,
}
"""By lower-case name."""
