#!/usr/bin/env python3
"""Makes the coefficients of the polynomials in lib/kernels/, by Remez' method
in numbers of 50 digits (mpmath), and prints them with their largest error.

    python3 tests/accuracy/minimax.py
"""
import struct

from mpmath import mp, mpf, atan, atanh, cos, exp, log, lu_solve, matrix, pi, \
    polyval, sin, sqrt

mp.dps = 50


def extrema(error, a, b, count):
    """The places where the error turns, signs alternating, the count largest."""
    steps = 40 * count
    grid = [a + (b - a) * (1 - cos(pi * i / steps)) / 2
            for i in range(steps + 1)]
    found = []
    for x in grid:
        e = error(x)
        if found and found[-1][1] * e > 0:
            if abs(e) > abs(found[-1][1]):
                found[-1] = (x, e)
        else:
            found.append((x, e))
    while len(found) > count:
        found.pop(0 if abs(found[0][1]) < abs(found[-1][1]) else -1)
    return found


def minimax(f, a, b, degree, weight):
    """Coefficients from the lowest on, and the largest weighted error."""
    count = degree + 2
    nodes = [(a + b) / 2 - (b - a) / 2 * cos(pi * mpf(2 * i + 1) / (2 * count))
             for i in range(count)]
    for _ in range(20):
        rows, right = matrix(count, count), matrix(count, 1)
        for i, x in enumerate(nodes):
            for k in range(degree + 1):
                rows[i, k] = x**k * weight(x)
            rows[i, degree + 1] = (-1)**i
            right[i] = f(x) * weight(x)
        solved = lu_solve(rows, right)
        c = [solved[k] for k in range(degree + 1)]
        turns = extrema(lambda x: (polyval(c[::-1], x) - f(x)) * weight(x),
                        a, b, count)
        if len(turns) < count:
            break
        nodes = [x for x, _ in turns]
    return c, abs(solved[degree + 1])


def series(f, power, first):
    """f as a function of z = x^2, less its first terms, over x^power; near 0
    by the Taylor coefficients given."""
    def g(z):
        x = sqrt(z)
        return f(x) / x**power if z > mpf(10)**-16 else polyval(first[::-1], z)
    return g


def show(name, f, a, b, degree, relative=True, scale=1, over=0,
         pairs=0):
    """Prints one polynomial. scale divides its variable, and the power of it
    that the polynomial is over; the first coefficients are printed in two
    parts."""
    weight = (lambda x: 1 / f(x)) if relative else (lambda x: mpf(1))
    c, error = minimax(f, mpf(a), mpf(b), degree, weight)
    print(f"{name}: error 2^{float(log(error, 2)):.1f}"
          f"{' relative' if relative else ''}")
    for k, x in enumerate(c):
        x *= mpf(scale)**(k + over)
        low = f" + {float(x - mpf(float(x))).hex()}" if k < pairs else ""
        print(f"    {float(x).hex()}{low}")


def bits(x):
    return struct.unpack("<q", struct.pack("<d", x))[0]


def double(b):
    return struct.unpack("<d", struct.pack("<q", b))[0]


def tables():
    """Prints those of power_lanes.h; returns the interval of f there."""
    ends = [double(bits(0.703125) + (j << 48)) for j in range(17)]
    inverse = [1.0 if a <= 1 < b else float(2 / (mpf(a) + mpf(b)))
               for a, b in zip(ends, ends[1:])]
    power = [bits(float(mpf(2)**(mpf(k) / 16))) - (k << 48) for k in range(16)]
    for name, table in (
            ("ew_power_inverse", inverse),
            ("ew_power_log", [float(-log(mpf(c), 2) / 256) for c in inverse]),
            ("ew_power_power", [double(b) for b in power])):
        print(name, *(x.hex() for x in table), sep="\n    ")
    return rest(inverse, ends)


def rest(inverse, ends):
    """The interval of m * inverse[j] - 1."""
    f = [mpf(x) * c - 1 for c, a, b in zip(inverse, ends, ends[1:])
         for x in (a, b)]
    return min(f), max(f)


def short_inverse(a, b):
    """The number c of so few bits that m c - 1 is exact in double for all m of
    the interval, and smallest."""
    if a <= 1 < b:
        return 1.0
    digits = 53 if a < 1 else 52  # after the binary point of m
    best = 1.0, 1.0
    for places in range(1, 9):
        near = round(2**places * 2 / (a + b))
        for c in ((near + i) / 2**places for i in (-1, 0, 1)):
            largest = max(abs(a * c - 1), abs(b * c - 1))
            if largest <= 2.0**(53 - digits - places):
                best = min(best, (largest, c))
    return best[1]


def parts(x, step=0):
    """x as double, or as a multiple of step, and what that lacks."""
    high = round(x / step) * step if step else float(x)
    return float(high), float(x - high)


