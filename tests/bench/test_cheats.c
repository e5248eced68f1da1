// Rungs whose time would be a lie are refused by name, and those that are timed in turn with them are not blamed. On
// the simulated GPU, whose events, streams, graphs and limits are as a card's: its times mean nothing, and none is
// asked for.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/rounds.h"
#include "device/device.h"
#include "heddle/ops.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

// With the rungs of wrong.cu; ctest runs this beside it.
static const char module_folder[] = "faulty", module[] = "faulty/libheddle-sim.so";

enum { ELEMENTS = 1000, OPERANDS = 3 };

typedef struct fixture {
    heddle_device *device;
    heddle_stream *stream;
    heddle_bench_timer *timer;
    float *operand[OPERANDS]; // a, b, output
    heddle_elements_shape shape;
} fixture;

static void open_fixture(fixture *on)
{
    assert_int_equal(setenv("HEDDLE_MODULES", module_folder, 1), 0);
    assert_ok(heddle_device_open("sim", 0, &on->device));
    assert_ok(heddle_stream_create(on->device, 0, &on->stream));
    assert_ok(heddle_bench_timer_create(on->device, on->stream, &on->timer));
    for (int i = 0; i < OPERANDS; i++) {
        assert_ok(heddle_alloc(on->device, ELEMENTS * sizeof(float), (void **)&on->operand[i]));
        assert_ok(heddle_fill(on->stream, on->operand[i], 0, ELEMENTS * sizeof(float)));
    }
    on->shape.n = ELEMENTS;
}

static void close_fixture(fixture *on)
{
    for (int i = 0; i < OPERANDS; i++)
        heddle_free(on->device, on->operand[i]);
    heddle_bench_timer_destroy(on->timer);
    heddle_stream_destroy(on->stream);
    heddle_device_close(on->device);
}

static const heddle_rung rungs[] = {
    {"honest", HEDDLE_CUDA, HEDDLE_TUNED},
    {"keeps_cache", HEDDLE_CUDA, HEDDLE_TUNED},
    {"elsewhere", HEDDLE_CUDA, HEDDLE_TUNED},
    {"honest", HEDDLE_CUDA, HEDDLE_VENDOR},
};
enum { FIRST, KEEPS_CACHE, ELSEWHERE, LAST, COUNT };

static heddle_bench_entry *time_all(fixture *on)
{
    const heddle_op *op;
    const heddle_bench_rounds_options options = {.seconds = 0.01};
    heddle_bench_entry *entries = calloc(COUNT, sizeof *entries);
    assert_non_null(entries);
    assert_ok(heddle_op_find("add_forward", &op));
    for (int i = 0; i < COUNT; i++) {
        entries[i].work = (heddle_values_work){op, &rungs[i], {.shape = &on->shape, .stream = on->stream}};
        entries[i].work.call.input[0] = on->operand[0];
        entries[i].work.call.input[1] = on->operand[1];
        entries[i].work.call.output[0] = on->operand[2];
    }
    assert_ok(heddle_bench_time_in_turn(on->timer, entries, COUNT, &options));
    return entries;
}

static void cheats_are_refused_and_the_others_timed(void **state)
{
    (void)state;
    if (access(module, R_OK) != 0)
        skip(); // a build without the simulator
    fixture on = {0};
    open_fixture(&on);
    heddle_bench_entry *entries = time_all(&on);
    assert_int_equal(entries[KEEPS_CACHE].status, HEDDLE_DEVICE);
    assert_non_null(strstr(entries[KEEPS_CACHE].why, "it set 1048576 bytes of the L2 cache aside"));
    assert_int_equal(entries[ELSEWHERE].status, HEDDLE_DEVICE);
    assert_non_null(strstr(entries[ELSEWHERE].why, "launches is done"));
    for (int i = 0; i < COUNT; i++) {
        bool honest = i == FIRST || i == LAST;
        assert_int_equal(entries[i].timing.seconds > 0, honest);
        assert_int_equal(entries[i].slices > 0, honest); // a cheat is out before the rounds begin
        if (!honest)
            continue;
        assert_string_equal(entries[i].why, "");
        assert_true(entries[i].timing.back_to_back > 0);
        assert_true(entries[i].timing.captured);
    }
    size_t kept = 1;
    assert_ok(heddle_device_kept_cache(on.device, &kept));
    assert_int_equal(kept, 0);
    heddle_bench_entries_free(entries, COUNT);
    close_fixture(&on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheats_are_refused_and_the_others_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
