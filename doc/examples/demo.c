/*
 * What the parameter `axis` is for, on real arrays: two photographs lose the
 * mean of each colour channel, handwritten digits are divided by their
 * maxima and then lose the average digit. Each result is compared bit for bit
 * with a plain loop, and one call is wrong on purpose, to show its message.
 *
 *     cc demo.c $(pkg-config --cflags --libs elementwise) -o demo
 *     ./demo FOLDER            with photos.npy and digits.npy in it
 */
#include <elementwise.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The photographs are (PICTURES, CHANNELS, ROWS, COLUMNS), the digits
   (DIGITS, SIDE, SIDE). */
enum {
    PICTURES = 2,
    CHANNELS = 3,
    ROWS = 160,
    COLUMNS = 240,
    PLANE = ROWS * COLUMNS,
    DIGITS = 1797,
    SIDE = 8,
    DIGIT = SIDE * SIDE
};

static void stop(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "demo: %s: %s\n", what, why);
    exit(1);
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory)
        stop("memory", "not enough");
    return memory;
}

/* The bytes of an .npy file of version 1.0. Its header says type and shape,
   which we know: only its length is read, to skip it. */
static uint8_t *read_npy(const char *folder, const char *name, size_t bytes)
{
    char path[4096];
    unsigned char start[10];
    uint8_t *data = allocate(bytes, 1);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        stop(path, "cannot be opened");
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY\1", 7) ||
        fseek(file, start[8] + 256L * start[9], SEEK_CUR) ||
        fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF)
        stop(path, "is not the file that this demo was written for");
    fclose(file);
    return data;
}

/* Every status but OK leaves the output as it was. */
static void require(elementwise_status status)
{
    if (status != ELEMENTWISE_OK)
        stop(elementwise_status_name(status), elementwise_last_error());
}

/* Ends the demo unless both arrays hold the same bits. */
static void require_equal(const float *result, const float *loop, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&result[i], &loop[i], sizeof *loop)) {
            fflush(stdout);
            fprintf(stderr, "demo: element %zu is %a, the loop has %a\n", i,
                    (double)result[i], (double)loop[i]);
            exit(1);
        }
    printf("\n  %zu values, each equal to that of a plain loop.\n\n", n);
}

static double channel_mean_u8(const uint8_t *photos, int channel)
{
    double sum = 0;
    for (int n = 0; n < PICTURES; n++)
        for (int i = 0; i < PLANE; i++)
            sum += photos[(n * CHANNELS + channel) * PLANE + i];
    return sum / (PICTURES * PLANE);
}

static double channel_mean_f32(const float *photos, int channel)
{
    double sum = 0;
    for (int n = 0; n < PICTURES; n++)
        for (int i = 0; i < PLANE; i++)
            sum += (double)photos[(n * CHANNELS + channel) * PLANE + i];
    return sum / (PICTURES * PLANE);
}

/* What elementwise_sub(photos, means, 1, ...) means. */
static void subtract_channels(const uint8_t *photos, const float *means,
                              float *out)
{
    for (int n = 0; n < PICTURES; n++)
        for (int c = 0; c < CHANNELS; c++)
            for (int i = 0; i < PLANE; i++) {
                int at = (n * CHANNELS + c) * PLANE + i;
                out[at] = (float)photos[at] - means[c];
            }
}

static void show_channels(const uint8_t *photos, const float *out)
{
    static const char *const names[CHANNELS] = {"red", "green", "blue"};
    puts("  channel   mean before   mean after   first pixel");
    for (int c = 0; c < CHANNELS; c++)
        printf("  %-7s %13.4f %12.0e   %3d -> %8.4f\n", names[c],
               channel_mean_u8(photos, c), channel_mean_f32(out, c),
               photos[c * PLANE], (double)out[c * PLANE]);
}

