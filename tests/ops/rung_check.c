// Checks of rungs: one rung on one shape, and a forward rung followed by a backward rung.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "harness.h"

enum {
    MOST_THREADS = 3, // an odd number, and more than many shapes have pieces for
    STREAM_THREADS = 2,
    MOST_GRADIENTS = 4, // gradient operators of one forward operator
};

// --- pools and a stream, opened once --------------------------------------------------------------------------------

static heddle_pool *pools[MOST_THREADS + 1];
static heddle_device *device;
static heddle_stream *stream;

static void close_all(void)
{
    for (int i = 0; i <= MOST_THREADS; i++)
        if (pools[i])
            heddle_pool_destroy(pools[i]);
    if (stream)
        heddle_stream_destroy(stream);
    if (device)
        heddle_device_close(device);
}

static bool open_all(harness_report *report)
{
    static bool opened;
    if (opened)
        return true;
    for (int i = 1; i <= MOST_THREADS; i++)
        if (heddle_pool_create(i, &pools[i]) != HEDDLE_OK)
            return harness_fail(report, "a pool of %d threads: %s", i, heddle_last_error());
    if (heddle_device_open("cpu", STREAM_THREADS, &device) != HEDDLE_OK ||
        heddle_stream_create(device, 0, &stream) != HEDDLE_OK)
        return harness_fail(report, "a cpu stream: %s", heddle_last_error());
    opened = true;
    atexit(close_all);
    return true;
}

// --- one call -------------------------------------------------------------------------------------------------------

// What calls are held against.
typedef struct rung_trial {
    const heddle_rung *rung; // on trial now
    harness_values prepared; // before the reference
    harness_values expected; // after it
    harness_bounds bounds;
    harness_report *report;
} rung_trial;

static void trial_create(rung_trial *trial, const harness_values *prepared, int64_t reduction, harness_report *report)
{
    trial->rung = NULL;
    trial->report = report;
    harness_values_copy(&trial->prepared, prepared);
    harness_values_copy(&trial->expected, prepared);
    harness_values_reference(&trial->expected);
    harness_bounds_create(&trial->bounds, &trial->prepared, &trial->expected, reduction);
}

// Puts the rung on trial, on values that came about in the arithmetic `before`.
static void try_rung(rung_trial *trial, const heddle_rung *rung, heddle_arithmetic before)
{
    trial->rung = rung;
    harness_bounds_for(&trial->bounds, rung->arithmetic > before ? rung->arithmetic : before, rung->sum_bits);
}

static void trial_destroy(rung_trial *trial)
{
    harness_values_destroy(&trial->prepared);
    harness_values_destroy(&trial->expected);
    harness_bounds_destroy(&trial->bounds);
}

// Runs the rung now; the memory keeps what it wrote.
static bool run_call(rung_trial *trial, harness_memory *memory, heddle_pool *pool, const char *what)
{
    memory->call.pool = pool;
    if (harness_launch(memory->op, trial->rung, &memory->call) != HEDDLE_OK)
        return harness_fail(trial->report, "%s: %s", what, heddle_last_error());
    return harness_memory_intact(memory, &trial->prepared, trial->report);
}

// All outputs that are not only saved for later, against the reference, unless the rung is nothing else.
static bool compare_outputs(rung_trial *trial, const harness_memory *memory, const char *what)
{
    const heddle_op *op = memory->op;
    for (int i = 0; !harness_is_reference(trial->rung) && i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        if (operand->role == HEDDLE_INPUT || operand->saved || trial->prepared.absent[i])
            continue;
        size_t elements = trial->expected.elements[i];
        double *got = malloc((elements + 1) * sizeof *got);
        harness_memory_read(memory, i, got);
        bool same = harness_compare(op, i, got, trial->expected.operand[i], trial->bounds.bound[i], elements, what,
                                    trial->report);
        free(got);
        if (!same)
            return false;
    }
    return true;
}

static bool check_aligned_to(rung_trial *trial, size_t offset, const char *what)
{
    harness_memory memory;
    harness_memory_create(&memory, &trial->prepared, trial->rung, 1, offset);
    bool passed = run_call(trial, &memory, NULL, what) && compare_outputs(trial, &memory, what);
    harness_memory_destroy(&memory);
    return passed;
}

