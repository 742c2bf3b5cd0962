"""Decides what a create or an update stores. No SQL, no HTTP, no compiling.

Source: docs/spec/hog-functions.md#3-writing-rows-2-and-4 and
docs/spec/hog-functions.md#4-inputs_schema-inputs-mappings.
"""

from typing import cast

from hoglet.functions import types
from hoglet.functions.compile.messages import CompiledFunction, CompileInput, Matcher
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.normalize import check_view, without_generated
from hoglet.functions.inputs.secrets import (
    merge_secrets,
    numbered,
    secret_keys,
    split_secrets,
    stored_identities,
)
from hoglet.functions.json_types import (
    CompiledColumns,
    FunctionColumns,
    FunctionMapping,
    InputValues,
    MappingMatcher,
    MappingSecrets,
    SecretValues,
    SentFields,
    StoredMatcher,
)
from hoglet.functions.templates.registry import HIDDEN, Template
from hoglet.functions.watcher.rules import FORCED_DISABLED
from hoglet.kit.errors import Invalid

MAX_SOURCE_BYTES = 100 * 1024  # of Hog code
COPIED_FROM_TEMPLATE = ("name", "description", "hog", "inputs_schema", "icon_url")
NEW: FunctionColumns = {
    "type": types.DESTINATION,
    "name": None,
    "description": "",
    "enabled": False,
    "deleted": False,
    "hog": "",
    "bytecode": None,
    "transpiled": None,
    "inputs_schema": [],
    "inputs": {},
    "filters": {"source": "events"},
    "masking": None,
    "mappings": None,
    "icon_url": None,
    "template_id": None,
    "execution_order": None,
    "retry": None,
    "delivery": None,
    "folder": None,
    "batch_export_id": None,
    "state": 0,
}


