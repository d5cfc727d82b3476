/*
 * Turns the library's operations and types into two tables. What an operation
 * takes, and whether it has a gradient, is asked of the library.
 */
#include <stdio.h>

#include "command.h"
#include "npy.h"

static const struct {
    const char *name;
    elementwise_dtype sample; /* an operation takes all of a kind or none */
} kinds[] = {{"bool", ELEMENTWISE_BOOL},
             {"int", ELEMENTWISE_I32},
             {"float", ELEMENTWISE_F32},
             {"complex", ELEMENTWISE_C64}};

bool command_has_gradient(elementwise_op op)
{
    float one = 1, slope;
    const elementwise_tensor x = {.data = &one, .dtype = ELEMENTWISE_F32};
    const elementwise_tensor dx = {.data = &slope, .dtype = ELEMENTWISE_F32};
    return !elementwise_apply_grad(op, &x, &x, NULL, &x, ELEMENTWISE_NUMPY, &dx,
                                   NULL, NULL);
}

static void print_operation(elementwise_op op)
{
    elementwise_dtype result;
    bool compares = true;
    printf("  %-20s  %-30s ", elementwise_op_name(op), help_formula(op));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        elementwise_dtype sample = kinds[i].sample;
        if (elementwise_result_type(op, sample, sample, &result))
            continue;
        printf(" %s", kinds[i].name);
        compares &= result == ELEMENTWISE_BOOL;
    }
    printf("%s%s\n", compares ? " -> bool" : "",
           command_has_gradient(op) ? ", gradient" : "");
}

int command_list(const struct arguments *arguments)
{
    char descr[16];
    if (arguments->count)
        return command_fail(COMMAND_USAGE, "list: takes no operands");
    printf("Operations:\n");
    for (int i = 1; elementwise_op_name((elementwise_op)i); i++)
        print_operation((elementwise_op)i);
    printf("\nTypes, bytes, and how .npy files name them:\n");
    for (int i = 1; elementwise_dtype_name((elementwise_dtype)i); i++) {
        elementwise_dtype dtype = (elementwise_dtype)i;
        npy_describe(dtype, descr);
        printf("  %-5s %2zu  %s\n", elementwise_dtype_name(dtype),
               elementwise_dtype_size(dtype), descr);
    }
    return COMMAND_DONE;
}
