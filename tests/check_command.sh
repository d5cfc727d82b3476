#!/bin/sh
# Runs the command elementwise on small .npy files made with printf, good and
# broken ones, and prints TAP. The command is $ELEMENTWISE, or the one of the
# folder where make runs. After every failure there must be a reason on
# stderr, the documented exit code, and no output file, not even a temporary
# one.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
cd "$folder" || exit 1

# Compares what is expected with what there is.
equal() {
    [ "$2" = "$3" ]
    report "$1" $?
    [ "$2" = "$3" ] || printf 'expected: %s\nfound:    %s\n' "$2" "$3" |
        sed 's/^/# /'
}

# byte 200: the byte with this value.
byte() {
    # shellcheck disable=SC2059
    printf "\\$(printf %03o "$1")"
}

# raw FILE HEADER DATA: version 1.0 with a newline; DATA has printf escapes.
raw() {
    length=$((${#2} + 1))
    {
        printf '\223NUMPY\001\000'
        byte $((length % 256))
        byte $((length / 256))
        printf '%s\n' "$2"
        # shellcheck disable=SC2059
        printf "$3"
    } >"$1"
}

# npy FILE DESCR SHAPE DATA [ORDER]
npy() {
    raw "$1" "{'descr': '$2', 'fortran_order': ${5-False}, 'shape': $3, }" "$4"
}

# make FILE TYPE SHAPE BYTE...: small integers, as any type.
make() {
    file=$1 type=$2 shape=$3
    shift 3
    npy source.npy '|i1' "$shape" ''
    for value; do
        byte "$value" >>source.npy
    done
    "$elementwise" copy source.npy --out-dtype "$type" -o "$file"
}

# values FILE OD_TYPE: the elements of a file in the order of this machine.
values() {
    offset=$("$elementwise" info --json --dtype bf16 "$1" |
        sed 's/.*"offset":\([0-9]*\).*/\1/')
    od -An -v -t "$2" -j "${offset:-0}" "$1" | tr -s ' \n' '  ' |
        sed 's/^ //; s/ $//'
}

# gives NAME EXPECTED OD_TYPE ARGUMENT...: what the command writes.
gives() {
    name=$1 expected=$2 type=$3
    shift 3
    rm -f out.npy
    "$elementwise" "$@" -o out.npy 2>stderr || sed 's/^/# /' stderr
    equal "$name" "$expected" "$(values out.npy "$type" 2>/dev/null)"
}

# is NAME FILE "TYPE (SHAPE)"
is() {
    equal "$1" "$2: $3" "$("$elementwise" info "$2" | sed 's/, .*//')"
}

# fails NAME CODE WORDS ARGUMENT...: and writes nothing.
fails() {
    name=$1 code=$2 words=$3
    shift 3
    rm -f out.npy
    status=0
    "$elementwise" "$@" -o out.npy >stdout 2>stderr || status=$?
    grep -qF -- "$words" stderr &&
        [ "$(head -c 13 stderr)" = 'elementwise: ' ] &&
        [ "$status" -eq "$code" ] && [ ! -s stdout ] && [ ! -e out.npy ] &&
        nothing_left
    good=$?
    report "$name" $good
    [ $good -eq 0 ] || { echo "exit $status" && cat stderr; } | sed 's/^/# /'
}

nothing_left() {
    set -- .elementwise-*
    [ ! -e "$1" ]
}

# broken NAME WORDS: bad.npy is refused in one line, by every reader.
broken() {
    fails "$1" 4 "$2" add bad.npy x.npy
    [ "$(wc -l <stderr)" -eq 1 ] && grep -q '^elementwise: bad.npy: ' stderr &&
        ! "$elementwise" info bad.npy >/dev/null 2>&1
    report "$1, in one line and by info" $?
}

# prints NAME WORDS ARGUMENT...: words on stdout and exit code 0.
prints() {
    name=$1 words=$2
    shift 2
    "$elementwise" "$@" >stdout 2>stderr && grep -qF -- "$words" stdout &&
        [ ! -s stderr ]
    good=$?
    report "$name" $good
    [ $good -eq 0 ] || cat stdout stderr | sed 's/^/# /'
}

# complains NAME CODE WORDS ARGUMENT...: without any output file.
complains() {
    name=$1 code=$2 words=$3
    shift 3
    status=0
    "$elementwise" "$@" >stdout 2>stderr || status=$?
    [ "$status" -eq "$code" ] && grep -qF -- "$words" stderr
    good=$?
    report "$name" $good
    [ $good -eq 0 ] || { echo "exit $status" && cat stderr; } | sed 's/^/# /'
}

# gradients NAME DX DY OD_TYPE ARGUMENT...: what grad writes to both files.
gradients() {
    name=$1 dx=$2 dy=$3 type=$4
    shift 4
    rm -f dx.npy dy.npy
    "$elementwise" grad "$@" --dx dx.npy --dy dy.npy 2>stderr ||
        sed 's/^/# /' stderr
    equal "$name: dx" "$dx" "$(values dx.npy "$type" 2>/dev/null)"
    equal "$name: dy" "$dy" "$(values dy.npy "$type" 2>/dev/null)"
}

# grad_fails NAME CODE WORDS ARGUMENT...: and writes neither file.
grad_fails() {
    rm -f dx.npy dy.npy
    complains "$@"
    [ ! -e dx.npy ] && [ ! -e dy.npy ] && nothing_left
    report "$1, no file" $?
}

# interrupted SIGNAL ARGUMENT...: a run that is ended leaves nothing.
interrupted() {
    signal=$1
    shift
    "$elementwise" "$@" 2>stderr &
    process=$!
    while nothing_left && kill -0 $process 2>/dev/null; do
        :
    done
    kill "-$signal" $process 2>/dev/null
    status=0
    wait $process 2>/dev/null || status=$?
    if [ $status -eq 0 ]; then
        count=$((count + 1))
        echo "ok $count - $1, $signal # SKIP it came too late"
    else
        [ $status -gt 128 ] && nothing_left && [ ! -e out.npy ] &&
            [ ! -e dx.npy ] && [ ! -e dy.npy ]
        report "$1, $signal leaves nothing" $?
    fi
    rm -f out.npy dx.npy dy.npy .elementwise-*
}

# Operations: x is 7, y is 2, in i32 and then in f64.
make seven.npy i32 '(1,)' 7
make two.npy i32 '(1,)' 2
make seven64.npy f64 '(1,)' 7
make two64.npy f64 '(1,)' 2
while read -r op result; do
    gives "$op of integers" "$result" d4 "$op" seven.npy two.npy
done <<'END'
add 9
sub 5
mul 14
div 3
max 7
min 2
pow 49
mod 1
floordiv 3
fmax 7
fmin 2
heaviside 1
truncdiv 3
fmod 1
bitwise_and 2
bitwise_or 7
bitwise_xor 5
bitwise_left_shift 28
bitwise_right_shift 1
END
while read -r op result; do
    gives "$op of floats" "$result" f8 "$op" seven64.npy two64.npy
done <<'END'
div 3.5
copysign 7
nextafter 6.999999999999999
END
while read -r op result; do
    gives "$op" "$result" u1 "$op" seven.npy two.npy
done <<'END'
equal 0
not_equal 1
less_than 0
less_equal 0
greater_than 1
greater_equal 1
logical_and 1
logical_or 1
logical_xor 0
END
make three.npy f64 '(1,)' 3
make four.npy f64 '(1,)' 4
gives 'hypot' 5 f8 hypot three.npy four.npy
"$elementwise" list | awk '/^  [a-z0-9_]+  / && !types { print $1 }
    /^Types/ { types = 1 }' >ops
for op in $(cat ops); do
    "$elementwise" "$op" seven64.npy two64.npy -o out.npy 2>/dev/null ||
        "$elementwise" "$op" seven.npy two.npy -o out.npy 2>/dev/null
    report "$op is a command" $?
done
[ "$(wc -l <ops)" -ge 33 ]
report 'list has all operations' $?

# Shapes and axis.
make x.npy f32 '(2, 3)' 1 2 3 4 5 6
make row.npy f32 '(3,)' 10 20 30
make column.npy f32 '(2,)' 10 20
gives 'aligned at the right' '11 22 33 14 25 36' f4 add x.npy row.npy
gives 'axis -1 is the same' '11 22 33 14 25 36' f4 add x.npy row.npy --axis -1
gives 'axis 0' '11 12 13 24 25 26' f4 add x.npy column.npy --axis 0
gives 'axis=0' '11 12 13 24 25 26' f4 add x.npy column.npy --axis=0
gives 'axis places x where it is smaller' '9 8 7 16 15 14' f4 \
    sub column.npy x.npy --axis 0
is 'the shape of the result' out.npy 'f32 (2,3)'
make tall.npy f32 '(2, 1)' 10 20
gives 'both are stretched' '0 -10 -20 10 0 -10' f4 sub tall.npy row.npy
npy scalar.npy '<i4' '()' '\002\000\000\000'
gives 'rank 0' '14' d4 mul seven.npy scalar.npy
gives 'rank 0 twice' '4' d4 mul scalar.npy scalar.npy
is 'the result has rank 0' out.npy 'i32 ()'
npy empty.npy '<f4' '(0, 3)' ''
gives 'no elements' '' f4 add empty.npy row.npy
is 'no elements keep their shape' out.npy 'f32 (0,3)'
fails 'shapes that do not fit' 3 '(3 vs 2)' add x.npy column.npy
fails 'the message names the operation' 3 'add: shapes' add x.npy column.npy
fails 'axis out of range' 3 'axis 2' add x.npy row.npy --axis 2
fails 'axis below -1' 3 'axis -2' add x.npy row.npy --axis -2
fails 'huge axis' 3 'axis 2147483647' add x.npy row.npy --axis 2147483647
fails 'axis beyond int' 2 'not an integer' add x.npy row.npy --axis 2147483648
fails 'axis is no number' 2 'not an integer' add x.npy row.npy --axis one

# Types.
gives 'i32 and f64' '9' f8 add seven.npy two64.npy
is 'i32 and f64 are f64' out.npy 'f64 (1)'
gives 'out-dtype' '11 22 33 14 25 36' f8 add x.npy row.npy --out-dtype f64
is 'out-dtype is written' out.npy 'f64 (2,3)'
fails 'out-dtype that casting forbids' 3 'cannot be stored as i32' \
    add x.npy row.npy --out-dtype i32
fails 'unknown out-dtype' 2 'unknown type' add x.npy row.npy --out-dtype f33
fails 'an operation without that type' 3 'not defined for f32' \
    bitwise_and x.npy row.npy
npy half.npy '<V2' '(2,)' '\200\077\000\300'
npy raw.npy '|V2' '(2,)' '\200\077\000\300'
fails 'V2 without a type' 4 '--dtype bf16' add half.npy half.npy
fails 'V2 without a type, copied' 4 '--dtype bf16' copy raw.npy
gives 'V2 as bf16' '1 -2' f4 copy half.npy --dtype bf16 --out-dtype f32
gives 'V2 of no order as bf16' '1 -2' f4 \
    copy raw.npy --dtype bf16 --out-dtype f32
gives 'bf16 is written as V2' '4000 c080' x2 add half.npy half.npy --dtype bf16
is 'V2 has no type' out.npy "$("$elementwise" list | awk '$1 == "bf16" {
    print $3 }') (2)"
fails 'dtype can only be bf16' 2 '--out-dtype' copy x.npy --dtype f32

# Numbers.
gives 'x and an integer' '2 4 6 8 10 12' f4 mul x.npy 2
gives 'x and a float' '0.5 1 1.5 2 2.5 3' f4 mul x.npy 0.5
gives 'a float and x' '-0.5 -1 -1.5 -2 -2.5 -3' f4 mul -0.5 x.npy
gives 'a hex float' '0.5 1 1.5 2 2.5 3' f4 mul x.npy 0x1p-1
gives 'a hex integer' '23' d4 add seven.npy 0x10
gives 'an exponent' '100 200 300 400 500 600' f4 mul x.npy 1e2
gives 'infinity' 'inf inf inf inf inf inf' f4 add x.npy inf
gives 'minus infinity' '-inf -inf -inf -inf -inf -inf' f4 add x.npy -inf
gives 'nan' '0 0 0 0 0 0' u1 equal x.npy nan
gives 'an integer keeps i32' '4' d4 sub seven.npy 3
is 'an integer keeps i32, by info' out.npy 'i32 (1)'
gives 'a float makes i32 f64' '9.5' f8 add seven.npy 2.5
is 'a float makes i32 f64, by info' out.npy 'f64 (1)'
make bytes.npy u8 '(2,)' 1 2
gives 'the largest u8' '0 1' u1 add bytes.npy 255
fails 'beyond u8' 3 '256 does not fit u8, 0 ... 255' add bytes.npy 256
fails 'below u8' 3 '-1 does not fit u8, 0 ... 255' add bytes.npy -1
make small.npy i8 '(1,)' 1
gives 'the smallest i8' '-127' d1 add small.npy -128
fails 'below i8' 3 '-129 does not fit i8, -128 ... 127' add small.npy -129
"$elementwise" copy small.npy --out-dtype u64 -o long.npy
gives 'the largest u64' '0' u8 add long.npy 18446744073709551615
fails 'beyond u64' 3 'does not fit u64, 0 ... 18446744073709551615' \
    add long.npy 18446744073709551616
"$elementwise" copy small.npy --out-dtype i64 -o long.npy
gives 'the smallest i64' '-9223372036854775807' d8 \
    add long.npy -9223372036854775808
fails 'beyond i64' 3 'does not fit i64' add long.npy 9223372036854775808
fails 'beyond f32' 3 '1e39 is beyond the largest f32' add x.npy 1e39
fails 'beyond f64' 3 '1e400 is beyond the largest f64' add two64.npy 1e400
"$elementwise" copy small.npy --out-dtype bool -o flag.npy
gives 'an integer next to bool is i64' '3' d8 add flag.npy 2
gives 'a float next to bool is f64' '1.5' f8 add flag.npy 0.5
fails 'two numbers' 2 'both operands are numbers' add 1 2
cp x.npy 5
gives 'a file called like a number' '2 4 6 8 10 12' f4 add ./5 x.npy

# Files: order of dimensions, order of bytes, versions, alignment.
npy fortran.npy '<i4' '(2, 3)' '\001\000\000\000\004\000\000\000\002\000\000\000\005\000\000\000\003\000\000\000\006\000\000\000' True
npy big.npy '>i4' '(2, 3)' '\000\000\000\001\000\000\000\002\000\000\000\003\000\000\000\004\000\000\000\005\000\000\000\006'
npy little.npy '<i4' '(2, 3)' '\001\000\000\000\002\000\000\000\003\000\000\000\004\000\000\000\005\000\000\000\006\000\000\000'
for file in fortran big little; do
    gives "$file copied" '1 2 3 4 5 6' d4 copy $file.npy
    gives "$file and f32" '2 4 6 8 10 12' f8 add $file.npy x.npy
    gives "f32 and $file" '2 4 6 8 10 12' f8 add x.npy $file.npy
    "$elementwise" sub $file.npy 1 -o less.npy
    gives "$file and a number" '0 1 2 3 4 5' d4 copy less.npy
    for other in fortran big little; do
        "$elementwise" sub $file.npy $other.npy -o zero.npy
        gives "$file and $other are equal" '0 0 0 0 0 0' d4 copy zero.npy
    done
done
"$elementwise" add fortran.npy fortran.npy -o out.npy
equal 'column-major files make a column-major one' '2 8 4 10 6 12' \
    "$(values out.npy d4)"
prints 'column-major by info' 'column-major' info out.npy
prints 'and help says so' 'column-major if all input files' --help
"$elementwise" copy fortran.npy -o out.npy
equal 'a copy is row-major whatever it is of' '1 2 3 4 5 6' \
    "$(values out.npy d4)"
prints 'and help says so too' 'by copy and sum-to row-major' --help
"$elementwise" mul fortran.npy 1 --out-dtype f32 -o out.npy
prints 'a column-major file of floats' 'column-major' info out.npy
"$elementwise" sum-to out.npy 2x3 -o sum.npy
equal 'a sum is row-major too' '1 2 3 4 5 6' "$(values sum.npy f4)"
"$elementwise" add fortran.npy scalar.npy --axis 0 -o out.npy
prints 'rank 0 fits every order' 'column-major' info out.npy
npy complex.npy '>c8' '(1,)' '\077\200\000\000\300\000\000\000'
gives 'big-endian complex' '2 -4' f4 add complex.npy complex.npy
npy big64.npy '>f8' '(2, 1)' '\077\360\000\000\000\000\000\000\300\000\000\000\000\000\000\000'
gives 'big-endian, stretched' '2 3 4 2 3 4' f8 add little.npy big64.npy
npy none64.npy '<f8' '(0, 20000)' ''
dd if=/dev/zero bs=8000 count=20 2>/dev/null >zeros
npy wide64.npy '>f8' '(20000,)' ''
cat zeros >>wide64.npy
gives 'big-endian, along no elements' '' f8 add none64.npy wide64.npy
gives 'big-endian, to no elements' '' f8 copy wide64.npy --shape 0x20000
for pad in '' ' ' '  ' '   '; do
    raw odd.npy "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}$pad" \
        '\007\000\000\000\011\000\000\000'
    gives "data at any address ($(wc -c <odd.npy) bytes)" '14 18' d4 \
        add odd.npy odd.npy
done
for version in 2 3; do
    header="{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}"
    {
        printf '\223NUMPY'
        byte $version
        printf '\000'
        byte $((${#header} + 1))
        printf '\000\000\000%s\n\007\011' "$header"
    } >version.npy
    gives "version $version.0" '14 18' u1 add version.npy version.npy
    prints "version $version.0 by info" "version $version.0" info version.npy
done
npy long.npy '<i4' '(2L,)' '\007\000\000\000\011\000\000\000'
gives 'an L behind an extent' '7 9' d4 copy long.npy
npy more.npy '<i4' '(1,)' '\007\000\000\000\011\000\000\000'
gives 'bytes behind the data' '7' d4 copy more.npy

# Files that are broken, or are none.
npy bad.npy '<f4' '(2, 3)' 'too short'
broken 'truncated data' 'truncated: 9 of 24 bytes'
: >bad.npy
broken 'an empty file' 'empty'
echo 'not a file' >bad.npy
broken 'text' 'does not begin with'
head -c 40 x.npy >bad.npy
broken 'truncated header' 'ends in the header'
npy bad.npy '|O' '(2,)' 'pickle'
broken 'pickled objects' 'never read'
raw bad.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}" ''
broken 'records' 'structured'
npy bad.npy '<f4' '(-1, 3)' ''
broken 'a negative extent' 'negative'
npy bad.npy '<f4' '(9223372036854775808,)' ''
broken 'an extent of 2^63' '2^63 - 1'
npy bad.npy '<f4' '(0, 4611686018427387904, 4)' ''
# As many bytes as fit a size_t.
# shellcheck disable=SC2086
size=$(echo __SIZEOF_POINTER__ | ${CC:-cc} ${CFLAGS-} -E -P -)
[ "$size" -eq 4 ] && most='2^32 - 1' || most='2^63 - 1'
broken 'overflow behind a 0' "$most"
npy bad.npy '<f4' "($(awk 'BEGIN { while (n++ < 70) printf "1," }'))" 'abcd'
broken '70 dimensions' '64 dimensions'
npy bad.npy '<f4' '((2, 3),)' ''
broken 'nested parentheses' 'an extent'
raw bad.npy "{'descr': '<f4', 'shape': (2,)}" ''
broken 'a missing key' "lacks the key 'fortran_order'"
raw bad.npy "$(printf '%10000s')" ''
broken 'a huge header' 'more than 10000'
mkdir bad.d
fails 'a directory' 4 'is a directory' add bad.d x.npy
fails 'a missing file' 4 'missing.npy: No such file' add missing.npy x.npy
fails 'standard input' 4 'standard input' add - x.npy
mkfifo pipe
fails 'a pipe' 4 'not a regular file' add pipe x.npy
if [ "$(id -u)" -ne 0 ]; then
    cp x.npy secret.npy && chmod 0 secret.npy
    fails 'an unreadable file' 4 'Permission denied' add secret.npy x.npy
fi

# The output.
cp x.npy same.npy
"$elementwise" add same.npy row.npy -o same.npy
equal 'the output may be an input' '11 22 33 14 25 36' "$(values same.npy f4)"
ln -s same.npy link.npy
"$elementwise" mul link.npy 2 -o link.npy
equal 'a link is followed' '22 44 66 28 50 72' "$(values same.npy f4)"
[ -h link.npy ]
report 'a link stays a link' $?
ln -s nowhere.npy dangling.npy
complains 'a link to no file' 4 'link to no file' add x.npy row.npy \
    -o dangling.npy
[ -h dangling.npy ]
report 'a link to no file is left alone' $?
(umask 027 && "$elementwise" copy x.npy -o mode.npy)
equal 'the mode is as umask says' '-rw-r-----' "$(ls -l mode.npy | cut -c 1-10)"
chmod 604 mode.npy
"$elementwise" copy row.npy -o mode.npy
equal 'a file that is replaced keeps its mode' '-rw----r--' \
    "$(ls -l mode.npy | cut -c 1-10)"
make zero.npy i32 '(3,)' 1 0 1
fails 'division by zero' 6 'divided by it' div seven.npy zero.npy
fails 'zero to a negative power' 6 'negative power' pow zero.npy -1
cp x.npy out.old
cp x.npy kept.npy
complains 'an error leaves the old output' 6 'divided by it' \
    div seven.npy zero.npy -o kept.npy
cmp -s out.old kept.npy && nothing_left
report 'the old output is as it was' $?
complains 'a folder that is not there' 4 'No such file' \
    add x.npy 1 -o missing/out.npy
complains 'a folder as output' 4 'is a directory' add x.npy 1 -o bad.d
complains 'a device as output' 4 'not a regular file' add x.npy 1 -o /dev/null
[ -c /dev/null ]
report 'the device is still there' $?
complains 'standard output as output' 2 'not supported' add x.npy 1 -o -
complains 'no output' 2 '-o FILE is missing' add x.npy 1
(
    ulimit -f 8
    status=0
    "$elementwise" copy x.npy --shape 1000x2x3 -o out.npy 2>stderr || status=$?
    [ $status -eq 4 ] && [ ! -e out.npy ] && nothing_left
)
report 'a file beyond the limit' $?
npy huge.npy '|u1' '(1073741824,)' ''
byte 0 | dd of=huge.npy bs=1 seek=1073741951 conv=notrunc 2>/dev/null
(
    ulimit -v 500000
    # Programs that a sanitizer watches want more than that to start.
    "$elementwise" --version >/dev/null 2>&1 || exit 0
    status=0
    "$elementwise" add huge.npy 1 -o out.npy 2>stderr || status=$?
    [ $status -eq 5 ] && [ ! -e out.npy ] && nothing_left &&
        grep -q 'huge.npy: no memory to map 1073741' stderr
)
report 'a file beyond memory' $?
rm huge.npy
fails 'a result beyond int64' 5 '2^63 - 1' \
    copy seven.npy --shape 4294967296x4294967296

# Copies.
gives 'copy as it is' '1 2 3 4 5 6' f4 copy x.npy
gives 'copy to another type' '1 2 3 4 5 6' d1 copy x.npy --out-dtype i8
gives 'copy to another shape' '10 20 30 10 20 30' f4 copy row.npy --shape 2x3
is 'copy to another shape, by info' out.npy 'f32 (2,3)'
gives 'copy under axis' '10 10 10 20 20 20' f4 \
    copy column.npy --shape 2,3 --axis 0
gives 'copy to no elements' '' f4 copy seven64.npy --shape 0x3
fails 'copy to a shape that does not fit' 3 'do not broadcast' copy x.npy --shape 3x2
fails 'copy to no shape' 2 'not a shape' copy x.npy --shape 3y2
fails 'complex to real' 3 'imaginary' copy complex.npy --out-dtype f32
fails 'copy of two files' 2 'one file' copy x.npy x.npy

# Several slabs: 45 MB, whose first dimension has 1, 2 and 3 added.
make one.npy i8 '(3, 1, 1)' 1 2 3
npy zeros.npy '|i1' '(3, 5000, 3000)' ''
dd if=/dev/zero bs=1000000 count=45 2>/dev/null >>zeros.npy
"$elementwise" add zeros.npy one.npy -o out.npy
tail -c 45000000 out.npy | {
    head -c 15000000 | tr -d '\001' | wc -c
    head -c 15000000 | tr -d '\002' | wc -c
    head -c 15000000 | tr -d '\003' | wc -c
} | tr -d ' \n' >lengths
equal 'slabs are all there' 000 "$(cat lengths)"
fails 'division by zero in the first slab' 6 'divided' div one.npy zeros.npy
"$elementwise" add zeros.npy one.npy -o late.npy
printf '\000' | dd of=late.npy bs=1 seek=45000127 conv=notrunc 2>/dev/null
fails 'division by zero in the last slab' 6 'divided' div one.npy late.npy
rm -f zeros.npy late.npy out.npy

# Gradients. dout is x.npy, 1 ... 6, unless it says otherwise.
gradients 'mul, y stretched' '10 40 90 40 100 180' '17 29 45' f4 \
    mul x.npy row.npy x.npy
is 'dx is like x' dx.npy 'f32 (2,3)'
is 'dy is like y' dy.npy 'f32 (3)'
gradients 'add under axis' '1 2 3 4 5 6' '6 15' f4 \
    add x.npy column.npy x.npy --axis 0
gradients 'axis places x' '6 15' '-1 -2 -3 -4 -5 -6' f4 \
    sub column.npy x.npy x.npy --axis 0
gradients 'both stretched' '140 320' '90 120 150' f4 \
    mul tall.npy row.npy x.npy
gradients 'x and a number' '2 4 6 8 10 12' '91' f4 mul x.npy 2 x.npy
rm -f dx.npy dy.npy
"$elementwise" grad mul x.npy row.npy x.npy --dy dy.npy
equal 'dy alone' '17 29 45' "$(values dy.npy f4)"
[ ! -e dx.npy ]
report 'dy alone makes no dx' $?
make twos.npy i8 '(3,)' 2 2 2
"$elementwise" grad pow x.npy twos.npy x.npy --dx dx.npy
equal 'y of integers, dx alone' '2 8 18 32 50 72' "$(values dx.npy f4)"
gradients 'no elements' '' '0 0 0' f4 add empty.npy row.npy empty.npy
gradients 'bf16' '3f80 4080' '3f80 4080' x2 mul half.npy half.npy half.npy \
    --dtype bf16
cp x.npy same.npy
"$elementwise" grad mul same.npy row.npy same.npy --dx same.npy
equal 'dx may replace x' '10 40 90 40 100 180' "$(values same.npy f4)"

# The same with files that are not as the library wants them: 1 2 3 4 in the
# other order of bytes and of dimensions.
npy foreign.npy '>f4' '(2, 2)' '\077\200\000\000\100\100\000\000\100\000\000\000\100\200\000\000' True
gradients 'big-endian, column-major' '2 6 4 8' '30' f4 \
    mul foreign.npy 2 foreign.npy
prints 'dx has the order of x' 'column-major' info dx.npy
for pad in '' ' ' '  ' '   '; do
    raw odd.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}$pad" \
        '\000\000\200\077\000\000\000\100'
    gradients "data at any address ($(wc -c <odd.npy) bytes)" '1 4' '1 4' f4 \
        mul odd.npy odd.npy odd.npy
done

# Activations and scales: 2 x - 5, and what follows.
"$elementwise" sub x.npy 5 --scale-x 2 --act relu -o fused.npy
equal 'scale and relu' '0 0 1 3 5 7' "$(values fused.npy f4)"
"$elementwise" sub x.npy 1 --scale-x 2 --scale-y 5 --act leaky_relu \
    --alpha 0.5 -o fused.npy
equal 'both scales and a slope' '-1.5 -0.5 1 3 5 7' "$(values fused.npy f4)"
"$elementwise" grad sub x.npy 5 x.npy --scale-x 2 --act relu --dx fused.npy
equal 'the gradient of both' '0 0 6 8 10 12' "$(values fused.npy f4)"
prints 'what is fused is explained' 'x scaled, then gelu, in tiles' \
    explain add 2x3 3 --scale-x 2 --act gelu
prints 'as JSON too' '"act":"relu6","scaled":["y"]' \
    explain add 2x3 3 --scale-y 2 --act relu6 --json
complains 'an activation of integers' 3 'act relu takes' \
    explain add 2x3:i32 3:i32 --act relu
complains 'an unknown activation' 2 'is it sigmoid?' \
    explain add 2x3 3 --act sigmoit
complains 'a factor that is no number' 2 "'2x' is not a number" \
    explain add 2x3 3 --scale-x 2x
complains 'an option that is given twice' 2 '--axis is given twice' \
    explain add 2x3 2 --axis 0 --json --axis=0
complains 'also under its letter' 2 '--output is given twice' \
    add x.npy x.npy -o twice.npy --output other.npy
prints 'but a flag may be' '"op":"add"' explain add 2 2 --json --json
complains 'a slope of nothing' 2 'leaky_relu' \
    explain add 2x3 3 --act relu --alpha 1

# What grad refuses.
set -- --dx dx.npy --dy dy.npy
grad_fails 'dy of integers' 3 'integers have no gradient' \
    grad pow x.npy twos.npy x.npy "$@"
grad_fails 'the option that is too much' 3 'leave out --dy' \
    grad pow x.npy twos.npy x.npy "$@"
grad_fails 'an operation without a gradient' 3 'no gradient' \
    grad nextafter x.npy row.npy x.npy "$@"
grad_fails 'operands that do not fit' 3 '(3 vs 2)' \
    grad add x.npy column.npy x.npy "$@"
grad_fails 'dout of another shape' 3 'dout' grad add x.npy row.npy row.npy "$@"
grad_fails 'dout of another type' 3 'dout is f64' \
    grad add row.npy row.npy two64.npy "$@"
grad_fails 'axis of grad out of range' 3 'axis 2' \
    grad add x.npy row.npy x.npy --axis 2 "$@"
grad_fails 'a broken dout' 4 'bad.npy' grad add x.npy row.npy bad.npy "$@"
grad_fails 'a missing operand' 4 'No such file' \
    grad add x.npy missing.npy x.npy "$@"
grad_fails 'dy in a folder that is not there' 4 'No such file' \
    grad add x.npy row.npy x.npy --dx dx.npy --dy missing/dy.npy
grad_fails 'dy is a folder' 4 'is a directory' \
    grad add x.npy row.npy x.npy --dx dx.npy --dy bad.d
grad_fails 'dx and dy are one file' 2 'one file' \
    grad add x.npy row.npy x.npy --dx dx.npy --dy dx.npy
grad_fails 'dx and dy are one new file in two spellings' 2 'one file' \
    grad add x.npy row.npy x.npy --dx new.npy --dy ./new.npy
grad_fails 'dout of another shape' 3 'add_grad: ' \
    grad add x.npy row.npy row.npy "$@"
complains 'a sum that would be larger than what is summed' 3 'sum_to: ' \
    sum-to x.npy 1000000000000x3 -o out.npy
grad_fails 'dx to standard output' 2 '--dx - is not supported' \
    grad add x.npy row.npy x.npy --dx - --dy dy.npy
grad_fails 'neither dx nor dy' 2 'is missing' grad add x.npy row.npy x.npy
grad_fails 'grad without dout' 2 'are needed' grad add x.npy row.npy "$@"
grad_fails 'grad of an unknown operation' 2 'is it add?' \
    grad ad x.npy row.npy x.npy "$@"
grad_fails 'grad of two numbers' 2 'are numbers' grad add 1 2 x.npy "$@"
grad_fails 'grad takes no -o' 2 'takes no --output' \
    grad add x.npy row.npy x.npy "$@" -o dx.npy
complains 'only grad takes --dx' 2 'takes no --dx' \
    add x.npy row.npy -o out.npy --dx dx.npy
cp x.npy dx.old
cp x.npy kept.npy
complains 'an error leaves the old dx' 3 'integers' \
    grad pow x.npy twos.npy x.npy --dx kept.npy --dy dy.npy
cmp -s dx.old kept.npy && nothing_left
report 'the old dx is as it was' $?

# Sums.
gives 'sum-to a row' '5 7 9' f4 sum-to x.npy 3
gives 'sum-to a column' '6 15' f4 sum-to x.npy 2x1
is 'sum-to keeps an extent of 1' out.npy 'f32 (2,1)'
gives 'sum-to under axis' '6 15' f4 sum-to x.npy 2 --axis 0
gives 'sum-to one element' '21' f4 sum-to x.npy '()'
is 'sum-to one element has rank 0' out.npy 'f32 ()'
gives 'sum-to its own shape' '1 2 3 4 5 6' f4 sum-to x.npy 2,3
gives 'sum-to a file' '5 7 9' f4 sum-to x.npy row.npy
gives 'sum-to a file of another type' '5 7 9' f4 sum-to x.npy twos.npy
is 'sum-to has the type of the source' out.npy 'f32 (3)'
gives 'sum-to of no elements' '0 0 0' f4 sum-to empty.npy 3
gives 'sum-to of other orders' '3 7' f4 sum-to foreign.npy 2 --axis 0
gives 'sum-to of bf16' 'bf80' x2 sum-to half.npy '()' --dtype bf16
npy large.npy '>f4' '(8192, 1024)' ''
head -c 33554432 /dev/zero | tr '\000' '\100' >>large.npy
"$elementwise" sum-to large.npy 1 -o sum.npy
gives 'sum-to of several slabs of the other order' 25198720 d4 \
    copy sum.npy --out-dtype i32
rm -f large.npy
fails 'sum-to a shape that does not fit' 3 'src (2,3)' sum-to x.npy 2
fails 'sum-to of integers' 3 'i32' sum-to seven.npy '()'
fails 'sum-to under a bad axis' 3 'axis 2' sum-to x.npy 3 --axis 2
fails 'sum-to a missing file' 4 'No such file' sum-to x.npy 3y2
fails 'sum-to a broken file' 4 'bad.npy' sum-to x.npy bad.npy
fails 'sum-to of a shape' 4 'No such file' sum-to 2x3 3
fails 'sum-to nothing' 2 'are needed' sum-to x.npy
complains 'sum-to without an output' 2 '-o FILE is missing' sum-to x.npy 3

# A run that is ended leaves nothing: 256 MB of slow powers, and gradients of
# which there are two files.
"$elementwise" copy complex.npy --out-dtype c128 --shape 4000x1 -o high.npy
"$elementwise" copy complex.npy --out-dtype c128 --shape 1x4000 -o wide.npy
rm -f dx.npy dy.npy
interrupted TERM pow high.npy wide.npy -o out.npy
interrupted HUP pow high.npy wide.npy -o out.npy
interrupted USR1 pow high.npy wide.npy -o out.npy
"$elementwise" copy complex.npy --out-dtype c128 --shape 500x4000 -o dout.npy
"$elementwise" copy complex.npy --out-dtype c128 --shape 500x1 -o high.npy
interrupted TERM grad pow high.npy wide.npy dout.npy --dx dx.npy --dy dy.npy
rm -f dout.npy high.npy wide.npy

# What the command says about itself.
prints 'help' 'Exit codes:' --help
prints 'help, short' 'Exit codes:' -h
for command in add copy explain grad info list sum-to; do
    prints "help of $command" "Usage: elementwise" $command --help
done
prints 'version' 'kernels for' --version
prints 'list has types' 'bf16' list
prints 'list has descriptions' 'x + y' list
equal 'list has gradients' 18 \
    "$("$elementwise" list | grep -c ', gradient$')"
"$elementwise" list >/dev/full 2>stderr
equal 'a full disk behind stdout' 4 $?
"$elementwise" diff x.npy row.npy >/dev/full 2>stderr
equal 'a full disk behind a difference' 4 $?
complains 'no arguments' 2 'Usage:'
complains 'an unknown command' 2 'is it add?' ad x.npy row.npy
complains 'a command like no other' 2 "'frobnicate' is not a command or an"`
    `" operation. See" frobnicate
complains 'an unknown option' 2 'is it --axis?' add x.npy row.npy --axsi 1
complains 'an unknown short option' 2 'unknown option -x' add x.npy -x
complains 'an option of another command' 2 'takes no --shape' \
    add x.npy 1 --shape 2 -o out.npy
complains 'an option without its value' 2 'needs a value' add x.npy 1 -o
complains 'a letter with an equals sign' 2 'unknown option -o' \
    add x.npy 1 -o=out.npy
complains 'a flag with a value' 2 'takes no value' info --json=1 x.npy
complains 'one operand' 2 'two operands' add x.npy -o out.npy
complains 'three operands' 2 'two operands' add x.npy 1 2 -o out.npy
rm -f out.npy
"$elementwise" -oout.npy --axis=0 x.npy 2>/dev/null
"$elementwise" --axis 0 -oout.npy sub x.npy -- column.npy
equal 'options anywhere' '-9 -8 -7 -16 -15 -14' "$(values out.npy f4)"
"$elementwise" --output=out.npy -- sub x.npy -1
equal 'numbers behind --' '2 3 4 5 6 7' "$(values out.npy f4)"
cp x.npy ./-x
"$elementwise" -o out.npy -- sub -x 1
equal 'a file with a dash behind --' '0 1 2 3 4 5' "$(values out.npy f4)"

# info
equal 'info' \
    'x.npy: f32 (2,3), row-major, 24 bytes, version 1.0' \
    "$("$elementwise" info x.npy)"
cp x.npy 'a "b\.npy'
equal 'info --json' '{"file":"a \"b\\.npy","dtype":"f32","descr":"<f4",'`
    `'"shape":[2,3],"order":"C","byteorder":"little","bytes":24,'`
    `'"offset":128,"version":"1.0"}' \
    "$("$elementwise" info --json 'a "b\.npy' | sed 's/>f4/<f4/; s/big/little/')"
# name_json NAME BYTES JSON: a file's name, as printf escapes, in JSON
name_json() {
    # shellcheck disable=SC2059
    name=$(printf "$2")
    cp x.npy "$name"
    # shellcheck disable=SC2059
    equal "info --json of a name: $1" "{\"file\":\"$(printf "$3")\"" \
        "$("$elementwise" info --json "$name" | sed 's/,.*//')"
    rm "$name"
}
name_json 'UTF-8' '\303\251\342\202\254\360\237\230\200' \
    '\303\251\342\202\254\360\237\230\200'
name_json 'Latin-1' 'a\377b' 'a\\u00ffb'
name_json 'half a character' '\303' '\\u00c3'
name_json 'two thirds of one' '\342\202' '\\u00e2\\u0082'
name_json 'not the shortest form' '\300\257' '\\u00c0\\u00af'
name_json 'a surrogate' '\355\240\200' '\\u00ed\\u00a0\\u0080'
name_json 'beyond U+10FFFF' '\364\220\200\200' \
    '\\u00f4\\u0090\\u0080\\u0080'
prints 'info --json of V2' '"dtype":null' info raw.npy --json
prints 'info of V2 as bf16' 'bf16 (2)' info raw.npy --dtype bf16
complains 'info goes on after a broken file' 4 'bad.npy' info bad.npy x.npy
grep -q '^x.npy: f32' stdout
report 'info goes on after a broken file, to the next' $?
complains 'info of nothing' 2 'no file' info

# explain
"$elementwise" explain add 2x3x4x5 5x1 --axis 3 >stdout
sed -n '/^  dim/,/^$/p' stdout | diff - /dev/fd/3 3<<'END' | sed 's/^/# /' >diff
  dim          0    1    2    3    4
  x            2    3    4    5
  y axis 3     .    .    .    5  [1]
  out          2    3    4    5
    . counts as 1  [1] is dropped

END
[ ! -s diff ]
report 'the diagram' $?
cat diff
prints 'stretched dimensions' '8  1>7    6  1>5' explain mul 8x1x6x1 7,1,5
prints 'what is kept' ', y spread, rows folded, y kept, in tiles' \
    explain add 30x9000x5 9000x1
prints 'what needs no plan' '  once   straight to the kernel, without a plan' \
    explain add 2x3 2x3
prints 'nor does a number' 'once   straight' explain mul 2x3:i32 scalar:i32
equal 'all others may' 0 "$(for call in 'add 2x3 3' 'add 2x3:i32 2x3' \
    'pow 2x3:i32 2x3:i32' 'add 2x3 2x3 --act tanh' \
    'add fortran.npy fortran.npy' 'add 4096x4096 4096x4096'; do
    # shellcheck disable=SC2086
    "$elementwise" explain $call || echo '  once'
done | grep -c '^  once')"
# As the kernel has them.
formulas=$(sed -n 's/.*EACH((*\(T)\)*\([0-9.-]*\)[,)].*/\2/p' \
    "$source/lib/kernels/power.inc" | sed ':a; N; s/\n/, /; ta')
prints 'powers by formulas' "powers by $(echo "$formulas" |
    sed 's/\(.*\), /\1 or /') are products, a root or a quotient" \
    explain pow 2x3 1x1
equal 'there are formulas' 5 "$(echo "$formulas" | wc -w | tr -d ' ')"
prints 'powers that are computed in f32' 'by others the function' \
    explain pow 2x3:i8 7.0 --act tanh
equal 'other powers have none' 0 "$(for call in 'pow 2x3 3' \
    'pow 2.0 2x3' 'pow 2x3:f16 2.0' 'pow 2x3:i32 scalar:i32' \
    'pow 2x3:c64 2.0' 'mul 2x3 2.0' 'pow 2x3 2.0 --scale-y 2'; do
    # shellcheck disable=SC2086
    "$elementwise" explain $call || echo '  powers'
done | grep -c '^  powers')"
prints 'the result' 'f64 (2,3), 48 bytes' explain add 2x3:i32 '(3,):f32'
prints 'the loops' 'for 2: x +12, y +4, out +12 bytes' \
    explain add 2x3 2 --axis 0
