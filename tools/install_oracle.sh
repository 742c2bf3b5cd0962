#!/usr/bin/env bash
# Installs npm @posthog/hogvm 1.0.71 into tests/oracle (untracked). Used by tests only, never shipped.
set -euo pipefail
cd "$(dirname "$0")/../tests/oracle"
cmp -s package.json node_modules/installed.json && exit 0
bash ../../tools/npm.sh install --no-save --no-package-lock --no-audit --no-fund --silent
cp package.json node_modules/installed.json # last: an interrupted installation is repeated
