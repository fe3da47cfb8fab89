# The commands of this project. Everything that they install goes under .deps/, nothing else is touched.
# `make` alone says what there is.

.DEFAULT_GOAL := help
.PHONY: help setup ready build fmt lint types docs bench test test-lua test-rust test-versions torture test-agents nvim-path demo demo-headless clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

setup: build ## all that the plugin and its demo need: the library, and a Neovim
	@scripts/nvim-path.sh >/dev/null

ready:
	@scripts/library.sh
	@scripts/nvim-path.sh >/dev/null

build: ## build the native library and the command line, and install them under lib/
	@scripts/build.sh

fmt: ## format Rust and Lua
	@scripts/lint.sh fmt

lint: ## check formatting and lints of Rust and Lua
	@scripts/lint.sh all

types: ## check the annotations of the Lua files; the first time it installs the checker, which takes some minutes
	@scripts/types.sh

docs: build ## write the generated parts of doc/superpower.txt
	@scripts/docs.sh

bench: build ## measure what must be quick
	@scripts/bench.sh

test: ## everything: lints, Rust, the library, Lua specs in Neovim 0.11 (or NVIM=...), documentation
	@scripts/test.sh

test-versions: ## the same, with the Lua specs in Neovim 0.10, 0.11 and 0.12
	@scripts/test.sh --versions

test-agents: build ## the plugin with the real Claude Code and OpenCode from npm, offline
	@scripts/test-agents

test-rust: ## only the tests in Rust
	@cargo test --no-default-features --features cli

test-lua: ## only the Lua specs, with the library that was built last: make test-lua ONLY=door
	@scripts/specs.sh default $(ONLY)

torture: ## the long versions of the tests in Rust, for hours: make torture ONLY=crash
	@scripts/torture.sh $(ONLY)

nvim-path: ## print the Neovim that is used, and install it if need be
	@scripts/nvim-path.sh

demo: ready ## play a whole superpower in Neovim, without any agent: make demo [HARNESS=claude] [NAME=bugfix]
	@scripts/demo.sh $(NAME)

demo-headless: ready ## the same without a terminal
	@scripts/demo.sh --headless $(NAME)

clean: ## remove what was built and installed here
	rm -rf target lib .deps
