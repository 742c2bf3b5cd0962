"""What the server sends to compile workers for functions, and what they return."""

from typing import Any, TypedDict

import msgspec

from hoglet.functions.filters.context import FilterContext
from hoglet.functions.json_types import (
    ConditionTree,
    FunctionFilters,
    FunctionMapping,
    InputSchema,
    InputValues,
    MaskingSettings,
)
from hoglet.kit.json import JsonObject


class CodeWarning(msgspec.Struct, frozen=True, kw_only=True):
    """One warning; ``line`` and ``column`` count from 1.

    ``{"message": "Unknown function `fecth`", "hint": "Did you mean `fetch`?", "line": 1,
    "column": 1, "attr": "hog"}``
    """

    message: str
    hint: str | None = None
    line: int = 1
    column: int = 1
    attr: str = "hog"


class CompileInput(msgspec.Struct, kw_only=True):
    """Parts of a function to compile; None leaves a part unchanged.

    Attributes:
        type: the function's type.
        inputs_schema: as stored.
        hog: the code.
        saved_hog: the code after the save, even if unchanged; for warnings.
        input_keys: keys of all inputs after the save, including mappings; for warnings.
        inputs: with plain-text secrets, see ``inputs.secrets.merge_secrets``.
        filters: normalized.
        mappings: items with valid ``inputs_schema`` and normalized ``filters``.
        masking: ``{"ttl", "threshold", "hash"}``.
        context: see :class:`FilterContext`.
        must_match: reject filters that do not compile (the function would be enabled).
    """

    type: str
    inputs_schema: list[InputSchema] = []
    hog: str | None = None
    saved_hog: str = ""
    input_keys: list[str] = []
    inputs: InputValues | None = None
    filters: FunctionFilters | None = None
    mappings: list[FunctionMapping] | None = None
    masking: MaskingSettings | None = None
    context: FilterContext = msgspec.field(default_factory=FilterContext)
    must_match: bool = False


class Matcher(msgspec.Struct, kw_only=True):
    """The run-time form of a filter.

    Attributes:
        tree: the condition as plain JSON of ``hoglet.syntax.tree``; None if it did not compile.
        events: event names that can match, None for any.
    """

    tree: ConditionTree | None = None
    events: list[str] | None = None


class CompiledFunction(msgspec.Struct, kw_only=True):
    """The compiled parts to store; None for parts that were not given.

    ``warnings`` is not stored.
    """

    bytecode: list[Any] | None = None
    transpiled: str | None = None
    inputs: InputValues | None = None
    filters: FunctionFilters | None = None
    matcher: Matcher | None = None
    mappings: list[FunctionMapping] | None = None
    mapping_matchers: list[Matcher] | None = None
    masking: MaskingSettings | None = None
    warnings: list[CodeWarning] = []


class CompileRefusal(TypedDict):
    """Why a function does not compile."""

    detail: str
    code: str
    attr: str | None


class CompileAnswer(TypedDict, total=False):
    """A ``CompiledFunction`` as plain values, or why there is none."""

    compiled: JsonObject
    refused: CompileRefusal
