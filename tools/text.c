/*
 * Turns shapes between 2x3x4, (2,3,4) and arrays of extents, sizes and
 * strings into what is printed, and a misspelt name into a question.
 */
#include "text.h"

#include <ctype.h>
#include <string.h>

#include "elementwise.h"

/* Digits only; false if there are none or they exceed int64. */
static bool read_extent(const char **at, const char *end, int64_t *extent)
{
    const char *start = *at;
    for (*extent = 0; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        int digit = **at - '0';
        if (*extent > (INT64_MAX - digit) / 10)
            return false;
        *extent = *extent * 10 + digit;
    }
    return *at > start;
}

bool text_parse_shape(const char *text, size_t n, int *ndim, int64_t *shape)
{
    const char *at = text, *end = text + n;
    bool parentheses = n >= 2 && *at == '(' && end[-1] == ')';
    at += parentheses;
    end -= parentheses;
    *ndim = 0;
    if (at == end)
        return parentheses;
    if (n == 6 && !memcmp(text, "scalar", 6))
        return true;
    while (*ndim < ELEMENTWISE_MAX_NDIM) {
        if (!read_extent(&at, end, &shape[(*ndim)++]))
            return false;
        if (at == end)
            return true;
        char separator = *at++;
        if (separator != 'x' && separator != ',')
            return false;
        while (at < end && *at == ' ')
            at++;
        if (at == end) /* (5,) */
            return separator == ',';
    }
    return false;
}

static void print_extents(int ndim, const int64_t *shape)
{
    for (int i = 0; i < ndim; i++)
        printf(i ? ",%lld" : "%lld", (long long)shape[i]);
}

void text_print_shape(int ndim, const int64_t *shape)
{
    putchar('(');
    print_extents(ndim, shape);
    putchar(')');
}

void text_print_json_shape(int ndim, const int64_t *shape)
{
    putchar('[');
    print_extents(ndim, shape);
    putchar(']');
}

/* Bytes of the character that the text begins with in UTF-8; 0: it is none.
   The second byte rules out what would have a shorter form, halves of pairs of
   UTF-16, and all beyond U+10FFFF. */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char first = text[0];
    size_t n = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (n == 1)
        return 1;
    if (first < 0xC2 || first > 0xF4 || text[1] < least || text[1] > most)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (text[i] < 0x80 || text[i] > 0xBF)
            return 0;
    return n;
}

void text_print_json(const char *text)
{
    size_t n;
    putchar('"');
    for (; *text; text += n ? n : 1) {
        unsigned char byte = (unsigned char)*text;
        n = utf8_length((const unsigned char *)text);
        if (n > 1)
            printf("%.*s", (int)n, text);
        else if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else if (byte == '\n')
            printf("\\n");
        else if (byte < ' ' || byte >= 0x7f)
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

void text_print_bytes(uint64_t n)
{
    static const char *const units[] = {"KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double rounded = (double)n / 1024;
    int unit = 0;
    printf("%llu byte%s", (unsigned long long)n, n == 1 ? "" : "s");
    if (n < 10000)
        return;
    for (; rounded >= 1024; rounded /= 1024)
        unit++;
    printf(" (%.1f %s)", rounded, units[unit]);
}

/* Levenshtein's distance of the first 63 letters, one row of the table at a
   time. Names are in small letters, and what is typed in capitals is near. */
static int distance(const char *a, const char *b)
{
    int row[64], width = 0;
    for (; width < 63 && b[width]; width++)
        row[width] = width;
    row[width] = width;
    for (int i = 0; a[i] && i < 63; i++) {
        int diagonal = row[0]++, letter = tolower((unsigned char)a[i]);
        for (int j = 0; j < width; j++) {
            int replaced = diagonal + (letter != b[j]);
            int one_more = 1 + (row[j] < row[j + 1] ? row[j] : row[j + 1]);
            diagonal = row[j + 1];
            row[j + 1] = replaced < one_more ? replaced : one_more;
        }
    }
    return row[width];
}

const char *text_suggest(const char *name, const char *const names[], int n,
                         char question[TEXT_QUESTION])
{
    int best = 0, far = strlen(name) > 3 ? 2 : 1;
    for (int i = 1; i < n; i++)
        if (distance(name, names[i]) < distance(name, names[best]))
            best = i;
    question[0] = 0;
    if (distance(name, names[best]) <= far)
        snprintf(question, TEXT_QUESTION, "; is it %s?", names[best]);
    return question;
}
