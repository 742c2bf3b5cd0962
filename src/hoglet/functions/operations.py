"""The operations of this room that sandbox workers offer.

The composition root registers them by name, :data:`OPERATIONS`. Each takes and returns plain
values (what msgspec can carry).
"""

from typing import Any

import msgspec

from hoglet.functions.compile import Compiled, Draft, compile_draft
from hoglet.functions.execution import StepRequest
from hoglet.functions.execution import run_step as run
from hoglet.kit.errors import Invalid

OPERATIONS = {
    "functions.compile": "hoglet.functions.operations:compile_function",
    "functions.run_step": "hoglet.functions.operations:run_step",
}


def compile_function(payload: dict[str, Any]) -> dict[str, Any]:
    """Compile a draft.

    Args:
        payload: a :class:`~hoglet.functions.compile.Draft` as plain values.

    Returns:
        ``{"compiled": {...}}`` (a ``Compiled``) or, when the draft breaks a rule,
        ``{"refused": {"detail", "code", "attr"}}``.
    """
    draft = msgspec.convert(payload, Draft)
    try:
        compiled: Compiled = compile_draft(draft)
    except Invalid as error:
        refusal = {"detail": error.detail, "code": error.error_code, "attr": error.attr}
        return {"refused": refusal}
    return {"compiled": msgspec.to_builtins(compiled)}


def run_step(payload: dict[str, Any]) -> dict[str, Any]:
    """Run a function up to its next host call; see ``execution.run_step``.

    Args:
        payload: a ``StepRequest`` as plain values.

    Returns:
        A ``Step`` as plain values.
    """
    return msgspec.to_builtins(run(msgspec.convert(payload, StepRequest)))
