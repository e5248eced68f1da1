// Runs matmul_host's rungs on matrices that fill the host's memory, and measures what could limit them: the link in
// each direction, and the product of two tiles that are on the device already. Whether a result is right is
// out_of_core_check.c's.

#include "bench/out_of_core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "bench/bench.h"
#include "bench/statistics.h"
#include "device/device.h"
#include "ops/matmul_host/plan.h"

enum {
    LINK_REPEATS = 3,
    LINK_PIECE = 1 << 28, // bytes that are copied at a time to measure the link
    RUNS = 3,             // of a rung whose run is short; the median counts
    WARM_UP_SIDE = 8192,  // of a first product: loads code and gets a library's own memory
    PRODUCT_SIDE = 8192,  // of the product alone: as large as it takes for its best rate
};
static const double short_run = 2;         // seconds
static const double product_seconds = 0.5; // of products before and while their rate is measured: clocks settle

typedef struct measurement {
    heddle_device *device;
    heddle_pool *pool;
    heddle_stream *stream, *other; // `other`: the second direction of the link
    void (*tell)(const char *text);
    const heddle_op *op;
    heddle_out_of_core_product product;
    heddle_out_of_core_expectation expected;
    void *device_memory; // two pieces: what comes in, what goes out
    heddle_out_of_core *result;
} measurement;

static void tell(const measurement *on, const char *text)
{
    if (on->tell)
        on->tell(text);
}

// Only a card has a link to the host that can be measured.
static bool has_time(const measurement *on)
{
    return heddle_device_get_kind(on->device) == HEDDLE_CUDA;
}

static size_t least_size(size_t left, size_t right)
{
    return left < right ? left : right;
}

static int at_most(int value, int most)
{
    return value < most ? value : most;
}

// --- the link --------------------------------------------------------------------------------------------------------

static heddle_status synchronize(const measurement *on)
{
    HEDDLE_TRY(heddle_stream_synchronize(on->stream));
    return heddle_stream_synchronize(on->other);
}

// Copies as much as the product itself has to: a, b and the output, once each, piece by piece through the same place on
// the device. Pieces of the two directions take turns as they are queued.
static heddle_status copy_matrices(const measurement *on, bool in, bool out)
{
    const heddle_matmul_host_shape *shape = &on->result->shape;
    const size_t sizes[] = {(size_t)shape->m * (size_t)shape->k * sizeof(float),
                            (size_t)shape->k * (size_t)shape->n * sizeof(float),
                            (size_t)shape->m * (size_t)shape->n * sizeof(float)};
    char *const host[] = {(char *)on->product.a, (char *)on->product.b, (char *)on->product.output};
    char *arriving = on->device_memory, *leaving = arriving + LINK_PIECE;
    size_t done_in = 0, done_out = 0, all_in = in ? sizes[0] + sizes[1] : 0, all_out = out ? sizes[2] : 0;
    while (done_in < all_in || done_out < all_out) {
        int matrix = done_in < sizes[0] ? 0 : 1;
        size_t at = matrix ? done_in - sizes[0] : done_in;
        size_t bytes = done_in < all_in ? least_size(sizes[matrix] - at, LINK_PIECE) : 0;
        HEDDLE_TRY(heddle_copy(on->stream, arriving, host[matrix] + at, bytes));
        done_in += bytes;
        bytes = least_size(all_out - done_out, LINK_PIECE);
        HEDDLE_TRY(heddle_copy(on->other, host[2] + done_out, leaving, bytes));
        done_out += bytes;
    }
    return synchronize(on);
}

static heddle_status time_link(const measurement *on, bool in, bool out, double *seconds)
{
    double times[LINK_REPEATS];
    for (int i = 0; i < LINK_REPEATS; i++) {
        HEDDLE_TRY(synchronize(on));
        double began = heddle_now();
        HEDDLE_TRY(copy_matrices(on, in, out));
        times[i] = heddle_now() - began;
    }
    *seconds = heddle_bench_median(times, LINK_REPEATS);
    return HEDDLE_OK;
}

static heddle_status measure_link(measurement *on)
{
    heddle_out_of_core *result = on->result;
    tell(on, "the link to the host");
    heddle_status status = heddle_alloc(on->device, 2 * (size_t)LINK_PIECE, &on->device_memory);
    if (status == HEDDLE_OK)
        status = time_link(on, true, false, &result->in_seconds);
    if (status == HEDDLE_OK)
        status = time_link(on, false, true, &result->out_seconds);
    if (status == HEDDLE_OK)
        status = time_link(on, true, true, &result->both_seconds);
    heddle_free(on->device, on->device_memory);
    return status;
}

// --- the product inside ----------------------------------------------------------------------------------------------

