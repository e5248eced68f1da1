// Cases: inputs, expected values, and the comparison by all cores. How far an element may be off is ops/tolerance.h's
// formula; what its scale takes, a second run of the reference with moved inputs, is left out for large shapes.

#include "bench/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "bench/values.h"
#include "device/device.h"
#include "ops/tolerance.h"

// The reference on the CPU is a plain loop in one thread: at a nanosecond an operation this is a third of a minute.
static const double most_reference_flops = 2e10;
// Beyond this the device's own reference kernel is used, where it has one.
static const double long_reference_flops = 1e9;
// Inputs are moved for outputs up to here: beyond, the root mean square of so many elements tells as much.
static const double most_moved_elements = 1e7;
static const double most_moved_flops = 5e8;

static const unsigned char poison[HEDDLE_BENCH_SETS] = {
    0xff, // NaN as a float
    0x7f, // and another for the second run: as an integer a poison may be the right value once, but not twice
};

enum {
    STAGE_BYTES = 64 << 20, // of operands that come back from the device at a time
    GUARD_BYTES = 4096,     // behind every operand, poisoned: what a rung writes beyond an end is found there
};

// Where the inputs of a sum are whole numbers the sum is exact, in any order. Rounding errors of a long sum of others
// may hide an element that was left out; so the second set, for operators that only add, is one of whole numbers.
enum { WHOLE_SET = 1 };

typedef struct expectation {
    double *operand[HEDDLE_BENCH_OPERANDS]; // outputs and updates
    double scale[HEDDLE_BENCH_OPERANDS];
} expectation;

struct heddle_bench_case {
    heddle_bench_place place;
    const heddle_op *op;
    const void *shape;
    size_t elements[HEDDLE_BENCH_OPERANDS];
    size_t bytes[HEDDLE_BENCH_OPERANDS];
    void *work[HEDDLE_BENCH_OPERANDS];                        // what a rung reads and writes
    void *pristine[HEDDLE_BENCH_SETS][HEDDLE_BENCH_OPERANDS]; // inputs and updates of each set, on the device
    expectation expected[HEDDLE_BENCH_SETS];
    void *stage;
};

static bool is_read(const heddle_operand *operand)
{
    return operand->role != HEDDLE_OUTPUT;
}

static bool has_whole_numbers(const heddle_op *op, int set)
{
    return op->exactness == HEDDLE_SUMS && set == WHOLE_SET;
}

// The simulated GPU watches the ends of memory itself, and needs them where they are.
static size_t guard_of(const heddle_bench_case *one, int operand)
{
    bool watched = heddle_device_get_kind(one->place.device) == HEDDLE_SIM;
    return watched || one->bytes[operand] == 0 ? 0 : GUARD_BYTES;
}

// --- scale -----------------------------------------------------------------------------------------------------------

typedef struct squares {
    const double *values;
    double *sums; // one a piece
} squares;

static void add_squares(void *context, size_t first, size_t last)
{
    squares *job = context;
    double sum = 0;
    for (size_t i = first; i < last; i++)
        sum += job->values[i] * job->values[i];
    job->sums[first / HEDDLE_BENCH_PIECE] = sum;
}

static heddle_status root_mean_square(heddle_pool *pool, const double *values, size_t elements, double *result)
{
    size_t count = elements / HEDDLE_BENCH_PIECE + 1;
    squares job = {values, calloc(count, sizeof(double))};
    if (!job.sums)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to add up a reference");
    heddle_bench_pieces(pool, elements, add_squares, &job);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += job.sums[i];
    free(job.sums);
    *result = elements ? sqrt(sum / (double)elements) : 0;
    return HEDDLE_OK;
}

// --- expected values -------------------------------------------------------------------------------------------------

