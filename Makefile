# The front door to heddle. Each target sets up what it needs, builds, and runs; CMake does the work underneath.

BUILD  ?= build
PREFIX ?= /usr/local

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-sanitize bench-cpu bench-sim lint format install uninstall clean

help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "  %-14s %s\n", $$1, $$2 }'

setup: ## install the packages that are missing (Debian, Ubuntu)
	@scripts/setup build

build: setup ## build the library and the command, build/heddle
	@scripts/build $(BUILD) heddle_products

demo: build ## train a network on Fashion-MNIST in front of you, then predict a few images
	@scripts/demo $(BUILD)/heddle

test: ## build and run all tests
	@scripts/setup build fuzz-extra
	@scripts/build $(BUILD)
	@scripts/test $(BUILD)

test-sanitize: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup build fuzz-extra
	@scripts/build $(BUILD)-sanitize -DHEDDLE_SANITIZE=ON
	@scripts/test $(BUILD)-sanitize

bench-cpu: ## heddle against PyTorch on this CPU, both rates from one run
	@scripts/setup build bench
	@scripts/build $(BUILD) heddle_products
	@scripts/bench-cpu $(BUILD)/heddle

bench-sim: ## the simulated GPU against a plain C loop
	@scripts/setup build
	@scripts/build $(BUILD) heddle_products
	@scripts/bench-sim $(BUILD)

lint: ## clang-format, clang-tidy, cppcheck, shellcheck
	@scripts/setup build lint
	@scripts/build $(BUILD) heddle_base
	@scripts/lint $(BUILD)

format: ## bring all sources into the house's format
	@scripts/setup lint
	@find src tests examples include -name '*.[ch]' | xargs clang-format -i

install: build ## install under PREFIX (/usr/local), below DESTDIR if set
	@cmake --install $(BUILD) --prefix $(abspath $(PREFIX))
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true

uninstall: ## remove what install put in place
	@scripts/uninstall $(BUILD)

clean: ## remove the build folders
	@rm -rf $(BUILD) $(BUILD)-sanitize
