"""Why a framework's result is not the library's: a keyword for each, which
stands in doc/conformance.md, and the condition that must hold for it."""

import math

import contract
from vectors import FORMATS, decode, kind, same

# As in tools/replay.c
ULP = {"pow": 5, "atan2": 5, "hypot": 2, "logaddexp": 3}

EXTREMES = ("max", "min", "fmax", "fmin")


class Difference:
    """One element that differs."""

    def __init__(self, suite, op, x_type, y_type, x, y, out_type, out, right,
                 ours):
        self.framework, self.op = suite.name, op
        self.version = tuple(int(n) for n in suite.version.split(".")[:2])
        self.x_type, self.y_type = x_type, y_type
        self.out_type, self.right = out_type, right
        self.x, self.y = decode(x_type, x), decode(y_type, y)
        self.out, self.ours = decode(out_type, out), decode(right, ours)


def parts(value):
    return [value.real, value.imag] if isinstance(value, complex) else [value]


def zero_sign(d):
    """The values are equal, so all that differs is the sign of a zero."""
    return d.out == d.ours and 0 in parts(d.out)


def near(d, ulp):
    """Both are finite and differ by so many units in the last place; of the
    operands, for logaddexp."""
    if not (math.isfinite(d.out) and math.isfinite(d.ours)):
        return False
    digits, least, _ = FORMATS[d.right]
    most = max(abs(float(d.ours)), *(abs(float(v)) if d.op == "logaddexp" and
                                     math.isfinite(v) else 0
                                     for v in (d.x, d.y)))
    exponent = max(math.frexp(most)[1], least + 1)
    return abs(d.out - d.ours) <= ulp * 2.0 ** (exponent - digits)


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def integer_meets_float(d):
    return kind(d.x_type) != kind(d.y_type)


def subnormal(d):
    """An operand or the result lies between 0 and the least normal number."""
    if kind(d.x_type) != "f":
        return False
    least = 2.0 ** FORMATS[d.x_type][1]
    return any(0 < abs(v) < least for v in (d.x, d.y, d.ours)
               if not isinstance(v, bool))


def half(d):
    return d.right in ("f16", "bf16")


def nan_operand(d):
    return is_nan(d.x) or is_nan(d.y)


def overflows(d):
    """x / y is not finite in the type."""
    most = FORMATS[d.right][2]
    return math.isfinite(d.x) and d.y != 0 and \
        abs(d.x) >= abs(d.y) * 2.0 ** min(most + 1, 1023) or \
        d.right == "f64" and abs(d.y) < 1e-300


# keyword, operations, condition
RULES = {
    "numpy": [
        ("zero-sign", EXTREMES + ("nextafter",), zero_sign),
        ("floor-of-rounded", ("floordiv",), lambda d: near(d, 1)),
    ],
    "pytorch": [
        ("sub-alpha", ("sub",), lambda d: kind(d.right) == "c"),
        ("zero-sign", EXTREMES + ("mod", "add"), zero_sign),
        ("floor-of-rounded", ("floordiv",), lambda d: near(d, 1)),
        ("heaviside-nan", ("heaviside",), lambda d: is_nan(d.x)),
        ("half-steps", ("truncdiv", "floordiv", "mod"), half),
        ("remainder-overflow", ("fmod", "mod"),
         lambda d: is_nan(d.out) and overflows(d)),
        ("promotion", tuple(contract.COMPARISONS), integer_meets_float),
    ],
    "paddle": [
        ("flush-to-zero", tuple(contract.OPERATIONS), subnormal),
        ("bf16-truncated", ("add", "sub", "mul", "div", "pow", "mod"),
         lambda d: d.version == (2, 6) and d.right == "bf16" and near(d, 2)),
        ("div-inexact", ("div",), lambda d: kind(d.right) == "f" and near(d, 2)),
        ("remainder-overflow", ("mod", "floordiv"),
         lambda d: is_nan(d.out) and overflows(d)),
        ("zero-sign", EXTREMES + ("mod", "floordiv"), zero_sign),
        ("max-nan", ("max", "min"), nan_operand),
        ("fmax-of-integers", ("fmax", "fmin"), lambda d: kind(d.right) == "i"),
        ("floor-of-rounded", ("floordiv",), lambda d: near(d, 1)),
        ("heaviside-nan", ("heaviside",), lambda d: is_nan(d.x)),
        ("equal-tolerance", ("equal", "not_equal"),
         lambda d: kind(d.x_type) == "f" and abs(d.x - d.y) < 1e-8),
        ("integer-power", ("pow",), lambda d: kind(d.right) in "iu"),
        ("pow-nan", ("pow",), lambda d: kind(d.right) == "f" and not near(d, 9)),
        ("hypot-overflow", ("hypot",),
         lambda d: abs(d.x) * abs(d.y) == 0 or not near(d, 9)),
    ],
}