static heddle_status upload(heddle_bench_case *one, int set, const heddle_bench_values *values)
{
    const heddle_op *op = one->op;
    for (int i = 0; i < op->operand_count; i++) {
        if (!is_read(&op->operands[i]) || one->bytes[i] == 0)
            continue;
        HEDDLE_TRY(heddle_alloc(one->place.device, one->bytes[i], &one->pristine[set][i]));
        void *bytes = malloc(one->bytes[i]);
        if (!bytes)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for operand '%s' of %s", op->operands[i].name,
                               op->name);
        heddle_bench_encode(op->operands[i].dtype, one->place.pool, values->operand[i], one->elements[i], bytes);
        heddle_status status = heddle_copy(one->place.stream, one->pristine[set][i], bytes, one->bytes[i]);
        if (status == HEDDLE_OK)
            status = heddle_stream_synchronize(one->place.stream);
        free(bytes);
        HEDDLE_TRY(status);
    }
    return HEDDLE_OK;
}

static void run_reference(void *context, int index, int worker)
{
    (void)worker;
    heddle_bench_values *values = context;
    heddle_bench_values_reference(&values[index]);
}

// Takes what the reference left of a set, and its scale.
static heddle_status take_expected(heddle_bench_case *one, int set, heddle_bench_values *values)
{
    for (int i = 0; i < one->op->operand_count; i++) {
        if (one->op->operands[i].role == HEDDLE_INPUT)
            continue;
        HEDDLE_TRY(
            root_mean_square(one->place.pool, values->operand[i], one->elements[i], &one->expected[set].scale[i]));
        one->expected[set].operand[i] = values->operand[i]; // the case's from here on
        values->operand[i] = NULL;
    }
    return HEDDLE_OK;
}

// Both sets' references at once, each in a thread of its own. `before`: the first set again, to move its inputs; NULL:
// they are not moved.
static heddle_status expect_by_host(heddle_bench_case *one, heddle_bench_values values[HEDDLE_BENCH_SETS],
                                    heddle_bench_values *before)
{
    double scale[HEDDLE_BENCH_OPERANDS] = {0};
    heddle_pool_run(one->place.pool, HEDDLE_BENCH_SETS, run_reference, values);
    if (before)
        HEDDLE_TRY(
            heddle_tolerance_scale(one->op, one->shape, before->operand, values[0].operand, one->elements, scale));
    for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
        HEDDLE_TRY(take_expected(one, set, &values[set]));
        for (int i = 0; i < one->op->operand_count; i++)
            one->expected[set].scale[i] = fmax(one->expected[set].scale[i], scale[i]);
    }
    return HEDDLE_OK;
}

// By the device's reference kernel: inputs as a rung gets them, outputs in float64.
static heddle_status launch_reference(heddle_bench_case *one, heddle_device_launcher *launcher, int set,
                                      heddle_bench_values *values, void **device_output)
{
    const heddle_op *op = one->op;
    heddle_stream *stream = one->place.stream;
    heddle_call call = {.shape = one->shape, .stream = stream};
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        size_t bytes = one->elements[i] * sizeof(double);
        if (!heddle_operand_slot(op, i, &slot)) {
            call.input[slot] = one->pristine[set][i];
            continue;
        }
        HEDDLE_TRY(heddle_alloc(one->place.device, bytes, &device_output[i]));
        call.output[slot] = device_output[i];
        HEDDLE_TRY(is_read(&op->operands[i]) ? heddle_copy(stream, device_output[i], values->operand[i], bytes)
                                             : heddle_fill(stream, device_output[i], poison[0], bytes));
    }
    HEDDLE_TRY(launcher(&call));
    for (int i = 0; i < op->operand_count; i++)
        if (device_output[i])
            HEDDLE_TRY(heddle_copy(stream, values->operand[i], device_output[i], one->elements[i] * sizeof(double)));
    return heddle_stream_synchronize(stream);
}

static heddle_status expect_by_device(heddle_bench_case *one, heddle_device_launcher *launcher,
                                      heddle_bench_values *values)
{
    for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
        void *device_output[HEDDLE_BENCH_OPERANDS] = {NULL};
        heddle_status status = launch_reference(one, launcher, set, &values[set], device_output);
        for (int i = 0; i < HEDDLE_BENCH_OPERANDS; i++)
            heddle_free(one->place.device, device_output[i]);
        if (status == HEDDLE_OK)
            status = take_expected(one, set, &values[set]);
        HEDDLE_TRY(status);
    }
    return HEDDLE_OK;
}