prints 'a scalar' 'f32 ()' explain add scalar '()'
prints 'a scalar under any axis' 'no difference' explain add 2x3 1 --axis 0
prints 'files' 'column-major' explain add fortran.npy x.npy
prints 'files that are converted' 'copied' explain add big.npy x.npy
prints 'explain --json' '"out":{"dtype":"f32","shape":[2,3]},"plan":{"op":"add"' \
    explain add 2x3 3 --json
prints 'explain --out-dtype' 'f16 (2,3)' explain add 2x3 3 --out-dtype f16
complains 'explain says why not' 3 'shapes do not broadcast' explain add 2x3 2
complains 'explain checks types' 3 'not defined' explain bitwise_and 2 2
complains 'explain of an unknown type' 2 "type 'f33'" explain add 2:f33 2
complains 'explain of an extent beyond 64 bits' 4 'extents below 2^63' \
    explain add 9223372036854775808x2 2
complains 'an operation in capitals' 2 'is it add?' ADD x.npy row.npy
complains 'explain of an unknown operation' 2 'is it add?' explain ad 2 2
complains 'explain does not suggest what it does not take' 2 \
    "'copy' is not an operation" explain copy 2 2
equal 'explain asks nothing then' 0 "$(grep -c 'is it' stderr)"
prints 'explain of a shape that looks like a hexadecimal number' \
    'f32 (0,3)' explain mul 0x3 3
