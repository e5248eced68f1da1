// Convolution modes full, same and valid against sums straight from their definition, by the direct rung and by Fourier
// transforms, with even and odd filters; images that Fourier transforms cut; and that large filters, and they alone,
// are given to them.

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
#include "heddle/random.h"
#include "one_rung.h"

static const double rounding = 1e-5; // of sums of some tens of products of numbers around 1

static const heddle_rung *rung_named(const char *op, const char *name)
{
    const heddle_rung *rung;
    assert_int_equal(heddle_rung_find(op_named(op), name, &rung), HEDDLE_OK);
    return rung;
}

static bool on_cpu(void)
{
    return strcmp(harness_device_name(), "cpu") == 0;
}

static const char *fourier_rung(void)
{
    return on_cpu() ? "cpu_fft" : "09_fft";
}

static const char *const operators[] = {"conv2d_forward", "conv2d_backward_data", "conv2d_backward_weight"};
enum { OPERATORS = sizeof operators / sizeof *operators };

static float *draw(size_t count, uint64_t seed)
{
    heddle_random random = heddle_random_make(seed, 3);
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = heddle_random_normal(&random);
    return values;
}

// Element (y, x) of the mode's result: the image's place under the filter's first tap is (y - before, x - before).
static double direct_sum(const heddle_conv2d_shape *shape, int row, int column, const float *image, const float *filter)
{
    double sum = 0;
    for (int r = 0; r < shape->r; r++)
        for (int s = 0; s < shape->s; s++) {
            int h = row + r, w = column + s;
            if (h >= 0 && h < shape->h && w >= 0 && w < shape->w)
                sum += (double)image[h * shape->w + w] * filter[r * shape->s + s];
        }
    return sum;
}

static void hold_mode(const char *rung_name, heddle_conv2d_mode mode, int h, int w, int r, int s)
{
    const heddle_op *op = op_named("conv2d_forward");
    const heddle_rung *rung = rung_named("conv2d_forward", rung_name);
    heddle_conv2d_shape shape = {.n = 1, .c = 1, .h = h, .w = w, .k = 1, .r = r, .s = s, .stride = 1, .dilation = 1};
    heddle_conv2d_window window;
    assert_int_equal(heddle_conv2d_set_mode(&shape, mode, &window), HEDDLE_OK);
    int wider = heddle_conv2d_out_w(&shape), taller = heddle_conv2d_out_h(&shape);
    int top = mode == HEDDLE_CONV2D_FULL ? r - 1 : mode == HEDDLE_CONV2D_SAME ? (r - 1) / 2 : 0;
    int left = mode == HEDDLE_CONV2D_FULL ? s - 1 : mode == HEDDLE_CONV2D_SAME ? (s - 1) / 2 : 0;
    int more = mode == HEDDLE_CONV2D_FULL ? 1 : mode == HEDDLE_CONV2D_SAME ? 0 : -1;
    assert_int_equal(window.rows, h + more * (r - 1));
    assert_int_equal(window.columns, w + more * (s - 1));
    assert_true(window.top + window.rows <= taller && window.left + window.columns <= wider);

    float *image = draw((size_t)h * w, 1), *filter = draw((size_t)r * s, 2);
    float *output = malloc((size_t)taller * wider * sizeof *output);
    size_t bytes = rung->workspace ? rung->workspace(&shape, 1) : 0;
    void *workspace = aligned_alloc(256, (bytes + 255) / 256 * 256 + 256);
    heddle_call call = {.shape = &shape, .input = {image, filter}, .output = {output}, .workspace = workspace};
    assert_int_equal(harness_launch(op, rung, &call), HEDDLE_OK);
    for (int y = 0; y < window.rows; y++)
        for (int x = 0; x < window.columns; x++) {
            double expected = direct_sum(&shape, y - top, x - left, image, filter);
            double got = output[(window.top + y) * wider + window.left + x];
            if (!(fabs(got - expected) <= rounding))
                fail_msg("%s, mode %d, %dx%d by %dx%d: (%d, %d) is %g, expected %g", rung_name, (int)mode, h, w, r, s,
                         y, x, got, expected);
        }
    free(image);
    free(filter);
    free(output);
    free(workspace);
}

