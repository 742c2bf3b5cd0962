"""``--prune`` of ``hoglet endpoints``: deletes what exists on one side only, after confirmation."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from hoglet.project_files.yaml_files import BadFile

type Json = dict[str, Any]

Prune = Annotated[
    bool, typer.Option("--prune", help="Also delete what the other side does not have.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without confirmation; for scripts.")]


def names_without_file(
    paths: list[Path] | None, documents: list[tuple[Path, Json]], there: Iterable[str]
) -> list[str]:
    """The endpoints of the server without a file.

    Raises:
        BadFile: single files were specified, or there are none.
    """
    single = [path for path in paths or [] if not path.is_dir()]
    if single:
        raise BadFile(
            f"--prune requires folders, which contain every endpoint; {single[0]} is a file."
        )
    if not documents:
        raise BadFile("There are no files of endpoints: --prune would delete every endpoint.")
    named = {document["name"] for _, document in documents}
    return sorted(set(there) - named)


def files_without_endpoint(
    documents: list[tuple[Path, Json]], there: Iterable[str]
) -> list[tuple[Path, str]]:
    """The files of endpoints that the server does not have, with their names."""
    known = set(there)
    return [
        (path, document["name"]) for path, document in documents if document["name"] not in known
    ]
