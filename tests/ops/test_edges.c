// What the random values of the ladder tests do not reach: infinities and NaN, ties, labels out of range, means far
// from zero, random numbers that must be the same everywhere. Products are in test_products.c.

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "heddle/op.h"
#include "heddle/ops.h"
#include "heddle/random.h"
#include "one_rung.h"

// --- activations ----------------------------------------------------------------------------------------------------

typedef struct limits {
    const char *name;
    float at_minus_infinity, at_plus_infinity;             // of the value
    float slope_at_minus_infinity, slope_at_plus_infinity; // of the gradient
} limits;

static const limits activations[] = {
    {"relu", 0, INFINITY, 0, 1},  {"tanh", -1, 1, 0, 0},       {"sigmoid", 0, 1, 0, 0},
    {"elu", -1, INFINITY, 0, 1},  {"gelu", 0, INFINITY, 0, 1}, {"softplus", 0, INFINITY, 0, 1},
    {"swish", 0, INFINITY, 0, 1},
};

// Long enough that vector code, not only its end, sees the values.
enum { LENGTH = 67 };

enum { NAME_SIZE = 64 };

static void activation_name(char text[NAME_SIZE], const char *name, const char *direction)
{
    snprintf(text, NAME_SIZE, "%s%s", name, direction);
}

static void activations_reach_their_limits_and_keep_nan(void **state)
{
    (void)state;
    const float values[] = {-INFINITY, INFINITY, NAN, -FLT_MAX, FLT_MAX};
    for (size_t a = 0; a < sizeof activations / sizeof *activations; a++) {
        const limits *limit = &activations[a];
        char name[NAME_SIZE];
        activation_name(name, limit->name, "_forward");
        const heddle_op *op = op_named(name);
        for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1))
            for (int i = 0; i < 5; i++) {
                float input[LENGTH], output[LENGTH];
                for (int e = 0; e < LENGTH; e++)
                    input[e] = values[i];
                heddle_elements_shape shape = {.n = LENGTH};
                heddle_call call = {.shape = &shape, .input = {input}, .output = {output}};
                assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
                float at_most = isinf(limit->at_plus_infinity) ? values[i] : limit->at_plus_infinity;
                float expected = isnan(values[i]) ? NAN : values[i] < 0 ? limit->at_minus_infinity : at_most;
                assert_same(name, op->ladder[r].name, output[0], expected);
                assert_same(name, op->ladder[r].name, output[LENGTH - 1], expected);
            }
    }
}

static void activation_gradients_reach_their_limits_and_keep_nan(void **state)
{
    (void)state;
    const float values[] = {-INFINITY, INFINITY, -FLT_MAX, FLT_MAX};
    for (size_t a = 0; a < sizeof activations / sizeof *activations; a++) {
        const limits *limit = &activations[a];
        char name[NAME_SIZE];
        activation_name(name, limit->name, "_backward");
        const heddle_op *op = op_named(name);
        for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
            float input[LENGTH], output[LENGTH], grad_output[LENGTH], grad_input[LENGTH];
            for (int e = 0; e < LENGTH; e++) {
                input[e] = values[e % 4];
                output[e] = input[e] < 0 ? limit->at_minus_infinity : limit->at_plus_infinity;
                grad_output[e] = 1.0f;
            }
            input[LENGTH - 1] = output[LENGTH - 1] = NAN;
            heddle_elements_shape shape = {.n = LENGTH};
            heddle_call call = {.shape = &shape, .input = {input, output, grad_output}, .output = {grad_input}};
            assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
            for (int e = 0; e < LENGTH - 1; e++)
                assert_same(name, op->ladder[r].name, grad_input[e],
                            input[e] < 0 ? limit->slope_at_minus_infinity : limit->slope_at_plus_infinity);
            // relu hands the gradient on where it cannot tell, as PyTorch does; the others have no number to give.
            assert_same(name, op->ladder[r].name, grad_input[LENGTH - 1], strcmp(limit->name, "relu") ? NAN : 1.0f);
        }
    }
}

