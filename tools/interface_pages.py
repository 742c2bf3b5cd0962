"""The reference pages of the two interfaces: HTTP routes, and the command line."""

from typing import Any

import typer

from hoglet.app.http.openapi import all_routes
from hoglet.cli.main import app
from hoglet.web.openapi import DescribedRoute


def routes_page() -> str:
    """Every route with the scope that a key needs."""
    lines = [
        "# Routes\n",
        "`/api/environments/…` is an alias of `/api/projects/…`; a trailing slash is",
        "accepted everywhere. `{project_id}` is a number or `@current`. The scope is what the key",
        "needs: `any` means every key, and without a scope no key is needed (capture needs the",
        "project's token). `/api/schema` describes all routes as an OpenAPI document.\n",
        "| method | path | scope | does |",
        "|---|---|---|---|",
    ]
    lines.extend(map(_route_row, all_routes()))
    return "\n".join(lines) + "\n"


def _route_row(route: DescribedRoute) -> str:
    scope = "any" if route.scope == "any" else f"`{route.scope}`" if route.scope else ""
    summary = route.summary.replace("|", "\\|")
    return f"| {route.method} | `{route.path}` | {scope} | {summary} |"


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
        leaf for child in sorted(children) for leaf in _commands(f"{name} {child}", children[child])
    ]


def _command_lines(name: str, command: Any) -> list[str]:
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    words = " ".join([name, *map(_argument, arguments)])
    text = " ".join((command.help or "").split())
    lines = [f"## {name}\n", f"`{words}`\n", f"{text}\n"]
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|"]
        lines += [_option_row(parameter) for parameter in options if parameter.name != "help"]
        lines.append("")
    return lines


def _argument(argument: Any) -> str:
    word = (argument.metavar or argument.name).upper() + ("..." if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _option_row(option: Any) -> str:
    default = option.default
    hidden = default is None or callable(default) or default in ("", False, [], ())
    default_text = "" if hidden else f"`{default}`"
    names = ", ".join(f"`{option_name}`" for option_name in [*option.opts, *option.secondary_opts])
    variable = f" `{option.envvar}`." if option.envvar else ""
    help_ = " ".join((option.help or "").split()).replace("|", "\\|")
    return f"| {names} | {default_text} | {help_}{variable} |"
