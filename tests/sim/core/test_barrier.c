// Block barriers, named barriers and the grid's: threads meet, results are right, and meeting wrongly is named.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "doubles.h"

static __thread int shared_sum[1024];

typedef struct reversal {
    int *in, *out;
} reversal;

static void reverse_block(void *closure)
{
    const reversal *data = closure;
    unsigned base = blockIdx.x * blockDim.x;
    for (int round = 0; round < 3; round++) {
        shared_sum[threadIdx.x] = data->in[base + threadIdx.x] + round;
        sim_barrier();
        data->out[base + threadIdx.x] = shared_sum[blockDim.x - 1 - threadIdx.x];
        sim_barrier();
    }
}

static void threads_of_a_block_meet(void **state)
{
    (void)state;
    enum { BLOCKS = 5 };
    const unsigned sizes[] = {1, 31, 32, 33, 256, 1024};
    static int in[BLOCKS * 1024], out[BLOCKS * 1024];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned threads = sizes[s];
        for (unsigned i = 0; i < BLOCKS * threads; i++)
            in[i] = (int)i, out[i] = -1;
        reversal data = {in, out};
        assert_int_equal(double_run(BLOCKS, threads, reverse_block, &data), 0);
        for (unsigned i = 0; i < BLOCKS * threads; i++)
            assert_int_equal(out[i], (int)(i / threads * threads + threads - 1 - i % threads) + 2);
        assert_int_equal(double_finding_count, 0);
    }
}

static void index_kernel(void *closure)
{
    sim_dim *seen = closure;
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    sim_barrier();
    seen[block * blockDim.x * blockDim.y * blockDim.z + thread] = threadIdx;
}

static void index_variables_are_those_of_the_thread(void **state)
{
    (void)state;
    static sim_dim seen[12 * 60];
    sim_config config = {.grid = {2, 3, 2}, .block = {5, 4, 3}};
    assert_int_equal(double_run_shaped(config, index_kernel, seen), 0);
    for (unsigned i = 0; i < 12 * 60; i++) {
        assert_int_equal(seen[i].x, i % 60 % 5);
        assert_int_equal(seen[i].y, i % 60 / 5 % 4);
        assert_int_equal(seen[i].z, i % 60 / 20);
    }
}

static void vote_kernel(void *closure)
{
    int *out = closure;
    int odd = threadIdx.x & 1;
    int count = sim_barrier_counting(SIM_BARRIER_COUNT, odd);
    int all = sim_barrier_counting(SIM_BARRIER_AND, odd), none = sim_barrier_counting(SIM_BARRIER_OR, 0);
    int always = sim_barrier_counting(SIM_BARRIER_AND, 7),
        some = sim_barrier_counting(SIM_BARRIER_OR, threadIdx.x == 3);
    out[threadIdx.x] = count * 10000 + all * 1000 + none * 100 + always * 10 + some;
}

static void barriers_count_predicates(void **state)
{
    (void)state;
    int out[70];
    assert_int_equal(double_run(1, 70, vote_kernel, out), 0);
    for (int i = 0; i < 70; i++)
        assert_int_equal(out[i], 350011);
}

// Two barriers that the compiler does not make one, by other registers' contents or by a call in tail position.
static void either_barrier(int first)
{
    if (first) {
        sim_barrier();
        __asm__ volatile("# first");
    } else {
        sim_barrier();
        __asm__ volatile("# second");
    }
}

static void by_warp(void *closure)
{
    (void)closure;
    either_barrier(threadIdx.x < 32);
}

static void by_lane(void *closure)
{
    (void)closure;
    either_barrier(threadIdx.x & 1);
}

static void divergent_barrier_has_two_tiers(void **state)
{
    (void)state;
    assert_int_equal(double_run(1, 64, by_warp, NULL), 0);
    assert_int_equal(double_count(SIM_BARRIER_DIVERGENT), 1);
    assert_int_equal(double_findings[0].tier, SIM_WARNING);
    assert_int_not_equal(double_findings[0].place[0].pc, double_findings[0].place[1].pc);
    assert_int_equal(double_findings[0].place[1].thread[0], 32);
    assert_int_equal(double_run(1, 32, by_lane, NULL), 0);
    assert_int_equal(double_count(SIM_BARRIER_DIVERGENT), 1);
    assert_int_equal(double_findings[0].tier, SIM_ERROR);
    assert_int_equal(double_findings[0].place[1].thread[0], 1);
}

