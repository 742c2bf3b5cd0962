"""Builds the ``inputs`` global: renders templates in order; each sees earlier inputs.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from hoglet.functions.executable.model import ExecutableFunction, ExecutableInput
from hoglet.functions.inputs.types import COMPILED_TYPES, INTEGRATION_TYPES
from hoglet.functions.json_types import BuiltInputs, Globals
from hoglet.functions.runtime import engine
from hoglet.functions.runtime.globals import ALWAYS_THERE
from hoglet.kit.json import is_array, is_object

EXTEND = "$$_extend_object"
_SURE_ROOTS = frozenset({"project", "source", "event", "person", "groups", "inputs", "variables"})


class InputsFailed(Exception):
    """An input could not be built; the message names it and the cause."""


def build_inputs(
    function: ExecutableFunction,
    globals_: Globals,
    *,
    mapping: int | None = None,
    now: str,
    seed: int = 0,
) -> BuiltInputs:
    """All inputs of a run.

    Args:
        function: has the inputs in evaluation order.
        globals_: the globals of the run, without ``inputs``.
        mapping: number of the mapping whose inputs override the function's.
        now: ISO time of ``now`` in Liquid and Hog templates.
        seed: the seed of random numbers in Hog templates.

    Raises:
        InputsFailed: a template failed, an integration is missing, the mapping was removed, or the
            function's secrets cannot be decrypted.
    """
    if function.problem is not None:
        raise InputsFailed(function.problem)
    if mapping is not None and function.mapping(mapping) is None:
        raise InputsFailed("The mapping of this run was removed from the function")
    built: BuiltInputs = {}
    builder = _Builder(now=now, seed=seed, with_record=function.source.startswith("data-warehouse"))
    for item in function.inputs_of(mapping):
        _check_integrations(item)
        try:
            built[item.key] = builder.build(item, {**ALWAYS_THERE, **globals_, "inputs": built})
        except engine.EvaluationFailed as error:
            raise InputsFailed(f"Could not build the input {item.key}: {error}") from None
    return built


def may_fail(function: ExecutableFunction, mapping: int | None) -> bool:
    """Whether building the inputs can fail; most templates only read globals."""
    if function.problem is not None:
        return True
    with_record = function.source.startswith("data-warehouse")
    return any(_may_fail(item, with_record) for item in function.inputs_of(mapping))


def are_constant(inputs: Iterable[ExecutableInput]) -> bool:
    """Whether the inputs have the same values in every run."""
    return all(_is_constant(item) for item in inputs)


def _is_constant(item: ExecutableInput) -> bool:
    if item.type in INTEGRATION_TYPES:
        return False
    if item.templating is None or item.type not in COMPILED_TYPES:
        return True
    return not any("{" in text or "\\" in text for text in texts_of(item.value))


def _may_fail(item: ExecutableInput, with_record: bool) -> bool:  # noqa: FBT001 (handed through)
    if item.type in INTEGRATION_TYPES:
        return True
    if item.templating is None or item.type not in COMPILED_TYPES:
        return False
    texts = [text for text in texts_of(item.value) if "{" in text or "\\" in text]
    if item.templating == "liquid":
        return bool(texts)
    return not all(engine.is_harmless(text, with_record, _SURE_ROOTS) for text in texts)


def texts_of(value: Any) -> Iterator[str]:
    """Every string in a value, at any depth, without keys."""
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_array(value):
        for part in value.values() if is_object(value) else value:
            yield from texts_of(part)


def _check_integrations(item: ExecutableInput) -> None:
    """Reject ids of integrations that were not resolved when loading: they are unknown."""
    if item.type not in INTEGRATION_TYPES:
        return
    values = item.value if is_array(item.value) else [item.value]
    missing = next((value for value in values if isinstance(value, int) and value), None)
    if missing is not None:
        raise InputsFailed(
            f"Could not build the input {item.key}: the project has no integration {missing}"
        )


class _Builder:
    def __init__(self, *, now: str, seed: int, with_record: bool) -> None:
        self._now = now
        self._seed = seed
        self._with_record = with_record

    def build(self, item: ExecutableInput, values: Globals) -> Any:
        if item.templating is None or item.type not in COMPILED_TYPES:
            return item.value
        if item.templating == "liquid":
            return _render(item.value, {**values, "now": self._now})
        return self._evaluate(item.value, values)

    def _evaluate(self, value: Any, values: Globals) -> Any:
        if isinstance(value, str):
            return self._text(value, values)
        if is_array(value):
            return [self._evaluate(part, values) for part in value]
        if not is_object(value):
            return value
        built: BuiltInputs = {}
        for key, part in value.items():
            created = self._evaluate(part, values)
            if key == EXTEND and is_object(created):
                built.update(created)
            else:
                built[key] = created
        return built

    def _text(self, text: str, values: Globals) -> Any:
        if "{" not in text and "\\" not in text:
            return text  # nothing to evaluate
        return engine.evaluate_template(
            text, values, with_record=self._with_record, now=self._now, seed=self._seed
        )


def _render(value: Any, values: Globals) -> Any:
    if isinstance(value, str):
        return _render_text(value, values) if "{" in value else value
    if is_object(value):
        return {key: _render(part, values) for key, part in value.items()}
    if is_array(value):
        return [_render(part, values) for part in value]
    return value


def _render_text(text: str, values: Globals) -> str:
    from hoglet.functions.runtime.liquid_templates import render_liquid  # 100 ms; few use Liquid

    return render_liquid(text, values)