prints 'explain of a number' 'f16 ()' explain mul 2x3:f16 0.5
prints 'explain of a negative number' 'out    i16 (4)' explain sub -1 4:i16
complains 'explain of a number that does not fit' 3 '300 does not fit' \
    explain mul 2:u8 +300
complains 'explain of two numbers' 2 'both operands' explain mul 2.0 0.5
complains 'a mistyped shape' 4 'neither a file nor a shape' \
    explain add 2x3xx4 3
complains 'explain of one shape' 2 'two shapes' explain add 2
complains 'explain of a broken file' 4 'bad.npy' explain add bad.npy 2
complains 'explain of a huge result' 5 '2^63' \
    explain add 4294967296x1 4294967296
status=0
"$elementwise" explain add 2x3 2 --json >stdout 2>stderr || status=$?
[ $status -eq 3 ] && [ ! -s stderr ] &&
    grep -q '"error":{"status":"BAD_SHAPE","exit":3,"message":"add: ' stdout
report 'explain --json says why not' $?

# Other systems
prints 'the table of systems' \
    'caffe       Scale           axis 1               (2,3,4,5)  y . 3 4 .' \
    explain mul 2x3x4x5 3x4 --axis 1
prints 'who refuses' \
    'numpy       np.multiply                          refused: 4 against 3' \
    explain mul 2x3x4x5 3x4 --axis 1
