// Runs the rungs of an operator at a shape: check, time, check again with other inputs.

#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "bench/verify.h"
#include "device/device.h"
#include "device/module.h"

const char *const heddle_bench_state_names[] = {"right", "wrong", "failed", "unchecked", NULL};

// --- life ------------------------------------------------------------------------------------------------------------

static heddle_status open_all(heddle_bench *bench)
{
    HEDDLE_TRY(heddle_device_describe(bench->device, &bench->info));
    if (bench->info.kind == HEDDLE_CPU)
        bench->host = bench->device;
    else
        HEDDLE_TRY(heddle_device_open("cpu", 0, &bench->host));
    HEDDLE_TRY(heddle_stream_create(bench->device, 0, &bench->stream));
    if (bench->info.kind == HEDDLE_SIM)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_bench_timer_create(bench->device, bench->stream, &bench->timer));
    HEDDLE_TRY(heddle_bench_copy_bandwidth(bench->timer, &bench->copy_bandwidth));
    return heddle_device_describe(bench->device, &bench->info); // with the clocks of a card that is awake
}

heddle_status heddle_bench_open(heddle_device *device, const heddle_bench_options *options, heddle_bench **made)
{
    *made = NULL;
    heddle_bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a benchmark");
    bench->device = device;
    bench->options = *options;
    bench->began = time(NULL);
    heddle_status status = open_all(bench);
    if (status != HEDDLE_OK) {
        heddle_bench_close(bench);
        return status;
    }
    *made = bench;
    return HEDDLE_OK;
}

void heddle_bench_close(heddle_bench *bench)
{
    if (!bench)
        return;
    heddle_bench_timer_destroy(bench->timer);
    if (bench->stream)
        heddle_stream_destroy(bench->stream);
    if (bench->host && bench->host != bench->device)
        heddle_device_close(bench->host);
    free(bench->results);
    free(bench);
}

// --- which rungs -----------------------------------------------------------------------------------------------------

const char *heddle_bench_precision(const heddle_op *op, const heddle_rung *rung)
{
    if (rung->arithmetic != HEDDLE_FULL)
        return heddle_arithmetic_names[rung->arithmetic];
    return heddle_dtype_name(op->operands[0].dtype);
}

bool heddle_bench_has_rung(const heddle_op *op, const heddle_rung *rung, heddle_device_kind device)
{
    return heddle_rung_runs_on(rung, device) &&
           (rung->launch || heddle_module_has_rung(device, op->name, rung->name, rung->capability));
}

// A rung asked for by name comes with what it is held against.
static bool is_wanted(const heddle_bench *bench, const heddle_op *op, const heddle_rung *rung, const char *only)
{
    const char *precision = heddle_bench_precision(op, rung), *against = bench->options.against;
    if (bench->options.precision && strcmp(bench->options.precision, precision) != 0)
        return false;
    if (!only || strcmp(only, rung->name) == 0 || (against && strcmp(against, rung->name) == 0))
        return true;
    const heddle_rung *chosen;
    return !against && rung->tier == HEDDLE_VENDOR && heddle_rung_find(op, only, &chosen) == HEDDLE_OK &&
           heddle_bench_precision(op, chosen) == precision;
}

// A shape as one would type it: without the fields that have their default.
static void print_shape(const heddle_op *op, const void *shape, char *text, size_t size)
{
    char all[HEDDLE_BENCH_TEXT], *rest = NULL;
    size_t used = 0;
    heddle_shape_print(op, shape, all, sizeof all);
    text[0] = '\0';
    for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        bool usual = false;
        for (int i = 0; i < op->field_count; i++) {
            const heddle_field *field = &op->fields[i];
            size_t length = strlen(field->name);
            if (strncmp(word, field->name, length) == 0 && word[length] == '=')
                usual = (float)strtod(word + length + 1, NULL) == (float)field->initial; // NAN, must be named: never
        }
        if (!usual && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
    }
}

