// Values: dtypes hold what they should, draws do not depend on the number of threads, and look as they are named.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/float8.h"
#include "base/threads.h"
#include "heddle/ops.h"
#include "ops/values.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

static double through(heddle_dtype dtype, double value)
{
    char bytes[8];
    heddle_values_encode(dtype, 1, NULL, &value, 1, bytes);
    return heddle_values_decode(dtype, 1, bytes, 0);
}

static void every_dtype_keeps_what_it_can_hold(void **state)
{
    (void)state;
    static const heddle_dtype dtypes[] = {HEDDLE_F32, HEDDLE_F64, HEDDLE_F16, HEDDLE_BF16,    HEDDLE_I32,
                                          HEDDLE_I64, HEDDLE_U8,  HEDDLE_I8,  HEDDLE_F16_PAIR};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (int value = 0; value <= 127; value++)
            assert_true(through(dtypes[i], value) == value);
    assert_true(through(HEDDLE_I8, -128) == -128 && through(HEDDLE_I32, -70000) == -70000);
    assert_true(through(HEDDLE_U8, 255) == 255 && through(HEDDLE_I64, 1e15) == 1e15);
}

static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    assert_true(through(HEDDLE_F16, 2049) == 2048 && through(HEDDLE_F16, 2051) == 2052);
    assert_true(through(HEDDLE_F16, 65504) == 65504 && isinf(through(HEDDLE_F16, 65520)));
    assert_true(through(HEDDLE_F16, 0x1p-24) == 0x1p-24 && through(HEDDLE_F16, -0x1.8p-24) == -0x1p-23);
    assert_true(through(HEDDLE_F16, 0x1p-26) == 0 && isnan(through(HEDDLE_F16, NAN)));
    assert_true(through(HEDDLE_F16, 0x1.ff8p-15) == 0x1.ff8p-15 && through(HEDDLE_F16, 0x1.fffp-15) == 0x1p-14);
    assert_true(through(HEDDLE_BF16, 257) == 256 && through(HEDDLE_BF16, 259) == 260);
    assert_true(isnan(through(HEDDLE_BF16, NAN)));
}

// Each of its 256 patterns, and numbers between neighbours.
static void e4m3_rounds_to_nearest_even_and_saturates(void **state)
{
    (void)state;
    enum { NAN_BITS = 0x7f, SIGN = 0x80, MOST = 448 };
    for (int bits = 0; bits < NAN_BITS; bits++) {
        const double value = heddle_e4m3_decode((uint8_t)bits), next = heddle_e4m3_decode((uint8_t)(bits + 1));
        assert_true(heddle_e4m3_decode((uint8_t)(bits | SIGN)) == -value);
        assert_int_equal(heddle_e4m3_encode(value), bits);
        assert_int_equal(heddle_e4m3_encode(-value), bits | SIGN);
        if (bits + 1 == NAN_BITS)
            break;
        assert_true(value < next);
        assert_int_equal(heddle_e4m3_encode((value + next) / 2), bits + bits % 2);
        assert_int_equal(heddle_e4m3_encode((value + next) / 2 * (1 - 0x1p-30)), bits);
        assert_int_equal(heddle_e4m3_encode((value + next) / 2 * (1 + 0x1p-30)), bits + 1);
    }
    assert_true(through(HEDDLE_F8_E4M3, 1) == 1 && through(HEDDLE_F8_E4M3, 0x1p-9) == 0x1p-9);
    assert_true(through(HEDDLE_F8_E4M3, 449) == MOST && through(HEDDLE_F8_E4M3, 464) == MOST);
    assert_true(through(HEDDLE_F8_E4M3, 1e30) == MOST && through(HEDDLE_F8_E4M3, -INFINITY) == -MOST);
    assert_true(isnan(through(HEDDLE_F8_E4M3, NAN)) && isnan(heddle_e4m3_decode(NAN_BITS | SIGN)));
    assert_true(heddle_values_round(HEDDLE_F8_E4M3, 17) == 16 && heddle_values_round(HEDDLE_F8_E4M3, 19) == 20);
}

