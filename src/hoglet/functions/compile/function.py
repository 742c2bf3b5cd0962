"""Compiles all parts of a function in one pure step.

A save runs ``compile_function_parts`` in a sandbox worker: it validates inputs, compiles code,
templates, filters, mappings and the masking hash, and returns what is stored.

Source: docs/spec/hog-functions.md#32-compilation,
docs/spec/hog-functions.md#4-inputs_schema-inputs-mappings, docs/spec/hog-functions.md#5-filters,
docs/spec/hog-functions.md#6-masking and, for log transformations,
docs/spec/hog-functions.md#136-transformations.
"""

import msgspec

from hoglet.functions import types
from hoglet.functions.compile.hog import (
    expression_bytecode,
    program_bytecode,
    read_template,
)
from hoglet.functions.compile.messages import CodeWarning, CompiledFunction, CompileInput, Matcher
from hoglet.functions.compile.site import site_script, transpile_filter
from hoglet.functions.compile.warnings import SaveWarnings, mapping_warnings
from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.build import build_filter, event_names
from hoglet.functions.filters.normalize import without_generated
from hoglet.functions.inputs.compiled import InputRules, compile_inputs
from hoglet.functions.inputs.secrets import split_secrets
from hoglet.functions.json_types import (
    FunctionFilters,
    MaskingSettings,
)
from hoglet.hog.compile import bind_program
from hoglet.kit.errors import Invalid, SourceError
from hoglet.syntax.parse import parse_program


def compile_function_parts(draft: CompileInput) -> CompiledFunction:
    """Validate and compile a function.

    Raises:
        Invalid: the first error.
    """
    compiled = CompiledFunction()
    source = (draft.filters or {}).get("source") or "events"
    if draft.type == types.TRANSFORMATION_LOG:
        check_log_filters(draft.filters or {})
        check_log_program(draft.saved_hog)
    if draft.inputs is not None:
        rules = InputRules(function_type=draft.type, source=source)
        compiled.inputs = compile_inputs(draft.inputs_schema, draft.inputs, rules)
    if draft.filters is not None:
        compiled.filters, compiled.matcher = _compile_filters(draft.filters, draft, "filters")
    if draft.mappings is not None:
        _compile_mappings(draft, compiled, source)
    if draft.hog is not None:
        if draft.type in types.SITE:
            compiled.transpiled = _site_script(draft, draft.hog, compiled)
        else:
            compiled.bytecode = program_bytecode(draft.hog)
    if draft.masking is not None:
        compiled.masking = _compile_masking(draft.masking)
    if draft.type not in types.SITE:
        compiled.warnings = _warnings(draft, compiled)
    return compiled


def _warnings(draft: CompileInput, compiled: CompiledFunction) -> list[CodeWarning]:
    """The warnings of the code, and of the other parts that were given."""
    warnings = SaveWarnings(draft.type, draft.input_keys)
    collected = warnings.of_code(draft.saved_hog)
    collected += warnings.of_inputs(draft.inputs_schema, compiled.inputs or {}, "inputs")
    collected += warnings.of_filters(compiled.filters or {}, "filters")
    for index, mapping in enumerate(compiled.mappings or []):
        collected += mapping_warnings(warnings, index, mapping)
    if compiled.masking is not None:
        collected += warnings.of_template(compiled.masking["hash"], "masking__hash")
    return collected


def _site_script(draft: CompileInput, hog: str, compiled: CompiledFunction) -> str:
    """The complete script of a site function; never contains secrets."""
    plain, _ = split_secrets(draft.inputs_schema, compiled.inputs or {})
    mappings = [
        (
            split_secrets(mapping.get("inputs_schema") or [], mapping.get("inputs") or {})[0],
            matcher.tree,
            bool(mapping.get("disabled")),
        )
        for mapping, matcher in zip(
            compiled.mappings or [], compiled.mapping_matchers or [], strict=True
        )
    ]
    condition = None if compiled.matcher is None else compiled.matcher.tree
    return site_script(hog, plain, condition, mappings)


