"""hoglet's own templates as a project's files, tested by ``hoglet test``."""

import subprocess
import sys
from pathlib import Path

import yaml

from hoglet.functions.templates.registry import Templates
from support.template_project import cases_of, write_project


def test_templates_pass_their_cases(tmp_path: Path) -> None:
    cases = [yaml.safe_load(cases_of(each)) or [] for each in Templates().all.values()]
    write_project(tmp_path)

    command = [sys.executable, "-m", "hoglet", "test", "-C", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == f"{sum(map(len, cases))} passed, 0 failed"
