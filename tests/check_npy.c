/*
 * Gives npy_parse every kind of header that a file may have: legal ones in all
 * their spellings, and broken ones, each of which must be refused with a
 * reason and without reading a byte beyond the file. Files are copied to
 * memory of exactly their size, so that tools see every byte too many.
 */
#include "../tools/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#if SIZE_MAX < UINT64_MAX
#define TOO_MANY "more than 2^32 - 1 bytes"
#else
#define TOO_MANY "more than 2^63 - 1 bytes"
#endif
#define F4 "{'descr': '<f4', 'fortran_order': False, "

struct file {
    unsigned char bytes[24000];
    size_t n;
};

static char why[200];
static struct npy npy;

static void put(struct file *file, const char *bytes, size_t n)
{
    ck_assert_uint_le(file->n + n, sizeof file->bytes);
    memcpy(file->bytes + file->n, bytes, n);
    file->n += n;
}

/* A file of this version with this header, a newline and `data` zeros. */
static struct file file_with(int major, const char *header, size_t n,
                             size_t data)
{
    static const char zeros[4096];
    static struct file file;
    size_t length = n + 1;
    char preamble[12] = "\x93NUMPY";
    size_t size = major == 1 ? 10 : 12;
    preamble[6] = (char)major;
    for (size_t i = 8; i < size; i++)
        preamble[i] = (char)(length >> 8 * (i - 8) & 255);
    file.n = 0;
    put(&file, preamble, size);
    put(&file, header, n);
    put(&file, "\n", 1);
    put(&file, zeros, data);
    return file;
}

static bool parse(const struct file *file)
{
    unsigned char *exact = malloc(file->n ? file->n : 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, file->bytes, file->n);
    memset(why, 0, sizeof why);
    bool good = npy_parse(exact, file->n, &npy, why, sizeof why);
    free(exact);
    return good;
}

static bool parse_header(const char *header, size_t data)
{
    struct file file = file_with(1, header, strlen(header), data);
    return parse(&file);
}

static const struct {
    const char *header;
    int ndim;
    int64_t shape[3];
    bool fortran;
} legal[] = {
    {F4 "'shape': (2, 3), }", 2, {2, 3}, false},
    {F4 "'shape': (2, 3)}", 2, {2, 3}, false},
    {F4 "'shape': (2,3,),}", 2, {2, 3}, false},
    {F4 "'shape': (6,), }", 1, {6}, false},
    {F4 "'shape': (), }", 0, {0}, false},
    {F4 "'shape': ( ), }", 0, {0}, false},
    {F4 "'shape': (0, 3), }", 2, {0, 3}, false},
    {F4 "'shape': (0, 2305843009213693951), }",
     2,
     {0, 2305843009213693951},
     false},
    {F4 "'shape': (2L, 3L), }", 2, {2, 3}, false},
    {F4 "'shape': (1, 2, 3), }     \t   ", 3, {1, 2, 3}, false},
    {F4 "'shape': (2, 3), }    \r", 2, {2, 3}, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}",
     2,
     {2, 3},
     true},
    {"{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
     2,
     {2, 3},
     false},
    {"{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}",
     2,
     {2, 3},
     false},
    {"{'descr':'<f4','fortran_order':False,'shape':(2,3)}", 2, {2, 3}, false},
    {"  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) , "
     "} ",
     2,
     {2, 3},
     false},
};

START_TEST(legal_header_is_read)
{
    ck_assert_msg(parse_header(legal[_i].header, 24), "%s", why);
    ck_assert_int_eq(npy.dtype, ELEMENTWISE_F32);
    ck_assert_int_eq(npy.ndim, legal[_i].ndim);
    for (int i = 0; i < npy.ndim; i++)
        ck_assert_int_eq(npy.shape[i], legal[_i].shape[i]);
    ck_assert_int_eq(npy.fortran, legal[_i].fortran);
    ck_assert_int_eq(npy.version, 1);
    ck_assert_uint_eq(npy.offset, 10 + strlen(legal[_i].header) + 1);
}
END_TEST

