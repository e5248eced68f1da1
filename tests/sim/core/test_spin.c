// Threads that poll: locks within a block, flags between blocks in any order. What never ends is in test_endless.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doubles.h"

static __thread int shared_value[64];

typedef struct locked {
    int lock, count;
} locked;

static void count_under_lock(void *closure)
{
    locked *data = closure;
    for (int round = 0; round < 3; round++) {
        while (__atomic_exchange_n(&data->lock, 1, __ATOMIC_ACQUIRE))
            sim_spin();
        int before = data->count;
        sim_spin(); // the holder of the lock is slow
        data->count = before + 1;
        __atomic_store_n(&data->lock, 0, __ATOMIC_RELEASE);
    }
}

static void a_lock_lets_one_thread_in(void **state)
{
    (void)state;
    for (sim_schedule = 0; sim_schedule < 4; sim_schedule++) {
        locked data = {0, 0};
        assert_int_equal(double_run(2, 70, count_under_lock, &data), 0);
        assert_int_equal(data.count, 2 * 70 * 3);
        assert_int_equal(double_finding_count, 0);
    }
    sim_schedule = 0;
}

// One place, whatever the compiler makes of the code around it.
__attribute__((noinline)) static void meet(void)
{
    sim_barrier();
    __asm__ volatile("");
}

enum { CHAIN = 40 };

// Block b waits for block b - 1; its shared memory must outlive the wait.
static void chain(void *closure)
{
    int *done = closure;
    shared_value[threadIdx.x] = (int)(blockIdx.x * 100 + threadIdx.x);
    ((int *)sim_dynamic_shared())[threadIdx.x] = (int)blockIdx.x;
    if (threadIdx.x == 0 && blockIdx.x > 0)
        while (!__atomic_load_n(&done[blockIdx.x - 1], __ATOMIC_ACQUIRE))
            sim_spin();
    meet();
    if (threadIdx.x == 1)
        done[blockIdx.x] =
            shared_value[3] == (int)(blockIdx.x * 100 + 3) && ((int *)sim_dynamic_shared())[2] == (int)blockIdx.x ? 1
                                                                                                                  : 2;
}

static void blocks_wait_for_earlier_ones_in_any_order(void **state)
{
    (void)state;
    sim_config config = {.grid = {CHAIN, 1, 1}, .block = {50, 1, 1}, .shared = 256};
    for (sim_schedule = 0; sim_schedule < 4; sim_schedule++) {
        int done[CHAIN] = {0};
        assert_int_equal(double_run_shaped(config, chain, done), 0);
        for (int i = 0; i < CHAIN; i++)
            assert_int_equal(done[i], 1);
        assert_int_equal(double_finding_count, 0);
    }
    sim_schedule = 0;
}

static void poll_at_work(void *closure)
{
    int *done = closure;
    for (int i = 0; i < 100000; i++)
        if (i % 3)
            sim_spin(); // as after an atomicMax that changed nothing
    __atomic_fetch_add(done, 1, __ATOMIC_RELAXED);
}

static void polling_at_work_is_no_waiting(void **state)
{
    (void)state;
    int done = 0;
    assert_int_equal(double_run(4, 64, poll_at_work, &done), 0);
    assert_int_equal(done, 4 * 64);
    assert_int_equal(double_finding_count, 0);
}

// No sim_spin: as a kernel that was built without hooks polls a volatile variable.
static void poll_plainly(void *closure)
{
    volatile int *flags = closure;
    if (threadIdx.x == 0)
        while (!flags[blockIdx.x * 2])
            ;
    if (threadIdx.x == 1 && blockIdx.x == 0)
        while (!flags[1])
            ;
    if (threadIdx.x == 1) {
        flags[blockIdx.x * 2] = 1;
        if (blockIdx.x == 1)
            flags[1] = 1;
    }
}

static void plain_polling_lets_others_run(void **state)
{
    (void)state;
    int flags[4] = {0};
    assert_int_equal(double_run(2, 2, poll_plainly, flags), 0);
    assert_int_equal(double_finding_count, 0);
}

static void wait_for_the_clock(void *closure)
{
    long long *out = closure, start = sim_clock(), now;
    while ((now = sim_clock()) - start < 1000000)
        ;
    out[threadIdx.x] = now - start;
}

static void the_clock_goes_on(void **state)
{
    (void)state;
    long long out[2] = {0};
    assert_int_equal(double_run(1, 2, wait_for_the_clock, out), 0);
    assert_true(out[1] >= 1000000);
}

int main(void)
{
    double_shared(shared_value);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_lets_one_thread_in),
        cmocka_unit_test(blocks_wait_for_earlier_ones_in_any_order),
        cmocka_unit_test(the_clock_goes_on),
        cmocka_unit_test(polling_at_work_is_no_waiting),
        cmocka_unit_test(plain_polling_lets_others_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
