#!/bin/sh
# Turns every C block of README.md and doc/*.md into a test point: each is a
# whole program and must compile without a warning against the public header.
set -eu
srcdir=${srcdir:-.}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One file per block, named after its document and first line.
for document in "$srcdir"/README.md "$srcdir"/doc/*.md; do
    awk -v prefix="$folder/$(basename "$document" .md)" '
        /^```/ && file { close(file); file = ""; next }
        /^```c$/       { file = prefix "_line_" NR ".c"; next }
        file           { print > file }' "$document"
done

n=0
for snippet in "$folder"/*.c; do
    [ -f "$snippet" ] || break
    n=$((n + 1))
    result=ok
    ${CC:-cc} -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only \
        -I"$srcdir/include" "$snippet" 2>"$folder/errors" || result="not ok"
    echo "$result $n - $(basename "$snippet")"
    sed 's/^/# /' "$folder/errors"
done
echo "1..$n"
[ "$n" -gt 0 ]
