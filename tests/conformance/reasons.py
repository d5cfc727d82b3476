"""Why a framework's result is not the library's: a keyword for each, which
stands in doc/conformance.md, and the condition that must hold for it."""

import itertools
import math
from fractions import Fraction

import contract
import slopes
from vectors import FORMATS, decode, encode, kind, same, size

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
        self.x_bits, self.y_bits, self.out_bits = x, y, out
        self.x, self.y = decode(x_type, x), decode(y_type, y)
        self.out, self.ours = decode(out_type, out), decode(right, ours)


def parts(value):
    return [value.real, value.imag] if isinstance(value, complex) else [value]


def zero_sign(d):
    """The values are equal, so all that differs is the sign of a zero."""
    return d.out == d.ours and 0 in parts(d.out)


def close(d, value, ulp):
    """The framework's result and the value are finite and differ by so many
    units in the last place; of the operands, for logaddexp."""
    if not (math.isfinite(d.out) and math.isfinite(value)):
        return False
    digits, least, _ = FORMATS[d.right]
    most = max(abs(float(value)), *(abs(float(v)) if d.op == "logaddexp" and
                                    math.isfinite(v) else 0
                                    for v in (d.x, d.y)))
    exponent = max(math.frexp(most)[1], least + 1) if most else least + 1
    return abs(d.out - value) <= ulp * 2.0 ** (exponent - digits)


def near(d, ulp):
    return close(d, d.ours, ulp)


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def integer_meets_float(d):
    return kind(d.x_type) != kind(d.y_type)


def flushed(dtype, bits):
    """A number of the type, 0 of its sign if it is subnormal."""
    value = decode(dtype, bits)
    small = 0 < abs(value) < 2.0 ** FORMATS[dtype][1]
    return encode(dtype, math.copysign(0.0, value)) if small else bits


def agrees(d, bits):
    """But for the sign of a zero, and for what is not exact."""
    value = decode(d.right, bits)
    return same(d.right, d.out_bits, bits) or d.out == value or \
        d.op in ULP and close(d, value, ULP[d.op])


def flush_to_zero(d):
    """The result is right for subnormal operands that are 0, or 0 itself
    where it is subnormal; or one was taken for 0 in a comparison."""
    if kind(d.x_type) != "f":
        return False
    zero_x, zero_y = flushed(d.x_type, d.x_bits), flushed(d.y_type, d.y_bits)
    if d.op in ("max", "min") and d.out == d.y and \
            decode(d.x_type, zero_x) == decode(d.y_type, zero_y):
        return True
    if d.op == "mod" and 0 < abs(d.out) < 2.0 ** FORMATS[d.right][1]:
        return agrees(d, contract.known("fmod", d.x_type, d.y_type, d.x_bits,
                                        d.y_bits))
    some_x, some_y = {d.x_bits, zero_x}, {d.y_bits, zero_y}
    for x in some_x:
        for y in some_y:
            bits = contract.known(d.op, d.x_type, d.y_type, x, y)
            if agrees(d, bits) or kind(d.right) == "f" and agrees(
                    d, flushed(d.right, bits)):
                return True
    return False


def half(d):
    return d.right in ("f16", "bf16")


def quotient_rounded_first(d):
    rounded = decode(d.right, encode(d.right, Fraction(d.x) / Fraction(d.y)))
    return d.out == math.trunc(rounded)


def second_of_nan(d):
    """y, or the 0 that it becomes."""
    return (is_nan(d.x) or is_nan(d.y)) and \
        d.out in (d.y, decode(d.y_type, flushed(d.y_type, d.y_bits)))


def quotient_overflows(d):
    """To infinity, in the type that it is computed in."""
    most = max(FORMATS[d.right][2], 127)
    return is_nan(d.out) and math.isfinite(d.x) and math.isfinite(d.y) and \
        d.y != 0 and abs(Fraction(d.x) / Fraction(d.y)) >= 2 ** most


def complex_alpha(d):
    """y is multiplied by 1 + 0i or -1 + 0i first, and added then."""
    if kind(d.right) != "c":
        return False
    alpha = encode(d.right, 1 if d.op == "add" else -1)
    y = contract.convert(d.y_type, d.right, d.y_bits)
    return same(d.right, d.out_bits, contract.element(
        "add", d.x_type, d.right, d.x_bits,
        contract.products(d.right, alpha, y)))


def power_through_double(d):
    """Not exact there, or outside the type, which is undefined."""
    bits = min(8 * size(d.right) - (kind(d.right) == "i"), 53)
    return kind(d.right) in "iu" and (
        abs(d.y) > 2 ** 53 or abs(d.x) > 1 and
        d.y * math.log2(abs(d.x)) > bits - 1e-6)


