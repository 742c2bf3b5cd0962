#!/usr/bin/env bash
# Installs npm @posthog/hogvm 1.0.71 into tests/oracle (untracked). Used by tests only, never shipped.
set -euo pipefail
cd "$(dirname "$0")/../tests/oracle"
[ -d node_modules/@posthog/hogvm ] && exit 0
bash ../../tools/npm.sh install --no-save --no-package-lock --no-audit --no-fund --silent