// The references are what rungs are held against, so they have the same limits.
static void activation_references_reach_their_limits_and_keep_nan(void **state)
{
    (void)state;
    const double inputs[] = {-INFINITY, INFINITY, NAN}, ones[] = {1, 1, 1};
    heddle_elements_shape shape = {.n = 3};
    for (size_t a = 0; a < sizeof activations / sizeof *activations; a++) {
        const limits *limit = &activations[a];
        char name[NAME_SIZE];
        double values[3], slopes[3];
        activation_name(name, limit->name, "_forward");
        op_named(name)->reference(&shape, (const double *[]){inputs}, (double *[]){values});
        assert_same(name, "reference", (float)values[0], limit->at_minus_infinity);
        assert_same(name, "reference", (float)values[1], limit->at_plus_infinity);
        assert_same(name, "reference", (float)values[2], NAN);
        activation_name(name, limit->name, "_backward");
        op_named(name)->reference(&shape, (const double *[]){inputs, values, ones}, (double *[]){slopes});
        assert_same(name, "reference", (float)slopes[0], limit->slope_at_minus_infinity);
        assert_same(name, "reference", (float)slopes[1], limit->slope_at_plus_infinity);
        assert_same(name, "reference", (float)slopes[2], strcmp(limit->name, "relu") ? NAN : 1.0f);
    }
}

// --- pooling --------------------------------------------------------------------------------------------------------

typedef struct pooled {
    float output[2];
    int32_t index[2];
} pooled;

// Runs maxpool2d_forward on one plane of 2 x 4 with windows of 2 x 2.
static pooled pool(const heddle_rung *rung, const float *plane)
{
    pooled result;
    heddle_pool2d_shape shape = {.n = 1, .c = 1, .h = 2, .w = 4, .window = 2, .stride = 2};
    heddle_call call = {.shape = &shape, .input = {plane}, .output = {result.output, result.index}};
    assert_int_equal(run_rung(op_named("maxpool2d_forward"), rung, call), HEDDLE_OK);
    return result;
}

static void the_first_of_equal_values_wins(void **state)
{
    (void)state;
    const heddle_op *op = op_named("maxpool2d_forward");
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
        const float plane[] = {1, 5, -INFINITY, -INFINITY, 5, 5, -INFINITY, -INFINITY};
        const pooled found = pool(&op->ladder[r], plane);
        assert_true(found.output[0] == 5.0f && found.output[1] == -INFINITY);
        assert_int_equal(found.index[0], 1);
        assert_int_equal(found.index[1], 2);
    }
}

static void nan_in_a_window_comes_out(void **state)
{
    (void)state;
    const heddle_op *op = op_named("maxpool2d_forward");
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1))
        for (int place = 0; place < 2; place++)
            for (int row = 0; row < 2; row++) {
                float plane[8] = {1, 2, 3, 4, 5, 6, 7, 8};
                plane[4 * row + place] = NAN;
                const pooled found = pool(&op->ladder[r], plane);
                assert_true(isnan(found.output[0]) && found.output[1] == 8.0f);
                assert_int_equal(found.index[0], 4 * row + place);
                assert_int_equal(found.index[1], 7);
            }
}

// Images of 4 x 4 as rows of eight channels, multiplied by one and pooled by windows of 2 x 2, in one type. Pairs have
// a row's upper halves first, then the lower ones.
static void pool_rows_with_nan(bool half, bool pairs)
{
    enum { IMAGES = 16, PIXELS = 16, CHANNELS = 8, WINDOWS = 4, WORDS = 2 * CHANNELS };
    const int words = pairs ? WORDS : CHANNELS, one = half || pairs ? 0x3c00 : 0x3f80;
    const int infinite = half || pairs ? 0x7c00 : 0x7f80;
    uint16_t input[IMAGES * PIXELS * WORDS] = {0}, weight[CHANNELS * WORDS] = {0}, output[IMAGES * WINDOWS * WORDS];
    for (int image = 0; image < IMAGES; image++)
        for (int i = 0; i < PIXELS * CHANNELS; i++) // the pixel of the image's number has a NaN
            input[(image * PIXELS + i / CHANNELS) * words + i % CHANNELS] =
                (uint16_t)(i / CHANNELS == image && i % CHANNELS == 3 ? infinite + 1 : one);
    for (int i = 0; i < CHANNELS; i++)
        weight[i * words + i] = (uint16_t)one;
    const heddle_op *op = op_named("rows_conv_pool");
    const heddle_rows_conv_shape shape = {.n = IMAGES,
                                          .h = 4,
                                          .w = 4,
                                          .c = CHANNELS,
                                          .k = CHANNELS,
                                          .r = 1,
                                          .s = 1,
                                          .window = 2,
                                          .parts = 1,
                                          .half = half,
                                          .pairs = pairs};
    for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
        heddle_call call = {.shape = &shape, .input = {input, weight}, .output = {output}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int image = 0; image < IMAGES; image++)
            for (int i = 0; i < WINDOWS * CHANNELS; i++) { // zero times NaN: every sum of the pixel is NaN
                const bool has = i / CHANNELS == image / 8 * 2 + image % 4 / 2;
                const int found = output[(image * WINDOWS + i / CHANNELS) * words + i % CHANNELS];
                assert_int_equal((found & 0x7fff) > infinite, has);
            }
    }
}

