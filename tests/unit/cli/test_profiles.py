"""Which server and key a command uses: options, environment variables and profiles."""

import stat
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from hoglet.cli.main import app
from hoglet.cli.old_spellings import modern_spelling
from hoglet.cli.server.connection import Given, ServerConnection, resolve
from hoglet.cli.server.profiles import BadProfile, Profile, Profiles, profiles_file, save_profiles

SHOP, TEST = "https://shop.example.com", "http://127.0.0.1:9000"


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("HOGLET_HOST", raising=False)
    by_name = {"shop": Profile(SHOP, "phx_shop"), "test": Profile(TEST, "phx_test")}
    save_profiles(Profiles("shop", by_name))


@pytest.mark.parametrize(
    ("given", "url", "key"),
    [
        (Given(), SHOP, "phx_shop"),
        (Given(profile="test"), TEST, "phx_test"),
        (Given(url=TEST), TEST, ""),  # the key of the current profile is for another server
        (Given(url=SHOP + "/"), SHOP, "phx_shop"),
        (Given(url=TEST, key="phx_own"), TEST, "phx_own"),
        (Given(key="phx_own"), SHOP, "phx_own"),
        (Given(url=TEST, profile="shop"), TEST, ""),  # both variables: the URL wins
        (Given(url=SHOP, profile="test", explicit=frozenset({"profile"})), TEST, "phx_test"),
        (
            Given(url=SHOP, key="phx_env", profile="test", explicit=frozenset({"profile"})),
            TEST,
            "phx_test",
        ),
        (
            Given(key="phx_own", profile="test", explicit=frozenset({"profile", "key"})),
            TEST,
            "phx_own",
        ),
    ],
)
def test_what_is_nearest_wins(given: Given, url: str, key: str) -> None:
    assert resolve(given) == ServerConnection(url, key, "@current")


def test_two_servers_at_once_are_refused() -> None:
    given = Given(url=SHOP, profile="test", explicit=frozenset({"profile", "url"}))
    with pytest.raises(BadProfile, match="use only one of them"):
        resolve(given)


@pytest.mark.parametrize("folder", ["", "config", "./here"])
def test_keys_are_never_kept_below_the_current_folder(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", folder)
    assert profiles_file().is_absolute()


def test_keys_are_readable_by_their_owner_only() -> None:
    assert stat.S_IMODE(profiles_file().stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["[1, 2", "[1]", "profiles: {a: 1}", "profiles: {a: {url: x}}"])
def test_a_broken_file_is_named(text: str) -> None:
    profiles_file().write_text(text)

    ran = CliRunner().invoke(app, ["profiles", "list"])

    assert ran.exit_code == 2
    assert "profiles.yaml" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_profiles_are_listed_without_keys_chosen_and_forgotten() -> None:
    def run(*words: str) -> str:
        return CliRunner().invoke(app, [*words]).output

    listed = run("profiles", "list", "--json")
    assert "phx_" not in listed
    assert SHOP in listed
    run("profiles", "use", "test")
    assert resolve(Given()).url == TEST
    run("logout")
    assert resolve(Given()).url == SHOP
    run("logout", "--profile", "shop")
    assert resolve(Given()).url == "http://127.0.0.1:8000"


def test_an_empty_name_does_not_remove_the_selected_profile() -> None:
    """A script whose variable is not set: hoglet logout --profile "$PROFILE"."""
    ran = CliRunner().invoke(app, ["logout", "--profile", ""])

    assert (ran.exit_code, ran.stderr) == (2, "The name of the profile is empty.\n")
    assert resolve(Given()).url == SHOP


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("key create --scopes x", "admin keys create --scopes x"),
        ("project list", "admin projects list"),
        ("queue buried", "admin queues failed"),
        ("queue revive spool", "admin queues retry spool"),
        ("admin queues buried --json", "admin queues failed --json"),
        ("admin queues revive spool", "admin queues retry spool"),
        ("queue failed", "admin queues failed"),
        ("secrets rotate", "admin secrets rotate"),
        ("secrets reseal", "admin secrets reencrypt"),
        ("admin secrets reseal --data-dir x", "admin secrets reencrypt --data-dir x"),
        ("logs -f --function ID", "functions logs ID -f"),
        ("logs --function=ID", "functions logs ID"),
        ("functions force-state ID healthy", "admin functions force-state ID healthy"),
        ("function list", "functions list"),
        ("version", "--version"),
        ("hog run key", "hog run key"),
        ("", ""),
    ],
)
def test_old_spellings_are_understood(old: str, new: str) -> None:
    assert modern_spelling(old.split()).words == new.split()


def test_an_old_spelling_says_how_to_write_it() -> None:
    ran = CliRunner().invoke(app, ["queue", "-h"])

    assert ran.exit_code == 0
    assert "hoglet admin queues" in ran.stderr


def test_what_scripts_rely_on_says_nothing() -> None:
    assert CliRunner().invoke(app, ["key", "create", "-h"]).stderr == ""


@pytest.mark.parametrize("words", [["-h"], ["functions", "-h"], ["functions", "list", "-h"]])
def test_help_has_a_short_spelling(words: list[str]) -> None:
    assert CliRunner().invoke(app, words).exit_code == 0


READS = {"list", "show", "usage", "compare", "failed", "logs", "tail", "status", "query", "run"}


def test_every_read_has_json() -> None:
    def check(name: str, command: Any) -> list[str]:
        children: dict[str, Any] = getattr(command, "commands", {})
        if children:
            return [
                each for child in children for each in check(f"{name} {child}", children[child])
            ]
        options = {text for option in command.params for text in option.opts}
        is_read = name.rsplit(maxsplit=1)[-1] in READS and not name.startswith("hoglet hog")
        return [name] if is_read and "--json" not in options else []

    assert check("hoglet", typer.main.get_command(app)) == []
