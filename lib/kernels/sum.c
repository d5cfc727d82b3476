/*
 * The kernels of sums on their own: a tile is added to accumulators, and these
 * are folded to sums. Those that store something in the same pass are in
 * gradient.c.
 */
#include "sum.h"

#define PLAIN(type, of)                                                        \
    static void sum_##type(int64_t rows, int64_t cols, void *const data[],     \
                           const struct ew_stride s[],                         \
                           const struct ew_sums *sums)                         \
    {                                                                          \
        sum_all_##type(NULL, itself_##of, false, rows, cols, data, s, sums);   \
    }
PLAIN(f16, f32)
PLAIN(bf16, f32)
PLAIN(f32, f32)
PLAIN(f64, f64)

/* Adds every second of n pairs to the first, a pair being one element of each
   part. No element is read after another was stored there. */
EW_INLINE void halve(bool loses, int64_t n, int parts, double *sum,
                     double *lost)
{
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        for (int p = 0; p < parts; p++) {
            int64_t to = i * parts + p, from = 2 * i * parts + p;
            double a = sum[from], b = sum[from + parts], total = a + b;
            double part = total - a;
            if (loses)
                lost[to] = lost[from] + lost[from + parts] +
                           ((a - (total - part)) + (b - part));
            sum[to] = total;
        }
}

/* Adds neighbours to each other until one lane is left for each part, in an
   order that never depends on anything. What was lost is NaN beside an infinite
   sum. */
EW_INLINE void fold(bool loses, int64_t n, bool lanes, int parts, double *sum)
{
    double *lost = sum + EW_ACCUMULATORS;
    for (int left = EW_LANES / 2; lanes && left >= parts; left /= 2)
        if (parts == 2)
            halve(loses, n * left / 2, 2, sum, lost);
        else
            halve(loses, n * left, 1, sum, lost);
    for (int64_t i = 0; loses && i < n * parts; i++)
        sum[i] = sum[i] - sum[i] == 0 ? sum[i] + lost[i] : sum[i];
}

static void fold_f32(int64_t n, bool lanes, int parts, double *sums)
{
    fold(false, n, lanes, parts, sums);
}

static void fold_f64(int64_t n, bool lanes, int parts, double *sums)
{
    fold(true, n, lanes, parts, sums);
}

ew_sum *const EW_CONCAT(ew_sum, EW_LEVEL)[4] = {sum_f16, sum_bf16, sum_f32,
                                                sum_f64};
ew_fold *const EW_CONCAT(ew_fold, EW_LEVEL)[2] = {fold_f32, fold_f64};
