"""Every setting, route, error code and command is listed in docs/reference."""

import re
from pathlib import Path

import pytest
import typer
from starlette.routing import Route

from hoglet.app.http.application import PROJECT_ROUTERS, ROUTERS, hot_routes
from hoglet.cli.main import app
from hoglet.settings import Settings
from hoglet.web.router import DeclaredRoute

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
LITERAL_CODE = re.compile(r"\bcode(?:: ClassVar\[str\])? ?= ?\"([a-z_]+)\"")
DATA = frozenset(
    {
        "query",
        "cohorts",
        "persons",
        "events",
        "property_definitions",
        "event_definitions",
        "project_secret_api_keys",
        "mcp_tools",
    }
)
OF_ONE = re.compile(r"/\{\w+_id\}$")
PURE = ("hog/", "hogql/", "syntax/")  # they name the codes of bytecode and of materialization too


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_is_documented(name: str) -> None:
    assert f"| `HOGLET_{name.upper()}` |" in page("settings.md")


def test_every_route_is_documented() -> None:
    text = page("routes.md")
    routes = [route for router in (*ROUTERS, *PROJECT_ROUTERS) for route in router.routes]

    for route in [*routes, *hot_routes()]:
        assert isinstance(route, DeclaredRoute | Route)
        for method in set(route.methods or ()) - {"HEAD"}:
            row = re.compile(rf"^\| {method} \| `\S*{re.escape(route.path)}` \|", re.MULTILINE)
            assert row.search(text), f"{method} {route.path}"


def test_routes_of_data_are_compared_one_by_one() -> None:
    text = page("../compatibility.md")
    routes = [route for router in PROJECT_ROUTERS for route in router.routes]
    paths = {route.path.removeprefix("/") for route in routes if isinstance(route, DeclaredRoute)}
    compared = {path for path in paths if path.split("/")[0] in DATA}

    assert len(compared) > 30
    assert [path for path in sorted(compared) if f"{of_one(path)}`" not in text] == []


def of_one(path: str) -> str:
    """The path as the page names it: routes of one object stand beside their list."""
    return path if path.startswith(("query", "persons", "events")) else OF_ONE.sub("", path)


def test_every_error_code_in_the_source_is_documented() -> None:
    text, missing = page("errors.md"), set()
    for path in (ROOT / "src" / "hoglet").rglob("*.py"):
        if not path.relative_to(ROOT / "src" / "hoglet").as_posix().startswith(PURE):
            codes = LITERAL_CODE.findall(path.read_text())
            missing |= {code for code in codes if f"| `{code}` |" not in text}

    assert missing == set()


def test_every_command_is_documented() -> None:
    text = page("commands.md")

    def check(name: str, command: object) -> None:
        children = getattr(command, "commands", {})
        for child in children:
            check(f"{name} {child}", children[child])
        assert children or f"\n## {name}\n" in text, name

    check("hoglet", typer.main.get_command(app))
