#!/bin/sh
# Turns the table of tests/accuracy/accuracy, of a few operands, into a test
# point per line. `make check-accuracy` takes more of them.
set -eu
program=tests/accuracy/accuracy

if [ ! -x $program ]; then
    echo "1..0 # SKIP there is no MPFR"
    exit 0
fi

status=0
table=$($program 400) || status=$?
echo "$table" | awk '
NR > 3 {
    sub(/^/, (/ ok /  ? "ok " : "not ok ") ++n " - error within its bound: ")
    print
}
END { print "1.." n }'
exit $status
