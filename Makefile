# Only forwards: everything is in tools/. On a bare Debian: sh tools/setup.sh first.
.PHONY: build run test lint format sanitize bench faults fuzz coverage setup clean help

help:
	@sed -n 's/^## //p' Makefile

## make run       build, record a trace on the spot, open the page on it
run:
	@sh tools/run.sh
## make build     the program: build/meridian
build:
	@sh tools/build.sh release
## make test      every test; ends with `N passed, M failed`
test:
	@sh tools/test.sh
## make lint      the house rules: layers, lengths, banned calls, format, static checks, page
lint:
	@sh tools/lint.sh
## make format    clang-format over all C files
format:
	@sh tools/lint-format.sh --fix
## make sanitize  unit and golden tests with address, undefined behaviour and thread sanitizers
sanitize:
	@sh tools/sanitize.sh asan tsan
## make bench     speed and memory, the tables of bench/README.md
bench:
	@sh tools/bench.sh
## make faults    every read, write and other file call fails once
faults:
	@sh tools/faults.sh
## make fuzz TARGET=name SECONDS=n
fuzz:
	@sh tools/fuzz.sh "$(TARGET)" "$(SECONDS)"
## make coverage  lines that the tests reach
coverage:
	@sh tools/coverage.sh
## make setup     what is missing on this machine (Debian 12, as root)
setup:
	@sh tools/setup.sh
clean:
	@sh tools/clean.sh
