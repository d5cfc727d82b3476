#!/usr/bin/env python3
"""Compares what `elementwise explain --dialect` says with the system itself,
for all pairs of shapes up to a rank with extents 1 to 3 and all axes:

    dialects.py NAME [RANK]          with the command in $ELEMENTWISE

NAME is numpy, torch, tensorflow, paddle2 or pdpd, and that system must be
installed. Legal shapes must give the shape and the values that the reshape for
NumPy gives, and everything else must be refused. What explain calls undefined
is not run.
"""

import itertools
import json
import os
import subprocess
import sys

import numpy as np

COMMAND = os.environ.get("ELEMENTWISE", "elementwise")


def shapes(rank):
    for n in range(rank + 1):
        yield from itertools.product((1, 2, 3), repeat=n)


def with_numpy(x, y, axis):
    return x - y


def with_torch(x, y, axis):
    import torch
    return (torch.from_numpy(x) - torch.from_numpy(y)).numpy()


def with_tensorflow(x, y, axis):
    import tensorflow
    return tensorflow.subtract(x, y).numpy()


def with_paddle2(x, y, axis):
    import paddle
    paddle.disable_signal_handler()
    op = paddle._legacy_C_ops.elementwise_sub
    return op(paddle.to_tensor(x), paddle.to_tensor(y), "axis", axis).numpy()


def with_pdpd(x, y, axis):
    """Its Python functions have no axis and place at 0. What a node evaluates
    to is OpenVINO's reference; plugins may rewrite it."""
    import openvino
    from openvino import opset8
    a, b = (opset8.parameter(list(t.shape), np.float32) for t in (x, y))
    node = opset8.subtract(a, b, auto_broadcast="PDPD")
    shape = [int(n) for n in node.get_output_shape(0)]
    out = openvino.Tensor(np.zeros(shape, np.float32))
    if not node.evaluate([out], [openvino.Tensor(x), openvino.Tensor(y)]):
        raise RuntimeError("not evaluated")
    return out.data.reshape(shape)


SYSTEMS = {
    "numpy": (with_numpy, False), "torch": (with_torch, False),
    "tensorflow": (with_tensorflow, False), "paddle2": (with_paddle2, True),
    "pdpd": (with_pdpd, True),
}


def explain(name, x, y, axis):
    words = ["x".join(map(str, s)) or "scalar" for s in (x, y)]
    given = [] if axis is None else ["--axis", str(axis)]
    done = subprocess.run([COMMAND, "explain", "sub", *words, "--json",
                           "--dialect", name, *given],
                          capture_output=True, text=True)
    return json.loads(done.stdout)["dialects"][0]


def numbers(shape, factor):
    n = int(np.prod(shape))
    return np.asarray(factor * np.arange(n, dtype="f4").reshape(shape))


def compare(name, run, x_shape, y_shape, axis):
    """One pair: "same", "refused", "undefined" or "DIFFERENT"."""
    said = explain(name, x_shape, y_shape, axis)
    if said["verdict"] == "undefined":
        return "undefined"
    x, y = numbers(x_shape, 1), numbers(y_shape, 100)
    try:
        result = run(x, y, axis)
    except Exception:
        return "refused" if said["verdict"] == "illegal" else "DIFFERENT"
    if said["verdict"] == "illegal":
        return "DIFFERENT"
    placed = eval(said["numpy"], {"x": x, "y": y})
    expected = placed - y if said["numpy"][0] == "x" else x - placed
    same = (list(result.shape) == said["shape"]
            and np.array_equal(result, expected))
    return "same" if same else "DIFFERENT"


def main():
    name = sys.argv[1]
    rank = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    run, takes_axis = SYSTEMS[name]
    axes = list(range(-3, rank + 2)) if takes_axis else [None]
    if name == "pdpd":
        axes = [0]
    found = {}
    for x, y in itertools.product(shapes(rank), repeat=2):
        for axis in axes:
            what = compare(name, run, x, y, axis)
            found[what] = found.get(what, 0) + 1
            if what == "DIFFERENT":
                print(x, y, axis)
    print(name, ", ".join(f"{n} {what}" for what, n in sorted(found.items())))
    sys.exit("DIFFERENT" in found)


main()