class SavePlan:
    """A save, computed from the stored function and the request.

    Args:
        stored: column values; :data:`NEW` for a create.
        sent: the fields of the request, from ``schemas.read_fields``.
        secrets: decrypted secrets of the function.
        mapping_secrets: decrypted secrets of its mappings, by index as string.
        template: the template of the function, after the save.
        is_new: a create.
    """

    def __init__(
        self,
        stored: FunctionColumns,
        sent: SentFields,
        *,
        secrets: SecretValues,
        mapping_secrets: MappingSecrets,
        template: Template | None,
        is_new: bool,
    ) -> None:
        self.stored = stored
        self.sent = sent.copy()
        self.secrets = secrets
        self.mapping_secrets = mapping_secrets
        self.template = template
        self.is_new = is_new
        self._check_type()
        if is_new:
            self._copy_from_template()
        self._check_hog()
        self._check_mappings()
        columns = {name: value for name, value in self.sent.items() if name in NEW}
        self.values = cast("FunctionColumns", {**stored, **columns})

    @property
    def will_run(self) -> bool:
        """Enabled and live after the save."""
        return self.values["enabled"] and not self.values["deleted"]

    @property
    def was_running(self) -> bool:
        """Enabled and live before the save."""
        return not self.is_new and self.stored["enabled"] and not self.stored["deleted"]

    def check_running(self) -> None:
        """Check that a function may be enabled by this save.

        Raises:
            Invalid: its template is internal, an administrator disabled it, or it has no view.
        """
        self._check_enabling()
        check_view(self.values["filters"], enabled=self.will_run)

    def draft(self, context: FilterContext) -> CompileInput:
        """The parts to compile."""
        sent, values = self.sent, self.values
        is_site = values["type"] in types.SITE  # its script contains code, inputs and filters
        is_inputs = is_site or self.is_new or "inputs" in sent or "inputs_schema" in sent
        is_mappings = is_site or "mappings" in sent
        return CompileInput(
            type=values["type"],
            inputs_schema=values["inputs_schema"],
            hog=values["hog"] if is_site or "hog" in sent else None,
            saved_hog=values["hog"] or "",
            input_keys=self._input_keys(),
            inputs=self._inputs() if is_inputs else None,
            filters=without_generated(values["filters"]),
            mappings=self._mappings() if is_mappings else None,
            masking=values["masking"] if "masking" in sent else None,
            context=context,
            must_match=self.will_run,
        )

    def _input_keys(self) -> list[str]:
        """Keys of the function's inputs and of those of its mappings."""
        schemas = [mapping.get("inputs_schema") or [] for mapping in self.values["mappings"] or []]
        return [
            item["key"] for schema in (self.values["inputs_schema"], *schemas) for item in schema
        ]

    def apply(self, compiled: CompiledFunction, stored_matcher: StoredMatcher) -> CompiledColumns:
        """The column values to store; ``secrets`` and ``mapping_secrets`` not yet encrypted."""
        values: CompiledColumns = {
            **self.values,
            "secrets": self.secrets,
            "mapping_secrets": self.mapping_secrets,
            "matcher": stored_matcher,
        }
        if compiled.bytecode is not None or compiled.transpiled is not None:
            values["bytecode"], values["transpiled"] = compiled.bytecode, compiled.transpiled
        if compiled.inputs is not None:
            schema = values["inputs_schema"]
            values["inputs"], values["secrets"] = split_secrets(schema, compiled.inputs)
        if compiled.filters is not None:
            values["filters"] = compiled.filters
        if compiled.masking is not None:
            values["masking"] = compiled.masking
        if compiled.mappings is not None:
            values["mappings"], values["mapping_secrets"] = _split_mappings(compiled.mappings)
        if "mappings" in self.sent and self.values["mappings"] is None:
            values["mapping_secrets"] = {}
        matcher = compiled.matcher or Matcher(
            tree=stored_matcher.get("tree"), events=stored_matcher.get("events")
        )
        values["matcher"] = {
            "tree": matcher.tree,
            "events": matcher.events,
            **numbered(
                _mapping_matchers(compiled, stored_matcher) if values["mappings"] else [],
                stored_matcher,
                self.stored["mappings"],
                values["mappings"],
            ),
        }
        return values

    def _check_type(self) -> None:
        kind = self.sent.get("type")
        if kind is None:
            self.sent.pop("type", None)
        elif kind == types.WAREHOUSE_SOURCE_WEBHOOK:
            raise Invalid("Functions of this type cannot be created or changed here.", attr="type")
        elif not self.is_new and kind != self.stored["type"]:
            raise Invalid("The type of a function cannot be changed.", attr="type")

    def _copy_from_template(self) -> None:
        if self.template is None:
            return
        for name in COPIED_FROM_TEMPLATE:
            value = getattr(self.template, "code" if name == "hog" else name)
            if not self.sent.get(name):
                self.sent[name] = value

    def _check_hog(self) -> None:
        if "hog" not in self.sent:
            if self.is_new:
                raise Invalid("This field is required.", attr="hog")
        elif not self.sent["hog"]:
            raise Invalid("This field may not be blank.", code="blank", attr="hog")
        elif len(self.sent["hog"].encode()) > MAX_SOURCE_BYTES:
            limit = MAX_SOURCE_BYTES // 1024
            raise Invalid(f"The code is too long: the limit is {limit} KB.", attr="hog")

    def _check_mappings(self) -> None:
        sent = self.sent
        if self.is_new and sent.get("mappings") == []:
            sent["mappings"] = None
        mappings = sent.get("mappings")
        if mappings is None:
            return
        kind = sent.get("type") or self.stored["type"]
        if mappings and kind not in types.WITH_MAPPINGS:
            raise Invalid("Only destinations can have mappings.", attr="mappings")
        filters = without_generated(sent.get("filters") or self.stored["filters"])
        sent["filters"] = {
            name: value for name, value in filters.items() if name not in {"events", "actions"}
        }

    def _check_enabling(self) -> None:
        if not self.will_run:
            return
        if self.template is not None and self.template.status == HIDDEN and not self.is_new:
            raise Invalid(
                "The template of this function is internal: it can only be disabled or deleted.",
                attr="enabled",
            )
        if self.sent.get("enabled") and self.stored["state"] == FORCED_DISABLED:
            raise Invalid("An administrator disabled this function.", attr="enabled")

    def _inputs(self) -> InputValues:
        schema = self.values["inputs_schema"]
        if "inputs" in self.sent:
            return merge_secrets(schema, self.sent["inputs"], self.secrets)
        # The value of a key that is no longer secret is dropped, so that it is not revealed.
        secrets = {key: self.secrets[key] for key in secret_keys(schema) if key in self.secrets}
        return {**self.stored["inputs"], **secrets}

    def _mappings(self) -> list[FunctionMapping] | None:
        mappings = self.values["mappings"]
        if mappings is None:
            return None
        places = stored_identities(self.stored["mappings"] or [], mappings)
        return [
            self._mapping(index, mapping, places.get(index))
            for index, mapping in enumerate(mappings)
        ]

    def _mapping(self, index: int, mapping: FunctionMapping, stored: int | None) -> FunctionMapping:
        schema, inputs = mapping.get("inputs_schema") or [], mapping.get("inputs") or {}
        secrets = self.mapping_secrets.get(str(stored), {})
        merged = merge_secrets(schema, inputs, secrets, attr=f"mappings__{index}__inputs")
        return {**mapping, "inputs": merged} if merged or "inputs" in mapping else mapping


def _split_mappings(
    mappings: list[FunctionMapping],
) -> tuple[list[FunctionMapping], MappingSecrets]:
    plain: list[FunctionMapping] = []
    encrypted: MappingSecrets = {}
    for index, mapping in enumerate(mappings):
        visible = mapping.copy()
        if "inputs" in mapping:
            schema = mapping.get("inputs_schema") or []
            visible["inputs"], secret = split_secrets(schema, mapping["inputs"] or {})
            if secret:
                encrypted[str(index)] = secret
        plain.append(visible)
    return plain, encrypted


def _mapping_matchers(compiled: CompiledFunction, stored: StoredMatcher) -> list[MappingMatcher]:
    if compiled.mapping_matchers is None:
        return stored.get("mappings") or []
    return [
        {"tree": matcher.tree, "events": matcher.events} for matcher in compiled.mapping_matchers
    ]
