# Two words matter: `make run` and `make test`. Each installs what is missing first (scripts/install-deps).
SHELL := /bin/bash
.DELETE_ON_ERROR:
.NOTPARALLEL:

# The one place that knows about the libraries in .deps: found at build time by pkg-config, at run time by the rpath; in an
# image they lie beside the program, in ../lib.
export PKG_CONFIG_PATH := $(CURDIR)/.deps/lib/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))
# The manifest looks for folders, which SwiftPM's cache of manifests does not notice.
FLAGS := --manifest-cache none --explicit-target-dependency-import-check error -Xlinker -rpath -Xlinker $(CURDIR)/.deps/lib \
	-Xlinker -rpath -Xlinker '$$ORIGIN/../lib' $(if $(STATIC),--static-swift-stdlib)

DATA ?= .stagedoor
SECONDS ?= 60

.PHONY: run test build bench fuzz soak asan tsan interop format lint image deps test-deps interop-deps

run: build  ## Starts Stagedoor with a stage, a stream key and a token, and prints lines to copy.
	.build/release/stagedoor serve --quickstart --data $(DATA)

# One test at a time: two cores, and tests that measure time, memory and losses must not measure each other.
test: test-deps  ## Builds everything and passes every test; the programs run in release mode, the unit tests in debug.
	swift build $(FLAGS) -c release --product stagedoor
	swift build $(FLAGS) -c release --product stagedoor-bench
	swift test --no-parallel $(FLAGS)

build: deps  ## The release programs in .build/release.
	swift build $(FLAGS) -c release --product stagedoor
	swift build $(FLAGS) -c release --product stagedoor-bench

bench: build test-deps  ## Figures of this machine beside its floor, nginx-rtmp and Janus (best of 3 rounds; some twenty minutes).
	scripts/install-deps --peers
	scripts/bench-steps
	scripts/bench --peers

fuzz: deps  ## Every fuzzer for SECONDS each; FUZZ=Name picks one.
	scripts/fuzz --seconds $(SECONDS) $(FUZZ)

soak: build test-deps  ## A simulated day (some three minutes), then half an hour of churn: memory and descriptors must stay flat.
	STAGEDOOR_SIMULATED_HOURS=25 swift test --no-parallel $(FLAGS) --filter 'Day(Long)?Tests'
	scripts/soak

asan: test-deps  ## The tests, real clients included, under the address sanitizer (optimised: without -O it misses over-reads).
	scripts/sanitize address $(FLAGS)

tsan: test-deps  ## The tests, real clients included, under the thread sanitizer; scripts/sanitize names what is left out.
	scripts/sanitize thread $(FLAGS)

interop: test interop-deps  ## The tests again with the programs that take long to install: OBS, ffmpeg 9, simple-whip-client.
	STAGEDOOR_INTEROP=all swift test $(FLAGS) --filter InteropTests

format:
	swift format -i -r -p Package.swift Sources Tests $(wildcard Fuzz Benchmarks)

lint:
	scripts/lint

image:  ## Builds docker/Dockerfile; without a container engine by chroot, and tries what it made.
	docker/build-image

deps:
	@scripts/install-deps
test-deps:
	@scripts/install-deps --test
interop-deps: test-deps
	@scripts/install-interop
