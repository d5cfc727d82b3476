/*
 * Turns a subcommand or an operation into the text that explains it.
 */
#include "command.h"

#include <stddef.h>

const char help_overview[] =
    "Usage: elementwise OP X Y -o OUT.npy [--axis N] [--out-dtype T]\n"
    "       elementwise copy X.npy -o OUT.npy [--shape S] [--axis N]\n"
    "                                         [--out-dtype T]\n"
    "       elementwise grad OP X Y DOUT.npy [--dx DX.npy] [--dy DY.npy]\n"
    "                                        [--axis N]\n"
    "       elementwise sum-to SRC.npy S -o DST.npy [--axis N]\n"
    "       elementwise explain OP X Y [--axis N] [--dialect D] [--json]\n"
    "       elementwise conform FILE|FOLDER... [--json] [--strides SEED]\n"
    "                                          [--cpu LEVEL|all] [--ulp N]\n"
    "       elementwise diff A.npy B.npy [--ulp N]\n"
    "       elementwise info FILE.npy... [--json]\n"
    "       elementwise list\n"
    "       elementwise --help | --version, elementwise COMMAND --help\n"
    "\n"
    "Elementwise operations on .npy files with broadcasting: shapes are\n"
    "aligned at the right as in NumPy, or with --axis N so that y's first\n"
    "dimension stands at x's dimension N as in Paddle and Caffe.\n"
    "\n"
    "  elementwise add x.npy bias.npy --axis 1 -o sum.npy\n"
    "  elementwise mul x.npy 0.5 -o half.npy\n"
    "  elementwise explain add 2x3x4x5 3x4 --axis 1\n"
    "\n"
    "Files may be larger than memory. An output is written under another\n"
    "name in its folder and renamed when it is complete, so it may be one of\n"
    "the inputs, and after an error or an interruption there is none.\n"
    "Versions 1.0, 2.0 and 3.0, row-major and column-major, and both byte\n"
    "orders are read. Version 1.0 in this machine's byte order is written:\n"
    "by copy and sum-to row-major, by grad in the order of the operand, by\n"
    "an operation column-major if all input files of rank 2 and more are,\n"
    "else row-major. A file of V2 is bf16 if --dtype bf16 is given, and bf16\n"
    "is written as V2: NumPy has no name for it. -o - is not supported.\n"
    "Options may stand anywhere, each once; -- ends them.\n"
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  2  the command line makes no sense\n"
    "  3  shapes, axis or types do not go together, or there is no gradient\n"
    "  4  a file cannot be read or written, or is not a valid .npy file\n"
    "  5  no memory, or a size beyond 2^63 - 1 bytes\n"
    "  6  an integer is divided by zero; there is no output\n"
    "  (1: what conform or diff compared is different)\n";

const char help_apply[] =
    "Usage: elementwise OP X Y -o OUT.npy [--axis N] [--out-dtype T]\n"
    "                   [--scale-x S] [--scale-y S] [--act A [--alpha S]]\n"
    "                   [--dtype bf16]\n"
    "\n"
    "Writes X op Y. `elementwise list` has the operations. One of X and Y may\n"
    "be a number: 2, -0.5, 1e-3, 0x1p-3, inf, -inf, nan. As a number in\n"
    "Python it takes the type of the array: an integer must fit an integer\n"
    "type, and a number that is not infinite must not become infinite. An\n"
    "integer is i64 next to a bool array; a number with a point, an exponent,\n"
    "inf or nan is f64 next to integers and bool. A file that is called like\n"
    "a number is ./5. OUT is column-major if all input files of rank 2 and\n"
    "more are, else row-major.\n"
    "\n"
    "  --axis N         where y's first dimension stands, or x's if x has the\n"
    "                   smaller rank: 0, 1, ...; -1, the default, aligns the\n"
    "                   shapes at the right\n"
    "  -o, --output F   the file to write; required\n"
    "  --out-dtype T    the type to write, if the result can be cast to it\n"
    "                   (as NumPy's same_kind: f32 to f16, not f32 to i32)\n"
    "  --scale-x S, --scale-y S\n"
    "                   factors: S X op S Y; floats and complex types\n"
    "  --act A          what follows in the same pass, on floats: relu, "
    "relu6,\n"
    "                   leaky_relu, sigmoid, tanh, gelu (with erf), silu\n"
    "  --alpha S        the slope of leaky_relu, 0.01 by default\n"
    "  --dtype bf16     files of V2 are bf16\n"
    "\n"
    "  elementwise add x.npy bias.npy --axis 1 -o sum.npy\n"
    "  elementwise add x.npy bias.npy --axis 1 --act relu -o y.npy\n"
    "  elementwise sub 1 mask.npy -o inverted.npy\n"
    "  elementwise mul x.npy -0.5 --out-dtype f16 -o scaled.npy\n"
    "  elementwise less_than x.npy 0 -o negative.npy\n"
    "  elementwise max x.npy 0.0 -o x.npy\n";

