# `make` prints the targets. Each is one or two commands that you can also type by hand.

.DEFAULT_GOAL := help
.PHONY: help test fmt fmt-check lint unit doc-test deny docs bench torture clean

# Tools that scripts/tools.sh had to build live here.
export PATH := $(CURDIR)/target/tools/bin:$(PATH)

# More for the command behind a target: make bench ARGS="--only http"
ARGS ?=

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: fmt-check lint unit doc-test ## everything that a change must pass

fmt: ## format the code
	cargo fmt --all

fmt-check:
	cargo fmt --all --check

lint: ## clippy over every target, warnings are errors
	cargo clippy --workspace --all-targets -- -D warnings

unit:
	scripts/tools.sh cargo-nextest
	cargo nextest run --workspace

# nextest does not run the examples in doc comments.
doc-test:
	cargo test --doc --workspace

deny: ## check dependencies: advisories, licences, bans, sources
	scripts/deny.sh

docs: ## build the API documentation of our crates
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# A thousand live readers need as many open files, in the client and in the server.
bench: ## measure speed and print JSON lines and a table
	cargo build --release -p riverrun
	ulimit -n $$(ulimit -Hn); cargo run --release -p riverrun-bench -- $(ARGS)

torture: ## kill the server 50 times under load and check the promises
	cargo build --release -p riverrun
	cargo run --release -p riverrun-torture -- --kills 50 $(ARGS)

clean: ## remove what the build wrote
	cargo clean
