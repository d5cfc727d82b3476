#!/bin/sh
# Turns every C block of README.md and doc/*.md into a test point: each is a
# whole program, compiles without a warning against the public header, and
# runs; the output block that must follow it has what it prints. The demo
# compares what it prints itself.
set -eu
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"

# One file per block, named after its document and first line; the output
# block takes the name of the program before it.
for document in "$source"/README.md "$source"/doc/*.md; do
    awk -v prefix="$folder/$(basename "$document" .md)" '
        /^```/ && file { close(file); file = ""; next }
        /^```c$/       { name = prefix "_line_" NR; file = name ".c"; next }
        /^```output$/  { file = name ".expected"; printf "" > file; next }
        file           { print > file }' "$document"
done

# CC and CFLAGS may carry options.
# shellcheck disable=SC2086
build() {
    ${CC:-cc} ${CFLAGS-} -std=c99 -pedantic -Wall -Wextra -Werror \
        -I"$source/include" -c "$1.c" -o "$1.o" &&
        ./libtool --quiet --tag=CC --mode=link ${CC:-cc} ${CFLAGS-} "$1.o" \
            lib/libelementwise.la -o "$1" -lm
}

# try NAME: whether the program does what its document says.
try() {
    build "$1" >"$folder/errors" 2>&1 || return 1
    "$1" >"$1.found" 2>"$folder/errors" || return 1
    if ! [ -f "$1.expected" ]; then
        echo "no block of output follows" >"$folder/errors"
        return 1
    fi
    diff "$1.expected" "$1.found" >"$folder/errors"
}

for snippet in "$folder"/*.c; do
    [ -f "$snippet" ] || break
    status=0
    : >"$folder/errors"
    try "${snippet%.c}" || status=1
    report "$(basename "$snippet")" $status "$folder/errors"
done

status=0
doc/examples/demo "$source/doc/data" >"$folder/found" 2>&1 || status=1
grep -q '^demo: 3 results checked' "$folder/found" || status=1
report "demo.c" $status "$folder/found"
finish
