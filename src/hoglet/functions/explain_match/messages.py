"""What the server sends to workers to explain a match, and what they return."""

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.explain_match.outline import Kind, Operator
from hoglet.functions.json_types import FunctionFilters, Globals


class ExplainedCondition(msgspec.Struct, kw_only=True):
    """The result of one part of a filter.

    Attributes:
        kind, path, operator: see ``outline.Outline``.
        matched: whether it holds.
        condition: as Hog, ``event = 'bought'``.
        reason: why it does not hold, ``event is '$pageview'``.
        error: why it could not be evaluated.
        parts: its own parts, if it is divided.
    """

    kind: Kind
    path: str
    matched: bool
    condition: str | None = None
    reason: str | None = None
    error: str | None = None
    operator: Operator | None = None
    parts: list["ExplainedCondition"] = []


class ExplainedRun(msgspec.Struct, kw_only=True):
    """The condition of a function or mapping, and what else its run needs.

    Attributes:
        matched: whether the condition holds.
        conditions: all must hold.
        inputs_error: why the inputs cannot be built, redacted; only of a condition that holds.
        mask: the masking hash; None if the run is not masked.
    """

    matched: bool
    conditions: list[ExplainedCondition] = []
    inputs_error: str | None = None
    mask: str | None = None


class ExplanationRequest(msgspec.Struct, kw_only=True):
    """A function and a run to explain.

    Attributes:
        function: the function, with its stored or newly compiled conditions.
        globals: the globals of the run.
        filters: the filters of the function, as stored.
        mapping_filters: the filters of its mappings, in their order.
        test_accounts: paths of the project's test account filters.
    """

    function: ExecutableFunction
    globals: Globals
    filters: FunctionFilters
    mapping_filters: list[FunctionFilters] = []
    test_accounts: list[str] = []


class Explanation(msgspec.Struct, kw_only=True):
    """The function's own condition, and those of its mappings in their order.

    ``error`` is set if production could not evaluate the filter; the event becomes a dead letter.
    """

    own: ExplainedRun
    mappings: list[ExplainedRun] | None = None
    error: str | None = None
