#!/bin/sh
# Turns the public header into what its readers do with it: compile it alone
# in C and C++, compile its example, and compare its version with the version of
# the build and of the news.
set -eu
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
CC=${CC:-cc}
CXX=${CXX:-g++}
header=$source/include/elementwise.h

# point NAME COMMAND...: a test point that passes if the command does.
point() {
    name=$1
    shift
    status=0
    "$@" >"$folder/errors" 2>&1 || status=1
    report "$name" $status "$folder/errors"
}

skip() {
    report "$1 # SKIP $2" 0
}

# CC and CXX may carry options.
# shellcheck disable=SC2086
compile_c() {
    $CC "$@" -pedantic -Wall -Wextra -Wstrict-prototypes -Werror \
        -fsyntax-only -I"$source/include"
}

# shellcheck disable=SC2086
compile_cxx() {
    $CXX -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ \
        -I"$source/include" "$@"
}

# The header comes first, so it has to bring what it needs; twice, because
# others include it too.
cat >"$folder/use.c" <<'END'
#include "elementwise.h"
#include "elementwise.h"
elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
elementwise_tensor tensor;
elementwise_status call(void);
elementwise_status call(void)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    elementwise_status status = elementwise_broadcast_shape(
        &tensor, &tensor, ELEMENTWISE_NUMPY, &ndim, shape);
    return status ? status
                  : elementwise_apply(ELEMENTWISE_ADD, &tensor, &tensor, 0,
                                      &tensor, &options);
}
END
for standard in c99 c11 c17; do
    point "the header is $standard" compile_c -std=$standard "$folder/use.c"
done

# The first comment's example, as it stands.
{
    echo '#include "elementwise.h"'
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    sed -n '/^ \*     float x\[/,/^ \*$/s/^ \*//p' "$header"
    echo 'return 0; }'
} >"$folder/example.c"
point "the header's example is a program" grep -q elementwise_add \
    "$folder/example.c"
point "the header's example compiles" compile_c -std=c99 "$folder/example.c"

for standard in c++98 c++11 c++17; do
    if $CXX --version >/dev/null 2>&1; then
        point "the header is $standard" compile_cxx -std=$standard \
            "$folder/use.c"
    else
        skip "the header is $standard" "there is no $CXX"
    fi
done

# One version in three places.
number() {
    sed -n "s/^#define ELEMENTWISE_VERSION_$1 //p" "$header"
}
version=$(number MAJOR).$(number MINOR).$(number PATCH)
configured=$(sed -n 's/^AC_INIT(\[[a-z]*\], \[\(.*\)\]).*/\1/p' \
    "$source/configure.ac")
point "configure.ac has version $version" test "$configured" = "$version"
if [ -f "$source/NEWS.md" ]; then
    newest=$(sed -n 's/^##* *\(.*[0-9]\.[0-9].*\)/\1/p' "$source/NEWS.md" |
        sed -n '1s/[^0-9]*\([0-9.]*[0-9]\).*/\1/p')
    point "NEWS.md is of version $version" test "$newest" = "$version"
else
    skip "NEWS.md is of version $version" "there is no NEWS.md"
fi

finish
