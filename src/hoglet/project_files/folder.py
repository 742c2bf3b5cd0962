"""Reads and writes a project's folder."""

import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from hoglet.kit.json import same_json
from hoglet.project_files.documents import (
    Document,
    DraftDocument,
    EndpointDocument,
    FunctionDocument,
    VariableDocument,
)
from hoglet.project_files.formats import draft_file, endpoint_file, function_file
from hoglet.project_files.formats.comments import merge_text
from hoglet.project_files.formats.list_file import LISTS, merged_list, read_list
from hoglet.project_files.formats.settings_file import merged_settings, read_settings
from hoglet.project_files.formats.variable_file import merged_variables, read_variables
from hoglet.project_files.formats.yaml_files import BadFile, dump, load, load_text
from hoglet.project_files.model import ProjectContent, free_name, slug
from hoglet.project_files.secret_names import item_at, with_variables
from hoglet.project_files.stray_files import check_no_stray_files

PROJECT, VARIABLES = "hoglet.yaml", "variables.yaml"
FUNCTIONS, ENDPOINTS = "functions", "endpoints"
_YAML = (".yaml", ".yml")
_TESTS = (".tests.yaml", ".tests.yml")
_LEFT_TO_SERVER = ("execution_order", "icon_url")  # unless the file sets them


def find_project(start: Path) -> Path:
    """The project folder that contains ``start``: the nearest one with ``hoglet.yaml``.

    Relative if ``start`` is, as in messages and reports.

    Raises:
        BadFile: there is none.
    """
    if (start / PROJECT).is_file():
        return start
    for folder in start.resolve().parents:
        if (folder / PROJECT).is_file():
            return folder if start.is_absolute() else Path(os.path.relpath(folder))
    raise BadFile(
        f"There is no {PROJECT} in {start} or above it. hoglet init creates a project, hoglet pull "
        "--to FOLDER reads one from a server."
    )


def read_folder(folder: Path) -> ProjectContent:
    """Read the project in a folder.

    Raises:
        BadFile: a file is invalid; the message starts with its path and line.
    """
    project = ProjectContent(settings=read_settings(folder / PROJECT))
    check_no_stray_files(folder)
    project.objects["variable"] = read_variables(folder / VARIABLES)
    for kind in LISTS:
        project.of_kind(kind).update(read_list(folder, kind))
    for path in function_folders(folder):
        document = function_file.read_function(path)
        key = project.add_function(document)
        project.folders[key] = path
        draft = draft_file.read_draft(path, document)
        if draft is not None:
            project.objects["draft"][key] = draft
    for path in endpoint_files(folder):
        document = endpoint_file.read_file(path, project.objects["variable"])
        if document["name"] in project.objects["endpoint"]:
            raise BadFile(f"{path}: another file also defines the endpoint {document['name']}.")
        project.objects["endpoint"][document["name"]] = document
        for code, variable in document["variables"].items():
            shared = variable.copy()
            shared.pop("value", None)
            project.objects["variable"].setdefault(code, shared)
    return project


def function_folders(folder: Path) -> list[Path]:
    """The folders of functions, sorted."""
    settings_files = (folder / FUNCTIONS).glob(f"[!.]*/{function_file.SETTINGS}")
    return sorted(path.parent for path in settings_files)


def endpoint_files(folder: Path) -> list[Path]:
    """The files of endpoints, without tests and hidden files (of editors), sorted."""
    return _endpoint_files(folder / ENDPOINTS)


def _endpoint_files(endpoints: Path) -> list[Path]:
    paths = endpoints.glob("[!.]*.y*ml")
    return sorted(path for path in paths if path.suffix in _YAML and not path.name.endswith(_TESTS))


def endpoints_folder(folder: Path) -> Path:
    """The folder of endpoints of a project, or the given one, which is in no project."""
    return folder / ENDPOINTS if (folder / PROJECT).is_file() else folder


def read_endpoints(paths: Collection[Path]) -> list[tuple[Path, EndpointDocument]]:
    """Read endpoints alone, with the variables of the project that their files are in.

    Args:
        paths: files, folders of files, or folders of projects.

    Raises:
        BadFile: a file is invalid or missing, or two define the same endpoint.
    """
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadFile(f"There is no file or folder {path}.")
        files += _endpoint_files(endpoints_folder(path)) if path.is_dir() else [path]
    documents = [(path, endpoint_file.read_file(path, _shared_variables(path))) for path in files]
    names = [document["name"] for _, document in documents]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadFile(f"Several files define {', '.join(sorted(twice))}.")
    return documents


def _shared_variables(path: Path) -> Mapping[str, VariableDocument]:
    endpoints = path.absolute().parent
    is_in_project = endpoints.name == ENDPOINTS and (endpoints.parent / PROJECT).is_file()
    return read_variables(endpoints.parent / VARIABLES) if is_in_project else {}


