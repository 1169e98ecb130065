# Everything starts here, from a fresh clone: make, git and a CPython >= 3.8 will do.
# The scripts in tools/ do the work; what they make stays in .venv and build.

SCRIPT = examples/tour.py
ARGS =
PYTHON =

sources := $(shell find src include python -type f -not -name '*.pyc' 2>/dev/null) \
	$(wildcard meson.build meson.options pyproject.toml)
setup := tools/setup.sh tools/python.sh tools/build.txt $(if $(PYTHON),force)

.PHONY: help run test pythons bench soak cpython packages lint fresh clean force

help:
	@echo 'make run                          trace examples/ and show where the time went'
	@echo 'make run SCRIPT=x.py ARGS="..."   the same for a program of yours'
	@echo 'make test                         every check and test, with each Python found'
	@echo 'make pythons                      bring the Pythons to test with that are not here'
	@echo 'make lint                         the checks that run nothing'
	@echo 'make bench                        what recording and reading cost'
	@echo 'make soak                         crash and fuzz tests for an hour'
	@echo 'make cpython                      CPython'\''s own tests, plain and recorded: hours'
	@echo 'make packages                     the tests of attrs and sqlglot, likewise'
	@echo 'make fresh                        make run and make test in a bare Debian (root)'
	@echo 'make clean                        remove what was built, keep the sources'
	@echo
	@echo 'PYTHON=/path/to/python3 chooses another Python than the newest one here.'

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

# A real install.  The build folder is kept, so that the next one compiles only changes.
.venv/installed: .venv/build $(sources)
	@echo 'building cunei'
	@PATH="$(CURDIR)/.venv/bin:$$PATH" python -m pip install --quiet --no-deps \
		--no-build-isolation -Cbuild-dir=build/run .
	@touch $@
