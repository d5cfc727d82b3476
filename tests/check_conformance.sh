#!/bin/sh
# Replays what real frameworks answered, tests/conformance/*.txt, and prints
# TAP: contiguous and through random strides, at every CPU level of this
# machine. The command is $ELEMENTWISE, or the one of the folder where make
# runs.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"

# replays NAME ARGUMENT...
replays() {
    test_name=$1
    shift
    status=0
    "$elementwise" conform "$@" >"$folder/out" 2>&1 || status=$?
    report "$test_name" $status
    [ $status -eq 0 ] || grep -v '^[a-z_ 0-9]* numpy\|axis  ' "$folder/out" |
        head -n 100 | sed 's/^/# /'
}

set --
for file in "$source"/tests/conformance/*.txt; do
    head -n 1 "$file" | grep -q '^elementwise-vectors 1 ' && set -- "$@" "$file"
done

for file; do
    name=$(head -n 1 "$file" | sed 's/^elementwise-vectors 1 //')
    replays "$name: every result is equal, near or different on purpose" \
        --cpu all "$file"
    replays "$name: random strides change nothing" \
        --cpu all --strides 1 "$file"
done

# Each reason is needed, stands in the table of reasons, and the table of files
# counts every case.
document=$source/doc/conformance.md
for file; do
    base=$(basename "$file" .txt)
    marked=$(awk '!NF { last = "" } $1 == "differs" && !last { n++; last = 1 }
        END { print n + 0 }' "$file")
    used=$("$elementwise" conform --json "$file" |
        sed 's/.*"total".*"on_purpose":\([0-9]*\).*/\1/')
    [ "$marked" = "$used" ]
    report "$base: no case is marked as different that is not" $?
    cases=$(grep -c '^[a-z].* axis -\{0,1\}[0-9]*$' "$file")
    grep -q "^| $base | [^|]* | $cases | .* | $used |\$" "$document"
    report "$base: doc/conformance.md counts $cases cases" $?
    who=$(head -n 1 "$file" | sed 's/^elementwise-vectors 1 //')
    reasons=$("$elementwise" conform --json "$file" |
        sed 's/.*"on_purpose":{\([^}]*\)}.*/\1/' | tr , '\n' |
        sed 's/"\(.*\)":/`\1` /' | sort | paste -s -d , | sed 's/,/, /g')
    grep -qiF "| $who | $reasons |" "$document"
    report "$base: doc/conformance.md counts its reasons" $?
done
# Which framework and which operation has which reason, once from the files and
# once from the table; "all" stands for any operation.
awk 'FNR == 1 { who = tolower($3 " " $4) }
    NF > 2 && $(NF - 1) == "axis" { op = $1 == "grad" ? $1 " " $2 : $1 }
    $1 == "differs" { print $2 " of " who; print $2 " in " op }' "$@" |
    sort -u >"$folder/found"
sed -n '/^## Different on purpose/,/^By framework/s/^| `/| /p' "$document" |
    awk -F ' *[|] *' '{
        sub("`", "", $2)
        n = split(tolower($3), who, ", ")
        for (i = 1; i <= n; i++) print $2 " of " who[i]
        n = split($4, op, ", ")
        for (i = 1; i <= n; i++) print $2 " in " op[i]
    }' | sort -u >"$folder/table"
sed -n 's/ in all$/ in /p' "$folder/table" >"$folder/any"
grep -v -F -f "$folder/any" "$folder/found" >"$folder/left"
grep -v ' in all$' "$folder/table" | diff "$folder/left" - >"$folder/out"
report "the table of reasons has who and what of the files, and no other" $?
sed 's/^/# /' "$folder/out"

# All pairs of 16 special values, of every operation on f32 and f64.
for name in numpy onnx pytorch pytorch-gradients paddle-2 paddle-2-gradients \
    paddle-3 paddle-3-gradients; do
    awk 'NF > 2 && $(NF - 1) == "axis" { op = $(NF - 2) }
        $1 == "x" { rows = 0 }
        $1 == "x" && $2 ~ /^f(32|64)$/ {
            type = $2
            all[op " " type] += 0
            rows = $3 == "(16,1)" || $3 == "(16,16)"
        }
        $1 == "y" && rows && ($3 == "(16)" || $3 == "(16,16)") {
            all[op " " type]++
        }
        END { for (pair in all) if (!all[pair]) { print pair; bad = 1 }
              exit bad }' "$srcdir/tests/conformance/$name.txt" >"$folder/out"
    report "$name: all pairs of special values" $?
    sed 's/^/# /' "$folder/out"
