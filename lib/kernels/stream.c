/*
 * Moves what was made of a tile past the caches to where it belongs. An
 * ordinary store would read each line from memory only to overwrite it, and
 * push another one out of the caches.
 */
#include "loop.h"

/* The parts of lines at the ends of a row are stored as usual. */
EW_INLINE void stream_row(int64_t bytes, const char *from, char *to,
                          struct ew_next *x, struct ew_next *y)
{
    int64_t head = (int64_t)(-(uintptr_t)to % EW_LINE);
    head = head < bytes ? head : bytes;
    memcpy(to, from, (size_t)head);
    for (bytes -= head, to += head, from += head; bytes >= EW_LINE;
         bytes -= EW_LINE, to += EW_LINE, from += EW_LINE) {
        ew_loop_fetch(x);
        ew_loop_fetch(y);
        ew_loop_store_line(to, from);
    }
    memcpy(to, from, (size_t)bytes);
}

static void stream(int64_t rows, int64_t bytes, const char *from, char *to,
                   int64_t row, const struct ew_next next[2])
{
    struct ew_next x = next[EW_X], y = next[EW_Y];
    for (int64_t r = 0; r < rows; r++)
        stream_row(bytes, from + r * bytes, to + r * row, &x, &y);
}

ew_streamer *const EW_CONCAT(ew_stream, EW_LEVEL) = stream;
