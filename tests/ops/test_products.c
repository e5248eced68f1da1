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

#include "base/float16.h"
#include "base/float8.h"
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

// --- matmul_int4 -----------------------------------------------------------------------------------------------------

enum { INT4_N = 3, INT4_K = 300, INT4_GROUPS = 3, INT4_ROW_BYTES = 160, INT4_ROWS = 37 };

static const uint16_t half_one = 0x3c00, half_nan = 0x7e00, half_scales[INT4_GROUPS] = {0x3c00, 0x3800, 0x4400};
static const float scales[INT4_GROUPS] = {1, 0.5f, 4};
static const uint8_t zeros[INT4_GROUPS] = {8, 0, 255}; // a zero point may be any byte

typedef struct int4_weights {
    uint8_t values[INT4_N][INT4_K];
    uint8_t packed[INT4_N][INT4_ROW_BYTES];
    uint16_t scale[INT4_N][INT4_GROUPS];
    uint8_t zero[INT4_N][INT4_GROUPS];
} int4_weights;

// Every value at every place of a word, and ones where nothing counts.
static void int4_fill(int4_weights *weights, const heddle_matmul_int4_shape *shape)
{
    for (int j = 0; j < INT4_N; j++)
        for (int p = 0; p < INT4_K; p++)
            weights->values[j][p] = (uint8_t)((p * 5 + p / 16 + j) % 16);
    heddle_matmul_int4_pack(shape, weights->values[0], weights->packed[0]);
    for (int j = 0; j < INT4_N; j++) {
        const int last = INT4_K / 8 * 4; // k is four more than whole words: pairs 2 and 3 of the last one are behind it
        weights->packed[j][last + 1] = weights->packed[j][last + 3] = 0xff;
        memset(&weights->packed[j][last + 4], 0xff, INT4_ROW_BYTES - last - 4);
        memcpy(weights->scale[j], half_scales, sizeof half_scales);
        memcpy(weights->zero[j], zeros, sizeof zeros);
    }
}

static float int4_number(const int4_weights *weights, int j, int p)
{
    return scales[p / 128] * (float)(weights->values[j][p] - zeros[p / 128]);
}

static void weights_are_packed_as_the_header_says(void **state)
{
    (void)state;
    const heddle_matmul_int4_shape shape = {.m = 1, .n = 1, .k = 9, .group = 32};
    const uint8_t values[] = {0, 1, 2, 3, 4, 5, 6, 7, 15}, expected[] = {0x20, 0x64, 0x31, 0x75, 0x0f, 0, 0, 0};
    uint8_t packed[16];
    memset(packed, 0xff, sizeof packed);
    heddle_matmul_int4_pack(&shape, values, packed);
    assert_memory_equal(packed, expected, sizeof expected);
    for (size_t i = sizeof expected; i < sizeof packed; i++)
        assert_int_equal(packed[i], 0);
}

// A row of the input that is 1 in one place gives the weights of that place, scaled, and nothing of any other. Some
// rungs take one row, 8, 16 and more in different ways.
static void each_packed_weight_meets_its_own_column(void **state)
{
    (void)state;
    const heddle_op *op = op_named("matmul_int4");
    const int rows[] = {1, 5, 13, INT4_ROWS};
    static int4_weights weights;
    static uint16_t input[INT4_ROWS][INT4_K];
    static float output[INT4_ROWS][INT4_N];
    for (int first = 0; first < INT4_K; first += first < 10 ? 1 : 23)
        for (size_t s = 0; s < sizeof rows / sizeof *rows; s++) {
            const heddle_matmul_int4_shape shape = {.m = rows[s], .n = INT4_N, .k = INT4_K, .group = 128};
            int4_fill(&weights, &shape);
            memset(input, 0, sizeof input);
            for (int i = 0; i < rows[s]; i++)
                input[i][(first + 8 * i) % INT4_K] = half_one;
            for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
                heddle_call call = {
                    .shape = &shape, .input = {input, weights.packed, weights.scale, weights.zero}, .output = {output}};
                assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
                for (int i = 0; i < rows[s]; i++)
                    for (int j = 0; j < INT4_N; j++)
                        assert_same("matmul_int4", op->ladder[r].name, output[i][j],
                                    int4_number(&weights, j, (first + 8 * i) % INT4_K));
            }
        }
}

static void a_row_of_the_input_that_is_no_number_spoils_no_other(void **state)
{
    (void)state;
    enum { SPOILT = 2, PLACE = 77 };
    const heddle_op *op = op_named("matmul_int4");
    const heddle_matmul_int4_shape shape = {.m = 9, .n = INT4_N, .k = INT4_K, .group = 128};
    static int4_weights weights;
    static uint16_t input[9][INT4_K];
    int4_fill(&weights, &shape);
    for (int i = 0; i < shape.m; i++)
        input[i][PLACE] = i == SPOILT ? half_nan : half_one;
    for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
        float output[9][INT4_N];
        heddle_call call = {
            .shape = &shape, .input = {input, weights.packed, weights.scale, weights.zero}, .output = {output}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < shape.m; i++)
            for (int j = 0; j < INT4_N; j++)
                assert_same("matmul_int4", op->ladder[r].name, output[i][j],
                            i == SPOILT ? NAN : int4_number(&weights, j, PLACE));
    }
}

