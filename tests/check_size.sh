#!/bin/sh
# Turns the shared library just built into a test point: without its symbols
# and what debuggers read, it takes no more than 6 MB. Kernels are compiled for
# each CPU level, so a template that grows does so several times. That is what
# GCC makes of them; clang 14 makes 8 MB.
set -eu
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
CC=${CC:-cc}
STRIP=${STRIP:-strip}
NM=${NM:-nm}
shared=lib/.libs/libelementwise.so
most=6000000 # bytes

skip() {
    echo "1..0 # SKIP $*"
    exit 0
}

# size_of LIBRARY: bytes of a stripped copy.
size_of() {
    $STRIP -o "$folder/stripped" "$1" && wc -c <"$folder/stripped" | tr -d ' '
}

# Of several options that set a level the last one counts.
level=
for option in ${CFLAGS-}; do
    case $option in
    -O*) level=$option ;;
    esac
done

[ -f "$shared" ] || skip "there is no $shared"
command -v "$STRIP" >/dev/null || skip "there is no $STRIP"
case $level in
'' | -O0 | -Og) skip "the library is not optimized: CFLAGS=${CFLAGS-}" ;;
esac
# shellcheck disable=SC2086
if echo __clang__ | $CC -E -P - 2>/dev/null | grep -q '^1'; then
    skip "the limit is one for GCC; this is $(size_of "$shared") bytes of clang's"
fi
# shellcheck disable=SC2086
if echo __i386__ | $CC -E -P - 2>/dev/null | grep -q '^1'; then
    skip "the limit is one for 64 bits; this is $(size_of "$shared") bytes"
fi
$NM -D "$shared" >"$folder/symbols"
if grep -E -q ' (__asan_|__ubsan_|__tsan_|__msan_|__gcov_)' \
    "$folder/symbols" ||
    $NM "$shared" 2>/dev/null | grep -q ' __gcov_'; then
    skip "the library is instrumented"
fi
size=$(size_of "$shared")
[ "$size" -le "$most" ] && status=0 || status=1
echo "$size bytes, at most $most" >"$folder/found"
report "the stripped library takes no more than 6 MB" $status "$folder/found"
finish
