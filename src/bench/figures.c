// Figures that need all results of a run: rates, shares of the roofline, and which rung is the best.

#include <math.h>
#include <string.h>

#include "bench/bench.h"

bool heddle_bench_is_timed(const heddle_bench_result *result)
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

// Operations per second that rungs of this precision can reach: from the number of units for float32; for tensor cores
// the best that a vendor's rung reached in this run, at any shape.
static double peak_of(const heddle_bench *bench, const heddle_bench_result *result, const char **name)
{
    if (strcmp(result->precision, "f32") == 0) {
        *name = "f32 peak";
        return bench->info.peak_flops;
    }
    double best = 0;
    for (int i = 0; i < bench->count; i++) {
        const heddle_bench_result *other = &bench->results[i];
        if (!heddle_bench_is_timed(other) || other->rung->tier != HEDDLE_VENDOR ||
            strcmp(other->precision, result->precision) != 0)
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
    // Every machine computes at least one operation per byte that it loads: below this only bytes count.
    const double least_intensity = 1;
    double bytes = result->cost.bytes_read + result->cost.bytes_written, seconds = result->timing.seconds;
    const char *name = NULL;
    double peak = peak_of(bench, result, &name);
    result->roofline = NAN;
    result->bound = NULL;
    if (result->op->operands[0].on_host && bench->info.kind != HEDDLE_CPU)
        return; // limited by the link to the host, which `heddle bench out-of-core` measures
    if (bench->copy_bandwidth <= 0 || (peak <= 0 && result->cost.flops > least_intensity * bytes))
        return;
    double by_memory = bytes / bench->copy_bandwidth, by_flops = peak > 0 ? result->cost.flops / peak : 0;
    result->bound = by_memory >= by_flops ? "memory" : name;
    result->roofline = fmax(by_memory, by_flops) / seconds;
}

static bool is_best_own(const heddle_bench *bench, int first, int last, const heddle_bench_result *result)
{
    for (int i = first; i < last; i++) {
        const heddle_bench_result *other = &bench->results[i];
        if (heddle_bench_is_timed(other) && other->rung->tier != HEDDLE_VENDOR &&
            strcmp(other->precision, result->precision) == 0 && other->timing.seconds < result->timing.seconds)
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
            result->roofline = result->flops_per_second = result->bytes_per_second = NAN;
            if (!heddle_bench_is_timed(result))
                continue;
            result->flops_per_second = result->cost.flops / result->timing.seconds;
            result->bytes_per_second = (result->cost.bytes_read + result->cost.bytes_written) / result->timing.seconds;
            find_roofline(bench, result);
            result->best_own = is_best_own(bench, first, last, result);
        }
    }
}

bool heddle_bench_found_wrong(const heddle_bench *bench)
{
    for (int i = 0; i < bench->count; i++) {
        const heddle_bench_result *result = &bench->results[i];
        const bool vendors = result->rung->tier == HEDDLE_VENDOR; // its rounding is not ours to mend
        if ((result->state == HEDDLE_BENCH_WRONG && !vendors) || result->state == HEDDLE_BENCH_FAILED)
            return true;
    }
    return false;
}