def root_of_squares(d):
    """Infinite or 0 where a square is, and NaN is the root of infinity."""
    sum_of_squares = encode(d.right, d.x * d.x + d.y * d.y)
    total = decode(d.right, flushed(d.right, sum_of_squares))
    root = math.sqrt(total) if total < math.inf else math.nan
    return math.isnan(d.out) and math.isnan(root) or \
        d.out == total == math.inf or close(d, root, ULP["hypot"])


def infinite_sum(d):
    """NaN for equal infinities, and of a small number beside -infinity a
    multiple of the least normal."""
    if d.x == d.y and math.isinf(d.x):
        return is_nan(d.out)
    return -math.inf in (d.x, d.y) and \
        abs(d.out - d.ours) < 2.0 ** FORMATS[d.right][1]


def root_of_subnormal(d):
    """As if it were half of the least subnormal."""
    if kind(d.right) != "f":
        return False
    digits, least, _ = FORMATS["f32" if half(d) else d.right]
    return 0 < abs(d.x) < 2.0 ** FORMATS[d.x_type][1] and \
        close(d, abs(2.0 ** ((least - digits) * d.y)), 1)


def within_tolerance(d):
    return kind(d.x_type) == "f" and \
        abs(d.x - d.y) < (1e-8 if d.version < (3, 0) else 1e-15)


# keyword, operations, condition
RULES = {
    "numpy": [
        ("zero-sign", EXTREMES + ("nextafter",), zero_sign),
        ("floor-of-rounded", ("floordiv",), lambda d: near(d, 1)),
    ],
    "pytorch": [
        ("complex-alpha", ("add", "sub"), complex_alpha),
        ("zero-sign", EXTREMES + ("mod",), zero_sign),
        ("floor-of-rounded", ("floordiv",), lambda d: near(d, 1)),
        ("heaviside-nan", ("heaviside",), lambda d: is_nan(d.x) and not d.out),
        ("remainder-overflow", ("fmod", "mod"), quotient_overflows),
        ("half-steps", ("truncdiv",),
         lambda d: half(d) and quotient_rounded_first(d)),
        ("promotion", tuple(contract.COMPARISONS), integer_meets_float),
    ],
    "paddle": [
        ("max-nan", ("max", "min"), second_of_nan),
        ("zero-sign", EXTREMES + ("mod", "floordiv"), zero_sign),
        ("heaviside-nan", ("heaviside",), lambda d: is_nan(d.x) and not d.out),
        ("equal-tolerance", ("equal", "not_equal"), within_tolerance),
        ("logaddexp-infinity", ("logaddexp",), infinite_sum),
        ("hypot-overflow", ("hypot",), root_of_squares),
        ("flush-to-zero", tuple(contract.OPERATIONS), flush_to_zero),
        ("pow-subnormal", ("pow",), root_of_subnormal),
        ("bf16-truncated", ("add", "sub", "mul", "div", "pow", "mod"),
         lambda d: d.version == (2, 6) and d.right == "bf16" and near(d, 2)),
        ("div-inexact", ("div",),
         lambda d: kind(d.right) == "f" and near(d, 2)),
        ("fmax-of-integers", ("fmax", "fmin"), lambda d: kind(d.right) == "i"),
        ("floor-of-rounded", ("floordiv",), lambda d: near(d, 1)),
        ("integer-power", ("pow",), power_through_double),
    ],
}
RULES["onnx"] = RULES["numpy"]  # whose reference computes with it


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


class Slope(Difference):
    """dx (0) or dy (1) of one element that differs."""

    def __init__(self, suite, op, dtype, row, which, ours):
        super().__init__(suite, op, dtype, dtype, row[0], row[1], dtype,
                         row[3 + which], dtype, ours)
        self.row, self.which = row, which

    def agrees(self, bits):
        value = decode(self.right, bits)
        return same(self.right, self.out_bits, bits) or (
            self.op in SLOPE_ULP and self.out != value and
            close(self, value, SLOPE_ULP[self.op]))


def has_nan(s):
    return is_nan(s.x) or is_nan(s.y)


def half_of_tie(s):
    """Also of subnormal operands that count as 0."""
    x, y = (decode(s.right, flushed(s.right, bits)) for bits in s.row[:2])
    return x == y and s.out == decode(s.right, s.row[2]) / 2


def has_infinity(s):
    return math.isinf(s.x) or math.isinf(s.y)


def flushed_slope(s):
    """As flush_to_zero()."""
    pairs = [{bits, flushed(s.right, bits)} for bits in s.row[:3]]
    for x, y, g in itertools.product(*pairs):
        values = slopes.element(s.op, s.right, x, y, g)
        for bits in values and (values[s.which],
                                flushed(s.right, values[s.which])) or ():
            if s.agrees(bits) or s.out == decode(s.right, bits):
                return True
    return False