// Repeats the product of two tiles until clocks have settled, then for as long again.
static heddle_status repeat_product(const measurement *on, const heddle_op *matmul, const heddle_rung *rung,
                                    const heddle_call *call, double *flops)
{
    double seconds = 0, operations = matmul->cost(call->shape).flops;
    for (int count = 1; seconds < product_seconds; count *= 2) {
        HEDDLE_TRY(heddle_stream_synchronize(on->stream));
        double began = heddle_now();
        for (int i = 0; i < count; i++)
            HEDDLE_TRY(heddle_launch(matmul, rung, call));
        HEDDLE_TRY(heddle_stream_synchronize(on->stream));
        seconds = heddle_now() - began;
        *flops = operations * count / seconds;
    }
    return HEDDLE_OK;
}

// The rate of matmul's best rung of that tier and arithmetic on the card, with the matrices' own values.
static heddle_status time_product(const measurement *on, heddle_tier tier, heddle_arithmetic arithmetic, double *flops)
{
    const heddle_matmul_host_shape *whole = &on->result->shape;
    heddle_matmul_shape shape = {.m = at_most(whole->m, PRODUCT_SIDE),
                                 .n = at_most(whole->n, PRODUCT_SIDE),
                                 .k = at_most(whole->k, PRODUCT_SIDE),
                                 .alpha = 1};
    const heddle_op *matmul;
    const heddle_rung *rung;
    HEDDLE_TRY(heddle_op_find("matmul_forward", &matmul));
    heddle_device_kind kind = heddle_device_get_kind(on->device);
    HEDDLE_TRY(heddle_rung_choose(matmul, kind, tier, arithmetic, &shape, &rung));
    size_t a = heddle_matmul_host_bytes(shape.m, shape.k), b = heddle_matmul_host_bytes(shape.k, shape.n);
    size_t tiles = a + b + heddle_matmul_host_bytes(shape.m, shape.n);
    char *memory = NULL;
    HEDDLE_TRY(heddle_alloc(on->device, tiles + (rung->workspace ? rung->workspace(&shape, 0) : 0), (void **)&memory));
    heddle_call call = {.shape = &shape,
                        .input = {memory, memory + a},
                        .output = {memory + a + b},
                        .workspace = memory + tiles,
                        .stream = on->stream};
    size_t floats_a = (size_t)shape.m * (size_t)shape.k, floats_b = (size_t)shape.k * (size_t)shape.n;
    heddle_status status = heddle_copy(on->stream, memory, on->product.a, floats_a * sizeof(float));
    if (status == HEDDLE_OK)
        status = heddle_copy(on->stream, memory + a, on->product.b, floats_b * sizeof(float));
    if (status == HEDDLE_OK)
        status = repeat_product(on, matmul, rung, &call, flops);
    heddle_free(on->device, memory);
    return status;
}

// A rung is held against the product of its own arithmetic: ours, or the vendor's where that is faster.
static heddle_status measure_products(measurement *on)
{
    double rates[HEDDLE_BFLOAT + 1] = {0};
    tell(on, "the product of two tiles alone");
    for (int i = 0; i < on->result->count; i++) {
        heddle_out_of_core_row *row = &on->result->rows[i];
        double *rate = &rates[row->rung->arithmetic], vendor = 0;
        if (*rate == 0) {
            HEDDLE_TRY(time_product(on, HEDDLE_TUNED, row->rung->arithmetic, rate));
            if (time_product(on, HEDDLE_VENDOR, HEDDLE_FULL, &vendor) == HEDDLE_OK)
                *rate = fmax(*rate, vendor);
        }
        row->product_flops = *rate;
    }
    return HEDDLE_OK;
}

// --- rungs -----------------------------------------------------------------------------------------------------------

static heddle_status launch(const measurement *on, const heddle_rung *rung, const heddle_matmul_host_shape *shape,
                            void *workspace)
{
    heddle_call call = {.shape = shape,
                        .input = {on->product.a, on->product.b},
                        .output = {on->product.output},
                        .workspace = workspace,
                        .stream = on->stream};
    HEDDLE_TRY(heddle_launch(on->op, rung, &call));
    return heddle_stream_synchronize(on->stream);
}

static heddle_status run_rung(const measurement *on, heddle_out_of_core_row *row, void *workspace)
{
    const heddle_matmul_host_shape *shape = &on->result->shape;
    heddle_matmul_host_shape first = {at_most(shape->m, WARM_UP_SIDE), at_most(shape->n, WARM_UP_SIDE),
                                      at_most(shape->k, WARM_UP_SIDE), shape->memory};
    double times[RUNS];
    int runs = 0;
    if (has_time(on))
        HEDDLE_TRY(launch(on, row->rung, &first, workspace));
    do { // what is checked is the last run's own
        heddle_out_of_core_poison(&on->product, on->pool);
        double began = heddle_now();
        HEDDLE_TRY(launch(on, row->rung, shape, workspace));
        times[runs++] = heddle_now() - began;
    } while (has_time(on) && runs < RUNS && times[0] < short_run);
    row->seconds = has_time(on) ? heddle_bench_median(times, runs) : 0;
    return heddle_out_of_core_check(&on->product, on->pool, &on->expected, row->rung->arithmetic, &row->share);
}

