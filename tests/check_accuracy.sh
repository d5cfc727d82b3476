#!/bin/sh
# Turns the tables of tests/accuracy/, of a few operands, into a test point per
# line. `make check-accuracy` takes more of them.
set -eu
folder=tests/accuracy

if [ ! -x $folder/accuracy ]; then
    echo "1..0 # SKIP there is no MPFR"
    exit 0
fi

status=0
table=$($folder/accuracy 400) || status=$?
more=$($folder/activation 1000) || status=$?
rest=$($folder/complex 400) || status=$?
printf '%s\n' "$table" "$more" "$rest" | awk '
/ ok / || / TOO LARGE / {
    sub(/^/, (/ ok /  ? "ok " : "not ok ") ++n " - error within its bound: ")
    print
}
END { print "1.." n }'
exit $status
