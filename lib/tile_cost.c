/*
 * Estimates what an element costs in a tile of several loops, and in what there
 * is without one: the lines that are brought for it, what gathers or scatters
 * it, and its share of what a row, a tile or a call takes, in picoseconds, by
 * figures measured on a processor of 2023. They need not be exact: what is told
 * apart is a fraction of a line per element from a line, and a row of three
 * from one of hundreds.
 */
#include "tile_cost.h"

#include "cpu.h"
#include "gather.h"
#include "permutation.h"
#include "strategy_parts.h"
#include "table.h"

enum {
    FEW_RUNS = 128,    /* of an operand in a tile of more elements */
    VECTOR_ROW = 16,   /* elements; f16, bf16, quotients of integers and what */
    COMPARED_ROW = 32, /* is compared, with AVX2, go one by one below that */
    WIDE_ROW = 8,      /* of quotients of 64 bits */
    CALL_TABLES = 400000, /* of the tables that such tiles need, per call */
    BASE_COST = 30,       /* of an element in any way, */
    PACK_COST = 60,       /* and where a kernel packs it */
    SCATTERED = 2,        /* so many times as much as a run that is gathered */
    TILE_COST = 80000,    /* of steps through buffers, per tile, */
    PACK_CALL = 2000,     /* and of each input that a kernel packs there */
    ONE_LOAD = 16,        /* bytes of a run; what is more costs, */
    BYTE_COST = 5,        /* each */
    CALL_COST = 3000,     /* of a kernel that needs none, per two loops */
    LINE_ROW = 1500,      /* of a row there that is whole lines */
    ONE_COST = 1000,      /* of an element that a kernel takes by itself */
    STRIDED_COST = 1000,  /* of one that it takes where it is, with gaps, */
    NEAR_COST = 600,      /* or of an input with small ones (EW_SHUFFLED), */
    FEW_COST = 300,       /* of 8 bytes, where lines have some more; */
    WAIT_ROW = 6000,      /* and of a row read from a buffer as soon as */
    SOON = 512,           /* so few elements are stored there */
    PUT_COST = 150,       /* of one that is moved there from a tile, */
    PUT_ROW = 5000,       /* and of a row of them; */
    COPY_COST = 250,      /* of one that is copied there */
    COPY_ROW = 600,       /* and of a row that is dense there */
    PARTS_COST = 5000,    /* times its size, of a row that ends in parts of */
    LINE_AGAIN = 2500,    /* lines, others of which come later; of a line */
                          /* that comes again after AGAIN_FROM */
    SPREAD_ROW = 300,     /* of an element of which copies are made, */
    SPREAD_BYTE = 15,     /* or of a byte in a vector of them */
    GATHER_COST = 200,    /* of one that is picked from larger steps, */
    BACK_COST = 250,      /* or from steps back that are no shuffles */
    PACK_ROW = 2000,      /* of a row in which elements are picked, */
    PACK_BYTES = 5000,    /* or bytes; */
    WINDOW_COST = 800,    /* of a window of elements that are compacted, */
    COMPACT_LEAST = 4,    /* if it has so many, */
    COMPACT_SMALL = 8,    /* on AVX-512, which permutes others, */
    COMPACT_WIDE = 5,     /* and of 8 bytes */
    NEAR_PARTS = 3, /* lines cost such a part, as others come meanwhile, */
    FAR_PARTS = 2,  /* from beyond the L2 cache */
};

/* What is not the same for all elements: what a row costs, and tenths that a
   tile must be cheaper by. Large ones lose less by strides. */
static const struct figures {
    int64_t row, tenths;
} small = {3000, 12}, words = {3000, 16}, large = {2000, 17};

static const struct figures *figures_of(const struct elementwise_plan *plan)
{
    unsigned widest = ew_pass_widest(&plan->pass, 3);
    return widest < 4 ? &small : widest < 8 ? &words : &large;
}

/* An operand that stays in the L1 cache costs less. */
enum { NEAR_BYTES = 16 << 10 };

/* Bytes that a loop passes, after which its first lines have left the L1 cache:
   they cost about as much from the L2 cache as from beyond. */