def write_folder(
    folder: Path,
    project: ProjectContent,
    files: ProjectContent | None = None,
    *,
    prune: bool = False,
) -> list[Path]:
    """Write a project read from a server; returns the changed files.

    Comments, unchanged parts and the order of lists are preserved.

    Args:
        folder: the folder of the project.
        project: the project of the server, with the folders of its functions.
        files: the project in the files; none if the folder is new.
        prune: remove variables, actions and cohorts that the server lacks from their files.
    """
    here = files or ProjectContent()
    changed: list[Path] = []

    def write(path: Path, document: Any) -> None:
        before = path.read_text(encoding="utf-8") if path.exists() else None
        _write(path, dump(document) if before is None else merge_text(before, document), changed)

    write(folder / PROJECT, merged_settings(folder / PROJECT, project.settings))
    existing = _existing("variable", here, project, prune=prune)
    shared = merged_variables(folder / VARIABLES, existing, project.objects["variable"])
    if shared or (folder / VARIABLES).exists():
        write(folder / VARIABLES, shared)
    variables = read_variables(folder / VARIABLES)
    for kind, file in LISTS.items():
        existing = _existing(kind, here, project, prune=prune)
        documents = merged_list(folder, kind, existing, project.of_kind(kind))
        if documents or (folder / file.name).exists():
            write(folder / file.name, documents)
    _write_functions(project, changed)
    _write_endpoints(folder, project, variables, changed)
    return changed


def _write_functions(project: ProjectContent, changed: list[Path]) -> None:
    for key, document in project.objects["function"].items():
        _write_function(project.folders[key], document, changed)
        if key in project.objects["draft"]:
            kind, draft = document["type"], project.objects["draft"][key]
            _write_draft(project.folders[key], kind, draft, changed)


def _write_endpoints(
    folder: Path, project: ProjectContent, variables: Any, changed: list[Path]
) -> None:
    known = {name_of(path): path for path in endpoint_files(folder)}
    for name, document in sorted(project.objects["endpoint"].items()):
        path = known.setdefault(name, file_for(folder / ENDPOINTS, name, known))
        _write_endpoint(path, document, variables, changed)


def _existing(
    kind: str, files: ProjectContent, server: ProjectContent, *, prune: bool
) -> dict[str, Any]:
    """The objects of the files that a pull keeps."""
    here, there = files.of_kind(kind), server.of_kind(kind)
    return {name: item for name, item in here.items() if name in there or not prune}


def file_for(endpoints: Path, name: str, taken: Mapping[str, Path]) -> Path:
    """The file of an endpoint: its own, or an unused one.

    File names differ by more than case, which some systems ignore.

    Args:
        endpoints: the folder of the endpoints.
        name: the name of the endpoint.
        taken: the files of endpoints by their names.
    """
    used, number = {path.stem.lower() for path in taken.values()}, 2
    stem = name
    while stem.lower() in used:
        stem, number = f"{name}-{number}", number + 1
    return taken.get(name) or endpoint_file.path_of(endpoints, stem)


def place_functions(
    folder: Path, project: ProjectContent, renamed: Mapping[str, str] | None = None
) -> None:
    """Assign a folder to each function of a server: its own, or a new one with its name."""
    taken: dict[str, Path] = {}
    for path in function_folders(folder):
        settings = load(path / function_file.SETTINGS)
        name = settings.get("name", path.name) if isinstance(settings, dict) else path.name
        taken[free_name(str(name), taken)] = path
    for name, before in (renamed or {}).items():
        taken[name] = taken.pop(before)
    used = {path.name for path in taken.values()}
    for key, document in project.objects["function"].items():
        if key not in taken:
            name = slug(document["name"], used)
            used.add(name)
            taken[key] = folder / FUNCTIONS / name
        project.folders[key] = taken[key]


def remove_function(path: Path) -> None:
    """Delete the folder of a function, including its tests."""
    shutil.rmtree(path)


def remove_draft(path: Path) -> list[Path]:
    """Delete the files of a function's draft; returns those that were there."""
    kinds = (draft_file.draft_code_name(kind) for kind in function_file.TYPES)
    names = dict.fromkeys((draft_file.SETTINGS, *kinds))
    files = [path / name for name in names if (path / name).exists()]
    for each in files:
        each.unlink()
    return files


def _write_function(path: Path, document: FunctionDocument, changed: list[Path]) -> None:
    settings = path / function_file.SETTINGS
    before = load(settings) if settings.exists() else {}
    fields = function_file.written_fields(_with_secret_names(path.name, document, before))
    if not settings.exists():
        _write(settings, dump(fields), changed)
    else:
        same = _same_fields(_function_here(path, fields), {**function_file.DEFAULTS, **fields})
        fields = _as_written(fields, same, before)
        _write(settings, merge_text(settings.read_text(encoding="utf-8"), fields), changed)
    code = path / function_file.code_name(document["type"])
    if not code.exists() or code.read_text(encoding="utf-8").rstrip("\n") != document["hog"]:
        _write(code, document["hog"] + "\n", changed)


