// Scaling of pictures: means of areas where they shrink, slopes where they grow, and the bytes themselves where the
// size stays.

#include <math.h>

#include "files.h"

#include "data/scale.h"

static void the_same_size_only_moves_channels_into_planes(void **state)
{
    (void)state;
    enum { ROWS = 3, COLS = 5, CHANNELS = 3 };
    uint8_t pixels[ROWS * COLS * CHANNELS], planes[sizeof pixels];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 57);
    pixels[0] = 255;
    assert_ok(heddle_scale(pixels, ROWS, COLS, CHANNELS, planes, ROWS, COLS));
    for (int i = 0; i < ROWS * COLS; i++)
        for (int c = 0; c < CHANNELS; c++)
            assert_int_equal(planes[c * ROWS * COLS + i], pixels[i * CHANNELS + c]);
}

static void shrinking_takes_the_mean_of_the_area(void **state)
{
    (void)state;
    const uint8_t pixels[4][4] = {{0, 4, 255, 255}, {8, 12, 255, 255}, {10, 20, 0, 100}, {30, 40, 100, 0}};
    uint8_t small[2][2], one;
    assert_ok(heddle_scale(pixels[0], 4, 4, 1, small[0], 2, 2));
    assert_int_equal(small[0][0], 6);
    assert_int_equal(small[0][1], 255);
    assert_int_equal(small[1][0], 25);
    assert_int_equal(small[1][1], 50);
    assert_ok(heddle_scale(pixels[0], 4, 4, 1, &one, 1, 1));
    assert_in_range(one, 83, 84);
    const uint8_t three[3] = {90, 60, 30}; // a pixel of the result covers one and a half of these
    assert_ok(heddle_scale(three, 1, 3, 1, small[0], 1, 2));
    assert_int_equal(small[0][0], 80);
    assert_int_equal(small[0][1], 40);
}

static void growing_interpolates_between_centres(void **state)
{
    (void)state;
    const uint8_t pixels[2] = {0, 200};
    const int expected[4] = {0, 50, 150, 200};
    uint8_t across[4], down[4];
    assert_ok(heddle_scale(pixels, 1, 2, 1, across, 1, 4));
    assert_ok(heddle_scale(pixels, 2, 1, 1, down, 4, 1));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(across[i], expected[i]);
        assert_int_equal(down[i], expected[i]);
    }
}

// Against the mean, or the slope, in float64, for sizes that do not divide each other.
static double expected_at(const uint8_t *line, int from, int to, int at)
{
    if (from >= to) {
        double begin = (double)at * from / to, end = (double)(at + 1) * from / to, sum = 0;
        for (int i = (int)begin; i < from && i < end; i++)
            sum += line[i] * (fmin(end, i + 1) - fmax(begin, i));
        return sum / (end - begin);
    }
    double place = fmin(fmax((at + 0.5) * from / to - 0.5, 0), from - 1);
    int first = (int)place < from - 1 ? (int)place : from - 1;
    int second = first + 1 < from ? first + 1 : first;
    return line[first] + (place - first) * (line[second] - line[first]);
}

static void every_size_is_within_half_a_step_of_the_exact_value(void **state)
{
    (void)state;
    enum { MOST = 61 };
    uint8_t line[MOST], scaled[MOST];
    for (int i = 0; i < MOST; i++)
        line[i] = (uint8_t)(i * i * 29);
    for (int from = 1; from <= MOST; from++)
        for (int to = 1; to <= MOST; to++) {
            assert_ok(heddle_scale(line, 1, from, 1, scaled, 1, to));
            for (int i = 0; i < to; i++)
                assert_true(fabs(scaled[i] - expected_at(line, from, to, i)) < 0.52);
        }
}

static void one_colour_stays_at_every_size(void **state)
{
    (void)state;
    enum { WIDE = 5000, MOST = 40 };
    static uint8_t pixels[WIDE * 3], scaled[MOST * MOST];
    memset(pixels, 255, sizeof pixels);
    assert_ok(heddle_scale(pixels, 3, WIDE, 1, scaled, MOST, MOST));
    for (int i = 0; i < MOST * MOST; i++)
        assert_int_equal(scaled[i], 255);
}

static void no_size_is_refused(void **state)
{
    (void)state;
    uint8_t pixel = 0;
    assert_fails(heddle_scale(&pixel, 0, 1, 1, &pixel, 1, 1), HEDDLE_INVALID, "1×0 pixels");
    assert_fails(heddle_scale(&pixel, 1, 1, 1, &pixel, 1, -1), HEDDLE_INVALID, "scaled to -1×1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_size_only_moves_channels_into_planes),
        cmocka_unit_test(shrinking_takes_the_mean_of_the_area),
        cmocka_unit_test(growing_interpolates_between_centres),
        cmocka_unit_test(every_size_is_within_half_a_step_of_the_exact_value),
        cmocka_unit_test(one_colour_stays_at_every_size),
        cmocka_unit_test(no_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