static void nan_in_a_pooled_window_of_rows_comes_out(void **state)
{
    (void)state;
    pool_rows_with_nan(false, false);
    pool_rows_with_nan(true, false);
    pool_rows_with_nan(true, true);
}

// With padding such a shape would have windows, and nothing in them.
static void pooling_of_an_empty_image_is_refused(void **state)
{
    (void)state;
    const char *const names[] = {"maxpool2d_forward", "maxpool2d_backward", "avgpool2d_forward", "avgpool2d_backward"};
    const char *const shapes[] = {"n=1 c=1 h=0 w=4 padding=1", "n=1 c=1 h=4 w=0 padding=1"};
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 2; s++) {
            heddle_pool2d_shape shape;
            assert_int_equal(heddle_shape_parse(op_named(names[i]), shapes[s], &shape), HEDDLE_INVALID);
            assert_non_null(strstr(heddle_last_error(), "nothing to pool"));
        }
}

static void overlapping_windows_add_their_gradients(void **state)
{
    (void)state;
    const heddle_op *op = op_named("maxpool2d_backward");
    heddle_pool2d_shape shape = {.n = 1, .c = 1, .h = 1, .w = 3, .window = 1, .stride = 1};
    const int32_t index[3] = {1, 1, 1};
    const float grad_output[3] = {1, 2, 4};
    for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
        float grad_input[3];
        heddle_call call = {.shape = &shape, .input = {index, grad_output}, .output = {grad_input}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        assert_true(grad_input[0] == 0.0f && grad_input[1] == 7.0f && grad_input[2] == 0.0f);
    }
}

// --- softmax and cross-entropy --------------------------------------------------------------------------------------

static void large_logits_do_not_overflow(void **state)
{
    (void)state;
    const float logits[2][3] = {{10000, 9999, -10000}, {-1e30f, -1e30f, -1e30f}};
    const char *const names[] = {"softmax_forward", "log_softmax_forward"};
    for (int i = 0; i < 2; i++) {
        const heddle_op *op = op_named(names[i]);
        heddle_rows_shape shape = {.rows = 2, .cols = 3};
        for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
            float output[2][3];
            heddle_call call = {.shape = &shape, .input = {logits}, .output = {output}};
            assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
            double first = output[0][0], last = output[1][2];
            first = i ? exp(first) : first;
            last = i ? exp(last) : last;
            assert_true(fabs(first - 1 / (1 + exp(-1))) < 1e-6);
            assert_true(fabs(last - 1.0 / 3) < 1e-6);
        }
    }
}

typedef struct judged {
    float loss;
    int32_t correct;
} judged;

static heddle_status cross_entropy(const heddle_rung *rung, const float *logits, const int32_t *labels,
                                   heddle_rows_shape shape, judged *result)
{
    float probabilities[64];
    heddle_call call = {
        .shape = &shape, .input = {logits, labels}, .output = {&result->loss, probabilities, &result->correct}};
    return run_rung(op_named("cross_entropy_forward"), rung, call);
}

static void the_first_of_equal_logits_is_the_prediction(void **state)
{
    (void)state;
    const heddle_op *op = op_named("cross_entropy_forward");
    const float logits[3][10] = {{0}, {1, 3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 2, 2}};
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
        judged found = {0};
        heddle_rows_shape shape = {.rows = 3, .cols = 10};
        const int32_t firsts[] = {0, 1, 8}, seconds[] = {1, 2, 9};
        assert_int_equal(cross_entropy(&op->ladder[r], logits[0], firsts, shape, &found), HEDDLE_OK);
        assert_int_equal(found.correct, 3);
        assert_int_equal(cross_entropy(&op->ladder[r], logits[0], seconds, shape, &found), HEDDLE_OK);
        assert_int_equal(found.correct, 0);
    }
}