static heddle_status measure_rung(const measurement *on, heddle_out_of_core_row *row)
{
    char text[128];
    snprintf(text, sizeof text, "%s", row->rung->name);
    tell(on, text);
    int threads = heddle_pool_threads(heddle_device_pool(on->device));
    size_t bytes = row->rung->workspace ? row->rung->workspace(&on->result->shape, threads) : 0;
    void *workspace = NULL;
    heddle_status status = heddle_alloc(on->device, bytes, &workspace);
    if (status == HEDDLE_OK)
        status = run_rung(on, row, workspace);
    on->result->workspace = fmax(on->result->workspace, (double)bytes);
    heddle_free(on->device, workspace);
    return status;
}

static void find_limit(const heddle_out_of_core *result, heddle_out_of_core_row *row)
{
    double m = result->shape.m, n = result->shape.n, k = result->shape.k;
    double arithmetic = 2 * m * n * k / row->product_flops, link = fmax(result->in_seconds, result->out_seconds);
    row->limit = fmax(arithmetic, link);
    row->by_arithmetic = arithmetic >= link;
}

static void list_rungs(const measurement *on)
{
    heddle_device_kind kind = heddle_device_get_kind(on->device);
    for (int i = 0; i < on->op->rungs && on->result->count < HEDDLE_OUT_OF_CORE_RUNGS; i++) {
        const heddle_rung *rung = &on->op->ladder[i];
        if (heddle_bench_has_rung(on->op, rung, kind) && (!rung->supports || rung->supports(&on->result->shape)))
            on->result->rows[on->result->count++].rung = rung;
    }
}

// --- all of it -------------------------------------------------------------------------------------------------------

static heddle_status allocate(measurement *on)
{
    const heddle_matmul_host_shape *shape = &on->result->shape;
    size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
    void *a = NULL, *b = NULL, *output = NULL;
    tell(on, "pinned memory");
    double began = heddle_now();
    heddle_status status = heddle_alloc_pinned(on->device, m * k * sizeof(float), &a);
    if (status == HEDDLE_OK)
        status = heddle_alloc_pinned(on->device, k * n * sizeof(float), &b);
    if (status == HEDDLE_OK)
        status = heddle_alloc_pinned(on->device, m * n * sizeof(float), &output);
    on->result->pin_seconds = heddle_now() - began;
    on->product = (heddle_out_of_core_product){shape->m, shape->n, shape->k, a, b, output};
    return status;
}

static heddle_status prepare(measurement *on, uint64_t seed)
{
    HEDDLE_TRY(heddle_stream_create(on->device, 0, &on->stream));
    HEDDLE_TRY(heddle_stream_create(on->device, 0, &on->other));
    HEDDLE_TRY(allocate(on));
    tell(on, "inputs and expected results");
    heddle_out_of_core_fill(&on->product, on->pool, seed);
    heddle_out_of_core_poison(&on->product, on->pool);
    HEDDLE_TRY(heddle_out_of_core_expect(&on->product, on->pool, seed, &on->expected));
    on->result->element_seen = 2 * on->expected.row_bound;
    on->result->element_scale = on->expected.scale;
    return HEDDLE_OK;
}

static heddle_status measure(measurement *on, uint64_t seed)
{
    HEDDLE_TRY(prepare(on, seed));
    list_rungs(on);
    bool empty = on->product.m == 0 || on->product.n == 0 || on->product.k == 0;
    if (has_time(on) && !empty) {
        HEDDLE_TRY(measure_link(on));
        HEDDLE_TRY(measure_products(on));
    }
    const char *broken_by = NULL; // a rung whose out-of-bounds access broke the device
    for (int i = 0; i < on->result->count; i++) {
        heddle_out_of_core_row *row = &on->result->rows[i];
        if (broken_by) {
            row->status = HEDDLE_DEVICE;
            snprintf(row->message, sizeof row->message, "not run: %s broke the device", broken_by);
            continue;
        }
        row->status = measure_rung(on, row);
        if (row->status != HEDDLE_OK) {
            snprintf(row->message, sizeof row->message, "%s", heddle_last_error());
            broken_by = heddle_device_synchronize(on->device) == HEDDLE_OK ? NULL : row->rung->name;
        } else if (has_time(on) && !empty) {
            find_limit(on->result, row);
        }
    }
    return HEDDLE_OK;
}

heddle_status heddle_out_of_core_measure(heddle_device *device, heddle_pool *pool,
                                         const heddle_matmul_host_shape *shape, uint64_t seed,
                                         void (*tell_)(const char *text), heddle_out_of_core *result)
{
    measurement on = {.device = device, .pool = pool, .tell = tell_, .result = result};
    *result = (heddle_out_of_core){.shape = *shape};
    HEDDLE_TRY(heddle_op_find("matmul_host", &on.op));
    HEDDLE_TRY(heddle_shape_validate(on.op, shape));
    heddle_status status = measure(&on, seed);
    heddle_out_of_core_forget(&on.expected);
    heddle_free_pinned(device, (void *)on.product.a);
    heddle_free_pinned(device, (void *)on.product.b);
    heddle_free_pinned(device, on.product.output);
    if (on.stream)
        heddle_stream_destroy(on.stream);
    if (on.other)
        heddle_stream_destroy(on.other);
    return status;
}