// NULL: no memory, as the last error says.
static heddle_bench_result *add_result(heddle_bench *bench)
{
    if (bench->count == bench->room) {
        int room = bench->room ? 2 * bench->room : 64;
        heddle_bench_result *moved = realloc(bench->results, (size_t)room * sizeof *moved);
        if (!moved) {
            heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for results");
            return NULL;
        }
        bench->results = moved;
        bench->room = room;
    }
    heddle_bench_result *result = &bench->results[bench->count++];
    memset(result, 0, sizeof *result);
    return result;
}

// --- one rung --------------------------------------------------------------------------------------------------------

typedef struct trial {
    heddle_bench *bench;
    heddle_bench_case *one;
    heddle_bench_result *result;
    heddle_call call;
    size_t workspace_bytes;
} trial;

static void tell(const trial *on, const char *what)
{
    const heddle_bench_options *options = &on->bench->options;
    char text[2 * HEDDLE_BENCH_TEXT];
    snprintf(text, sizeof text, "%s %s %s: %s", on->result->op->name, on->result->shape, on->result->rung->name, what);
    if (options->listener)
        options->listener(options->listener_context, text);
}

static bool is_stopped(const heddle_bench *bench)
{
    return bench->options.stop && *bench->options.stop;
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
    else
        snprintf(rest, size, "element %zu of '%s' is %.9g, expected %.9g, off by %.3g, allowed %.3g%s", verdict->index,
                 verdict->operand, verdict->got, verdict->expected, fabs(verdict->got - verdict->expected),
                 verdict->allowed, when);
}

// Runs the rung once on poisoned outputs and compares.
static heddle_status check(trial *on, int set)
{
    heddle_bench_result *result = on->result;
    heddle_bench_verdict verdict;
    HEDDLE_TRY(heddle_bench_case_prepare(on->one, set, on->call.workspace, on->workspace_bytes));
    HEDDLE_TRY(heddle_launch(result->op, result->rung, &on->call));
    HEDDLE_TRY(heddle_stream_synchronize(on->bench->stream));
    HEDDLE_TRY(heddle_bench_case_compare(on->one, result->rung, set, &verdict));
    result->worst = fmax(result->worst, verdict.worst);
    result->worst_share = fmax(result->worst_share, verdict.worst_share);
    if (verdict.right)
        return HEDDLE_OK;
    result->state = HEDDLE_BENCH_WRONG;
    tell_wrong(result, &verdict, set > 0 ? " (after the timing, with other inputs in the same memory)" : "");
    return HEDDLE_OK;
}

// While the card is still awake.
static void note_clocks(heddle_bench *bench)
{
    heddle_device_info now = {0};
    if (heddle_device_describe(bench->device, &now) != HEDDLE_OK)
        return;
    bench->clock_after = now.clock;
    bench->memory_clock_after = now.memory_clock;
}

static heddle_status run_trial(trial *on)
{
    heddle_bench *bench = on->bench;
    heddle_bench_result *result = on->result;
    const heddle_rung *rung = result->rung;
    if (rung->workspace)
        on->workspace_bytes = rung->workspace(on->call.shape, heddle_pool_threads(heddle_device_pool(bench->device)));
    HEDDLE_TRY(heddle_alloc(bench->device, on->workspace_bytes, &on->call.workspace));
    tell(on, "checking");
    HEDDLE_TRY(check(on, 0));
    if (result->state != HEDDLE_BENCH_RIGHT || is_stopped(bench))
        return HEDDLE_OK;
    if (bench->timer) {
        tell(on, "timing");
        HEDDLE_TRY(
            heddle_bench_time(bench->timer, result->op, rung, &on->call, bench->options.seconds, &result->timing));
        note_clocks(bench);
        tell(on, "checking again");
    }
    HEDDLE_TRY(check(on, 1));
    if (result->state != HEDDLE_BENCH_RIGHT)
        result->timing = (heddle_bench_timing){0};
    return HEDDLE_OK;
}

// After an access out of bounds, say, CUDA answers every call with that failure until the process ends: whatever ran
// next would be blamed for it.
static bool is_lost(const heddle_bench *bench)
{
    return bench->info.kind == HEDDLE_CUDA && heddle_device_synchronize(bench->device) != HEDDLE_OK;
}

