// select on values that the random ones of the ladder tests do not reach: NaN, infinities, zeros of both signs, values
// that are the threshold itself.

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
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static float input[SELECTED];
    static bool above_zero[SELECTED], above_one[SELECTED], above_most[SELECTED];
    for (int i = 0; i < SELECTED; i++) {
        const int kind = i * 7 % KINDS;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_and_the_threshold_itself_are_not_selected),
        cmocka_unit_test(a_single_element_is_found_wherever_it_is),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
