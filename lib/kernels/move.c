/*
 * The kernels that move elements unchanged, by their size: move.inc, once
 * per size. They pack operands into dense tiles, and copy. Where AVX-512
 * shuffles bytes, a few layouts of bytes and halves have forms of their own.
 */
#include "compact.h"

/* Where a compiler cannot shuffle vectors, transposes are strided loops. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define EW_SHUFFLES
#endif
#endif

/* Bytes of the largest vectors whose 32-bit lanes one instruction puts in any
   order, where a compiler can be asked for it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512BW__)
#define EW_PERMUTED 64
#elif defined(__GNUC__) && !defined(__clang__) && defined(__AVX2__)
#define EW_PERMUTED 32
#endif

/* Vectors of several lanes of 16 bytes, for square blocks side by side that are
   turned at once. */
#if defined(EW_SHUFFLES) && defined(__AVX512BW__)
#define EW_TURNED __m512i
#define EW_HALVES(half, bits) _mm512_unpack##half##_epi##bits
#elif defined(EW_SHUFFLES) && defined(__AVX2__)
#define EW_TURNED __m256i
#define EW_HALVES(half, bits) _mm256_unpack##half##_epi##bits
#endif

#if defined(EW_TURNED)
/* Asks for what is left of each input before the first of so many steps: as
   much as leaves no more than that to each of the others. */
static __attribute__((noinline)) void ask_some(struct ew_ahead *ahead,
                                               int64_t steps)
{
    for (int k = 0; k < 2; k++)
        ew_ahead_ask(&ahead[k], (ahead[k].pieces + steps - 1) / steps);
}

#define EW_INTERLEAVE(half, bits) EW_HALVES(half, bits)
enum { EW_TURNED_LANES = sizeof(EW_TURNED) / 16 };

/* One from lanes that lie anywhere. */
EW_INLINE EW_TURNED ew_turned_load(const char *const at[EW_TURNED_LANES])
{
    __m128i lane[EW_TURNED_LANES];
    EW_UNROLLED
    for (int i = 0; i < EW_TURNED_LANES; i++)
        memcpy(&lane[i], at[i], sizeof lane[i]);
#if defined(__AVX512BW__)
    __m512i low =
        _mm512_inserti32x4(_mm512_castsi128_si512(lane[0]), lane[1], 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(low, lane[2], 2), lane[3], 3);
#else
    return _mm256_inserti128_si256(_mm256_castsi128_si256(lane[0]), lane[1], 1);
#endif
}
#endif

enum {
    EW_SPREAD_MOST = 64, /* bytes of the longest row that is one store */
    EW_FEW = 6,          /* rows of 8 bytes, of which columns are moved, */
    EW_SOME = 16,        /* so many at once */
    EW_APART = 256,      /* rows that are made dense before they are turned */
    EW_WORTH_REPEATING = 64, /* elements of rows that are copies of one */
    EW_REPEATED = 16 << 10,  /* bytes of them that are copied at once */
/* Bytes of a column that are interleaved at once, and of the longest row that
   is: blocks are as fast for more. */
#if defined(__AVX512BW__)
    EW_INTERLEAVED = 64,
    EW_INTERLEAVED_MOST = 32
#elif defined(__AVX2__)
    EW_INTERLEAVED = 32,
    EW_INTERLEAVED_MOST = 24
#else
    EW_INTERLEAVED = 16,
    EW_INTERLEAVED_MOST = 12
#endif
};

/* Rows of one piece, or of two that may overlap: the second is then so far
   behind the first. */
EW_INLINE void copy_pieces(size_t piece, int64_t second, int64_t rows,
                           const char *x, int64_t row, char *out,
                           int64_t row_out)
{
    for (; rows > 0; rows--, x += row, out += row_out) {
        memcpy(out, x, piece);
        if (second)
            memcpy(out + second, x + second, piece);
    }
}

