# Two words matter: `make run` and `make test`. Each installs what is missing first (scripts/install-deps).
SHELL := /bin/bash
.DELETE_ON_ERROR:
.NOTPARALLEL:

# The one place that knows about the libraries in .deps: found at build time by pkg-config, at run time by the rpath; in an
# image they lie beside the program, in ../lib.
export PKG_CONFIG_PATH := $(CURDIR)/.deps/lib/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))
FLAGS := --explicit-target-dependency-import-check error -Xlinker -rpath -Xlinker $(CURDIR)/.deps/lib \
	-Xlinker -rpath -Xlinker '$$ORIGIN/../lib'
# What is shipped, and measured, has Swift's runtime in it and runs where no Swift is.
RELEASE_FLAGS := $(FLAGS) -c release --static-swift-stdlib

DATA ?= .stagedoor
SECONDS ?= 60
# How many tests with real programs go on side by side: most wait for media in real time, so this is more than there are cores.
# Unit tests go one at a time: allocations, variables and child processes are the whole process'. WHIPIngest's, which start
# browsers, have a process of their own: Foundation's Process reads past its list of descriptors where some 1,350 are open.
WIDTH ?= 6
# One build serves the tests and the programs that they start: optimised, with internal names visible to tests.
TEST_FLAGS := $(FLAGS) --scratch-path .build/test -c release -Xswiftc -enable-testing

.PHONY: run test steps program build bench fuzz soak asan tsan interop format lint image versions deps test-deps interop-deps

run: program  ## Starts Stagedoor with a stage, a stream key and a token, and prints lines to copy.
	.build/release/stagedoor serve --quickstart --data $(DATA)

test: test-deps  ## Builds everything once and passes every test: what happens is judged, never how fast.
	swift build $(TEST_FLAGS) --build-tests
	swift test $(TEST_FLAGS) --skip-build --no-parallel --skip '^(InteropTests|WHIPIngestTests)'
	swift test $(TEST_FLAGS) --skip-build --no-parallel --filter '^WHIPIngestTests'
	swift test $(TEST_FLAGS) --skip-build --filter '^InteropTests' --experimental-maximum-parallelization-width $(WIDTH)

program: deps
	swift build $(RELEASE_FLAGS) --product stagedoor

build: program  ## The release programs in .build/release.
	swift build $(RELEASE_FLAGS) --product stagedoor-bench

steps: test-deps  ## Mallocs and instructions of every step of the media's way against Benchmarks/steps.json, in the tests' own build.
	swift build $(TEST_FLAGS) --product stagedoor-bench
	scripts/bench-steps

bench: build steps  ## Figures of this machine beside its floor, nginx-rtmp and Janus (best of 3 rounds; half an hour and more).
	scripts/install-deps --peers
	scripts/bench --peers

fuzz: deps  ## Every fuzzer for SECONDS each; FUZZ=Name picks one.
	scripts/fuzz --seconds $(SECONDS) $(FUZZ)

soak: build test-deps  ## What must hold under load, a simulated day, then half an hour of churn: nothing lost, memory flat.
	swift build $(TEST_FLAGS) --build-tests
	STAGEDOOR_UNDER_LOAD=1 STAGEDOOR_SIMULATED_HOURS=25 swift test $(TEST_FLAGS) --skip-build --no-parallel --filter 'UnderLoad|WHIPLoss|Interop/(CloudWatch|Distance|MediaPort|OBSShaped|RollingRestart)/|Day(Long)?Tests|costs at most|tens of nanoseconds'
	scripts/soak

asan: test-deps  ## The tests, real clients included, under the address sanitizer (optimised: without -O it misses over-reads).
	scripts/sanitize address $(FLAGS)

tsan: test-deps  ## The tests, real clients included, under the thread sanitizer; scripts/sanitize names what is left out.
	scripts/sanitize thread $(FLAGS)

interop: test interop-deps image  ## The tests again with what takes long, or long to install: OBS, ffmpeg 9, containers, Valkey.
	STAGEDOOR_INTEROP=all swift test $(TEST_FLAGS) --skip-build --filter InteropTests \
		--experimental-maximum-parallelization-width $(WIDTH)
	STAGEDOOR_INTEROP=all STAGEDOOR_REDIS_SERVER=$(CURDIR)/scripts/valkey-server swift test $(TEST_FLAGS) --skip-build \
		--filter '^(Redis|Cluster|ClusterStore)Tests|Interop/Cluster' --experimental-maximum-parallelization-width $(WIDTH)

format:
	swift format -i -r -p Package.swift Sources Tests $(wildcard Fuzz Benchmarks)

lint:
	scripts/lint

image:  ## Builds docker/Dockerfile by docker or podman (scripts/install-engine installs podman).
	docker/build-image

versions: deps  ## What this build stands on: Debian's sources, the image's bases, Swift packages with those that they need.
	@for stamp in .deps/stamp-*; do echo "$${stamp#*stamp-} $$(cut -d ' ' -f 2 $$stamp)"; done
	@sed -n 's/^ARG [A-Z]*=\(.*@sha256:.*\)/\1/p' docker/Dockerfile
	@swift package --manifest-cache none show-dependencies

deps:
	@scripts/install-deps
test-deps:
	@scripts/install-deps --test
interop-deps: test-deps
	@scripts/install-interop
	@scripts/install-engine
