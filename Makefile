# `make` prints the targets. Each is one or two commands that you can also type by hand.

.DEFAULT_GOAL := help
.PHONY: help test openapi browser node-modules nodes python-packages sdks clients fmt fmt-check lint unit doc-test deny docs bench compare peers torture fuzz fuzz-server clean

# Tools that scripts/tools.sh had to build live here.
export PATH := $(CURDIR)/target/tools/bin:$(PATH)

# More for the command behind a target: make bench ARGS="--only http"
ARGS ?=

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: fmt-check lint unit doc-test sdks openapi ## everything that a change must pass

fmt: ## format the code
	cargo fmt --all

fmt-check:
	cargo fmt --all --check

lint: ## clippy over every target, warnings are errors
	cargo clippy --workspace --all-targets -- -D warnings

unit: nodes browser
	scripts/tools.sh cargo-nextest
	cargo nextest run --workspace

# Pages for people are tested in a real one.
browser:
	scripts/browser.sh

# What the SDKs' own tests need of the npm registry.
node-modules: sdks/typescript/node_modules/.package-lock.json

# TypeScript is tested on the oldest Node that is supported and on a new one, beside the machine's own.
nodes:
	scripts/nodes.sh

%/node_modules/.package-lock.json: %/package-lock.json
	npm ci --prefix $* --no-audit --no-fund
	@touch $@

# What the Python SDK's own tests need of PyPI, beside the system's packages and not among them.
python-packages: target/python/.installed

target/python/.installed: sdks/python/requirements-test.txt
	python3 -m venv target/python
	target/python/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

sdks: node-modules nodes python-packages ## test the SDKs, alone and in conversation with the server
	cargo build -p riverrun
	npm test --prefix sdks/typescript
	target/python/bin/python -m unittest discover -s sdks/python/tests
	node sdks/conformance/run.mjs --language typescript
	node sdks/conformance/run.mjs --language python

# What is generated from the routes: the OpenAPI document, and of it the HTTP methods of the SDKs.
clients: node-modules ## write the OpenAPI document and generate the SDKs' HTTP methods from it
	scripts/tools.sh cargo-nextest
	UPDATE_DOCS=1 cargo nextest run -p riverrun-api the_checked_in_document
	npm run --silent --prefix sdks/typescript generate
	npm run --silent --prefix sdks/typescript build
	python3 sdks/python/scripts/generate.py

# What the check of the OpenAPI document needs of PyPI, apart from everything else.
target/schemathesis/.installed: tests/openapi/requirements.txt
	python3 -m venv target/schemathesis
	target/schemathesis/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

openapi: target/schemathesis/.installed ## hold the running server against its OpenAPI document
	cargo build -p riverrun
	tests/openapi/run.sh $(CURDIR)/target/schemathesis/bin/schemathesis target/debug/riverrun

# nextest does not run the examples in doc comments.
doc-test:
	cargo test --doc --workspace

deny: ## check dependencies: advisories, licences, bans, sources
	scripts/deny.sh

docs: ## build the API documentation of our crates
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# A thousand live readers need as many open files, in the client and in the server.
bench: ## measure speed and print JSON lines and a table
	cargo build --release -p riverrun -p riverrun-bench
	ulimit -n $$(ulimit -Hn); target/release/riverrun-bench $(ARGS)

# make compare BEFORE=HEAD~20 ARGS="--rounds 3 --only http"
BEFORE ?= HEAD~1
compare: ## measure the revision BEFORE and the working tree in turns, and print ratios
	ulimit -n $$(ulimit -Hn); node bench/compare.mjs --before $(BEFORE) $(ARGS)

# Needs redis-server and Postgres on the machine; the rest comes from the npm registry.
peers: ## measure BullMQ, pg-boss, graphile-worker and Restate beside riverrun, in turns
	cargo build --release -p riverrun
	npm install --prefix bench/peers --ignore-scripts --no-audit --no-fund
	npm start --silent --prefix bench/peers -- $(ARGS)

torture: ## kill the server, its runners and workers 50 times under load and check the promises
	cargo build --release -p riverrun
	cargo run --release -p riverrun-torture -- $(ARGS)

# What the property tests try in `make test`, but many more inputs of each: the definition parser
# and validator, templates, selectors and expressions, the event normaliser, the reducer, the
# codec, the HTTP surface. With debug assertions on. An input that fails is printed as small as it
# gets.
CASES ?= 20000
PROPERTIES := panic|chunks_of_older_versions_unpack|breaks_the_reducer|lives_by_its_rules|reads_back_from_its_event|random_requests|what_is_packed_unpacks|damage_is_detected|quickjs|no_value_leaves|equals_itself|text_without_dollars|what_a_map_would_hold|compact_json|lays_out_as_serde|pieces_do_not_matter|glance_is_enough|judged_as_the_parser|json_stays_the_same|nothing_but_breaks|as_they_are_written|due_times_grow|however_often_it_is_sent|a_claim_takes_all_that_may_begin|all_that_may_begin|keys_take_turns

fuzz: fuzz-server ## the property tests for long: CASES=20000 inputs each; then the running server: ROUNDS=500
	scripts/tools.sh cargo-nextest
	PROPTEST_CASES=$(CASES) cargo nextest run --workspace --no-fail-fast -E 'test(/$(PROPERTIES)/)' $(ARGS)

# Random flows, schemas and inputs against the release binary, which may use 1 GB of memory and must
# answer /healthz within a second throughout.
ROUNDS ?= 500
fuzz-server:
	cargo build --release -p riverrun -p riverrun-fuzz
	target/release/riverrun-fuzz --rounds $(ROUNDS)

clean: ## remove what the build wrote
	cargo clean