// On cpu by name; a kernel has nobody to tell, and makes everything that depends on the label NaN.
static void assert_told(heddle_status status, const heddle_rung *rung, const char *words, const float *poisoned)
{
    if (rung->device != HEDDLE_CPU) {
        assert_int_equal(status, HEDDLE_OK);
        assert_true(isnan(*poisoned));
        return;
    }
    assert_int_equal(status, HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), words));
}

static void a_label_out_of_range_is_told_not_read(void **state)
{
    (void)state;
    const heddle_op *op = op_named("cross_entropy_forward"), *backward = op_named("cross_entropy_backward");
    const float logits[6] = {0}, grad_loss = 1;
    const int32_t wrong[] = {3, -1, 1 << 30};
    const char *const words[] = {"row 1 has label 3, but the classes are 0 to 2", "row 1 has label -1",
                                 "row 1 has label 1073741824"};
    heddle_rows_shape shape = {.rows = 2, .cols = 3};
    for (int i = 0; i < 3; i++) {
        const int32_t labels[] = {2, wrong[i]};
        for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
            judged found = {0};
            assert_told(cross_entropy(&op->ladder[r], logits, labels, shape, &found), &op->ladder[r], words[i],
                        &found.loss);
        }
        for (int r = next_rung(backward, 0); r < backward->rungs; r = next_rung(backward, r + 1)) {
            float grad_logits[6];
            heddle_call call = {.shape = &shape, .input = {logits, labels, &grad_loss}, .output = {grad_logits}};
            assert_told(run_rung(backward, &backward->ladder[r], call), &backward->ladder[r], words[i],
                        &grad_logits[5]);
        }
    }
}

static void a_token_out_of_range_is_told_not_read(void **state)
{
    (void)state;
    const heddle_op *op = op_named("embedding_forward"), *backward = op_named("embedding_backward");
    const float table[6] = {1, 2, 3, 4, 5, 6}, grad_output[4] = {1, 2, 4, 8};
    const int64_t wrong[] = {3, -1, 1ll << 40};
    const char *const words[] = {"row 1 has token 3, but the table's rows are 0 to 2", "row 1 has token -1",
                                 "row 1 has token 1099511627776"};
    heddle_embedding_shape shape = {.n = 2, .vocabulary = 3, .cols = 2};
    for (int i = 0; i < 3; i++) {
        const int64_t tokens[] = {2, wrong[i]};
        for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
            float output[4] = {0};
            heddle_call call = {.shape = &shape, .input = {table, tokens}, .output = {output}};
            assert_told(run_rung(op, &op->ladder[r], call), &op->ladder[r], words[i], &output[3]);
            assert_true(op->ladder[r].device == HEDDLE_CPU || (output[0] == 5 && output[1] == 6));
        }
        for (int r = next_rung(backward, 0); r < backward->rungs; r = next_rung(backward, r + 1)) {
            float grad_table[6] = {0};
            heddle_call call = {.shape = &shape, .input = {tokens, grad_output}, .output = {grad_table}};
            bool cpu = backward->ladder[r].device == HEDDLE_CPU;
            assert_int_equal(run_rung(backward, &backward->ladder[r], call), cpu ? HEDDLE_INVALID : HEDDLE_OK);
            for (int e = 0; !cpu && e < 6; e++)
                assert_true(grad_table[e] == (e < 4 ? 0 : grad_output[e - 4]));
        }
    }
}

// --- topk -----------------------------------------------------------------------------------------------------------

// Equal values, zeros of both signs, infinities and NaN; then a row of which more are equal than are wanted.
static void equal_elements_come_out_in_their_order_and_nan_first(void **state)
{
    (void)state;
    enum { COLS = 700, K = 9 };
    const heddle_op *op = op_named("topk");
    const heddle_topk_shape shape = {.rows = 3, .cols = COLS, .k = K};
    static float input[3][COLS];
    for (int j = 0; j < COLS; j++) {
        input[0][j] = -INFINITY;
        input[1][j] = j % 2 ? -0.0f : 0.0f;
        input[2][j] = j < 600 ? 1 : 2;
    }
    input[0][650] = NAN;
    input[0][7] = input[0][699] = 3;
    input[0][8] = INFINITY;
    input[0][100] = NAN;
    const int32_t expected[3][K] = {
        {100, 650, 8, 7, 699, 0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {600, 601, 602, 603, 604, 605, 606, 607, 608}};
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
        float values[3][K];
        int32_t indices[3][K];
        heddle_call call = {.shape = &shape, .input = {input}, .output = {values, indices}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < 3; i++)
            for (int place = 0; place < K; place++) {
                assert_int_equal(indices[i][place], expected[i][place]);
                assert_same("topk", op->ladder[r].name, values[i][place], input[i][expected[i][place]]);
            }
    }
}

