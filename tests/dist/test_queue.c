// What a rank queues on a stream of a GPU, by way of pinned memory: a backend and an engine of ours play GPU and MPI.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/backend.h"
#include "dist/inside.h"

enum { BYTES = 64 };

static heddle_device *freed_on; // the device that pinned memory was given back to
static size_t freed_bytes;

static heddle_status play_alloc_pinned(heddle_device *device, size_t bytes, void **memory)
{
    (void)device;
    *memory = malloc(bytes);
    return *memory ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory");
}

static void play_free_pinned(heddle_device *device, void *memory, size_t bytes)
{
    freed_on = device;
    freed_bytes = bytes;
    free(memory);
}

static const heddle_backend gpu = {
    .kind = HEDDLE_SIM, .alloc_pinned = play_alloc_pinned, .free_pinned = play_free_pinned};

static void pinned_memory_goes_back_to_the_device_it_came_from(void **state)
{
    (void)state;
    heddle_device first = {.backend = &gpu}, second = {.backend = &gpu};
    heddle_dist dist = {.ranks = {.ranks = 2}};
    assert_int_equal(heddle_dist_reserve(&dist, &first, BYTES), HEDDLE_OK);
    assert_int_equal(heddle_dist_reserve(&dist, &second, BYTES / 2), HEDDLE_OK); // there is as much already
    assert_null(freed_on);
    assert_int_equal(heddle_dist_reserve(&dist, &second, 2 * BYTES), HEDDLE_OK);
    assert_ptr_equal(freed_on, &first);
    assert_int_equal(freed_bytes, BYTES);
    heddle_dist_release(&dist);
    assert_ptr_equal(freed_on, &second);
    assert_int_equal(freed_bytes, 2 * BYTES);
    assert_null(dist.pinned);
}

static void only_sums_in_place_go_over_mpi_from_a_gpu(void **state)
{
    (void)state;
    heddle_device device = {.backend = &gpu};
    heddle_stream stream = {.device = &device};
    heddle_dist dist = {.ranks = {.ranks = 2}};
    float send[4] = {0}, receive[4] = {0};
    heddle_exchange exchange = {
        .kind = HEDDLE_BROADCAST, .dtype = HEDDLE_F32, .send = send, .receive = send, .count = 4};
    assert_int_equal(heddle_dist_reserve(&dist, &device, BYTES), HEDDLE_OK);
    assert_int_equal(heddle_dist_queue(&dist, HEDDLE_CHANNEL_HOST, &exchange, &stream), HEDDLE_UNSUPPORTED);
    exchange.kind = HEDDLE_ALL_REDUCE;
    exchange.receive = receive;
    assert_int_equal(heddle_dist_queue(&dist, HEDDLE_CHANNEL_HOST, &exchange, &stream), HEDDLE_UNSUPPORTED);
    exchange.receive = send;
    exchange.count = BYTES;
    assert_int_equal(heddle_dist_queue(&dist, HEDDLE_CHANNEL_HOST, &exchange, &stream), HEDDLE_INTERNAL);
    assert_non_null(strstr(heddle_last_error(), "more than was reserved"));
    heddle_dist_release(&dist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_memory_goes_back_to_the_device_it_came_from),
        cmocka_unit_test(only_sums_in_place_go_over_mpi_from_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
