# The commands of hoglet. `make` lists them. Each does its own set-up on a fresh machine.

UV_DIR := $(CURDIR)/.uv/bin
HOGLET := .venv/bin/hoglet
PYTEST ?= .venv/bin/pytest
# Workers take whole files, since the tests of a file share servers and applications, and all files of
# a shared server (tests/support/xdist_workers.py); those come first. The others keep the order of the
# folders: long ones come first, so that no worker starts one at the end.
DIST := --dist loadfile --no-loadscope-reorder
# More workers than cores, since tests wait for servers, deadlines and retries; slow tests most.
WORKERS := -n 4
# What these import takes each worker a third of a second.
NO_CLIENTS := --ignore=tests/browser --ignore=tests/clients
SLOW_WORKERS := -n 5
SHELL := /bin/bash
# If it is set, every test run rewrites the assertions of all test files again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run demo quick coverage test test-clickhouse test-lowest check slow faults full load fuzz browser clients editor pictures fuzz-api oracle bench bench-start bench-idle bench-hog bench-capture profile-capture profile-endpoints profile-runs bench-growth bench-matching bench-isolation bench-servers bench-insights bench-endpoints docs lock clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: .venv/.ready ## create .venv with pinned, hashed dependencies

.venv/.ready: requirements-dev.lock pyproject.toml tools/setup.sh
	@bash tools/setup.sh dev
	@touch $@ .venv/.runs

.venv/.runs: requirements.lock pyproject.toml tools/setup.sh
	@bash tools/setup.sh run
	@touch $@

run: .venv/.runs ## start the server on ./hoglet-data
	$(HOGLET) serve

demo: .venv/.runs ## the main job on real input: 336,776 departures through functions and endpoints
	$(HOGLET) demo --once

quick: setup ## the tests that need no engine, no server and no worker (under a minute)
	$(PYTEST) -n 2 $(DIST) -m "not engine and not slow and not long" tests/unit tests/docs

test-lowest: setup ## the quick tests and those of databases and brokers, on Python 3.12 with the lowest versions that pyproject.toml allows
	bash tools/test_lowest.sh $(UV_DIR) $(LOWEST)

coverage: setup ## the coverage of the last make test; fails below the minimum in pyproject.toml
	@ls .coverage.* >/dev/null 2>&1 || $(MAKE) test
	.venv/bin/coverage combine --quiet --keep
	.venv/bin/coverage report --format=total

test: setup oracle ## the tests (some minutes), measured for make coverage
	@rm -f .coverage*
	HOGLET_TEST_COVERAGE=1 $(PYTEST) $(WORKERS) $(DIST) $(NO_CLIENTS) -m "not slow and not long"

# The double has the same engine as make test, so it runs only the tests that HTTP can affect: values,
# formats of results, errors, inserts. A real server runs all of them.
NOT_OVER_HTTP := $(addprefix %/test_,editors.py mcp.py openapi.py records.py tenant_tokens.py versions.py)
OVER_HTTP := $(filter-out $(NOT_OVER_HTTP),$(wildcard $(addsuffix /test_*.py,$(addprefix tests/contract/,endpoints queries cohorts pipeline)))) \
	$(addprefix tests/conformance/,test_hogql.py test_hogql_functions.py test_hogql_values.py test_hogql_wrong_queries.py)
CLICKHOUSE_TESTS := $(if $(HOGLET_TEST_CLICKHOUSE_URL),$(addprefix tests/contract/,endpoints queries cohorts definitions pipeline ports) $(wildcard tests/conformance/test_hogql*.py) \
	tests/e2e/test_clickhouse_server.py,$(OVER_HTTP))

test-clickhouse: setup ## contract, query and end-to-end tests over HTTP (HOGLET_TEST_CLICKHOUSE_URL=clickhouse://… for a real server)
	HOGLET_TEST_CLICKHOUSE_URL=$(or $(HOGLET_TEST_CLICKHOUSE_URL),double) $(PYTEST) $(WORKERS) $(DIST) -m "not slow and not long" $(CLICKHOUSE_TESTS)

check: setup ## format, lint, types, package boundaries
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/basedpyright
	.venv/bin/lint-imports
	.venv/bin/python tools/check_imports.py
	.venv/bin/python tools/check_words.py
	.venv/bin/python tools/generate_reference.py --check

# Workers take single tests, since some take minutes.
slow: setup oracle ## real faults: kills, full disks, bad starts, two versions side by side; the rest of matrices
	$(PYTEST) $(SLOW_WORKERS) --dist worksteal -m "slow and not long" $$(grep -rlE 'mark\.slow|thinned\(' tests --include='test_*.py')

faults: setup ## all of tests/fault, 20 kills too (a quarter of an hour)
	$(PYTEST) -n 2 --dist load tests/fault

