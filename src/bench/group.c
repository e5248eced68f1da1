// The rungs of an operator at one shape, measured together: each is checked, those that are right are timed in turn,
// and each is checked again with other inputs. Which rungs these are is bench.c's.

#include "bench/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "bench/probe.h"
#include "device/device.h"

// --- precisions -----------------------------------------------------------------------------------------------------

// The first operand's; for an operator that draws numbers from a state, that of the numbers.
static const char *full_precision(const heddle_op *op)
{
    bool draws = op->operands[0].dtype == HEDDLE_I64 && op->operand_count > 1;
    return heddle_dtype_name(op->operands[draws].dtype);
}

const char *heddle_bench_precision(const heddle_op *op, const heddle_rung *rung)
{
    return rung->arithmetic != HEDDLE_FULL ? heddle_arithmetic_names[rung->arithmetic] : full_precision(op);
}

const char *heddle_bench_rival_precision(const heddle_op *op, const heddle_rung *rung)
{
    return rung->arithmetic == HEDDLE_TF32X3 ? full_precision(op) : heddle_bench_precision(op, rung);
}

// --- one rung -------------------------------------------------------------------------------------------------------

// A rung among those that are measured together.
typedef struct trial {
    heddle_bench_result *result;
    size_t workspace_bytes;
    double check_seconds;      // of the first launch that was checked
    bool is_final;             // nothing more will be found out about it
    heddle_bench_entry *entry; // NULL: not timed
} trial;

typedef struct heddle_bench_group {
    heddle_bench *bench;
    heddle_bench_case *one;
    int first; // result
    trial *trials;
    int count;
    heddle_bench_entry *entries;
    int entry_count;
} group;

static void tell(const heddle_bench *bench, const heddle_bench_result *result, const char *rung, const char *what)
{
    const heddle_bench_options *options = &bench->options;
    char text[2 * HEDDLE_BENCH_TEXT];
    snprintf(text, sizeof text, "%s %s%s%s: %s", result->op->name, result->shape, rung ? " " : "", rung ? rung : "",
             what);
    if (options->listener)
        options->listener(options->listener_context, text);
}

// Whether the device is unusable: an out-of-bounds access breaks it, simulated or real.
static bool is_lost(const heddle_bench *bench)
{
    return bench->info.kind != HEDDLE_CPU && heddle_device_synchronize(bench->device) != HEDDLE_OK;
}

static void tell_wrong(heddle_bench_result *result, const heddle_bench_verdict *verdict, const char *when)
{
    int length = snprintf(result->message, sizeof result->message, "rung %s of %s is wrong at %s: ", result->rung->name,
                          result->op->name, result->shape);
    char *rest = result->message + length;
    size_t size = sizeof result->message - (size_t)length;
    if (verdict->changed)
        snprintf(rest, size, "it changed element %zu of '%s', %s%s", verdict->index, verdict->operand, verdict->changed,
                 when);
    else if (verdict->as_a_whole)
        snprintf(rest, size, "'%s' is off by %.3g in norm, of %.3g, allowed %.3g%s", verdict->operand, verdict->got,
                 verdict->expected, verdict->allowed, when);
    else
        snprintf(rest, size, "element %zu of '%s' is %.9g, expected %.9g, off by %.3g, allowed %.3g%s", verdict->index,
                 verdict->operand, verdict->got, verdict->expected, fabs(verdict->got - verdict->expected),
                 verdict->allowed, when);
}

// A failure concerns only this result: the other rungs go on, unless the device is `lost`.
static heddle_status blame(trial *of, heddle_status status, const char *why, bool lost)
{
    heddle_bench_result *result = of->result;
    of->is_final = true;
    result->state = status == HEDDLE_UNSUPPORTED ? HEDDLE_BENCH_UNCHECKED : HEDDLE_BENCH_FAILED;
    result->timing = (heddle_bench_timing){0};
    snprintf(result->message, sizeof result->message, "rung %s of %s at %s: %s", result->rung->name, result->op->name,
             result->shape, why);
    if (!lost)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_DEVICE, "rung %s of %s broke the device: nothing more is measured", result->rung->name,
                       result->op->name);
}