def value(suite, op, x_type, y_type, x, y, out_type, out, right, ours):
    """(reason, our bits): reason is None if they agree, "?" if none is known,
    "" if the case is of no use. Results that are not exact are left to the
    bounds in ULP."""
    if out_type != right:
        return ("promotion" if ours is not None else ""), ours
    inexact = ours is None
    if inexact:
        ours = contract.approximate(op, x_type, y_type, x, y)
    if ours is None or same(right, out, ours):
        return None, ours
    d = Difference(suite, op, x_type, y_type, x, y, out_type, out, right, ours)
    if inexact and d.out != d.ours and near(d, ULP[op]):
        return None, ours
    for keyword, operations, condition in RULES.get(suite.name, []):
        if op in operations and condition(d):
            return keyword, ours
    return "?", ours


def infinite(x, y):
    return math.isinf(x) or math.isinf(y)


# keyword, operations, condition on the operands
SLOPE_RULES = {
    "pytorch": [
        ("tie", ("max", "min"), lambda x, y: x == y),
        ("slope-of-nan", ("max", "min"),
         lambda x, y: math.isnan(x) or math.isnan(y)),
        ("slope-of-nan", ("copysign",), lambda x, y: math.isnan(x)),
        ("slope-at-infinity", ("mod", "fmod"), lambda x, y: math.isinf(x)),
        ("slope-at-infinity", ("atan2", "copysign", "logaddexp"), infinite),
        ("slope-at-origin", ("hypot",), lambda x, y: x == y == 0),
    ],
    "paddle": [
        ("slope-of-nan", ("max", "min"),
         lambda x, y: math.isnan(x) or math.isnan(y)),
        ("slope-of-zero-power", ("pow",), lambda x, y: x == 0 or y == 0),
    ],
}
# As in tools/replay.c
SLOPE_ULP = {"div": 4, "pow": 5, "atan2": 5, "hypot": 5, "logaddexp": 5}


def slope(suite, op, dtype, row, ours):
    """As value(), for x, y, g, dx and dy."""
    if ours is None:
        return None
    x, y = decode(dtype, row[0]), decode(dtype, row[1])
    good, only_zeros = True, True
    for found, right in zip(row[3:], ours):
        d = Difference(suite, op, dtype, dtype, row[0], row[1], dtype, found,
                       dtype, right)
        agrees = same(dtype, found, right) or (
            op in SLOPE_ULP and d.out != d.ours and near(d, SLOPE_ULP[op]))
        good &= agrees
        only_zeros &= agrees or zero_sign(d)
    if good:
        return None
    if only_zeros:
        return "zero-sign"
    for keyword, operations, condition in SLOPE_RULES.get(suite.name, []):
        if op in operations and condition(x, y):
            return keyword
    return "?"


def refusal(suite, op, x_type, y_type, x, y):
    """Why the framework refuses two values that the library takes."""
    if op == "pow" and kind(y_type) == "i" and decode(y_type, y) < 0:
        return "negative-exponent"
    return None


def array(suite, op, x, y, axis, out, ours):
    """The reason that holds for every element of a whole result."""
    if out.dtype != ours.dtype:
        return "promotion"
    if out.shape != ours.shape:
        return refused_shape(suite, op, x.shape, y.shape, axis)
    if suite.name == "paddle" and op == "heaviside" and \
            len(x.shape) < len(y.shape):
        return "heaviside-swapped"
    found = set()
    shape, wide_x, wide_y = contract.broadcast(x.shape, y.shape, axis)
    meets = contract.pairs(x, y, shape, wide_x, wide_y)
    for (a, b), theirs, right in zip(meets, out.bits, ours.bits):
        found.add(value(suite, op, x.dtype, y.dtype, a, b, out.dtype, theirs,
                        ours.dtype, right)[0])
    found.discard(None)
    return found.pop() if len(found) == 1 and "?" not in found else None


def refused_shape(suite, op, x_shape, y_shape, axis):
    """Why the framework refuses shapes that the library takes, or takes
    others."""
    small = min(x_shape, y_shape, key=len) if len(x_shape) != len(y_shape) \
        else y_shape
    if suite.name == "paddle" and op in ("atan2", "nextafter"):
        return "no-broadcasting"
    if suite.name == "paddle" and 0 in x_shape + y_shape:
        return "zero-size"
    if suite.name == "paddle" and axis >= 0:
        if all(extent == 1 for extent in small):
            return "axis-of-one-element"
        if len(x_shape) == len(y_shape) and axis > 0:
            return "axis-of-equal-ranks"
    return None


def show(x_type, y_type, x, y, out_type, out, right, ours):
    return (x_type, decode(x_type, x), y_type, decode(y_type, y), "gives",
            out_type, decode(out_type, out), "not", right,
            None if ours is None else decode(right, ours))