/* A header, and words that the reason must have. */
static const struct {
    const char *header, *reason;
} broken[] = {
    {"", "'{'"},
    {"   ", "'{'"},
    {"[]", "'{'"},
    {"{}", "lacks the key 'descr'"},
    {"{,}", "a string"},
    {"{'descr'}", "':'"},
    {"{'descr': }", "a string"},
    {"{'descr': '<f4', 'shape': (2, 3)}", "lacks the key 'fortran_order'"},
    {"{'fortran_order': False, 'shape': (2, 3)}", "lacks the key 'descr'"},
    {F4 "}", "lacks the key 'shape'"},
    {F4 "'shape': (2, 3), 'x': 1}", "unknown key 'x'"},
    {F4 "'shape': (2, 3), 'shape': (2, 3)}", "'shape' twice"},
    {F4 "'shape': (2, 3)", "ends where ',' or '}'"},
    {F4 "'shape': (2, 3)} }", "where nothing should stand"},
    {F4 "'shape': (2, 3)}x", "where nothing should stand"},
    {F4 "'shape': (2, 3),, }", "a string"},
    {F4 "'shape' (2, 3)}", "':'"},
    {F4 "'shape': [2, 3]}", "'('"},
    {F4 "'shape': 6}", "'('"},
    {F4 "'shape': (6)}", "not a tuple"},
    {F4 "'shape': (2, 3", "ends where ',' or ')'"},
    {F4 "'shape': (", "ends where an extent"},
    {F4 "'shape': (,)}", "an extent"},
    {F4 "'shape': (2,,3)}", "an extent"},
    {F4 "'shape': (2 3)}", "',' or ')'"},
    {F4 "'shape': ((2, 3),)}", "an extent"},
    {F4 "'shape': ((((((((((2, 3)))))))))}", "an extent"},
    {F4 "'shape': (2.0, 3)}", "',' or ')'"},
    {F4 "'shape': (2e3, 3)}", "',' or ')'"},
    {F4 "'shape': (0x2, 3)}", "',' or ')'"},
    {F4 "'shape': (02, 3)}", "begins with 0"},
    {F4 "'shape': (+2, 3)}", "an extent"},
    {F4 "'shape': (True, 3)}", "an extent"},
    {F4 "'shape': ('2', 3)}", "an extent"},
    {F4 "'shape': (2LL, 3)}", "',' or ')'"},
    {F4 "'shape': (-1, 3)}", "negative"},
    {F4 "'shape': (2, -9223372036854775808)}", "negative"},
    {F4 "'shape': (9223372036854775808,)}", "exceeds 2^63 - 1"},
    {F4 "'shape': (99999999999999999999999999, 3)}", "exceeds 2^63 - 1"},
    {F4 "'shape': (9223372036854775807,)}", TOO_MANY},
    {F4 "'shape': (4294967296, 4294967296)}", TOO_MANY},
    {F4 "'shape': (0, 4611686018427387904, 4)}", TOO_MANY},
    {F4 "'shape': (4611686018427387904, 4, 0)}", TOO_MANY},
    {F4 "'shape': (2, 4)}", "truncated: 24 of 32"},
    {F4 "'shape': (2305843009213693951,)}",
     SIZE_MAX < UINT64_MAX ? TOO_MANY : "truncated"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "True or False"},
    {"{'descr': '<f4', 'fortran_order': 'False', 'shape': (2, 3)}",
     "True or False"},
    {"{'descr': '<f4', 'fortran_order': false, 'shape': (2, 3)}",
     "True or False"},
    {"{'descr': '<f4', 'fortran_order': Falsely, 'shape': (2, 3)}",
     "',' or '}'"},
    {"{'descr': '<f4', 'fortran_order': Fals", "True or False"},
    {"{'descr': '", "0x0a where a plain character"},
    {"{'descr': '<f4\\n'}", "a plain character"},
    {"{'descr': '<f4\t'}", "a plain character"},
    {"{'descr': '<f4\xff'}", "a plain character"},
    {"{'descr': '<ffffffffffffffffffffffffffffff4'}", "too long"},
    {"{'a key that is much too long for any file': 1}", "too long"},
    {"{'descr': ''}", "not a type"},
    {"{'descr': '<'}", "not a type"},
    {"{'descr': '<f'}", "not a type"},
    {"{'descr': 'float32'}", "not a type"},
    {"{'descr': '<f16'}", "not a type"},
    {"{'descr': '<f3'}", "not a type"},
    {"{'descr': '<c32'}", "not a type"},
    {"{'descr': '<b2'}", "not a type"},
    {"{'descr': '<<f4'}", "not a type"},
    {"{'descr': '<f4 '}", "not a type"},
    {"{'descr': '|O'}", "pickled"},
    {"{'descr': '|S3'}", "text"},
    {"{'descr': '<U3'}", "text"},
    {"{'descr': '<M8[ns]'}", "dates"},
    {"{'descr': '|V3'}", "raw bytes"},
    {"{'descr': [('a', '<f4'), ('b', '<i4')]}", "structured"},
    {"{'descr': ('<f4', (2,))}", "a string"},
    {"{'descr': 4}", "a string"},
    {"{'descr': None}", "a string"},
    {"{b'descr': '<f4'}", "a string"},
};

