// Pictures brought to a network's input: on the background it knows, cut to the ink, scaled, centred, and said so.

#include "files.h"

#include <math.h>

#include "data/prepare.h"

enum { SIDE = 28, MOST_SIDE = 200, SAID_SIZE = 128 };

static uint8_t pixels[MOST_SIDE * MOST_SIDE * 3];
static float prepared[SIDE * SIDE * 3];
static char said[SAID_SIZE];

static const heddle_prepare_options handwriting = {.channels = 1, .height = SIDE, .width = SIDE, .is_handwriting = 1};
static const heddle_prepare_options photograph = {.channels = 1, .height = SIDE, .width = SIDE};

// A rows × cols picture of `paper` with a box of `ink` on it.
static void draw_box(int rows, int cols, uint8_t paper, uint8_t ink, int top, int left, int height, int width)
{
    memset(pixels, paper, (size_t)rows * (size_t)cols);
    for (int row = top; row < top + height; row++)
        memset(pixels + row * cols + left, ink, (size_t)width);
}

// First and last row and column of what is brighter than half.
static void find_bright(int *top, int *bottom, int *left, int *right)
{
    *top = *left = SIDE;
    *bottom = *right = -1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (prepared[i] <= 0.5F)
            continue;
        *top = i / SIDE < *top ? i / SIDE : *top;
        *bottom = i / SIDE > *bottom ? i / SIDE : *bottom;
        *left = i % SIDE < *left ? i % SIDE : *left;
        *right = i % SIDE > *right ? i % SIDE : *right;
    }
}

static void assert_bright(int top, int bottom, int left, int right)
{
    int found[4];
    find_bright(&found[0], &found[1], &found[2], &found[3]);
    assert_int_equal(found[0], top);
    assert_int_equal(found[1], bottom);
    assert_int_equal(found[2], left);
    assert_int_equal(found[3], right);
}

static void prepare(int rows, int cols, const heddle_prepare_options *options)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        prepared[i] = NAN;
    assert_ok(heddle_prepare(pixels, rows, cols, options, prepared, said, sizeof said));
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(prepared[i] >= 0 && prepared[i] <= 1);
}

static void a_picture_of_the_right_size_is_taken_as_it_is(void **state)
{
    (void)state;
    draw_box(SIDE, SIDE, 0, 255, 3, 5, 1, 1);
    prepare(SIDE, SIDE, &handwriting);
    assert_bright(3, 3, 5, 5);
    assert_string_equal(said, "28×28 as it is");
}

static void dark_on_light_is_inverted(void **state)
{
    (void)state;
    draw_box(SIDE, SIDE, 255, 0, 3, 5, 1, 1);
    prepare(SIDE, SIDE, &handwriting);
    assert_bright(3, 3, 5, 5);
    assert_string_equal(said, "dark on light, inverted; 28×28 as it is");
}

static void handwriting_is_cut_to_its_ink_scaled_and_centred(void **state)
{
    (void)state;
    // 100 × 50 of ink in a corner of the paper: 20 × 10 in the middle, as MNIST has it.
    draw_box(200, 150, 255, 0, 90, 95, 100, 50);
    prepare(200, 150, &handwriting);
    assert_bright(4, 23, 9, 18);
    assert_string_equal(said,
                        "dark on light, inverted; 150×200 cut to the ink, 50×100, scaled to 10×20, centred in 28×28");
}

static void small_pictures_are_scaled_up(void **state)
{
    (void)state;
    draw_box(7, 9, 0, 255, 1, 2, 5, 5);
    prepare(7, 9, &handwriting);
    assert_bright(4, 23, 4, 23);
}

static void the_centre_of_mass_goes_to_the_middle(void **state)
{
    (void)state;
    // A little heavier below: an upright stroke on a foot.
    draw_box(60, 60, 0, 255, 10, 25, 40, 10);
    for (int row = 44; row < 50; row++)
        memset(pixels + row * 60 + 10, 255, 40);
    prepare(60, 60, &handwriting);
    double mass = 0, rows = 0, cols = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        mass += prepared[i];
        rows += prepared[i] * (i / SIDE + 0.5);
        cols += prepared[i] * (i % SIDE + 0.5);
    }
    assert_true(fabs(rows / mass - SIDE / 2.0) <= 0.75);
    assert_true(fabs(cols / mass - SIDE / 2.0) <= 0.75);
}

static void ink_stays_in_the_picture_however_lopsided(void **state)
{
    (void)state;
    // A block with a long thin tail: centred by mass, the tail would end outside.
    draw_box(60, 60, 0, 255, 5, 28, 50, 3);
    for (int row = 40; row < 55; row++)
        memset(pixels + row * 60 + 20, 255, 19);
    prepare(60, 60, &handwriting);
    int top, bottom, left, right;
    find_bright(&top, &bottom, &left, &right);
    assert_int_equal(bottom - top + 1, 20);
    assert_int_equal(top, 0);
}

