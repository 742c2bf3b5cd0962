#!/usr/bin/env bash
# Installs npm @posthog/hogvm 1.0.71 into tests/oracle (untracked). Used by tests only, never shipped.
set -euo pipefail
cd "$(dirname "$0")/../tests/oracle"
[ -d node_modules/@posthog/hogvm ] && exit 0
if command -v npm >/dev/null; then npm=npm; else npm="../../.venv/bin/npm"; fi
"$npm" install --no-save --no-package-lock --no-audit --no-fund --silent
