/*
 * Numbers of twice the digits of a double: the unevaluated sum of a double and
 * of what it lacks. The few steps that need them keep the functions of f64
 * within one ULP. Sums and products are exact unless they say otherwise.
 */
#ifndef EW_PAIR_H
#define EW_PAIR_H

#include "wide.h"

struct ew_pair {
    double high, low; /* -0.0: no low part; compilers know that x + -0.0 is x */
};

/* a + b, |a| >= |b| or a = 0. */
EW_INLINE struct ew_pair ew_pair_sum(double a, double b)
{
    double high = a + b;
    return (struct ew_pair){high, b - (high - a)};
}

/* a + b in any order. */
EW_INLINE struct ew_pair ew_pair_sum_any(double a, double b)
{
    double high = a + b, b_part = high - a, a_part = high - b_part;
    return (struct ew_pair){high, (a - a_part) + (b - b_part)};
}

/* a + b, |a| >= |b|, to some 2^-104. */
EW_INLINE struct ew_pair ew_pair_add(struct ew_pair a, struct ew_pair b)
{
    struct ew_pair c = ew_pair_sum(a.high, b.high);
    c.low += a.low + b.low;
    return c;
}

/* a b, if neither it nor its last digits overflow or vanish. Without fma the
   factors are cut into halves whose products are exact (Dekker). */
EW_INLINE struct ew_pair ew_pair_product(double a, double b)
{
    double high = a * b;
#if defined(EW_FAST_FMA)
    return (struct ew_pair){high, fma(a, b, -high)};
#else
    double wide_a = a * 0x1.000002p27, wide_b = b * 0x1.000002p27;
    double a1 = wide_a - (wide_a - a), a2 = a - a1;
    double b1 = wide_b - (wide_b - b), b2 = b - b1;
    double low = ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2;
    return (struct ew_pair){high, low};
#endif
}

/* a b, but for a.low b.low: to some 2^-104. */
EW_INLINE struct ew_pair ew_pair_multiply(struct ew_pair a, struct ew_pair b)
{
    struct ew_pair c = ew_pair_product(a.high, b.high);
    c.low = EW_MULTIPLY_ADD(a.high, b.low, c.low);
    c.low = EW_MULTIPLY_ADD(a.low, b.high, c.low);
    return c;
}

/* x - a b, a number as a is near x / b. */
EW_INLINE double ew_pair_rest(double x, double a, double b)
{
#if defined(EW_FAST_FMA)
    return fma(-a, b, x);
#else
    struct ew_pair c = ew_pair_product(a, b);
    return (x - c.high) - c.low;
#endif
}

/* a / b to some 2^-100: what the quotient leaves over, divided again. */
EW_INLINE struct ew_pair ew_pair_quotient(struct ew_pair a, struct ew_pair b)
{
    double inverse = 1 / b.high, high = a.high * inverse;
    double rest = ew_pair_rest(a.high, high, b.high) + a.low;
    rest = EW_MULTIPLY_ADD(-high, b.low, rest);
    return (struct ew_pair){high, rest * inverse};
}

/*
 * 2^(256 u), |u| < 5: the power of the fraction f,
 *
 *     2^(256 f) = 1 + f 256 log 2 + f^2 exp2_256(f)
 *
 * and in *n the integer, as its last bits. The polynomial is cut into pieces
 * that can be computed side by side (Estrin): the chain of steps is what takes
 * time.
 */
EW_INLINE struct ew_pair ew_pair_exp2(struct ew_pair u, double *n)
{
    const double integer = 0x1.8p44;
    const struct ew_pair log_2 = {0x1.62e42fefa39efp+7, 0x1.abc9e3b39803fp-48};
    const struct ew_pair one = {1, -0.0};
    *n = u.high + integer;
    struct ew_pair f = ew_pair_sum(u.high - (*n - integer), u.low);
    double g = f.high * f.high, h = g * g;
    double c2 =
        ew_wide_line(f.high, 0x1.ebfbdff82c590p+13, 0x1.c6b08d704a0c3p+19);
    double c4 =
        ew_wide_line(f.high, 0x1.3b2ab6fba385ep+25, 0x1.5d87fe78a4726p+30);
    double c6 =
        ew_wide_line(f.high, 0x1.4309130378a59p+35, 0x1.ffcbfc6c25056p+39);
    double c8 =
        ew_wide_line(f.high, 0x1.62bfe45fe5732p+44, 0x1.b524ed52d4475p+48);
    double c10 =
        ew_wide_line(f.high, 0x1.e5e9f7ac8a428p+52, 0x1.e9ec20ad87111p+56);
    double low = ew_wide_line(g, c2, c4), high = ew_wide_line(g, c6, c8);
    double sum = ew_wide_line(h, low, ew_wide_line(h, high, c10));
    struct ew_pair line = ew_pair_multiply(f, log_2);
    line.low = EW_MULTIPLY_ADD(g, sum, line.low);
    struct ew_pair power = ew_pair_add(one, line);
    return ew_pair_sum(power.high, power.low);
}

/* For a normal x > 0, x = 2^e m: gives m, from sqrt(1/2) to sqrt(2). */
EW_INLINE double ew_pair_split(double x, double *e)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcd, bias = (uint64_t)1023 << 52;
    uint64_t b = bits_f64(x), k = (b - root_half + bias) >> 52;
    *e = from_bits_f64(k | 0x4330000000000000) - (0x1p52 + 1023);
    return from_bits_f64(b - (k << 52) + bias);
}

/* x 2^n for an n that ew_pair_exp2 left, if it is a normal number. */
EW_INLINE double ew_pair_scale(double x, double n)
{
    return from_bits_f64(bits_f64(x) + (bits_f64(n) << 52));
}

/* The same if it may be none, in two steps. What is subnormal is rounded once:
   2^512 times as large, it is added to a number whose last place is that of
   subnormals. */
EW_INLINE double ew_pair_scale_far(struct ew_pair x, double n)
{
    const double integer = 0x1.8p44, last = 0x1p-510;
    double half = (n - integer) * 0.5 + integer, rest = n - half + integer;
    double power = x.high * ew_pair_scale(1, half) * ew_pair_scale(1, rest);
    double up = ew_pair_scale(1, n + 0x1p-8 * 512);
    struct ew_pair sum = ew_pair_sum(last, x.high * up);
    double tiny = (sum.high + (sum.low + x.low * up) - last) * 0x1p-512;
    return power < 0x1p-1022 ? tiny : power;
}

#endif
