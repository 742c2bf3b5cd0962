#!/usr/bin/env bash
# Creates .venv with Python >= 3.12 and the pinned dependencies.
# Usage: tools/setup.sh [run|dev]; "run" leaves out what only tests and checks need. Needs: some Python 3.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-dev}" in
run) lock=requirements.lock ;;
dev) lock=requirements-dev.lock ;;
*) echo "usage: tools/setup.sh [run|dev]" >&2 && exit 2 ;;
esac
trap 'exit 130' INT # Ctrl-C is no failure to explain
if [ -t 1 ]; then quiet=(); else quiet=(--quiet); fi # progress on a terminal only

# Python: 3.13 or 3.12 that really runs (a pyenv shim may exist for a version that is not selected)
works() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; }
find_python() {
    local candidate
    for candidate in python3.13 python3.12; do
        if command -v "$candidate" >/dev/null && works "$candidate"; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python; do
        if [ -x "$candidate" ] && works "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo 3.13 # uv installs one
}
python=$(find_python)

# uv: the one on PATH if it runs, else a private copy in .uv
install_uv() { # with pip in .uv, or with the interpreter's own where that cannot be had
    "$1" -m venv --clear .uv 2>/dev/null || "$1" -m venv --clear --without-pip .uv || return
    if .uv/bin/python -m pip --version >/dev/null 2>&1; then
        .uv/bin/python -m pip install --quiet uv
    else
        "$1" -m pip install --quiet --target .uv/lib uv && ln -sf ../lib/bin/uv .uv/bin/uv
    fi
}
runs() { "$1" --version >/dev/null 2>&1; }
if ! runs uv; then
    if ! runs .uv/bin/uv; then # an interrupted installation may leave half of it
        echo "Installing uv into .uv"
        if [ -x "$python" ]; then base=$python; else base=python3; fi # python3 may be too old for uv
        if ! install_uv "$base"; then
            echo "uv could not be installed with $base ($("$base" --version 2>&1 || true)): see the error above." >&2
            echo "It needs Python 3.8 or later and a package index. Or install uv or Python 3.13 yourself, and repeat." >&2
            exit 1
        fi
    fi
    export PATH="$PWD/.uv/bin:$PATH"
fi

# Where an installation was interrupted, packages lack some of their files. uv takes them for
# installed, or cannot read them any more, so the environment is created anew.
unfinished=.venv/.unfinished
if [ -e "$unfinished" ] || ! { [ -e .venv/pyvenv.cfg ] && works .venv/bin/python; }; then
    echo "Creating .venv with $python"
    uv venv --quiet --clear --python "$python" .venv
fi
: >"$unfinished"
echo "Installing dependencies of $lock"
if ! uv pip install "${quiet[@]}" --compile-bytecode --python .venv/bin/python --require-hashes -r "$lock"; then
    echo "The dependencies could not be installed: see the error above. If it is the network or the package" >&2
    echo "index (UV_DEFAULT_INDEX sets another one), repeat the command; it keeps what has been downloaded." >&2
    exit 1
fi
uv pip install --quiet --python .venv/bin/python --no-deps --editable .
.venv/bin/python -m compileall -q src/hoglet # hoglet starts in half the time
rm "$unfinished"
echo "Ready: .venv/bin/hoglet"