enum { AGAIN_FROM = 32 << 10 };

/* Bytes of out from which parts of its lines that are stored later cost more.
 */
enum { PARTS_FROM = 6 << 20 };

/* Lines of out that push each other out of a cache, and are written in parts or
   have neighbours that come much later, cost so many times as much. */
enum { CROWDED = 3 };

/* Lines of an input in one place of the L1 cache, each of which is read several
   times: of more, none would be there any more. */
enum { TOGETHER = 16 };

/* Bytes of an element of an input that are taken while others are stored one by
   one. */
enum { BESIDE_LEAST = 4 };

/* Blocks in memory so many bytes apart are read one after the other, as
   processors bring what lies between them; and bytes of all lines of an input
   that does not stay in a last cache of 32 MiB. */
enum { READ_OVER = 256, MEMORY_BYTES = 20 << 20 };

/* Whether an input, with the gaps in its lines, comes from memory, in another
   order than loops go: else processors read ahead whatever tiles are. Of a
   large last cache that was not measured. */
static bool comes_from_memory(const struct ew_tile_course *course)
{
    bool ordered = true;
    for (int j = 1; j < course->loops; j++)
        ordered &= course->at[j].loop > course->at[j - 1].loop;
    if (ordered || !ew_cpu_is(EW_SMALL_CACHE))
        return false;
    int64_t step = course->at[0].step;
    return course->bytes / course->size >=
           MEMORY_BYTES / (step < EW_LINE ? step : EW_LINE);
}

static void find_course(const struct elementwise_plan *plan, int k,
                        struct ew_tile_course *course)
{
    int64_t bytes = plan->pass.stored[k];
    course->size = bytes;
    course->loops = 0;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        if (step == 0)
            continue;
        int j = course->loops++;
        for (; j > 0 && step < course->at[j - 1].step; j--)
            course->at[j] = course->at[j - 1];
        course->at[j].step = step;
        course->at[j].most =
            k == EW_OUT ? EW_CACHE_WAYS * ew_layout_places(step) : INT64_MAX;
        course->at[j].loop = i;
        bytes *= plan->loop[i].n;
    }
    course->bytes = bytes;
    course->over = 0;
    course->by_one = false;
    course->first = bytes < NEAR_BYTES     ? 300
                    : bytes < EW_FAR_BYTES ? 1500
                                           : 5000;
    if (k != EW_OUT && comes_from_memory(course)) {
        course->first = 10000;
        course->over = READ_OVER;
    }
    course->next = bytes < NEAR_BYTES ? 100 : bytes < EW_FAR_BYTES ? 600 : 1500;
}

void ew_tile_courses(struct ew_tile_search *s)
{
    for (int k = 0; k <= EW_OUT; k++)
        find_course(s->plan, k, &s->course[k]);
}

int64_t ew_tile_lines(const struct ew_tile_course *course,
                      const int64_t extent[])
{
    int64_t block = course->size, blocks = 1, first = course->first;
    for (int j = 0; j < course->loops; j++) {
        int64_t step = course->at[j].step, n = extent[course->at[j].loop];
        if (step < EW_LINE || step - block <= course->over) {
            block += (n - 1) * step;
            continue;
        }
        blocks *= n;
        if (n > course->at[j].most && block <= EW_LINE)
            first = CROWDED * course->first;
    }
    return blocks * (first + course->next * block / EW_LINE);
}

int64_t ew_tile_elements(const struct elementwise_plan *plan,
                         const int64_t extent[])
{
    int64_t elements = 1;
    for (int i = 0; i < plan->ndim; i++)
        elements *= extent[i];
    return elements;
}

/* Whether the lines of input k in a tile, where it is gathered run by run, push
   each other out of the L1 cache. */
static bool is_crowded(const struct elementwise_plan *plan, int k,
                       const int64_t extent[])
{
    int64_t together = 1;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        int64_t some = step < EW_LINE ? 1 : extent[i] / ew_layout_places(step);
        together *= some > 1 ? some : 1;
    }
    return together > TOGETHER;
}

