#!/bin/sh
# Each rule of `make lint` against a planted violation (tests/lint/planted): the check must fail
# with the expected message, and the clean twin (the same file without the lines marked "planted")
# must pass. The first lines of a planted file say what it is:
#   path: PLACE     where it stands in the tree that is checked (rules that look at places)
#   allowed: PLACE  where the same text is right
#   bad: PLACE includes NAME   a header elsewhere that carries the violation
#   check: NAME     another check than tools/tidy: format, clang-tidy, eslint, typescript, shell
#   expect: TEXT    what the message must hold
set -u
cd "$(dirname -- "$0")/../.." || exit 1
top=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

passed() { echo "PASS lint/$1"; }
failed() { echo "FAIL lint/$1: $2"; }

field() { sed -n "s/^\(\/\/\|#\) $2: //p" "$1"; }

# tidy_tree FOLDER: the rules over every file of the folder.
tidy_tree() {
    (cd "$1" && find . -type f | sed 's/^\.\///' | sort) |
        sh tools/tidy.sh --root "$1" --layers tools/layers.txt
}

# must_fail NAME TEXT COMMAND...; must_pass NAME COMMAND...
must_fail() {
    name=$1 text=$2
    shift 2
    if "$@" >"$work/out" 2>&1; then
        failed "$name" "the planted violation passes"
    elif grep -qF -- "$text" "$work/out"; then
        passed "$name"
    else
        failed "$name" "wanted '$text', got: $(head -n 3 "$work/out" | tr '\n' '|')"
    fi
}

must_pass() {
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed "$name"
    else
        failed "$name" "the clean twin fails: $(head -n 3 "$work/out" | tr '\n' '|')"
    fi
}

# tree NAME PLACE: a small clean tree with the planted file at PLACE.
tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/include"
    for folder in base model clock query duck; do
        mkdir -p "$work/tree/src/$folder"
        echo '#include <stddef.h>' >"$work/tree/src/$folder/planted.h"
    done
    echo '#include <stddef.h>' >"$work/tree/include/meridian.h"
    mkdir -p "$work/tree/$(dirname "$2")"
    cp "$1" "$work/tree/$2"
}

# The violation stands in another file: `PLACE includes NAME`.
plant_elsewhere() {
    bad=$(field "$1" bad)
    [ -n "$bad" ] || return 0
    header=${bad##* }
    case $header in
    '<'*) ;;
    *) header="\"$header\"" ;;
    esac
    echo "#include $header" >>"$work/tree/${bad%% *}"
}

by_tidy() {
    rule=$(basename "$1" .c)
    place=$(field "$1" path)
    allowed=$(field "$1" allowed)
    tree "$1" "$place"
    plant_elsewhere "$1"
    must_fail "$rule" "$(field "$1" expect)" tidy_tree "$work/tree"
    if [ -n "$allowed" ]; then
        tree "$1" "$allowed"
        must_pass "$rule, where it is allowed" tidy_tree "$work/tree"
    fi
    if grep -q '// planted$' "$1" || [ -n "$(field "$1" bad)" ]; then
        sed '/\/\/ planted$/d' "$1" >"$work/twin.c"
        tree "$work/twin.c" "$place"
        must_pass "$rule, clean twin" tidy_tree "$work/tree"
    fi
}

run_eslint() {
    (cd web && npx --no-install eslint --stdin --stdin-filename src/base/planted.ts) <"$1"
}

run_typescript() {
    printf '{ "extends": "%s", "compilerOptions": { "types": [] }, "include": ["%s"] }\n' \
        "$top/web/tsconfig.json" "$1" >"$work/tsconfig.json"
    (cd web && npx --no-install tsc --noEmit -p "$work/tsconfig.json")
}

by_check() {
    base=$(basename "$1")
    check=$(field "$1" check)
    case $check in
    format) set -- "$1" sh tools/lint-format.sh ;;
    clang-tidy) set -- "$1" sh tools/lint-clang-tidy.sh ;;
    shell) set -- "$1" sh tools/lint-shell.sh ;;
    eslint | typescript)
        if [ ! -d web/node_modules ]; then
            echo "SKIP lint/$base: the page's packages are not installed"
            return 0
        fi
        set -- "$1" "run_$check"
        ;;
    esac
    file=$1
    shift
    mkdir -p "$work/plant"
    cp "$file" "$work/plant/$base"
    must_fail "$base" "$(field "$file" expect)" "$@" "$work/plant/$base"
    sed '/\(\/\/\|#\) planted$/d' "$file" >"$work/plant/$base"
    must_pass "$base, clean twin" "$@" "$work/plant/$base"
}

# Violations too long, or too telling, to be kept as files.
function_of() { # LINES in all
    echo "int mrd__planted(int value)"
    echo "{"
    awk -v n="$1" 'BEGIN { for (i = 4; i < n; i++) print "    value++;" }'
    printf '    return value;\n}\n'
}

generated() {
    tree tests/lint/planted/banned_free.c src/base/planted.c
    function_of 71 >"$work/tree/src/base/planted.c"
    must_fail long_function 'function: mrd__planted has 71 lines, allowed are 70' \
        tidy_tree "$work/tree"
    function_of 70 >"$work/tree/src/base/planted.c"
    must_pass 'long_function, clean twin' tidy_tree "$work/tree"
    for ending in c ts; do
        file=$work/tree/src/base/long.$ending
        awk 'BEGIN { for (i = 0; i < 1001; i++) print "// line" }' >"$file"
        must_fail "long_file.$ending" 'file: 1001 lines, allowed are 1000' tidy_tree "$work/tree"
        awk 'BEGIN { for (i = 0; i < 1000; i++) print "// line" }' >"$file"
        must_pass "long_file.$ending, clean twin" tidy_tree "$work/tree"
        rm "$file"
    done
    for marker in TO-DO FIX-ME HA-CK XX-X; do
        marker=$(printf '%s' "$marker" | tr -d -)
        echo "// $marker: later" >"$work/tree/src/base/planted.c"
        must_fail "marker_$marker" "leftover: $marker" tidy_tree "$work/tree"
        echo "// ${marker}ED: a word" >"$work/tree/src/base/planted.c"
        must_pass "marker_$marker, clean twin" tidy_tree "$work/tree"
    done
    printf '%s HEAD\n' '<<<<''<<<' >"$work/tree/notes.md"
    must_fail merge_mark 'leftover: merge mark' tidy_tree "$work/tree"
    printf '{ "resolved": "%s%s/x" }\n' 'https:/' '/registry.npmjs.org' >"$work/tree/notes.md"
    must_fail registry_host 'looks like a package registry' tidy_tree "$work/tree"
    echo 'see https://example.org/x' >"$work/tree/notes.md"
    must_pass 'registry_host, clean twin' tidy_tree "$work/tree"
}

for file in tests/lint/planted/*; do
    if [ -n "$(field "$file" check)" ]; then
        by_check "$file"
    else
        by_tidy "$file"
    fi
done
generated