// The same bits whatever the number of threads. Whole networks, which take long, get the largest number alone.
static bool check_threads(rung_trial *trial, const harness_memory *alone)
{
    const int fewest = trial->prepared.op->exactness == HEDDLE_NORM ? MOST_THREADS : 1;
    bool passed = true;
    for (int threads = fewest; passed && threads <= MOST_THREADS; threads++) {
        char what[64];
        snprintf(what, sizeof what, "with %d threads", threads);
        harness_memory memory;
        harness_memory_create(&memory, &trial->prepared, trial->rung, threads, 0);
        passed = run_call(trial, &memory, pools[threads], what) &&
                 harness_memory_same_outputs(&memory, alone, what, trial->report);
        harness_memory_destroy(&memory);
    }
    return passed;
}

// The same bits through a stream, the caller's shape gone before it runs.
static bool check_stream(rung_trial *trial, const harness_memory *alone)
{
    harness_memory memory;
    harness_memory_create(&memory, &trial->prepared, trial->rung, STREAM_THREADS, 0);
    unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    memcpy(shape, memory.shape, memory.op->shape_size);
    memory.call.shape = shape;
    memory.call.stream = stream;
    bool passed = heddle_launch(memory.op, trial->rung, &memory.call) == HEDDLE_OK;
    memset(shape, 0xff, sizeof shape);
    passed = passed && heddle_stream_synchronize(stream) == HEDDLE_OK;
    if (!passed)
        harness_fail(trial->report, "through a stream: %s", heddle_last_error());
    passed = passed && harness_memory_intact(&memory, &trial->prepared, trial->report) &&
             harness_memory_same_outputs(&memory, alone, "through a stream", trial->report);
    harness_memory_destroy(&memory);
    return passed;
}

// --- what a forward rung saved --------------------------------------------------------------------------------------

// Inputs of `backward` as the reference of `forward` leaves them, rounded to what their dtype holds.
static void prepare_backward(harness_values *values, const heddle_op *backward, const harness_values *forward,
                             uint64_t seed)
{
    harness_values_create(values, backward, forward->shape);
    harness_values_draw(values, seed);
    harness_values_take(values, forward);
    harness_values_round(values);
}

// Puts what a forward rung wrote in the place of what the reference left.
static void take_outputs(harness_values *values, const harness_memory *forward)
{
    for (int i = 0; i < values->op->operand_count; i++) {
        int source = heddle_operand_find(forward->op, values->op->operands[i].name);
        if (source >= 0 && forward->op->operands[source].role != HEDDLE_INPUT && forward->block[source] &&
            heddle_operand_elements(forward->op, source, forward->shape) == values->elements[i])
            harness_memory_read(forward, source, values->operand[i]);
    }
}

static int64_t longest_reduction(const heddle_op *a, const heddle_op *b, const void *shape)
{
    int64_t first = harness_reduction(a, shape), second = harness_reduction(b, shape);
    return first > second ? first : second;
}

// The reference gradient of what the rung saved, against that of what the reference saved (`gradient`).
static bool check_saved(rung_trial *forward, const harness_memory *memory, const rung_trial *gradient)
{
    const heddle_op *backward = gradient->prepared.op;
    harness_values got;
    harness_values_copy(&got, &gradient->prepared);
    take_outputs(&got, memory);
    harness_values_reference(&got);
    harness_report aside = {.passed = true};
    bool passed = true;
    for (int i = 0; passed && i < backward->operand_count; i++)
        if (backward->operands[i].role != HEDDLE_INPUT)
            passed = harness_compare(backward, i, got.operand[i], gradient->expected.operand[i],
                                     gradient->bounds.bound[i], got.elements[i], backward->name, &aside);
    if (!passed)
        harness_fail(forward->report, "from what was saved, %s", aside.message);
    harness_values_destroy(&got);
    return passed;
}

// --- the checks -----------------------------------------------------------------------------------------------------

static bool parse(const heddle_op *op, const char *text, void *shape, harness_report *report)
{
    return heddle_shape_parse(op, text, shape) == HEDDLE_OK || harness_fail(report, "%s", heddle_last_error());
}

static bool tried(const heddle_rung *rung, const void *shape)
{
    return harness_runs(rung) && (!rung->supports || rung->supports(shape));
}

bool harness_reads_saved(const heddle_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].role == HEDDLE_INPUT && op->operands[i].values == HEDDLE_VALUES_SAVED)
            return true;
    return false;
}

