"""What the library promises, computed one element at a time.

Written from doc/operations.md and doc/broadcasting.md with Python's exact
integers and fractions, so that a case in which a framework differs carries
the value that is right here. It shares nothing with lib/.
"""

import math
from fractions import Fraction

from vectors import (FORMATS, Array, decode, encode, encode_float, kind, size)

COMPARISONS = {
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "less_than": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater_than": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
}
LOGIC = {
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
}
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
           "bitwise_right_shift"]
ARITHMETIC = ["add", "sub", "mul", "div", "max", "min", "pow", "mod",
              "floordiv", "fmax", "fmin", "heaviside", "truncdiv", "fmod"]
MATH = ["atan2", "hypot", "copysign", "nextafter", "logaddexp"]
OPERATIONS = (ARITHMETIC + MATH + list(COMPARISONS) + list(LOGIC) + BITWISE)
DIVISIONS = ["div", "mod", "floordiv", "truncdiv", "fmod"]

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]


class Refused(Exception):
    """The status that the library returns."""


def takes(op, dtype):
    """Whether an operation takes a (promoted) type."""
    k = kind(dtype)
    if op in ("add", "mul") or op in LOGIC or op in ("equal", "not_equal"):
        return True
    if op in ("max", "min") or op in COMPARISONS:
        return k != "c"
    if op in ("sub", "div", "pow"):
        return k != "b"
    if op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return k in "iub"
    if op in BITWISE:
        return k in "iu"
    return k == "f" if op in MATH else k in "iuf"


def promote(x, y):
    if x == y:
        return x
    kinds = kind(x) + kind(y)
    if kinds[0] == "b":
        return y
    if kinds[1] == "b":
        return x
    if "c" in kinds:
        wide = any(t in ("c128", "f64", "i32", "i64", "u32", "u64")
                   for t in (x, y))
        return "c128" if wide else "c64"
    if kinds == "ff":
        return "f64" if "f64" in (x, y) else "f32"
    if "f" in kinds:
        real, whole = (x, y) if kinds[0] == "f" else (y, x)
        least = {1: real, 2: "f32", 4: "f64", 8: "f64"}[size(whole)]
        return promote(real, least)
    if kinds[0] == kinds[1]:
        return x if size(x) > size(y) else y
    signed, unsigned = (x, y) if kinds[0] == "i" else (y, x)
    if size(signed) > size(unsigned):
        return signed
    return {1: "i16", 2: "i32", 4: "i64", 8: "f64"}[size(unsigned)]


def wraps(op, x_type, y_type, x, y):
    """Whether the smallest integer meets -1, whose quotient is none."""
    return op in DIVISIONS and kind(x_type) == "i" and \
        x == 1 << (8 * size(x_type) - 1) and decode(y_type, y) == -1


def result_type(op, x, y):
    common = promote(x, y)
    if not takes(op, common):
        raise Refused("BAD_DTYPE")
    if op in BITWISE and kind(common) == "f":
        raise Refused("BAD_DTYPE")
    return "bool" if op in COMPARISONS or op in LOGIC else common


def broadcast(x, y, axis):
    """The result's shape, and x and y filled up with 1s to its rank."""
    rank = max(len(x), len(y))
    if axis == -1:
        wide_x = (1,) * (rank - len(x)) + x
        wide_y = (1,) * (rank - len(y)) + y
    else:
        swapped = len(x) < len(y)
        big, small = (y, x) if swapped else (x, y)
        trimmed = small
        while trimmed and trimmed[-1] == 1:
            trimmed = trimmed[:-1]
        if x != y and trimmed:
            if axis < -1 or axis >= rank:
                raise Refused("BAD_AXIS")
            if axis + len(trimmed) > rank:
                raise Refused("BAD_SHAPE")
            rest = rank - axis - len(trimmed)
            trimmed = (1,) * axis + trimmed + (1,) * rest
        elif x != y:
            trimmed = (1,) * rank
        else:
            trimmed = small
        wide_x, wide_y = (trimmed, big) if swapped else (big, trimmed)
    shape = []
    for a, b in zip(wide_x, wide_y):
        if a != b and 1 not in (a, b):
            raise Refused("BAD_SHAPE")
        shape.append(b if a == 1 else a)
    return tuple(shape), wide_x, wide_y


def indices(shape):
    """All indices, the last dimension first."""
    index = [0] * len(shape)
    for _ in range(math.prod(shape)):
        yield tuple(index)
        for k in reversed(range(len(shape))):
            index[k] += 1
            if index[k] < shape[k]:
                break
            index[k] = 0