equal 'the table has all systems' 10 \
    "$("$elementwise" explain mul 2x3 3 | sed '1,/elsewhere$/d' | wc -l)"
prints 'who gives other numbers' 'y . . 4   other numbers than here' \
    explain add 4x4x4 4 --axis 1
equal 'and who does not' 4 "$("$elementwise" explain add 4x4x4 4 --axis 1 |
    grep -c 'other numbers')"
equal 'equal shapes give the same everywhere' 0 \
    "$("$elementwise" explain add 2x3 2x3 --axis 1 | grep -c 'other numbers')"
equal 'and so does one element' 0 \
    "$("$elementwise" explain add 2x3x4 1x1 --axis 1 | grep -c 'other numbers')"
"$elementwise" explain mul 2x3 2 >stdout 2>stderr
grep -q 'paddle2 .* refused: 3 against 2' stdout
report 'the table is there if the shapes do not fit' $?
prints "Caffe's axis from the end" 'elementwise_mul(&x, &y, 1, &out)' \
    explain mul 2x3x4x5 3x4 --dialect caffe --axis -3
prints 'a learned operand' 'y.reshape(3, 4, 1)' \
    explain mul 2x3x4x5 3x4 --dialect caffe --axis 1 --num-axes 2
prints "Caffe's default axis" 'elementwise_add(&x, &y, 1, &out)' \
    explain add 2x3x4x5 3 --dialect caffe