EW_INLINE void copy_short(int64_t piece, int64_t rows, int64_t bytes,
                          const char *x, int64_t row, char *out,
                          int64_t row_out)
{
    if (bytes == piece)
        copy_pieces((size_t)piece, 0, rows, x, row, out, row_out);
    else
        copy_pieces((size_t)piece, bytes - piece, rows, x, row, out, row_out);
}

/* Rows that are dense, whatever their elements; long ones are calls. */
static void copy_rows(int64_t rows, int64_t bytes, const char *x, int64_t row,
                      char *out, int64_t row_out)
{
    if (bytes == 1)
        copy_short(1, rows, bytes, x, row, out, row_out);
    else if (bytes <= 3)
        copy_short(2, rows, bytes, x, row, out, row_out);
    else if (bytes <= 7)
        copy_short(4, rows, bytes, x, row, out, row_out);
    else if (bytes <= 15)
        copy_short(8, rows, bytes, x, row, out, row_out);
    else if (bytes <= 32)
        copy_short(16, rows, bytes, x, row, out, row_out);
    else if (bytes <= 64)
        copy_short(32, rows, bytes, x, row, out, row_out);
    else
        for (; rows > 0; rows--, x += row, out += row_out)
            memcpy(out, x, (size_t)bytes);
}

/* The same with gaps between them, made dense: one load and store each, of
   which the next row overwrites what is too much. What is read too much lies
   between rows; not beyond a page, as there may be none. */
static void copy_gaps(int64_t rows, int64_t bytes, const char *x, int64_t row,
                      char *out)
{
    const int64_t n = row <= EW_PAGE && rows > 1 ? rows - 1 : 0;
    if (bytes > 4 && bytes < 8)
        copy_pieces(8, 0, n, x, row, out, bytes);
    else if (bytes > 8 && bytes < 16)
        copy_pieces(16, 0, n, x, row, out, bytes);
    else if (bytes > 16 && bytes < 32)
        copy_pieces(32, 0, n, x, row, out, bytes);
#if defined(__AVX512BW__)
    else if (bytes > 32 && bytes < 64)
        copy_pieces(64, 0, n, x, row, out, bytes);
#endif
    else {
        copy_rows(rows, bytes, x, row, out, bytes);
        return;
    }
    if (n < rows)
        copy_rows(rows - n, bytes, x + n * row, row, out + n * bytes, bytes);
}

#define T struct ew_c128
#define NAME(x) x##_16
#include "move.inc"

#define T uint64_t
#define BITS 64
#define NAME(x) x##_8
#if defined(EW_PERMUTED) && EW_PERMUTED == 64
#define PERMUTED EW_PERMUTED
#endif
#define LOW 0, 2
#define HIGH 1, 3
#include "move.inc"

#define T uint32_t
#define PAIR uint64_t
#define BITS 32
#define NAME(x) x##_4
#define WIDER move_8
#if defined(EW_PERMUTED)
#define PERMUTED EW_PERMUTED
#endif
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#include "move.inc"

#define T uint16_t
#define PAIR uint32_t
#define NAME(x) x##_2
#define WIDER move_4
#if defined(EW_PERMUTED)
#if EW_PERMUTED == 64
#define PERMUTED 64
#define PERMUTE(x, order)                                                      \
    ((lanes_2)_mm512_permutexvar_epi16((__m512i)(order), (__m512i)(x)))
#else
#define PERMUTED 16
#define PERMUTE(x, order)                                                      \
    ((lanes_2)_mm_shuffle_epi8((__m128i)(x), (__m128i)(order)))
#define NUMBER(i) (0x100 + 0x202 * (i))
#endif
#endif
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#include "move.inc"

#if defined(__AVX512BW__)
enum {
    BYTES_MOST = 16, /* copies of a byte; longer rows are stores anyway */
    BYTES_WORTH = 64 /* rows */
};

/* Which byte is spread to each place, by a product with an inverse, which is
   exact for such numbers. */
