// Which rungs of an operator are measured at a shape, and the results they get. group.c measures them.

#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/group.h"
#include "bench/shrink.h"
#include "device/device.h"
#include "device/module.h"

const char *const heddle_bench_state_names[] = {"right", "wrong", "failed", "unchecked", "not run", NULL};

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
    return heddle_device_describe(bench->device, &bench->info); // with the clocks of a GPU that is busy
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

bool heddle_bench_has_rung(const heddle_op *op, const heddle_rung *rung, heddle_device_kind device)
{
    return heddle_rung_runs_on(rung, device) && (rung->launch || heddle_module_has_rung(device, op->name, rung));
}

// A rung asked for by name comes with the rungs it is compared with.
static bool is_wanted(const heddle_bench *bench, const heddle_op *op, const heddle_rung *rung, const char *only)
{
    const char *precision = heddle_bench_precision(op, rung), *against = bench->options.against;
    if (bench->options.precision && strcmp(bench->options.precision, precision) != 0)
        return false;
    if (!only || strcmp(only, rung->name) == 0 || (against && strcmp(against, rung->name) == 0))
        return true;
    const heddle_rung *chosen;
    return !against && rung->tier == HEDDLE_VENDOR && heddle_rung_find(op, only, &chosen) == HEDDLE_OK &&
           strcmp(heddle_bench_rival_precision(op, chosen), precision) == 0;
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

// --- one shape -------------------------------------------------------------------------------------------------------

// Why a wanted rung cannot run, as text for all rungs it applies to; NULL: it runs.
static const char *why_not_run(const heddle_bench *bench, const heddle_rung *rung, const void *shape)
{
    if (bench->info.kind == HEDDLE_SIM && rung->gpu_only)
        return "only on a real GPU";
    return rung->supports && !rung->supports(shape) ? "does not support this shape" : NULL;
}

// One result for each rung that is wanted and available; those that cannot run say why.
static heddle_status add_results(heddle_bench *bench, const heddle_op *op, const void *shape, const char *only)
{
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        bool only_real = bench->info.kind == HEDDLE_SIM && rung->gpu_only && rung->tier != HEDDLE_VENDOR;
        if (!is_wanted(bench, op, rung, only) || (!only_real && !heddle_rung_runs_on(rung, bench->info.kind)))
            continue;
        if (!only_real && !heddle_bench_has_rung(op, rung, bench->info.kind)) {
            bench->left_out++;
            continue;
        }
        heddle_bench_result *result = add_result(bench);
        if (!result)
            return HEDDLE_OUT_OF_MEMORY;
        result->reason = why_not_run(bench, rung, shape);
        if (result->reason) {
            result->state = HEDDLE_BENCH_NOT_RUN;
            snprintf(result->message, sizeof result->message, "%s: %s%s%s%s", rung->name, result->reason,
                     only_real ? " (" : "", only_real ? rung->gpu_only : "", only_real ? ")" : "");
        }
        result->op = op;
        result->rung = rung;
        result->precision = heddle_bench_precision(op, rung);
        result->cost = op->cost(shape);
        result->ratio = NAN;
        heddle_bench_print_shape(op, shape, result->shape, sizeof result->shape);
    }
    return HEDDLE_OK;
}

static heddle_status measure_rungs(heddle_bench *bench, const heddle_op *op, const void *shape, const char *only,
                                   heddle_bench_case *one, const char *why_not)
{
    int first = bench->count;
    heddle_status status = add_results(bench, op, shape, only);
    if (status != HEDDLE_OK) {
        bench->count = first;
        return status;
    }
    if (one)
        return heddle_bench_measure_group(bench, shape, only, one, first);
    for (int i = first; i < bench->count; i++) {
        if (bench->results[i].state == HEDDLE_BENCH_NOT_RUN)
            continue;
        bench->results[i].state = HEDDLE_BENCH_UNCHECKED;
        snprintf(bench->results[i].message, sizeof bench->results[i].message, "%s", why_not);
    }
    return HEDDLE_OK;
}

heddle_status heddle_bench_measure(heddle_bench *bench, const heddle_op *op, const char *text, const char *only)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    char why_not[HEDDLE_BENCH_MESSAGE] = "", progress[2 * HEDDLE_BENCH_TEXT];
    HEDDLE_TRY(heddle_shape_parse(op, text, shape));
    if (heddle_bench_is_stopped(bench))
        return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
    snprintf(progress, sizeof progress, "%s %s: the float64 reference", op->name, text);
    if (bench->options.listener)
        bench->options.listener(bench->options.listener_context, progress);

    heddle_device_info host = {0};
    HEDDLE_TRY(heddle_device_describe(bench->host, &host));
    heddle_bench_place place = {bench->device, bench->stream, heddle_device_pool(bench->host), host.memory_free};
    heddle_bench_case *one = NULL;
    heddle_bench_go_away(bench, true);
    heddle_status status = heddle_bench_case_create(&place, op, shape, bench->options.seed, &one);
    heddle_bench_go_away(bench, false);
    if (status == HEDDLE_UNSUPPORTED || status == HEDDLE_OUT_OF_MEMORY)
        snprintf(why_not, sizeof why_not, "%s", heddle_last_error());
    else
        HEDDLE_TRY(status);
    status = measure_rungs(bench, op, shape, only, one, why_not);
    heddle_bench_case_destroy(one);
    return status;
}
