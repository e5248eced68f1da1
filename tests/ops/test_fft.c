// What is true of every Fourier transform, whatever the reference says: the inverse undoes it, it keeps sums of
// squares, it is linear, a shift of the input turns the output. Held by the rung that would be chosen, on the cpu and,
// where the simulated GPU is there, on it; and the jobs that other operators ask for: columns, padded and cropped
// lines.

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
#include "ops/fft/fft.h"
#include "ops/fft/plan.h"

static const int lengths[] = {1, 2, 6, 17, 32, 100, 128, 210, 1024, 4096};
enum { LENGTHS = sizeof lengths / sizeof *lengths, LONGEST = 4096 };
static const double rounding = 4e-6; // of results scaled to about 1: tens of float's, as sums of 4096 may have

static void draw(float *values, size_t count, uint64_t seed)
{
    heddle_random random = heddle_random_make(seed, 7);
    for (size_t i = 0; i < count; i++)
        values[i] = heddle_random_normal(&random);
}

// The chosen rung's transform of one line; with scale 1 / √n it keeps the size of numbers.
static void transform(const char *op_name, int n, int inverse, const float *input, float *output)
{
    heddle_fft_shape shape = {.batch = 1, .n = n, .inverse = inverse, .scale = (float)(1 / sqrt(n))};
    const heddle_op *op;
    const heddle_rung *rung;
    const char *device = harness_device_name();
    heddle_device_kind kind = strcmp(device, "cpu") == 0   ? HEDDLE_CPU
                              : strcmp(device, "sim") == 0 ? HEDDLE_SIM
                                                           : HEDDLE_CUDA;
    assert_int_equal(heddle_op_find(op_name, &op), HEDDLE_OK);
    assert_int_equal(heddle_rung_choose(op, kind, HEDDLE_TUNED, HEDDLE_FULL, &shape, &rung), HEDDLE_OK);
    size_t bytes = rung->workspace ? rung->workspace(&shape, 1) : 0;
    void *workspace = aligned_alloc(256, (bytes + 255) / 256 * 256 + 256);
    heddle_call call = {.shape = &shape, .input = {input}, .output = {output}, .workspace = workspace};
    assert_int_equal(harness_launch(op, rung, &call), HEDDLE_OK);
    free(workspace);
}

static void assert_near(const float *a, const float *b, size_t count, double scale, int n)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)a[i] - b[i]) <= rounding * scale))
            fail_msg("n = %d: float %zu is %.9g, expected %.9g", n, i, a[i], b[i]);
}

static void inverse_undoes_forward(void **state)
{
    (void)state;
    static float x[2 * LONGEST], y[2 * LONGEST], back[2 * LONGEST];
    for (int i = 0; i < LENGTHS; i++) {
        int n = lengths[i];
        draw(x, 2 * (size_t)n, 1);
        transform("fft", n, 0, x, y);
        transform("fft", n, 1, y, back);
        assert_near(back, x, 2 * (size_t)n, 1, n);
        transform("rfft", n, 0, x, y);
        transform("rfft", n, 1, y, back);
        assert_near(back, x, (size_t)n, 1, n);
    }
}

static double squares(const float *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

static void sums_of_squares_are_kept(void **state)
{
    (void)state;
    static float x[2 * LONGEST], y[2 * LONGEST];
    for (int i = 0; i < LENGTHS; i++) {
        size_t count = 2 * (size_t)lengths[i];
        draw(x, count, 2);
        transform("fft", lengths[i], 0, x, y);
        assert_true(fabs(squares(y, count) / squares(x, count) - 1) < rounding);
    }
}

static void sums_transform_to_sums(void **state)
{
    (void)state;
    static float x[2 * LONGEST], y[2 * LONGEST], sum[2 * LONGEST], of_x[2 * LONGEST], of_y[2 * LONGEST];
    for (int i = 0; i < LENGTHS; i++) {
        size_t count = 2 * (size_t)lengths[i];
        draw(x, count, 3);
        draw(y, count, 4);
        transform("fft", lengths[i], 0, x, of_x);
        transform("fft", lengths[i], 0, y, of_y);
        for (size_t k = 0; k < count; k++) {
            sum[k] = 2 * x[k] + y[k];
            of_x[k] = 2 * of_x[k] + of_y[k];
        }
        transform("fft", lengths[i], 0, sum, of_y);
        assert_near(of_y, of_x, count, 4, lengths[i]);
    }
}

// x[q - 1] transforms to exp(-2πi k / n) times what x[q] does.
static void a_shift_turns(void **state)
{
    (void)state;
    static float x[2 * LONGEST], shifted[2 * LONGEST], y[2 * LONGEST], turned[2 * LONGEST];
    for (int i = 0; i < LENGTHS; i++) {
        int n = lengths[i];
        draw(x, 2 * (size_t)n, 5);
        for (int q = 0; q < n; q++)
            memcpy(shifted + 2 * ((q + 1) % n), x + 2 * q, 2 * sizeof *x);
        transform("fft", n, 0, x, y);
        transform("fft", n, 0, shifted, turned);
        for (int k = 0; k < n; k++) {
            double angle = -2 * acos(-1.0) * k / n, real = y[2 * k], imaginary = y[2 * k + 1];
            y[2 * k] = (float)(real * cos(angle) - imaginary * sin(angle));
            y[2 * k + 1] = (float)(real * sin(angle) + imaginary * cos(angle));
        }
        assert_near(turned, y, 2 * (size_t)n, 4, n);
    }
}

// --- jobs, on the cpu ------------------------------------------------------------------------------------------------

static void run_job(const heddle_fft_job *job)
{
    void *workspace = aligned_alloc(64, (heddle_fft_cpu_workspace(job, 1) + 63) / 64 * 64 + 64);
    heddle_fft_cpu(job, NULL, workspace);
    free(workspace);
}

enum { H = 12, W = 10 };

static void columns_are_rows_of_the_transposed(void **state)
{
    (void)state;
    float image[2 * H * W], turned[2 * H * W], output[2 * H * W], expected[2 * H * W];
    draw(image, 2 * H * W, 6);
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++)
            memcpy(turned + 2 * (j * H + i), image + 2 * (i * W + j), 2 * sizeof *image);
    heddle_fft_job rows = heddle_fft_rows(HEDDLE_FFT_COMPLEX, H, W, false, turned, expected);
    run_job(&rows);
    heddle_fft_job columns = heddle_fft_rows(HEDDLE_FFT_COMPLEX, H, W, false, image, output);
    columns.from = (heddle_fft_lines){W, 0, 1, W, H};
    run_job(&columns); // read as columns, written as rows
    assert_near(output, expected, 2 * H * W, 4, H);
}