static void normalise_photographs(const char *folder)
{
    enum { N = PICTURES * CHANNELS * PLANE };
    uint8_t *photos = read_npy(folder, "photos.npy", N);
    float *out = allocate(N, sizeof *out), *loop = allocate(N, sizeof *loop);
    float means[CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        means[c] = (float)channel_mean_u8(photos, c);

    const int64_t shape[] = {PICTURES, CHANNELS, ROWS, COLUMNS};
    const int64_t channels[] = {CHANNELS};
    elementwise_tensor x = {photos, ELEMENTWISE_U8, 4, shape, NULL};
    elementwise_tensor y = {means, ELEMENTWISE_F32, 1, channels, NULL};
    elementwise_tensor result = {out, ELEMENTWISE_F32, 4, shape, NULL};
    puts(
        "1. Two photographs minus the mean of each channel, axis 1\n"
        "\n"
        "  dim           0    1    2    3\n"
        "  x   u8        2    3  160  240    picture, channel, row, column\n"
        "  y   f32       .    3    .    .    a mean per channel\n"
        "  out f32       2    3  160  240\n"
        "\n"
        "  elementwise_sub(&x, &y, 1, &out): y's dimension 0 stands at x's\n"
        "  dimension 1. A dot counts as 1, and a 1 is stretched: out[n,c,h,w]\n"
        "  is x[n,c,h,w] - y[c]. A u8 and an f32 are computed in f32.\n");
    require(elementwise_sub(&x, &y, 1, &result));

    show_channels(photos, out);
    subtract_channels(photos, means, loop);
    require_equal(out, loop, N);
    free(photos);
    free(out);
    free(loop);
}

static float largest(const uint8_t *digit)
{
    int most = 0;
    for (int i = 0; i < DIGIT; i++)
        most = digit[i] > most ? digit[i] : most;
    return (float)most;
}

/* What elementwise_div(digits, maxima, 0, ...) means. */
static void divide_digits(const uint8_t *digits, const float *maxima,
                          float *out)
{
    for (int n = 0; n < DIGITS; n++)
        for (int i = 0; i < DIGIT; i++)
            out[n * DIGIT + i] = (float)digits[n * DIGIT + i] / maxima[n];
}

static void show_digit(const uint8_t *before, const float *after)
{
    printf("  digit %-20s %s\n", "0", "divided by its maximum");
    for (int row = 0; row < SIDE; row++) {
        printf(" ");
        for (int i = row * SIDE; i < (row + 1) * SIDE; i++)
            printf("%3d", before[i]);
        printf("  ");
        for (int i = row * SIDE; i < (row + 1) * SIDE; i++)
            printf("%5.2f", (double)after[i]);
        printf("\n");
    }
}

static void scale_digits(uint8_t *digits, float *scaled)
{
    enum { N = DIGITS * DIGIT };
    float *maxima = allocate(DIGITS, sizeof *maxima);
    float *loop = allocate(N, sizeof *loop);
    for (int n = 0; n < DIGITS; n++)
        maxima[n] = largest(digits + n * DIGIT);

    const int64_t shape[] = {DIGITS, SIDE, SIDE}, count[] = {DIGITS};
    elementwise_tensor x = {digits, ELEMENTWISE_U8, 3, shape, NULL};
    elementwise_tensor y = {maxima, ELEMENTWISE_F32, 1, count, NULL};
    elementwise_tensor result = {scaled, ELEMENTWISE_F32, 3, shape, NULL};
    puts("2. Handwritten digits, each divided by its maximum, axis 0\n"
         "\n"
         "  dim           0    1    2\n"
         "  x   u8     1797    8    8    digit, row, column\n"
         "  y   f32    1797    .    .    a maximum per digit\n"
         "  out f32    1797    8    8\n");
    require(elementwise_div(&x, &y, 0, &result));

    show_digit(digits, scaled);
    divide_digits(digits, maxima, loop);
    require_equal(scaled, loop, N);

    puts("  NumPy has no axis; it aligns shapes at the right. Asked for that,\n"
         "  the same call is refused, writes nothing, and says why:\n");
    elementwise_status status =
        elementwise_div(&x, &y, ELEMENTWISE_NUMPY, &result);
    if (status != ELEMENTWISE_BAD_SHAPE)
        stop("right-aligned div", "was not refused");
    printf("%s\n", elementwise_last_error());
    require_equal(scaled, loop, N);
    free(maxima);
    free(loop);
}

/* The mean of all digits, pixel by pixel. */
static void average(const float *digits, float *mean)
{
    for (int i = 0; i < DIGIT; i++) {
        double sum = 0;
        for (int n = 0; n < DIGITS; n++)
            sum += (double)digits[n * DIGIT + i];
        mean[i] = (float)(sum / DIGITS);
    }
}

/* One row of a digit, where strokes are. */
static void show_row(const char *label, const float *digit)
{
    printf("  %-12s", label);
    for (int i = 2 * SIDE; i < 3 * SIDE; i++)
        printf("%6.2f", (double)digit[i]);
    printf("\n");
}

/* Right-aligned: the last dimensions of x and y stand under each other. */
static void centre_digits(float *scaled)
{
    enum { N = DIGITS * DIGIT };
    float mean[DIGIT], *loop = allocate(N, sizeof *loop);
    average(scaled, mean);
    for (int i = 0; i < N; i++)
        loop[i] = scaled[i] - mean[i % DIGIT];

    const int64_t shape[] = {DIGITS, SIDE, SIDE};
    elementwise_tensor x = {scaled, ELEMENTWISE_F32, 3, shape, NULL};
    elementwise_tensor y = {mean, ELEMENTWISE_F32, 2, shape + 1, NULL};
    puts("3. The same digits minus the average digit, aligned at the right\n"
         "\n"
         "  dim           0    1    2\n"
         "  x   f32    1797    8    8    digit, row, column\n"
         "  y   f32       .    8    8    a mean per pixel\n"
         "\n"
         "  elementwise_sub(&x, &y, ELEMENTWISE_NUMPY, &x): the output may be\n"
         "  an input.\n");
    show_row("digit 0,2,:", scaled);
    show_row("mean 2,:", mean);
    require(elementwise_sub(&x, &y, ELEMENTWISE_NUMPY, &x));

    show_row("difference", scaled);
    require_equal(scaled, loop, N);
    free(loop);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        stop("usage", "demo FOLDER, the one with photos.npy and digits.npy");
    printf("libelementwise %s, kernels for %s\n\n", elementwise_version(),
           elementwise_cpu_level());
    normalise_photographs(argv[1]);

    uint8_t *digits = read_npy(argv[1], "digits.npy", DIGITS * DIGIT);
    float *scaled = allocate(DIGITS * DIGIT, sizeof *scaled);
    scale_digits(digits, scaled);
    centre_digits(scaled);
    free(digits);
    free(scaled);
    puts("demo: 3 results checked against plain loops, all equal");
    return 0;
}
