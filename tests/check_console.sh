#!/bin/sh
# Turns every console block of README.md and doc/*.md into test points: each
# line "$ elementwise ..." is run, and prints the lines that follow it, on
# stdout or stderr. A line "..." stands for any number of lines. Commands find
# doc/ and tests/ as in a checkout.
set -eu
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"

ln -s "$source/doc" "$source/tests" "$folder"

elementwise() {
    "$elementwise" "$@"
}

# A command and what it prints: document_line_N.command and .expected.
for document in "$source"/README.md "$source"/doc/*.md; do
    awk -v prefix="$folder/$(basename "$document" .md)" '
        /^```/        { inside = $0 == "```console"; next }
        !inside       { next }
        /^\$ /        { name = prefix sprintf("_line_%04d", NR)
                        print substr($0, 3) > (name ".command")
                        printf "" > (name ".expected"); next }
        { print > (name ".expected") }' "$document"
done

# Reads what was printed, then what is expected. Since "..." takes as little
# as it can, it is enough to look for the next lines in order.
cat >"$folder/compare.awk" <<'END'
FILENAME == ARGV[1] { found[++n] = $0; next }
$0 == "..." { any = 1; next }
{
    at++
    while (any && at <= n && found[at] != $0)
        at++
    if (at > n || found[at] != $0) {
        print "expected: " $0 "\nfound:    " found[at]
        bad = 1
        exit
    }
    any = 0
}
END {
    if (!bad && !any && at < n) {
        print "not expected: " found[at + 1]
        bad = 1
    }
    exit bad
}
END

for command in "$folder"/*.command; do
    [ -f "$command" ] || break
    name=${command%.command}
    (cd "$folder" && eval "$(cat "$command")") >"$name.found" 2>&1 || true
    status=0
    awk -f "$folder/compare.awk" "$name.found" "$name.expected" \
        >"$folder/difference" || status=1
    report "$(basename "$name"): $(cat "$command")" $status "$folder/difference"
done
finish