EW_INLINE void number_bytes(int64_t cols, __m512i number[])
{
    const __m512i inverse = _mm512_set1_epi16((short)(65536 / cols + 1));
    uint16_t start[32];
    for (int i = 0; i < 32; i++)
        start[i] = (uint16_t)(i + (i & ~7));
    __m512i at = _mm512_loadu_si512(start);
    for (int64_t i = 0; i < cols; i++) {
        __m512i behind = _mm512_add_epi16(at, _mm512_set1_epi16(8));
        number[i] = _mm512_packus_epi16(_mm512_mulhi_epu16(at, inverse),
                                        _mm512_mulhi_epu16(behind, inverse));
        at = _mm512_add_epi16(at, _mm512_set1_epi16(64));
    }
}
#endif

#if defined(EW_PERMUTED) && EW_PERMUTED == 64
/* Bytes go anywhere in two steps: fours to a lane of 16, each to its own place
   in four, and from there to those of the bytes. */
struct byte_order {
    __m512i fours, bytes;
};

/* The fours that a lane needs follow one another. */
EW_INLINE void number_lanes_1(int64_t cols, struct byte_order number[])
{
    const __m512i lowest = _mm512_set1_epi32((int)0x80808000);
    const __m512i place = _mm512_set4_epi32(3, 2, 1, 0);
    __m512i bytes[BYTES_MOST];
    number_bytes(cols, bytes);
    for (int64_t i = 0; i < cols; i++) {
        __m512i four =
            _mm512_srli_epi32(_mm512_shuffle_epi8(bytes[i], lowest), 2);
        __m512i next = _mm512_and_si512(_mm512_sub_epi32(place, four),
                                        _mm512_set1_epi32(3));
        number[i].bytes = bytes[i];
        number[i].fours = _mm512_add_epi32(four, next);
    }
}
#endif

#define T uint8_t
#define PAIR uint16_t
#define NAME(x) x##_1
#define WIDER move_2
#if defined(EW_PERMUTED) && EW_PERMUTED == 64
#define PERMUTED 64
#define ORDER struct byte_order
#define PERMUTE(x, order)                                                      \
    ((lanes_1)_mm512_shuffle_epi8(                                             \
        _mm512_permutexvar_epi32((order).fours, (__m512i)(x)), (order).bytes))
#define PICKED 16
#define PICK(x, order)                                                         \
    ((picked_1)_mm_shuffle_epi8((__m128i)(x), (__m128i)(order)))
#elif defined(EW_PERMUTED)
#define PERMUTED 16
#define PERMUTE(x, order)                                                      \
    ((lanes_1)_mm_shuffle_epi8((__m128i)(x), (__m128i)(order)))
#endif
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#include "move.inc"

ew_kernel *const EW_CONCAT(ew_move, EW_LEVEL)[EW_MOVES] = {
    move_1, move_2, move_4, move_8, move_16};

#if defined(__AVX512BW__)
/* Spreads neighbours, a vector at a time, by one shuffle for each of out. The
   last one ends where the rows do, and is perhaps spread in part again. */
EW_VBMI static void spread_bytes(int64_t rows, int64_t cols, const char *x,
                                 char *out)
{
    __m512i number[BYTES_MOST];
    number_bytes(cols, number);
    for (int64_t done = 0; done < rows; done += EW_LINE) {
        int64_t r = done + EW_LINE < rows ? done : rows - EW_LINE;
        __m512i from = _mm512_loadu_si512(x + r);
        char *to = out + r * cols;
        for (int64_t i = 0; i < cols; i++, to += EW_LINE)
            _mm512_storeu_si512(to, _mm512_permutexvar_epi8(number[i], from));
    }
}

/* Elements of rows that run along memory in steps, columns far apart, are
   picked from windows, so many columns and windows of each at a time. */
