// Compares what a rung left in memory with a case, on all cores. How far an element may be off is the formula of
// ops/tolerance.h.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "bench/case.h"
#include "ops/tolerance.h"

// --- before a launch ------------------------------------------------------------------------------------------------

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
        if (heddle_bench_is_read(&one->op->operands[i]))
            HEDDLE_TRY(heddle_copy(stream, one->work[i], one->pristine[set][i], one->bytes[i]));
        else
            HEDDLE_TRY(fill_part(one, i, 0, heddle_bench_poison[set], one->bytes[i]));
        if (heddle_bench_guard_of(one, i))
            HEDDLE_TRY(fill_part(one, i, one->bytes[i], heddle_bench_poison[set], HEDDLE_BENCH_GUARD_BYTES));
    }
    if (workspace)
        HEDDLE_TRY(heddle_fill(stream, workspace, heddle_bench_poison[set], workspace_bytes));
    return heddle_stream_synchronize(stream);
}

// --- comparing -------------------------------------------------------------------------------------------------------

static double factor_of(const heddle_bench_case *one, const heddle_rung *rung, int set, heddle_dtype dtype)
{
    if (one->op->exactness == HEDDLE_NORM)
        return INFINITY; // any one element may be far off, but for NaN
    if (one->op->exactness == HEDDLE_EXACT || heddle_bench_has_whole_numbers(one->op, set))
        return 0;
    return heddle_tolerance_factor(heddle_tolerance_reduction(one->op, one->shape), rung->arithmetic, rung->sum_bits,
                                   dtype);
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
    size_t columns;
    const void *got;        // of this stage
    const double *expected; // likewise
    const heddle_operand *operand;
    double factor, scale;
    double whole; // as heddle_tolerance_whole says
    found *pieces;
} comparison;

// Stages begin and end with rows.
static double scale_of_row(const comparison *job, size_t index)
{
    const size_t columns = job->columns > 0 ? job->columns : 1;
    return job->scale *
           heddle_tolerance_row(job->operand, job->expected + index / columns * columns, columns, job->whole);
}

static double allowed_at(const comparison *job, double scale, size_t index)
{
    return isinf(job->factor) ? INFINITY : job->factor * fmax(scale, fabs(job->expected[index]));
}

static void compare_piece(void *context, size_t first, size_t last)
{
    const comparison *job = context;
    found result = {0};
    double scale = job->scale;
    for (size_t i = first; i < last; i++) {
        if (job->whole > 0 && (i == first || i % job->columns == 0))
            scale = scale_of_row(job, i);
        double expected = job->expected[i], allowed = allowed_at(job, scale, i);
        double distance = fabs(heddle_values_decode(job->dtype, job->columns, job->got, i) - expected);
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
    job->pieces[first / HEDDLE_VALUES_PIECE] = result;
}

// Adds one stage's pieces to the verdict; `start` is where the stage begins in the operand.
static void gather(const comparison *job, size_t count, size_t start, heddle_bench_verdict *verdict, bool *telling,
                   double *square)
{
    for (size_t p = 0; p * HEDDLE_VALUES_PIECE < count; p++) {
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
        verdict->got = heddle_values_decode(job->dtype, job->columns, job->got, piece->index);
        verdict->allowed = allowed_at(job, scale_of_row(job, piece->index), piece->index);
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
    heddle_dtype dtype = heddle_operand_dtype(one->op, operand, one->shape);
    const size_t size = heddle_dtype_size(dtype), most = HEDDLE_BENCH_STAGE_BYTES / size;
    const size_t columns = heddle_operand_columns(one->op, operand, one->shape);
    const size_t stage = columns > 0 && columns < most ? most - most % columns : most; // whole rows
    double scale = one->expected[set].scale[operand];
    comparison job = {
        .dtype = dtype,
        .columns = columns,
        .got = one->stage,
        .factor = factor_of(one, rung, set, dtype),
        .operand = &one->op->operands[operand],
        .scale = scale,
        .whole = heddle_tolerance_whole(&one->op->operands[operand], one->expected[set].operand[operand],
                                        one->elements[operand]),
        .pieces = calloc(stage / HEDDLE_VALUES_PIECE + 1, sizeof(found)),
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
            heddle_values_pieces(one->place.pool, count, compare_piece, &job);
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

// --- what a rung must not change -------------------------------------------------------------------------------------

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
    const size_t half = HEDDLE_BENCH_STAGE_BYTES / 2,
                 size = heddle_dtype_size(heddle_operand_dtype(one->op, operand, one->shape));
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
    if (!heddle_bench_guard_of(one, operand))
        return HEDDLE_OK;
    HEDDLE_TRY(fetch(one, guard, (char *)one->work[operand] + one->bytes[operand], HEDDLE_BENCH_GUARD_BYTES));
    for (size_t at = 0; at < HEDDLE_BENCH_GUARD_BYTES && verdict->right; at++) {
        if (guard[at] == heddle_bench_poison[set])
            continue;
        verdict->right = false;
        verdict->changed = "memory past the operand's end";
        verdict->index =
            one->elements[operand] + at / heddle_dtype_size(heddle_operand_dtype(one->op, operand, one->shape));
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