prints "Caffe's Eltwise" 'elementwise_max(&x, &y, ELEMENTWISE_NUMPY, &out)' \
    explain max 2x3 2x3 --dialect caffe
complains "Caffe's Eltwise does not broadcast" 3 'must be equal' \
    explain max 2x3 3 --dialect caffe
complains 'Caffe has no powers' 3 'no pow' explain pow 2x3 2x3 --dialect caffe
equal 'who has no such operation' 'onnx6 - it has no mod of two arrays' \
    "$("$elementwise" explain mod 2 2 | sed -n 's/^ *//; /^onnx6/s/  */ /gp')"
prints 'which layer it is' 'as in  Caffe: Scale, axis -3' \
    explain mul 2x3x4x5 3x4 --dialect caffe --axis -3
prints 'which layer it is without arguments' 'as in  Caffe: Eltwise PROD' \
    explain mul 2x3 2x3 --dialect caffe
complains "Caffe's largest blob" 3 'more than 2147483647 elements' \
    explain mul 65536x32768 65536 --dialect caffe
complains "Paddle's largest rank" 3 'rank of y is 10; there it is at most 9' \
    explain add 2 1x1x1x1x1x1x1x1x1x2 --dialect paddle2
complains 'Caffe drops no 1' 3 '4 against 1 at dimension 2' \
    explain mul 2x3x4x5 3x1 --dialect caffe
