/*
 * text.h - shapes, sizes and JSON strings as people and programs write them.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * Reads n characters as a shape: 2x3x4, 2,3,4, (2, 3, 4), (5,), and () or
 * scalar for rank 0. False if they are none; shape has room for
 * ELEMENTWISE_MAX_NDIM extents.
 */
bool text_parse_shape(const char *text, size_t n, int *ndim, int64_t *shape);

/** Prints (2,3,4). */
void text_print_shape(int ndim, const int64_t *shape);

/** Prints [2,3,4]. */
void text_print_json_shape(int ndim, const int64_t *shape);

/** Prints text in quotes, escaped. UTF-8 stays as it is; a byte that is none,
    in a file's name for instance, becomes \u00XX, so that the JSON is valid. */
void text_print_json(const char *text);

/** Prints "480 bytes", and for more than that a rounded figure too. */
void text_print_bytes(uint64_t n);

/** Bytes of a question. */
enum { TEXT_QUESTION = 80 };

/**
 * Asks "; is it add?" if one of n names is near to name by the number of
 * letters to insert, remove or replace, else nothing. Returns question.
 */
const char *text_suggest(const char *name, const char *const names[], int n,
                         char question[TEXT_QUESTION]);

#endif