// A rung that was not asked for by name (`only`) is left out with a reason.
static heddle_status leave_out(trial *of, const char *only, const char *why)
{
    heddle_bench_result *result = of->result;
    HEDDLE_TRY(blame(of, HEDDLE_OUT_OF_MEMORY, why, false));
    if (only && strcmp(only, result->rung->name) == 0)
        return HEDDLE_OK;
    result->state = HEDDLE_BENCH_NOT_RUN;
    snprintf(result->message, sizeof result->message, "%s %s", result->rung->name, why);
    return HEDDLE_OK;
}

// A workspace that does not fit is not a failure of the rung. The device is asked first, because a host may promise
// memory that it does not have.
static heddle_status leave_out_too_large(const group *on, const char *only)
{
    heddle_device_info now = {0};
    HEDDLE_TRY(heddle_device_describe(on->bench->device, &now)); // the operands are there already
    for (int i = 0; i < on->count; i++) {
        char need[32], have[32], why[HEDDLE_BENCH_TEXT];
        if (on->trials[i].workspace_bytes <= now.memory_free)
            continue;
        heddle_text_bytes((double)on->trials[i].workspace_bytes, need, sizeof need);
        heddle_text_bytes((double)now.memory_free, have, sizeof have);
        snprintf(why, sizeof why, "needs %s of workspace, the device has %s free", need, have);
        HEDDLE_TRY(leave_out(&on->trials[i], only, why));
    }
    return HEDDLE_OK;
}

// A library may take seconds to plan the first launch at a shape, as FFTW does, and none for the next.
static bool plans_ahead(const heddle_rung *rung)
{
    return rung->tier == HEDDLE_VENDOR;
}

// A CPU's rung that would take minutes to be checked.
static heddle_status leave_out_too_slow(const group *on, const void *shape, const char *only)
{
    const double patience = 5; // times what is slow
    const heddle_bench *bench = on->bench;
    heddle_bench_place place = {bench->device, bench->stream, heddle_device_pool(bench->host), SIZE_MAX};
    heddle_bench_probe *probe = NULL;
    if (bench->info.kind != HEDDLE_CPU || bench->options.slow <= 0 || only)
        return HEDDLE_OK;
    heddle_bench_go_away(bench, true);
    heddle_status status = heddle_bench_probe_open(&place, on->trials[0].result->op, shape, &probe);
    heddle_bench_go_away(bench, false);
    for (int i = 0; i < on->count && probe && status == HEDDLE_OK; i++) {
        double seconds;
        char why[HEDDLE_BENCH_TEXT], time[32];
        if (heddle_bench_is_stopped(bench)) {
            status = heddle_fail(HEDDLE_INTERRUPTED, "stopped");
            break;
        }
        if (on->trials[i].is_final || plans_ahead(on->trials[i].result->rung))
            continue;
        heddle_bench_go_away(bench, true);
        heddle_status probed = heddle_bench_probe_rung(probe, on->trials[i].result->rung, &seconds);
        heddle_bench_go_away(bench, false);
        if (probed != HEDDLE_OK || seconds <= patience * bench->options.slow)
            continue; // what fails will be found when it is checked
        snprintf(why, sizeof why, "would take about %s per launch; name it as OP/RUNG to measure it anyway",
                 heddle_text_seconds(seconds, time, sizeof time));
        status = leave_out(&on->trials[i], only, why);
    }
    heddle_bench_probe_close(probe);
    return status;
}

// --- checking -------------------------------------------------------------------------------------------------------

// Runs the rung once on poisoned outputs and compares. It touches no result.
static heddle_status launch_and_compare(const group *on, const trial *of, int set, const heddle_call *call,
                                        double *seconds, heddle_bench_verdict *verdict)
{
    HEDDLE_TRY(heddle_bench_case_prepare(on->one, set, call->workspace, of->workspace_bytes));
    double began = heddle_now();
    HEDDLE_TRY(heddle_launch(of->result->op, of->result->rung, call));
    HEDDLE_TRY(heddle_stream_synchronize(on->bench->stream));
    *seconds = heddle_now() - began;
    return heddle_bench_case_compare(on->one, of->result->rung, set, verdict);
}

static heddle_status check_with(const group *on, trial *of, int set, const heddle_call *call)
{
    heddle_bench_result *result = of->result;
    heddle_bench_verdict verdict = {0};
    double seconds = 0;
    heddle_bench_go_away(on->bench, true);
    heddle_status status = launch_and_compare(on, of, set, call, &seconds, &verdict);
    heddle_bench_go_away(on->bench, false);
    if (set == 0)
        of->check_seconds = seconds;
    HEDDLE_TRY(status);
    result->worst = fmax(result->worst, verdict.worst);
    result->worst_share = fmax(result->worst_share, verdict.worst_share);
    if (verdict.right)
        return HEDDLE_OK;
    result->state = HEDDLE_BENCH_WRONG;
    tell_wrong(result, &verdict, set > 0 ? " (after the timing, with other inputs in the same memory)" : "");
    return HEDDLE_OK;
}

