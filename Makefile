# Two commands matter: make lab, make test.

GO ?= go
BIN := bin/refit

.PHONY: build lab down test vet check clean

build:
	$(GO) build -trimpath -o $(BIN) ./cmd/refit

lab: build
	$(BIN) lab

down: build
	$(BIN) lab down

test:
	$(GO) test $(TESTFLAGS) ./...

# What CI adds to the tests.
vet:
	$(GO) vet ./...
	test -z "$$(gofmt -l cmd internal)"

check: vet
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

clean:
	rm -rf bin