// Which reference can be afforded: the device's (*launcher set), the host's, or none.
static heddle_status choose_reference(const heddle_bench_case *one, heddle_device_launcher **launcher)
{
    const heddle_op *op = one->op;
    const heddle_op *forward = heddle_bench_values_forward(op);
    double flops = op->cost(one->shape).flops, before = forward ? forward->cost(one->shape).flops : 0;
    *launcher = NULL;
    if (flops > long_reference_flops && heddle_device_get_kind(one->place.device) == HEDDLE_CUDA)
        heddle_device_find_launcher(one->place.device, op->name, "reference", launcher);
    if (before > most_reference_flops || (!*launcher && flops > most_reference_flops))
        return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: shape too large for the reference (%.2g operations)",
                           flops + before);
    double bytes = 0;
    for (int i = 0; i < op->operand_count; i++)
        bytes += (double)one->elements[i] * sizeof(double) * HEDDLE_BENCH_SETS;
    char need[32], have[32];
    if (bytes > (double)one->place.host_memory)
        return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: the reference needs %s of memory, %s are free",
                           heddle_text_bytes(bytes, need, sizeof need),
                           heddle_text_bytes((double)one->place.host_memory, have, sizeof have));
    return HEDDLE_OK;
}

enum { BEFORE = HEDDLE_BENCH_SETS, DRAWN }; // the sets, and the first of them as it was before the reference

static heddle_status expect(heddle_bench_case *one, heddle_bench_values values[DRAWN], uint64_t seed)
{
    heddle_device_launcher *launcher;
    HEDDLE_TRY(choose_reference(one, &launcher));
    double elements = 0;
    for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
        HEDDLE_TRY(heddle_bench_values_create(&values[set], one->op, one->shape));
        values[set].whole = has_whole_numbers(one->op, set);
        HEDDLE_TRY(heddle_bench_values_draw(&values[set], one->place.pool, seed + (uint64_t)set));
        HEDDLE_TRY(upload(one, set, &values[set]));
    }
    for (int i = 0; i < one->op->operand_count; i++)
        elements += (double)one->elements[i];
    if (launcher)
        return expect_by_device(one, launcher, values);
    bool move = one->op->exactness != HEDDLE_NORM && elements <= most_moved_elements &&
                one->op->cost(one->shape).flops <= most_moved_flops;
    if (move)
        HEDDLE_TRY(heddle_bench_values_copy(&values[BEFORE], &values[0]));
    return expect_by_host(one, values, move ? &values[BEFORE] : NULL);
}

// --- life ------------------------------------------------------------------------------------------------------------

static heddle_status check_room(const char *where, double bytes, uint64_t room)
{
    char need[32], have[32];
    if (bytes <= (double)room)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: the operands take %s, the %s has %s free",
                       heddle_text_bytes(bytes, need, sizeof need), where,
                       heddle_text_bytes((double)room, have, sizeof have));
}

// Asked first: a host may promise memory that it does not have. Operands of a GPU's rung may lie in the host's.
static heddle_status check_memory(const heddle_bench_place *place, const heddle_op *op, const void *shape)
{
    heddle_device_info now;
    double on_device = 0, on_host = 0;
    HEDDLE_TRY(heddle_device_describe(place->device, &now));
    for (int i = 0; i < op->operand_count; i++) {
        double bytes = (double)heddle_operand_elements(op, i, shape) * (double)heddle_dtype_size(op->operands[i].dtype);
        if (op->operands[i].on_host && heddle_device_get_kind(place->device) != HEDDLE_CPU)
            on_host += bytes;
        else
            on_device += bytes;
    }
    HEDDLE_TRY(check_room("host", on_host, place->host_memory));
    return check_room("device", on_device, now.memory_free);
}