full: setup oracle ## every test but browser and clients: slow ones, 20 kills, thousands of generated programs
	$(PYTEST) $(WORKERS) $(DIST) $(NO_CLIENTS)

load: setup ## 100,000 events to a failing receiver, then the same with 50 kills (half an hour)
	LOAD_EVENTS=100000 LOAD_KILLS=50 $(PYTEST) -s -m slow tests/fault/test_load.py

fuzz: setup ## 100,000 damaged Hog programs (FUZZ="--count 5000 --seed 7" for others)
	cd tests && ../.venv/bin/python -m fuzz.hog $(FUZZ)

editor: ## build the console's code editor from its npm packages (after a change of console/editor)
	cd src/hoglet/console/editor && bash $(CURDIR)/tools/npm.sh install --no-package-lock --no-audit --no-fund --silent
	cd src/hoglet/console/editor && bash $(CURDIR)/tools/npm.sh run --silent build

pictures: setup ## take the pictures of the console in docs/pictures; look at them before committing
	.venv/bin/python tools/pictures.py

browser: setup ## the console and site functions in Chromium
	@bash tools/install_clients.sh npm
	@command -v chromium >/dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null)
	$(PYTEST) -n 2 $(DIST) -m browser tests/browser -o faulthandler_timeout=180 -o faulthandler_exit_on_timeout=true

clients: setup ## public clients, generated clients and a fuzzing client against a server
	@bash tools/install_clients.sh
	$(PYTEST) $(WORKERS) $(DIST) tests/clients

fuzz-api: setup ## the fuzzing client alone, longer (EXAMPLES="200" SEED="7" for others)
	@bash tools/install_clients.sh
	HOGLET_FUZZ_EXAMPLES=$(or $(EXAMPLES),50) HOGLET_FUZZ_SEED=$(or $(SEED),1) $(PYTEST) tests/clients/test_fuzz.py

oracle: setup ## install the official Hog VM, the oracle of the differential tests
	@bash tools/install_oracle.sh

bench: setup oracle ## the benchmarks, each a ratio in one run
	.venv/bin/python -m benchmarks.run

bench-start: setup ## a start until ready, and its memory, against a bare one
	.venv/bin/python -m benchmarks.start

bench-idle: setup ## processor time of an idle server, against a bare one
	.venv/bin/python -m benchmarks.idle

bench-hog: setup oracle ## Hog against the official VM and hand-written Python
	.venv/bin/python -m benchmarks.hog.compare

bench-capture: setup ## capture to queryable against bare decoding and inserting
	.venv/bin/python -m benchmarks.capture

profile-capture: setup ## processor time from capture to queryable, by stage
	.venv/bin/python -m benchmarks.profile_capture

profile-endpoints: setup ## processor time of endpoint runs, by stage
	.venv/bin/python -m benchmarks.profile_endpoints

profile-runs: setup ## processor time of a delivered run, by stage; every delivery is checked
	.venv/bin/python -m benchmarks.runs

bench-growth: setup ## the cost of an event with many known uuids or property keys
	.venv/bin/python -m benchmarks.growth

bench-matching: setup ## the cost of matching per event with 10, 1,000 and 10,000 functions
	.venv/bin/python -m benchmarks.matching

bench-isolation: setup ## the API beside functions that spin, allocate and log without end
	.venv/bin/python -m benchmarks.isolation

bench-servers: setup ## two servers on one project against one
	.venv/bin/python -m benchmarks.two_servers

bench-insights: setup ## insight queries on a million events, against SQL written by hand
	.venv/bin/python -m benchmarks.insights

bench-endpoints: setup ## runs on ten million events, against the bare engine, a bare route, other servers
	.venv/bin/python -m benchmarks.endpoints --neighbours

docs: setup .venv-docs/.ready ## regenerate docs/reference, build the site into site/, check its links
	.venv/bin/python tools/generate_reference.py
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --clean
	@echo "Open site/index.html"

.venv-docs/.ready: requirements-docs.lock
	PATH=$(UV_DIR):$$PATH uv venv --quiet --clear --python .venv/bin/python .venv-docs
	PATH=$(UV_DIR):$$PATH uv pip install --quiet --python .venv-docs/bin/python --require-hashes -r requirements-docs.lock
	@touch $@

LOCK := uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.12 pyproject.toml --all-extras

lock: ## compile requirements.lock (running), requirements-dev.lock (tests and checks), requirements-docs.lock (the site)
	PATH=$(UV_DIR):$$PATH $(LOCK) --group demo -o requirements.lock
	PATH=$(UV_DIR):$$PATH $(LOCK) --group dev -c requirements.lock -o requirements-dev.lock
	PATH=$(UV_DIR):$$PATH uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.12 --group docs -o requirements-docs.lock

clean: ## remove the environment and caches
	rm -rf .venv .venv-lowest .venv-docs .uv site .coverage* .pytest_cache .ruff_cache .hypothesis