bool ew_tile_pushes_out(const struct ew_tile_search *s, const int64_t extent[])
{
    bool pushes = false;
    for (int k = 0; k < 2; k++)
        pushes |= s->course[k].by_one && is_crowded(s->plan, k, extent);
    return pushes;
}

int64_t ew_tile_run(const struct elementwise_plan *plan, int k, int ndim,
                    const int64_t extent[])
{
    int64_t run = plan->pass.stored[k];
    bool still = true, follows = true;
    for (int i = 0; i < ndim; i++) {
        if (extent[i] == 1)
            continue;
        follows &= plan->loop[i].stride[k] == run;
        still &= plan->loop[i].stride[k] == 0;
        run *= follows ? extent[i] : 1;
    }
    return still ? 0 : run;
}

/* What a tile has of operand k. */
static void find_layout(const struct elementwise_plan *plan, int k,
                        const int64_t extent[], struct ew_layout *layout)
{
    int n = 0;
    for (int i = 0; i < plan->ndim; i++)
        if (extent[i] > 1)
            layout->loop[n++] =
                (struct ew_layout_loop){extent[i], plan->loop[i].stride[k]};
    layout->size = plan->pass.stored[k];
    layout->ndim = n;
}

/* The best way to gather an input of up to 8 bytes, and what it costs where
   going run by run costs so much. */
static struct ew_gathering find_way(int level, const struct ew_layout *layout,
                                    int64_t *cost)
{
    struct ew_gathering best = {NULL, 0, 0};
    ew_permuter *permute = ew_table_permute(level);
    int64_t turned;
    if (permute) {
        int windows = 0;
        *cost = ew_permutation_permuting(layout, *cost, &windows);
        best.kernel = windows ? permute : NULL;
        best.windows = (unsigned char)windows;
    }
    int64_t turning = ew_permutation_turning(layout, &turned);
    ew_permuter *turn = ew_table_turn(level, turned);
    if (turn && turning < *cost) {
        *cost = turning;
        best.kernel = turn;
        best.turned = (unsigned char)turned;
    }
    return best;
}

/* The same of operand k of a tile, or to scatter out: nothing if it is one run
   or stands still. What repeats is gathered once, but estimated as a whole:
   by less, tiles are chosen that take longer. */
static struct ew_gathering find_gathering(const struct elementwise_plan *plan,
                                          int k, const int64_t extent[],
                                          int64_t *cost)
{
    struct ew_layout layout;
    struct ew_gathering best = {NULL, 0, 0};
    find_layout(plan, k, extent, &layout);
    *cost = ew_places_cost(&layout);
    if (*cost == 0 || k == EW_OUT || layout.size > 8)
        return best;
    best = find_way(plan->level, &layout, cost);
    if (ew_layout_once(&layout) > 1) {
        int64_t once = ew_places_cost(&layout);
        best = find_way(plan->level, &layout, &once);
    }
    return best;
}

/* What runs of input k take that are more than a load and a store each: what
   comes from beyond the L2 cache is waited for anyway. */
static int64_t long_runs(const struct elementwise_plan *plan, int k,
                         const int64_t extent[])
{
    int64_t bytes = ew_tile_elements(plan, extent) * plan->pass.stored[k];
    int64_t run = ew_tile_run(plan, k, plan->ndim, extent);
    return run > ONE_LOAD && run < bytes
               ? bytes / run * (run - ONE_LOAD) * BYTE_COST
               : 0;
}

/* The number of tiles one after the other that share what they have of input k:
   they go along a loop where it stands still first (order_tiles), or do so
   anyway. */
static int64_t tiles_sharing(const struct elementwise_plan *plan, int k,
                             const int64_t extent[], bool ordered)
{
    for (int i = 0; i < plan->ndim; i++) {
        const struct ew_loop *loop = &plan->loop[i];
        if (extent[i] == loop->n)
            continue;
        if (loop->stride[k] == 0)
            return (loop->n + extent[i] - 1) / extent[i];
        if (!ordered)
            return 1;
    }
    return 1;
}