heddle_status heddle_bench_case_create(const heddle_bench_place *place, const heddle_op *op, const void *shape,
                                       uint64_t seed, heddle_bench_case **made)
{
    *made = NULL;
    HEDDLE_TRY(check_memory(place, op, shape));
    heddle_bench_case *one = calloc(1, sizeof *one);
    if (!one)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a benchmark");
    one->place = *place;
    one->op = op;
    one->shape = shape;
    heddle_status status = heddle_alloc_pinned(place->device, STAGE_BYTES, &one->stage);
    for (int i = 0; i < op->operand_count && status == HEDDLE_OK; i++) {
        one->elements[i] = heddle_operand_elements(op, i, shape);
        one->bytes[i] = one->elements[i] * heddle_dtype_size(op->operands[i].dtype);
        size_t bytes = one->bytes[i] + guard_of(one, i);
        status = op->operands[i].on_host ? heddle_alloc_pinned(place->device, bytes, &one->work[i])
                                         : heddle_alloc(place->device, bytes, &one->work[i]);
    }
    heddle_bench_values values[DRAWN] = {{0}};
    if (status == HEDDLE_OK)
        status = expect(one, values, seed);
    for (int i = 0; i < DRAWN; i++)
        heddle_bench_values_destroy(&values[i]);
    if (status != HEDDLE_OK) {
        heddle_bench_case_destroy(one);
        return status;
    }
    *made = one;
    return HEDDLE_OK;
}

void heddle_bench_case_destroy(heddle_bench_case *one)
{
    if (!one)
        return;
    for (int i = 0; i < HEDDLE_BENCH_OPERANDS; i++) {
        if (i < one->op->operand_count && one->op->operands[i].on_host)
            heddle_free_pinned(one->place.device, one->work[i]);
        else
            heddle_free(one->place.device, one->work[i]);
        for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
            heddle_free(one->place.device, one->pristine[set][i]);
            free(one->expected[set].operand[i]);
        }
    }
    heddle_free_pinned(one->place.device, one->stage);
    free(one);
}

heddle_call heddle_bench_case_call(const heddle_bench_case *one)
{
    heddle_call call = {.shape = one->shape, .stream = one->place.stream};
    for (int i = 0; i < one->op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(one->op, i, &slot))
            call.output[slot] = one->work[i];
        else
            call.input[slot] = one->work[i];
    }
    return call;
}

// Fills a part of an operand, after what the stream was given before.
static heddle_status fill_part(const heddle_bench_case *one, int operand, size_t start, int value, size_t bytes)
{
    char *memory = (char *)one->work[operand] + start;
    if (!one->op->operands[operand].on_host)
        return heddle_fill(one->place.stream, memory, (uint8_t)value, bytes);
    HEDDLE_TRY(heddle_stream_synchronize(one->place.stream));
    memset(memory, value, bytes);
    return HEDDLE_OK;
}

heddle_status heddle_bench_case_prepare(const heddle_bench_case *one, int set, void *workspace, size_t workspace_bytes)
{
    heddle_stream *stream = one->place.stream;
    for (int i = 0; i < one->op->operand_count; i++) {
        if (one->bytes[i] == 0)
            continue;
        if (is_read(&one->op->operands[i]))
            HEDDLE_TRY(heddle_copy(stream, one->work[i], one->pristine[set][i], one->bytes[i]));
        else
            HEDDLE_TRY(fill_part(one, i, 0, poison[set], one->bytes[i]));
        if (guard_of(one, i))
            HEDDLE_TRY(fill_part(one, i, one->bytes[i], poison[set], GUARD_BYTES));
    }
    if (workspace)
        HEDDLE_TRY(heddle_fill(stream, workspace, poison[set], workspace_bytes));
    return heddle_stream_synchronize(stream);
}

// --- comparing -------------------------------------------------------------------------------------------------------

static double factor_of(const heddle_bench_case *one, const heddle_rung *rung, int set, heddle_dtype dtype)
{
    if (one->op->exactness == HEDDLE_NORM)
        return INFINITY; // any one element may be far off, but for NaN
    if (one->op->exactness == HEDDLE_EXACT || has_whole_numbers(one->op, set))
        return 0;
    return heddle_tolerance_factor(heddle_tolerance_reduction(one->op, one->shape), rung->arithmetic, dtype);
}

// What one piece found.
typedef struct found {
    bool wrong, telling;
    size_t index;
    double worst, worst_share;
    double square; // sum of squares of the distances
} found;

typedef struct comparison {
    heddle_dtype dtype;
    const void *got;        // of this stage
    const double *expected; // likewise
    double factor, scale;
    found *pieces;
} comparison;

