/*
 * Turns a plan into a JSON object that says what will run: the types, the
 * loop nest, the kernel and the bytes that move.
 */
#include "cpu.h"
#include "gradient.h"
#include "message.h"
#include "stage.h"
#include "strategy.h"
#include "tile.h"

static const char *const operands[] = {"x", "y", "out"};

/* Every element of an operand once, however often it is broadcast. */
static uint64_t operand_bytes(const struct elementwise_plan *plan, int k)
{
    uint64_t bytes = ew_types_size(plan->types.operand[k]);
    int ndim;
    const struct ew_loop *loop = ew_stage_loops(plan, &ndim);
    for (int i = 0; i < ndim; i++)
        if (loop[i].stride[k])
            bytes *= (uint64_t)loop[i].n;
    return plan->empty ? 0 : bytes;
}

/* Of all operands; three may be more than fit, each of them fits. */
static uint64_t all_bytes(const struct elementwise_plan *plan)
{
    uint64_t sum = 0;
    for (int k = 0; k < 3; k++)
        if (__builtin_add_overflow(sum, operand_bytes(plan, k), &sum))
            return UINT64_MAX;
    return sum;
}

/* The command prints these keys in this order. */
static void add_loop(struct ew_text *text, const struct ew_loop *loop)
{
    ew_text_add(text, "{\"extent\":%lld", (long long)loop->n);
    for (int k = 0; k < 3; k++)
        ew_text_add(text, ",\"%s\":%lld", operands[k],
                    (long long)loop->stride[k]);
    ew_text_add(text, "}");
}

static void add_loops(struct ew_text *text, const struct elementwise_plan *plan)
{
    ew_text_add(text, ",\"shape\":[");
    for (int i = 0; i < plan->result_ndim; i++)
        ew_text_add(text, i ? ",%lld" : "%lld",
                    (long long)plan->result_shape[i]);
    ew_text_add(text, "],\"loops\":[");
    for (int i = plan->ndim - 1; i >= 0; i--) {
        add_loop(text, &plan->loop[i]);
        ew_text_add(text, i ? "," : "");
    }
}

/* What a tile of several loops holds of each; nothing if it is of two. */
static void add_tile(struct ew_text *text, const struct elementwise_plan *plan)
{
    ew_text_add(text, "\"tile\":[");
    for (int i = plan->pass.deep - 1; i >= 0; i--)
        ew_text_add(text, i ? "%d," : "%d", plan->pass.extent[i]);
    ew_text_add(text, "]");
}

static const char *stores(const struct elementwise_plan *plan)
{
    if (ew_tile_places(plan, EW_OUT) || ew_strategy_scatters(plan))
        return "scattered";
    return plan->pass.stream ? "past the caches" : "as usual";
}

/* A list of operands' names. */
static void add_names(struct ew_text *text, const char *key,
                      const char *const names[], int n, const bool listed[])
{
    bool first = true;
    ew_text_add(text, ",\"%s\":[", key);
    for (int k = 0; k < n; k++) {
        if (!listed[k])
            continue;
        ew_text_add(text, first ? "\"%s\"" : ",\"%s\"", names[k]);
        first = false;
    }
    ew_text_add(text, "]");
}

/* None where nothing is read, as all derivatives are 0. */
static int walks(const struct ew_gradient *g)
{
    int n = 0;
    for (int i = 0; i <= g->walks; i++)
        n += g->walk[i].terms > 0;
    return n;
}

static size_t describe_gradient(const elementwise_plan *plan,
                                struct ew_text *text)
{
    static const char *const outputs[] = {"dx", "dy"};
    const struct ew_gradient *g = plan->gradient;
    bool made[2] = {false}, summed[2] = {false}, added[2] = {false};
    bool half = ew_types_size(g->compute) == 2; /* f32's, rounded at once */
    for (int i = 0; i < g->terms; i++) {
        const struct ew_term *t = &g->term[i];
        int k = t->out - EW_DX;
        made[k] = true;
        summed[k] = t->reduced;
        added[k] = t->add;
    }
    ew_text_add(text,
                "{\"op\":\"%s_grad\",\"compute\":\"%s\","
                "\"level\":\"%s\"",
                elementwise_op_name(plan->op),
                elementwise_dtype_name(half ? ELEMENTWISE_F32 : g->compute),
                ew_cpu_name(g->level));
    add_names(text, "outputs", outputs, 2, made);
    add_names(text, "summed", outputs, 2, summed);
    add_names(text, "added_to", outputs, 2, added);
    ew_text_add(text, ",\"act\":\"%s\"", elementwise_act_name(plan->act));
    add_names(text, "scaled", operands, 2, plan->scaled);
    ew_text_add(text, ",\"walks\":%d}", walks(g));
    return text->length;
}

size_t elementwise_plan_describe(const elementwise_plan *plan, char *json,
                                 size_t size)
{
    struct ew_text text = {json, size, 0};
    if (!plan)
        return 0;
    if (plan->gradient)
        return describe_gradient(plan, &text);
    const struct ew_types *types = &plan->types;
    const char *compute =
        elementwise_dtype_name(ew_types_arithmetic(plan->op, types));
    const char *first = elementwise_dtype_name(types->compute[EW_X]);
    bool mixed = types->compute[EW_X] != types->compute[EW_Y];
    const char *second = elementwise_dtype_name(types->compute[EW_Y]);
    bool tiles = ew_pass_tiles(&plan->pass);
    bool folds = plan->pass.fold || plan->pass.deep ||
                 ew_pass_repeated(&plan->pass) != 0;
    ew_text_add(&text,
                "{\"op\":\"%s\",\"compute\":\"%s\",\"result\":\"%s\","
                "\"level\":\"%s\"",
                plan->what, compute, elementwise_dtype_name(types->result),
                ew_cpu_name(plan->level));
    add_loops(&text, plan);
    ew_text_add(&text,
                "],\"kernel\":\"%s_%s%s%s\",\"tiles\":%s,"
                "\"x_input\":\"%s\",\"y_input\":\"%s\","
                "\"rows\":\"%s\",",
                plan->what, first, mixed ? "_" : "", mixed ? second : "",
                tiles ? "true" : "false", ew_strategy_input(plan, EW_X),
                ew_strategy_input(plan, EW_Y),
                folds                         ? "folded"
                : plan->pass.across && !tiles ? "across"
                                              : "as is");
    add_tile(&text, plan);
    const bool kept[] = {ew_strategy_keeps(plan, EW_X),
                         ew_strategy_keeps(plan, EW_Y)};
    add_names(&text, "kept", operands, 2, kept);
    ew_text_add(&text, ",\"stores\":\"%s\",\"act\":\"%s\"", stores(plan),
                elementwise_act_name(plan->act));
    add_names(&text, "scaled", operands, 2, plan->scaled);
    ew_text_add(&text, ",\"bytes\":%llu}", (unsigned long long)all_bytes(plan));
    return text.length;
}
