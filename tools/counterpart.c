/*
 * Turns an operation into the name that another system has for it, a row per
 * operation in the order of the systems: public functions, operators of files,
 * layers. What takes an array and a number, as Caffe's Power, is none. Which
 * versions have an operation is among the notes of dialect.c.
 */
#include "counterpart.h"

#include <stddef.h>

#define NONE NULL

static const char *const names[][DIALECTS] = {
    [ELEMENTWISE_ADD] = {"np.add", "torch.add", "tf.add", "Add", "Add",
                         "elementwise_add", "elementwise_add", "Bias", "Add",
                         "Add"},
    [ELEMENTWISE_SUB] = {"np.subtract", "torch.sub", "tf.subtract", "Sub",
                         "Sub", "elementwise_sub", "elementwise_sub",
                         "Eltwise SUM, coeff 1 -1", "Sub", "Subtract"},
    [ELEMENTWISE_MUL] = {"np.multiply", "torch.mul", "tf.multiply", "Mul",
                         "Mul", "elementwise_mul", "elementwise_mul", "Scale",
                         "Mul", "Multiply"},
    [ELEMENTWISE_DIV] = {"np.divide", "torch.div", "tf.divide", "Div", "Div",
                         "elementwise_div", "elementwise_div", NONE, "Div",
                         "Divide"},
    [ELEMENTWISE_MAX] = {"np.maximum", "torch.maximum", "tf.maximum", "Max",
                         "Max", "elementwise_max", "elementwise_max",
                         "Eltwise MAX", "Max", "Maximum"},
    [ELEMENTWISE_MIN] = {"np.minimum", "torch.minimum", "tf.minimum", "Min",
                         "Min", "elementwise_min", "elementwise_min", NONE,
                         "Min", "Minimum"},
    [ELEMENTWISE_POW] = {"np.power", "torch.pow", "tf.pow", "Pow", "Pow",
                         "elementwise_pow", "elementwise_pow", NONE, "Pow",
                         "Power"},
    [ELEMENTWISE_MOD] = {"np.mod", "torch.remainder", "tf.math.floormod", "Mod",
                         NONE, "elementwise_mod", "elementwise_mod", NONE, NONE,
                         "FloorMod"},
    [ELEMENTWISE_FLOORDIV] = {"np.floor_divide", "torch.floor_divide",
                              "tf.math.floordiv", NONE, NONE,
                              "elementwise_floordiv", "elementwise_floordiv",
                              NONE, NONE, NONE},
    [ELEMENTWISE_FMAX] = {"np.fmax", "torch.fmax", NONE, NONE, NONE, NONE,
                          "elementwise_fmax", NONE, NONE, NONE},
    [ELEMENTWISE_FMIN] = {"np.fmin", "torch.fmin", NONE, NONE, NONE, NONE,
                          "elementwise_fmin", NONE, NONE, NONE},
    [ELEMENTWISE_HEAVISIDE] = {"np.heaviside", "torch.heaviside",
                               "tf.experimental.numpy.heaviside", NONE, NONE,
                               NONE, "elementwise_heaviside", NONE, NONE, NONE},
    [ELEMENTWISE_TRUNCDIV] = {NONE, "torch.div, rounding_mode trunc",
                              "tf.truncatediv", NONE, NONE,
                              "elementwise_floordiv", "elementwise_floordiv",
                              NONE, NONE, NONE},
    [ELEMENTWISE_FMOD] = {"np.fmod", "torch.fmod", "tf.truncatemod",
                          "Mod, fmod 1", NONE, "elementwise_mod",
                          "elementwise_mod", NONE, NONE, "Mod"},
    [ELEMENTWISE_ATAN2] = {"np.arctan2", "torch.atan2", "tf.math.atan2", NONE,
                           NONE, NONE, "paddle.atan2", NONE, NONE, NONE},
    [ELEMENTWISE_HYPOT] = {"np.hypot", "torch.hypot",
                           "tf.experimental.numpy.hypot", NONE, NONE, NONE,
                           "paddle.hypot", NONE, NONE, NONE},
    [ELEMENTWISE_COPYSIGN] = {"np.copysign", "torch.copysign", NONE, NONE, NONE,
                              NONE, "paddle.copysign", NONE, NONE, NONE},
    [ELEMENTWISE_NEXTAFTER] = {"np.nextafter", "torch.nextafter",
                               "tf.math.nextafter", NONE, NONE, NONE,
                               "paddle.nextafter", NONE, NONE, NONE},
    [ELEMENTWISE_LOGADDEXP] = {"np.logaddexp", "torch.logaddexp",
                               "tf.experimental.numpy.logaddexp", NONE, NONE,
                               NONE, "paddle.logaddexp", NONE, NONE, NONE},
    [ELEMENTWISE_EQUAL] = {"np.equal", "torch.eq", "tf.equal", "Equal", "Equal",
                           "equal", "equal", NONE, "EQ", "Equal"},
    [ELEMENTWISE_NOT_EQUAL] = {"np.not_equal", "torch.ne", "tf.not_equal", NONE,
                               NONE, "not_equal", "not_equal", NONE, "NE",
                               "NotEqual"},
    [ELEMENTWISE_LESS_THAN] = {"np.less", "torch.lt", "tf.less", "Less", "Less",
                               "less_than", "less_than", NONE, "LT", "Less"},
    [ELEMENTWISE_LESS_EQUAL] = {"np.less_equal", "torch.le", "tf.less_equal",
                                "LessOrEqual", NONE, "less_equal", "less_equal",
                                NONE, "LE", "LessEqual"},
    [ELEMENTWISE_GREATER_THAN] = {"np.greater", "torch.gt", "tf.greater",
                                  "Greater", "Greater", "greater_than",
                                  "greater_than", NONE, "GT", "Greater"},
    [ELEMENTWISE_GREATER_EQUAL] = {"np.greater_equal", "torch.ge",
                                   "tf.greater_equal", "GreaterOrEqual", NONE,
                                   "greater_equal", "greater_equal", NONE, "GE",
                                   "GreaterEqual"},
    [ELEMENTWISE_LOGICAL_AND] = {"np.logical_and", "torch.logical_and",
                                 "tf.logical_and", "And", "And", "logical_and",
                                 "logical_and", NONE, "And", "LogicalAnd"},
    [ELEMENTWISE_LOGICAL_OR] = {"np.logical_or", "torch.logical_or",
                                "tf.logical_or", "Or", "Or", "logical_or",
                                "logical_or", NONE, "Or", "LogicalOr"},
    [ELEMENTWISE_LOGICAL_XOR] = {"np.logical_xor", "torch.logical_xor",
                                 "tf.math.logical_xor", "Xor", "Xor",
                                 "logical_xor", "logical_xor", NONE, "Xor",
                                 "LogicalXor"},
    [ELEMENTWISE_BITWISE_AND] = {"np.bitwise_and", "torch.bitwise_and",
                                 "tf.bitwise.bitwise_and", "BitwiseAnd", NONE,
                                 NONE, "bitwise_and", NONE, "BitwiseAnd",
                                 "BitwiseAnd"},
    [ELEMENTWISE_BITWISE_OR] = {"np.bitwise_or", "torch.bitwise_or",
                                "tf.bitwise.bitwise_or", "BitwiseOr", NONE,
                                NONE, "bitwise_or", NONE, "BitwiseOr",
                                "BitwiseOr"},
    [ELEMENTWISE_BITWISE_XOR] = {"np.bitwise_xor", "torch.bitwise_xor",
                                 "tf.bitwise.bitwise_xor", "BitwiseXor", NONE,
                                 NONE, "bitwise_xor", NONE, "BitwiseXor",
                                 "BitwiseXor"},
    [ELEMENTWISE_BITWISE_LEFT_SHIFT] = {"np.left_shift",
                                        "torch.bitwise_left_shift",
                                        "tf.bitwise.left_shift",
                                        "BitShift LEFT", NONE, NONE,
                                        "bitwise_left_shift", NONE, NONE,
                                        "BitwiseLeftShift"},
    [ELEMENTWISE_BITWISE_RIGHT_SHIFT] = {"np.right_shift",
                                         "torch.bitwise_right_shift",
                                         "tf.bitwise.right_shift",
                                         "BitShift RIGHT", NONE, NONE,
                                         "bitwise_right_shift", NONE, NONE,
                                         "BitwiseRightShift"},
};

const char *counterpart_name(int dialect, elementwise_op op)
{
    return op < sizeof names / sizeof *names ? names[op][dialect] : NULL;
}

const char *counterpart_eltwise(elementwise_op op)
{
    switch (op) {
    case ELEMENTWISE_ADD:
        return "Eltwise SUM";
    case ELEMENTWISE_MUL:
        return "Eltwise PROD";
    default:
        return counterpart_name(DIALECT_CAFFE, op);
    }
}