// With a workspace of exactly the rung's size: a device that watches the ends of memory sees what goes beyond. Where it
// fails, `why`.
static heddle_status check(const group *on, trial *of, int set, char why[HEDDLE_BENCH_MESSAGE])
{
    heddle_call call = heddle_bench_case_call(on->one);
    heddle_status status = heddle_alloc(on->bench->device, of->workspace_bytes, &call.workspace);
    if (status == HEDDLE_OK)
        status = check_with(on, of, set, &call);
    snprintf(why, HEDDLE_BENCH_MESSAGE, "%s", status == HEDDLE_OK ? "" : heddle_last_error());
    heddle_free(on->bench->device, call.workspace);
    return status;
}

static heddle_status check_all(const group *on, int set)
{
    for (int i = 0; i < on->count; i++) {
        trial *of = &on->trials[i];
        if (of->is_final)
            continue;
        if (heddle_bench_is_stopped(on->bench))
            return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
        tell(on->bench, of->result, of->result->rung->name, set > 0 ? "checking again" : "checking");
        char why[HEDDLE_BENCH_MESSAGE];
        heddle_status status = check(on, of, set, why);
        if (status != HEDDLE_OK)
            HEDDLE_TRY(blame(of, status, why, is_lost(on->bench)));
        of->is_final |= set > 0 || of->result->state != HEDDLE_BENCH_RIGHT;
        if (of->result->state != HEDDLE_BENCH_RIGHT)
            of->result->timing = (heddle_bench_timing){0};
    }
    return HEDDLE_OK;
}

// --- timing ---------------------------------------------------------------------------------------------------------

// While the GPU is still busy.
static void note_clocks(heddle_bench *bench)
{
    heddle_device_info now = {0};
    if (heddle_device_describe(bench->device, &now) != HEDDLE_OK)
        return;
    bench->clock_after = now.clock;
    bench->memory_clock_after = now.memory_clock;
}

static void tell_timing(void *context, const char *doing)
{
    const group *on = context;
    tell(on->bench, on->trials[0].result, NULL, doing);
}

// Whether a launch takes so long that the one that was checked is its timing.
static bool is_timed_once(const heddle_bench *bench, const trial *of)
{
    return bench->info.kind == HEDDLE_CPU && bench->options.slow > 0 && of->check_seconds > bench->options.slow &&
           !plans_ahead(of->result->rung);
}

// All on the same operands, and on one workspace that is large enough for each.
static heddle_status time_with(group *on, void *workspace, size_t workspace_bytes)
{
    const heddle_bench_options *options = &on->bench->options;
    for (int i = 0; i < on->count; i++) {
        trial *of = &on->trials[i];
        if (of->is_final || is_timed_once(on->bench, of))
            continue;
        of->entry = &on->entries[on->entry_count++];
        of->entry->work = (heddle_values_work){of->result->op, of->result->rung, heddle_bench_case_call(on->one)};
        of->entry->work.call.workspace = workspace;
        of->entry->reference = options->against ? strcmp(options->against, of->result->rung->name) == 0
                                                : of->result->rung->tier == HEDDLE_VENDOR;
    }
    // A rung that was wrong may have changed inputs.
    HEDDLE_TRY(heddle_bench_case_prepare(on->one, 0, workspace, workspace_bytes));
    heddle_bench_rounds_options rounds = {options->seconds, options->stop, tell_timing, on};
    heddle_bench_go_away(on->bench, true);
    heddle_status status = heddle_bench_time_in_turn(on->bench->timer, on->entries, on->entry_count, &rounds);
    heddle_bench_go_away(on->bench, false);
    return status;
}

