"""The commands of the deployment files, run without containers in an empty folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.deploy import ROOT, command, image_environment, instruction
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel, beside the dependencies of this environment."""
    folder = tmp_path_factory.mktemp("image")
    uv = shutil.which("uv", path=f"{ROOT / '.uv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert uv is not None
    source = folder / "src"
    shutil.copytree(ROOT, source, ignore=_ignored)
    subprocess.run([uv, "build", "-q", "--wheel", "-o", folder, source], check=True)
    (wheel,) = folder.glob("hoglet-*.whl")
    target = folder / "site"
    install = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable]
    subprocess.run([*install, "--target", target, wheel], check=True)
    return target


def _ignored(folder: str, names: list[str]) -> set[str]:
    """What ``.dockerignore`` leaves out."""
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"}
    return {name for name in names if name == "__pycache__"} | (
        set(names) - kept if Path(folder) == ROOT else set()
    )


def test_the_image_serves_and_is_healthy(installed: Path, tmp_path: Path) -> None:
    """The wheel alone: a file that was not packaged would be missing here."""
    server = RunningServer(tmp_path / "data")
    server.environment |= {
        name: value for name, value in image_environment().items() if name != "HOGLET_DATA_DIR"
    } | {"PYTHONPATH": str(installed), "HOGLET_HOST": "127.0.0.1"}
    server.start()
    try:
        event = {"api_key": TOKEN, "event": "packed", "distinct_id": "ada"}
        server.client.post("/e/", json=event).raise_for_status()
        assert server.client.get("/", follow_redirects=True).status_code == 200
        check = command(instruction("HEALTHCHECK")[0])
        words = [word.replace("http://127.0.0.1:8000", server.url) for word in check[1:]]
        run = [sys.executable, "-m", "hoglet", *words]
        healthy = subprocess.run(run, env=server.environment | {"HOGLET_API_KEY": KEY}, check=False)
        assert healthy.returncode == 0
        used = [sys.executable, "-c", "import hoglet; print(hoglet.__file__)"]
        place = subprocess.run(
            used, env=server.environment, capture_output=True, text=True, check=True
        )
        assert place.stdout.startswith(str(installed))
    finally:
        assert server.stop() == 0
