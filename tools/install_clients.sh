#!/usr/bin/env bash
# Installs the public clients of tests/clients (untracked). Used by tests only, never shipped.
# `install_clients.sh npm` installs those of npm alone, which the browser tests need too.
# Each group of Python clients has an environment of its own: they ask for clashing versions.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export PATH="$root/.uv/bin:$PATH"

environment() { # folder, packages...
    local folder=$1
    shift
    local wanted="$*"
    [ "$(cat "$folder/installed" 2>/dev/null)" = "$wanted" ] && return
    uv venv --quiet --clear --python "$root/.venv/bin/python" "$folder"
    uv pip install --quiet --python "$folder/bin/python" "$@"
    echo "$wanted" >"$folder/installed"
}
if [ "${1:-all}" = all ]; then
    environment tests/clients/tools/.venv \
        schemathesis==4.32.5 openapi-python-client==0.29.1 openapi-generator-cli==7.26.0 \
        urllib3==2.6.3 python-dateutil==2.9.0.post0
    environment tests/clients/arcade/.venv arcade-posthog-api==0.2.1
    # only its files: the package would also start a server of its own
    [ -x tests/clients/tools/prometheus/usr/bin/promtool ] ||
        (apt-get update -qq && mkdir -p tests/clients/tools/prometheus && cd tests/clients/tools/prometheus &&
            apt-get download -qq -o APT::Sandbox::User=root prometheus && dpkg -x prometheus_*.deb . && rm prometheus_*.deb)
    # openapi-generator runs on Java; where that cannot be installed its test is skipped
    command -v java >/dev/null ||
        (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jre-headless >/dev/null) ||
        echo "Java could not be installed: openapi-generator is left out" >&2
fi

cd tests/clients
if ! cmp -s package.json node_modules/installed.json; then
    # no scripts: one of them would download a program from elsewhere
    bash "$root/tools/npm.sh" install --ignore-scripts --no-save --no-package-lock --no-audit --no-fund --silent
    cp package.json node_modules/installed.json
fi
