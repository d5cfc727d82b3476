"""Paddle's answers, of any version whose operators can be called with axis."""

import numpy as np
import paddle

import contract
from cases import Suite
from vectors import Array, Writer, encode, kind, size

DTYPES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32",
          "i64": "int64", "u8": "uint8", "f16": "float16", "bf16": "uint16",
          "f32": "float32", "f64": "float64", "c64": "complex64",
          "c128": "complex128"}
CODES = {"bool": "?", "bf16": "u2"}  # of NumPy, where the name is another
TYPE_NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
# The operations that have axis to this day, and their operators
AXIS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "max": "max",
        "min": "min", "pow": "pow", "mod": "mod", "floordiv": "floordiv"}
NAMES = {"fmax": "fmax", "fmin": "fmin", "heaviside": "heaviside",
         "atan2": "atan2", "hypot": "hypot", "copysign": "copysign",
         "nextafter": "nextafter", "logaddexp": "logaddexp",
         "equal": "equal", "not_equal": "not_equal", "less_than": "less_than",
         "less_equal": "less_equal", "greater_than": "greater_than",
         "greater_equal": "greater_equal", "logical_and": "logical_and",
         "logical_or": "logical_or", "logical_xor": "logical_xor",
         "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
         "bitwise_xor": "bitwise_xor",
         "bitwise_left_shift": "bitwise_left_shift",
         "bitwise_right_shift": "bitwise_right_shift"}


def to_paddle(array):
    bits = array.bits
    if kind(array.dtype) == "c":
        bits = [b for pair in bits for b in pair]
    code = CODES.get(array.dtype, DTYPES[array.dtype])
    flat = np.array(bits, f"u{size(array.dtype)}").view(code)
    # Paddle takes NumPy's uint16 for bfloat16
    return paddle.to_tensor(flat.reshape(array.shape))


def from_paddle(result, name=None):
    value = np.ascontiguousarray(result.numpy()).reshape(result.shape)
    name = name or TYPE_NAMES[value.dtype]
    flat = value.reshape(-1).view(f"u{size(name)}")
    bits = [int(b) for b in flat]
    if kind(name) == "c":
        bits = list(zip(bits[::2], bits[1::2]))
    return Array(name, value.shape, bits)


def call(op, x, y, axis):
    if op in AXIS:
        operator = getattr(paddle._legacy_C_ops, "elementwise_" + AXIS[op])
        return operator(x, y, "axis", axis)
    return getattr(paddle, NAMES[op])(x, y)


def run(op, x, y, axis):
    try:
        return from_paddle(call(op, to_paddle(x), to_paddle(y), axis))
    except (RuntimeError, ValueError, TypeError, OverflowError):
        return None


def supports(op, x, y):
    if x not in DTYPES or y not in DTYPES or x != y:
        return False
    if op not in AXIS and not hasattr(paddle, NAMES.get(op, "?")):
        return False
    try:
        contract.result_type(op, x, y)
    except contract.Refused:
        return False
    one = Array(x, (1,), [(0, 0) if kind(x) == "c" else 1])
    out = run(op, one, one, -1)
    return out is not None and kind(out.dtype) == \
        kind(contract.result_type(op, x, y))


def overhangs(x, y, axis):
    """Paddle 3 writes beyond its arrays then, and 2 returns what has no
    meaning."""
    return axis >= 0 and len(x) != len(y) and \
        axis + min(len(x), len(y)) > max(len(x), len(y))


class PaddleSuite(Suite):
    def slope_shape(self, op, dtype, x_shape, y_shape, axis):
        refused = axis > 0 and len(x_shape) == len(y_shape)
        if not overhangs(x_shape, y_shape, axis) and not refused:
            super().slope_shape(op, dtype, x_shape, y_shape, axis)

    def shape(self, op, dtype, x_shape, y_shape, axis, change=None):
        if not overhangs(x_shape, y_shape, axis):
            super().shape(op, dtype, x_shape, y_shape, axis, change)


def main(path):
    paddle.set_device("cpu")
    paddle.disable_signal_handler()
    writer = Writer(path, f"paddle {paddle.__version__}",
                    ["made by tests/conformance/generate.py"])
    suite = PaddleSuite("paddle", paddle.__version__, writer, run, supports,
                        contract.wraps)
    dtypes = list(DTYPES)
    suite.axis(AXIS, ["f32", "f64", "i32", "i64"], 190)
    for op in AXIS:
        for dtype in ["f32", "i32"]:
            suite.edges(op, dtype, 0)
    near_zero = [1e-7, 2e-8, 9e-9, 1e-12, 2e-15, 9e-16, 1e-20]
    for op in ["equal", "not_equal"]:
        for dtype in ["f32", "f64"]:
            suite.pairs(op, dtype, dtype, [
                (encode(dtype, value + about), encode(dtype, about))
                for value in near_zero for about in (0.0, 0.03125)])
    suite.forward(dtypes, 24, 12, 4)
    writer.close()
    return suite.unexplained


def grad(op, x, y, g, axis):
    a, b = to_paddle(x), to_paddle(y)
    a.stop_gradient = b.stop_gradient = False
    try:
        dx, dy = paddle.grad([call(op, a, b, axis)], [a, b], [to_paddle(g)])
        return from_paddle(dx), from_paddle(dy)
    except (RuntimeError, ValueError, AttributeError):
        return None  # of no elements it is None


def gradients(path):
    paddle.set_device("cpu")
    paddle.disable_signal_handler()
    writer = Writer(path, f"paddle {paddle.__version__} gradients",
                    ["made by tests/conformance/generate.py"])
    suite = PaddleSuite("paddle", paddle.__version__, writer, run, supports)
    suite.grad = grad
    if paddle.__version__ > "3":  # the same but for special values
        shapes, axes = 0, 0
    else:
        shapes, axes = 20, 160
    suite.gradients(["add", "sub", "mul", "div"], ["f32", "f64"], 16, shapes,
                    axes)
    suite.gradients(["max", "min", "pow", "fmax", "fmin", "heaviside"],
                    ["f32", "f64"], 32, shapes // 2, 0)
    writer.close()
    return suite.unexplained
