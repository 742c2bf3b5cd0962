"""Hooks of schemathesis: most requests use existing objects and valid values.

Left alone, nearly every request ends at a missing project, at code that is no Hog, at a wrong
token: the interesting answers would never be seen. So most requests get parameters that exist, and
most bodies are a valid one with some fields of the generated one laid over it.

``HOGLET_FUZZ_SEEDS`` names the file that ``support.fuzz_seeds`` wrote, ``HOGLET_FUZZ_SEEN`` the
file for the statuses that each operation answered with.
"""

import atexit
import hashlib
import itertools
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import schemathesis

SEEDS: dict[str, Any] = json.loads(Path(os.environ["HOGLET_FUZZ_SEEDS"]).read_text())
SEEN = Path(os.environ["HOGLET_FUZZ_SEEN"])
KEYS = "/api/personal_api_keys/{key_id}"  # never generated: it may be the client's own, from a list
LAID_OVER = 2  # more generated fields than this and no body is accepted any more

_seen: defaultdict[str, Counter[int]] = defaultdict(Counter)
_numbers = itertools.count()


@schemathesis.hook
def before_call(_context: Any, case: Any, **_kwargs: Any) -> None:
    """Which request is changed, and how, follows from what was generated."""
    draws = _draws(case)
    label = case.operation.label
    _change_body(case, draws, SEEDS["bodies"].get(label))
    for name, values in SEEDS["query"].get(label, {}).items():
        if next(draws) % 4:
            case.query = {**_mapping(case.query), name: values[next(draws) % len(values)]}
    deletes = isinstance(case.body, dict) and bool(case.body.get("deleted"))
    if next(draws) % 4 or KEYS in label:
        parameters = (
            _spare(label) if deletes or case.method == "DELETE" else _parameters_of(label, draws)
        )
        if KEYS in label:
            parameters = {"key_id": "none"} | parameters
        given = _mapping(case.path_parameters)
        case.path_parameters = {name: parameters.get(name, value) for name, value in given.items()}


@schemathesis.hook
def after_call(_context: Any, case: Any, response: Any) -> None:
    """Note the status."""
    _seen[case.operation.label][response.status_code] += 1


@atexit.register
def _write() -> None:
    SEEN.write_text(json.dumps(_seen))


def _draws(case: Any) -> Any:
    """Numbers that depend on the generated request alone, without end."""
    generated = repr((case.method, case.path, case.path_parameters, case.query, case.body))
    for turn in itertools.count():
        yield from hashlib.sha256(f"{turn}{generated}".encode(errors="replace")).digest()


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _parameters_of(label: str, draws: Any) -> dict[str, str]:
    """Parameters that belong together: those of the longest beginning that has some."""
    path = label.split(" ")[1]
    fitting = [at for at in SEEDS["places"] if label.startswith(at) or path.startswith(at)]
    beginning = max(fitting, key=len)
    places = SEEDS["places"][beginning]
    return SEEDS["project"] | places[next(draws) % len(places)]


def _spare(label: str) -> dict[str, str]:
    """An object that may be deleted; each is given out once."""
    spares = SEEDS["spares"].get(label.split(" ")[1], [])
    return SEEDS["project"] | (spares.pop() if spares else {})


def _change_body(case: Any, draws: Any, bodies: list[Any] | None) -> None:
    if not bodies or next(draws) % 4 == 0:
        return
    body = bodies[next(draws) % len(bodies)]
    text = json.dumps(body).replace("$number", str(next(_numbers)))
    body = json.loads(text)
    if isinstance(body, dict) and isinstance(case.body, dict) and case.body:
        names = sorted(case.body, key=str)
        overlaid = {names[next(draws) % len(names)] for _ in range(next(draws) % (LAID_OVER + 1))}
        body |= {name: case.body[name] for name in overlaid}
    case.body = body
