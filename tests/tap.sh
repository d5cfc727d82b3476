# Read by the tests that are shell scripts: the command, a folder for files,
# and test points as TAP. srcdir is the folder of the sources.
# shellcheck shell=sh disable=SC2034

source=$(cd "${srcdir:-.}" && pwd)
elementwise=${ELEMENTWISE-./tools/elementwise}
case $elementwise in
/*) ;;
*) elementwise=$PWD/$elementwise ;;
esac
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
unset NO_COLOR ELEMENTWISE_CPU || true

count=0
failed=0

# report NAME STATUS [FILE]: passed if STATUS is 0; otherwise the lines of FILE
# say why not.
report() {
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
        return
    fi
    echo "not ok $count - $1"
    failed=1
    [ $# -lt 3 ] || sed 's/^/# /' "$3"
}

# The last line of a script: a test without a point has not passed.
finish() {
    echo "1..$count"
    [ "$count" -gt 0 ] && exit $failed
    exit 1
}