grep -qF 'legal here: axis 1' stderr
report 'but it is legal here' $?
complains 'the axes that are legal there' 3 'legal there: axis -3, 1' \
    explain mul 2x3x4x5 3x4 --dialect caffe --axis 2
complains 'undefined' 3 'paddle2 is undefined' \
    explain add 2x3x4x5 5x1 --dialect paddle2 --axis 3
prints 'one element of any rank' 'C      y.ndim = 0;' \
    explain add 5 1x1x1 --dialect caffe2 --broadcast 1
prints 'and as JSON, with its shape' '"y":{"dtype":"f32","shape":[1,1,1]}' \
    explain add 5 1x1x1 --dialect caffe2 --broadcast 1 --json
grep -qF '"y.ndim = 0; elementwise_add(' stdout
report 'and the call for it' $?
prints 'an ignored axis' 'note   axis is ignored' \
    explain add 2x3 3 --dialect caffe2 --axis 0
complains 'other versions of the system' 3 'note: 1.6 stretches' \
    explain add 2x3x4x5 3x1x5 --dialect paddle1 --axis 1
for system in caffe caffe2 onnx6 paddle1 paddle2 pdpd; do
    complains "the largest axis in $system" 3 2147483647 explain add 2x3 3 \
        --dialect $system --axis 2147483647 \
        $(case $system in caffe2 | onnx6) echo --broadcast 1 ;; esac)
