# Two commands matter: make lab, make test.

GO ?= go
BIN := bin/refit

.PHONY: build lab down test octokit vet check clean

build:
	$(GO) build -trimpath -o $(BIN) ./cmd/refit

# The engine of the lab: sim, or llama.cpp, in a folder of its own.
ENGINE ?= sim
LAB := .refit-lab$(if $(filter-out sim,$(ENGINE)),-$(ENGINE))

lab: build
	$(BIN) lab --engine $(ENGINE) --dir $(LAB)

down: build
	$(BIN) lab down --dir $(LAB)

# The whole lab wants the machine for itself, so it is told after the others.
test:
	$(GO) test -timeout 20m $(TESTFLAGS) ./...
	REFIT_TEST_LAB=1 $(GO) test $(TESTFLAGS) -count=1 -timeout 20m -run TestLabKilled ./internal/lab

# GitHub's published descriptions and an independent client, for the tests that
# are skipped without them; in the user's cache, some 40 MB.
octokit:
	internal/forge/local/testdata/octokit/install

# What CI adds to the tests.
vet:
	$(GO) vet ./...
	test -z "$$(gofmt -l cmd internal)"

check: vet
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

clean:
	rm -rf bin