static double allowed_at(const comparison *job, size_t index)
{
    return isinf(job->factor) ? INFINITY : job->factor * fmax(job->scale, fabs(job->expected[index]));
}

static void compare_piece(void *context, size_t first, size_t last)
{
    const comparison *job = context;
    found result = {0};
    for (size_t i = first; i < last; i++) {
        double expected = job->expected[i], allowed = allowed_at(job, i);
        double distance = fabs(heddle_bench_decode(job->dtype, job->got, i) - expected);
        result.telling |= fabs(expected) > allowed;
        result.square += distance * distance;
        if (distance > result.worst)
            result.worst = distance;
        if (allowed > 0 && distance / allowed > result.worst_share)
            result.worst_share = distance / allowed;
        // Written so that a NaN on either side is wrong.
        if (!(distance <= allowed) && !result.wrong) {
            result.wrong = true;
            result.index = i;
        }
    }
    job->pieces[first / HEDDLE_BENCH_PIECE] = result;
}

// Adds one stage's pieces to the verdict; `start` is where the stage begins in the operand.
static void gather(const comparison *job, size_t count, size_t start, heddle_bench_verdict *verdict, bool *telling,
                   double *square)
{
    for (size_t p = 0; p * HEDDLE_BENCH_PIECE < count; p++) {
        const found *piece = &job->pieces[p];
        *telling |= piece->telling;
        *square += piece->square;
        verdict->worst = fmax(verdict->worst, piece->worst);
        verdict->worst_share = fmax(verdict->worst_share, piece->worst_share);
        if (!piece->wrong || !verdict->right)
            continue;
        verdict->right = false;
        verdict->index = start + piece->index;
        verdict->expected = job->expected[piece->index];
        verdict->got = heddle_bench_decode(job->dtype, job->got, piece->index);
        verdict->allowed = allowed_at(job, piece->index);
    }
}

// For HEDDLE_NORM: the operand as a whole.
static void compare_norm(const heddle_bench_case *one, const heddle_rung *rung, int set, int operand, double square,
                         heddle_bench_verdict *verdict)
{
    double norm = one->expected[set].scale[operand] * sqrt((double)one->elements[operand]), distance = sqrt(square);
    double allowed = heddle_tolerance_norm(one->op, one->shape, operand, rung->arithmetic, norm);
    if (allowed > 0)
        verdict->worst_share = fmax(verdict->worst_share, distance / allowed);
    if (distance <= allowed || !verdict->right)
        return;
    *verdict = (heddle_bench_verdict){
        .operand = verdict->operand,
        .as_a_whole = true,
        .expected = norm,
        .got = distance,
        .allowed = allowed,
        .worst = verdict->worst,
        .worst_share = verdict->worst_share,
    };
}

static heddle_status compare_operand(const heddle_bench_case *one, const heddle_rung *rung, int set, int operand,
                                     heddle_bench_verdict *verdict)
{
    heddle_dtype dtype = one->op->operands[operand].dtype;
    size_t size = heddle_dtype_size(dtype), stage = STAGE_BYTES / size;
    double scale = one->expected[set].scale[operand];
    comparison job = {
        .dtype = dtype,
        .got = one->stage,
        .factor = factor_of(one, rung, set, dtype),
        .scale = scale,
        .pieces = calloc(stage / HEDDLE_BENCH_PIECE + 1, sizeof(found)),
    };
    if (!job.pieces)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to compare with the reference");
    heddle_status status = HEDDLE_OK;
    bool telling = one->op->exactness == HEDDLE_NORM && scale > 0;
    double square = 0;
    for (size_t start = 0; start < one->elements[operand] && status == HEDDLE_OK; start += stage) {
        size_t count = one->elements[operand] - start < stage ? one->elements[operand] - start : stage;
        status = heddle_copy(one->place.stream, one->stage, (char *)one->work[operand] + start * size, count * size);
        if (status == HEDDLE_OK)
            status = heddle_stream_synchronize(one->place.stream);
        job.expected = one->expected[set].operand[operand] + start;
        if (status == HEDDLE_OK) {
            heddle_bench_pieces(one->place.pool, count, compare_piece, &job);
            gather(&job, count, start, verdict, &telling, &square);
        }
    }
    free(job.pieces);
    HEDDLE_TRY(status);
    if (one->op->exactness == HEDDLE_NORM)
        compare_norm(one, rung, set, operand, square, verdict);
    verdict->telling |= telling;
    if (verdict->right && !telling && scale > 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: zeros in '%s' would pass at this shape",
                           one->op->operands[operand].name);
    return HEDDLE_OK;
}