def _with_secret_names(folder: str, document: Document, before: Any) -> Document:
    """The document with ``secret: env:NAME``: the existing names, or new ones by folder."""
    here = before if isinstance(before, dict) else {}
    named = dict(document)
    if "inputs" in document:
        named["inputs"] = with_variables(folder, document["inputs"], here.get("inputs", {}))
    if "mappings" in document:
        named["mappings"] = [
            {
                **mapping,
                "inputs": with_variables(
                    f"{folder}_{number + 1}",
                    mapping["inputs"],
                    item_at(here.get("mappings", []), number).get("inputs", {}),
                ),
            }
            if mapping.get("inputs")
            else mapping
            for number, mapping in enumerate(document["mappings"])
        ]
    return named


def _write_draft(path: Path, kind: str, draft: DraftDocument, changed: list[Path]) -> None:
    """Write a draft; files it no longer needs are deleted."""
    settings, code = path / draft_file.SETTINGS, path / draft_file.draft_code_name(kind)
    live = function_file.read_function(path)
    try:
        if same_json(draft_file.read_draft(path, live), _as_files(path, draft, settings)):
            return
    except BadFile:
        pass  # it is rewritten below
    fields = {key: value for key, value in draft.items() if key != "hog"}
    fields = _as_files(path, fields, settings)
    if fields or "hog" not in draft:
        text = settings.read_text(encoding="utf-8") if settings.exists() else None
        _write(settings, dump(fields) if text is None else merge_text(text, fields), changed)
    elif settings.exists():
        settings.unlink()
        changed.append(settings)
    if "hog" in draft:
        _write(code, draft["hog"] + "\n", changed)
    elif code.exists():
        code.unlink()
        changed.append(code)


def _as_files(path: Path, draft: Document, settings: Path) -> Document:
    """A draft with the names of secrets from the draft's file, else from the function's file."""
    live = load(path / function_file.SETTINGS)
    own = load(settings) if settings.exists() else {}
    here = {**(live if isinstance(live, dict) else {}), **(own if isinstance(own, dict) else {})}
    return _with_secret_names(path.name, draft, here)


def _function_here(path: Path, stored: Document) -> Document:
    """The function that a folder describes; empty if a file is invalid."""
    try:
        here: dict[str, Any] = dict(function_file.read_function(path))
    except BadFile:
        return {}
    for key in _LEFT_TO_SERVER:
        here[key] = stored.get(key) if here[key] is None else here[key]
    return here


def _as_written(stored: Document, same: Collection[str], before: Any) -> Document:
    """What a file holds after a pull; parts that are equal stay as the author wrote them.

    Args:
        stored: the fields of the server; those that a file omits are absent.
        same: names of the fields whose values are those of the file, written or omitted.
        before: the content of the file.
    """
    written = before if isinstance(before, dict) else {}
    return {
        key: written[key] if key in same else stored[key]
        for key in dict.fromkeys([*stored, *written])
        if (key in written if key in same else key in stored)
    }


def _same_fields(here: Document, there: Document) -> set[str]:
    return {key for key, value in here.items() if same_json(value, there.get(key))}


def _write_endpoint(
    path: Path,
    document: EndpointDocument,
    variables: dict[str, VariableDocument],
    changed: list[Path],
) -> None:
    """Write an endpoint; the file omits definitions of the project's variables."""
    own = {
        code: variable
        for code, variable in document["variables"].items()
        if not same_json(variable, variables.get(code))
        or code not in endpoint_file.variables_used(document["query"])
    }
    here = _endpoint_here(path, variables)
    if same_json(here, document):
        return
    text = endpoint_file.write_text({**document, "variables": own})
    beside = path.with_suffix(".sql")
    if beside.exists() and document["query"]["kind"] == endpoint_file.HOGQL:
        _write(beside, document["query"]["query"] + "\n", changed)
        fields = load_text(text)
        fields.pop("query")
        text = dump(fields)
    if path.exists():
        fields = _as_written(load_text(text), _same_fields(here, document), load(path))
        text = merge_text(path.read_text(encoding="utf-8"), fields)
    _write(path, text, changed)


def _endpoint_here(path: Path, variables: dict[str, VariableDocument]) -> Document:
    """The endpoint that a file describes; empty if there is none, or it is invalid."""
    try:
        return endpoint_file.read_file(path, variables) if path.exists() else {}
    except BadFile:
        return {}


def _write(path: Path, text: str, changed: list[Path]) -> None:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    changed.append(path)


def name_of(path: Path) -> str:
    """The name of the endpoint in a file."""
    loaded = load(path)
    return str(loaded.get("name", path.stem)) if isinstance(loaded, dict) else path.stem
