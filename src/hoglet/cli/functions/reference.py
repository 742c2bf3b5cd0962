"""Resolves functions given on the command line by id or by unique name."""

import difflib
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

import typer

from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.completion import complete
from hoglet.kit.errors import HogletError

ALL_TYPES = (
    "destination,site_destination,internal_destination,source_webhook,site_app,transformation,"
    "transformation_log"
)
_NEAR = 3


class NoFunction(HogletError):
    """There is no function with this id or name, or several have the name."""

    code = "no_function"
    blame = "operator"


def _names(client: ApiClient) -> list[tuple[str, str]]:
    functions = client.every("/hog_functions/", types=ALL_TYPES)
    return [(function["id"], function["name"] or function["type"]) for function in functions]


def complete_functions(incomplete: str) -> list[tuple[str, str]]:
    """Ids with names, for shell completion."""
    return [
        pair
        for pair in complete(_names)
        if pair[0].startswith(incomplete) or pair[1].startswith(incomplete)
    ]


Function = Annotated[
    str,
    typer.Argument(help="Id or name of the function.", autocompletion=complete_functions),
]


Draft = Annotated[bool, typer.Option("--draft", help="Use the draft of the function.")]


def find_id(client: ApiClient, text: str) -> str:
    """The id of the function that ``text`` names, made safe for a path.

    Raises:
        NoFunction: no function, or more than one, has this name.
    """
    try:
        return str(UUID(text))
    except ValueError:
        if not text.strip():
            raise NoFunction("The id or name is empty. See hoglet functions list.") from None
        functions = _names(client)
    ids = [function_id for function_id, name in functions if name == text]
    if len(ids) == 1:
        return quote(ids[0])
    if ids:
        raise NoFunction(
            f"{len(ids)} functions have the name {text}: specify an id, {', '.join(ids)}."
        )
    near = difflib.get_close_matches(text, [name for _, name in functions], n=_NEAR)
    hint = f" Did you mean {' or '.join(near)}?" if near else " See hoglet functions list."
    raise NoFunction(f"There is no function {text}.{hint}")
