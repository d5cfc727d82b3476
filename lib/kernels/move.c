/*
 * The kernels that move elements unchanged, by their size: move.inc, once
 * per size. They pack operands into dense tiles, and copy.
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
    EW_PAGE = 4096,      /* bytes of the smallest pages that there are */
    EW_SPREAD_MOST = 64, /* bytes of the longest row that is one store */
    EW_APART = 256,      /* rows that are made dense before they are turned */
    EW_WORTH_REPEATING = 64, /* elements of rows that are copies of one */
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

static void move_bytes(int64_t rows, int64_t cols, void *const data[],
                       const struct ew_stride s[])
{
    const struct ew_stride x = s[EW_X], out = s[EW_OUT];
    if (x.row == 1 && x.col == 0 && out.col == 1 && out.row == cols &&
        cols > 1 && cols <= BYTES_MOST && rows >= BYTES_WORTH)
        spread_bytes(rows, cols, data[EW_X], data[EW_OUT]);
    else
        move_1(rows, cols, data, s);
}

ew_kernel *const EW_CONCAT(EW_CONCAT(ew_move, EW_LEVEL), vbmi)[EW_MOVES] = {
    move_bytes, move_2, move_4, move_8, move_16};
#endif

#if defined(EW_SHUFFLES)
ew_permuter *const EW_CONCAT(ew_turn, EW_LEVEL)[EW_TURNS] = {
    turn_groups_1, turn_groups_2, turn_groups_4, turn_groups_8};
#else
ew_permuter *const EW_CONCAT(ew_turn, EW_LEVEL)[EW_TURNS] = {NULL};
#endif
