#!/bin/sh
# Turns commands of the benchmark into test points: rows of each kind that it
# times, and what it refuses. The times themselves are not looked at.
set -eu
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"

found=$folder/found

# refuses WORDS OPTION...: exit code 2, with these words on stderr.
refuses() {
    words=$1
    shift
    status=0
    ./tests/bench/bench "$@" >"$found" 2>&1 || status=$?
    if [ "$status" -eq 2 ] && grep -qF -- "$words" "$found"; then
        report "refused: $*" 0
    else
        echo "exit code $status, without '$words'" >>"$found"
        report "refused: $*" 1 "$found"
    fi
}

# timed NAME... -- OPTION...: exit code 0, and a line of JSON for each name.
timed() {
    status=0
    names=
    while [ "$1" != -- ]; do
        names="$names$1
"
        shift
    done
    shift
    ./tests/bench/bench --quick --times --json "$@" >"$found" 2>&1 || status=1
    printf '%s' "$names" | while IFS= read -r name; do
        grep -qF "{\"name\": \"$name\", \"median\": " "$found" || exit 1
    done || status=1
    whole || status=1
    grep -qF '"limits": null,' "$found" || status=1
    report "timed: $*" $status "$found"
}

# The last run printed a whole object: as many brackets are closed as opened.
whole() {
    for pair in '[]' '{}'; do
        opened=$(tr -cd "${pair%?}" <"$found" | wc -c)
        closed=$(tr -cd "${pair#?}" <"$found" | wc -c)
        [ "$opened" -gt 0 ] && [ "$opened" -eq "$closed" ] || return 1
    done
}

# above NAME TIMES: the last run has a number other than 0 there so often.
above() {
    n=$(grep -oE "\"$1\": [0-9.e+-]*[1-9][0-9.e+-]*" "$found" | wc -l)
    [ "$n" -ge "$2" ] && return
    echo "$n times \"$1\" with a number above 0, of $2" >>"$found"
    return 1
}

# Machines differ in how many sizes are measured, and all have some.
status=0
./tests/bench/bench --quick --json --filter 'P1.1 * add f32' \
    >"$found" 2>&1 || status=1
whole || status=1
for stream in read fill scale add update renew; do
    n=$(grep -cE "\"stream\": \"$stream\", \"bytes\": [1-9][0-9]*, \
\"bytes_per_second\": [1-9]" "$found") || :
    [ "$n" -ge 8 ] && continue
    echo "$n sizes of $stream" >>"$found"
    status=1
done
above non_temporal 24 || status=1
for name in 'division f32' 'division f64' 'multiply-add f64' \
    'multiply-add i32' 'multiply-add i64' 'strided copy' cold_bytes limit; do
    above "$name" 1 || status=1
done
report "limits of the machine stand before the rows" $status "$found"

timed 'P1.1 1,1 add f32' 'B1.small 64x512x7x7,512@1 add_grad f32' \
    'B2.few 65536x8,8 sum_to f32' -- --filter 'P1.1 * add f32' \
    --filter 'B1.small * add_grad f32' --filter 'B2.few * sum_to f32'
timed 'given 7x4:ba,4 sum_to f16' -- --layout 7x4:ba,4 --filter 'sum_to f16'
timed 'given 7x4,x add f32' -- --layout 7x4,x --filter ' add f32'
timed 'given scalar,scalar add f32' -- --layout scalar,scalar \
    --filter ' add f32'
timed 'given 0x4,4 add_grad f32' -- --layout 0x4,4 --filter 'add_grad f32'
timed 'given 7x4:ba,4>:ab/-1 add f32' -- --layout '7x4:ba,4>:ab/-1' \
    --filter ' add f32'
timed 'given 7,scalar=-0.5 pow f32' -- --layout 7,scalar=-0.5 \
    --filter 'pow *'
timed 'given scalar=3,4 pow u8' -- --layout scalar=3,4 --filter 'pow u8'

# A copy of this build has its plans; none where only an archive was built.
if [ -e lib/.libs/libelementwise.so ]; then
    status=0
    cp -L lib/.libs/libelementwise.so "$folder/copy.so"
    ./tests/bench/bench --baseline "$folder/copy.so" --changed --random 20 \
        >"$found" 2>&1 || status=1
    grep -qx '# of 0 rows, tenths stay below:' "$found" || status=1
    report "no row is changed by a copy of the build" $status "$found"
fi

for layout in 7x4 7x4, 7x4:zz,4 7x4:aa,4 7x4:b,4 7x4/0,4 '7x4,4 and more' \
    '7x4,4>y' 1x1x1x1x1x1x1,1 7x4,-4 7x4/4294967296,4 \
    99999999999999999999999,1 7x4,7@4294967296 4,scalar= 4,scalar=x \
    4,scalar=nan 4,scalar=1e400 '4,scalar=3>x'; do
    refuses "'$layout'" --layout "$layout"
done
refuses 'x (7,4) and y (5)' --layout 7x4,5
refuses 'no row has that in its name' --filter nosuch
refuses 'usage: bench' --random 5x
refuses 'usage: bench' --changed
refuses 'usage: bench' --random 5 --seed abc
refuses 'usage: bench' --random 5 --layout 7x4,4
finish