static heddle_status time_all(group *on)
{
    size_t bytes = 0;
    void *workspace = NULL;
    for (int i = 0; i < on->count; i++)
        if (!on->trials[i].is_final && on->trials[i].workspace_bytes > bytes)
            bytes = on->trials[i].workspace_bytes;
    HEDDLE_TRY(heddle_alloc(on->bench->device, bytes, &workspace));
    heddle_status timed = time_with(on, workspace, bytes);
    heddle_free(on->bench->device, workspace);
    if (timed == HEDDLE_OK)
        note_clocks(on->bench);
    for (int i = 0; i < on->count; i++) {
        trial *of = &on->trials[i];
        double once = of->check_seconds;
        if (!of->is_final && is_timed_once(on->bench, of))
            of->result->timing = (heddle_bench_timing){once, once, once, once, .launches = 1};
        if (!of->entry)
            continue;
        of->result->timing = of->entry->timing;
        if (of->entry->status != HEDDLE_OK)
            timed = blame(of, of->entry->status, of->entry->why, of->entry->lost) == HEDDLE_OK ? timed : HEDDLE_DEVICE;
    }
    return timed;
}

// --- comparing ------------------------------------------------------------------------------------------------------

// The rung that `result` is compared with: the one named, or the fastest vendor's of its precision or its rival's.
static const trial *find_versus(const group *on, const heddle_bench_result *result)
{
    const trial *found = NULL;
    const char *against = on->bench->options.against, *rival = heddle_bench_rival_precision(result->op, result->rung);
    for (int i = 0; i < on->count; i++) {
        const heddle_bench_result *other = on->trials[i].result;
        bool fits = against ? strcmp(other->rung->name, against) == 0
                            : other->rung->tier == HEDDLE_VENDOR && strcmp(other->precision, rival) == 0;
        if (fits && heddle_bench_is_timed(other) && (!found || other->timing.seconds < found->result->timing.seconds))
            found = &on->trials[i];
    }
    return found;
}

static void compare_all(const group *on)
{
    for (int i = 0; i < on->count; i++) {
        heddle_bench_result *result = on->trials[i].result;
        const trial *versus = heddle_bench_is_timed(result) ? find_versus(on, result) : NULL;
        if (!versus)
            continue;
        result->versus = versus->result->rung->name;
        result->ratio = on->trials[i].entry && versus->entry
                            ? heddle_bench_entry_ratio(on->trials[i].entry, versus->entry)
                            : versus->result->timing.seconds / result->timing.seconds;
    }
}

// --- all of it ------------------------------------------------------------------------------------------------------

static heddle_status run_group(group *on, const void *shape, const char *only)
{
    HEDDLE_TRY(leave_out_too_large(on, only));
    HEDDLE_TRY(leave_out_too_slow(on, shape, only));
    HEDDLE_TRY(check_all(on, 0));
    if (on->bench->timer)
        HEDDLE_TRY(time_all(on));
    HEDDLE_TRY(check_all(on, 1));
    compare_all(on);
    return HEDDLE_OK;
}

// A run that ended early leaves no result that is half done.
static void keep_final(const group *on)
{
    heddle_bench *bench = on->bench;
    bench->count = on->first;
    for (int i = 0; i < on->count; i++)
        if (on->trials[i].is_final)
            bench->results[bench->count++] = *on->trials[i].result;
}

void heddle_bench_abandon(heddle_bench *bench)
{
    if (bench->group)
        keep_final(bench->group);
}

heddle_status heddle_bench_measure_group(heddle_bench *bench, const void *shape, const char *only,
                                         heddle_bench_case *one, int first)
{
    int count = bench->count - first, threads = heddle_pool_threads(heddle_device_pool(bench->device));
    if (!bench->results || count <= 0) // no rung was added
        return HEDDLE_OK;
    group on = {.bench = bench, .one = one, .first = first, .count = count};
    on.trials = calloc((size_t)count, sizeof *on.trials);
    on.entries = calloc((size_t)count, sizeof *on.entries);
    if (!on.trials || !on.entries) {
        free(on.trials);
        free(on.entries);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for rungs");
    }
    for (int i = 0; i < count; i++) {
        const heddle_rung *rung = bench->results[first + i].rung;
        on.trials[i].result = &bench->results[first + i];
        on.trials[i].is_final = bench->results[first + i].state == HEDDLE_BENCH_NOT_RUN;
        if (!on.trials[i].is_final)
            on.trials[i].workspace_bytes = rung->workspace ? rung->workspace(shape, threads) : 0;
    }
    bench->group = &on;
    heddle_status status = run_group(&on, shape, only);
    bench->group = NULL;
    if (status != HEDDLE_OK)
        keep_final(&on);
    heddle_bench_entries_free(on.entries, on.entry_count);
    free(on.trials);
    return status;
}