done

# A test that cannot fail proves nothing: one bit of one result is turned.
for file; do
    awk '/^(out|dx)/ && !done && $NF ~ /0$/ { sub(/0$/, "1"); done = 1 } { print }' \
        "$file" >"$folder/wrong.txt"
    status=0
    "$elementwise" conform "$folder/wrong.txt" >"$folder/out" || status=$?
    [ "$status" -eq 1 ] && grep -q 'is expected' "$folder/out"
    report "a wrong bit in $(basename "$file") is found" $?
done

# says NAME CODE WORDS ARGUMENT...: the command's exit code and some of what it
# prints. If it complains, then in one line.
says() {
    test_name=$1 code=$2 words=$3
    shift 3
    status=0
    "$elementwise" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$code" ] && [ "$(wc -l <"$folder/err")" -le 1 ] &&
        { [ -z "$words" ] ||
            cat "$folder/out" "$folder/err" | grep -qF -- "$words"; }
    good=$?
    report "$test_name" $good
    [ $good -eq 0 ] || { echo "exit $status" && cat "$folder/out" \
        "$folder/err"; } | sed 's/^/# /'
}

# reads NAME CODE WORDS LINE...: a file of one case.
reads() {
    test_name=$1 code=$2 words=$3
    shift 3
    { echo 'elementwise-vectors 1 nobody 1.0' && echo && printf '%s\n' "$@"; } \
        >"$folder/v.txt"
    says "$test_name" "$code" "$words" conform "$folder/v.txt"
}

one=3f800000 two=40000000 three=40400000
reads "a right sum" 0 '  1       0' 'add axis -1' "x f32 () $one" \
    "y f32 () $two" "out f32 () $three"
reads "a wrong sum, shown in both bases" 1 \
    'out(): 2 (40000000) is expected, 3 (40400000) found' 'add axis -1' \
    "x f32 () $one" "y f32 () $two" "out f32 () $two"
reads "a result of another type" 1 'out is f32, not f64' 'add axis -1' \
    "x f32 () $one" "y f32 () $two" "out f64 () 4008000000000000"
reads "a result of another shape" 1 'out has another shape' 'add axis -1' \
    "x f32 () $one" "y f32 () $two" "out f32 (1) $three"
reads "elements over several lines, comments, strides" 0 '  1       0' \
    '# a comment' 'add axis 0' 'x f32 (2,2) strides (-1,2)' " $one $one" \
    " $one" '# another' " $one" "y f32 (2) $one $two" \
    "out f32 (2,2) $two $two $three $three"
reads "a refused call" 0 '  1       0' 'add axis 5' \
    "x f32 (2) $one $one" "y f32 (2,1) $one $one" 'error BAD_AXIS'
reads "a call refused otherwise" 1 'BAD_AXIS, but BAD_SHAPE is expected' \
    'add axis 5' "x f32 (2) $one $one" "y f32 (2,1) $one $one" 'error BAD_SHAPE'
reads "a call that should be refused" 1 'no error, but one is expected' \
    'add axis -1' "x f32 () $one" "y f32 () $two" 'error'
reads "a difference on purpose" 0 'on purpose, nap: 1' 'add axis -1' \
    "x f32 () $one" "y f32 () $two" "out f32 () $two" 'differs nap' \
    "our-out f32 () $three"
reads "a reason excuses one result" 1 '2 (40000000) found' 'mul axis -1' \
    "x f32 () $one" "y f32 () $two" "out f32 () $one" 'differs nap' \
    "our-out f32 () $three"
# What a case says twice must not be two things, nor a difference none.
reads "a result and an error" 4 "v.txt:3: the case has a result and 'error'" \
    'add axis -1' "x f32 () $one" "y f32 () $two" "out f32 () $two" 'error'
reads "a gradient and an error" 4 "v.txt:3: the case has a result and 'error'" \
    'grad add axis -1' "x f32 () $one" "y f32 () $two" "dout f32 () $two" \
    "dy f32 () $two" 'error'
