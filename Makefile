# make run | test | lint | bench | findings | screenshots | lock | try-streamlit
#
# Everything is installed into .venv, from locks of pins and hashes; PYTHON=… chooses the Python (3.11 or later).

PYTHON ?= $(firstword $(foreach python,python3 python3.14 python3.13 python3.12 python3.11 python,\
	$(shell $(python) -c 'import sys; sys.version_info >= (3, 11) and print("$(python)")' 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
HOME_FOLDER := $(or $(TRANCHE_HOME),.tranche)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install -q --no-deps
SPOKEN := $(subst -q,,$(PIP))
# One line for ten packages, where pip writes three for each.
COUNTED := awk -v all=$$(grep -c '==' requirements.lock) '/^Collecting/ { if (++n % 10 == 0) { print "  " n " of " all; \
	fflush() } } /^Installing collected/ { print "  Installing them"; fflush() }'
CHECK = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Tranche needs Python 3.11 or \
later; $(1) is $$($(1) --version 2>&1). $(2)" >&2; exit 1; }
COVERED := $(if $(COVERAGE),--cov=lib --cov-report=term:skip-covered)
CHOSEN := $(if $(ALL)$(TESTS),,-m "not (browser or database or process or spark or random or reference)")
OTHER := .venv-streamlit
# Three processes for two cores: tests with a browser or a server wait half of their time. Each takes up to 1.5 GB.
WORKERS ?= $(shell (getconf _NPROCESSORS_ONLN; cat /proc/meminfo 2>/dev/null) | awk 'NR == 1 { most = int(1.5 * $$1 + 0.5) } \
	/MemAvailable/ && most > $$2 / 1.5e6 { most = int($$2 / 1.5e6) } END { print (most > 1 ? most : 1) }')
# What tests write goes to memory where there is room: SQLite waits for the disk at each of its commits.
MEMORY := $(shell (grep MemAvailable /proc/meminfo; df -Pk /dev/shm) 2>/dev/null | awk '/MemAvailable/ { memory = $$2 } \
	$$6 == "/dev/shm" { room = $$4 } END { if (memory > 12e6 && room > 8e6) print "-p /dev/shm" }')
TRIED := tests/ui/test_streamlit_compat.py tests/serving/front/test_preloads.py tests/test_desk.py \
	tests/serving/front tests/browser/test_frame.py tests/browser/test_audience.py tests/browser/test_rows.py
UV ?= uv
COMPILE := $(UV) pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate

# Compiled modules are kept, whatever the environment says: without them each process that a test starts compiles lib anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test lint bench findings screenshots lock try-streamlit
.DEFAULT_GOAL := run

# The desk on http://localhost:8501. The first time it makes the demo; in a folder of your own it does not.
run: $(VENV)/installed
	@if [ ! -d "$(HOME_FOLDER)" ] || grep -qs '^demo = true' "$(HOME_FOLDER)/tranche.toml"; then $(BIN)/tranche demo --brief; fi
	@exec $(BIN)/python app.py

# The tests that need no browser, no database server, no other process and no port, and don't take long by drawing at
# random or by the reference engine. ALL=1 runs all of them, TESTS=… some of them, whatever they need; COVERAGE=1 measures
# how much of lib they run, also in processes that they start; NIGHTLY=1 runs them on all database engines and with all
# random draws; SPARK=1 installs Spark first (half a gigabyte), for the tests that need it and Java 17. WORKERS=2 runs them
# in two processes.
test: $(VENV)/installed-for-tests $(if $(SPARK),$(VENV)/installed-for-spark)
	@folder=$$(mktemp -d $(MEMORY)) && trap 'rm -rf "$$folder"' EXIT INT TERM && chmod 711 "$$folder" && export TMPDIR="$$folder"; \
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(CHOSEN) $(COVERED) $(TESTS) || { code=$$?; \
	if [ $$code = 5 ]; then $(BIN)/python -m pytest -q --collect-only $(CHOSEN) $(TESTS); fi; exit $$code; }

lint: $(VENV)/installed-for-tests
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/mypy

bench: $(VENV)/installed-for-tests
	@for bench in bench/*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

# What libraries, tools and formats do that one would guess wrongly; each installs its pins in a temporary folder.
findings:
	@for finding in findings/*.sh; do echo "== $$finding"; bash $$finding || exit 1; done

# The pictures of the README, taken by a browser.
screenshots: $(VENV)/installed-for-tests
	@$(BIN)/python docs/screenshots.py

# New pins: needs uv. The locks hold pins and hashes alone.
lock:
	$(COMPILE) pyproject.toml --extra build -o requirements.lock
	$(COMPILE) pyproject.toml --extra build --extra delta --extra iceberg --extra test -o requirements-test.lock
	echo "pyspark-client>=4 grpcio grpcio-status googleapis-common-protos zstandard" | tr ' ' '\n' | \
		$(COMPILE) --no-deps - -o requirements-spark.lock
	echo "pyspark>=4" | $(COMPILE) - -o requirements-spark-server.lock

# The newest version of Streamlit, or VERSION=…, in an environment of its own, and the tests that show what it
# breaks; TESTS=… runs others.
try-streamlit:
	@$(call CHECK,$(PYTHON),Name another one: make PYTHON=…)
	@$(PYTHON) -m venv --clear $(OTHER)
	@$(subst $(BIN),$(OTHER)/bin,$(PIP)) --require-hashes -r requirements-test.lock
	@$(subst $(BIN),$(OTHER)/bin,$(PIP)) --no-build-isolation -e .
	@$(OTHER)/bin/python -m pip --disable-pip-version-check --no-input install -q -U \
		streamlit$(if $(VERSION),==$(VERSION))
	@$(OTHER)/bin/python -c 'from lib.ui import streamlit_compat as parts; print(*parts.check(), sep="\n")'
	@$(OTHER)/bin/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(or $(TESTS),$(TRIED))

$(VENV)/made:
	@if [ -z "$(PYTHON)" ]; then echo "Tranche needs Python 3.11 or later; name one: make PYTHON=…" >&2; exit 1; fi
	@$(call CHECK,$(PYTHON),Name another one: make PYTHON=…)
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: requirements.lock pyproject.toml $(VENV)/made
	@$(call CHECK,$(BIN)/python,Remove $(VENV) and run make again.)
	@echo "Downloading and installing $$(grep -c '==' requirements.lock) packages at most, about 1.1 GB once installed:"
	@rm -f $@
	@{ $(SPOKEN) --require-hashes -r requirements.lock && $(PIP) --no-build-isolation -e . && touch $@; } | $(COUNTED)
	@test -e $@  # a pipe has the exit code of its last command, not of pip

$(VENV)/installed-for-tests: requirements-test.lock $(VENV)/installed
	@echo "Installing what requirements-test.lock names"
	@$(PIP) --require-hashes -r requirements-test.lock
	@touch $@

# The client's package has the folder of the whole Spark's, which is installed apart, for the server that tests start.
$(VENV)/installed-for-spark: requirements-spark.lock requirements-spark-server.lock $(VENV)/installed-for-tests
	@echo "Installing the client of Spark Connect, and Spark itself (half a gigabyte) for its server"
	@$(BIN)/python -m pip --disable-pip-version-check uninstall -q -y pyspark py4j 2>/dev/null
	@$(PIP) --no-build-isolation --require-hashes -r requirements-spark.lock
	@$(PIP) --no-build-isolation --require-hashes --target $(VENV)/spark-server -r requirements-spark-server.lock
	@touch $@