done
prints 'what a converter gets wrong' 'note   ONNX' explain add 4x4x4 4 \
    --dialect onnx6 --broadcast 1 --axis 1
prints 'types are not judged' 'note   types are not judged' \
    explain add 2x3:i32 3:f32 --dialect torch
prints 'nor in JSON' '"types are not judged' \
    explain add 2x3:i32 3:f32 --dialect torch --json
prints 'nor in the table' '    types are not judged' \
    explain add 2x3:i32 3:i32
equal 'where types do not matter, nothing is said' 0 \
    "$("$elementwise" explain add 2x3:f64 3:f64 | grep -c judged)"
prints 'and in the help' 'shapes and arguments are judged' explain --help
prints 'an axis that ONNX says nothing of' 'note   ONNX is silent' \
    explain add 2x2x2 1 --dialect onnx6 --broadcast 1 --axis -5
complains 'and with more elements' 3 'note: ONNX is silent' \
    explain add 2x2x2 2 --dialect onnx6 --broadcast 1 --axis -5
prints 'what a plugin gets wrong' 'note   OpenVINO' explain sub 3x3 3 \
    --dialect pdpd --axis 0
prints 'operands that were exchanged' 'y to the power x' \
    explain pow 3 2x3x4 --dialect paddle2 --axis 1