// Puts operator, rung, shape and seed before the message.
static bool explain(const heddle_op *op, const heddle_rung *rung, const char *shape, uint64_t seed,
                    harness_report *report)
{
    char message[sizeof report->message];
    memcpy(message, report->message, sizeof message);
    snprintf(report->message, sizeof report->message, "%s, rung %s, \"%s\", seed %llu: %.700s", op->name,
             rung ? rung->name : "any", shape, (unsigned long long)seed, message);
    return false;
}

static bool is_simulated(void)
{
    return strcmp(harness_device_name(), "sim") == 0;
}

// Large shapes take long on the simulated GPU.
static bool is_large(const harness_values *prepared)
{
    const double large_flops = 2e4;
    return is_simulated() && prepared->op->cost(prepared->shape).flops > large_flops;
}

// Whether a rung has shown at a smaller shape what a large one takes too long for.
static bool has_shown(const harness_values *prepared, int rung, const harness_report *report)
{
    return report->complete[rung] && is_large(prepared);
}

// Shapes for later rungs' tiles take a device's first, naive rung seconds on the simulated GPU, and those of whole
// networks any rung.
static bool takes_too_long(const harness_values *prepared, int rung, const harness_report *report)
{
    int first = 0;
    while (!harness_runs(&prepared->op->ladder[first]))
        first++;
    const double most_flops = rung == first ? 2e6 : 1e8;
    return report->shown_large[rung] && is_large(prepared) && prepared->op->cost(prepared->shape).flops > most_flops;
}

// An empty shape shows nothing.
static bool is_empty(const harness_values *prepared)
{
    heddle_cost cost = prepared->op->cost(prepared->shape);
    return cost.flops + cost.bytes_written == 0;
}

// A second run gives the same bits. On the simulated GPU it would take the same order again, and show nothing.
static bool check_repeated(rung_trial *trial, const harness_memory *once)
{
    harness_memory memory;
    harness_memory_create(&memory, &trial->prepared, trial->rung, 1, 0);
    bool passed =
        run_call(trial, &memory, NULL, "again") && harness_memory_same_outputs(&memory, once, "again", trial->report);
    harness_memory_destroy(&memory);
    return passed;
}

static void leave_out_optional(harness_values *values, bool absent)
{
    for (int i = 0; i < values->op->operand_count; i++)
        values->absent[i] = absent && values->op->operands[i].optional;
}

// A whole network takes long, so it is asked for everything at once: a second run with its operands off alignment and
// without optional ones gives the same bits. On the simulated GPU that is left to the smallest shapes.
static bool check_at_once(rung_trial *trial, const harness_memory *alone)
{
    const double most_flops = 1e8;
    const heddle_op *op = trial->prepared.op;
    if (is_simulated() && op->cost(trial->prepared.shape).flops > most_flops)
        return true;
    const char *what = "off alignment, without optional operands";
    harness_memory memory;
    leave_out_optional(&trial->prepared, true);
    harness_memory_create(&memory, &trial->prepared, trial->rung, 1, 1);
    bool passed =
        run_call(trial, &memory, NULL, what) && harness_memory_same_outputs(&memory, alone, what, trial->report);
    harness_memory_destroy(&memory);
    leave_out_optional(&trial->prepared, false);
    return passed;
}

// Whatever runs it: on cpu the threads, and a stream; elsewhere everything goes through a stream.
static bool check_runners(rung_trial *trial, const harness_memory *alone)
{
    if (trial->rung->device == HEDDLE_CPU)
        return check_threads(trial, alone) && check_stream(trial, alone);
    return trial->rung->unordered || is_simulated() || check_repeated(trial, alone);
}

// Of large shapes, only the first that a rung can do.
static bool check_off_alignment(rung_trial *trial)
{
    int rung = (int)(trial->rung - trial->prepared.op->ladder);
    return (trial->report->shown_large[rung] && is_large(&trial->prepared)) ||
           check_aligned_to(trial, 1, "off alignment");
}