static void modes_are_windows_of_the_output(void **state)
{
    static const int filters[][2] = {{1, 1}, {3, 3}, {2, 2}, {4, 3}, {5, 8}, {1, 6}};
    const char *const rungs[] = {on_cpu() ? "cpu_naive" : "01_naive", fourier_rung()};
    (void)state;
    for (int i = 0; i < (int)(sizeof filters / sizeof *filters); i++)
        for (heddle_conv2d_mode mode = HEDDLE_CONV2D_FULL; mode <= HEDDLE_CONV2D_VALID; mode++)
            for (int r = 0; r < 2; r++)
                hold_mode(rungs[r], mode, 9, 11, filters[i][0], filters[i][1]);
    // A filter larger than the image has a full and a same result, and no valid one.
    hold_mode(fourier_rung(), HEDDLE_CONV2D_FULL, 3, 2, 5, 4);
    hold_mode(fourier_rung(), HEDDLE_CONV2D_SAME, 3, 2, 5, 4);
}

// By that rung alone: most others are slow on these in the simulator.
static void powers_of_two_and_cut_images_are_right(void **state)
{
    static const char *const shapes[] = {
        "n=1 c=1 h=30 w=62 k=1 r=5 s=4 padding=2",  // powers of two, the image whole
        "n=1 c=1 h=66 w=130 k=1 r=2 s=3 padding=1", // cut on a GPU along both axes
        "n=2 c=2 h=2 w=300 k=3 r=1 s=2 padding=0",  // along one
        "n=1 c=2 h=300 w=2 k=5 r=2 s=1 padding=0",  // along the other
    };
    (void)state;
    for (int i = 0; i < OPERATORS; i++)
        for (int s = 0; s < (int)(sizeof shapes / sizeof *shapes); s++) {
            const heddle_op *op = op_named(operators[i]);
            heddle_op alone = *op;
            harness_report report = {.passed = true};
            alone.ladder = rung_named(operators[i], fourier_rung());
            alone.rungs = 1;
            if (!harness_check_ladder(&alone, harness_forward_of(op), shapes[s], harness_seed(), &report))
                fail_msg("%s", report.message);
            assert_true(report.reached[0]);
        }
}

static void modes_refuse_what_they_are_not_for(void **state)
{
    heddle_conv2d_shape large = {.n = 1, .c = 1, .h = 3, .w = 9, .k = 1, .r = 4, .s = 4, .stride = 1, .dilation = 1};
    heddle_conv2d_shape strided = large;
    heddle_conv2d_window window;
    (void)state;
    assert_int_equal(heddle_conv2d_set_mode(&large, HEDDLE_CONV2D_VALID, &window), HEDDLE_INVALID);
    strided.stride = 2;
    assert_int_equal(heddle_conv2d_set_mode(&strided, HEDDLE_CONV2D_SAME, &window), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "stride"));
}

static void large_filters_choose_fourier_transforms(void **state)
{
    heddle_conv2d_shape large = {
        .n = 1, .c = 1, .h = 2048, .w = 2048, .k = 1, .r = 128, .s = 128, .stride = 1, .dilation = 1};
    (void)state;
    for (int padding = 0; padding <= 127; padding += 127)
        for (int i = 0; i < OPERATORS; i++) {
            const heddle_rung *rung, *on_gpu = rung_named(operators[i], "09_fft");
            large.padding = padding;
            assert_int_equal(
                heddle_rung_choose(op_named(operators[i]), HEDDLE_CPU, HEDDLE_FUSED, HEDDLE_FULL, &large, &rung),
                HEDDLE_OK);
            assert_string_equal(rung->name, "cpu_fft");
            assert_true(on_gpu->supports(&large) && on_gpu->pays(&large));
        }
}

static void small_filters_never_do(void **state)
{
    heddle_conv2d_shape small = {
        .n = 1, .c = 1, .h = 2048, .w = 2048, .k = 1, .r = 3, .s = 3, .stride = 1, .padding = 1, .dilation = 1};
    (void)state;
    for (int channels = 1; channels <= 64; channels *= 8)
        for (int i = 0; i < OPERATORS; i++) {
            const heddle_rung *rung, *on_gpu = rung_named(operators[i], "09_fft");
            small.c = small.k = channels;
            assert_int_equal(
                heddle_rung_choose(op_named(operators[i]), HEDDLE_CPU, HEDDLE_FUSED, HEDDLE_FULL, &small, &rung),
                HEDDLE_OK);
            assert_string_not_equal(rung->name, "cpu_fft");
            assert_false(on_gpu->pays(&small));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_are_windows_of_the_output),
        cmocka_unit_test(powers_of_two_and_cut_images_are_right),
        cmocka_unit_test(modes_refuse_what_they_are_not_for),
        cmocka_unit_test(large_filters_choose_fourier_transforms),
        cmocka_unit_test(small_filters_never_do),
    };
    return cmocka_run_group_tests_name("conv_modes", tests, NULL, NULL);
}