reads "a result and an error of ours" 4 "result of ours and 'our-error'" \
    'add axis -1' "x f32 () $one" "y f32 () $two" "out f32 () $two" \
    'differs nap' 'our-error' "our-out f32 () $three"
reads "a difference that is none" 4 'v.txt:3: what is said to be ours is no' \
    'add axis -1' "x f32 () $one" "y f32 () $two" "out f32 () $three" \
    'differs nap' "our-out f32 () $three"
reads "a difference of two NaNs" 4 'v.txt:3: what is said to be ours is no' \
    'add axis -1' "x f32 () 7fc00000" "y f32 () $two" "out f32 () 7fc00000" \
    'differs nap' 'our-out f32 () ffc00000'
reads "an element that is another NaN" 4 'is no difference' 'add axis -1' \
    "x f32 () 7fc00000" "y f32 () $two" "out f32 () 7fc00000" \
    'differs nap out()=ffc00000'
reads "a difference of two errors that is none" 4 'is no difference' \
    'add axis 5' "x f32 (2) $one $one" "y f32 (2,1) $one $one" \
    'error' 'differs nap' 'our-error BAD_AXIS'
reads "a difference of two errors" 0 'on purpose, nap: 1' \
    'add axis 5' "x f32 (2) $one $one" "y f32 (2,1) $one $one" \
    'error BAD_SHAPE' 'differs nap' 'our-error BAD_AXIS'
reads "a difference in a zero's sign" 0 'on purpose, nap: 1' 'add axis -1' \
    'x f32 () 00000000' 'y f32 () 80000000' 'out f32 () 80000000' \
    'differs nap' 'our-out f32 () 00000000'
# Two elements in which a framework's max differs: [NaN, 0, 1] with [1, -0, 1]
max="max axis -1
x f32 (1,3) 7fc00000 00000000 $one
y f32 (3) $one 80000000 $one
out f32 (1,3) $one 80000000 $one"
reads "two reasons, each with its elements" 0 'on purpose, zero: 1' "$max" \
    'differs nan out(0,0)=7fc00000' 'differs zero out(0,1)=00000000'
reads "elements of a reason over several lines" 0 'on purpose, both: 1' \
    "$max" 'differs both out(0,0)=7fc00000' ' out(0,1)=00000000'
reads "an element that no reason explains" 1 \
    'out(0,1): -0 (80000000) is expected, 0 (00000000) found' "$max" \
    'differs nan out(0,0)=7fc00000'
reads "an element that is otherwise again" 1 \
    'out(0,1): 1 (3f800000) is expected, 0 (00000000) found' "$max" \
    'differs nan out(0,0)=7fc00000' "differs zero out(0,1)=$one"
reads "an element with two reasons" 4 'v.txt:8: '\''out(0,0)=00000000' "$max" \
    'differs nan out(0,0)=7fc00000' 'differs zero out(0,0)=00000000'
reads "an element that does not differ" 4 'is no difference' "$max" \
    "differs nan out(0,2)=$one"
reads "an element beyond the shape" 4 'is not in the shape of out' "$max" \
    'differs nan out(1,0)=7fc00000'
reads "an element of another rank" 4 'is not in the shape of out' "$max" \
    'differs nan out(0)=7fc00000'
reads "an element of nothing" 4 'is not an element of a result above' "$max" \
    'differs nan dx(0,0)=7fc00000'
reads "an element of another type" 4 'is not f32 in hexadecimal' "$max" \
    'differs nan out(0,0)=7fc0'
reads "a reason of all beside one of some" 4 'must name its elements' "$max" \
    'differs nan out(0,0)=7fc00000' 'differs zero'
reads "our result and its elements" 4 'our-out is told already' "$max" \
    "our-out f32 () $one" 'differs nan out(0,0)=7fc00000'
reads "a reason twice" 4 "'differs nan' stands here twice" "$max" \
    'differs nan out(0,0)=7fc00000' 'differs nan out(0,1)=00000000'
reads "a gradient" 0 '  1       0' 'grad mul axis 0' \
    "x f32 (2,1) $one $two" "y f32 (2) $three $one" "dout f32 (2,1) $one $one" \
    "dx f32 (2,1) $three $one" "dy f32 (2) $one $two"