def pairs(x, y, shape, wide_x, wide_y):
    """The bits that meet at each element of the result."""
    def position(index, wide):
        at = 0
        for i, extent in zip(index, wide):
            at = at * extent + (i if extent > 1 else 0)
        return at
    for index in indices(shape):
        yield x.bits[position(index, wide_x)], y.bits[position(index, wide_y)]


# ---------------------------------------------------------------------------
# Integers


def _integer(op, dtype, x, y):
    width = 8 * size(dtype)
    if op in DIVISIONS and y == 0:
        raise Refused("DIVISION_BY_ZERO")
    if op in ("max", "fmax"):
        return max(x, y)
    if op in ("min", "fmin"):
        return min(x, y)
    if op == "heaviside":
        return y if x == 0 else int(x > 0)
    if op == "pow":
        if y >= 0:
            return pow(x, y, 1 << width)
        if x == 0:
            raise Refused("DIVISION_BY_ZERO")
        return (x if y % 2 else 1) if abs(x) == 1 else 0
    if op in ("div", "truncdiv"):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    if op == "fmod":
        return abs(x) % abs(y) * (1 if x >= 0 else -1)
    if op == "bitwise_left_shift":
        return x << y if 0 <= y < width else 0
    if op == "bitwise_right_shift":
        return x >> (y if 0 <= y < width else width)
    return {"add": x + y, "sub": x - y, "mul": x * y,
            "mod": x % y if op == "mod" else 0,
            "floordiv": x // y if op == "floordiv" else 0,
            "bitwise_and": x & y, "bitwise_or": x | y,
            "bitwise_xor": x ^ y}[op]


# ---------------------------------------------------------------------------
# Floats


def _sign(x):
    return math.copysign(1.0, x)


def _divide(x, y):
    if y != 0 or math.isnan(y):
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.inf * _sign(x) * _sign(y)


def _extreme(op, x, y):
    """max and min, and which of two zeros is the larger."""
    if math.isnan(x) or math.isnan(y):
        if op in ("max", "min"):
            return math.nan
        return y if math.isnan(x) else x
    first = (x, _sign(x)) > (y, _sign(y))
    return x if first == (op in ("max", "fmax")) else y


def _floordiv(x, y):
    if y == 0:
        return _divide(x, y)
    if math.isnan(x) or math.isnan(y) or math.isinf(x):
        return math.nan
    negative = _sign(x) != _sign(y)
    if math.isinf(y):
        return -1.0 if negative and x != 0 else -0.0 if negative else 0.0
    floor = Fraction(x) / Fraction(y) // 1
    return Fraction(floor) if floor else -0.0 if negative else 0.0


def _mod(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y):
        if x == 0:
            return math.copysign(0.0, y)
        return x if _sign(x) == _sign(y) else math.inf * _sign(y)
    rest = Fraction(x) % Fraction(y)
    return rest if rest else math.copysign(0.0, y)


def _fmod(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y):
        return x
    rest = abs(Fraction(x)) % abs(Fraction(y))
    return (-rest if x < 0 else rest) if rest else math.copysign(0.0, x)


def _heaviside(x, y):
    if math.isnan(x):
        return math.nan
    return y if x == 0 else float(x > 0)


def _nextafter(dtype, x, y):
    """In bits."""
    a, b = decode(dtype, x), decode(dtype, y)
    top = 1 << (8 * size(dtype) - 1)
    if math.isnan(a) or math.isnan(b):
        return encode_float(dtype, math.nan)
    if a == b:
        return y
    if a == 0:
        return 1 | (top if b < 0 else 0)
    return x + 1 if (a < b) == (a > 0) else x - 1


def _float(op, dtype, x, y):
    """The bits, rounded to f32 first for narrower types; None: inexact."""
    step = "f32" if dtype in ("f16", "bf16") else dtype
    a, b = decode(dtype, x), decode(dtype, y)
    if op == "nextafter":
        return _nextafter(dtype, x, y)
    if op == "copysign":
        top = 1 << (8 * size(dtype) - 1)
        return x & (top - 1) | y & top
    if op in ("max", "min", "fmax", "fmin"):
        value = _extreme(op, a, b)
    elif op == "truncdiv":
        value = decode(step, encode_float(step, _exact(a, b)))
        if math.isfinite(value):
            value = math.copysign(float(math.trunc(value)), value)
    elif op == "div":
        value = _exact(a, b)
    elif op in ("add", "sub", "mul"):
        value = {"add": a + b, "sub": a - b, "mul": a * b}[op]
    else:
        function = {"floordiv": _floordiv, "mod": _mod, "fmod": _fmod,
                    "heaviside": _heaviside}.get(op)
        if not function:
            return None
        value = function(a, b)
    bits = encode_float(step, value)
    return bits if step == dtype else encode_float(dtype, decode(step, bits))


