"""PyTorch's answers."""

import numpy as np
import torch

import contract
import operands
import slopes
from cases import Suite
from vectors import Array, Writer, kind, size

DTYPES = {"bool": torch.bool, "i8": torch.int8, "i16": torch.int16,
          "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
          "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
          "f64": torch.float64, "c64": torch.complex64,
          "c128": torch.complex128}
TYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
# PyTorch has no unsigned tensors of its own for all of these
CARRIERS = {1: (np.uint8, torch.uint8), 2: (np.int16, torch.int16),
            4: (np.int32, torch.int32), 8: (np.int64, torch.int64)}

FUNCTIONS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul,
    "max": torch.maximum, "min": torch.minimum, "pow": torch.pow,
    "mod": torch.remainder, "floordiv": torch.floor_divide,
    "fmax": torch.fmax, "fmin": torch.fmin, "heaviside": torch.heaviside,
    "truncdiv": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "fmod": torch.fmod, "atan2": torch.atan2, "hypot": torch.hypot,
    "copysign": torch.copysign, "nextafter": torch.nextafter,
    "logaddexp": torch.logaddexp, "equal": torch.eq, "not_equal": torch.ne,
    "less_than": torch.lt, "less_equal": torch.le, "greater_than": torch.gt,
    "greater_equal": torch.ge, "logical_and": torch.logical_and,
    "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
    "bitwise_left_shift": torch.bitwise_left_shift,
    "bitwise_right_shift": torch.bitwise_right_shift,
}


def divide(x, y):
    """Integers are divided as in C; floats as they are."""
    if x.dtype.is_floating_point or x.dtype.is_complex or \
            y.dtype.is_floating_point or y.dtype.is_complex:
        return torch.div(x, y)
    return torch.div(x, y, rounding_mode="trunc")


FUNCTIONS["div"] = divide


def to_torch(array):
    bits = array.bits
    if kind(array.dtype) == "c":
        bits = [b for pair in bits for b in pair]
    carrier = CARRIERS[size(array.dtype)][0]
    flat = torch.from_numpy(np.array(bits, f"u{size(array.dtype)}")
                            .view(carrier).copy())
    flat = flat.view(DTYPES[array.dtype]) if len(bits) else \
        torch.empty(0, dtype=DTYPES[array.dtype])
    dense = flat.reshape(array.shape)
    if array.strides is None:
        return dense
    reach = sum((n - 1) * s for n, s in zip(array.shape, array.strides))
    base = torch.zeros(reach + 1, dtype=dense.dtype)
    out = torch.as_strided(base, array.shape, array.strides)
    out.copy_(dense)
    return out


def from_torch(result):
    name = TYPE_NAMES[result.dtype]
    result = result.detach().resolve_conj().resolve_neg()
    flat = result.contiguous().reshape(-1)
    if not flat.numel():
        return Array(name, result.shape, [])
    flat = flat.view(CARRIERS[size(name)][1]).numpy()
    bits = [int(b) for b in flat.view(f"u{size(name)}")]
    if kind(name) == "c":
        bits = list(zip(bits[::2], bits[1::2]))
    return Array(name, result.shape, bits)


def run(op, x, y, axis):
    try:
        return from_torch(FUNCTIONS[op](to_torch(x), to_torch(y)))
    except RuntimeError:
        return None


def supports(op, x, y):
    if x not in DTYPES or y not in DTYPES:
        return False
    try:
        contract.result_type(op, x, y)
    except contract.Refused:
        return False
    one = torch.ones(1)
    try:
        FUNCTIONS[op](one.to(DTYPES[x]), one.to(DTYPES[y]))
        return True
    except (RuntimeError, NotImplementedError):
        return False


def avoid(op, x, *others):
    """The processor traps where the quotient is none."""
    return op in ("div", "truncdiv") and size(x) >= 4 and \
        contract.wraps(op, x, *others)


def main(path):
    torch.set_num_threads(1)
    operands.LAYOUTS_GO_BACKWARDS = False
    version = torch.__version__.split("+")[0]
    writer = Writer(path, f"pytorch {version}",
                    ["made by tests/conformance/generate.py"])
    suite = Suite("pytorch", version, writer, run, supports, avoid)
    dtypes = list(DTYPES)
    suite.forward(dtypes, 32, 16, 7)
    suite.faults(dtypes)
    suite.mixed(dtypes, list(FUNCTIONS), 4)
    suite.strided(dtypes, [((2, 3), (2, 3)), ((2, 3, 2), (3, 1)),
                           ((4, 1), (1, 3)), ((3, 2, 2), (2, 2))] * 3)
    writer.close()
    return suite.unexplained


def grad(op, x, y, g, axis):
    """By autograd, through reshapes where there is an axis."""
    _, wide_x, wide_y = contract.broadcast(x.shape, y.shape, axis)
    a, b = to_torch(x).requires_grad_(), to_torch(y).requires_grad_()
    out = FUNCTIONS[op](a.reshape(wide_x), b.reshape(wide_y))
    if not out.requires_grad:
        return None
    try:
        out.backward(to_torch(g))
    except RuntimeError:
        return None
    if a.grad is None or b.grad is None:
        return None
    return from_torch(a.grad), from_torch(b.grad)


def gradients(path):
    torch.set_num_threads(1)
    version = torch.__version__.split("+")[0]
    writer = Writer(path, f"pytorch {version} autograd",
                    ["made by tests/conformance/generate.py"])
    suite = Suite("pytorch", version, writer, run, supports)
    suite.grad = grad
    suite.gradients(slopes.DIFFERENTIABLE, ["f32", "f64"], 20, 14, 40)
    suite.gradients(["add", "sub", "mul", "div", "pow"], ["c64", "c128"], 0,
                    0, 0)
    writer.close()
    return suite.unexplained
