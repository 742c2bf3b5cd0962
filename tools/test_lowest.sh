#!/usr/bin/env bash
# The quick tests, and those of databases and brokers, on Python 3.12 with the lowest versions that
# pyproject.toml allows for running.
# Usage: tools/test_lowest.sh FOLDER_OF_UV [TESTS…]
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$1:$PATH"
shift
python=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python 2>/dev/null | tail -1)
python=${python:-$(command -v python3.12 || true)}
[ -n "$python" ] || { echo "Python 3.12 is not installed." >&2; exit 1; }
lowest=.venv-lowest/lowest.txt
tests=("$@")
[ $# -gt 0 ] || tests=(tests/unit tests/contract/ports)

uv venv --quiet --clear --python "$python" .venv-lowest
uv pip compile --quiet --resolution lowest-direct --python-version 3.12 --all-extras --no-emit-index-url pyproject.toml -o "$lowest"
uv pip install --quiet --python .venv-lowest/bin/python --only-binary :all: -r "$lowest"
uv pip install --quiet --python .venv-lowest/bin/python -c "$lowest" --group dev
uv pip install --quiet --python .venv-lowest/bin/python --no-deps -e .
VENV=.venv-lowest "${PYTEST:-.venv-lowest/bin/pytest}" -n 2 -m "not engine and not slow and not long" "${tests[@]}"
