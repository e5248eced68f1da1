// select and sort on values that the random ones of the ladder tests do not reach: NaN, infinities, zeros of both
// signs, values that are the threshold itself, keys that are equal.

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heddle/op.h"
#include "heddle/ops.h"
#include "one_rung.h"

// --- select ---------------------------------------------------------------------------------------------------------

enum { SELECTED = 5003 }; // more than a tile, and a ragged end

// Every rung on `input`, whose elements for which `expected` holds true are selected.
static void check_select(float threshold, const float *input, const bool *expected)
{
    const heddle_op *op = op_named("select");
    const heddle_select_shape shape = {.n = SELECTED, .threshold = threshold};
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
        static float output[SELECTED];
        int32_t count = -1, place = 0;
        memset(output, 0xff, sizeof output);
        heddle_call call = {.shape = &shape, .input = {input}, .output = {output, &count}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < SELECTED; i++)
            if (expected[i])
                assert_same("select", op->ladder[r].name, output[place++], input[i]);
        assert_int_equal(count, place);
        for (; place < SELECTED; place++)
            assert_same("select", op->ladder[r].name, output[place], 0);
    }
}

static void nan_and_the_threshold_itself_are_not_selected(void **state)
{
    (void)state;
    static const struct {
        float value;
        bool above_zero, above_one, above_most;
    } kinds[] = {
        {NAN, false, false, false},           {-NAN, false, false, false},          {INFINITY, true, true, true},
        {-INFINITY, false, false, false},     {0.0f, false, false, false},          {-0.0f, false, false, false},
        {FLT_TRUE_MIN, true, false, false},   {-FLT_TRUE_MIN, false, false, false}, {1, true, false, false},
        {1 + FLT_EPSILON, true, true, false}, {FLT_MAX, true, true, false},
    };
    enum { SELECT_KINDS = sizeof kinds / sizeof *kinds };
    static float input[SELECTED];
    static bool above_zero[SELECTED], above_one[SELECTED], above_most[SELECTED];
    for (int i = 0; i < SELECTED; i++) {
        const int kind = i * 7 % SELECT_KINDS;
        input[i] = kinds[kind].value;
        above_zero[i] = kinds[kind].above_zero;
        above_one[i] = kinds[kind].above_one;
        above_most[i] = kinds[kind].above_most;
    }
    check_select(0, input, above_zero);
    check_select(-0.0f, input, above_zero);
    check_select(1, input, above_one);
    check_select(FLT_MAX, input, above_most);
}

// One element alone: the first, the last, at the end of a vector, of a warp's row and of a tile.
static void a_single_element_is_found_wherever_it_is(void **state)
{
    (void)state;
    const int places[] = {0, 3, 31, 32, 127, 128, 511, 512, 4095, 4096, SELECTED - 1};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        static float input[SELECTED];
        static bool expected[SELECTED];
        memset(expected, 0, sizeof expected);
        for (int i = 0; i < SELECTED; i++)
            input[i] = -1;
        input[places[p]] = (float)(p + 1);
        expected[places[p]] = true;
        check_select(0, input, expected);
    }
}

// --- sort -----------------------------------------------------------------------------------------------------------

enum { SORTED = 9001 }; // more than two tiles, and a ragged end

static uint32_t bits_of(float key)
{
    uint32_t bits;
    memcpy(&bits, &key, sizeof bits);
    return bits;
}

static float key_of(uint32_t bits)
{
    float key;
    memcpy(&key, &bits, sizeof key);
    return key;
}

// Every rung on keys of which `expected` (n) says in what order they come: bit for bit, with each key's own value.
static void check_sort(int n, const float *keys, const int *expected)
{
    const heddle_op *op = op_named("sort");
    const heddle_elements_shape shape = {.n = n};
    static int32_t values[SORTED], sorted_values[SORTED];
    static float sorted_keys[SORTED];
    for (int i = 0; i < n; i++)
        values[i] = 7 - 3 * i;
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
        memset(sorted_keys, 0xff, sizeof sorted_keys);
        memset(sorted_values, 0xff, sizeof sorted_values);
        heddle_call call = {.shape = &shape, .input = {keys, values}, .output = {sorted_keys, sorted_values}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < n; i++)
            if (bits_of(sorted_keys[i]) != bits_of(keys[expected[i]]) || sorted_values[i] != values[expected[i]])
                fail_msg("sort, rung %s, place %d: %g with %d, expected %g with %d", op->ladder[r].name, i,
                         sorted_keys[i], sorted_values[i], keys[expected[i]], values[expected[i]]);
    }
}

// In ascending order; those of one rank are equal.
static const struct {
    uint32_t bits;
    int rank;
} in_order[] = {
    {0xffc00001, 0},  {0xffc00000, 1}, // NaN with a sign
    {0xff800000, 2},  {0xff7fffff, 3},  {0xbf800001, 4},  {0xbf800000, 5},  {0x80800000, 6},
    {0x80000001, 7},  {0x80000000, 8},  {0x00000000, 8}, // the smallest; -0, and 0
    {0x00000001, 9},  {0x3f800000, 10}, {0x3f800001, 11}, {0x3f800100, 12}, {0x3f810000, 13},
    {0x7f7fffff, 14}, {0x7f800000, 15}, {0x7fc00000, 16}, {0x7fc00001, 17}, // infinity, and NaN without a sign
};
enum { KINDS = sizeof in_order / sizeof *in_order };

static void equal_keys_keep_their_order_and_nan_stands_where_its_bits_are(void **state)
{
    (void)state;
    static float keys[SORTED];
    static int expected[SORTED];
    int place = 0;
    for (int i = 0; i < SORTED; i++)
        keys[i] = key_of(in_order[(unsigned)i * 2654435761u % 4093 % KINDS].bits);
    for (int rank = 0; rank <= in_order[KINDS - 1].rank; rank++)
        for (int i = 0; i < SORTED; i++)
            for (int kind = 0; kind < KINDS; kind++)
                if (in_order[kind].rank == rank && in_order[kind].bits == bits_of(keys[i]))
                    expected[place++] = i;
    assert_int_equal(place, SORTED);
    check_sort(SORTED, keys, expected);
}

// All equal, in order, and in reverse: at one, at powers of two and beside them.
static void keys_that_are_equal_or_in_order_are_sorted_at_any_number(void **state)
{
    (void)state;
    const int numbers[] = {1, 2, 3, 257, 2048, 4097};
    static float equal[SORTED], rising[SORTED], falling[SORTED];
    static int same[SORTED], reversed[SORTED];
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        for (int i = 0; i < numbers[k]; i++) {
            equal[i] = -2.5f;
            rising[i] = (float)i - 1000;
            falling[i] = -rising[i];
            same[i] = i;
            reversed[i] = numbers[k] - 1 - i;
        }
        check_sort(numbers[k], equal, same);
        check_sort(numbers[k], rising, same);
        check_sort(numbers[k], falling, reversed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_and_the_threshold_itself_are_not_selected),
        cmocka_unit_test(a_single_element_is_found_wherever_it_is),
        cmocka_unit_test(equal_keys_keep_their_order_and_nan_stands_where_its_bits_are),
        cmocka_unit_test(keys_that_are_equal_or_in_order_are_sorted_at_any_number),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