START_TEST(broken_header_is_refused)
{
    ck_assert(!parse_header(broken[_i].header, 24));
    ck_assert_msg(strstr(why, broken[_i].reason) != NULL, "%s: %s",
                  broken[_i].header, why);
    ck_assert_ptr_null(strchr(why, '\n'));
}
END_TEST

/* Nothing of a message may depend on more bytes than there are: every file
   that is cut short anywhere is refused. */
START_TEST(every_prefix_is_refused)
{
    static const char header[] = F4 "'shape': (2, 3), }";
    struct file file = file_with(1 + _i, header, strlen(header), 24);
    ck_assert(parse(&file));
    for (size_t n = file.n; n-- > 0;) {
        file.n = n;
        ck_assert_msg(!parse(&file), "%zu bytes", n);
        ck_assert_uint_gt(strlen(why), 10);
    }
}
END_TEST

/* Whatever one byte is changed to, there is an answer, and what is accepted
   can be read: its data is in the file. */
START_TEST(every_changed_byte_is_survived)
{
    static const char header[] = F4 "'shape': (2, 3), }";
    struct file good = file_with(1, header, strlen(header), 24);
    for (size_t at = 0; at < good.n - 24; at++)
        for (int byte = 0; byte < 256; byte++) {
            struct file file = good;
            file.bytes[at] = (unsigned char)byte;
            if (parse(&file))
                ck_assert_uint_le(npy.offset + npy.nbytes, file.n);
            else
                ck_assert_uint_gt(strlen(why), 10);
        }
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
    const char *reason;
} starts[] = {
    {"", 0, "empty"},
    {"\x93", 1, "not a .npy"},
    {"\x93NUMP", 5, "not a .npy"},
    {"\x93NUMPY", 6, "ends in the version"},
    {"\x93NUMPY\1", 7, "ends in the version"},
    {"\x93NUMPY\1\0", 8, "ends in the length"},
    {"\x93NUMPY\1\0\4", 9, "ends in the length"},
    {"\x93NUMPY\1\0\4\0", 10, "ends in the header"},
    {"\x93NUMPY\2\0\4\0\0", 11, "ends in the length"},
    {"\x93NUMPY\1\0\0\0", 10, "'{'"},
    {"\x92NUMPY\1\0\4\0{}  ", 14, "not a .npy"},
    {"\0NUMPY\1\0\4\0{}  ", 14, "not a .npy"},
    {"\x93numpy\1\0\4\0{}  ", 14, "not a .npy"},
    {"\x93NUMBER\0\4\0{}  ", 14, "not a .npy"},
    {"\x93NUMPY\1\1\4\0{}  ", 14, "1.1"},
    {"\x93NUMPY\0\0\4\0{}  ", 14, "0.0"},
    {"\x93NUMPY\0\1\4\0{}  ", 14, "0.1"},
    {"\x93NUMPY\2\2\4\0{}  ", 14, "2.2"},
    {"\x93NUMPY\4\0\4\0{}  ", 14, "4.0"},
    {"\x93NUMPY\xff\xff\4\0{}  ", 14, "255.255"},
    {"\x93NUMPY\1\0\xff\xff{}  ", 14, "65535 bytes, more than"},
    {"\x93NUMPY\2\0\xff\xff\xff\xff{}  ", 16, "4294967295 bytes, more than"},
    {"PK\3\4\x14\0\0\0", 8, ".npz"},
};

