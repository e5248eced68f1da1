// The inner loops of the convolution rungs, in every build that this machine runs, against plain loops: every height of
// a register tile, depths off the vector width, windows with ties, zeros and NaN.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heddle/random.h"
#include "ops/conv_block/conv_block.h"
#include "ops/cpu/kernels.h"

enum { PANEL = HEDDLE_CPU_PANEL, SLACK = HEDDLE_CPU_SLACK };

static const char *const known[] = {"neon", "avx2", "avx512", "generic"};

static float *random_floats(size_t count, uint64_t seed)
{
    heddle_random random = heddle_random_make(seed, 0);
    float *values = malloc((count + SLACK) * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count + SLACK; i++)
        values[i] = heddle_random_normal(&random);
    return values;
}

// Runs a check for each build there is.
static void for_each_build(void (*check)(const heddle_cpu_kernels *kernels))
{
    int builds = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const heddle_cpu_kernels *kernels = heddle_cpu_kernels_find(known[i]);
        if (kernels) {
            check(kernels);
            builds++;
        }
    }
    assert_true(builds >= 1);
}

static void assert_near(float got, double expected, double scale, const char *build)
{
    if (!(fabs((double)got - expected) <= 1e-5 * (scale + fabs(expected))))
        fail_msg("%s: got %.9g, expected %.9g", build, (double)got, expected);
}

// --- products -------------------------------------------------------------------------------------------------------

static void check_multiply(const heddle_cpu_kernels *kernels, int rows, int depth, int taps)
{
    ptrdiff_t a_row = depth + 3, c_row = PANEL + 5, tap_offset[3] = {0, 7, 2};
    float *a = random_floats((size_t)(rows * a_row + 7), 1), *b = random_floats((size_t)taps * depth * PANEL, 2);
    float *c = random_floats((size_t)(rows * c_row), 3), *before = random_floats((size_t)(rows * c_row), 3);
    kernels->multiply(&(heddle_cpu_multiply){.rows = rows,
                                             .depth = depth,
                                             .taps = taps,
                                             .a = a,
                                             .a_row = a_row,
                                             .tap_offset = tap_offset,
                                             .b = b,
                                             .c = c,
                                             .c_row = c_row});
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < c_row; column++) {
            double sum = 0;
            for (int tap = 0; column < PANEL && tap < taps; tap++)
                for (int i = 0; i < depth; i++)
                    sum += (double)a[row * a_row + tap_offset[tap] + i] *
                           (double)b[((size_t)tap * depth + i) * PANEL + column];
            if (column < PANEL)
                assert_near(c[row * c_row + column], sum, sqrt((double)taps * depth), kernels->name);
            else
                assert_true(c[row * c_row + column] == before[row * c_row + column]);
        }
    free(before);
    free(c);
    free(b);
    free(a);
}

static void multiply_of_a_build(const heddle_cpu_kernels *kernels)
{
    for (int rows = 1; rows <= 26; rows++)
        for (int depth = 1; depth <= 9; depth++)
            check_multiply(kernels, rows, depth, 1 + (rows + depth) % 3);
    check_multiply(kernels, 49, 32, 1);
}

static void multiply_is_right_for_every_height_and_depth(void **state)
{
    (void)state;
    for_each_build(multiply_of_a_build);
}

static void check_accumulate(const heddle_cpu_kernels *kernels, int rows, int lines, int points)
{
    ptrdiff_t a_point = rows + 1, a_line = points * a_point + 2, b_point = PANEL + 4, b_line = points * b_point + 1;
    float *a = random_floats((size_t)(lines * a_line), 4), *b = random_floats((size_t)(lines * b_line), 5);
    float *c = random_floats((size_t)rows * PANEL, 6), *before = random_floats((size_t)rows * PANEL, 6);
    kernels->accumulate(&(heddle_cpu_accumulate){.rows = rows,
                                                 .lines = lines,
                                                 .points = points,
                                                 .a = a,
                                                 .a_line = a_line,
                                                 .a_point = a_point,
                                                 .b = b,
                                                 .b_line = b_line,
                                                 .b_point = b_point,
                                                 .c = c,
                                                 .c_row = PANEL});
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < PANEL; column++) {
            double sum = (double)before[row * PANEL + column];
            for (int line = 0; line < lines; line++)
                for (int point = 0; point < points; point++)
                    sum += (double)a[line * a_line + point * a_point + row] *
                           (double)b[line * b_line + point * b_point + column];
            assert_near(c[row * PANEL + column], sum, sqrt((double)lines * points), kernels->name);
        }
    free(before);
    free(c);
    free(b);
    free(a);
}

static void accumulate_of_a_build(const heddle_cpu_kernels *kernels)
{
    for (int rows = 1; rows <= 26; rows++)
        for (int points = 1; points <= 5; points++)
            check_accumulate(kernels, rows, 1 + rows % 3, points);
}

static void accumulate_adds_to_what_is_there_for_every_height(void **state)
{
    (void)state;
    for_each_build(accumulate_of_a_build);
}

static void transpose_of_a_build(const heddle_cpu_kernels *kernels)
{
    for (int rows = 1; rows <= 9; rows++)
        for (int columns = 1; columns <= 9; columns++) {
            float *from = random_floats((size_t)rows * (columns + 2), 7), *to = random_floats(9 * 11, 8);
            kernels->transpose(from, columns + 2, rows, columns, to, rows + 1);
            for (int row = 0; row < rows; row++)
                for (int column = 0; column < columns; column++)
                    assert_true(to[column * (rows + 1) + row] == from[row * (columns + 2) + column]);
            free(to);
            free(from);
        }
}

