"""``hoglet tokens``: tenant tokens and their signing keys."""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote

import typer

from hoglet.cli.output import AsJson, cell, print_json, print_table
from hoglet.cli.server.connection import ServerTyper, connect
from hoglet.cli.server.responses import TokenRequest
from hoglet.kit.errors import HogletError
from hoglet.kit.json import JsonObject

tokens_app = ServerTyper(help="Tenant tokens and their signing keys.", no_args_is_help=True)

SIGNING_KEY = "HOGLET_SIGNING_KEY"
_COLUMNS = ("id", "created_at", "expires_at")


class BadOption(HogletError):
    """An option is malformed."""

    code = "bad_usage"
    blame = "operator"


@tokens_app.command("create")
def create(
    endpoint: Annotated[
        list[str], typer.Option("--endpoint", help="Endpoint that may be run; repeatable.")
    ],
    variable: Annotated[
        list[str] | None,
        typer.Option("--variable", help="NAME=VALUE, a fixed variable; VALUE is JSON or text."),
    ] = None,
    expires_in: Annotated[
        int, typer.Option("--expires-in", min=1, help="Seconds until the token expires.")
    ] = 3600,
    offline_project: Annotated[
        int | None,
        typer.Option(
            "--offline-project",
            help=f"Project id: sign locally, without a server, with {SIGNING_KEY}=ID:SECRET.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a token that may run some endpoints with fixed variables, and print it."""
    body: TokenRequest = {
        "endpoints": endpoint,
        "variables": _read_variables(variable or []),
        "expires_in": expires_in,
    }
    if offline_project is None:
        answer = connect().call("POST", "/tenant_tokens/", body)
    else:
        answer = _sign(offline_project, body)
    if as_json:
        print_json(answer)
    else:
        print(answer["token"])


@tokens_app.command("keys")
def list_keys(as_json: AsJson = False) -> None:
    """List the signing keys whose tokens are accepted."""
    keys = list(connect().every("/tenant_tokens/keys/"))
    if as_json:
        print_json(keys)
        return
    print_table(_COLUMNS, [[cell(key[column]) for column in _COLUMNS] for key in keys])


@tokens_app.command("rotate")
def rotate(
    grace: Annotated[
        int, typer.Option("--grace", min=0, help="Seconds for which earlier tokens remain valid.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Replace the signing key and print the new one as ID:SECRET; it is shown only once."""
    key = connect().call("POST", "/tenant_tokens/rotate/", {"grace_seconds": grace})
    if as_json:
        print_json(key)
    else:
        print(f"{key['id']}:{key['secret']}")


@tokens_app.command("revoke")
def revoke(key_id: Annotated[str, typer.Argument(help="Id of the signing key.")]) -> None:
    """Revoke a signing key; all its tokens stop working immediately."""
    connect().call("DELETE", f"/tenant_tokens/keys/{quote(key_id, safe='')}/")
    print(f"revoked {key_id}")


def _read_variables(texts: list[str]) -> JsonObject:
    values: JsonObject = {}
    for name, value in map(_read_variable, texts):
        if name in values:
            raise BadOption(f"--variable {name} is given twice.")
        values[name] = value
    return values


def _read_variable(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise BadOption(f"--variable {text}: write NAME=VALUE, e.g. tenant=acme.")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _sign(project_id: int, body: TokenRequest) -> dict[str, str]:
    from hoglet.access.principals import TenantGrant
    from hoglet.access.tenant_tokens.codec import MAX_TOKEN_SECONDS, grant_problem, sign_token

    problem = grant_problem(body["endpoints"], body["variables"])
    if problem is not None:
        raise BadOption(problem[1])
    key_id, sign, secret = os.environ.get(SIGNING_KEY, "").partition(":")
    if not sign:
        raise BadOption(f"Set {SIGNING_KEY} to ID:SECRET, as hoglet tokens rotate prints it.")
    if body["expires_in"] > MAX_TOKEN_SECONDS:
        raise BadOption(f"--expires-in can be at most {MAX_TOKEN_SECONDS} seconds.")
    now = datetime.now(UTC)
    expires_at = (now + timedelta(seconds=body["expires_in"])).replace(microsecond=0)
    token = sign_token(
        key_id,
        secret,
        project_id=project_id,
        grant=TenantGrant.of(body["endpoints"], body["variables"]),
        issued_at=now,
        expires_at=expires_at,
    )
    return {"token": token, "expires_at": expires_at.isoformat()}
