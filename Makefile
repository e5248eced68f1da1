# The front door to heddle. Each target installs the packages it needs, builds what it needs, and runs.

BUILD  ?= build
PREFIX ?= /usr/local
COURSE ?= heddle-course
# auto builds the cuda device where nvcc and a GPU are found; on, where nvcc is.
HEDDLE_CUDA ?=
HEDDLE_CUDA_ARCHITECTURES ?=
# off compiles large kernels in half the time and makes them slow. Always passed on, so that no later build keeps it.
HEDDLE_CUDA_OPTIMISE ?= on
options = $(foreach name,HEDDLE_CUDA HEDDLE_CUDA_ARCHITECTURES HEDDLE_CUDA_OPTIMISE,$(if $($(name)),-D$(name)=$($(name))))

.DEFAULT_GOAL := help
.PHONY: help setup heddle build demo learn learn-web check sim cuda test test-sanitize python-test torch-test profile-test mutate site bench-cpu \
	bench-sim lint format install uninstall dist deb clean

help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "  %-14s %s\n", $$1, $$2 }'

heddle: ## build only the command, BUILD/heddle
	@scripts/setup build
	@scripts/build $(BUILD) $(options) heddle_command

demo: ## train a network on Fashion-MNIST in front of you, then predict a few images
	@scripts/setup build demo
	@scripts/build $(BUILD) $(options) heddle_command
	@scripts/demo $(BUILD)/heddle

learn: ## the course: exercises in COURSE (heddle-course), checked as you save, without a GPU
	@scripts/setup build sim
	@scripts/build $(BUILD) $(options) heddle_command sim heddle_judges_sim
	@scripts/learn "$(BUILD)/heddle" "$(COURSE)"

learn-web: ## the same in a browser: prints the address to open
	@scripts/setup build sim
	@scripts/build $(BUILD) $(options) heddle_command sim heddle_judges_sim
	@scripts/learn "$(BUILD)/heddle" "$(COURSE)" --web

check: ## FILE=program.cu: check a CUDA program on the simulated GPU
	@scripts/setup build sim
	@scripts/build $(BUILD) $(options) heddle_command sim
	@$(if $(FILE),$(BUILD)/heddle check "$(FILE)",echo "built: $(BUILD)/heddle check FILE.cu; the tests are make test")

sim: ## build the sim device: every kernel of heddle on the simulated GPU
	@scripts/setup build sim
	@scripts/build $(BUILD) $(options) heddle_command simcc heddle_module_sim

cuda: ## build the cuda device, with nvcc of the CUDA toolkit
	@scripts/setup build
	@scripts/build $(BUILD) $(options) -DHEDDLE_CUDA=on heddle_command heddle_modules_cuda

build: setup ## build all that is installed: library, command, devices, pages
	@scripts/build $(BUILD) $(options) heddle_products

install: build ## install under PREFIX (/usr/local), below DESTDIR if set
	@cmake --install $(BUILD) --prefix $(abspath $(PREFIX))
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true

uninstall: ## remove what install put in place
	@scripts/uninstall $(BUILD)

dist: ## BUILD/dist/heddle-VERSION.tar.gz, the sources of the last commit; the same bytes each time
	@scripts/dist $(BUILD)/dist

deb: ## Debian packages of the last commit, in BUILD/deb
	@scripts/setup build sim install package
	@scripts/deb $(BUILD)/deb

setup: ## install the packages that are missing (Debian, Ubuntu)
	@scripts/setup build sim install

test: ## build and run all tests
	@rm -f $(BUILD)/times
	@scripts/timed $(BUILD) packages scripts/setup build sim install test site test-web-extra fuzz-extra lint lint-extra
	@scripts/timed $(BUILD) build scripts/build $(BUILD) $(options) $(if $(HEDDLE_CUDA),,-DHEDDLE_CUDA=on)
	@scripts/test $(BUILD)

profile-test: ## read a trace by Perfetto's own schema, from PyPI; and what a profile costs
	@scripts/setup build bench
	@scripts/build $(BUILD) $(options) heddle_command
	@scripts/profile-test $(BUILD)/heddle
	@scripts/profile-overhead $(BUILD)/heddle

test-sanitize: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup build sim install test site test-web-extra fuzz-extra lint lint-extra
	@scripts/build $(BUILD)-sanitize $(options) $(if $(HEDDLE_CUDA),,-DHEDDLE_CUDA=on) -DHEDDLE_SANITIZE=ON
	@scripts/test $(BUILD)-sanitize

python-test: ## install the Python package into BUILD/python-venv and run all of its tests, notebooks too
	@scripts/setup build sim python
	@scripts/build $(BUILD) $(options) heddle_command heddle_shared sim
	@scripts/python-test $(BUILD)

MUTATED = src/sim/watch src/check src/sim/race src/sim/api src/sim/memory src/io $(wildcard src/nn/trainer*.c) src/dist
mutate: ## [FILES="src/io/png.c ..."] [COUNT=20] [SEED=1] [RESUME=1]: plant mistakes in a copy, list those that no test notices
	@scripts/setup build sim install test
	@scripts/mutate --build $(BUILD) --count $(or $(COUNT),20) --seed $(or $(SEED),1) $(if $(RESUME),--resume) \
		$(or $(FILES),$(MUTATED))

site: ## render course, docs and ladders as pages in BUILD/site, which a browser opens without a server
	@scripts/setup site
	@scripts/site $(BUILD)/site

torch-test: ## build the PyTorch extension, with PyTorch from PyPI in BUILD/torch, and run its tests
	@scripts/setup build
	@scripts/build $(BUILD) $(options) heddle_command heddle_shared
	@scripts/torch-test $(BUILD)

bench-cpu: ## heddle against PyTorch on this CPU, both rates from one run
	@scripts/setup build demo bench
	@scripts/build $(BUILD) $(options) heddle_command
	@scripts/bench-cpu $(BUILD)/heddle

bench-sim: ## the simulated GPU against a plain C loop
	@scripts/setup build sim
	@scripts/build $(BUILD) $(options) heddle_command sim simcc
	@scripts/bench-sim $(BUILD)

lint: ## clang-format, shellcheck, flake8, cppcheck, clang-tidy: what the versions of Debian 12 say
	@scripts/setup build sim install test lint lint-extra
	@scripts/build $(BUILD) $(options) build.ninja
	@scripts/lint $(BUILD)

format: ## bring all sources into the house's format
	@scripts/setup lint lint-extra
	@scripts/format

clean: ## remove the build folders
	@rm -rf $(BUILD) $(BUILD)-sanitize