// What fails is the result's: the other rungs go on, unless the device is lost with it.
static heddle_status try_rung(heddle_bench *bench, heddle_bench_case *one, heddle_bench_result *result)
{
    trial on = {.bench = bench, .one = one, .result = result, .call = heddle_bench_case_call(one)};
    heddle_status status = run_trial(&on);
    if (status != HEDDLE_OK) {
        result->timing = (heddle_bench_timing){0};
        result->state = status == HEDDLE_UNSUPPORTED ? HEDDLE_BENCH_UNCHECKED : HEDDLE_BENCH_FAILED;
        snprintf(result->message, sizeof result->message, "rung %s of %s at %s: %s", result->rung->name,
                 result->op->name, result->shape, heddle_last_error());
    }
    heddle_free(bench->device, on.call.workspace);
    if (status != HEDDLE_OK && is_lost(bench))
        return heddle_fail(HEDDLE_DEVICE,
                           "the device does not recover from what rung %s of %s did: nothing more is measured",
                           result->rung->name, result->op->name);
    return is_stopped(bench) ? heddle_fail(HEDDLE_INTERRUPTED, "stopped") : HEDDLE_OK;
}

// --- one shape -------------------------------------------------------------------------------------------------------

static heddle_status measure_rungs(heddle_bench *bench, const heddle_op *op, const void *shape, const char *only,
                                   heddle_bench_case *one, const char *why_not)
{
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        if (!is_wanted(bench, op, rung, only) || !heddle_rung_runs_on(rung, bench->info.kind))
            continue;
        if (!heddle_bench_has_rung(op, rung, bench->info.kind)) {
            bench->left_out++;
            continue;
        }
        if (rung->supports && !rung->supports(shape))
            continue;
        heddle_bench_result *result = add_result(bench);
        if (!result)
            return HEDDLE_OUT_OF_MEMORY;
        result->op = op;
        result->rung = rung;
        result->precision = heddle_bench_precision(op, rung);
        result->cost = op->cost(shape);
        print_shape(op, shape, result->shape, sizeof result->shape);
        if (one) {
            heddle_status status = try_rung(bench, one, result);
            if (status == HEDDLE_INTERRUPTED)
                bench->count--; // half done
            HEDDLE_TRY(status);
            continue;
        }
        result->state = HEDDLE_BENCH_UNCHECKED;
        snprintf(result->message, sizeof result->message, "%s", why_not);
    }
    return HEDDLE_OK;
}

heddle_status heddle_bench_measure(heddle_bench *bench, const heddle_op *op, const char *text, const char *only)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    char why_not[HEDDLE_BENCH_MESSAGE] = "", progress[2 * HEDDLE_BENCH_TEXT];
    HEDDLE_TRY(heddle_shape_parse(op, text, shape));
    if (is_stopped(bench))
        return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
    snprintf(progress, sizeof progress, "%s %s: the float64 reference", op->name, text);
    if (bench->options.listener)
        bench->options.listener(bench->options.listener_context, progress);

    heddle_device_info host = {0};
    HEDDLE_TRY(heddle_device_describe(bench->host, &host));
    heddle_bench_place place = {bench->device, bench->stream, heddle_device_pool(bench->host), host.memory_free};
    heddle_bench_case *one = NULL;
    heddle_status status = heddle_bench_case_create(&place, op, shape, bench->options.seed, &one);
    if (status == HEDDLE_UNSUPPORTED || status == HEDDLE_OUT_OF_MEMORY)
        snprintf(why_not, sizeof why_not, "%s", heddle_last_error());
    else
        HEDDLE_TRY(status);
    status = measure_rungs(bench, op, shape, only, one, why_not);
    heddle_bench_case_destroy(one);
    return status;
}

// --- figures ---------------------------------------------------------------------------------------------------------

static bool is_timed(const heddle_bench_result *result)
{
    return result->state == HEDDLE_BENCH_RIGHT && result->timing.seconds > 0;
}

int heddle_bench_group_end(const heddle_bench *bench, int first)
{
    int last = first;
    while (last < bench->count && bench->results[last].op == bench->results[first].op &&
           strcmp(bench->results[last].shape, bench->results[first].shape) == 0)
        last++;
    return last;
}