def power(x, y):
    odd = math.isfinite(y) and y % 2 in (1, -1) and y == math.trunc(y)
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        if x == 0:
            return math.copysign(math.inf, x) if odd else math.inf
        return math.nan


def _logaddexp(x, y):
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if math.isinf(x) and x == y:
        return x
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def approximate(op, x_type, y_type, x, y):
    """A result that is not exact, from C's functions in double; None if the
    operation is complex."""
    common = promote(x_type, y_type)
    function = {"pow": power, "atan2": math.atan2, "hypot": math.hypot,
                "logaddexp": _logaddexp}.get(op)
    if not function or kind(common) != "f":
        return None
    value = function(*(decode(common, convert(t, common, b))
                       for t, b in ((x_type, x), (y_type, y))))
    return encode_float(common, value)


def known(op, x_type, y_type, x, y):
    """The bits of one result, exact if they can be; None if complex ones
    cannot."""
    exact = element(op, x_type, y_type, x, y)
    return approximate(op, x_type, y_type, x, y) if exact is None else exact


def _exact(x, y):
    """x / y, exact unless it is 0 or not finite."""
    value = _divide(x, y)
    if x == 0 or y == 0 or not (math.isfinite(x) and math.isfinite(y)):
        return value
    return Fraction(x) / Fraction(y)


# ---------------------------------------------------------------------------


def convert(source, to, bits):
    """A number of one type as one of a wider."""
    if source == to:
        return bits
    value = decode(source, bits)
    if kind(to) == "f" and not isinstance(value, float):
        return encode_float(to, Fraction(int(value)) if value else 0.0)
    return encode(to, value)


def element(op, x_type, y_type, x, y):
    """The bits of one result in its type; None where it is not exact."""
    common = promote(x_type, y_type)
    if op in COMPARISONS and kind(x_type) in "iub" and kind(y_type) in "iub":
        return int(COMPARISONS[op](int(decode(x_type, x)),
                                   int(decode(y_type, y))))
    x, y = convert(x_type, common, x), convert(y_type, common, y)
    if op in COMPARISONS or op in LOGIC:
        function = COMPARISONS.get(op) or LOGIC[op]
        return int(function(decode(common, x), decode(common, y)))
    if kind(common) == "b":
        a, b = bool(x), bool(y)
        return int(a != b if op == "bitwise_xor" else
                   a or b if op in ("add", "max", "bitwise_or") else a and b)
    if kind(common) in "iu":
        return encode(common, _integer(op, common, decode(common, x),
                                       decode(common, y)))
    if kind(common) == "c":
        return _complex(op, common, x, y)
    return _float(op, common, x, y)


def _complex(op, dtype, x, y):
    """Sums, and products that are exact or not finite; None for what is
    rounded more than once."""
    real = "f32" if dtype == "c64" else "f64"
    if op in ("add", "sub"):
        return tuple(_float(op, real, a, b) for a, b in zip(x, y))
    if op != "mul":
        return None
    steps = _products(real, x, y)
    numbers = [decode(real, part) for part in x + y]
    if not all(math.isfinite(n) for n in numbers):
        return steps[4:]
    a, b, c, d = (Fraction(n) for n in numbers)
    exact = [a * c, b * d, a * d, b * c, a * c - b * d, a * d + b * c]
    values = [decode(real, step) for step in steps]
    return steps[4:] if exact == values else None


def _products(real, x, y):
    """The four products and the two parts."""
    p = [_float("mul", real, a, b) for a, b in zip(x + x, y + y[::-1])]
    return (*p, _float("sub", real, *p[:2]), _float("add", real, *p[2:]))


def products(dtype, x, y):
    """x * y, each step rounded."""
    return _products("f32" if dtype == "c64" else "f64", x, y)[4:]


def apply(op, x, y, axis, element=element):
    """An Array, or None if it is not exact; Refused with a status."""
    dtype = result_type(op, x.dtype, y.dtype)
    shape, wide_x, wide_y = broadcast(x.shape, y.shape, axis)
    bits = [element(op, x.dtype, y.dtype, a, b)
            for a, b in pairs(x, y, shape, wide_x, wide_y)]
    return None if None in bits else Array(dtype, shape, bits)
