"""CSV uploads: which column identifies persons, and how.

Source: docs/spec/data-and-queries.md#33-static-cohorts (CSV).
"""

import csv
import io
from collections.abc import Sequence

from hoglet.cohorts.static import DISTINCT_ID, EMAIL, PERSON_ID
from hoglet.kit.errors import Invalid

MOST_BYTES = 20 * 1024 * 1024
_NAMES = {
    "person_id": PERSON_ID,
    "person-id": PERSON_ID,
    "person .id": PERSON_ID,
    "distinct_id": DISTINCT_ID,
    "distinct-id": DISTINCT_ID,
    "email": EMAIL,
    "e-mail": EMAIL,
}
_ORDER = (PERSON_ID, DISTINCT_ID, EMAIL)


def read_csv(data: bytes) -> tuple[str, list[str]]:
    """The kind of the identifiers in a file, and the identifiers: ``("email", ["a@b.c"])``.

    Raises:
        Invalid: attr ``csv``; it is invalid, or has no persons.
    """
    if len(data) > MOST_BYTES:
        raise _refused("The file is larger than 20 MB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused("The file is not UTF-8 text.") from None
    if "\x00" in text:
        raise _refused("The file contains null characters; it is not CSV.")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(row)]
    except csv.Error as error:
        raise _refused(f"The file is not valid CSV: {error}.") from None
    if not rows:
        raise _refused("The file is empty.")
    kind, column, body = _column(rows)
    texts = [row[column].strip() for row in body if len(row) > column]
    texts = list(dict.fromkeys(each for each in texts if each))
    if not texts:
        raise _refused("The file has no persons.")
    return kind, texts


def _column(rows: Sequence[Sequence[str]]) -> tuple[str, int, Sequence[Sequence[str]]]:
    header = [name.strip().lower() for name in rows[0]]
    if len(header) == 1:
        kind = _NAMES.get(header[0])
        if kind in {PERSON_ID, EMAIL}:
            return str(kind), 0, rows[1:]
        return DISTINCT_ID, 0, rows
    kinds = [_NAMES.get(name) for name in header]
    for kind in _ORDER:
        if kind in kinds:
            return kind, kinds.index(kind), rows[1:]
    found = ", ".join(name[:60] for name in rows[0][:20])
    raise _refused(
        f"No column person_id, distinct_id or email; the columns are: {found}.",
    )


def _refused(detail: str) -> Invalid:
    return Invalid(detail, attr="csv")