def _compile_filters(
    filters: FunctionFilters, draft: CompileInput, attr: str
) -> tuple[FunctionFilters, Matcher]:
    try:
        condition = build_filter(filters, draft.context)
        stored = filters | {"bytecode": expression_bytecode(condition)}
    except (FilterRefused, SourceError) as error:
        return _refused_filters(filters, draft, attr, str(error))
    if draft.type in types.SITE:
        stored["transpiled"] = transpile_filter(condition)
    return stored, Matcher(
        tree=msgspec.to_builtins(condition), events=event_names(filters, draft.context)
    )


def _refused_filters(
    filters: FunctionFilters, draft: CompileInput, attr: str, reason: str
) -> tuple[FunctionFilters, Matcher]:
    if draft.must_match and draft.type not in types.SITE:
        raise Invalid(f"The filter is not valid: {reason}", attr=f"{attr}__non_field_errors")
    return filters | {"bytecode": None, "bytecode_error": reason}, Matcher(events=[])


def _compile_mappings(draft: CompileInput, compiled: CompiledFunction, source: str) -> None:
    compiled.mappings, compiled.mapping_matchers = [], []
    for index, mapping in enumerate(draft.mappings or []):
        prefix = f"mappings__{index}"
        stored = mapping.copy()
        rules = InputRules(
            function_type=draft.type,
            source=source,
            attr=f"{prefix}__inputs",
            with_defaults=True,
        )
        schema, inputs = mapping.get("inputs_schema") or [], mapping.get("inputs")
        if schema or inputs is not None:
            stored["inputs"] = compile_inputs(schema, inputs or {}, rules)
        given = without_generated(mapping.get("filters") or {})
        filters, matcher = _compile_filters(given, draft, f"{prefix}__filters")
        if "filters" in mapping:
            stored["filters"] = filters
        compiled.mappings.append(stored)
        compiled.mapping_matchers.append(matcher)


def _compile_masking(masking: MaskingSettings) -> MaskingSettings:
    try:
        template = read_template(masking["hash"])
    except SourceError as error:
        detail = f"The masking hash does not compile. {error.advice}"
        raise Invalid(detail, attr="masking__hash") from None
    return {**masking, "bytecode": template.bytecode}


GLOBALS = frozenset({"project", "record", "inputs"})
_OF_EVENTS = frozenset({"event", "person", "groups", "source", "request", "variables"})
_CALLS = frozenset({"fetch", "postHogCapture", "sendEmail"})
_FILTERS = {
    "events": "events",
    "actions": "actions",
    "data_warehouse": "tables",
    "properties": "properties of events and persons",
    "filter_test_accounts": "the test-account filter",
}


def check_log_filters(filters: FunctionFilters) -> None:
    """Reject filters on events.

    Raises:
        Invalid: attr ``filters``.
    """
    for name, what in _FILTERS.items():
        if filters.get(name):
            raise Invalid(
                f"A log transformation cannot be filtered by {what}: it runs on log records. "
                f"Remove filters.{name} and test the record in the code.",
                attr="filters",
            )


def check_log_program(source: str) -> None:
    """Reject code that reads an event or calls functions that log transformations lack.

    Code that does not compile is accepted here; compiling reports the error.

    Raises:
        Invalid: attr ``hog``.
    """
    try:
        program = bind_program(parse_program(source))
    except SourceError:
        return
    called = sorted(program.global_calls & _CALLS)
    if called:
        raise Invalid(
            f"Log transformations cannot call {called[0]}: they run while logs are ingested.",
            attr="hog",
        )
    read = sorted(program.global_reads & (_OF_EVENTS | _CALLS))
    if read:
        raise Invalid(
            f"Log transformations cannot read {', '.join(read)}. The available globals "
            "are project, record and inputs.",
            attr="hog",
        )