const char help_copy[] =
    "Usage: elementwise copy X.npy -o OUT.npy [--shape S] [--axis N]\n"
    "                        [--out-dtype T] [--dtype bf16]\n"
    "\n"
    "Writes X row-major in this machine's byte order: in its own shape and\n"
    "type, or broadcast to the shape S and converted to T. Floats become\n"
    "integers by dropping the fraction, and the nearest integer there is if\n"
    "they do not fit; integers wrap; complex becomes nothing but complex\n"
    "and bool.\n"
    "\n"
    "  --shape S        2x3x4, 2,3,4 or () for one element\n"
    "  --axis N         where X's first dimension stands in S; -1, the\n"
    "                   default, aligns the shapes at the right\n"
    "  -o, --output F   the file to write; required\n"
    "  --out-dtype T    the type to write\n"
    "  --dtype bf16     a file of V2 is bf16\n"
    "\n"
    "  elementwise copy x.npy --out-dtype f16 -o x16.npy\n"
    "  elementwise copy bias.npy --shape 8x3x224x224 --axis 1 -o full.npy\n";

const char help_grad[] =
    "Usage: elementwise grad OP X Y DOUT.npy [--dx DX.npy] [--dy DY.npy]\n"
    "                        [--axis N] [--dtype bf16] [--scale-x S]\n"
    "                        [--scale-y S] [--act A [--alpha S]]\n"
    "\n"
    "Writes the gradients of X op Y, where DOUT is the gradient of the result\n"
    "and has its shape and type. DX has the shape, type and order of X: where\n"
    "X was stretched the gradient is summed. DY is the same for Y. Integers\n"
    "have no gradient, but Y may be of integers if only --dx is given.\n"
    "`elementwise list` tells which operations have a gradient. One of X and\n"
    "Y may be a number.\n"
    "\n"
    "At least one of --dx and --dy is needed. Both files get their names when\n"
    "both are complete. Inputs in the other byte order, or whose data is not\n"
    "aligned, are converted in memory.\n"
    "\n"
    "  --dx F           the file for the gradient of X\n"
    "  --dy F           the file for the gradient of Y\n"
    "  --axis N         as for the operation: where y's first dimension\n"
    "                   stands, or x's if x has the smaller rank; -1, the\n"
    "                   default, aligns the shapes at the right\n"
    "  --scale-x, --scale-y, --act, --alpha\n"
    "                   those of the operation\n"
    "  --dtype bf16     files of V2 are bf16\n"
    "\n"
    "  elementwise grad add x.npy bias.npy dout.npy --axis 1 --dy dbias.npy\n"
    "  elementwise grad mul x.npy y.npy dout.npy --dx dx.npy --dy dy.npy\n"
    "  elementwise grad pow x.npy 2 dout.npy --dx dx.npy\n";

const char help_sum_to[] =
    "Usage: elementwise sum-to SRC.npy SHAPE|LIKE.npy -o DST.npy [--axis N]\n"
    "                          [--dtype bf16]\n"
    "\n"
    "Writes SRC summed over every dimension in which DST would be stretched\n"
    "to SRC's shape: the opposite of copy --shape. DST is row-major and has\n"
    "the type of SRC, a float or complex one, and the given shape or that of\n"
    "the file LIKE, of which the header is read. A file that is called like a\n"
    "shape is ./2x3.\n"
    "\n"
    "  --axis N         where DST's first dimension stands in SRC; -1, the\n"
    "                   default, aligns the shapes at the right\n"
    "  -o, --output F   the file to write; required\n"
    "  --dtype bf16     a file of V2 is bf16\n"
    "\n"
    "  elementwise sum-to dout.npy 3 --axis 1 -o dbias.npy\n"
    "  elementwise sum-to dout.npy bias.npy --axis 1 -o dbias.npy\n"
    "  elementwise sum-to x.npy '()' -o total.npy\n";

