#!/bin/sh
# Turns every console block of README.md and doc/*.md into test points: each
# line "$ elementwise ..." is run, and prints the lines that follow it, on
# stdout or stderr. A line "..." stands for any number of lines.
set -eu
srcdir=${srcdir:-.}
elementwise=${ELEMENTWISE-./tools/elementwise}
case $elementwise in
/*) ;;
*) elementwise=$PWD/$elementwise ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset ELEMENTWISE_CPU || true

elementwise() {
    "$elementwise" "$@"
}

# A command and what it prints: document_line_N.command and .expected.
for document in "$srcdir"/README.md "$srcdir"/doc/*.md; do
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
NR == FNR { found[++n] = $0; next }
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

n=0
failed=0
for command in "$folder"/*.command; do
    [ -f "$command" ] || break
    n=$((n + 1))
    name=${command%.command}
    (cd "$folder" && eval "$(cat "$command")") >"$name.found" 2>&1 || true
    # An empty file would not be noticed by NR == FNR.
    [ -s "$name.found" ] || echo >"$name.found"
    if awk -f "$folder/compare.awk" "$name.found" "$name.expected" \
        >"$folder/difference"; then
        echo "ok $n - $(basename "$name"): $(cat "$command")"
    else
        echo "not ok $n - $(basename "$name"): $(cat "$command")"
        sed 's/^/# /' "$folder/difference"
        failed=1
    fi
done
echo "1..$n"
[ "$n" -gt 0 ] && exit $failed
