"""Operands: shapes, axes and values that are telling, the same every time."""

import itertools
import math
import random

from contract import Refused, broadcast
from vectors import FORMATS, Array, encode, encode_float, kind, size

SEED = 20260101
LAYOUTS_GO_BACKWARDS = True  # PyTorch and Paddle have no negative strides


def generator(*names):
    """Random numbers that depend on the names alone."""
    return random.Random(":".join(str(n) for n in (SEED,) + names))


def special_floats(dtype):
    digits, least, most = FORMATS[dtype]
    tiny = 2.0 ** (least - digits + 1) if dtype != "f64" else 5e-324
    largest = (2 - 2.0 ** (1 - digits)) * 2.0 ** most
    positive = [0.0, tiny, 2.0 ** least, 0.1, 0.5, 1.0, 1 + 2.0 ** (1 - digits),
                1.5, 2.0, 2.5, 3.0, 7.0, 2.0 ** digits, largest, float("inf")]
    values = positive + [-v for v in positive] + [float("nan")]
    return [encode_float(dtype, v) for v in values]


def special_integers(dtype):
    width = 8 * size(dtype)
    top = 1 << (width - (kind(dtype) == "i"))
    values = [0, 1, 2, 3, 7, 8, width - 1, width, top - 1, top - 2, top // 2]
    if kind(dtype) == "i":
        values += [-1, -2, -3, -7, -width, -top, -top + 1, -top // 2]
    return [encode(dtype, v) for v in dict.fromkeys(values)]


def specials(dtype):
    k = kind(dtype)
    if k == "b":
        return [0, 1]
    if k in "iu":
        return special_integers(dtype)
    if k == "f":
        return special_floats(dtype)
    real = special_floats("f32" if dtype == "c64" else "f64")
    some = [real[i] for i in (0, 3, 5, 8, 15, 20, 24)]
    return list(itertools.product(some, some))


def edges(dtype):
    """The values of which all pairs are asked, at most 16: of floats every
    class of both signs, and bases and exponents of every kind for pow."""
    k = kind(dtype)
    if k == "b":
        return [0, 1]
    if k == "c":
        real = "f32" if dtype == "c64" else "f64"
        values = [(0, 0), (-0.0, 0), (0, -0.0), (-0.0, -0.0), (1, 0), (0, -1),
                  (1, 2), (-2.5, 0.5), (-3, -0.0), (math.inf, 0),
                  (-math.inf, 1), (1, math.inf), (math.inf, -math.inf),
                  (math.nan, 0), (1, math.nan), (math.nan, math.inf)]
        return [tuple(encode_float(real, float(part)) for part in value)
                for value in values]
    if k == "f":
        digits, least, most = FORMATS[dtype]
        tiny = 2.0 ** (least - digits + 1) if dtype != "f64" else 5e-324
        largest = (2 - 2.0 ** (1 - digits)) * 2.0 ** most
        values = [0.0, -0.0, tiny, -tiny, 2.0 ** least, 0.5, 1.0, -1.0, 2.0,
                  -2.5, -3.0, largest, -largest, math.inf, -math.inf, math.nan]
        return [encode_float(dtype, v) for v in values]
    width = 8 * size(dtype)
    top = 1 << (width - (k == "i"))
    values = [0, 1, 2, 7, width - 1, width, top - 2, top - 1]
    if k == "i":
        values += [-1, -2, -7, -width, 1 - top, -top]
    return [encode(dtype, v) for v in values]


def benign(dtype, n, rng, divisor=False):
    """Small numbers whose sums and products are exact in every type."""
    k = kind(dtype)
    if k == "b":
        return [rng.randrange(2) for _ in range(n)]
    if k == "u":
        return [encode(dtype, rng.randrange(1, 10)) for _ in range(n)]
    if k == "i":
        return [encode(dtype, rng.choice([-7, -5, -3, -2, -1, 1, 2, 3, 5, 7]))
                for _ in range(n)]
    values = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
    if divisor:
        values = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]

    def real():
        return rng.choice(values) * rng.choice([1, 1, -1])
    if k == "c":
        return [encode(dtype, complex(real(), real())) for _ in range(n)]
    return [encode_float(dtype, real()) for _ in range(n)]


def shapes(least_rank, most_rank, extents):
    for rank in range(least_rank, most_rank + 1):
        yield from itertools.product(extents, repeat=rank)


# From the documents of the project, the standard, and where others went wrong
NUMPY_SHAPES = [
    ((4, 3), (4, 3)), ((4, 3), (3,)), ((4, 1), (3,)), ((4, 2, 3), ()),
    ((), (2, 3)), ((), ()), ((1,), ()), ((2, 3, 2, 2), (4, 3, 2, 2)),
    ((2, 3, 4), (3, 1)), ((2, 3, 4), (1, 1, 1)), ((4,), (1, 3)),
    ((4, 1), (1, 3)), ((2, 3, 1, 2), (3, 4, 1)), ((2, 3, 4), (2, 3, 6)),
    ((2, 1, 4), (3, 1)), ((2, 1, 4), (3, 2)), ((3, 1), (3, 1, 3)),
    ((3, 4, 1), (1, 2)), ((3, 4, 1), (2,)), ((2, 3), (3,)), ((3, 1), (3,)),
    ((3, 2), (3,)), ((0,), (2, 2)), ((0,), (1,)), ((0,), (2, 1)),
    ((0, 3), (1, 3)), ((2, 0), (2, 0)), ((1, 0), (3, 1)), ((0, 3), (2, 3)),
    ((3,), (2, 3)), ((3, 1), (2, 1, 4)), ((2, 2), (2, 2, 2)), ((5,), (5,)),
    ((1, 1, 1, 1), (2, 2)), ((2, 1, 2, 1), (1, 2, 1, 2)), ((17,), (17,)),
    ((3, 5), (3, 1)), ((2, 2, 2, 2, 2), (2, 1, 2)), ((1,) * 6, (2,)),
]


def numpy_shapes(rng, n):
    """The list above and n random pairs, legal or not."""
    everything = list(shapes(0, 3, (1, 2, 3)))
    return NUMPY_SHAPES + [(rng.choice(everything), rng.choice(everything))
                           for _ in range(n)]


def axis_triples(rng, n):
    """Pairs with an axis, two of three legal, none whose shapes are equal."""
    everything = list(shapes(0, 4, (1, 2, 3)))
    seen = set()
    while len(seen) < n:
        x, y = rng.choice(everything), rng.choice(everything)
        axis = rng.randrange(0, max(len(x), len(y), 1) + 1)
        try:
            broadcast(x, y, axis)
            legal = True
        except Refused:
            legal = False
        if x != y and (legal or rng.random() < 0.004):
            seen.add((x, y, axis))
    return sorted(seen)


def ordinary(dtype, n, rng):
    """Values of all digits and moderate size, for what is not exact: complex
    powers lose as many digits as their exponent has."""
    low, high = (-1, 1) if kind(dtype) == "c" else (-4, 4)

    def real(real_type):
        value = rng.uniform(1, 2) * 2.0 ** rng.randrange(low, high)
        return encode_float(real_type, value * rng.choice([1, 1, 1, -1]))
    if kind(dtype) == "c":
        part = "f32" if dtype == "c64" else "f64"
        return [(real(part), real(part)) for _ in range(n)]
    if kind(dtype) != "f":
        return [encode(dtype, rng.randrange(1, 64)) for _ in range(n)]
    return [real(dtype) for _ in range(n)]


def layouts(array, rng):
    """The same array, sometimes transposed, with gaps or backwards."""
    backwards = [1, 1, -1] if LAYOUTS_GO_BACKWARDS else [1]
    order = list(range(len(array.shape)))
    rng.shuffle(order)
    strides, reach = [0] * len(order), 1
    for k in order:
        stride = reach * rng.choice([1, 1, 2])
        strides[k] = stride * rng.choice(backwards)
        reach = stride * max(array.shape[k], 1)
    return Array(array.dtype, array.shape, array.bits, tuple(strides))