static void a_network_that_knows_dark_on_light_gets_that(void **state)
{
    (void)state;
    heddle_prepare_options light = handwriting;
    light.border = 1;
    draw_box(SIDE, SIDE, 0, 255, 3, 5, 2, 2);
    prepare(SIDE, SIDE, &light);
    assert_string_equal(said, "light on dark, inverted; 28×28 as it is");
    assert_float_equal(prepared[3 * SIDE + 5], 0, 1e-6);
    assert_float_equal(prepared[0], 1, 1e-6);
    draw_box(60, 60, 255, 0, 10, 20, 40, 20);
    prepare(60, 60, &light);
    assert_null(strstr(said, "inverted"));
    assert_float_equal(prepared[14 * SIDE + 14], 0, 1e-6);
    assert_float_equal(prepared[0], 1, 1e-6);
}

static void without_a_background_nothing_is_inverted(void **state)
{
    (void)state;
    heddle_prepare_options scenes = photograph;
    scenes.border = 0.5;
    for (int paper = 0; paper <= 255; paper += 255) {
        memset(pixels, paper, sizeof pixels);
        prepare(SIDE, SIDE, &scenes);
        assert_float_equal(prepared[0], (float)paper / 255, 1e-6);
        assert_string_equal(said, "28×28 as it is");
    }
}

static void the_border_is_the_outermost_pixels_of_all_images(void **state)
{
    (void)state;
    uint8_t images[2][4][5];
    memset(images, 255, sizeof images);
    for (int row = 1; row < 3; row++)
        memset(&images[1][row][1], 0, 3); // inside: does not count
    memset(images[0], 0, sizeof images[0]);
    heddle_dataset dataset = {.count = 2, .channels = 1, .height = 4, .width = 5, .images = images[0][0]};
    assert_float_equal(heddle_border_brightness(&dataset), 0.5, 1e-9);
    dataset.images = images[1][0];
    dataset.count = 1;
    assert_float_equal(heddle_border_brightness(&dataset), 1, 1e-9);
}

static void a_photograph_keeps_its_whole_and_its_proportions(void **state)
{
    (void)state;
    draw_box(112, 56, 0, 255, 28, 16, 56, 24);
    prepare(112, 56, &photograph);
    assert_bright(7, 20, 11, 16);
    assert_string_equal(said, "56×112, scaled to 14×28");
}

static void scaling_down_keeps_the_mean(void **state)
{
    (void)state;
    // A fine grid: picking single pixels instead of their mean would give black or white.
    for (int i = 0; i < 140 * 140; i++)
        pixels[i] = (uint8_t)((i / 140 + i % 140) % 5 == 0 ? 255 : 0);
    prepare(140, 140, &photograph);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(fabsf(prepared[i] - 0.2F) < 0.01F);
}

static void blank_and_tiny_pictures_are_prepared_too(void **state)
{
    (void)state;
    static const int sides[][2] = {{1, 1}, {1, 200}, {200, 1}, {2, 3}, {199, 200}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (int paper = 0; paper <= 255; paper += 51) {
            memset(pixels, paper, sizeof pixels);
            prepare(sides[i][0], sides[i][1], &handwriting);
            prepare(sides[i][0], sides[i][1], &photograph);
        }
    assert_fails(heddle_prepare(pixels, 0, 5, &photograph, prepared, said, sizeof said), HEDDLE_INVALID, "5×0");
}

static void channels_are_taken_apart(void **state)
{
    (void)state;
    const heddle_prepare_options colour = {.channels = 3, .height = 2, .width = 2};
    for (int i = 0; i < 4 * 4; i++)
        memcpy(pixels + (size_t)3 * i, (uint8_t[]){0, 51, 255}, 3);
    assert_ok(heddle_prepare(pixels, 4, 4, &colour, prepared, said, sizeof said));
    for (int i = 0; i < 4; i++) {
        assert_float_equal(prepared[i], 0, 1e-6);
        assert_float_equal(prepared[4 + i], 0.2, 1e-6);
        assert_float_equal(prepared[8 + i], 1, 1e-6);
    }
}

static void what_was_said_keeps_to_its_room(void **state)
{
    (void)state;
    char little[8] = "";
    draw_box(60, 60, 255, 0, 10, 20, 30, 10);
    assert_ok(heddle_prepare(pixels, 60, 60, &handwriting, prepared, little, sizeof little));
    assert_string_equal(little, "dark on");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_of_the_right_size_is_taken_as_it_is),
        cmocka_unit_test(dark_on_light_is_inverted),
        cmocka_unit_test(handwriting_is_cut_to_its_ink_scaled_and_centred),
        cmocka_unit_test(small_pictures_are_scaled_up),
        cmocka_unit_test(the_centre_of_mass_goes_to_the_middle),
        cmocka_unit_test(ink_stays_in_the_picture_however_lopsided),
        cmocka_unit_test(a_network_that_knows_dark_on_light_gets_that),
        cmocka_unit_test(without_a_background_nothing_is_inverted),
        cmocka_unit_test(the_border_is_the_outermost_pixels_of_all_images),
        cmocka_unit_test(a_photograph_keeps_its_whole_and_its_proportions),
        cmocka_unit_test(scaling_down_keeps_the_mean),
        cmocka_unit_test(blank_and_tiny_pictures_are_prepared_too),
        cmocka_unit_test(channels_are_taken_apart),
        cmocka_unit_test(what_was_said_keeps_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
