# Everything starts here.  A fresh clone needs make, git and a CPython >= 3.8.
# The scripts in tools/ do the work, in .venv and build.

SCRIPT = examples/tour.py
ARGS =
PYTHON =

sources := $(shell find src include python -type f -not -name '*.pyc' 2>/dev/null) \
	$(wildcard meson.build meson.options pyproject.toml)
setup := tools/setup.sh tools/python.sh tools/build.txt $(if $(PYTHON),force)

.PHONY: help run test pythons bench soak cpython packages lint fresh clean force

help:
	@echo 'make run                          trace examples/ and show where the time went'
	@echo 'make run SCRIPT=x.py ARGS="..."   the same for your program'
	@echo 'make test                         every test and quick check, on each Python found'
	@echo 'make pythons                      install missing Pythons to test with'
	@echo 'make lint                         format, style, types, layers, links, clang-tidy'
	@echo 'make bench                        cost of recording and reading'
	@echo 'make soak                         crash and fuzz tests for an hour'
	@echo 'make cpython                      CPython'\''s own tests, plain and recorded: hours'
	@echo 'make packages                     tests of attrs and sqlglot, plain and recorded'
	@echo 'make fresh                        make run and make test in bare Debians (root)'
	@echo 'make clean                        remove all builds'
	@echo
	@echo 'PYTHON=/path/to/python3 chooses the Python (default: the newest).'

run: .venv/installed
	@.venv/bin/cunei run $(SCRIPT) $(ARGS)

test: .venv/test
	@.venv/bin/python tools/test.py

pythons:
	@tools/pythons.sh

lint: .venv/test
	@.venv/bin/python tools/lint.py

soak: .venv/test
	@.venv/bin/python tools/soak.py $(ARGS)

cpython: .venv/test
	@.venv/bin/python tools/cpython.py $(ARGS)

packages: .venv/test
	@.venv/bin/python tools/packages.py $(ARGS)

bench: .venv/test
	@.venv/bin/python bench/run.py $(ARGS)

fresh:
	@tools/fresh.sh

clean:
	rm -rf .venv build .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/build: $(setup)
	@tools/setup.sh build

.venv/test: $(setup) tools/test.txt
	@tools/setup.sh test

# A real install.  The build folder stays, so that the next one compiles only changes.
.venv/installed: .venv/build $(sources)
	@echo 'building cunei'
	@PATH="$(CURDIR)/.venv/bin:$$PATH" python -m pip install --quiet --no-deps \
		--no-build-isolation -Cbuild-dir=build/run .
	@touch $@