// Operations a second that rungs of this precision can reach here: the units' count for float32, and for tensor cores
// the best that the vendor's rung showed in this run, at whatever shape.
static double peak_of(const heddle_bench *bench, const heddle_bench_result *result, const char **name)
{
    if (strcmp(result->precision, "f32") == 0) {
        *name = "f32 peak";
        return bench->info.peak_flops;
    }
    double best = 0;
    for (int i = 0; i < bench->count; i++) {
        const heddle_bench_result *other = &bench->results[i];
        if (!is_timed(other) || other->rung->tier != HEDDLE_VENDOR || strcmp(other->precision, result->precision) != 0)
            continue;
        double rate = other->cost.flops / other->timing.seconds;
        if (rate > best) {
            best = rate;
            *name = other->rung->name;
        }
    }
    return best;
}

static void find_roofline(const heddle_bench *bench, heddle_bench_result *result)
{
    // No machine computes less than one operation for a byte it loads: below this only bytes count.
    const double least_intensity = 1;
    double bytes = result->cost.bytes_read + result->cost.bytes_written, seconds = result->timing.seconds;
    const char *name = NULL;
    double peak = peak_of(bench, result, &name);
    result->roofline = NAN;
    result->bound = NULL;
    if (bench->copy_bandwidth <= 0 || (peak <= 0 && result->cost.flops > least_intensity * bytes))
        return;
    double by_memory = bytes / bench->copy_bandwidth, by_flops = peak > 0 ? result->cost.flops / peak : 0;
    result->bound = by_memory >= by_flops ? "memory" : name;
    result->roofline = fmax(by_memory, by_flops) / seconds;
}

// The rung that `result` is compared with: the one named, or the fastest vendor's of its precision.
static const heddle_bench_result *find_versus(const heddle_bench *bench, int first, int last,
                                              const heddle_bench_result *result)
{
    const heddle_bench_result *found = NULL;
    const char *against = bench->options.against;
    for (int i = first; i < last; i++) {
        const heddle_bench_result *other = &bench->results[i];
        bool fits = against ? strcmp(other->rung->name, against) == 0
                            : other->rung->tier == HEDDLE_VENDOR && strcmp(other->precision, result->precision) == 0;
        if (fits && is_timed(other) && (!found || other->timing.seconds < found->timing.seconds))
            found = other;
    }
    return found;
}

static bool is_best_own(const heddle_bench *bench, int first, int last, const heddle_bench_result *result)
{
    for (int i = first; i < last; i++) {
        const heddle_bench_result *other = &bench->results[i];
        if (is_timed(other) && other->rung->tier != HEDDLE_VENDOR && strcmp(other->precision, result->precision) == 0 &&
            other->timing.seconds < result->timing.seconds)
            return false;
    }
    return result->rung->tier != HEDDLE_VENDOR;
}

void heddle_bench_conclude(heddle_bench *bench)
{
    for (int first = 0, last; first < bench->count; first = last) {
        last = heddle_bench_group_end(bench, first);
        for (int i = first; i < last; i++) {
            heddle_bench_result *result = &bench->results[i];
            result->roofline = result->ratio = result->flops_per_second = result->bytes_per_second = NAN;
            if (!is_timed(result))
                continue;
            result->flops_per_second = result->cost.flops / result->timing.seconds;
            result->bytes_per_second = (result->cost.bytes_read + result->cost.bytes_written) / result->timing.seconds;
            find_roofline(bench, result);
            const heddle_bench_result *versus = find_versus(bench, first, last, result);
            result->versus = versus ? versus->rung->name : NULL;
            result->ratio = versus ? versus->timing.seconds / result->timing.seconds : NAN;
            result->best_own = is_best_own(bench, first, last, result);
        }
    }
}

bool heddle_bench_found_wrong(const heddle_bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->results[i].state == HEDDLE_BENCH_WRONG || bench->results[i].state == HEDDLE_BENCH_FAILED)
            return true;
    return false;
}