const char help_explain[] =
    "Usage: elementwise explain OP X Y [--axis N] [--out-dtype T] [--json]\n"
    "                           [--dtype bf16] [--scale-x S] [--scale-y S]\n"
    "                           [--act A [--alpha S]]\n"
    "       elementwise explain OP X Y --dialect D [--axis N] [--num-axes N]\n"
    "                           [--broadcast 0|1] and all of the above\n"
    "\n"
    "Shows how X and Y are aligned, the shape and type of the result, and the\n"
    "loops that would run, with the bytes they step and the bytes that move.\n"
    "X and Y are shapes (2x3x4, 2,3,4, () or scalar; f32 unless a type\n"
    "follows, as in 2x3:f16) or .npy files, of which the header is read. One\n"
    "may be a number with a sign, a point or an exponent, such as 2.0; 2 is a\n"
    "shape. A file that is called like a shape is ./2x3. If the shapes do not\n"
    "fit, the reason goes to stderr, or with --json into the object, and the\n"
    "exit code is the one of the operation.\n"
    "\n"
    "  --axis N         where y's first dimension stands, or x's if x has the\n"
    "                   smaller rank; -1, the default, aligns at the right\n"
    "  --out-dtype T    the type of the output\n"
    "  --scale-x, --scale-y, --act, --alpha\n"
    "                   as for the operation\n"
    "  --json           one JSON object\n"
    "  --dtype bf16     files of V2 are bf16\n"
    "\n"
    "With --dialect the shapes and arguments are read as that system reads\n"
    "them, and shown are its name for OP and the call of ours that does the\n"
    "same, with what --scale-x and so on ask for. What it refuses or does not\n"
    "have is refused with exit code 3. Without, a table at the end shows how\n"
    "each system sees these shapes and --axis; broadcast is 1 there. Only\n"
    "shapes and arguments are judged: it may refuse the types or give\n"
    "another one than the type of out that is shown, which is ours.\n"
    "\n"
    "  numpy torch tensorflow onnx7   take no arguments\n"
    "  paddle1 (up to 1.5)            --axis; -1, the default, is the right\n"
    "  paddle2 (from 1.7 on)          --axis; -1, the default, is the right\n"
    "  caffe                          --axis, 1 by default, counted from the\n"
    "                                 end if negative; --num-axes says that Y\n"
    "                                 is learned and not a second bottom\n"
    "  caffe2, onnx6 (opset 1 to 6)   --broadcast, 0 by default; --axis\n"
    "  pdpd (OpenVINO)                --axis; -1, the default, is the right\n"
    "\n"
    "In the diagram . counts as 1, 1>n is stretched, [1] is a trailing 1 that\n"
    "is dropped. Colours are for terminals; NO_COLOR turns them off.\n"
    "\n"
    "  elementwise explain add 2x3x4x5 3x4 --axis 1\n"
    "  elementwise explain mul 8x1x6x1 7x1x5\n"
    "  elementwise explain sub x.npy 3:f64 --json\n"
    "  elementwise explain mul 2x3x4x5 3x4 --dialect caffe --axis -3\n"
    "  elementwise explain add 2x3 2x3 --dialect caffe --scale-y -0.5\n";

const char help_info[] =
    "Usage: elementwise info FILE.npy... [--json] [--dtype bf16]\n"
    "\n"
    "Prints type, shape, order, size and version of files. Only headers are\n"
    "read, but files whose data is cut off are noticed.\n"
    "\n"
    "  --json           one JSON object per line and file; dtype is null for\n"
    "                   V2 unless --dtype bf16 is given\n"
    "  --dtype bf16     files of V2 are bf16\n"
    "\n"
    "  elementwise info x.npy\n"
    "  elementwise info --json *.npy\n";

const char help_conform[] =
    "Usage: elementwise conform FILE|FOLDER... [--json] [--strides SEED]\n"
    "                           [--cpu LEVEL|all] [--ulp N] [--dtype bf16]\n"
    "\n"
    "Replays calls whose results are known, from a framework for instance,\n"
    "and counts per operation, type and rule of alignment how many cases are\n"
    "equal (any NaN is like any other), within the bound in ULP that\n"
    "doc/conformance.md states for the operation (0 for most), different on\n"
    "purpose for a reason that the case names, and different. Up to 20\n"
    "different cases are described.\n"
    "\n"
    "FILE is a text file of cases. FOLDER has .npy files and manifest.txt, a\n"
    "case per line: [grad] OP axis N, then pairs of x, y, out, or for a\n"
    "gradient x, y, dout, dx, dy, and the name of a file. `error` stands for\n"
    "a result if the call is refused, `differs WORD` marks a difference that\n"
    "is known.\n"
    "\n"
    "  --json           one JSON object for each set of kernels, which names\n"
    "                   each case that differs, on purpose or not\n"
    "  --strides SEED   operands and results get random strides: permuted,\n"
    "                   backwards, with gaps\n"
    "  --cpu LEVEL      the kernels for base, avx2, avx512, avx512vbmi or\n"
    "                   avx512fp16; all: a report for each that this machine\n"
    "                   has\n"
    "  --ulp N          the bound for all operations and gradients\n"
    "  --dtype bf16     files of V2 are bf16\n"
    "\n"
    "The exit code is 1 if a case is different, and 0 if none is. If a file\n"
    "cannot be read it is 4, and all other files are replayed all the same.\n"
    "\n"
    "  elementwise conform tests/conformance/numpy.txt\n"
    "  elementwise conform --cpu all --strides 1 dumped/\n";

