"""Profiles of servers in the user's configuration folder: ``{name: {url, key}}`` and one current.

The file is ``~/.config/hoglet/profiles.yaml`` on Linux (``XDG_CONFIG_HOME`` is honoured); it holds
keys, so only its owner may read it.
"""

import os
from pathlib import Path
from typing import Any

import msgspec
import typer

from hoglet.kit.errors import HogletError

FIRST = "default"


class BadProfile(HogletError):
    """A profile does not exist, or the profiles file cannot be used."""

    code = "bad_profile"
    blame = "operator"


class Profile(msgspec.Struct, frozen=True):
    """A server and a key for it."""

    url: str
    key: str


class Profiles(msgspec.Struct):
    """All profiles of a user; ``current`` is the default."""

    current: str | None = None
    by_name: dict[str, Profile] = msgspec.field(default_factory=dict[str, Profile])

    def get(self, name: str) -> Profile:
        """The profile with this name.

        Raises:
            BadProfile: there is no such profile, or the name is empty.
        """
        if not name.strip():
            raise BadProfile("The name of the profile is empty.")
        if name not in self.by_name:
            known = ", ".join(sorted(self.by_name)) or "none yet; hoglet login creates one"
            raise BadProfile(f"There is no profile {name}. Profiles: {known}.")
        return self.by_name[name]


def profiles_file() -> Path:
    """The path of the profiles file; never in the current folder, which may be a Git repository."""
    folder = Path(typer.get_app_dir("hoglet"))
    if not folder.is_absolute():  # an empty or relative XDG_CONFIG_HOME counts as unset
        folder = Path("~/.config/hoglet").expanduser()
    return folder / "profiles.yaml"


def load_profiles() -> Profiles:
    """The user's profiles; none if there is no file.

    Raises:
        BadProfile: the file cannot be read, or is not a profiles file.
    """
    import yaml

    path = profiles_file()
    try:
        read: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Profiles()
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())  # PyYAML shows the line below its message
        raise BadProfile(f"{path} cannot be read: {problem}. Fix or delete it.") from None
    try:
        by_name = {
            str(name): Profile(str(each["url"]), str(each["key"]))
            for name, each in read["profiles"].items()
        }
        return Profiles(read.get("current"), by_name)
    except (TypeError, KeyError, AttributeError):
        raise BadProfile(f"{path} is not a profiles file. Fix or delete it.") from None


def save_profiles(profiles: Profiles) -> Path:
    """Write the profiles file, readable only by its owner; returns its path.

    Raises:
        BadProfile: it cannot be written.
    """
    import yaml

    path = profiles_file()
    document = {
        "current": profiles.current,
        "profiles": {
            name: {"url": each.url, "key": each.key}
            for name, each in sorted(profiles.by_name.items())
        },
    }
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            yaml.safe_dump(document, file, sort_keys=False)
        fresh.replace(path)
    except OSError as error:
        raise BadProfile(f"{path} cannot be written: {error.strerror}.") from None
    return path
