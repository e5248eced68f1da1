// Warp collectives: what each lane gets, held against plain loops; masks that are wrong; lanes that never meet.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "doubles.h"

typedef struct call {
    int operation, argument, width;
    unsigned mask;
    uint64_t out[64];
} call;

static uint64_t brought(unsigned lane)
{
    return 7 * lane + (lane % 3 == 0 ? 100 : 0);
}

static void call_once(void *closure)
{
    call *made = closure;
    if (made->mask >> threadIdx.x % 32 & 1)
        made->out[threadIdx.x] =
            sim_warp(made->operation, made->mask, brought(threadIdx.x % 32), made->argument, made->width);
}

static void run_call(call *made, unsigned threads)
{
    memset(made->out, 0xee, sizeof made->out);
    assert_int_equal(double_run(1, threads, call_once, made), 0);
}

static void shuffles_read_the_lane_they_name(void **state)
{
    (void)state;
    for (int width = 1; width <= 32; width *= 2)
        for (int argument = 0; argument < 32; argument++) {
            call made[4] = {{SIM_SHUFFLE_INDEX, argument, width, UINT32_MAX, {0}},
                            {SIM_SHUFFLE_UP, argument, width, UINT32_MAX, {0}},
                            {SIM_SHUFFLE_DOWN, argument, width, UINT32_MAX, {0}},
                            {SIM_SHUFFLE_XOR, argument, width, UINT32_MAX, {0}}};
            for (int i = 0; i < 4; i++)
                run_call(&made[i], 64);
            for (int thread = 0; thread < 64; thread++) {
                int lane = thread % 32, first = lane / width * width;
                int up = lane - argument < first ? lane : lane - argument;
                int down = lane + argument >= first + width ? lane : lane + argument;
                int other = (lane ^ argument) >= first + width ? lane : lane ^ argument;
                assert_int_equal(made[0].out[thread], brought((unsigned)(first + argument % width)));
                assert_int_equal(made[1].out[thread], brought((unsigned)up));
                assert_int_equal(made[2].out[thread], brought((unsigned)down));
                assert_int_equal(made[3].out[thread], brought((unsigned)other));
            }
        }
    assert_int_equal(double_finding_count, 0);
}

static void parity_votes(void *closure)
{
    uint64_t(*out)[32] = closure;
    unsigned lane = threadIdx.x, mask = lane & 1 ? 0xaaaaaaaau : 0x55555555u;
    out[0][lane] = sim_warp(SIM_BALLOT, mask, lane < 8, 0, 32);
    out[1][lane] = sim_warp(SIM_ALL, mask, lane & 1, 0, 32);
    out[2][lane] = sim_warp(SIM_ANY, mask, lane == 5, 0, 32);
    out[3][lane] = sim_warp(SIM_MATCH_ANY, mask, lane / 4, 0, 32);
    out[4][lane] = sim_warp(SIM_MATCH_ALL, mask, lane & 1 ? 9 : lane, 0, 32);
    out[5][lane] = sim_warp(SIM_REDUCE_ADD, mask, lane, 0, 32);
    out[6][lane] = sim_warp(SIM_REDUCE_MIN, mask, lane - 3, 0, 32);
    out[7][lane] = (uint32_t)sim_warp(SIM_REDUCE_MIN_SIGNED, mask, lane - 3, 0, 32);
    out[8][lane] = sim_warp(SIM_REDUCE_MAX, mask, lane - 3, 0, 32);
    out[9][lane] = sim_warp(SIM_REDUCE_MAX_SIGNED, mask, lane - 3, 0, 32);
    out[10][lane] = sim_warp(SIM_REDUCE_AND, mask, lane | 64, 0, 32);
    out[11][lane] = sim_warp(SIM_REDUCE_OR, mask, lane, 0, 32);
    out[12][lane] = sim_warp(SIM_REDUCE_XOR, mask, lane, 0, 32);
}

static void groups_vote_and_reduce_by_themselves(void **state)
{
    (void)state;
    uint64_t out[13][32];
    assert_int_equal(double_run(1, 32, parity_votes, out), 0);
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned odd = lane & 1, mask = odd ? 0xaaaaaaaau : 0x55555555u;
        assert_int_equal(out[0][lane], mask & 0xff);
        assert_int_equal(out[1][lane], odd);
        assert_int_equal(out[2][lane], odd);
        assert_int_equal(out[3][lane], 0xfu << lane / 4 * 4 & mask);
        assert_int_equal(out[4][lane], odd ? mask : 0);
        assert_int_equal(out[5][lane], odd ? 256 : 240);
        assert_int_equal(out[6][lane], odd ? 0 : 1);
        assert_int_equal(out[7][lane], odd ? (uint32_t)-2 : (uint32_t)-3);
        assert_int_equal(out[8][lane], odd ? (uint32_t)-2 : (uint32_t)-1);
        assert_int_equal(out[9][lane], odd ? 28 : 27);
        assert_int_equal(out[10][lane], 64 | odd);
        assert_int_equal(out[11][lane], odd ? 31 : 30);
        assert_int_equal(out[12][lane], 0);
    }
    assert_int_equal(double_finding_count, 0);
}