/* What an element costs beyond lines in a tile. */
static int64_t deep_cost(const struct ew_tile_search *s,
                         const struct ew_tile *tile)
{
    bool near = s->course[EW_OUT].bytes <= EW_FAR_BYTES;
    int64_t cost = TILE_COST;
    for (int k = 0; k < 2; k++) {
        int64_t moved = tile->moved[k];
        bool by_one = near && !tile->gather[k].kernel;
        if (by_one)
            moved += long_runs(s->plan, k, tile->extent);
        cost += moved / tiles_sharing(s->plan, k, tile->extent, near);
    }
    cost += SCATTERED * tile->moved[EW_OUT];
    return cost / ew_tile_elements(s->plan, tile->extent);
}

/* The part of what lines cost that is waited for. */
static int64_t parts_of(const struct ew_tile_search *s)
{
    return s->course[EW_OUT].bytes < EW_FAR_BYTES ? NEAR_PARTS : FAR_PARTS;
}

int64_t ew_tile_lines_each(const struct ew_tile_search *s,
                           const int64_t extent[])
{
    int64_t cost = 0;
    for (int k = 0; k <= EW_OUT; k++)
        cost += ew_tile_lines(&s->course[k], extent);
    return cost / ew_tile_elements(s->plan, extent) / parts_of(s);
}

void ew_tile_weigh(const struct ew_tile_search *s, struct ew_tile *tile)
{
    for (int k = 0; k <= EW_OUT; k++)
        tile->gather[k] =
            find_gathering(s->plan, k, tile->extent, &tile->moved[k]);
    tile->cost = ew_tile_lines_each(s, tile->extent) + deep_cost(s, tile);
}

/* Whether elements of 1, 2 and 4 bytes of input k, a few of theirs apart along
   rows, are turned in blocks: every second, or every third and fourth, which
   are made dense first, in rows that are folded or hold a vector. Of more than
   bytes that was measured with AVX2, and pays less where they are but copied.
 */
static bool is_turned_with_gaps(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    const bool any = plan->level == EW_LEVEL_AVX2 && !ew_strategy_moves(plan);
    int64_t size = plan->pass.stored[k], step = ew_magnitude(rows->stride[k]);
    bool vectors = cols->n * size >= EW_TURNED_BYTES;
    if (size > 4 || step < 2 * size || rows->n * size < EW_TURNED_BYTES)
        return false;
    if (step == 2 * size)
        return vectors && (any || size == 1);
    return any && (vectors || plan->pass.fold) &&
           (step == 3 * size || step == 4 * size) &&
           step < ew_magnitude(cols->stride[k]);
}

/* Whether the kernel that packs turns input k in blocks, neighbours or not. */
static bool is_turned_fast(const struct elementwise_plan *plan, int k)
{
    return ew_magnitude(plan->loop[1].stride[k]) == plan->pass.stored[k] ||
           is_turned_with_gaps(plan, k);
}

/* The elements that such a kernel makes dense by one shuffle where rows of a
   few lie in windows (kernels/compact.h); 0: it takes them one by one. */
static int64_t compacted(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k], step = rows->stride[k];
    int64_t span = (cols->n - 1) * ew_magnitude(cols->stride[k]) + size;
    bool lines =
        plan->level >= (size > 1 ? EW_LEVEL_AVX512 : EW_LEVEL_AVX512VBMI);
    int64_t window = lines ? EW_LINE : EW_COMPACT_WINDOW;
    if (plan->level < EW_LEVEL_AVX2 || cols->n > EW_COMPACTED ||
        step > EW_PAGE || step < cols->n * size ||
        step < ew_magnitude(cols->stride[k]) || span > window)
        return 0;
    int64_t elements = cols->n * ((window - span) / step + 1);
    int64_t least = plan->level < EW_LEVEL_AVX512 ? COMPACT_LEAST
                    : size < 8                    ? COMPACT_SMALL
                                                  : COMPACT_WIDE;
    return elements >= least ? elements : 0;
}

/* Whether the rows of input k are one. Divided, as a product may overflow. */
static bool is_one_row(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    return rows->stride[k] % cols->n == 0 &&
           rows->stride[k] / cols->n == cols->stride[k];
}

