"""Operations of workers are named by paths, so that the server does not import them."""

import re
from importlib import import_module
from pathlib import Path

import hoglet

_PATH = re.compile(r'"(hoglet(?:\.\w+)+):(\w+)"')


def test_every_path_names_a_function() -> None:
    files = Path(hoglet.__file__).parent.rglob("*.py")
    paths = {match for file in files for match in _PATH.findall(file.read_text())}

    assert len(paths) > 15
    missing = [
        f"{module}:{name}"
        for module, name in sorted(paths)
        if not callable(getattr(import_module(module), name, None))
    ]
    assert not missing