static void sum_up(void **arguments, unsigned mask)
{
    int sum = 0;
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(arguments[lane] != NULL, mask >> lane & 1);
        if (arguments[lane])
            sum += *(int *)arguments[lane];
    }
    for (int lane = 0; lane < 32; lane++)
        if (arguments[lane])
            *(int *)arguments[lane] = sum;
}

static void call_function(void *closure)
{
    int *out = closure, value = (int)threadIdx.x;
    if (threadIdx.x < 10)
        sim_warp_call(0x3ff, &value, sum_up);
    out[threadIdx.x] = value;
}

static void one_lane_calls_for_all(void **state)
{
    (void)state;
    int out[32];
    assert_int_equal(double_run(1, 32, call_function, out), 0);
    assert_int_equal(out[0], 45);
    assert_int_equal(out[9], 45);
    assert_int_equal(out[10], 10);
}

static void ask_who_is_active(void *closure)
{
    unsigned *out = closure;
    if (threadIdx.x % 32 < 5) {
        out[threadIdx.x] = sim_active_mask();
        __asm__ volatile("# few");
    } else {
        out[threadIdx.x] = sim_active_mask();
        __asm__ volatile("# many");
    }
    out[threadIdx.x] += sim_active_mask() == UINT32_MAX ? 0 : 1000;
}

static void lanes_at_one_call_are_active_together(void **state)
{
    (void)state;
    unsigned out[64];
    assert_int_equal(double_run(1, 64, ask_who_is_active, out), 0);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 32 < 5 ? 0x1fu : ~0x1fu);
}

static void not_in_mask(void *closure)
{
    (void)closure;
    sim_warp(SIM_BALLOT, 0x0000ffff, 1, 0, 32);
}

static void shuffle_from_outside(void *closure)
{
    (void)closure;
    if (threadIdx.x < 16)
        sim_warp(SIM_SHUFFLE_INDEX, 0xffff, 1, 20, 32);
}

static void wrong_masks_are_named(void **state)
{
    (void)state;
    assert_int_equal(double_run(1, 32, not_in_mask, NULL), 0);
    assert_int_equal(double_count(SIM_WARP_MASK), 16);
    assert_int_equal(double_findings[0].tier, SIM_ERROR);
    assert_int_equal(double_findings[0].place[0].thread[0], 16);
    assert_int_equal(double_run(1, 32, shuffle_from_outside, NULL), 0);
    assert_int_equal(double_count(SIM_WARP_MASK), 16);
    call odd = {SIM_SHUFFLE_INDEX, 1, 5, UINT32_MAX, {0}};
    run_call(&odd, 32);
    assert_int_equal(double_count(SIM_WARP_MASK), 32);
}

static void reduce_down(void *closure)
{
    unsigned lanes = *(unsigned *)closure;
    unsigned mask = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    uint64_t sum = threadIdx.x;
    if (threadIdx.x >= lanes)
        return;
    for (int distance = ((int *)closure)[1]; distance > 0; distance /= 2)
        sum += sim_warp(SIM_SHUFFLE_DOWN, mask, sum, distance, 32);
    if (threadIdx.x == 0)
        ((int *)closure)[2] = (int)sum;
}

static void only_undefined_values_that_reach_the_result_are_errors(void **state)
{
    (void)state;
    int whole[3] = {32, 16, 0}, half[3] = {16, 8, 0}, wide[3] = {16, 16, 0}, crooked[3] = {20, 16, 0};
    assert_int_equal(double_run(1, 32, reduce_down, whole), 0);
    assert_int_equal(double_finding_count, 0);
    assert_int_equal(whole[2], 496);
    // Lanes 8 to 15 read lanes 16 to 23, but lane 0 never hears of it.
    assert_int_equal(double_run(1, 32, reduce_down, half), 0);
    assert_int_equal(double_finding_count, 0);
    assert_int_equal(half[2], 120);
    assert_int_equal(double_run(1, 32, reduce_down, wide), 0);
    assert_true(double_count(SIM_WARP_MASK) > 0);
    assert_int_equal(double_run(1, 32, reduce_down, crooked), 0);
    assert_true(double_count(SIM_WARP_MASK) > 0);
}

typedef struct shifts {
    int lanes;
    unsigned mask;
    int distance[2]; // 0: none
} shifts;

static void shift_by(void *closure)
{
    const shifts *how = closure;
    if ((int)threadIdx.x >= how->lanes)
        return;
    uint64_t value = sim_warp(SIM_SHUFFLE_DOWN, how->mask, threadIdx.x, how->distance[0], 32);
    if (how->distance[1])
        sim_warp(SIM_SHUFFLE_DOWN, how->mask, value, how->distance[1], 32);
}