// --- batchnorm2d ----------------------------------------------------------------------------------------------------

static void statistics_survive_a_mean_far_from_zero(void **state)
{
    (void)state;
    const heddle_op *op = op_named("batchnorm2d_forward");
    enum { COUNT = 4096 };
    heddle_batchnorm2d_shape shape = {.n = 4, .c = 1, .h = 32, .w = 32, .epsilon = 1e-5f, .momentum = 0.1f};
    static float input[COUNT], output[COUNT];
    static double noise[COUNT];
    heddle_random random = heddle_random_make(9, 9);
    double squares = 0;
    for (int i = 0; i < COUNT; i++) {
        // Quarters, which a float of this size still holds exactly.
        noise[i] = (int)(heddle_random_below(&random, 17)) * 0.25 - 2;
        input[i] = (float)(100000 + noise[i]);
    }
    double mean = 0;
    for (int i = 0; i < COUNT; i++)
        mean += noise[i] / COUNT;
    for (int i = 0; i < COUNT; i++)
        squares += (noise[i] - mean) * (noise[i] - mean) / COUNT;
    double inverse_std = 1 / sqrt(squares + 1e-5);
    const float gamma = 2, beta = 0.5f;
    for (int r = next_able(op, 0, &shape); r < op->rungs; r = next_able(op, r + 1, &shape)) {
        if (op->ladder[r].tier == HEDDLE_VENDOR) // cuDNN's is off here, and not ours to mend
            continue;
        float saved_mean, saved_inverse_std;
        heddle_call call = {
            .shape = &shape, .input = {input, &gamma, &beta}, .output = {output, &saved_mean, &saved_inverse_std}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        assert_true(fabs(saved_inverse_std - inverse_std) < 1e-5 * inverse_std);
        for (int i = 0; i < COUNT; i++)
            if (!(fabs(output[i] - (gamma * (noise[i] - mean) * inverse_std + beta)) < 1e-4))
                fail_msg("rung %s, element %d: %g", op->ladder[r].name, i, output[i]);
    }
}

// --- quantise -------------------------------------------------------------------------------------------------------

// Where largest / 127 has hardly a digit left, bytes would come out as more than 127, and so negative.
static void the_smallest_numbers_keep_their_sign_as_bytes(void **state)
{
    (void)state;
    const heddle_op *op = op_named("quantise");
    const float input[2][4] = {{2e-43f, -2e-43f, 1e-44f, 0}, {3e-38f, -3e-38f, 1e-38f, 0}};
    heddle_rows_shape shape = {.rows = 2, .cols = 4};
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
        int8_t output[2][4];
        float scale[2];
        heddle_call call = {.shape = &shape, .input = {input}, .output = {output, scale}};
        assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
        for (int i = 0; i < 8; i++) {
            float back = (float)output[i / 4][i % 4] * scale[i / 4];
            if (!(fabsf(back - input[i / 4][i % 4]) <= scale[i / 4] / 2))
                fail_msg("rung %s: %g became %d of %g", op->ladder[r].name, input[i / 4][i % 4], output[i / 4][i % 4],
                         scale[i / 4]);
        }
    }
}

// --- add ------------------------------------------------------------------------------------------------------------

static void a_sum_may_take_the_place_of_a_term(void **state)
{
    (void)state;
    const heddle_op *op = op_named("add_forward");
    for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1))
        for (int place = 0; place < 3; place++) {
            float terms[2][LENGTH];
            for (int i = 0; i < LENGTH; i++) {
                terms[0][i] = (float)i;
                terms[1][i] = 100.0f;
            }
            // Over a, over b, and over the one array that is both.
            float *a = terms[0], *b = place == 2 ? terms[0] : terms[1], *output = place == 1 ? b : a;
            heddle_elements_shape shape = {.n = LENGTH};
            heddle_call call = {.shape = &shape, .input = {a, b}, .output = {output}};
            assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
            for (int i = 0; i < LENGTH; i++)
                assert_same("add_forward", op->ladder[r].name, output[i], (float)i + (place == 2 ? (float)i : 100.0f));
        }
}