complains "TensorFlow's limit" 3 '6 groups' \
    explain add 2x1x2x1x2x1 1x2x1x2x1x2 --dialect tensorflow
prints 'the same rank without a limit' 'f32 (2,2,2,2,2,2)' \
    explain add 2x1x2x1x2x1 1x2x1x2x1x2 --dialect torch
prints 'one group of six dimensions' 'f32 (2,2,2,2,2,2)' \
    explain add 2x2x2x2x2x2 2x2x2x2x2x2 --dialect tensorflow
prints 'systems as JSON' '"name":"onnx6","arguments":{"axis":1,'`
    `'"broadcast":1},"operation":"Mul","verdict":"legal","shape":[2,3,4],"differs":false,"c":"elementwise_mul('`
    `'&x, &y, 1, &out)","numpy":"y.reshape(3, 1)","notes":[' \
    explain mul 2x3x4 3 --axis 1 --json
status=0
"$elementwise" explain mul 2x3x4 3 --dialect numpy --json >stdout || status=$?
[ $status -eq 3 ] && grep -qF '"verdict":"illegal","reason":"4 against 3' stdout
report 'a refusal as JSON' $?
equal 'a missing operation as JSON' 1 "$("$elementwise" explain mod 2 2 --json |
    grep -c '"caffe","arguments":{},"operation":null,"verdict":"illegal"')"

# The call has what was asked for, in names of the header.
"$elementwise" explain add 2x3x4 3 --dialect caffe --scale-x 0.1 --scale-y -2 \
    --act leaky_relu --alpha 0.3 --out-dtype bf16 |
    sed -n 's/^  C      //p; s/^         //p' >stdout
equal 'the call with factors, activation and type' \
    "out.dtype = ELEMENTWISE_BF16; options.scale_x = 0.1; `
    `options.scale_y = -2; options.act = ELEMENTWISE_ACT_LEAKY_RELU; `
    `options.alpha = 0.3; `
    `elementwise_apply(ELEMENTWISE_ADD, &x, &y, 1, &out, &options)" \
    "$(paste -sd' ' stdout)"
prints 'and as JSON' 'options.scale_x = 2; elementwise_apply(' \
    explain add 2 2 --scale-x 2 --json
prints 'and what NumPy needs besides' 'as it is; factors and act besides' \
    explain add 2 2 --dialect numpy --act relu
equal 'the plain call where nothing was' 1 \
    "$("$elementwise" explain add 2 2 --dialect numpy --scale-x 1 --act none |
        grep -c '^  C      elementwise_add(&x, &y, ELEMENTWISE_NUMPY, &out)$')"
for act in relu relu6 leaky_relu sigmoid tanh gelu silu; do
    for dtype in f16 bf16 f32 f64; do
        "$elementwise" explain hypot 2 2 --dialect numpy --act "$act" \
            --out-dtype "$dtype"
    done
done | grep -o 'ELEMENTWISE_[A-Z0-9_]*' | sort -u >names
equal 'names of activations, types and the operation' 13 "$(wc -l <names)"
status=0
while read -r name; do
    grep -qw "$name" "$source/include/elementwise.h" || status=1
done <names
report 'which are those of the header' $status

complains 'an unknown system' 2 'is it caffe?' explain add 2 2 --dialect cafe
complains 'an argument that a system has not' 2 'numpy takes no --axis' \
    explain add 2 2 --dialect numpy --axis 0
complains 'arguments of a system without one' 2 'needs --dialect' \
    explain add 2 2 --num-axes 0
# Numbers that are beyond what the option is kept in
for option in --axis --num-axes; do
    for value in 2147483648 -2147483649 99999999999999999999; do
        complains "$option $value" 2 "'$value' is not an integer from -2147" \
            explain add 2 2 --dialect caffe "$option=$value"
    done
done
for value in 1e400 -1e400; do
    complains "--alpha $value" 2 "'$value' is not a number of f64" \
        explain add 2 2 --act leaky_relu "--alpha=$value"
    complains "--scale-x $value" 2 "'$value' is not a number of f64" \
        explain add 2 2 "--scale-x=$value"
    complains "--scale-y $value" 2 "'$value' is not a number of f64" \
        explain add 2 2 "--scale-y=$value"
done
prints 'an infinity that is written as one' '(2), 8 bytes' \
    explain add 2 2 --scale-x inf
prints 'a number below the least f64' '(2), 8 bytes' \
    explain add 2 2 --scale-x 1e-400
complains 'broadcast is a flag' 2 'not 0 or 1' \
    explain add 2 2 --dialect onnx6 --broadcast 2

finish
