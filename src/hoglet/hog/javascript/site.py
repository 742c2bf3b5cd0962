"""The wrapper of a site function: one JavaScript expression that posthog-js loads.

``(function () { ... })``, which returns an object with ``init({posthog, callback})``.

Source: docs/spec/hog-language.md#14-javascript.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hog.compile import bind_expression
from hoglet.hog.javascript.library import library_source
from hoglet.hog.javascript.printer import indent, literal
from hoglet.hog.javascript.program import JavaScript, expression_javascript, template_javascript
from hoglet.hog.javascript.strip_types import transpile_site_source
from hoglet.syntax import tree

_DEFAULT_ORDER = -1


class SiteMapping(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping of a site function.

    Attributes:
        inputs: as those of the function, ``{"name": {"value": "{event.event}", "order": 0}}``.
        filters: its own condition; None always matches.
        disabled: it is skipped.
    """

    inputs: Mapping[str, Mapping[str, Any]] = {}
    filters: tree.Expression | None = None
    disabled: bool = False


def site_function_javascript(
    source: str,
    inputs: Mapping[str, Mapping[str, Any]],
    filters: tree.Expression | None = None,
    mappings: Sequence[SiteMapping] = (),
) -> str:
    """JavaScript of a whole site function.

    Args:
        source: TypeScript that exports ``onLoad`` and ``onEvent``, either or both.
        inputs: stored inputs by key, ``{"url": {"value": "{event.url}", "order": 0}}``; a text
            with a brace is a template, inside lists and dicts too.
        filters: the condition on events; None always matches.
        mappings: what ``onEvent`` is called for.

    Raises:
        SourceError: the source, a template or a filter does not compile.
    """
    writer = _Writer()
    factory = transpile_site_source(source)
    build = writer.build_inputs(inputs)
    process = writer.process_event(filters, mappings)
    parts = {
        "helpers": library_source(writer.used),
        "factory": factory.rstrip("\n"),
        "build": build,
        "process": process,
    }
    return _PART.sub(lambda match: parts[match.group(1)], _WRAPPER)


_PART = re.compile(r"/\*(\w+)\*/")
_WRAPPER = """\
(function () {
/*helpers*/
const __source = (function () {
/*factory*/
})() || {};
function buildInputs(__globals, initial) {
    const inputs = {};
    const __getGlobal = (key) => (key === 'inputs' ? inputs : __globals[key]);
/*build*/
    return inputs;
}
function init({ posthog, callback }) {
    if (typeof __source.onLoad === 'function') {
        const loaded = __source.onLoad({ inputs: buildInputs({}, true), posthog });
        if (loaded && typeof loaded.then === 'function') {
            loaded.then(() => callback(true), () => callback(false));
        } else {
            callback(true);
        }
    } else {
        callback(true);
    }
    if (typeof __source.onEvent !== 'function') { return {}; }
    function processEvent(__globals, posthog) {
        const inputs = buildInputs(__globals, false);
        const __event = __globals.event || {};
        const __filterGlobals = {
            ...__globals.groups, ...__event, person: __globals.person, inputs,
            pdi: { distinct_id: __event.distinct_id, person: __globals.person },
        };
        let __getGlobal = (key) => __filterGlobals[key];
/*process*/
    }
    // Loaders take it as a property or call it as it is.
    return Object.assign(processEvent, { processEvent });
}
return { init };
})"""


class _Writer:
    """Prints inputs and filters and records the helpers they use."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def build_inputs(self, inputs: Mapping[str, Mapping[str, Any]]) -> str:
        """Statements that fill ``inputs``."""
        return indent("\n".join(self._assignments(inputs, "inputs", "initial"))).rstrip("\n")

    def _assignments(
        self, inputs: Mapping[str, Mapping[str, Any]], target: str, initial: str
    ) -> list[str]:
        lines: list[str] = []
        for key, item in sorted(inputs.items(), key=lambda pair: _order(pair[1])):
            reference = f"{target}[{literal(key)}]"
            value = item.get("value")
            if not _has_template(value):
                lines.append(f"{reference} = {_plain(value)};")
                continue
            message = literal(f"The input {key} can not be computed")
            report = f"if (!{initial}) {{ console.error({message}, __error); }}"
            lines.append(
                f"try {{ {reference} = {self._value(value)}; }} "
                f"catch (__error) {{ {report} {reference} = null; }}"
            )
        return lines

    def _value(self, value: Any) -> str:
        if isinstance(value, str):
            return self._use(template_javascript(value)) if "{" in value else _plain(value)
        if isinstance(value, Mapping):
            return "{" + ", ".join([self._member(key, item) for key, item in value.items()]) + "}"
        if isinstance(value, list | tuple):
            return f"[{', '.join([self._value(item) for item in value])}]"
        return _plain(value)

    def _member(self, key: str, value: Any) -> str:
        name = literal(key)
        return f"{f'[{name}]' if key == '__proto__' else name}: {self._value(value)}"

    def process_event(
        self, filters: tree.Expression | None, mappings: Sequence[SiteMapping]
    ) -> str:
        """Statements that test the filters and call ``onEvent`` for each mapping."""
        lines = [f"if (!({self._condition(filters)})) {{ return; }}"]
        for mapping in mappings:
            if not mapping.disabled:
                lines.extend(self._mapping(mapping))
        return indent(indent("\n".join(lines)).rstrip("\n")).rstrip("\n")

    def _mapping(self, mapping: SiteMapping) -> list[str]:
        body = [
            "const __mapped = structuredClone(inputs);",
            "{",
            "    const __getGlobal = (key) => (key === 'inputs' ? __mapped : __globals[key]);",
            *[f"    {line}" for line in self._assignments(mapping.inputs, "__mapped", "false")],
            "}",
            "__source.onEvent({ inputs: __mapped, posthog });",
        ]
        head = f"if ({self._condition(mapping.filters)}) {{"
        return [head, *[f"    {line}" for line in body], "}"]

    def _condition(self, filters: tree.Expression | None) -> str:
        if filters is None:
            return "true"
        return self._use(expression_javascript(bind_expression(filters)))

    def _use(self, printed: JavaScript) -> str:
        self.used.update(printed.helpers)
        return printed.code


def _order(item: Mapping[str, Any]) -> int:
    order = item.get("order")
    return order if isinstance(order, int) else _DEFAULT_ORDER


def _has_template(value: Any) -> bool:
    if isinstance(value, str):
        return "{" in value
    if isinstance(value, Mapping):
        return any(_has_template(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_has_template(item) for item in value)


def _plain(value: Any) -> str:
    if isinstance(value, str | int | float | bool | None):
        return literal(value)
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")
