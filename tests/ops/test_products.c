// What the random values of the ladder tests do not reach in a product: infinities and NaN, an output that must not be
// read, and the precision of the rung that is chosen.

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "heddle/ops.h"
#include "one_rung.h"

static void with_beta_zero_the_output_is_not_read(void **state)
{
    (void)state;
    // The last is split in as many parts as there are at most, of more than a step each.
    const char *const shapes[] = {"m=2 n=3 k=2", "m=2 n=3 k=0", "m=9 n=13 k=300", "m=3 n=5 k=2003"};
    const heddle_op *op = op_named("matmul_forward");
    for (int s = 0; s < 4; s++) {
        heddle_matmul_shape shape;
        assert_int_equal(heddle_shape_parse(op, shapes[s], &shape), HEDDLE_OK);
        float *a = calloc((size_t)shape.m * shape.k + 1, sizeof *a),
              *b = calloc((size_t)shape.k * shape.n + 1, sizeof *b);
        float *output = malloc((size_t)shape.m * shape.n * sizeof *output);
        for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
            for (int i = 0; i < shape.m * shape.n; i++)
                output[i] = NAN;
            heddle_call call = {.shape = &shape, .input = {a, b}, .output = {output}};
            assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
            for (int i = 0; i < shape.m * shape.n; i++)
                assert_same(shapes[s], op->ladder[r].name, output[i], 0.0f);
        }
        free(a);
        free(b);
        free(output);
    }
}

// Parts of a number are never what one gets who asks for float32, and come after tf32 for one who asks for that.
static void products_are_as_precise_as_asked_for(void **state)
{
    (void)state;
    const bool on_cpu = strcmp(harness_device_name(), "cpu") == 0;
    const heddle_device_kind device = on_cpu                                       ? HEDDLE_CPU
                                      : strcmp(harness_device_name(), "cuda") == 0 ? HEDDLE_CUDA
                                                                                   : HEDDLE_SIM;
    const heddle_op *op = op_named("matmul_forward");
    const heddle_matmul_shape shape = {.m = 64, .n = 64, .k = 64, .alpha = 1};
    for (heddle_arithmetic asked = HEDDLE_FULL; asked <= HEDDLE_TF32; asked++) {
        const heddle_rung *rung;
        if (heddle_rung_choose(op, device, HEDDLE_TUNED, asked, &shape, &rung) != HEDDLE_OK)
            fail_msg("%s", heddle_last_error());
        assert_int_equal(rung->arithmetic, on_cpu ? HEDDLE_FULL : asked);
    }
}

// a (ROWS, k) times ones and minus ones, by every rung that is float32 or of its class: parts of a number
// (matmul/parts.h) must not make NaN where float32 has infinity, nor infinity where it has the largest number.
static void products_of_what_is_not_finite(int k)
{
    enum { ROWS = 6, COLUMNS = 2, PLACE = 3 };
    const heddle_op *op = op_named("matmul_forward");
    const heddle_matmul_shape shape = {.m = ROWS, .n = COLUMNS, .k = k, .alpha = 1};
    const float expected[ROWS] = {INFINITY, -INFINITY, NAN, NAN, FLT_MAX, (float)k};
    float *a = calloc((size_t)ROWS * k, sizeof *a), *b = calloc((size_t)COLUMNS * k, sizeof *b);
    for (int p = 0; p < k; p++) {
        b[p * COLUMNS] = 1;
        b[p * COLUMNS + 1] = -1;
        a[p] = a[k + p] = a[2 * k + p] = a[5 * k + p] = 1; // rows 3 and 4 are zero but for their one number
    }
    a[PLACE] = INFINITY;
    a[k + PLACE] = -INFINITY;
    a[2 * k + PLACE] = INFINITY;
    a[2 * k + PLACE + 1] = -INFINITY;
    a[3 * k + PLACE] = NAN;
    a[4 * k + PLACE] = FLT_MAX;
    for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
        if (op->ladder[r].arithmetic > HEDDLE_TF32X3)
            continue;
        float output[ROWS * COLUMNS] = {0};
        heddle_call call = {.shape = &shape, .input = {a, b}, .output = {output}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < ROWS; i++) {
            assert_same(op->name, op->ladder[r].name, output[i * COLUMNS], expected[i]);
            assert_same(op->name, op->ladder[r].name, output[i * COLUMNS + 1], -expected[i]);
        }
    }
    free(a);
    free(b);
}

static void products_keep_infinity_and_nan(void **state)
{
    (void)state;
    products_of_what_is_not_finite(5);
    products_of_what_is_not_finite(521); // few elements and a long sum: k is split
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_beta_zero_the_output_is_not_read),
        cmocka_unit_test(products_keep_infinity_and_nan),
        cmocka_unit_test(products_are_as_precise_as_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
