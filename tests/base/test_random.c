// Philox against its published vectors, and the numbers drawn from it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "heddle/random.h"

enum { SAMPLES = 100000 };

static void philox_gives_the_published_known_answers(void **state)
{
    (void)state;
    // Random123's kat_vectors for philox4x32, 10 rounds: zeros, ones, digits of pi.
    static const struct {
        uint32_t counter[4], key[2], output[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t output[4];
        heddle_philox(known[i].counter, known[i].key, output);
        assert_memory_equal(output, known[i].output, sizeof output);
    }
}

static void words_come_from_key_and_counter_as_documented(void **state)
{
    (void)state;
    heddle_random random = {.seed = 0x1111111122222222, .sequence = 0x3333333344444444};
    const uint32_t key[2] = {0x22222222, 0x11111111};
    const uint32_t before[4] = {0x8000001f, 0x7, 0x44444444, 0x33333333};
    const uint32_t after[4] = {0x80000020, 0x7, 0x44444444, 0x33333333};
    random.position = 4 * 0x78000001fULL + 3; // the last word of the block before 0x780000020
    uint32_t output[4];
    heddle_philox(before, key, output);
    assert_int_equal(heddle_random_u32(&random), output[3]);
    heddle_philox(after, key, output);
    for (int i = 0; i < 4; i++)
        assert_int_equal(heddle_random_u32(&random), output[i]);
    assert_true(random.position == 4 * 0x780000020ULL + 4);
}

static void drawing_continues_from_a_written_down_state(void **state)
{
    (void)state;
    heddle_random random = heddle_random_make(7, 1);
    for (int i = 0; i < 13; i++)
        heddle_random_normal(&random);
    heddle_random resumed = random;
    for (int i = 0; i < 10; i++)
        assert_int_equal(heddle_random_u32(&random), heddle_random_u32(&resumed));
}

static void seeds_and_sequences_give_different_numbers(void **state)
{
    (void)state;
    heddle_random a = heddle_random_make(1, 0), b = heddle_random_make(2, 0), c = heddle_random_make(1, 1);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t word = heddle_random_u32(&a);
        same += word == heddle_random_u32(&b);
        same += word == heddle_random_u32(&c);
    }
    assert_int_equal(same, 0);
}

static void below_stays_below_and_reaches_everything_evenly(void **state)
{
    (void)state;
    enum { BOUND = 7 };
    heddle_random random = heddle_random_make(3, 0);
    int counts[BOUND] = {0};
    for (int i = 0; i < SAMPLES; i++)
        counts[heddle_random_below(&random, BOUND)]++;
    // Six standard deviations of a binomial count.
    double expected = (double)SAMPLES / BOUND;
    for (int i = 0; i < BOUND; i++)
        assert_true(fabs(counts[i] - expected) < 6 * sqrt(expected));
    assert_int_equal(heddle_random_below(&random, 1), 0);
}

static void below_has_no_bias_for_large_bounds(void **state)
{
    (void)state;
    // With bound 3 * 2^30, plain scaling of a 32-bit word would give multiples of 3 twice as often as the rest.
    heddle_random random = heddle_random_make(4, 0);
    int multiples = 0;
    for (int i = 0; i < SAMPLES; i++)
        multiples += heddle_random_below(&random, 3u << 30) % 3 == 0;
    assert_true(fabs(multiples - SAMPLES / 3.0) < 6 * sqrt(SAMPLES * 2 / 9.0));
    assert_true(random.position > SAMPLES); // some words were redrawn
}

static void uniform_is_in_range_with_the_right_moments(void **state)
{
    (void)state;
    heddle_random random = heddle_random_make(5, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < SAMPLES; i++) {
        float value = heddle_random_uniform(&random);
        assert_true(value >= 0.0f && value < 1.0f);
        sum += value;
        squares += (double)value * value;
    }
    assert_true(fabs(sum / SAMPLES - 0.5) < 6 * sqrt(1 / 12.0 / SAMPLES));
    assert_true(fabs(squares / SAMPLES - 1 / 3.0) < 0.006);
    assert_int_equal(random.position, SAMPLES);
}

static void normal_has_the_right_moments_and_draws_two_words(void **state)
{
    (void)state;
    heddle_random random = heddle_random_make(6, 0);
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double value = heddle_random_normal(&random);
        assert_true(isfinite(value));
        sum += value;
        squares += value * value;
        fourth += value * value * value * value;
    }
    assert_true(fabs(sum / SAMPLES) < 6 / sqrt(SAMPLES));
    assert_true(fabs(squares / SAMPLES - 1) < 6 * sqrt(2.0 / SAMPLES));
    assert_true(fabs(fourth / SAMPLES - 3) < 6 * sqrt(96.0 / SAMPLES));
    assert_int_equal(random.position, 2 * SAMPLES);
}

static void permutation_holds_each_number_once_and_depends_on_the_seed(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    uint32_t first[COUNT], second[COUNT];
    heddle_random random = heddle_random_make(8, 0);
    heddle_random_permutation(&random, first, COUNT);
    heddle_random_permutation(&random, second, COUNT);
    bool seen[COUNT] = {false};
    int fixed = 0, same = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_in_range(first[i], 0, COUNT - 1);
        assert_false(seen[first[i]]);
        seen[first[i]] = true;
        fixed += first[i] == (uint32_t)i;
        same += first[i] == second[i];
    }
    assert_in_range(fixed, 0, 12); // Poisson with mean 1
    assert_in_range(same, 0, 12);
    random = heddle_random_make(8, 0);
    heddle_random_permutation(&random, second, COUNT);
    assert_memory_equal(first, second, sizeof first);
}

static void every_order_of_a_permutation_is_equally_likely(void **state)
{
    (void)state;
    enum { COUNT = 4, ORDERS = 24, DIGITS = COUNT * COUNT * COUNT * COUNT };
    heddle_random random = heddle_random_make(10, 0);
    int counts[DIGITS] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t order[COUNT];
        heddle_random_permutation(&random, order, COUNT);
        counts[((order[0] * COUNT + order[1]) * COUNT + order[2]) * COUNT + order[3]]++;
    }
    int seen = 0;
    double expected = (double)SAMPLES / ORDERS;
    for (int i = 0; i < DIGITS; i++) {
        assert_true(counts[i] == 0 || fabs(counts[i] - expected) < 6 * sqrt(expected));
        seen += counts[i] > 0;
    }
    assert_int_equal(seen, ORDERS);
}

static void permutation_of_none_or_one_is_trivial(void **state)
{
    (void)state;
    heddle_random random = heddle_random_make(9, 0);
    uint32_t order[2] = {77, 78};
    heddle_random_permutation(&random, order, 0);
    assert_int_equal(order[0], 77);
    heddle_random_permutation(&random, order, 1);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[1], 78);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_known_answers),
        cmocka_unit_test(words_come_from_key_and_counter_as_documented),
        cmocka_unit_test(drawing_continues_from_a_written_down_state),
        cmocka_unit_test(seeds_and_sequences_give_different_numbers),
        cmocka_unit_test(below_stays_below_and_reaches_everything_evenly),
        cmocka_unit_test(below_has_no_bias_for_large_bounds),
        cmocka_unit_test(uniform_is_in_range_with_the_right_moments),
        cmocka_unit_test(normal_has_the_right_moments_and_draws_two_words),
        cmocka_unit_test(permutation_holds_each_number_once_and_depends_on_the_seed),
        cmocka_unit_test(every_order_of_a_permutation_is_equally_likely),
        cmocka_unit_test(permutation_of_none_or_one_is_trivial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
