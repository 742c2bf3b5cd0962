"""hoglet's own templates as the functions of a project's files, with their ``tests.yaml``."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from hoglet.functions.templates.registry import PREFIX, Template, Templates
from hoglet.project_files.formats.yaml_files import dump

FOLDER = files("hoglet.functions.templates")
SITE_TYPES = {"site_app", "site_destination"}


def write_project(folder: Path) -> None:
    """Write every template except site functions, whose code runs only in browsers."""
    (folder / "hoglet.yaml").write_text("name: Templates\n", encoding="utf-8")
    for template in Templates().all.values():
        if template.type not in SITE_TYPES:
            write_function(folder / "functions" / name_of(template), template)


def write_function(folder: Path, template: Template) -> None:
    """Write a function as a template proposes it: default inputs, filters, and its cases."""
    folder.mkdir(parents=True)
    settings: dict[str, Any] = {
        "type": template.type,
        "name": template.name,
        "filters": template.filters or {},
        "inputs_schema": template.inputs_schema,
        "inputs": {
            item["key"]: {"value": item["default"]}
            for item in template.inputs_schema
            if item.get("default") is not None
        },
    }
    (folder / "function.yaml").write_text(dump(settings), encoding="utf-8")
    (folder / "code.hog").write_text(template.code, encoding="utf-8")
    (folder / "tests.yaml").write_text(cases_of(template), encoding="utf-8")


def cases_of(template: Template) -> str:
    """The text of a template's ``tests.yaml``; empty without one."""
    path = FOLDER / name_of(template) / "tests.yaml"
    return path.read_text("utf-8") if path.is_file() else ""


def name_of(template: Template) -> str:
    """The name of a template's folder: ``slack`` of ``template-slack``."""
    return template.id.removeprefix(PREFIX)