/* What the kernel that packs takes for an element of a row: little where either
   loop runs along memory or stands still, but for words that are made dense
   before they are turned. Rows of whole lines, and those that are one, have no
   ends. */
static int64_t row_cost(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k];
    int64_t col = ew_magnitude(cols->stride[k]);
    bool ends = !is_one_row(plan, k) && cols->n * size % EW_LINE != 0;
    bool picks = size == 4 && ew_magnitude(rows->stride[k]) > 2 * size;
    int64_t spread = SPREAD_ROW / cols->n;
    if (plan->level >= EW_LEVEL_AVX512 && size == 1 && rows->stride[k] == 1 &&
        cols->n <= VECTOR_ROW)
        spread = SPREAD_BYTE;
    if (col == 0)
        return spread < PACK_COST ? spread : PACK_COST;
    if (cols->stride[k] == size)
        return PACK_COST;
    if (is_turned_fast(plan, k))
        return picks ? GATHER_COST : PACK_COST;
    int64_t together = ends ? compacted(plan, k) : 0;
    if (together)
        return PACK_COST + WINDOW_COST / together;
    return (col <= EW_SHUFFLED * size ? PACK_COST : GATHER_COST) +
           (ends ? (size == 1 ? PACK_BYTES : PACK_ROW) / cols->n : 0);
}

/* The same, where one row of those that are repeated is packed. */
static int64_t pack_cost(const struct elementwise_plan *plan, int k)
{
    int64_t cost = row_cost(plan, k);
    return plan->loop[1].stride[k] ? cost : cost / plan->loop[1].n;
}

/* Whether rows are shorter than the vectors that their kernel has: of results,
   where it compares. AVX-512 takes rows below one in a step, but quotients. */
static bool goes_one_by_one(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    int64_t cols = plan->loop[0].n;
    bool half = ew_types_is_half(type);
    if (plan->types.fault)
        return cols < VECTOR_ROW;
    if (plan->level >= EW_LEVEL_AVX512)
        return false;
    if (plan->types.result != ELEMENTWISE_BOOL)
        return half && cols < VECTOR_ROW;
    return cols < (plan->level == EW_LEVEL_AVX2 ? COMPARED_ROW : VECTOR_ROW);
}

/* Whether a copy makes rows of out that are dense, as a kernel that packs does,
   of what is not turned. */
static bool moves_dense(const struct elementwise_plan *plan)
{
    return ew_strategy_moves(plan) && !plan->pass.pack[EW_X] &&
           plan->loop[0].stride[EW_OUT] == plan->pass.stored[EW_OUT];
}

/* What such a copy takes for an element: what packing does where elements lie
   within a line or are turned in whole blocks. */
static int64_t move_cost(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[EW_X];
    int64_t step = ew_magnitude(cols->stride[EW_X]), row = cols->n * size;
    bool blocks = row >= EW_TURNED_BYTES && rows->n * size >= EW_TURNED_BYTES;
    if (step == size && cols->stride[EW_X] > 0)
        return 0;
    if (step <= EW_SHUFFLED * size)
        return cols->stride[EW_X] < -size ? BACK_COST : pack_cost(plan, EW_X);
    if (is_turned_fast(plan, EW_X))
        return !blocks ? STRIDED_COST
                       : PACK_COST +
                             (row % EW_TURNED_BYTES ? PACK_ROW : 0) / cols->n;
    return step < EW_LINE ? pack_cost(plan, EW_X) : STRIDED_COST;
}

/* Elements of a row of a copy to places with gaps: it goes along either loop,
   but those of what it turned first. 0: it is no such copy, or turns parts of
   blocks, which take longer. */
static int64_t put_rows(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[EW_OUT];
    bool packs = plan->pass.pack[EW_X];
    if (!ew_strategy_moves(plan) || cols->stride[EW_OUT] == size ||
        (packs && rows->n * size < EW_TURNED_BYTES))
        return 0;
    return packs || cols->n > rows->n ? cols->n : rows->n;
}

/* What a kernel takes for an element of operand k where it is, with gaps. Every
   second or third of 8 bytes takes little longer one by one than vectors are
   made of them; backwards neighbours tiles shuffle. */
