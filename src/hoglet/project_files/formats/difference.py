"""Documents of a project compared: their comparable form, their text and a unified diff."""

import difflib
from itertools import islice, zip_longest
from typing import Any, cast

from hoglet.cohorts.criteria.schema import read_criteria
from hoglet.kit.errors import Invalid
from hoglet.kit.json import same_json
from hoglet.project_files.documents import (
    CohortDocument,
    Document,
    EndpointDocument,
    InputDocuments,
)
from hoglet.project_files.formats import endpoint_file, function_file
from hoglet.project_files.formats.function_file import without_defaults
from hoglet.project_files.formats.references import Names, references, with_ids, with_names
from hoglet.project_files.formats.yaml_files import dump

_FIRST_ID = 10**12  # stands for a name; no server has as many cohorts or actions


def text_of(kind: str, document: Document) -> str:
    """The text of a document's file; a function's code follows its settings."""
    if kind == "endpoint":
        return endpoint_file.write_text(cast("EndpointDocument", document))
    if kind == "function":
        code = document.get("hog", "")
        return f"{dump(function_file.written_fields(comparable(kind, document)))}\n{code}\n"
    if kind == "draft":
        fields = {key: value for key, value in comparable(kind, document).items() if key != "hog"}
        code = f"\n{document['hog']}\n" if "hog" in document else ""
        return f"{dump(fields) if fields else ''}{code}"
    return dump(comparable(kind, document))


def difference(kind: str, name: str, before: Document | None, after: Document | None) -> list[str]:
    """Lines of a unified diff from the server's document to the files'.

    Only values count: the order of keys and ``2`` instead of ``2.0`` make no difference.
    """
    after = _written_like(before, after)
    texts = ["" if document is None else text_of(kind, document) for document in (before, after)]
    sides = [
        "/dev/null" if document is None else f"{side}/{kind}/{name}"
        for side, document in (("server", before), ("files", after))
    ]
    old, new = (text.splitlines() for text in texts)
    return list(difflib.unified_diff(old, new, sides[0], sides[1], lineterm=""))


def _written_like(before: Any, after: Any) -> Any:
    """``after`` with the key order of ``before``, and equal values spelled as there."""
    if same_json(before, after):
        return before
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        keys = dict.fromkeys([*(key for key in old if key in new), *new])
        return {key: _written_like(old.get(key), new[key]) for key in keys}
    if isinstance(before, list) and isinstance(after, list):
        pairs = zip_longest(cast("list[Any]", before), cast("list[Any]", after))
        return [_written_like(*pair) for pair in islice(pairs, len(after))]
    return after


def comparable(kind: str, document: Document) -> Document:
    """The document in the form that is compared.

    Secrets are ``{"secret": true}``, because their values cannot be compared; criteria of cohorts
    have the defaults of a server.
    """
    if kind == "cohort":
        return as_stored(cast("CohortDocument", document))
    if kind not in {"function", "draft"}:
        return document
    form = dict(document)
    if "inputs" in document:
        form["inputs"] = _without_values(document["inputs"])
    if "mappings" in document:
        form["mappings"] = [
            {**mapping, "inputs": _without_values(mapping["inputs"])}
            if mapping.get("inputs")
            else mapping
            for mapping in document["mappings"]
        ]
    return form


def _without_values(inputs: InputDocuments) -> InputDocuments:
    return {
        key: {"secret": True} if value.get("secret") else value for key, value in inputs.items()
    }


def as_stored(document: CohortDocument) -> CohortDocument:
    """The cohort with its criteria as a server would store them, for comparison.

    Criteria that a server would reject are unchanged.

    Example:
        ``{type: person, key: plan, value: pro}`` becomes
        ``{type: person, key: plan, value: pro, operator: exact}``.
    """
    filters = document.get("filters")
    if filters is None:
        return document
    names = _placeholders(filters)
    try:
        read = read_criteria(with_ids(filters, names))
    except Invalid:
        return document
    return {**document, "filters": without_defaults(with_names(read, names))}


def _placeholders(filters: Any) -> Names:
    """Ids for the actions and cohorts that criteria refer to by name."""
    numbered = enumerate(sorted(set(references(filters))), start=_FIRST_ID)
    ids: dict[str, dict[int, str]] = {"action": {}, "cohort": {}}
    for number, (kind, name) in numbered:
        ids[kind][number] = name
    return Names(ids["action"], ids["cohort"])
