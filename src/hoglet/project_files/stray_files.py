"""Finds misplaced or misspelled files of a project, such as ``functions/a/test.yaml``."""

from collections.abc import Iterator
from pathlib import Path

from hoglet.project_files.formats.yaml_files import BadFile

_OF_FUNCTION = (
    "function.yaml",
    "code.hog",
    "code.ts",
    "tests.yaml",
    "draft.yaml",
    "draft.hog",
    "draft.ts",
)
_OF_PROJECT = ("actions.yaml", "cohorts.yaml", "variables.yaml")
_READ = frozenset({".yaml", ".yml", ".hog", ".ts", ".sql"})
_MISSPELLED = frozenset(
    f"{stem}{suffix}"
    for name in _OF_PROJECT
    for stem in (name.removesuffix(".yaml"), name.removesuffix("s.yaml"))
    for suffix in (".yaml", ".yml")
) - set(_OF_PROJECT)
_OF_OTHERS = frozenset({"node_modules"})
_ENDINGS = (".tests.yaml", ".tests.yml", ".yaml", ".yml", ".sql")


def check_no_stray_files(folder: Path) -> None:
    """Check that every file of a project's folder is read: a misspelled one would be ignored.

    Files of other kinds, such as ``README.md``, and hidden ones may be anywhere.

    Raises:
        BadFile: a file is not read; the message starts with its path.
    """
    places = (_in_project, _in_functions, _in_endpoints, _at_other_depths)
    for problem in (each for find in places for each in find(folder)):
        raise BadFile(problem)


def _in_project(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.y*ml")):
        if path.name in _MISSPELLED:
            right = f"{path.stem.removesuffix('s')}s.yaml"
            yield f"{path}: hoglet does not read files of this name; rename it to {right}."


def _in_functions(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("functions/[!.]*")):
        names = [each.name for each in path.glob("[!.]*") if each.suffix in _READ]
        for name in sorted(set(names) - set(_OF_FUNCTION)):
            yield (
                f"{path / name}: hoglet does not read files of this name. "
                f"Known: {', '.join(_OF_FUNCTION)}."
            )
        if names and "function.yaml" not in names:
            yield f"{path / 'function.yaml'} is missing: it has the function's type and name."


def _in_endpoints(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("endpoints/[!.]*")):
        ending = next((each for each in _ENDINGS if path.name.endswith(each)), "")
        stem = path.name.removesuffix(ending)
        is_there = any((path.parent / f"{stem}{each}").exists() for each in (".yaml", ".yml"))
        if ending and not is_there:
            yield f"{path}: there is no endpoint {stem}.yaml to which this file belongs."
        if ending == ".tests.yml":
            yield (
                f"{path}: hoglet does not read files of this name; rename it to {stem}.tests.yaml."
            )


def _at_other_depths(folder: Path) -> Iterator[str]:
    """Files at the wrong depth: functions are folders, endpoints are files."""
    for kind, depth, where in (("functions", 2, "functions/NAME/"), ("endpoints", 1, "endpoints/")):
        for path in sorted((folder / kind).rglob("*")):
            parts = path.relative_to(folder / kind).parts
            is_skipped = any(part.startswith(".") or part in _OF_OTHERS for part in parts)
            if path.suffix in _READ and len(parts) != depth and not is_skipped and path.is_file():
                yield f"{path}: hoglet does not read files here; files of {kind} are in {where}."