enum {
    PICKED_COLUMNS = 64,
    PICKED_WINDOWS = 16,
    PICKED_FAR = 1 << 22, /* bytes; places of so many must fit in 32 bits */
    PICKED_STEP = 20      /* bytes, for four elements in a window */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether that is better than as neighbours or every second one, in blocks, or
   one by one. */
static bool is_picked(int64_t size, int64_t rows, int64_t cols,
                      struct ew_stride x, struct ew_stride out)
{
    int64_t n = EW_PICKED / size;
    bool far = x.row > 2 * size || (x.row == 2 * size && rows < n);
    return far && x.row <= PICKED_STEP && x.row < x.col && x.col < PICKED_FAR &&
           out.col == size && rows >= 4 && cols >= n && out.row > -PICKED_FAR &&
           out.row < PICKED_FAR;
}

/* The order of a window, which holds some elements of each column. */
static void start_picks(struct ew_permutation *p, int64_t size, int64_t rows,
                        int64_t step, int64_t row)
{
    p->size = size;
    p->rows = least(rows, least(EW_PICKED / size, (EW_LINE - size) / step + 1));
    p->window = (p->rows - 1) * step + size;
    memset(p->from, 0, sizeof p->from);
    for (int64_t i = 0; i < p->rows; i++) {
        p->put[i] = i * row;
        for (int64_t byte = 0; byte < size; byte++)
            p->from[i * size + byte] = (unsigned char)(i * step + byte);
    }
}

/* Windows of the next `rows` rows; the last one ends with them, and perhaps
   starts before. */
static void place_picks(struct ew_permutation *p, int64_t rows, int64_t step,
                        int64_t row, int32_t at[], int32_t to[])
{
    p->groups = 0;
    for (int64_t made = 0; made < rows; made += p->rows) {
        int64_t r = least(made, rows - p->rows);
        at[p->groups] = (int32_t)(r * step);
        to[p->groups++] = (int32_t)(r * row);
    }
}

/* All columns of these rows; the last ones are as many as a block has. */
static void pick_across(struct ew_permutation *p, int64_t cols, const char *x,
                        int64_t col, char *out)
{
    const int64_t n = EW_PICKED / p->size;
    for (int64_t c = 0; c < cols; c += PICKED_COLUMNS) {
        int64_t first = least(c, cols - n);
        p->columns = least(cols - first, PICKED_COLUMNS);
        EW_CONCAT(EW_CONCAT(ew_pick, EW_LEVEL), vbmi)
        (p, x + first * col, out + first * p->size);
    }
}

static void pick_elements(int64_t size, int64_t rows, int64_t cols,
                          const char *x, struct ew_stride sx, char *out,
                          int64_t row)
{
    struct ew_permutation p;
    int32_t at[PICKED_WINDOWS], to[PICKED_WINDOWS], column[PICKED_COLUMNS];
    start_picks(&p, size, rows, sx.row, row);
    p.at = at;
    p.to = to;
    p.column = column;
    for (int64_t c = 0; c < least(cols, PICKED_COLUMNS); c++)
        column[c] = (int32_t)(c * sx.col);
    const int64_t most = PICKED_WINDOWS * p.rows;
    for (int64_t top = 0; top < rows; top += most) {
        place_picks(&p, least(most, rows - top), sx.row, row, at, to);
        pick_across(&p, cols, x + top * sx.row, sx.col, out + top * row);
    }
}

/* False if it is better moved in another way. */
static bool picks(int64_t size, int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride s[])
{
    struct ew_stride x = s[EW_X], out = s[EW_OUT];
    char *at[] = {data[EW_X], data[EW_OUT]};
    straighten_1(&rows, &cols, at, &x, &out);
    if (!is_picked(size, rows, cols, x, out))
        return false;
    pick_elements(size, rows, cols, at[0], x, at[1], out.row);
    return true;
}

EW_VBMI EW_INLINE void compact_bytes(const char *x, const char order[],
                                     char *out)
{
    __m512i v = _mm512_permutexvar_epi8(_mm512_loadu_si512(order),
                                        _mm512_loadu_si512(x));
    _mm512_storeu_si512(out, v);
}

/* As compact_windows, in windows of a line. Pieces with gaps, or backwards, are
   elements that would be moved one by one; of dense ones that are long, or two,
   each is as well moved alone. */
EW_VBMI static int64_t compact_lines(int64_t pieces,
                                     const struct compact_piece *p,
                                     const char *x, int64_t step, char *out)
{
    int64_t bytes = p->n * p->size;
    if (pieces < EW_COMPACT_WORTH || step < bytes)
        return 0;
    bool worth = p->col != 1
                     ? compact_is_worth(p, step)
                     : bytes <= 16 && compact_count(EW_LINE, p, step) >= 3;
    return !worth ? 0
                  : compact_by(compact_bytes, EW_LINE, pieces, p, x, step, out);
}

/* Rows of a few bytes with gaps between them or within; what windows leave is
   moved. */
static void move_rows(int64_t rows, int64_t cols, const char *x,
                      struct ew_stride s, char *out)
{
    const struct compact_piece piece = {cols, 1, s.col};
    int64_t made = compact_lines(rows, &piece, x, s.row, out);
    if (made < rows)
        move_1(rows - made, cols,
               (void *[]){(char *)x + made * s.row, NULL, out + made * cols},
               (struct ew_stride[]){s, {0, 0}, {cols, 1}});
}

EW_VBMI EW_INLINE __m512i compact_put_bytes(__m512i order, __m512i x)
{
    return _mm512_permutexvar_epi8(order, x);
}

/* Dense rows of bytes to rows with gaps, as scatter_rows in move.inc. */
EW_VBMI static __attribute__((noinline)) void
scatter_bytes(int64_t rows, int64_t cols, void *const data[],
              const struct ew_stride s[])
{
    const struct compact_gaps gaps = compact_gaps_make(1, 1, s[EW_OUT].col);
    const char *x = data[EW_X];
    char *out = data[EW_OUT];
    for (int64_t r = 0; r < rows; r++, x += s[EW_X].row, out += s[EW_OUT].row)
        compact_gaps_row(compact_put_bytes, &gaps, cols, x, out);
}

static void move_bytes(int64_t rows, int64_t cols, void *const data[],
                       const struct ew_stride s[])
{
    const struct ew_stride x = s[EW_X], out = s[EW_OUT];
    bool dense = out.col == 1 && out.row == cols && cols > 1;
    if (dense && x.row == 1 && x.col == 0 && cols <= BYTES_MOST &&
        rows >= BYTES_WORTH)
        spread_bytes(rows, cols, data[EW_X], data[EW_OUT]);
    else if (dense &&
             ((x.col == 1 && x.row > cols && !is_stepped_1(cols, x.row)) ||
              is_short_1(cols, x)))
        move_rows(rows, cols, data[EW_X], x, data[EW_OUT]);
    else if (x.col == 1 && out.col > 1 && out.col < EW_LINE / 3 && cols > 1)
        scatter_bytes(rows, cols, data, s);
    else if (!picks(1, rows, cols, data, s))
        move_1(rows, cols, data, s);
}

static void move_halves(int64_t rows, int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    if (!picks(2, rows, cols, data, s))
        move_2(rows, cols, data, s);
}

ew_kernel *const EW_CONCAT(EW_CONCAT(ew_move, EW_LEVEL), vbmi)[EW_MOVES] = {
    move_bytes, move_halves, move_4, move_8, move_16};
#endif

#if defined(EW_SHUFFLES)
ew_permuter *const EW_CONCAT(ew_turn, EW_LEVEL)[EW_TURNS] = {
    turn_groups_1, turn_groups_2, turn_groups_4, turn_groups_8};
#else
ew_permuter *const EW_CONCAT(ew_turn, EW_LEVEL)[EW_TURNS] = {NULL};
#endif
