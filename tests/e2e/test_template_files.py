"""hoglet's own templates as a project's files, tested by ``hoglet test``."""

from pathlib import Path

import yaml

from hoglet.functions.templates.registry import Templates
from support.hoglet_process import run_hoglet
from support.template_project import cases_of, write_project


def test_templates_pass_their_cases(tmp_path: Path) -> None:
    cases = [yaml.safe_load(cases_of(each)) or [] for each in Templates().all.values()]
    write_project(tmp_path)

    ran = run_hoglet("test", "-C", str(tmp_path))

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == f"{sum(map(len, cases))} passed, 0 failed"