static void shuffles_down_may_not_read_exited_lanes_they_name(void **state)
{
    (void)state;
    shifts wrong[] = {{20, UINT32_MAX, {1, 0}},
                      {20, UINT32_MAX, {2, 0}},
                      {20, UINT32_MAX, {3, 2}},
                      {20, UINT32_MAX, {1, 1}},
                      {20, UINT32_MAX, {2, 8}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(double_run(1, 32, shift_by, &wrong[i]), 0);
        int errors = 0;
        for (int k = 0; k < double_finding_count; k++)
            errors += double_findings[k].kind == SIM_WARP_MASK && double_findings[k].tier == SIM_ERROR;
        assert_true(errors > 0);
    }
    // A mask that leaves them out, a block that never had them, the last steps of a reduction.
    shifts edge = {20, 0xfffff, {1, 0}}, last = {16, 0xffff, {2, 1}};
    assert_int_equal(double_run(1, 32, shift_by, &edge), 0);
    assert_int_equal(double_finding_count, 0);
    assert_int_equal(double_run(1, 20, shift_by, &wrong[0]), 0);
    assert_int_equal(double_finding_count, 0);
    assert_int_equal(double_run(1, 32, shift_by, &last), 0);
    assert_int_equal(double_finding_count, 0);
}

static void exit_then_vote(void *closure)
{
    uint64_t *out = closure;
    if (threadIdx.x >= 20)
        return;
    out[threadIdx.x] = sim_warp(SIM_BALLOT, UINT32_MAX, 1, 0, 32);
}

static void vote_then_others_exit(void *closure)
{
    uint64_t *out = closure;
    if (threadIdx.x < 20)
        out[threadIdx.x] = sim_warp(SIM_BALLOT, UINT32_MAX, 1, 0, 32);
}

static void exited_lanes_are_not_waited_for(void **state)
{
    (void)state;
    uint64_t out[32];
    void (*const kernels[])(void *) = {exit_then_vote, vote_then_others_exit};
    for (unsigned schedule = 0; schedule < 2; schedule++)
        for (int i = 0; i < 2; i++) {
            sim_schedule = schedule;
            assert_int_equal(double_run(1, 32, kernels[i], out), 0);
            for (int lane = 0; lane < 20; lane++)
                assert_int_equal(out[lane], (1u << 20) - 1);
            assert_int_equal(double_count(SIM_WARP_MASK), 1);
            assert_int_equal(double_findings[0].tier, SIM_WARNING);
        }
    sim_schedule = 0;
    // Lanes that the block never had are another matter: nothing to say.
    assert_int_equal(double_run(1, 20, exit_then_vote, out), 0);
    assert_int_equal(double_finding_count, 0);
    assert_int_equal(out[3], (1u << 20) - 1);
}

static void different_functions(void *closure)
{
    (void)closure;
    if (threadIdx.x == 7)
        sim_warp(SIM_BALLOT, UINT32_MAX, 1, 0, 32);
    else
        sim_warp(SIM_SHUFFLE_XOR, UINT32_MAX, 1, 1, 32);
    sim_warp_sync(UINT32_MAX);
}

static void different_masks(void *closure)
{
    (void)closure;
    if (threadIdx.x == 7)
        sim_warp(SIM_BALLOT, 0xff, 1, 0, 32);
    else
        sim_warp(SIM_BALLOT, UINT32_MAX, 1, 0, 32);
}

static void lanes_in_different_collectives_are_named(void **state)
{
    (void)state;
    assert_int_equal(double_run(1, 32, different_functions, NULL), 0);
    assert_int_equal(double_count(SIM_WARP_MISMATCH), 1);
    assert_int_equal(double_findings[0].place[1].thread[0], 7);
    assert_int_equal(double_run(1, 32, different_masks, NULL), SIM_ERROR_FAILURE);
    assert_int_equal(double_count(SIM_WARP_MISMATCH), 1);
    assert_int_equal(double_findings[0].place[1].thread[0], 7);
}

static void overlapping_in_turn(void *closure)
{
    int *out = closure;
    // Lanes 0 and 1 meet, then 1 and 2, then 2 and 0: no two wait for each other at the same time.
    if (threadIdx.x < 2)
        sim_warp_sync(0x3);
    if (threadIdx.x == 1 || threadIdx.x == 2)
        sim_warp_sync(0x6);
    if (threadIdx.x == 0 || threadIdx.x == 2)
        sim_warp_sync(0x5);
    out[threadIdx.x] = 1;
}

static void masks_may_overlap_in_turn(void **state)
{
    (void)state;
    for (sim_schedule = 0; sim_schedule < 6; sim_schedule++) {
        int out[3] = {0};
        assert_int_equal(double_run(1, 3, overlapping_in_turn, out), 0);
        assert_int_equal(double_finding_count, 0);
        assert_int_equal(out[0] + out[1] + out[2], 3);
    }
    sim_schedule = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_read_the_lane_they_name),
        cmocka_unit_test(groups_vote_and_reduce_by_themselves),
        cmocka_unit_test(one_lane_calls_for_all),
        cmocka_unit_test(lanes_at_one_call_are_active_together),
        cmocka_unit_test(wrong_masks_are_named),
        cmocka_unit_test(only_undefined_values_that_reach_the_result_are_errors),
        cmocka_unit_test(shuffles_down_may_not_read_exited_lanes_they_name),
        cmocka_unit_test(exited_lanes_are_not_waited_for),
        cmocka_unit_test(lanes_in_different_collectives_are_named),
        cmocka_unit_test(masks_may_overlap_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