static void pairs_hold_22_bits(void **state)
{
    (void)state;
    static const double exponents[] = {0x1p15, 1, 0x1p-10, 0x1p-14};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
        for (int value = 1000; value < 2000; value++) {
            const double exact = exponents[i] * (1 + value * 0x1p-11 + value * 0x1p-22);
            assert_true(fabs(through(HEDDLE_F16_PAIR, exact) - exact) <= exact * 0x1p-22);
            assert_true(through(HEDDLE_F16_PAIR, -exact) == -through(HEDDLE_F16_PAIR, exact));
        }
    assert_true(through(HEDDLE_F16_PAIR, 0x1p-35) == 0x1p-35 && isnan(through(HEDDLE_F16_PAIR, NAN)));
}

static void a_row_of_pairs_is_its_upper_then_its_lower_halves(void **state)
{
    (void)state;
    enum { COLUMNS = 3, COUNT = 2 * COLUMNS };
    const double values[COUNT] = {1 + 0x1p-20, 2, 3, 4, 5, -6 - 0x1p-15};
    uint16_t halves[2 * COUNT];
    heddle_values_encode(HEDDLE_F16_PAIR, COLUMNS, NULL, values, COUNT, halves);
    const double expected[2 * COUNT] = {1, 2, 3, 0x1p-9, 0, 0, 4, 5, -6, 0, 0, -0x1p-4};
    for (int i = 0; i < 2 * COUNT; i++)
        assert_true(heddle_values_decode(HEDDLE_F16, COLUMNS, halves, (size_t)i) == expected[i]);
    for (int i = 0; i < COUNT; i++)
        assert_true(heddle_values_decode(HEDDLE_F16_PAIR, COLUMNS, halves, (size_t)i) == values[i]);
}

static void draws_do_not_depend_on_threads(void **state)
{
    (void)state;
    const heddle_op *op;
    heddle_elements_shape shape = {3 * HEDDLE_VALUES_PIECE + 7};
    heddle_pool *pool;
    heddle_operand_values alone, many, other;
    assert_ok(heddle_op_find("add_forward", &op));
    assert_ok(heddle_pool_create(3, &pool));
    assert_ok(heddle_operand_values_create(&alone, op, &shape));
    assert_ok(heddle_operand_values_create(&many, op, &shape));
    assert_ok(heddle_operand_values_create(&other, op, &shape));
    assert_ok(heddle_operand_values_draw(&alone, NULL, 5));
    assert_ok(heddle_operand_values_draw(&many, pool, 5));
    assert_ok(heddle_operand_values_draw(&other, pool, 6));
    size_t bytes = alone.elements[0] * sizeof(double);
    assert_memory_equal(alone.operand[0], many.operand[0], bytes);
    assert_memory_not_equal(alone.operand[0], other.operand[0], bytes);
    assert_memory_not_equal(alone.operand[0], alone.operand[1], bytes);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < alone.elements[0]; i++) {
        sum += alone.operand[0][i];
        squares += alone.operand[0][i] * alone.operand[0][i];
        assert_true(alone.operand[0][i] == (float)alone.operand[0][i]);
    }
    double count = (double)alone.elements[0];
    assert_true(fabs(sum / count) < 0.02 && fabs(squares / count - 1) < 0.02);
    heddle_operand_values_destroy(&alone);
    heddle_operand_values_destroy(&many);
    heddle_operand_values_destroy(&other);
    heddle_pool_destroy(pool);
}

static void what_a_forward_operator_saves_is_there(void **state)
{
    (void)state;
    const heddle_op *op;
    heddle_rows_shape shape = {5, 9};
    heddle_operand_values values;
    assert_ok(heddle_op_find("softmax_backward", &op));
    assert_non_null(heddle_operand_values_forward(op));
    assert_ok(heddle_operand_values_create(&values, op, &shape));
    assert_ok(heddle_operand_values_draw(&values, NULL, 5));
    int output = heddle_operand_find(op, "output");
    double sum = 0;
    for (int i = 0; i < shape.cols; i++)
        sum += values.operand[output][i];
    assert_true(fabs(sum - 1) < 1e-5);
    heddle_operand_values_destroy(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_keeps_what_it_can_hold),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(e4m3_rounds_to_nearest_even_and_saturates),
        cmocka_unit_test(pairs_hold_22_bits),
        cmocka_unit_test(a_row_of_pairs_is_its_upper_then_its_lower_halves),
        cmocka_unit_test(draws_do_not_depend_on_threads),
        cmocka_unit_test(what_a_forward_operator_saves_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
