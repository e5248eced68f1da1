// What own_bench.h says.

#include "own_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

const char own_bench_shape[] = "n=100003";
const heddle_bench_options own_bench_quick = {.seed = 7, .seconds = 0.01};

void own_bench_open(own_bench *on, const heddle_bench_options *options)
{
    const heddle_op *add_forward;
    assert_ok(heddle_op_find("add_forward", &add_forward));
    on->op = *add_forward;
    on->op.ladder = own_rungs;
    on->op.rungs = own_rung_count;
    assert_ok(heddle_device_open("cpu", 2, &on->device));
    assert_ok(heddle_bench_open(on->device, options, &on->bench));
}

void own_bench_close(own_bench *on)
{
    heddle_bench_close(on->bench);
    heddle_device_close(on->device);
}

const heddle_bench_result *own_bench_find(const heddle_bench *bench, const char *rung)
{
    for (int i = 0; i < bench->count; i++)
        if (strcmp(bench->results[i].rung->name, rung) == 0)
            return &bench->results[i];
    return NULL;
}

const heddle_bench_result *own_bench_measure(own_bench *on, const char *rung)
{
    assert_ok(heddle_bench_measure(on->bench, &on->op, own_bench_shape, rung));
    heddle_bench_conclude(on->bench);
    const heddle_bench_result *result = own_bench_find(on->bench, rung);
    assert_non_null(result);
    return result;
}
