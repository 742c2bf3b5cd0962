"""Names of environment variables that stand for secrets in files."""

from typing import Any, NamedTuple

from hoglet.project_files.documents import Document, InputDocuments
from hoglet.project_files.formats import function_file
from hoglet.project_files.formats.yaml_files import load
from hoglet.project_files.model import ProjectContent


def secret_name(folder: str, key: str) -> str:
    """The variable that a secret input is named after, e.g. ``env:WELCOME_WEBHOOK_TOKEN``."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in f"{folder}_{key}")
    name = plain.upper() if plain.isascii() else plain.encode("ascii", "replace").decode()
    return "env:" + ("_" if name[:1].isdigit() else "") + name.replace("?", "_").upper()


class NamedSecret(NamedTuple):
    """A secret input of a function, and the environment variable that stands for it."""

    function: str
    input: str
    variable: str

    def __str__(self) -> str:
        return f"{self.function}: {self.input} (push takes it from env:{self.variable})"


def named_secrets(project: ProjectContent) -> list[NamedSecret]:
    """Secret inputs of the written functions, including those of mappings."""
    secrets: list[NamedSecret] = []
    for key in project.objects["function"]:
        path = project.folders[key] / function_file.SETTINGS
        settings = load(path) if path.exists() else None
        parts = [settings, *_list(settings, "mappings")]
        for inputs in (part.get("inputs") for part in parts if isinstance(part, dict)):
            for name, value in (inputs or {}).items():
                variable = item_at([value], 0).get("secret")
                if isinstance(variable, str):
                    secrets.append(NamedSecret(key, str(name), variable.removeprefix("env:")))
    return secrets


def _list(settings: Any, key: str) -> list[Any]:
    items = settings.get(key) if isinstance(settings, dict) else None
    return items if isinstance(items, list) else []


def item_at(items: Any, number: int) -> Document:
    """The mapping at an index of a value that may be a list; ``{}`` if there is none."""
    item = items[number] if isinstance(items, list) and number < len(items) else {}
    return item if isinstance(item, dict) else {}


def with_variables(folder: str, inputs: InputDocuments, before: Any) -> InputDocuments:
    """Inputs with ``secret: env:NAME``: the name from the file, or a new one."""
    named: InputDocuments = {}
    for key, value in inputs.items():
        given = before.get(key) if isinstance(before, dict) else None
        name = given.get("secret") if isinstance(given, dict) else None
        is_secret = bool(value.get("secret"))
        named[key] = {"secret": name or secret_name(folder, key)} if is_secret else value
    return named
