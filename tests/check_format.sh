#!/bin/sh
# Turns every C file of the project into a test point: clang-format would
# leave it as it is. Other versions of the tool format otherwise, so it is
# version 14 or none.
set -eu
srcdir=${srcdir:-.}
tool=${CLANG_FORMAT:-clang-format-14}

if ! command -v "$tool" >/dev/null 2>&1; then
    echo "1..0 # SKIP there is no $tool"
    exit 0
fi

cd "$srcdir"
n=0
failed=0
for file in $(find include lib tests tools doc -name '*.[ch]' -o -name '*.inc' |
    LC_ALL=C sort); do
    n=$((n + 1))
    if errors=$("$tool" --style=file --dry-run -Werror "$file" 2>&1); then
        echo "ok $n - $file"
    else
        echo "not ok $n - $file"
        echo "$errors" | sed 's/^/# /'
        failed=1
    fi
done
echo "1..$n"
[ "$n" -gt 0 ] && exit $failed
