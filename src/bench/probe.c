// Runs rungs at a shape of about a hundredth of the cost.

#include "bench/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "bench/shrink.h"
#include "device/device.h"

static const double part = 0.01;
// Launches whose shortest counts: on a busy machine one may take a hundred times as long as it should.
enum { LAUNCHES = 3, LEAST_LAUNCHES = 2 };
static const double long_launches = 1;                    // seconds, after which the least will do
static const double least_flops = 1e8, least_bytes = 1e7; // below, no rung takes seconds

struct heddle_bench_probe {
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_bench_place place;
    const heddle_op *op;
    heddle_bench_case *one;
    double factor; // that the whole costs more
};

static double bytes_of(const heddle_cost *cost)
{
    return cost->bytes_read + cost->bytes_written;
}

heddle_status heddle_bench_probe_open(const heddle_bench_place *place, const heddle_op *op, const void *shape,
                                      heddle_bench_probe **made)
{
    heddle_cost whole = op->cost(shape);
    *made = NULL;
    if (whole.flops < least_flops && bytes_of(&whole) < least_bytes)
        return HEDDLE_OK;
    heddle_bench_probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a probe");
    memcpy(probe->shape, shape, sizeof probe->shape);
    probe->place = *place;
    probe->op = op;
    heddle_bench_take_part(op, probe->shape, &(heddle_bench_budget){part * whole.flops, part * bytes_of(&whole)});
    heddle_cost small = op->cost(probe->shape);
    probe->factor = fmax(whole.flops / fmax(small.flops, 1), bytes_of(&whole) / fmax(bytes_of(&small), 1));
    heddle_status status = heddle_bench_case_create(place, op, probe->shape, 1, &probe->one);
    if (status != HEDDLE_OK) {
        heddle_bench_probe_close(probe);
        return status;
    }
    *made = probe;
    return HEDDLE_OK;
}

void heddle_bench_probe_close(heddle_bench_probe *probe)
{
    if (!probe)
        return;
    heddle_bench_case_destroy(probe->one);
    free(probe);
}

static heddle_status time_launch(const heddle_bench_probe *probe, const heddle_rung *rung, const heddle_call *call,
                                 size_t workspace_bytes, double *seconds)
{
    HEDDLE_TRY(heddle_bench_case_prepare(probe->one, 0, call->workspace, workspace_bytes));
    HEDDLE_TRY(heddle_stream_synchronize(probe->place.stream));
    double began = heddle_now();
    HEDDLE_TRY(heddle_launch(probe->op, rung, call));
    HEDDLE_TRY(heddle_stream_synchronize(probe->place.stream));
    *seconds = heddle_now() - began;
    return HEDDLE_OK;
}

static heddle_status time_shortest(const heddle_bench_probe *probe, const heddle_rung *rung, const heddle_call *call,
                                   size_t workspace_bytes, double *seconds)
{
    double spent = 0;
    for (int i = 0; i < LAUNCHES && (i < LEAST_LAUNCHES || spent < long_launches); i++) {
        double one;
        HEDDLE_TRY(time_launch(probe, rung, call, workspace_bytes, &one));
        *seconds = i == 0 ? one : fmin(*seconds, one);
        spent += one;
    }
    return HEDDLE_OK;
}

heddle_status heddle_bench_probe_rung(const heddle_bench_probe *probe, const heddle_rung *rung, double *seconds)
{
    heddle_call call = heddle_bench_case_call(probe->one);
    int threads = heddle_pool_threads(heddle_device_pool(probe->place.device));
    size_t bytes = rung->workspace ? rung->workspace(probe->shape, threads) : 0;
    *seconds = 0;
    if (rung->supports && !rung->supports(probe->shape))
        return HEDDLE_OK; // nothing is known of it
    HEDDLE_TRY(heddle_alloc(probe->place.device, bytes, &call.workspace));
    heddle_status status = time_shortest(probe, rung, &call, bytes, seconds);
    heddle_free(probe->place.device, call.workspace);
    *seconds *= probe->factor;
    return status;
}
