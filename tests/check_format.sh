#!/bin/sh
# Turns every C file of the project into a test point: clang-format would
# leave it as it is. Other versions of the tool format otherwise, so it is
# version 14 or none.
set -eu
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
tool=${CLANG_FORMAT:-clang-format-14}

if ! command -v "$tool" >/dev/null 2>&1; then
    echo "1..0 # SKIP there is no $tool"
    exit 0
fi

cd "$source"
for file in $(find include lib tests tools doc -name '*.[ch]' -o -name '*.inc' |
    LC_ALL=C sort); do
    status=0
    "$tool" --style=file --dry-run -Werror "$file" >"$folder/errors" 2>&1 ||
        status=1
    report "$file" $status "$folder/errors"
done
finish
