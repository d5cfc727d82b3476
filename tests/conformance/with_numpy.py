"""NumPy's answers."""

import warnings

import numpy as np

import contract
from cases import Suite
from vectors import Array, Writer, kind, size

NAMES = {
    "add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum",
    "min": "minimum", "pow": "power", "mod": "remainder",
    "floordiv": "floor_divide", "fmax": "fmax", "fmin": "fmin",
    "heaviside": "heaviside", "fmod": "fmod", "atan2": "arctan2",
    "hypot": "hypot", "copysign": "copysign", "nextafter": "nextafter",
    "logaddexp": "logaddexp", "equal": "equal", "not_equal": "not_equal",
    "less_than": "less", "less_equal": "less_equal",
    "greater_than": "greater", "greater_equal": "greater_equal",
    "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_xor": "logical_xor", "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "div": "divide",
}
DTYPES = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
          "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "f16": "f2",
          "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}
TYPE_NAMES = {np.dtype(code): name for name, code in DTYPES.items()}


def to_numpy(array):
    if array.dtype in ("c64", "c128"):
        bits = [b for pair in array.bits for b in pair]
    else:
        bits = array.bits
    flat = np.array(bits, f"u{size(array.dtype)}").view(DTYPES[array.dtype])
    dense = flat.reshape(array.shape)
    if array.strides is None:
        return dense
    return restride(dense, array.strides)


def restride(dense, strides):
    """The same elements in an array with these strides, in elements."""
    reach = [(n - 1) * s for n, s in zip(dense.shape, strides)]
    start = -sum(r for r in reach if r < 0)
    base = np.zeros(start + sum(r for r in reach if r > 0) + 1, dense.dtype)
    out = np.lib.stride_tricks.as_strided(
        base[start:], dense.shape, [s * dense.itemsize for s in strides])
    out[...] = dense
    return out


def from_numpy(result):
    name = TYPE_NAMES[result.dtype]
    flat = np.ascontiguousarray(result).reshape(-1).view(f"u{size(name)}")
    bits = [int(b) for b in flat]
    if name in ("c64", "c128"):
        bits = list(zip(bits[::2], bits[1::2]))
    return Array(name, result.shape, bits)


def run(op, x, y, axis):
    function = getattr(np, NAMES[op])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return from_numpy(np.asarray(function(to_numpy(x), to_numpy(y))))
        except ValueError:
            return None


def supports(op, x, y):
    if op not in NAMES or "bf16" in (x, y):
        return False
    common = contract.promote(x, y)
    if op in ("div", "heaviside") and kind(common) in "iub":
        return False  # a float there
    try:
        contract.result_type(op, x, y)
        return True
    except contract.Refused:
        return False


def main(path):
    writer = Writer(path, f"numpy {np.__version__}",
                    ["made by tests/conformance/generate.py"])
    suite = Suite("numpy", np.__version__, writer, run, supports)
    dtypes = list(DTYPES)
    suite.forward(dtypes, 32, 16, 8)
    suite.faults(dtypes)
    suite.mixed(dtypes, list(NAMES), 4)
    suite.strided(dtypes, [((2, 3), (2, 3)), ((2, 3, 2), (3, 1)),
                            ((4, 1), (1, 3)), ((3, 2, 2), (2, 2))] * 3)
    writer.close()
    return suite.unexplained