static void lines_are_padded_and_cropped(void **state)
{
    (void)state;
    enum { N = 30, SHORT = 17, HALF = N / 2 + 1 };
    float x[N] = {0}, padded[2 * HALF], expected[2 * HALF], back[N];
    draw(x, SHORT, 8);
    heddle_fft_job whole = heddle_fft_rows(HEDDLE_FFT_TO_HALF, N, 1, false, x, expected), cut = whole;
    run_job(&whole);
    float alone[SHORT];
    memcpy(alone, x, sizeof alone);
    cut.input = alone;
    cut.output = padded;
    cut.from.length = SHORT;
    run_job(&cut);
    assert_memory_equal(padded, expected, sizeof padded);
    heddle_fft_job inverse = heddle_fft_rows(HEDDLE_FFT_OF_HALF, N, 1, true, padded, back);
    inverse.to.length = SHORT;
    inverse.scale = 1.0f / N;
    back[SHORT] = 99;
    run_job(&inverse);
    assert_near(back, x, SHORT, 1, N);
    assert_true(back[SHORT] == 99);
}

// 2 * 3^14 takes three passes, which a job in place cannot have; 4320 and 16777216 take two.
static void the_workspace_is_enough_wherever_the_operands_are(void **state)
{
    (void)state;
    static const int batches[] = {1, 5, 18, 100}, sizes[] = {4320, 9565938, 16777216};
    static float memory[2];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            for (int threads = 1; threads <= 64; threads *= 8) {
                heddle_fft_job job = heddle_fft_rows(HEDDLE_FFT_COMPLEX, sizes[i], batches[b], false, NULL, NULL);
                size_t asked = heddle_fft_cpu_workspace(&job, threads);
                job.input = job.output = memory;
                assert_true(asked >= heddle_fft_cpu_workspace(&job, threads));
                job.output = memory + 1;
                assert_true(asked >= heddle_fft_cpu_workspace(&job, threads));
            }
}

static void the_radices_of_a_length_multiply_to_it(void **state)
{
    (void)state;
    static const int radices[] = {4, 2, 3, 5, 7}, sizes[] = {1162261467, 774840978, 1977326743, 1220703125, 1 << 30, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int radix[FFT_RADICES];
        long long product = 1;
        assert_true(heddle_fft_is_smooth(sizes[i]));
        int count = fft_radices_of(sizes[i], radices, 5, radix);
        for (int r = 0; r < count; r++)
            product *= radix[r];
        assert_int_equal(product, sizes[i]);
    }
}

// Bluestein's power of two for a prime above 2^29 is no int; a power of two needs none.
static void lengths_that_cannot_be_counted_are_refused(void **state)
{
    (void)state;
    enum { PRIME = 1073741827 };
    assert_false(heddle_fft_cpu_takes(HEDDLE_FFT_COMPLEX, PRIME));
    assert_false(heddle_fft_cpu_takes(HEDDLE_FFT_TO_HALF, PRIME));
    assert_true(heddle_fft_cpu_takes(HEDDLE_FFT_COMPLEX, 1 << 30));
    assert_true(heddle_fft_cpu_takes(HEDDLE_FFT_TO_HALF, 1073741822)); // pairs of reals: half the length
    static const char *const names[] = {"fft", "rfft", "fft2d"};
    static const char *const refused[] = {"batch=1 n=1073741827", "batch=1 n=1073741827", "batch=1 h=1 w=1073741827"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const heddle_op *op;
        const heddle_rung *rung;
        _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
        assert_int_equal(heddle_op_find(names[i], &op), HEDDLE_OK);
        assert_int_equal(heddle_rung_find(op, "cpu_lanes", &rung), HEDDLE_OK);
        assert_int_equal(heddle_shape_parse(op, refused[i], shape), HEDDLE_OK);
        assert_false(rung->supports(shape));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_undoes_forward),
        cmocka_unit_test(sums_of_squares_are_kept),
        cmocka_unit_test(sums_transform_to_sums),
        cmocka_unit_test(a_shift_turns),
        cmocka_unit_test(columns_are_rows_of_the_transposed),
        cmocka_unit_test(lines_are_padded_and_cropped),
        cmocka_unit_test(the_workspace_is_enough_wherever_the_operands_are),
        cmocka_unit_test(the_radices_of_a_length_multiply_to_it),
        cmocka_unit_test(lengths_that_cannot_be_counted_are_refused),
    };
    return cmocka_run_group_tests_name("fft", tests, NULL, NULL);
}
