#!/bin/sh
# Builds tools/tidy where it changed and runs it with the same arguments.
. "$(dirname -- "$0")/env.sh"
program=build/lint/tidy
if [ ! -x $program ] || [ -n "$(find tools/tidy -newer $program -name '*.[ch]')" ]; then
    mkdir -p build/lint
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wshadow -o $program.$$ \
        tools/tidy/*.c
    mv $program.$$ $program
fi
exec $program "$@"