reads "a wrong gradient" 1 'dy(1): 1 (3f800000) is expected' 'grad mul axis 0' \
    "x f32 (2,1) $one $two" "y f32 (2) $three $one" "dout f32 (2,1) $one $one" \
    "dy f32 (2) $one $one"
# 1.5 is far from 1, one ULP beside two is near: the far one explains.
reads "the worst array explains" 1 'dx(0): ' 'grad mul axis 0' \
    "x f32 (1) $two" "y f32 (1) $one" "dout f32 (1) $one" \
    "dx f32 (1) 3fc00000" "dy f32 (1) 40000001"
reads "the gradient of a view is dense" 0 '  1       0' 'grad mul axis -1' \
    "x f32 (2,2) strides (0,1) $one $two $one $two" "y f32 () $three" \
    "dout f32 (2,2) $one $one $one $one" \
    "dx f32 (2,2) $three $three $three $three"

# Broken files: exit code 4, file and line.
says "no such file" 4 'nothing.txt: ' conform "$folder/nothing.txt"
: >"$folder/empty.txt"
says "an empty file" 4 'empty.txt:1: the file is empty' conform \
    "$folder/empty.txt"
reads "a file without cases" 4 'v.txt: there are no cases' '# nothing'
reads "an unknown operation" 4 "v.txt:3: 'ad' is not an operation" 'ad axis 1'
reads "no axis" 4 "v.txt:3: 'axis' and an integer" 'add 1'
reads "an unknown part" 4 "v.txt:4: 'z' is not a part" 'add axis 1' 'z f32 ()'
reads "an unknown type" 4 "v.txt:4: 'f31' is not a type" 'add axis 1' 'x f31 ()'
reads "a broken shape" 4 "v.txt:4: '(2' is not a shape" 'add axis 1' 'x f32 (2'
reads "a short element" 4 "v.txt:4: '3f80' is not f32 as 8" 'add axis 1' \
    'x f32 () 3f80'
reads "half a complex number" 4 'a comma and as many again' 'add axis 1' \
    "x c64 () $one"
reads "too few elements" 4 'v.txt:3: x has 1 elements and its shape 2' \
    'add axis 1' "x f32 (2) $one" "y f32 () $one" "out f32 () $one"
reads "words after the axis" 4 'v.txt:3: nothing should follow the axis' \
    'add axis 1 axis 0' "x f32 () $one" "y f32 () $one" "out f32 () $two"
reads "an error twice" 4 'v.txt:7: an error stands here twice' 'add axis 5' \
    "x f32 (2) $one $one" "y f32 (2,1) $one $one" 'error BAD_AXIS' \
    'error BAD_SHAPE'
reads "words after an error" 4 "v.txt:6: 'or' follows the error" 'add axis 5' \
    "x f32 (2) $one $one" "y f32 (2,1) $one $one" 'error BAD_AXIS or BAD_SHAPE'
reads "a gradient's result of an operation" 4 \
    'v.txt:3: dx is of no use: the case is no gradient' 'add axis -1' \
    "x f32 () $one" "y f32 () $one" "out f32 () $two" "dx f32 () $one"
reads "an operation's result of a gradient" 4 \
    'v.txt:3: our-out is of no use: the case is a gradient' 'grad add axis -1' \
    "x f32 () $one" "y f32 () $one" "dout f32 () $two" "dx f32 () $two" \
    'differs nap' "our-out f32 () $one"
reads "an array twice" 4 'v.txt:5: x stands here twice' 'add axis 1' \
    "x f32 () $one" "x f32 () $one"
reads "no y" 4 'v.txt:3: the case needs x and y' 'add axis 1' "x f32 () $one"
reads "no result" 4 'the case has no result' 'add axis 1' "x f32 () $one" \
    "y f32 () $one"
reads "no dout" 4 'a gradient needs dout' 'grad add axis 1' "x f32 () $one" \
    "y f32 () $one" "dx f32 () $one"
reads "strides of another rank" 4 'are not 1 strides' 'add axis 1' \
    'x f32 (2) strides (1,1)'