// Everything that is asked of one rung with all its operands. `gradients` (count of them) follow a forward operator.
static bool check_complete(rung_trial *trial, const rung_trial *gradients, int count)
{
    harness_memory alone;
    harness_memory_create(&alone, &trial->prepared, trial->rung, 1, 0);
    bool passed = run_call(trial, &alone, NULL, "alone") && compare_outputs(trial, &alone, "alone");
    if (trial->prepared.op->exactness == HEDDLE_NORM && trial->rung->device != HEDDLE_CPU)
        passed = passed && check_at_once(trial, &alone);
    else
        passed = passed && check_runners(trial, &alone) && check_off_alignment(trial);
    for (int g = 0; passed && g < count; g++)
        passed = check_saved(trial, &alone, &gradients[g]);
    harness_memory_destroy(&alone);
    return passed;
}

static bool check_all_operands(const harness_values *prepared, const char *shape_text, uint64_t seed,
                               harness_report *report)
{
    const heddle_op *op = prepared->op;
    rung_trial trial, gradients[MOST_GRADIENTS];
    int count = 0;
    trial_create(&trial, prepared, harness_reduction(op, prepared->shape), report);
    for (int g = 0; op->gradients && op->gradients[g] && count < MOST_GRADIENTS; g++) {
        const heddle_op *backward = op->gradients[g];
        if (!harness_reads_saved(backward) || heddle_shape_validate(backward, prepared->shape) != HEDDLE_OK)
            continue;
        harness_values values;
        prepare_backward(&values, backward, &trial.expected, seed);
        trial_create(&gradients[count++], &values, longest_reduction(op, backward, prepared->shape), report);
        harness_values_destroy(&values);
    }
    bool passed = true;
    for (int r = 0; passed && r < op->rungs; r++)
        if (tried(&op->ladder[r], prepared->shape) && !takes_too_long(prepared, r, report)) {
            try_rung(&trial, &op->ladder[r], HEDDLE_FULL);
            for (int g = 0; g < count; g++)
                harness_bounds_for(&gradients[g].bounds, trial.rung->arithmetic, trial.rung->sum_bits);
            report->reached[r] = true;
            passed = check_complete(&trial, gradients, count) || explain(op, trial.rung, shape_text, seed, report);
        }
    for (int g = 0; g < count; g++)
        trial_destroy(&gradients[g]);
    trial_destroy(&trial);
    return passed;
}

// Optional operands left out: one by itself (`left_out` its index), or all of them (-1).
static bool check_left_out(const harness_values *prepared, int left_out, const char *shape_text, uint64_t seed,
                           harness_report *report)
{
    const heddle_op *op = prepared->op;
    harness_values partly;
    harness_values_copy(&partly, prepared);
    for (int i = 0; i < op->operand_count; i++)
        partly.absent[i] = op->operands[i].optional && (left_out < 0 || i == left_out);
    char what[128];
    snprintf(what, sizeof what, "without %s", left_out < 0 ? "any optional operand" : op->operands[left_out].name);
    rung_trial trial;
    trial_create(&trial, &partly, harness_reduction(op, prepared->shape), report);
    bool passed = true;
    for (int r = 0; passed && r < op->rungs; r++)
        if (tried(&op->ladder[r], prepared->shape) && !has_shown(prepared, r, report)) {
            try_rung(&trial, &op->ladder[r], HEDDLE_FULL);
            passed = check_aligned_to(&trial, 0, what) || explain(op, trial.rung, shape_text, seed, report);
        }
    trial_destroy(&trial);
    harness_values_destroy(&partly);
    return passed;
}

bool harness_check_ladder(const heddle_op *op, const heddle_op *forward, const char *shape_text, uint64_t seed,
                          harness_report *report)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    if (!open_all(report) || !parse(op, shape_text, shape, report))
        return explain(op, NULL, shape_text, seed, report);
    harness_values prepared;
    harness_values_create(&prepared, op, shape);
    harness_values_prepare(&prepared, forward, seed);
    bool passed = check_all_operands(&prepared, shape_text, seed, report);
    int optional = 0;
    for (int i = 0; passed && op->exactness != HEDDLE_NORM && i < op->operand_count; i++)
        if (op->operands[i].optional) {
            optional++;
            passed = check_left_out(&prepared, i, shape_text, seed, report);
        }
    if (passed && optional > 1)
        passed = check_left_out(&prepared, -1, shape_text, seed, report);
    for (int r = 0; passed && r < op->rungs; r++)
        if (tried(&op->ladder[r], shape) && !is_empty(&prepared)) {
            report->complete[r] = true;
            report->shown_large[r] |= is_large(&prepared);
        }
    harness_values_destroy(&prepared);
    return passed;
}