// --- optimisers -----------------------------------------------------------------------------------------------------

// Every third gradient is no number: its parameter and states keep their bits, and the others move.
static void what_has_no_gradient_is_left_alone(void **state)
{
    (void)state;
    const char *const names[] = {"sgd_update", "momentum_update", "adamw_update"};
    float hyper[HEDDLE_HYPER_COUNT];
    for (int i = 0; i < HEDDLE_HYPER_COUNT; i++)
        hyper[i] = 0.5f;
    for (int kind = 0; kind < 3; kind++) {
        const heddle_op *op = op_named(names[kind]);
        for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
            float grad[LENGTH], values[3][LENGTH]; // the parameter, and as many states as the optimiser has
            for (int e = 0; e < LENGTH; e++) {
                grad[e] = e % 3 == 1 ? NAN : 1.0f;
                values[0][e] = values[1][e] = values[2][e] = 2.0f;
            }
            heddle_update_shape shape = {.n = LENGTH};
            heddle_call call = {.shape = &shape, .input = {grad, hyper}, .output = {values[0], values[1], values[2]}};
            assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
            for (int e = 0; e < LENGTH; e++)
                for (int i = 0; i <= kind; i++)
                    if ((e % 3 == 1) != (values[i][e] == 2.0f))
                        fail_msg("%s, rung %s: element %d of %d is %g", names[kind], op->ladder[r].name, e, i,
                                 values[i][e]);
        }
    }
}

// --- dropout --------------------------------------------------------------------------------------------------------

static void dropout_draws_the_words_that_random_h_numbers(void **state)
{
    (void)state;
    const heddle_op *op = op_named("dropout_forward");
    enum { COUNT = 1000 };
    static float input[COUNT], output[COUNT];
    static uint8_t mask[COUNT];
    const int64_t states[][3] = {{0, 0, 0}, {-1, -2, 3}, {42, 7, INT64_MAX}, {1, 2, 0x3ffffffffLL}};
    for (int i = 0; i < COUNT; i++)
        input[i] = 1.0f;
    for (int s = 0; s < 4; s++)
        for (int r = next_rung(op, 0); r < op->rungs; r = next_rung(op, r + 1)) {
            heddle_dropout_shape shape = {.n = COUNT, .probability = 0.3f};
            heddle_call call = {.shape = &shape, .input = {input, states[s]}, .output = {output, mask}};
            assert_int_equal(run_rung(op, &op->ladder[r], call), HEDDLE_OK);
            heddle_random random = {(uint64_t)states[s][0], (uint64_t)states[s][1], (uint64_t)states[s][2]};
            int kept = 0;
            for (int i = 0; i < COUNT; i++) {
                bool stays = heddle_random_uniform(&random) >= 0.3f;
                kept += stays;
                assert_int_equal(mask[i], stays);
                assert_same("dropout_forward", op->ladder[r].name, output[i], stays ? 1.0f / 0.7f : 0.0f);
            }
            assert_in_range(kept, 600, 800);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_reach_their_limits_and_keep_nan),
        cmocka_unit_test(activation_gradients_reach_their_limits_and_keep_nan),
        cmocka_unit_test(activation_references_reach_their_limits_and_keep_nan),
        cmocka_unit_test(the_first_of_equal_values_wins),
        cmocka_unit_test(nan_in_a_window_comes_out),
        cmocka_unit_test(nan_in_a_pooled_window_of_rows_comes_out),
        cmocka_unit_test(pooling_of_an_empty_image_is_refused),
        cmocka_unit_test(overlapping_windows_add_their_gradients),
        cmocka_unit_test(large_logits_do_not_overflow),
        cmocka_unit_test(the_first_of_equal_logits_is_the_prediction),
        cmocka_unit_test(a_label_out_of_range_is_told_not_read),
        cmocka_unit_test(a_token_out_of_range_is_told_not_read),
        cmocka_unit_test(equal_elements_come_out_in_their_order_and_nan_first),
        cmocka_unit_test(statistics_survive_a_mean_far_from_zero),
        cmocka_unit_test(the_smallest_numbers_keep_their_sign_as_bytes),
        cmocka_unit_test(a_sum_may_take_the_place_of_a_term),
        cmocka_unit_test(what_has_no_gradient_is_left_alone),
        cmocka_unit_test(dropout_draws_the_words_that_random_h_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