const char help_diff[] =
    "Usage: elementwise diff A.npy B.npy [--ulp N] [--dtype bf16]\n"
    "\n"
    "Compares two files of one shape and type, element by element, and shows\n"
    "the ten places where they are furthest from each other: index, both\n"
    "values in decimal and as bits, and the distance in units in the last\n"
    "place of A. A NaN equals a NaN; zeros of different signs differ by more\n"
    "than any N. Integers differ by their difference. Nothing is printed if\n"
    "all is equal. The exit code is 0 if nothing is further apart than N, and\n"
    "1 if something is, or the shapes or types differ.\n"
    "\n"
    "  --ulp N          differences up to N are no difference; 0 if not given\n"
    "  --dtype bf16     files of V2 are bf16\n"
    "\n"
    "  elementwise diff out.npy expected.npy\n"
    "  elementwise diff out.npy expected.npy --ulp 4\n";

const char help_list[] =
    "Usage: elementwise list\n"
    "\n"
    "Prints the operations, what they compute and the kinds of types they\n"
    "take, and the types. -> bool: the result is bool, otherwise the type\n"
    "that both operands promote to. gradient: `elementwise grad` takes it.\n";

static const char *const formulas[] = {
    [ELEMENTWISE_ADD] = "x + y",
    [ELEMENTWISE_SUB] = "x - y",
    [ELEMENTWISE_MUL] = "x * y",
    [ELEMENTWISE_DIV] = "x / y",
    [ELEMENTWISE_MAX] = "the larger, NaN wins",
    [ELEMENTWISE_MIN] = "the smaller, NaN wins",
    [ELEMENTWISE_POW] = "x to the power y",
    [ELEMENTWISE_MOD] = "x - floor(x / y) * y",
    [ELEMENTWISE_FLOORDIV] = "floor(x / y)",
    [ELEMENTWISE_FMAX] = "the larger, numbers win",
    [ELEMENTWISE_FMIN] = "the smaller, numbers win",
    [ELEMENTWISE_HEAVISIDE] = "0 if x < 0, y if x = 0, else 1",
    [ELEMENTWISE_TRUNCDIV] = "trunc(x / y)",
    [ELEMENTWISE_FMOD] = "x - trunc(x / y) * y",
    [ELEMENTWISE_ATAN2] = "the angle of (y, x)",
    [ELEMENTWISE_HYPOT] = "sqrt(x^2 + y^2)",
    [ELEMENTWISE_COPYSIGN] = "x with the sign of y",
    [ELEMENTWISE_NEXTAFTER] = "the next value of x towards y",
    [ELEMENTWISE_LOGADDEXP] = "log(exp(x) + exp(y))",
    [ELEMENTWISE_EQUAL] = "x == y",
    [ELEMENTWISE_NOT_EQUAL] = "x != y",
    [ELEMENTWISE_LESS_THAN] = "x < y",
    [ELEMENTWISE_LESS_EQUAL] = "x <= y",
    [ELEMENTWISE_GREATER_THAN] = "x > y",
    [ELEMENTWISE_GREATER_EQUAL] = "x >= y",
    [ELEMENTWISE_LOGICAL_AND] = "x and y",
    [ELEMENTWISE_LOGICAL_OR] = "x or y",
    [ELEMENTWISE_LOGICAL_XOR] = "either x or y",
    [ELEMENTWISE_BITWISE_AND] = "x & y",
    [ELEMENTWISE_BITWISE_OR] = "x | y",
    [ELEMENTWISE_BITWISE_XOR] = "x ^ y",
    [ELEMENTWISE_BITWISE_LEFT_SHIFT] = "x << y",
    [ELEMENTWISE_BITWISE_RIGHT_SHIFT] = "x >> y",
};

const char *help_formula(elementwise_op op)
{
    size_t i = (size_t)op;
    const char *formula =
        i < sizeof formulas / sizeof *formulas ? formulas[i] : NULL;
    return formula ? formula : "";
}
