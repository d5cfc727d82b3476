"""The derivatives that the library promises, in double, where a framework's
are to be compared or differ. From the table of doc/operations.md."""

import math
import sys
from fractions import Fraction

import contract
from contract import _divide, _floordiv, _mod
from vectors import Array, decode, encode, kind

DIFFERENTIABLE = ["add", "sub", "mul", "div", "max", "min", "pow", "mod",
                  "floordiv", "fmax", "fmin", "heaviside", "truncdiv", "fmod",
                  "atan2", "hypot", "copysign", "logaddexp"]


def _log(x):
    return math.nan if x < 0 or math.isnan(x) else \
        -math.inf if x == 0 else math.log(x)


def _floor(x, y):
    """Infinite where the quotient is, which floordiv is not."""
    if y == 0 or math.isinf(x):
        return _divide(x, y)
    return float(_floordiv(x, y))


def _trunc(x, y):
    quotient = _divide(x, y)
    if not math.isfinite(quotient):
        return quotient
    sign = math.copysign(1, quotient)
    return sign * abs(_floor(abs(x), abs(y)))


def _sigma(x, y):
    """1 / (1 + e^(y - x))"""
    if math.isinf(x) and x == y:
        return 0.5
    d = y - x
    return 0.0 if d > 709 else 1 / (1 + math.exp(d)) if d == d else math.nan


def _float(fraction):
    try:
        return float(fraction)
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def _atan2(x, y):
    """y / (x^2 + y^2)"""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if math.isinf(x) or math.isinf(y):
        return 0.0
    if y == 0:
        return y
    a, b = Fraction(x), Fraction(y)
    return _float(b / (a * a + b * b))


def _hypot(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x):
        return math.nan
    if math.isinf(y) or x == 0:
        return math.copysign(0.0, x)
    scale = -max(math.frexp(x)[1], math.frexp(y)[1])
    return math.ldexp(x, scale) / math.hypot(math.ldexp(x, scale),
                                             math.ldexp(y, scale))


def _first(op, x, y):
    """Whether max and its like give all to x."""
    if op in ("max", "min"):
        if math.isnan(x) or math.isnan(y):
            return not math.isnan(y)
        return x > y if op == "max" else x < y
    return math.isnan(y) or (x >= y if op == "fmax" else x <= y)


def _normal(x):
    return sys.float_info.min <= abs(x) <= sys.float_info.max


def _times_power(g, a, x, n):
    """g a x^n, by exponents where a factor of it has no place in a double."""
    power = contract.power(x, n)
    slope, root, times = a * power, abs(power), 1
    if (math.isnan(power) or math.isinf(g) or math.isinf(x) or
            _normal(power) and _normal(slope)):
        return g * slope
    while not _normal(root) and times < 4:
        times *= 2
        root = contract.power(abs(x), n / times)
    parts = [math.frexp(f) for f in [g, a] + [root] * times]
    product = math.copysign(math.prod(part for part, _ in parts), 1)
    try:
        product = math.ldexp(product, sum(exponent for _, exponent in parts))
    except OverflowError:
        product = math.inf
    signs = [math.copysign(1, f) for f in (g, a, power)]
    return product * math.prod(signs)


def _real(op, dtype, x, y, g):
    """(dx, dy)"""
    if op == "add":
        return g, g
    if op == "sub":
        return g, -g
    if op == "mul":
        return g * y, g * x
    if op == "div":
        return _divide(g, y), -g * _divide(_divide(x, y), y)
    if op in ("max", "min", "fmax", "fmin"):
        return (g, 0.0) if _first(op, x, y) else (0.0, g)
    if op == "pow":
        dx = 0.0 if y == 0 else _times_power(g, y, x, y - 1)
        dy = 0.0 if x == 0 and y >= 0 else _times_power(g, _log(x), x, y)
        return dx, dy
    if op in ("mod", "fmod"):
        quotient = (_floor if op == "mod" else _trunc)(x, y)
        return g, -g * decode(dtype, encode(dtype, quotient))
    if op in ("floordiv", "truncdiv"):
        return 0.0, 0.0
    if op == "heaviside":
        return 0.0, g if x == 0 else 0.0
    if op in ("atan2", "hypot") and x == y == 0:
        return 0.0, 0.0
    if op == "atan2":
        return g * _atan2(x, y), -g * _atan2(y, x)
    if op == "hypot":
        return g * _hypot(x, y), g * _hypot(y, x)
    if op == "copysign":
        same_sign = math.copysign(1, x) == math.copysign(1, y)
        return (0.0 if x == 0 else g if same_sign else -g), 0.0
    return g * _sigma(x, y), g * _sigma(y, x)


def element(op, dtype, x, y, g):
    """The bits of (dx, dy) of one element; None where it is complex."""
    if kind(dtype) == "c":
        return None
    try:
        values = _real(op, dtype, decode(dtype, x), decode(dtype, y),
                       decode(dtype, g))
    except (OverflowError, ZeroDivisionError):
        return None
    return tuple(encode(dtype, float(v)) for v in values)