def pair_tables():
    """Prints those of power_lanes_f64.h; returns the interval of r there."""
    first = bits(1.0) - (1 << 46) - (18 << 47)
    ends = [double(first + (j << 47)) for j in range(33)]
    inverse = [short_inverse(a, b) for a, b in zip(ends, ends[1:])]
    # e log 2 + log has no more than 53 bits
    step = mpf(2)**-42
    logs = [parts(-log(mpf(c)), step) for c in inverse]
    powers = [mpf(2)**(mpf(k) / 16) for k in range(16)]
    for name, table in (
            ("first", [ends[0]]),
            ("ew_power_inverse_f64", inverse),
            ("ew_power_log_high", [high for high, _ in logs]),
            ("ew_power_log_low", [low for _, low in logs]),
            ("log 2", parts(log(2), step)),
            ("log 2 / 16", parts(log(2) / 16)),
            ("ew_power_power_high", [float(p) for p in powers]),
            ("ew_power_power_low",
             [float((p - float(p)) / float(p)) for p in powers])):
        print(name, *(x.hex() for x in table), sep="\n    ")
    return rest(inverse, ends)


def main():
    log2 = log(2)
    s = (sqrt(2) - 1) / (sqrt(2) + 1)
    artanh = series(atanh, 1, [1, mpf(1) / 3, mpf(1) / 5])
    show("log2_artanh", lambda z: 2 / log2 * artanh(z), 0, s * s, 4)
    show("log2_artanh_pair", lambda z: 2 / log2 * artanh(z), 0, s * s, 8,
         pairs=2)
    show("exp2_512", lambda t: mpf(2)**t, -0.5, 0.5, 7, scale=512)

    def exp2_rest(t):
        if abs(t) < mpf(10)**-12:
            return log2**2 / 2 + t * log2**3 / 6 + t * t * log2**4 / 24
        return (mpf(2)**t - 1 - t * log2) / t**2
    show("exp2_256", exp2_rest, -0.5, 0.5, 9, relative=False, scale=256,
         over=2)
    tiny = mpf(10)**-25
    show("log2_16", lambda f: (log(1 + f) / f if abs(f) > tiny else 1) / log2
         / 256, *tables(), 5)
    show("exp2_16", lambda t: (mpf(2)**t - 1) / t if abs(t) > tiny else log2,
         -mpf(1) / 32, mpf(1) / 32, 3, scale=256, over=1)
    fine = mpf(10)**-12
    show("log1p_32", lambda r: (log(1 + r) - r + r * r / 2) / r**3
         if abs(r) > fine else mpf(1) / 3 - r / 4, *pair_tables(), 7,
         relative=False)
    show("exp_16", lambda g: (exp(g) - 1 - g) / g**2
         if abs(g) > fine else mpf(1) / 2 + g / 6, -log2 / 32, log2 / 32, 5,
         relative=False)
    show("log1p_artanh", lambda z: 2 * artanh(z), 0, mpf(1) / 9, 6)
    show("log1p_rest",
         series(lambda x: 2 * (atanh(x) - x), 3,
                [mpf(2) / 3, mpf(2) / 5, mpf(2) / 7]),
         0, mpf(1) / 9, 9, relative=False)
    show("atan_pi_4", series(atan, 1, [1, -mpf(1) / 3, mpf(1) / 5]), 0, 1, 10)
    atan_rest = series(lambda x: atan(x) - x, 3,
                       [-mpf(1) / 3, mpf(1) / 5, -mpf(1) / 7])
    show("atan_rest", atan_rest, 0, 0.25, 11)
    show("atan_rest_f32", atan_rest, 0, 0.25, 5)
    show("log2_f32", lambda f: (log(1 + f) / f if abs(f) > tiny else 1) / log2,
         sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 9)
    show("exp2_f32", lambda t: mpf(2)**t, -0.5, 0.5, 6)
    show("atan_f32", series(atan, 1, [1, -mpf(1) / 3, mpf(1) / 5]), 0, 1, 7)
    show("log1p_f32", lambda p: log(1 + p) / p if abs(p) > fine else 1 - p / 2,
         0, 1, 8)
    show("artanh_rest",
         series(lambda x: atanh(x) - x, 3, [mpf(1) / 3, mpf(1) / 5, mpf(1) / 7]),
         0, s * s, 6)
    show("artanh_rest_pair",
         series(lambda x: atanh(x) - x, 3, [mpf(1) / 3, mpf(1) / 5, mpf(1) / 7]),
         0, s * s, 8, pairs=1)
    show("atan_rest_pair", atan_rest, 0, mpf(1) / 64, 7, pairs=1)
    print("atan(k / 4)", *(x.hex() for k in range(1, 5)
                           for x in parts(atan(mpf(k) / 4))), sep="\n    ")
    print("half_log_2", *(x.hex() for x in parts(log2 / 2)), sep="\n    ")
    eighth = (pi / 4)**2
    show("sine_rest",
         series(lambda x: sin(x) - x, 3, [-mpf(1) / 6, mpf(1) / 120]), 0,
         eighth, 3)
    show("cosine_rest",
         series(lambda x: cos(x) - 1 + x * x / 2, 4,
                [mpf(1) / 24, -mpf(1) / 720]), 0, eighth, 3)
    show("sine_rest_f64",
         series(lambda x: sin(x) - x, 3, [-mpf(1) / 6, mpf(1) / 120]), 0,
         eighth, 6, relative=False)
    show("cosine_rest_f64",
         series(lambda x: cos(x) - 1 + x * x / 2, 4,
                [mpf(1) / 24, -mpf(1) / 720]), 0, eighth, 5, relative=False)
    first = mpf(round(float(pi / 2 * 2**27))) / 2**27
    print("pi / 2", *(x.hex() for x in (float(first), *parts(pi / 2 - first))),
          sep="\n    ")


if __name__ == "__main__":
    main()