static int64_t strided_cost(const struct elementwise_plan *plan, int k)
{
    int64_t step = ew_magnitude(plan->loop[0].stride[k]);
    const int64_t size = plan->pass.stored[k];
    if (k == EW_OUT || step > EW_SHUFFLED * size)
        return STRIDED_COST;
    bool few = size == 8 && step > size && step <= 3 * size;
    return few ? FEW_COST : NEAR_COST;
}

/* Whether a row of out ends within lines whose other parts are stored after
   more than the L1 cache holds of out: by a loop outside others. */
static bool ends_in_parts(const struct elementwise_plan *plan)
{
    const struct ew_loop *loop = plan->loop;
    int64_t row = loop[0].n * plan->pass.stored[EW_OUT];
    int64_t between = row + EW_LINE;
    for (int i = 1; i < plan->ndim && row % EW_LINE != 0; i++) {
        if (loop[i].stride[EW_OUT] < row + EW_LINE)
            return i > 1 && between >= NEAR_BYTES;
        if (between < NEAR_BYTES) /* a product of more may overflow */
            between = loop[i].n < NEAR_BYTES ? between * loop[i].n : NEAR_BYTES;
    }
    return false;
}

/* What a row of a large out costs that is made of turned inputs and ends so:
   lines are brought again for that. */
static int64_t parts_cost(const struct elementwise_plan *plan)
{
    bool parts = plan->pass.turn &&
                 plan->loop[0].stride[EW_OUT] == plan->pass.stored[EW_OUT] &&
                 ew_strategy_bytes(plan, EW_OUT) > PARTS_FROM &&
                 ends_in_parts(plan);
    return parts ? PARTS_COST * plan->pass.stored[EW_OUT] : 0;
}

/* What an element of input k costs where its lines are brought again: a loop
   steps within them and comes round after more than the L1 cache holds.
   Elements of 8 bytes gain nothing by tiles of several loops there.

       x    r g b r g b r g b ...    in long rows of r, of g and of b */
static int64_t again_cost(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0];
    int64_t step = ew_magnitude(cols->stride[k]), times = 1;
    const int64_t size = plan->pass.stored[k];
    if (step <= size || size >= 8 || step >= EW_LINE || plan->pass.turn ||
        cols->n < AGAIN_FROM / step)
        return 0;
    for (int i = 1; i < plan->ndim; i++) {
        int64_t within = ew_magnitude(plan->loop[i].stride[k]);
        if (within > 0 && within < step)
            times *= plan->loop[i].n < step ? plan->loop[i].n : step;
    }
    times = times < step ? times : step; /* they may overlap */
    return (LINE_AGAIN - LINE_AGAIN / times) * step / EW_LINE;
}

/* What an element of operand k costs in tiles of so many: moved, packed, put in
   its place, or taken where it is. */
static int64_t element_cost(const struct elementwise_plan *plan, int k,
                            int64_t elements)
{
    int64_t step = plan->loop[0].stride[k], puts = put_rows(plan);
    if (k == EW_X && moves_dense(plan))
        return move_cost(plan);
    if (k < EW_OUT && plan->pass.pack[k])
        return pack_cost(plan, k) + PACK_CALL / elements;
    if (k == EW_OUT && puts)
        return COPY_COST + PUT_ROW / puts;
    if (k == EW_OUT && ew_strategy_scatters(plan))
        return PUT_COST + PUT_ROW / plan->loop[0].n;
    if (step == 0 || step == plan->pass.stored[k] ||
        ew_strategy_divides_c64(plan))
        return 0;
    return puts ? GATHER_COST : strided_cost(plan, k);
}

/* Whether input k is words that loops take from where they lie, a page apart at
   most, while they store single elements in places with gaps: loads take no
   time beside these, unless more is done with them. */