static void leave_early(void *closure)
{
    if (threadIdx.x >= 50)
        return;
    for (int i = 0, times = *(int *)closure; i < times; i++)
        sim_barrier();
}

static void exit_before_a_barrier_is_a_warning(void **state)
{
    (void)state;
    int times = 3;
    assert_int_equal(double_run(1, 64, leave_early, &times), 0);
    assert_int_equal(double_finding_count, 1);
    assert_int_equal(double_findings[0].kind, SIM_BARRIER_EXITED);
    assert_int_equal(double_findings[0].tier, SIM_WARNING);
}

static void barrier_against_shuffle(void *closure)
{
    (void)closure;
    if (threadIdx.x < 16)
        sim_warp(SIM_SHUFFLE_XOR, UINT32_MAX, 0, 1, 32);
    else
        sim_barrier();
}

static void threads_that_wait_for_each_other_are_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(double_run(2, 32, barrier_against_shuffle, NULL), SIM_ERROR_FAILURE);
    const sim_finding *finding = double_find(SIM_DEADLOCK);
    assert_non_null(finding);
    assert_int_equal(finding->place[0].thread[0], 0);
    assert_int_equal(finding->place[1].thread[0], 16);
    assert_string_equal(finding->message,
                        "no thread of the block can continue: 16 wait in __shfl_xor_sync, 16 in __syncthreads");
    // The abandoned stacks serve the next launch.
    int out[70];
    assert_int_equal(double_run(1, 70, vote_kernel, out), 0);
    assert_int_equal(out[69], 350011);
}

static void pipeline(void *closure)
{
    int *out = closure;
    unsigned pair = threadIdx.x / 64;
    for (int round = 0; round < 3; round++) {
        shared_sum[threadIdx.x] = (int)threadIdx.x + round;
        sim_barrier_named(1 + (int)pair, 64);
        out[threadIdx.x] = shared_sum[threadIdx.x ^ 63];
        sim_barrier_named(1 + (int)pair, 64);
    }
    sim_barrier_named(0, 0);
}

static void named_barriers_hold_their_threads(void **state)
{
    (void)state;
    int out[128];
    assert_int_equal(double_run(3, 128, pipeline, out), 0);
    for (int i = 0; i < 128; i++)
        assert_int_equal(out[i], (i ^ 63) + 2);
    assert_int_equal(double_finding_count, 0);
}

static void grid_sum(void *closure)
{
    int *data = closure, sum = 0;
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    shared_sum[threadIdx.x] = (int)me;
    data[me] = 1;
    sim_barrier_grid();
    for (unsigned i = 0; i < all; i++)
        sum += data[i];
    sim_barrier_grid();
    data[me] = sum + shared_sum[threadIdx.x];
}

static void grid_barrier_holds_all_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 9, THREADS = 40 };
    static int data[BLOCKS * THREADS];
    sim_config config = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .cooperative = 1};
    assert_int_equal(double_run_shaped(config, grid_sum, data), 0);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(data[i], BLOCKS * THREADS + i);
    assert_int_equal(double_run(2, 32, grid_sum, data), SIM_ERROR_FAILURE);
    assert_int_equal(double_count(SIM_BAD_LAUNCH), double_finding_count);
}

static void grid_without_block_zero(void *closure)
{
    (void)closure;
    if (blockIdx.x > 0)
        sim_barrier_grid();
}

static void grid_barrier_without_all_blocks_is_a_deadlock(void **state)
{
    (void)state;
    sim_config config = {.grid = {4, 1, 1}, .block = {32, 1, 1}, .cooperative = 1};
    assert_int_equal(double_run_shaped(config, grid_without_block_zero, NULL), SIM_ERROR_FAILURE);
    assert_int_equal(double_count(SIM_DEADLOCK), 1);
}

int main(void)
{
    double_shared(shared_sum);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_a_block_meet),
        cmocka_unit_test(index_variables_are_those_of_the_thread),
        cmocka_unit_test(barriers_count_predicates),
        cmocka_unit_test(divergent_barrier_has_two_tiers),
        cmocka_unit_test(exit_before_a_barrier_is_a_warning),
        cmocka_unit_test(threads_that_wait_for_each_other_are_a_deadlock),
        cmocka_unit_test(named_barriers_hold_their_threads),
        cmocka_unit_test(grid_barrier_holds_all_blocks),
        cmocka_unit_test(grid_barrier_without_all_blocks_is_a_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
