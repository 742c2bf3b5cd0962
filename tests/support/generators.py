"""Client generators: from an OpenAPI document to a package or a type-checked program."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.clients import HERE, MODULES, TOOLS, run

TSCONFIG: dict[str, Any] = {
    "compilerOptions": {
        "strict": True,
        "target": "es2022",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2022", "dom"],
        "types": [],
        "noEmit": True,
    }
}


def openapi_python_client(document: Path, package: Path) -> None:
    """Generate a package; the generator must not skip any part of the document."""
    run(
        [
            TOOLS / "openapi-python-client",
            "generate",
            f"--path={document}",
            f"--output-path={package}",
            "--meta=none",
            "--fail-on-warning",
        ],
        env=os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}"},  # it formats with ruff
    )


def openapi_generator(document: Path, folder: Path) -> None:
    """Generate the package ``generated_client`` in a folder."""
    if shutil.which("java") is None:
        pytest.skip("openapi-generator runs on Java, and there is none")
    run(
        [
            TOOLS / "openapi-generator-cli",
            "generate",
            "--generator-name=python",
            f"--input-spec={document}",
            f"--output={folder}",
            "--package-name=generated_client",
        ]
    )


def openapi_typescript(document: Path, folder: Path, program: str) -> Path:
    """Generate ``./schema``, check the types of a program that uses it, and bundle the program."""
    folder.mkdir()
    (folder / "node_modules").symlink_to(MODULES)
    (folder / "tsconfig.json").write_text(json.dumps(TSCONFIG))
    (folder / "main.ts").write_text(program)
    tools = MODULES / ".bin"
    # fields with a default may be left out of a body, which this generator must be told
    options = ["--default-non-nullable=false", f"--output={folder / 'schema.d.ts'}"]
    run([tools / "openapi-typescript", document, *options], cwd=HERE)
    run([tools / "tsc", "--noEmit", "--project", folder])
    bundle = folder / "main.mjs"
    run([tools / "esbuild", folder / "main.ts", "--bundle", "--format=esm", f"--outfile={bundle}"])
    return bundle
