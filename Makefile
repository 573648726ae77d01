# What a newcomer needs. CI runs .ci/run, and so do lint, real and ci here.

KAFKA ?= 4.1.1 4.3.1 4.4.0

.PHONY: help build demo test real lint bench speed ci

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 8

build: ## build ./flightdeck
	go build -o flightdeck .

demo: ## run the dashboard on its embedded cluster
	go run . --demo

test: ## run the tests that need nothing but Go
	go test ./...

real: ## run all tests, with -race and against real Kafka (Java 17, Maven); KAFKA="4.4.0" picks versions
	FLIGHTDECK_TEST_KAFKA="$(KAFKA)" .ci/run test

lint: ## check formatting, vet, staticcheck, go.mod
	.ci/run format vet lint tidy

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

speed: ## measure against real Kafka what docs/performance.md promises; KAFKA="4.4.0" picks the version
	FLIGHTDECK_TEST_KAFKA="$(KAFKA)" go test -run '^$$' -bench 'FirstFrame|Demo|OfKafka' -benchtime 20x -timeout 30m . ./kafka

ci: ## run everything that CI runs
	.ci/run