static bool is_taken_beside(const struct elementwise_plan *plan, int k)
{
    const enum ew_kind kind = ew_types_kind(plan->types.compute[EW_X]);
    const int64_t *step = plan->loop[0].stride;
    const unsigned char *size = plan->pass.stored;
    bool single = step[EW_OUT] != size[EW_OUT] && !plan->pass.store &&
                  !ew_strategy_moves(plan);
    return k < EW_OUT && single && plan->level < EW_LEVEL_AVX512 &&
           !ew_strategy_takes_long(plan) &&
           (kind != EW_KIND_COMPLEX || ew_strategy_is_quick(plan->op)) &&
           !plan->pass.pack[k] && size[k] >= BESIDE_LEAST &&
           ew_magnitude(step[k]) <= EW_PAGE;
}

/* What an element of all operands costs there. */
static int64_t elements_cost(const struct elementwise_plan *plan,
                             int64_t elements)
{
    int64_t cost = 0;
    for (int k = 0; k <= EW_OUT; k++)
        if (!is_taken_beside(plan, k))
            cost += element_cost(plan, k, elements);
    return cost;
}

/* Whether a turned tile is so small that its rows are read while blocks are on
   their way to it: vectors of a line wait for smaller stores. */
static bool waits_soon(const struct elementwise_plan *plan, int64_t elements)
{
    return plan->level >= EW_LEVEL_AVX512 && plan->pass.turn && elements < SOON;
}

int64_t ew_tile_flat(const struct elementwise_plan *plan,
                     const int64_t extent[])
{
    int64_t cols = plan->loop[0].n, puts = put_rows(plan);
    int64_t elements = ew_tile_elements(plan, extent);
    bool packs = ew_pass_buffers(&plan->pass), moves = moves_dense(plan);
    int64_t cost = again_cost(plan, EW_X) + again_cost(plan, EW_Y);
    cost += elements_cost(plan, elements);
    cost += (packs ? TILE_COST : CALL_COST) / elements;
    if (plan->pass.fold)
        return cost;
    bool lines = cols * plan->pass.stored[EW_OUT] % EW_LINE == 0;
    int64_t ends = moves ? COPY_ROW : lines ? LINE_ROW : figures_of(plan)->row;
    ends += waits_soon(plan, elements) ? WAIT_ROW : 0;
    return cost + ends / (puts ? puts : cols) + parts_cost(plan) / cols +
           (goes_one_by_one(plan) ? ONE_COST : 0);
}

/* Whether rows are divided by a number each, whose inverse the kernel finds
   once: that is worth it in rows that are not short, of 64 bits in rows of a
   vector, but not where x has gaps. */
static bool divides_by_one(const struct ew_tile_search *s)
{
    const struct ew_loop *cols = &s->plan->loop[0];
    bool wide = ew_pass_widest(&s->plan->pass, 3) == 8;
    return s->plan->types.fault == EW_FAULT_ZERO && !s->plan->pass.pack[EW_Y] &&
           cols->stride[EW_Y] == 0 && s->course[EW_Y].loops > 0 &&
           cols->n >= (wide ? WIDE_ROW : VECTOR_ROW) &&
           !(wide && cols->stride[EW_X] != 8);
}

int64_t ew_tile_least(const struct ew_tile_search *s, int64_t elements)
{
    double lines = 0; /* plans without data may have 2^63 bytes */
    for (int k = 0; k <= EW_OUT; k++)
        lines += (double)s->course[k].next * (double)s->course[k].bytes;
    int64_t each = (int64_t)(lines / EW_LINE / (double)s->elements);
    return TILE_COST / elements + each / parts_of(s);
}

bool ew_tile_is_cheaper(const struct ew_tile_search *s, int64_t cost,
                        int64_t now)
{
    const struct figures *f = figures_of(s->plan);
    int64_t then = cost + CALL_TABLES / s->elements;
    return !divides_by_one(s) &&
           f->tenths * (BASE_COST + then) < 10 * (BASE_COST + now);
}

bool ew_tile_takes_few(const struct elementwise_plan *plan,
                       const struct ew_tile *tile)
{
    bool few = true;
    for (int k = 0; k <= EW_OUT; k++) {
        struct ew_layout layout;
        find_layout(plan, k, tile->extent, &layout);
        ew_layout_once(&layout);
        few &= tile->gather[k].kernel || ew_places_runs(&layout) <= FEW_RUNS;
    }
    return few;
}
