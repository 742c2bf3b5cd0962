"""The commands of the deployment files, run without containers in an empty folder."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow import ipc, parquet

from support.deploy import ROOT, UNIT, command, image_environment, instruction
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.slow


BASE = 100_000_000  # bytes of Debian, Python and its libraries in the image, without pip
LIMIT = 900_000_000


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image's environment: the locked packages and the built wheel, made slim."""
    folder = tmp_path_factory.mktemp("image")
    uv = shutil.which("uv", path=f"{ROOT / '.uv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert uv is not None
    source = folder / "src"
    shutil.copytree(ROOT, source, ignore=_ignored)
    subprocess.run([uv, "build", "-q", "--wheel", "-o", folder, source], check=True)
    (wheel,) = folder.glob("hoglet-*.whl")
    target = folder / "environment"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    subprocess.run([base, "-m", "venv", target], check=True)
    # Copies: the script changes files that uv would share with its cache.
    install = [uv, "pip", "install", "-q", "--no-deps", "--link-mode=copy", "--python", target]
    subprocess.run([*install, "-r", source / "requirements.lock"], check=True)
    subprocess.run([*install, wheel], check=True)
    subprocess.run(["bash", source / "deploy" / "slim.sh", target], check=True)
    return target


def _ignored(folder: str, names: list[str]) -> set[str]:
    """What ``.dockerignore`` leaves out."""
    lines = (ROOT / ".dockerignore").read_text().split()
    exceptions = {line[1:].partition("/")[0] for line in lines if line[0] == "!"}
    return {name for name in names if name == "__pycache__"} | (
        set(names) - exceptions if Path(folder) == ROOT else set()
    )


def test_the_slim_image_does_the_main_jobs(environment: Path, tmp_path: Path) -> None:
    """The wheel alone: a file that was not packaged would be missing here."""
    server = RunningServer(tmp_path / "data")
    server.python = str(environment / "bin" / "python")
    server.environment.pop("PYTHONDONTWRITEBYTECODE", None)
    server.environment |= {
        name: value for name, value in image_environment().items() if name != "HOGLET_DATA_DIR"
    } | {"HOGLET_HOST": "127.0.0.1"}
    server.start()
    try:
        assert _bytes_of(environment) + BASE < LIMIT
        event = {"api_key": TOKEN, "event": "packed", "distinct_id": "ada"}
        server.client.post("/e/", json=event).raise_for_status()
        assert server.client.get("/", follow_redirects=True).status_code == 200
        check = command(instruction("HEALTHCHECK")[0])
        words = [word.replace("http://127.0.0.1:8000", server.url) for word in check[1:]]
        run = [server.python, "-m", "hoglet", *words]
        healthy = subprocess.run(run, env=server.environment | {"HOGLET_API_KEY": KEY}, check=False)
        assert healthy.returncode == 0
        for accept in _READERS:
            assert _columns(server, accept) == ["n"], accept
    finally:
        assert server.stop() == 0


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("systemd is not installed")
    unit = tmp_path / UNIT.name
    installed = UNIT.read_text()
    unit.write_text(installed.replace("/opt/hoglet/bin/hoglet", sys.executable))
    assert unit.read_text() != installed
    verified = subprocess.run([verifier, "verify", unit], capture_output=True, check=False)
    assert (verified.returncode, verified.stderr.decode()) == (0, "")


_READERS: dict[str, Callable[[bytes], list[str]]] = {
    "application/json": lambda body: json.loads(body)["columns"],
    "text/csv": lambda body: body.decode().splitlines()[:1],
    "application/vnd.apache.arrow.stream": lambda body: ipc.open_stream(body).schema.names,
    "application/vnd.apache.parquet": lambda body: parquet.read_schema(io.BytesIO(body)).names,
}


def _columns(server: RunningServer, accept: str) -> list[str]:
    """Of an endpoint's answer in a form that needs libraries of its own."""
    endpoints = "/api/projects/1/endpoints/"
    query = {"kind": "HogQLQuery", "query": "select count() as n from events"}
    if server.client.get(f"{endpoints}packed/").status_code == 404:
        server.client.post(endpoints, json={"name": "packed", "query": query}).raise_for_status()
    response = server.client.get(f"{endpoints}packed/run", headers={"Accept": accept})
    return _READERS[accept](response.raise_for_status().content)


def _bytes_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))