START_TEST(broken_start_is_refused)
{
    struct file file = {.n = 0};
    put(&file, starts[_i].bytes, starts[_i].n);
    ck_assert(!parse(&file));
    ck_assert_msg(strstr(why, starts[_i].reason) != NULL, "%s", why);
}
END_TEST

START_TEST(all_versions_are_read)
{
    static const char header[] = F4 "'shape': (2, 3), }";
    struct file file = file_with(1 + _i, header, strlen(header), 24);
    ck_assert_msg(parse(&file), "%s", why);
    ck_assert_int_eq(npy.version, 1 + _i);
    ck_assert_uint_eq(npy.offset, file.n - 24);
    ck_assert_uint_eq(npy.nbytes, 24);
}
END_TEST

/* NumPy leaves room for a longer shape, and other programs more. */
START_TEST(long_header_is_read_up_to_the_limit)
{
    char header[10001];
    memset(header, ' ', sizeof header);
    memcpy(header, F4 "'shape': (2, 3), }", strlen(F4) + 18);
    struct file file = file_with(1, header, 9999, 24);
    ck_assert_msg(parse(&file), "%s", why);
    file = file_with(1, header, 10000, 24);
    ck_assert(!parse(&file));
    ck_assert_ptr_nonnull(strstr(why, "10001 bytes, more than 10000"));
}
END_TEST

START_TEST(zero_byte_is_refused)
{
    static const char header[] = F4 "'shape': (2, 3), }";
    for (size_t at = 0; at < strlen(header); at++) {
        struct file file = file_with(1, header, strlen(header), 24);
        file.bytes[10 + at] = 0;
        ck_assert_msg(!parse(&file), "at %zu", at);
    }
}
END_TEST

/* As after a transfer that put \r before every \n: the length is that of
   before. */
START_TEST(header_without_newline_is_refused)
{
    static const char header[] = F4 "'shape': (2, 3), }";
    struct file file = file_with(1, header, strlen(header), 24);
    file.bytes[10 + strlen(header)] = '\r';
    ck_assert(!parse(&file));
    ck_assert_ptr_nonnull(strstr(why, "newline"));
}
END_TEST

static void write_ranks(char *header, int ndim)
{
    strcpy(header, F4 "'shape': (");
    for (int i = 0; i < ndim; i++)
        strcat(header, "1,");
    strcat(header, ")}");
}

START_TEST(rank_is_limited_to_64)
{
    char header[400];
    write_ranks(header, 64);
    ck_assert_msg(parse_header(header, 24), "%s", why);
    ck_assert_int_eq(npy.ndim, 64);
    for (int ndim = 65; ndim <= 70; ndim += 5) {
        write_ranks(header, ndim);
        ck_assert(!parse_header(header, 24));
        ck_assert_ptr_nonnull(strstr(why, "more than 64 dimensions"));
    }
}
END_TEST

START_TEST(data_behind_the_array_is_ignored)
{
    ck_assert(parse_header(F4 "'shape': (2, 3)}", 25));
    ck_assert_uint_eq(npy.nbytes, 24);
}
END_TEST

static const struct {
    const char *descr;
    elementwise_dtype dtype;
    bool little, big; /* foreign on a machine of this order */
    bool untyped;
} types[] = {
    {"|b1", ELEMENTWISE_BOOL, false, false, false},
    {"<b1", ELEMENTWISE_BOOL, false, false, false},
    {"|i1", ELEMENTWISE_I8, false, false, false},
    {">u1", ELEMENTWISE_U8, false, false, false},
    {"<i2", ELEMENTWISE_I16, false, true, false},
    {">i2", ELEMENTWISE_I16, true, false, false},
    {"=i2", ELEMENTWISE_I16, false, false, false},
    {"i2", ELEMENTWISE_I16, false, false, false},
    {"<i4", ELEMENTWISE_I32, false, true, false},
    {">i8", ELEMENTWISE_I64, true, false, false},
    {"<u2", ELEMENTWISE_U16, false, true, false},
    {">u4", ELEMENTWISE_U32, true, false, false},
    {"<u8", ELEMENTWISE_U64, false, true, false},
    {"<f2", ELEMENTWISE_F16, false, true, false},
    {">f4", ELEMENTWISE_F32, true, false, false},
    {"<f8", ELEMENTWISE_F64, false, true, false},
    {"<c8", ELEMENTWISE_C64, false, true, false},
    {">c16", ELEMENTWISE_C128, true, false, false},
    {"|V2", ELEMENTWISE_BF16, false, false, true},
    {"<V2", ELEMENTWISE_BF16, false, true, true},
    {">V2", ELEMENTWISE_BF16, true, false, true},
};

