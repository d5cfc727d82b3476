#!/bin/sh
# Turns the symbol tables of the library just built into test points: what it
# gives to programs, what it takes from others, and what it keeps.
set -eu
LC_ALL=C
export LC_ALL
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
CC=${CC:-cc}
NM=${NM:-nm}
shared=lib/.libs/libelementwise.so
internal=lib/.libs/libinternal.a

# nothing NAME FILE: a test point that passes if the file is empty.
nothing() {
    [ ! -s "$2" ] && status=0 || status=1
    report "$1" $status "$2"
}

# Instrumented objects have symbols that are not the library's.
if [ ! -f "$internal" ]; then
    echo "1..0 # SKIP there is no $internal"
    exit 0
fi
$NM "$internal" >"$folder/all"
if grep -E -q ' (__asan_|__ubsan_|__tsan_|__msan_|__gcov_)' "$folder/all"; then
    echo "1..0 # SKIP the library is instrumented"
    exit 0
fi

# The functions that the header declares: one declaration per line, and its
# last name before a parenthesis.
# shellcheck disable=SC2086
$CC -E -P "$source/include/elementwise.h" | tr '\n;' ' \n' |
    sed -n '/visibility/s/.*[^a-z0-9_]\(elementwise_[a-z0-9_]*\) *(.*/\1/p' |
    sort >"$folder/declared"
[ "$(wc -l <"$folder/declared")" -gt 50 ] && status=0 || status=1
report "the header's functions are found" $status

# What the library may take from others. Nothing here prints, ends the
# program, or changes modes, the locale or signals.
cat >"$folder/allowed" <<'END'
malloc free                         plans live on the heap; see below
getenv                              ELEMENTWISE_CPU, read once
snprintf vsnprintf                  messages and descriptions, of integers
__snprintf_chk __vsnprintf_chk      the same with _FORTIFY_SOURCE
memcpy memmove memset memcmp bcmp   pure; compilers also insert them
__memcpy_chk __memmove_chk          the same with _FORTIFY_SOURCE
__memset_chk __stack_chk_fail       the same, and -fstack-protector
strcmp strlen                       names
__errno_location                    errno is put back after libm
__tls_get_addr ___tls_get_addr      the thread's message
__tls_get_offset                    the same, on s390x
__getauxval                         atomics of GCC, on aarch64
pow powf exp expf log logf log1p    libm: pure but for errno and flags
log1pf expm1 atan2 atan2f hypot     the same
hypotf fmod fmodf fma fmaf          the same
nextafter nextafterf copysign       the same
fmax fmin fmaxf fminf sqrt sqrtf    the same
floor floorf ceil trunc truncf      the same
rint rintf nearbyint frexp scalbn   the same
ldexp ldexpl log2                   the same
cexp clog cexpl clogl expl log1pl   the same, for complex powers
logl powl hypotl atan2l sincosl     the same
sqrtl                               the same
sin cos sincos                      the same
__cxa_finalize __gmon_start__       put there by the linker
_ITM_deregisterTMCloneTable         put there by the linker
_ITM_registerTMCloneTable           put there by the linker
END
sed 's/    .*//' "$folder/allowed" | tr ' ' '\n' | sed '/^$/d' |
    sort >"$folder/names"

if [ -f "$shared" ]; then
    $NM -D --defined-only "$shared" | awk '{ print $3 }' |
        sed 's/@.*//' | sort >"$folder/exported"
    comm -23 "$folder/declared" "$folder/exported" >"$folder/missing"
    comm -13 "$folder/declared" "$folder/exported" >"$folder/surplus"
    $NM -D --defined-only "$shared" | awk '$2 != "T"' >"$folder/data"
    $NM -D --undefined-only "$shared" | awk '{ print $2 }' |
        sed 's/@.*//' | sort | comm -23 - "$folder/names" >"$folder/strange"
    nothing "every declared function is exported" "$folder/missing"
    nothing "nothing else is exported" "$folder/surplus"
    nothing "only functions are exported" "$folder/data"
    nothing "imports are on the list of harmless ones" "$folder/strange"
else
    report "exports and imports # SKIP there is no shared library" 0
fi

# GCC inlines nothing into kernels that are tuned but what is EW_INLINE: what is
# left here would be a call for each element.
grep -E ' t op_[a-z_]+_i64_u64(\.[a-z]+\.[0-9]+)*$' "$folder/all" >"$folder/calls" || :
nothing "mixed comparisons are inlined" "$folder/calls"

# Only plans are allocated.
$NM -A "$internal" | awk -F: '/ U (malloc|calloc|realloc|free|[a-z_]*alloc.*)$/ {
    print $2 }' | sort -u | grep -v -E '(plan|gradient)\.l?o$' >"$folder/allocate" || :
nothing "memory is allocated for plans alone" "$folder/allocate"

# Writable memory is the level of kernels, where these are, what is quick, plans of earlier
# calls and each thread's message; what is only relocated (.data.rel.ro) counts as constant.
# Where all is found from an anchor, that is one of them.
awk '$2 ~ /^[bBC]$/ && $3 !~ /^(ew_cpu_known|ew_cpu_tuning|ew_table_now|kept_plans|message|\.LANCHOR[0-9]+)$/' "$folder/all" \
    >"$folder/written"
size -A "$internal" 2>/dev/null |
    awk '$1 ~ /^\.t?data$/ && $2 > 0' >>"$folder/written"
nothing "there is no other writable memory" "$folder/written"

# A level's code runs only where the processor has it, so no linker may pick
# a function from it for another level.
for level in base avx2 avx512; do
    archive=lib/.libs/lib$level.a
    [ -f "$archive" ] || continue
    for family in activation complex convert float fused gradient int join \
        logic move permute stream sum turn; do
        echo "ew_${family}_$level"
        case $level-$family in # those that shuffle bytes
        avx512-int | avx512-move | avx512-permute)
            echo "ew_${family}_${level}_vbmi"
            ;;
        esac
        case $level-$family in # and those that turn from windows
        avx2-permute) echo ew_pick_avx2 ;;
        avx512-permute) echo ew_pick_avx512_vbmi ;;
        esac
        # Not every compiler has what computes f16.
        [ "$level-$family" != avx512-float ] ||
            sed -n 's/.* [DR] \(ew_float_avx512_fp16\)$/\1/p' "$folder/all"
    done >"$folder/tables"
    # i386 finds its addresses by functions that are the same in all.
    $NM -g --defined-only "$archive" |
        awk 'NF == 3 && $3 !~ /^__x86\.get_pc_thunk/ { print $3 }' | sort |
        comm -3 - "$folder/tables" >"$folder/difference"
    nothing "level $level defines its tables alone" "$folder/difference"
done

finish
