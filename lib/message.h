/*
 * This thread's last message, and the text buffer that messages and plan
 * descriptions are written with.
 */
#ifndef EW_MESSAGE_H
#define EW_MESSAGE_H

#include <stddef.h>

#include "elementwise.h"
#include "shape.h"

#define EW_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Text that is cut at size bytes, the final 0 included; length goes on
   counting, as with snprintf. */
struct ew_text {
    char *at;
    size_t size, length;
};
EW_PRINTF(2, 3)
void ew_text_add(struct ew_text *text, const char *format, ...);

/* Sets the message and returns status. */
EW_PRINTF(2, 3)
elementwise_status ew_fail(elementwise_status status, const char *format, ...);

/* The same, with a diagram of both shapes as they stand over each other, a
   mark under dimension dim unless it is -1, and the axes that would do. */
EW_PRINTF(4, 5)
elementwise_status ew_fail_shapes(elementwise_status status,
                                  const struct ew_alignment *a, int dim,
                                  const char *format, ...);

/* BAD_SHAPE, naming the shape that out has and the one it should have, which
   differ first at dim. */
elementwise_status ew_fail_out(const struct ew_alignment *a, const char *name,
                               const elementwise_tensor *out,
                               const int64_t *shape, int dim);

/* BAD_SHAPE of a tensor that must have the shape of another one and has not. */
elementwise_status ew_fail_like(const char *what, const char *name,
                                const elementwise_tensor *t,
                                const char *like_name,
                                const elementwise_tensor *like);

#endif