START_TEST(type_is_read)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    char header[200];
    snprintf(header, sizeof header,
             "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}",
             types[_i].descr);
    ck_assert_msg(parse_header(header, 32), "%s", why);
    ck_assert_int_eq(npy.dtype, types[_i].dtype);
    ck_assert_int_eq(npy.foreign, little ? types[_i].little : types[_i].big);
    ck_assert_int_eq(npy.untyped, types[_i].untyped);
    ck_assert_str_eq(npy.descr, types[_i].descr);
    ck_assert_uint_eq(npy.nbytes, 2 * elementwise_dtype_size(npy.dtype));
}
END_TEST

/* What is written is what is read, at every rank and type. */
START_TEST(formatted_header_is_read)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM; i++)
        shape[i] = i % 3 == 2 ? 0 : 1 + i % 2;
    for (int ndim = 0; ndim <= ELEMENTWISE_MAX_NDIM; ndim++) {
        char header[NPY_HEADER_SIZE];
        struct file file = {.n = 0};
        size_t n =
            npy_format((elementwise_dtype)_i, ndim, shape, ndim % 2, header);
        ck_assert_uint_eq(n % 64, 0);
        ck_assert_int_eq(header[n - 1], '\n');
        put(&file, header, n);
        put(&file, (const char[64]){0}, 64);
        ck_assert_msg(parse(&file), "%s", why);
        ck_assert_int_eq(npy.dtype, _i);
        ck_assert_int_eq(npy.ndim, ndim);
        ck_assert_mem_eq(npy.shape, shape, (size_t)ndim * sizeof *shape);
        ck_assert(npy.fortran == ndim % 2 && !npy.foreign);
        ck_assert_uint_eq(npy.offset, n);
    }
}
END_TEST

/* NPY_HEADER_SIZE is enough for the longest shape there is. */
START_TEST(longest_header_fits)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    char header[NPY_HEADER_SIZE + 1];
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM; i++)
        shape[i] = INT64_MAX;
    header[NPY_HEADER_SIZE] = 'x';
    size_t n = npy_format(ELEMENTWISE_C128, ELEMENTWISE_MAX_NDIM, shape, false,
                          header);
    ck_assert_uint_le(n, NPY_HEADER_SIZE);
    ck_assert_int_eq(header[n - 1], '\n');
    ck_assert_int_eq(header[NPY_HEADER_SIZE], 'x');
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

int main(void)
{
    TCase *tcase = support_case("npy");
    tcase_add_loop_test(tcase, legal_header_is_read, 0, COUNT(legal));
    tcase_add_loop_test(tcase, broken_header_is_refused, 0, COUNT(broken));
    tcase_add_loop_test(tcase, broken_start_is_refused, 0, COUNT(starts));
    tcase_add_loop_test(tcase, every_prefix_is_refused, 0, 3);
    tcase_add_test(tcase, every_changed_byte_is_survived);
    tcase_add_loop_test(tcase, all_versions_are_read, 0, 3);
    tcase_add_test(tcase, long_header_is_read_up_to_the_limit);
    tcase_add_test(tcase, zero_byte_is_refused);
    tcase_add_test(tcase, header_without_newline_is_refused);
    tcase_add_test(tcase, rank_is_limited_to_64);
    tcase_add_test(tcase, data_behind_the_array_is_ignored);
    tcase_add_loop_test(tcase, type_is_read, 0, COUNT(types));
    tcase_add_loop_test(tcase, formatted_header_is_read, ELEMENTWISE_BOOL,
                        ELEMENTWISE_C128 + 1);
    tcase_add_test(tcase, longest_header_fits);
    TCase *const cases[] = {tcase, NULL};
    return support_run("npy", cases);
}