// --- what a rung must leave alone ------------------------------------------------------------------------------------

static heddle_status fetch(const heddle_bench_case *one, void *to, const void *from, size_t bytes)
{
    HEDDLE_TRY(heddle_copy(one->place.stream, to, from, bytes));
    return heddle_stream_synchronize(one->place.stream);
}

static size_t first_difference(const unsigned char *left, const unsigned char *right, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && left[at] == right[at])
        at++;
    return at;
}

// An input holds what it held before the launch.
static heddle_status compare_input(const heddle_bench_case *one, int set, int operand, heddle_bench_verdict *verdict)
{
    const size_t half = STAGE_BYTES / 2, size = heddle_dtype_size(one->op->operands[operand].dtype);
    char *now = one->stage, *before = now + half;
    for (size_t start = 0; start < one->bytes[operand] && verdict->right; start += half) {
        size_t bytes = one->bytes[operand] - start < half ? one->bytes[operand] - start : half;
        HEDDLE_TRY(fetch(one, now, (char *)one->work[operand] + start, bytes));
        HEDDLE_TRY(fetch(one, before, (char *)one->pristine[set][operand] + start, bytes));
        if (memcmp(now, before, bytes) == 0)
            continue;
        size_t at = first_difference((unsigned char *)now, (unsigned char *)before, bytes);
        verdict->right = false;
        verdict->changed = "an input, which must stay as it was";
        verdict->index = (start + at) / size;
    }
    return HEDDLE_OK;
}

static heddle_status compare_guard(const heddle_bench_case *one, int set, int operand, heddle_bench_verdict *verdict)
{
    unsigned char *guard = one->stage;
    if (!guard_of(one, operand))
        return HEDDLE_OK;
    HEDDLE_TRY(fetch(one, guard, (char *)one->work[operand] + one->bytes[operand], GUARD_BYTES));
    for (size_t at = 0; at < GUARD_BYTES && verdict->right; at++) {
        if (guard[at] == poison[set])
            continue;
        verdict->right = false;
        verdict->changed = "memory behind the operand's end";
        verdict->index = one->elements[operand] + at / heddle_dtype_size(one->op->operands[operand].dtype);
    }
    return HEDDLE_OK;
}

static bool is_empty(const heddle_bench_case *one)
{
    for (int i = 0; i < one->op->operand_count; i++)
        if (one->op->operands[i].role != HEDDLE_INPUT && one->elements[i] > 0)
            return false;
    return true;
}

heddle_status heddle_bench_case_compare(const heddle_bench_case *one, const heddle_rung *rung, int set,
                                        heddle_bench_verdict *verdict)
{
    *verdict = (heddle_bench_verdict){.right = true};
    for (int i = 0; i < one->op->operand_count && verdict->right; i++) {
        const heddle_operand *operand = &one->op->operands[i];
        verdict->operand = operand->name;
        HEDDLE_TRY(compare_guard(one, set, i, verdict));
        if (operand->role == HEDDLE_INPUT && verdict->right)
            HEDDLE_TRY(compare_input(one, set, i, verdict));
    }
    for (int i = 0; i < one->op->operand_count && verdict->right; i++) {
        const heddle_operand *operand = &one->op->operands[i];
        // What is only saved for a backward operator may be kept in a rung's own way.
        if (operand->role == HEDDLE_INPUT || operand->saved)
            continue;
        verdict->operand = operand->name;
        HEDDLE_TRY(compare_operand(one, rung, set, i, verdict));
    }
    if (verdict->right && !verdict->telling)
        return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: at this shape %s",
                           is_empty(one) ? "there is nothing to compute" : "the result is zeros, so zeros would pass");
    return HEDDLE_OK;
}
