"""Warnings about code, templates and filters that compile but look wrong, for saves.

Source: docs/spec/hog-language.md#6-scopes-closures-calls.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from hoglet.functions import types
from hoglet.functions.compile.messages import CodeWarning
from hoglet.functions.filters.normalize import LISTS
from hoglet.functions.filters.properties import missing_key
from hoglet.functions.filters.roots import FILTER_ROOTS, global_paths, nodes_of
from hoglet.functions.inputs.types import COMPILED_TYPES
from hoglet.functions.json_types import FunctionFilters, FunctionMapping, InputSchema, InputValues
from hoglet.functions.runtime.host import HELPERS
from hoglet.hog.bind.diagnostics import suggestion
from hoglet.hog.bind.tree import Warning_
from hoglet.hog.compile import bind_expression, bind_program
from hoglet.kit.errors import SourceError
from hoglet.kit.json import array_at, is_array, is_object, object_at
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_expression, parse_program, parse_template

_RUN_GLOBALS = frozenset(
    {"project", "source", "event", "events", "person", "groups", "inputs", "variables"}
)
_CALLS = frozenset({"fetch", "sendEmail", "postHogCapture"})
_GLOBALS = {
    types.TRANSFORMATION: frozenset({"project", "event", "inputs"}),
    types.TRANSFORMATION_LOG: frozenset({"project", "record", "inputs"}),
    types.SOURCE_WEBHOOK: _RUN_GLOBALS | _CALLS | {"request"},
}


_EVENT = "uuid event distinct_id properties elements_chain timestamp captured_at url"
_FIELDS = {
    "event": frozenset(_EVENT.split()),
    "person": frozenset({"id", "name", "url", "properties", "distinct_id"}),
    "project": frozenset({"id", "name", "url"}),
    "source": frozenset({"name", "url"}),
    "request": frozenset({"method", "headers", "query", "body", "stringBody", "ip"}),
}
"""The fields of globals; other names are reported only if they look misspelt."""
_INCOMPLETE = "It counts as met; alone it matches nothing."
_PARTS = ("events", "actions", "data_warehouse", "properties", "values")


class SaveWarnings:
    """Finds the warnings of the parts of a function.

    Args:
        function_type: determines the available globals and functions.
        input_keys: keys of the function's inputs; if empty, reads of inputs are not checked.
    """

    def __init__(self, function_type: str, input_keys: Collection[str]) -> None:
        self._known = _GLOBALS.get(function_type, _RUN_GLOBALS | _CALLS) | HELPERS
        self._inputs = frozenset(input_keys)

    def of_code(self, source: str) -> list[CodeWarning]:
        """The warnings of a program, in source order; none if it does not parse."""

        def read() -> tuple[tree.Program, Iterable[Warning_]]:
            program = parse_program(source)
            return program, bind_program(program, known_globals=self._known).warnings

        return self._warnings_of(read, "hog")

    def of_inputs(
        self, schema: Iterable[InputSchema], inputs: InputValues, attr: str
    ) -> Iterator[CodeWarning]:
        """The warnings of the templates of inputs; secrets are left out.

        Args:
            schema: the stored ``inputs_schema``.
            inputs: the compiled inputs, ``{"url": {"value": "{event.url}", "bytecode": [...]}}``.
            attr: path of the inputs.
        """
        for item in schema:
            entry, path = inputs.get(item["key"]), f"{attr}__{item['key']}"
            if not entry or item.get("secret"):
                continue
            if "bytecode" in entry:
                for text in _texts(entry.get("value")):
                    yield from self.of_template(text, path)
            elif entry.get("templating") == "liquid" and item["type"] in COMPILED_TYPES:
                yield from _liquid_problems(entry.get("value"), path)

    def of_template(self, text: str, attr: str) -> list[CodeWarning]:
        """The warnings of a template, e.g. ``{person.nme}``."""

        def read() -> tuple[tree.Expression, Iterable[Warning_]]:
            parsed = parse_template(text)
            known = self._known | {"record"}  # warehouse sources
            return parsed, bind_expression(parsed, known_globals=known).warnings

        return self._warnings_of(read, attr) if "{" in text else []

    def of_filters(self, filters: FunctionFilters, attr: str) -> Iterator[CodeWarning]:
        """The warnings of the parts of filters and of the HogQL expressions in them."""
        yield from _misspelled_lists(filters, attr)
        yield from _incomplete_conditions(filters, attr)
        for text in _expressions(filters):

            def read(text: str = text) -> tuple[tree.Expression, Iterable[Warning_]]:
                parsed = parse_expression(text)
                return parsed, bind_expression(parsed, known_globals=FILTER_ROOTS).warnings

            yield from self._warnings_of(read, attr, fields={"person": _FIELDS["person"]})

    def _warnings_of(
        self,
        read: Callable[[], tuple[tree.Node, Iterable[Warning_]]],
        attr: str,
        fields: dict[str, frozenset[str]] = _FIELDS,
    ) -> list[CodeWarning]:
        try:
            parsed, warnings = read()
        except SourceError:
            return []
        all_warnings = [*warnings, *self._unknown_members(parsed, fields)]
        return [
            CodeWarning(
                message=item.message,
                hint=item.hint,
                line=item.line,
                column=item.column,
                attr=attr,
            )
            for item in sorted(all_warnings, key=lambda warning: warning.start)
        ]

    def _unknown_members(
        self, parsed: tree.Node, fields: dict[str, frozenset[str]]
    ) -> Iterator[Warning_]:
        read = {path[0] for path in global_paths(parsed)}
        for node in nodes_of(parsed):
            root, key = _member(node)
            if root not in read or node.start is None or node.end is None:
                continue
            known = self._inputs if root == "inputs" else fields.get(root, frozenset())
            hint = suggestion(key, known)
            if not known or key in known or (hint is None and root != "inputs"):
                continue
            name = f"input `{key}`" if root == "inputs" else f"field `{key}` of `{root}`"
            yield Warning_(
                f"Unknown {name}",
                node.start.line,
                node.start.column + 1,
                node.start.offset,
                node.end.offset,
                hint,
            )


def _member(node: Any) -> tuple[str, str]:
    """Global and key of ``inputs.url``, ``inputs['url']`` and ``inputs?.url``; else empty."""
    match node:
        case tree.Field(chain=(str() as root, str() as key, *_)):
            return root, key
        case tree.ArrayAccess(
            array=tree.Field(chain=(str() as root,)), property=tree.Constant(value=str() as key)
        ):
            return root, key
        case _:
            return "", ""


def _texts(value: Any) -> Iterator[str]:
    """The strings of a value; the design of an email is not a template."""
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for key, part in value.items():
            yield from _texts(part) if key != "design" else ()
    elif is_array(value):
        for part in value:
            yield from _texts(part)


def _misspelled_lists(filters: FunctionFilters, attr: str) -> Iterator[CodeWarning]:
    """Keys of filters that look like a misspelled list, which nothing reads."""
    for name in filters.keys() - set(LISTS):
        hint = suggestion(name, LISTS)
        if hint is not None:
            yield CodeWarning(message=f"Unknown key `{name}`", hint=hint, attr=attr)


def _incomplete_conditions(filters: FunctionFilters, attr: str) -> Iterator[CodeWarning]:
    """Property filters that lack a key; an empty one is a row that nobody filled in."""
    for name in _PARTS:
        part = filters.get(name)
        if is_object(part):
            yield from _incomplete_conditions(part, f"{attr}__{name}")
        for index, item in enumerate(part) if is_array(part) else ():
            if not is_object(item):
                continue
            path = f"{attr}__{name}__{index}"
            yield from _incomplete_conditions(item, path)
            is_condition = name in {"properties", "values"} and not is_array(item.get("values"))
            missing = missing_key(item) if is_condition and item.keys() - {"type"} else None
            if missing is not None:
                message = f"Property filter without `{missing}`"
                yield CodeWarning(message=message, hint=_INCOMPLETE, attr=path)


def _expressions(filters: FunctionFilters) -> Iterator[str]:
    """The HogQL expressions of filters and of their groups."""
    if filters.get("type") == "hogql" and isinstance(filters.get("key"), str):
        yield filters["key"]
    for name in _PARTS:
        part = filters.get(name)
        for item in [part] if is_object(part) else part if is_array(part) else ():
            if is_object(item):
                yield from _expressions(item)


def _liquid_problems(value: Any, attr: str) -> Iterator[CodeWarning]:
    """The Liquid templates that fail in every run."""
    from hoglet.functions.runtime.liquid_templates import liquid_problem  # 100 ms; few use Liquid

    for text in _texts(value):
        problem = liquid_problem(text) if "{" in text else None
        if problem is not None:
            message, line, column = problem
            yield CodeWarning(message=message, line=line, column=column, attr=attr)


def mapping_warnings(
    warnings: SaveWarnings, index: int, mapping: FunctionMapping
) -> Iterator[CodeWarning]:
    """The warnings of a mapping's inputs and filters."""
    prefix = f"mappings__{index}"
    schema = array_at(mapping, "inputs_schema")
    yield from warnings.of_inputs(schema, object_at(mapping, "inputs"), f"{prefix}__inputs")
    yield from warnings.of_filters(object_at(mapping, "filters"), f"{prefix}__filters")