def log_of_zero(s):
    """Infinite, and times 0 NaN, as is 0 times a power of -1; also of a
    subnormal x or y."""
    x, y = (decode(s.right, flushed(s.right, bits)) for bits in s.row[:2])
    if s.version >= (3, 0):
        return False
    if s.which:
        return x == 0 and not math.isfinite(s.out)
    return y == 0 and (x == 0 or is_nan(x)) and is_nan(s.out)


def steps(s):
    """What is computed on the way where the formula is taken as it stands."""
    x, y, g = s.x, s.y, decode(s.right, s.row[2])
    if s.op == "pow":
        power, less = contract.power(x, y), contract.power(x, y - 1)
        return [power, less, g * y, g * less, y * less, g * power]
    if s.op == "atan2":
        squares = [x * x, y * y, x * x + y * y]
        return squares + [contract._divide(1.0, squares[2]), g * x, g * y]
    h = math.hypot(x, y)
    return [h, g * x, g * y]


def out_of_range(s):
    """A step becomes infinite or subnormal, or 0 without a 0."""
    _, least, most = FORMATS[s.right]
    return any(abs(step) >= 2.0 ** most * 2 or 0 < abs(step) < 2.0 ** least or
               step == 0 and 0 not in (s.x, s.y) for step in steps(s))


def slope_of_subnormal(s):
    """As root_of_subnormal(), of x^(y-1)."""
    digits, least, _ = FORMATS[s.right]
    power = contract.power(2.0, (least - digits) * (s.y - 1))
    return s.which == 0 and 0 < s.x < 2.0 ** least and \
        close(s, decode(s.right, s.row[2]) * s.y * power, 1)


# keyword, operations, condition
SLOPE_RULES = {
    "pytorch": [
        ("tie", ("max", "min"), half_of_tie),
        ("slope-of-nan", ("max", "min"), has_nan),
        ("slope-of-nan", ("copysign",), lambda s: is_nan(s.x)),
        ("slope-at-infinity", ("mod", "fmod"), lambda s: math.isinf(s.x)),
        ("slope-at-infinity", ("atan2", "copysign", "logaddexp"),
         has_infinity),
        ("slope-at-origin", ("hypot",), lambda s: s.x == s.y == 0),
        ("slope-out-of-range", ("pow", "atan2", "hypot"), out_of_range),
    ],
    "paddle": [
        ("tie", ("max", "min"), half_of_tie),
        ("slope-of-nan", ("max", "min"), has_nan),
        ("flush-to-zero", tuple(slopes.DIFFERENTIABLE), flushed_slope),
        ("slope-of-zero-power", ("pow",), log_of_zero),
        ("pow-subnormal", ("pow",), slope_of_subnormal),
        ("slope-out-of-range", ("pow",), out_of_range),
    ],
}
# As in tools/replay.c
SLOPE_ULP = {"div": 4, "pow": 5, "atan2": 5, "hypot": 5, "logaddexp": 5}


def slope(suite, op, dtype, row, ours):
    """As value(), for x, y, g, dx and dy: the reasons for dx and for dy."""
    if ours is None:
        return None, None
    rules = [("zero-sign", (op,), zero_sign)] + SLOPE_RULES[suite.name]
    found = []
    for which, right in enumerate(ours):
        s = Slope(suite, op, dtype, row, which, right)
        found.append(None if s.agrees(right) else next(
            (keyword for keyword, operations, condition in rules
             if op in operations and condition(s)), "?"))
    return tuple(found)


def refusal(suite, op, x_type, y_type, x, y):
    """Why the framework refuses two values that the library takes."""
    if op == "pow" and kind(y_type) == "i" and decode(y_type, y) < 0:
        return "negative-exponent"
    return None


def array(suite, op, x, y, axis, out, ours):
    """The reason that holds for a whole result, or a list of each element's,
    "?" for those without; None if nothing explains the shape."""
    if out.dtype != ours.dtype:
        return "promotion"
    if out.shape != ours.shape:
        return refused_shape(suite, op, x.shape, y.shape, axis)
    shape, wide_x, wide_y = contract.broadcast(x.shape, y.shape, axis)
    found = [value(suite, op, x.dtype, y.dtype, a, b, out.dtype, theirs,
                   ours.dtype, contract.element(op, x.dtype, y.dtype, a, b))[0]
             for (a, b), theirs in zip(
                 contract.pairs(x, y, shape, wide_x, wide_y), out.bits)]
    if suite.name == "paddle" and op == "heaviside" and \
            len(x.shape) < len(y.shape):
        found = [reason and "heaviside-swapped" for reason in found]
    return found


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
