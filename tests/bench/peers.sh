#!/bin/sh
# Turns a build into a comparison with NumPy, PyTorch, Paddle and, where they
# are installed, XNNPACK and oneDNN: gets the Python libraries in an
# environment of their own and runs peers.py.
#
# usage: peers.sh BUILD SOURCE [option of peers.py]...
set -eu
build=$1
source=$2
shift 2
environment=$build/tests/bench/venv

if ! [ -e "$environment/complete" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check \
        numpy==2.4.6 torch==2.13.0 paddlepaddle==3.3.1 matplotlib==3.11.2
    touch "$environment/complete"
fi
exec "$environment/bin/python" "$source/tests/bench/peers.py" \
    --session "$build/tests/bench/.libs/session.so" \
    --results "$build/tests/bench/peers${ELEMENTWISE_CPU:+-$ELEMENTWISE_CPU}.json" \
    --documents "$source/doc" "$@"