static void transpose_is_right_off_the_block_size(void **state)
{
    (void)state;
    for_each_build(transpose_of_a_build);
}

// --- pooling --------------------------------------------------------------------------------------------------------

// One window of one channel: its four values through batchnorm that leaves them alone.
static float pool(const heddle_cpu_kernels *kernels, const float window[4], uint8_t *code)
{
    const float scale[PANEL] = {1}, shift[PANEL] = {0};
    heddle_cpu_extent pixels = {.height = 2, .width = 2, .channels = 1, .row = 2, .pixel = 1};
    heddle_cpu_extent windows = {.height = 1, .width = 1, .channels = 1, .row = 1, .pixel = 1};
    float output = -1;
    kernels->normalise_pool(window, &pixels, scale, shift, &output, &windows, code);
    return output;
}

static void pooling_of_a_build(const heddle_cpu_kernels *kernels)
{
    static const struct {
        float window[4], output;
        uint8_t code;
    } cases[] = {
        {{1, 2, 3, 4}, 4, 3},
        {{4, 3, 2, 1}, 4, 0},
        {{1, 5, 5, 5}, 5, 1},
        {{-3, -2, 7, 7}, 7, 2},
        {{0, 0, 0, 0}, 0, HEDDLE_CONV_BLOCK_NO_WINNER},
        {{-1, -2, 0, -3}, 0, HEDDLE_CONV_BLOCK_NO_WINNER},
        {{-1, -2, -4, -3}, 0, HEDDLE_CONV_BLOCK_NO_WINNER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t code = 0xff;
        assert_true(pool(kernels, cases[i].window, &code) == cases[i].output);
        assert_int_equal(code, cases[i].code);
    }
    for (int i = 0; i < 4; i++) {
        float window[4] = {-1, 2, 3, -4};
        uint8_t code;
        window[i] = NAN;
        assert_true(isnan(pool(kernels, window, &code)));
    }
}

static void first_of_equals_wins_nothing_passes_at_zero_and_nan_stays(void **state)
{
    (void)state;
    for_each_build(pooling_of_a_build);
}

static void statistics_of_a_build(const heddle_cpu_kernels *kernels)
{
    enum { H = 5, W = 7, K = 19 };
    float *values = random_floats((size_t)H * W * K, 9), mean[2 * PANEL], squares[2 * PANEL];
    for (int i = 0; i < H * W * K; i++)
        values[i] += 1000; // squares of these would leave nothing of the variance
    heddle_cpu_extent extent = {.height = H, .width = W, .channels = K, .row = W * K, .pixel = K};
    kernels->statistics(values, &extent, mean, squares);
    for (int k = 0; k < K; k++) {
        double sum = 0, scatter = 0;
        for (int i = 0; i < H * W; i++)
            sum += (double)values[i * K + k] / (H * W);
        for (int i = 0; i < H * W; i++)
            scatter += ((double)values[i * K + k] - sum) * ((double)values[i * K + k] - sum);
        assert_near(mean[k], sum, 0, kernels->name);
        assert_near(squares[k], scatter, 0, kernels->name);
    }
    free(values);
}

static void statistics_survive_a_mean_far_from_zero(void **state)
{
    (void)state;
    for_each_build(statistics_of_a_build);
}

// The first pass of the statistics starts from the value in the middle.
static void statistics_around_an_outlier_of_a_build(const heddle_cpu_kernels *kernels)
{
    enum { SIDE = 301 };
    float *values = calloc((size_t)SIDE * SIDE, sizeof *values), mean[PANEL], squares[PANEL];
    assert_non_null(values);
    values[SIDE / 2 * SIDE + SIDE / 2] = 1000;
    heddle_cpu_extent extent = {.height = SIDE, .width = SIDE, .channels = 1, .row = SIDE, .pixel = 1};
    kernels->statistics(values, &extent, mean, squares);
    double pixels = (double)SIDE * SIDE;
    assert_near(mean[0], 1000 / pixels, 0, kernels->name);
    assert_near(squares[0], 1e6 - 1e6 / pixels, 0, kernels->name);
    free(values);
}

static void statistics_survive_a_value_that_stands_out_in_the_middle(void **state)
{
    (void)state;
    for_each_build(statistics_around_an_outlier_of_a_build);
}

// --- the choice -----------------------------------------------------------------------------------------------------

static void the_best_build_is_one_that_can_be_found_by_name(void **state)
{
    (void)state;
    const heddle_cpu_kernels *best = heddle_cpu_kernels_best();
    assert_non_null(best);
    assert_ptr_equal(heddle_cpu_kernels_find(best->name), best);
    assert_non_null(heddle_cpu_kernels_find("generic"));
    assert_null(heddle_cpu_kernels_find("mmx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiply_is_right_for_every_height_and_depth),
        cmocka_unit_test(accumulate_adds_to_what_is_there_for_every_height),
        cmocka_unit_test(transpose_is_right_off_the_block_size),
        cmocka_unit_test(first_of_equals_wins_nothing_passes_at_zero_and_nan_stays),
        cmocka_unit_test(statistics_survive_a_mean_far_from_zero),
        cmocka_unit_test(statistics_survive_a_value_that_stands_out_in_the_middle),
        cmocka_unit_test(the_best_build_is_one_that_can_be_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