reads "strides beyond int64" 4 'are not 1 strides' 'add axis 1' \
    'x f32 (2) strides (-99999999999999999999)'
reads "strides that reach too far" 4 'the strides of x reach over' \
    'add axis 1' "x f32 (70) strides (1048576) $(
        printf "%0.s$one " $(seq 70)
    )" "y f32 () $one" 'error'
reads "a shape beyond int64" 4 'is too large' 'add axis 1' \
    'x f32 (4611686018427387904,4)' "y f32 () $one" 'error'
reads "an excuse without our result" 4 'must tell the result' 'add axis 1' \
    "x f32 () $one" "y f32 () $one" "out f32 () $one" 'differs nap'
reads "our result without an excuse" 4 'a keyword are missing' 'add axis 1' \
    "x f32 () $one" "y f32 () $one" "out f32 () $one" "our-out f32 () $one"
reads "an unknown status" 4 "'BAD' is not an error" 'add axis 1' 'error BAD'
says "a level that does not exist" 2 'no kernels for sse9' conform \
    --cpu sse9 "$folder/v.txt"
says "no file" 2 'is needed' conform
for seed in 0 -1 99999999999999999999 9223372036854775808; do
    says "the seed $seed" 2 "'$seed' is not a seed" conform --strides=$seed \
        "$folder/v.txt"
done
says "a bound without end" 2 "'inf' is not a number of ULP" conform \
    --ulp inf "$folder/v.txt"
"$elementwise" conform --cpu all "$folder/v.txt" >/dev/full 2>"$folder/err"
[ $? -eq 4 ]
report "a full disk behind the report of a level" $?
says "a bound beyond f64" 2 "'1e400' is not a number of ULP" conform \
    --ulp 1e400 "$folder/v.txt"

# Folders of .npy files
cases=$folder/cases
mkdir "$cases"
make_npy() {
    # shellcheck disable=SC2059
    { printf '\223NUMPY\001\000v\000' && printf '%-117s\n' "$2" &&
        printf "$3"; } >"$cases/$1.npy"
}
dict="{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
make_npy one_two "$dict" '\000\000\200\077\000\000\000\100'
make_npy two_four "$dict" '\000\000\000\100\000\000\200\100'
echo '# a comment' >"$cases/manifest.txt"
cat >>"$cases/manifest.txt" <<'END'

add axis -1 x one_two.npy y one_two.npy out two_four.npy
sub axis -1 x two_four.npy y one_two.npy out two_four.npy differs joke
grad mul axis -1 x one_two.npy y one_two.npy dout one_two.npy dx two_four.npy
END
says "a folder, and where it differs" 1 \
    'manifest.txt:5: grad mul axis -1: dx(0): 2 (40000000) is expected' \
    conform "$cases"
says "the reason of a manifest is taken as it is" 1 'on purpose, joke: 1' \
    conform "$cases"
echo "add axis -1 x $cases/one_two.npy y one_two.npy out $cases/two_four.npy" \
    >"$cases/manifest.txt"
says "files that are named from the root" 0 '  1       0' conform "$cases"
echo 'add axis -1 x one_two.npy y missing.npy' >"$cases/manifest.txt"
says "a missing .npy file" 4 'cases/missing.npy: ' conform "$cases"
echo 'add axis -1 x' >"$cases/manifest.txt"
says "a role without a file" 4 'manifest.txt:1: a file should follow x' \
    conform "$cases"

echo 'add axis 7 x one_two.npy y one_two.npy error differs joke' \
    >"$cases/manifest.txt"
says "any error, and a reason" 0 'on purpose, joke: 1' conform "$cases"
echo 'add axis -1 x one_two.npy y one_two.npy out one_two.npy our-out' \
    'two_four.npy differs joke' >"$cases/manifest.txt"
says "a result of ours in a file" 0 'on purpose, joke: 1' conform "$cases"
echo 'add axis -1 x one_two.npy y one_two.npy out two_four.npy our-out' \
    'one_two.npy differs joke' >"$cases/manifest.txt"
says "a result of ours that is another" 1 'different' conform "$cases"
echo 'add axis -1 x one_two.npy y one_two.npy out two_four.npy error' \
    >"$cases/manifest.txt"
