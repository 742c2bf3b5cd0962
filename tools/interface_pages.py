"""The reference pages of the two interfaces: HTTP routes, and the command line."""

import inspect
import re
from typing import Any

import typer
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from starlette.routing import Route

from hoglet.app.application import PROJECT_ROUTERS, ROUTERS, hot_routes
from hoglet.cli.main import app
from hoglet.web.health import health_routes
from hoglet.web.paths import PROJECT_PREFIX

_ROW = re.compile(r"^Row \d+[.:]\s*")


def routes_page() -> str:
    """Every route with the scope a key needs for it."""
    lines = [
        "# Routes\n",
        "`/api/environments/…` is another spelling of `/api/projects/…`; a trailing slash is",
        "accepted everywhere. `{project_id}` is a number or `@current`. Without a scope: capture",
        "takes the project token, what is below `/api` any key or none, the rest nothing.\n",
        "| method | path | scope | does |",
        "|---|---|---|---|",
    ]
    lines.extend(_route_row(*route) for route in sorted(all_routes()))
    return "\n".join(lines) + "\n"


def all_routes() -> list[tuple[str, str, str, str]]:
    """Path, method, scope and sentence of every route of the application."""
    found = [
        (prefix + route.path, method, _scope(route), _sentence(route.endpoint))
        for prefix, routers in (("", ROUTERS), (PROJECT_PREFIX, PROJECT_ROUTERS))
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    plain = [*hot_routes(), *health_routes({}, CollectorRegistry())]
    for route in [one for one in plain if isinstance(one, Route)]:
        scope = "endpoint:read" if route.path.endswith("/run") else ""  # it asks by itself
        methods = set(route.methods or ()) - {"HEAD"}
        found += [(route.path, method, scope, _sentence(route.endpoint)) for method in methods]
    return found


def _route_row(path: str, method: str, scope: str, does: str) -> str:
    return f"| {method} | `{path}` | {f'`{scope}`' if scope else ''} | {does} |"


def _scope(route: APIRoute) -> str:
    for dependency in route.dependant.dependencies:
        if dependency.call is not None:
            inner = inspect.getclosurevars(dependency.call).nonlocals
            if inner.get("scope"):
                return str(inner["scope"])
    return ""


def _sentence(endpoint: Any) -> str:
    """The first line of what is said about it, or its name."""
    name: str = endpoint.__name__.replace("_", " ").capitalize() + "."
    first = _ROW.sub("", (endpoint.__doc__ or "").strip().split("\n")[0])
    text = (first or name).replace("|", "\\|").replace("``", "`")
    return text[0].upper() + text[1:]


def commands_page() -> str:
    """Every command with its arguments and options."""
    lines = ["# Commands\n", "`hoglet COMMAND --help` prints the same.\n"]
    root = typer.main.get_command(app)
    for name, command in _commands("hoglet", root):
        lines.extend(_command_lines(name, command))
    return "\n".join(lines)


def _commands(name: str, command: Any) -> list[tuple[str, Any]]:
    children: dict[str, Any] = getattr(command, "commands", {})
    if not children:
        return [(name, command)]
    return [
        found
        for child in sorted(children)
        for found in _commands(f"{name} {child}", children[child])
    ]


def _command_lines(name: str, command: Any) -> list[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    words = " ".join([name, *map(_argument, arguments)])
    text = " ".join((command.help or "").split())
    lines = [f"## {name}\n", f"`{words}`\n", f"{text}\n"]
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|"]
        lines += [_option_row(one) for one in options if one.name != "help"]
        lines.append("")
    return lines


def _argument(argument: Any) -> str:
    word = (argument.metavar or argument.name).upper() + ("..." if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _option_row(option: Any) -> str:
    default = option.default
    hidden = default is None or callable(default) or default in ("", False, [], ())
    shown = "" if hidden else f"`{default}`"
    names = ", ".join(f"`{one}`" for one in [*option.opts, *option.secondary_opts])
    variable = f" `{option.envvar}`." if option.envvar else ""
    help_ = " ".join((option.help or "").split()).replace("|", "\\|")
    return f"| {names} | {shown} | {help_}{variable} |"
