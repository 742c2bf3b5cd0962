"""The project's variables, ``variables.yaml``.

::

    plan: {type: String, default: pro}
    tenant: {type: String}
"""

from pathlib import Path
from typing import Any

from hoglet.kit.json import same_json
from hoglet.project_files.documents import Document, VariableDocument
from hoglet.project_files.formats.endpoint_file import read_variable, written_variable
from hoglet.project_files.formats.yaml_files import BadFile, load


def read_variables(path: Path) -> dict[str, VariableDocument]:
    """The variables in a file by code name; none without the file.

    Raises:
        BadFile: not a mapping, or a variable is invalid.
    """
    return {code: read_variable(path, code, given) for code, given in _load(path).items()}


def merged_variables(
    path: Path, here: dict[str, VariableDocument], there: dict[str, VariableDocument]
) -> dict[str, Document]:
    """What the file holds after a pull; variables that are equal stay as they are written.

    Args:
        path: of the file.
        here: the project's variables in all its files; those that endpoints define themselves are
            not added to the file.
        there: the variables of the server.
    """
    written = _load(path)
    merged: dict[str, Document] = {}
    for code, variable in sorted((here | there).items()):
        is_same = same_json(here.get(code), variable)
        if code in written:
            merged[code] = written[code] if is_same else written_variable(variable)
        elif not is_same or code not in here:
            merged[code] = written_variable(variable)
    return merged


def _load(path: Path) -> dict[str, Any]:
    loaded: Any = (load(path) if path.exists() else None) or {}
    if not isinstance(loaded, dict):
        raise BadFile(f"{path}: variables must be a mapping of code names.")
    return {str(code): given for code, given in loaded.items()}