// --- matmul_fp8 ------------------------------------------------------------------------------------------------------

enum { FP8_PATTERNS = 256, FP8_NAN = 0x7f, FP8_ONE = 0x38, FP8_MOST_N = 16, FP8_MOST_K = 259 };

typedef struct fp8_operands {
    uint8_t a[FP8_PATTERNS][FP8_MOST_K], b[FP8_MOST_N][FP8_MOST_K];
    float scale_a, scale_b;
} fp8_operands;

// A copy of (rows, k) whose rows follow one another.
static void fp8_pack(uint8_t *to, const uint8_t *from, int rows, int k)
{
    for (int i = 0; i < rows; i++)
        memcpy(to + (size_t)i * (size_t)k, from + (size_t)i * FP8_MOST_K, (size_t)k);
}

// Runs every rung and compares with expected (m, n).
static void fp8_expect(const heddle_matmul_fp8_shape *shape, const fp8_operands *operands, const float *expected)
{
    static uint8_t a[FP8_PATTERNS * FP8_MOST_K], b[FP8_MOST_N * FP8_MOST_K];
    static uint16_t output[FP8_PATTERNS * FP8_MOST_N];
    const heddle_op *op = op_named("matmul_fp8");
    fp8_pack(a, operands->a[0], shape->m, shape->k);
    fp8_pack(b, operands->b[0], shape->n, shape->k);
    for (int r = next_able(op, 0, shape); r < op->rungs; r = next_able(op, r + 1, shape)) {
        heddle_call call = {
            .shape = shape, .input = {a, b, &operands->scale_a, &operands->scale_b}, .output = {output}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < shape->m * shape->n; i++)
            assert_same("matmul_fp8", op->ladder[r].name, heddle_bf16_decode(output[i]), expected[i]);
    }
}

// Aligned rows, which all rungs can do, and others.
static const heddle_matmul_fp8_shape fp8_shapes[] = {{.m = FP8_PATTERNS, .n = FP8_MOST_N, .k = FP8_PATTERNS},
                                                     {.m = FP8_PATTERNS, .n = 3, .k = FP8_MOST_K}};

// A row of a that is 1 in one place gives the numbers of b in that place. They have fewer bits than bf16.
static void every_e4m3_number_is_multiplied_exactly(void **state)
{
    (void)state;
    static float expected[FP8_PATTERNS * FP8_MOST_N];
    for (int s = 0; s < 2; s++) {
        const heddle_matmul_fp8_shape *shape = &fp8_shapes[s];
        static fp8_operands operands;
        memset(&operands, 0, sizeof operands);
        operands.scale_a = 0.25f, operands.scale_b = 2;
        for (int p = 0; p < shape->k; p++)
            for (int j = 0; j < shape->n; j++) {
                const uint8_t pattern = (uint8_t)(p + 21 * j);
                operands.b[j][p] = (pattern & FP8_NAN) == FP8_NAN ? 0 : pattern;
            }
        for (int i = 0; i < shape->m; i++) {
            const int place = shape->k - 1 - i;
            operands.a[i][place] = FP8_ONE;
            for (int j = 0; j < shape->n; j++)
                expected[i * shape->n + j] = 0.5f * heddle_e4m3_decode(operands.b[j][place]);
        }
        fp8_expect(shape, &operands, expected);
    }
}

// NaN of either sign, in a and in b.
static void an_e4m3_nan_spoils_its_row_and_column_alone(void **state)
{
    (void)state;
    enum { ROW = 130, COLUMN = 1 };
    static float expected[FP8_PATTERNS * FP8_MOST_N];
    for (int s = 0; s < 2; s++) {
        const heddle_matmul_fp8_shape *shape = &fp8_shapes[s];
        static fp8_operands operands;
        memset(&operands, FP8_ONE, sizeof operands);
        operands.scale_a = operands.scale_b = 1;
        operands.a[ROW][77] = FP8_NAN;
        operands.b[COLUMN][78] = FP8_NAN | 0x80;
        for (int i = 0; i < shape->m * shape->n; i++)
            expected[i] = i / shape->n == ROW || i % shape->n == COLUMN
                              ? NAN
                              : heddle_bf16_decode(heddle_bf16_encode((float)shape->k));
        fp8_expect(shape, &operands, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_beta_zero_the_output_is_not_read),
        cmocka_unit_test(products_keep_infinity_and_nan),
        cmocka_unit_test(products_are_as_precise_as_asked_for),
        cmocka_unit_test(weights_are_packed_as_the_header_says),
        cmocka_unit_test(each_packed_weight_meets_its_own_column),
        cmocka_unit_test(a_row_of_the_input_that_is_no_number_spoils_no_other),
        cmocka_unit_test(every_e4m3_number_is_multiplied_exactly),
        cmocka_unit_test(an_e4m3_nan_spoils_its_row_and_column_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