says "a line with a result and an error" 4 \
    "manifest.txt:1: the case has a result and 'error'" conform "$cases"

printf '\357\273\277add axis -1 x one_two.npy y one_two.npy out %s\r\n\r\n \t\n' \
    two_four.npy >"$cases/manifest.txt"
says "a byte order mark, lines of Windows, empty lines" 0 '  1       0' \
    conform "$cases"
printf '# a\nadd axis\000 -1 x one_two.npy y one_two.npy\n' >"$cases/manifest.txt"
says "a NUL byte" 4 'manifest.txt:2: a NUL byte' conform "$cases"
printf '\377\376a\000d\000d\000\n\000' >"$cases/manifest.txt"
says "UTF-16" 4 'manifest.txt:1: a NUL byte' conform "$cases"
echo 'sub axis -1 x two_four.npy y one_two.npy out two_four.npy differs joke' \
    >"$cases/manifest.txt"

# Cases in JSON, and files of which one cannot be read. It is broken behind a
# case that differs.
{ echo 'elementwise-vectors 1 nobody 1.0' && echo && printf '%s\n' \
    'add axis 0' "x f32 (1) $one" "y f64 () 3ff0000000000000" \
    'out f64 (1) 4000000000000001' '' 'add axis'; } >"$folder/broken.txt"
says "JSON names a case that differs" 4 '"file":"'"$folder"'/broken.txt","line":3'\
',"op":"add","gradient":false,"x_type":"f32","y_type":"f64","axis":0,'\
'"verdict":"different","ulp":1,"reasons":[],"why":"out(0): ' \
    conform --json "$folder/broken.txt" "$cases"
says "JSON names a case that differs on purpose" 4 \
    '"line":1,"op":"sub","gradient":false,"x_type":"f32","y_type":"f32",'\
'"axis":-1,"verdict":"on_purpose","ulp":4194304,"reasons":["joke"]}' \
    conform --json "$folder/broken.txt" "$cases"
says "JSON names what cannot be read" 4 \
    '"unreadable":["'"$folder"'/broken.txt"],"total":{"equal":0,"within":0,'\
'"on_purpose":1,"different":1}}' conform --json "$folder/broken.txt" "$cases"
says "the line that is broken" 4 "broken.txt:8: 'axis' and an integer" \
    conform "$folder/broken.txt" "$cases"
says "files behind one that does not exist" 4 'on purpose, joke: 1' \
    conform "$folder/nothing.txt" "$cases"
printf 'sub axis -1 x two_four.npy y one_two.npy out two_four.npy differs %b\n' \
    '\0351t\0351' >"$cases/manifest.txt"
says "a word that is not UTF-8 in JSON" 0 '"on_purpose":{"\u00e9t\u00e9":1}' \
    conform --json "$cases"

# diff
says "equal files" 0 '' diff "$cases/one_two.npy" "$cases/one_two.npy"
says "files that differ, the worst first" 1 \
    '(0)  a 1 (3f800000)  b 2 (40000000)  8.39e+06 ULP' \
    diff "$cases/one_two.npy" "$cases/two_four.npy"
make_npy next "$dict" '\001\000\200\077\000\000\000\100'
says "neighbours within a bound" 0 '1 equal, 1 within 1 ULP, 0 different' \
    diff --ulp 1 "$cases/one_two.npy" "$cases/next.npy"
says "neighbours without a bound" 1 '1 equal, 0 within 0 ULP, 1 different' \
    diff "$cases/one_two.npy" "$cases/next.npy"
make_npy zero "$dict" '\000\000\000\000\000\000\300\177'
make_npy minus "$dict" '\000\000\000\200\000\000\300\377'
says "NaN is NaN, but -0 is not +0" 1 '1 in the sign of a zero' \
    diff --ulp 9 "$cases/zero.npy" "$cases/minus.npy"
make_npy short "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }" \
    '\000\000\200\077'
says "another shape" 1 'a is f32 (2), but b is f32 (1)' \
    diff "$cases/one_two.npy" "$cases/short.npy"
says "diff of one file" 2 'two files are needed' diff "$cases/short.npy"
says "a bound that is none" 2 "'-1' is not a number of ULP" \
    diff --ulp -1 "$cases/short.npy" "$cases/short.npy"

finish