static int count_tried(const heddle_op *op, const void *shape)
{
    int count = 0;
    for (int r = 0; r < op->rungs; r++)
        count += tried(&op->ladder[r], shape);
    return count;
}

// Every backward rung on what one forward rung left in `left`, number `turn` of those tried and of this arithmetic. Of
// large shapes only so many pairs that every rung is in one.
static bool check_followers(const harness_memory *left, int turn, heddle_arithmetic arithmetic,
                            rung_trial *backward_trial, const char *shape_text, uint64_t seed, harness_report *report)
{
    const heddle_op *backward = backward_trial->prepared.op;
    const int forward_count = count_tried(left->op, left->shape), count = count_tried(backward, left->shape);
    const bool large = is_large(&backward_trial->prepared);
    int follower = 0;
    harness_values reference_left = backward_trial->prepared;
    harness_values_copy(&backward_trial->prepared, &reference_left);
    take_outputs(&backward_trial->prepared, left);
    harness_values_round(&backward_trial->prepared);
    bool passed = true;
    for (int r = 0; passed && r < backward->rungs; r++)
        if (tried(&backward->ladder[r], left->shape)) {
            if (follower++ % forward_count != turn % count && large)
                continue;
            harness_memory memory;
            try_rung(backward_trial, &backward->ladder[r], arithmetic);
            harness_memory_create(&memory, &backward_trial->prepared, backward_trial->rung, STREAM_THREADS, 0);
            passed = (run_call(backward_trial, &memory, pools[STREAM_THREADS], "in a pair") &&
                      compare_outputs(backward_trial, &memory, "in a pair")) ||
                     explain(backward, backward_trial->rung, shape_text, seed, report);
            harness_memory_destroy(&memory);
        }
    harness_values_destroy(&backward_trial->prepared);
    backward_trial->prepared = reference_left;
    return passed;
}

// Whether all of an operator's rungs that can do the shape have been in pairs at a large one.
static bool all_paired(const heddle_op *op, const void *shape, const bool *paired)
{
    for (int r = 0; r < op->rungs; r++)
        if (tried(&op->ladder[r], shape) && !paired[r])
            return false;
    return true;
}

static void note_paired(const heddle_op *op, const void *shape, bool *paired)
{
    for (int r = 0; r < op->rungs; r++)
        paired[r] |= tried(&op->ladder[r], shape);
}

bool harness_check_pairs(const heddle_op *forward, const heddle_op *backward, const char *shape_text, uint64_t seed,
                         harness_report *report)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    if (!open_all(report) || !parse(forward, shape_text, shape, report))
        return explain(forward, NULL, shape_text, seed, report);
    if (heddle_shape_validate(backward, shape) != HEDDLE_OK)
        return true;
    harness_values prepared, taken;
    harness_values_create(&prepared, forward, shape);
    const bool large = is_large(&prepared);
    if (large && all_paired(forward, shape, report->paired_large[0]) &&
        all_paired(backward, shape, report->paired_large[1])) {
        harness_values_destroy(&prepared);
        return true;
    }
    harness_values_prepare(&prepared, NULL, seed);
    rung_trial first, second;
    trial_create(&first, &prepared, harness_reduction(forward, shape), report);
    prepare_backward(&taken, backward, &first.expected, seed);
    trial_create(&second, &taken, longest_reduction(forward, backward, shape), report);
    bool passed = true;
    int turn = 0;
    for (int r = 0; passed && r < forward->rungs; r++)
        if (tried(&forward->ladder[r], shape)) {
            harness_memory left;
            first.rung = &forward->ladder[r];
            harness_memory_create(&left, &prepared, first.rung, STREAM_THREADS, 0);
            passed = run_call(&first, &left, pools[STREAM_THREADS], "in a pair") &&
                     check_followers(&left, turn++, first.rung->arithmetic, &second, shape_text, seed, report);
            harness_memory_destroy(&left);
            if (!passed)
                explain(forward, first.rung, shape_text, seed, report);
        }
    if (large) {
        note_paired(forward, shape, report->paired_large[0]);
        note_paired(backward, shape, report->paired_large[1]);
    }
    trial_destroy(&second);
    trial_destroy(&first);
    harness_values_destroy(&taken);
    harness_values_destroy(&prepared);
    return passed;
}
