# Every target makes the environment it needs; the second time that takes no time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
CLIENT := clients/typescript
TOOLS := $(CLIENT)/node_modules/.bin
PAGES := dashboard
PIP_FLAGS := --quiet --disable-pip-version-check --require-hashes

.DEFAULT_GOAL := help
.PHONY: help demo serve clients dashboard browser proxies test check bench audit-peers docs papers papers-full growth soak derived vectors lock sbom advisories changelog clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo  ## Run the story: a million simulated users, pictures in demo/, then 100,000 people over HTTP
	$(BIN)/deniable demo --collector --out demo

serve: $(VENV)/.demo  ## Leave a collector running that 100,000 simulated people have answered; print addresses and keys
	$(BIN)/deniable demo --serve

test: $(VENV)/.dev $(VENV)/.spark clients $(PAGES)/node_modules/.done browser proxies  ## Run the whole test suite, one process per core
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal --durations 20

check: $(VENV)/.dev clients $(PAGES)/node_modules/.done  ## Lint, formatting, strict types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if [ -x $(TOOLS)/tsc ]; then $(TOOLS)/tsc --noEmit --project $(CLIENT) && $(TOOLS)/tsc --noEmit --project $(PAGES) && node $(PAGES)/build.mjs --check; \
	else echo "npm is missing: types of the TypeScript client and of the pages are not checked"; fi

clients: $(CLIENT)/node_modules/.done  ## Install the tools that build and test the TypeScript client

dashboard: clients $(PAGES)/node_modules/.done  ## Bundle the collector's pages into the package
	node $(PAGES)/build.mjs

browser:  ## Install Chromium for the tests of the pages, where that is possible
	@tools/browser.sh

proxies:  ## Fetch nginx and Caddy for the tests of deploy/, where that is possible
	@tools/proxies.sh

bench: $(VENV)/.dev $(PEERS)/.done  ## Measure ours and the peers in one run, as ratios
	$(BIN)/python -m benchmarks --peers $(PEERS)/bin/python

audit-peers: $(VENV)/.dev $(PEERS)/.done  ## Audit other libraries, for docs/audited-elsewhere.md (a quarter of an hour)
	$(BIN)/python -m tools.audit_peers --peers $(PEERS)/bin/python

docs: $(VENV)/.dev  ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

papers: $(VENV)/.demo  ## Redraw published figures on a reduced grid (minutes), with verdicts, into build/papers/report/
	$(BIN)/python -m papers run
	$(BIN)/python -m papers report

papers-full: $(VENV)/.demo  ## The same on the full grids (overnight); resumes where it was stopped
	$(BIN)/python -m papers run --full
	$(BIN)/python -m papers report --full -o build/papers/report-full

growth: $(VENV)/.dev  ## Measure what large alphabets cost, for docs/large-alphabets.md (an hour; what the newest run lacks)
	$(BIN)/python docs/measure_growth.py

soak: $(VENV)/.dev  ## Run the long tests, with fresh seeds (they are printed)
	$(BIN)/python -m pytest -m soak --fresh-seeds

derived: $(VENV)/.dev  ## Rewrite the files that follow from the code
	$(BIN)/python -m tools.derived

vectors: $(VENV)/.dev  ## Publish the vectors of a mechanism: make vectors NAME=csr
	$(BIN)/python -m tools.vectors $(NAME)

lock:  ## Rewrite the hashed requirement files (needs uv)
	@for target in device:pyproject.toml demo:"--extra all pyproject.toml requirements/build.in" dev:"--extra dev pyproject.toml" spark:"--extra spark pyproject.toml -c requirements/dev.txt" peers:requirements/peers.in; do \
	  uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --no-header --no-annotate \
	    $${target#*:} -o requirements/$${target%%:*}.txt || exit 1; done

sbom: $(VENV)/.dev  ## Write the bill of materials into build/, and NOTICE
	$(BIN)/python -m tools.sbom
	$(BIN)/python -m tools.sbom --notice

advisories: $(VENV)/.dev  ## Look up known vulnerabilities of all locked packages (needs a network)
	$(BIN)/python -m tools.advisories

changelog: $(VENV)/.dev  ## Show the changelog entry the fragments would make
	$(BIN)/towncrier build --draft --version next

clean:  ## Remove environments and everything built
	rm -rf $(VENV) $(PEERS) $(PAGES)/node_modules $(CLIENT)/node_modules $(CLIENT)/dist site demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "deniable needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.demo $(VENV)/.dev: $(VENV)/.%: requirements/%.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install $(PIP_FLAGS) -r requirements/$*.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

# Spark comes as sources, built here by the setuptools that is locked, not by one fetched on the way
$(VENV)/.spark: requirements/spark.txt $(VENV)/.dev
	$(BIN)/python -m pip install $(PIP_FLAGS) --no-build-isolation -r requirements/spark.txt
	@touch $@

# what the client and the pages need to be built and tested; without npm their tests are skipped, which fails in CI
$(CLIENT)/node_modules/.done $(PAGES)/node_modules/.done: %/node_modules/.done: %/package.json %/package-lock.json
	@if command -v npm > /dev/null; then cd $* && npm ci --ignore-scripts --no-audit --no-fund --silent && touch node_modules/.done; \
	else echo "npm is missing: $* is not tested"; fi

$(PEERS)/.done: requirements/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install $(PIP_FLAGS) -r requirements/peers.txt
	@touch $@
