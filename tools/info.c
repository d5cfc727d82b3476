/*
 * Turns the headers of .npy files into a line each, for people or in JSON.
 * The files are mapped and their data is never touched.
 */
#include "command.h"
#include "operand.h"
#include "text.h"

/* What the other byte order is called. */
static const char *byte_order(const struct npy *npy)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    if (elementwise_dtype_size(npy->dtype) == 1)
        return "none";
    return little != npy->foreign ? "little" : "big";
}

/* NULL for two bytes that nobody has said are bf16. */
static const char *type_name(const struct operand *operand, bool bf16)
{
    bool unknown = operand->header.untyped && !bf16;
    return unknown ? NULL : elementwise_dtype_name(operand->header.dtype);
}

static void print_line(const struct operand *operand, const char *type)
{
    const struct npy *npy = &operand->header;
    printf("%s: %s ", operand->file, type ? type : npy->descr);
    text_print_shape(npy->ndim, npy->shape);
    printf(", %s-major, ", npy->fortran ? "column" : "row");
    text_print_bytes(npy->nbytes);
    printf("%s, version %d.0\n",
           npy->foreign ? ", in the other byte order" : "", npy->version);
}

static void print_json(const struct operand *operand, const char *type)
{
    const struct npy *npy = &operand->header;
    printf("{\"file\":");
    text_print_json(operand->file);
    printf(type ? ",\"dtype\":\"%s\"" : ",\"dtype\":null", type);
    printf(",\"descr\":\"%s\",\"shape\":", npy->descr);
    text_print_json_shape(npy->ndim, npy->shape);
    printf(",\"order\":\"%s\",\"byteorder\":\"%s\",\"bytes\":%zu,"
           "\"offset\":%zu,\"version\":\"%d.0\"}\n",
           npy->fortran ? "F" : "C", byte_order(npy), npy->nbytes, npy->offset,
           npy->version);
}

/* Goes on after a file that cannot be read: the others may be fine. */
int command_info(const struct arguments *arguments)
{
    int worst = COMMAND_DONE;
    if (arguments->count == 0)
        return command_fail(COMMAND_USAGE, "info: no file given");
    for (int i = 0; i < arguments->count; i++) {
        struct operand operand;
        int code = operand_open(&operand, arguments->operands[i], true);
        const char *type = type_name(&operand, arguments->bf16);
        if (code)
            worst = code;
        else if (arguments->json)
            print_json(&operand, type);
        else
            print_line(&operand, type);
        operand_close(&operand);
    }
    return worst;
}
