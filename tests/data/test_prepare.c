// From any picture to a network's input: backgrounds, sizes, the ink and the middle, and what is said of it.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/prepare.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

enum { SIDE = 28, PIXELS = SIDE * SIDE, SAID = 256 };
static const heddle_prepare_options digits = {
    .channels = 1, .height = SIDE, .width = SIDE, .traits = {.extent = 20.0 / 28}};
static const heddle_prepare_options things = {.channels = 1, .height = SIDE, .width = SIDE};

static float prepared[3 * PIXELS];
static char said[SAID];

static void fill(uint8_t *pixels, int cols, int top, int left, int rows, int width, uint8_t value)
{
    for (int row = top; row < top + rows; row++)
        memset(pixels + (size_t)row * (size_t)cols + left, value, (size_t)width);
}

// Every value is in [0, 1]; the row and column of the centre of mass and the mass itself.
static double mass_of(const float *image, double *row, double *col)
{
    double mass = 0;
    *row = *col = 0;
    for (int i = 0; i < PIXELS; i++) {
        assert_true(image[i] >= 0 && image[i] <= 1);
        mass += (double)image[i];
        *row += (double)image[i] * (i / SIDE + 0.5);
        *col += (double)image[i] * (i % SIDE + 0.5);
    }
    *row /= mass;
    *col /= mass;
    return mass;
}

static void the_right_size_is_left_as_it_is(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        pixels[i] = (uint8_t)(i % 100);
    assert_ok(heddle_prepare(pixels, SIDE, SIDE, &digits, prepared, said, sizeof said));
    for (int i = 0; i < PIXELS; i++)
        assert_float_equal(prepared[i], (float)pixels[i] / 255.0F, 1e-7F);
    assert_string_equal(said, "28×28 as it is");
}

static void dark_on_light_gives_what_light_on_dark_gives(void **state)
{
    (void)state;
    enum { ROWS = 90, COLS = 60 };
    static uint8_t light[ROWS * COLS], dark[ROWS * COLS];
    fill(light, COLS, 20, 10, 50, 12, 255);
    fill(light, COLS, 20, 10, 8, 30, 180);
    for (int i = 0; i < ROWS * COLS; i++)
        dark[i] = (uint8_t)(255 - light[i]);
    assert_ok(heddle_prepare(light, ROWS, COLS, &digits, prepared, said, sizeof said));
    assert_null(strstr(said, "inverted"));
    float first[PIXELS];
    memcpy(first, prepared, sizeof first);
    assert_ok(heddle_prepare(dark, ROWS, COLS, &digits, prepared, said, sizeof said));
    assert_non_null(strstr(said, "dark on light, inverted"));
    for (int i = 0; i < PIXELS; i++)
        assert_float_equal(prepared[i], first[i], 1e-6F);
}

static void handwriting_is_cut_to_its_ink_scaled_and_centred(void **state)
{
    (void)state;
    enum { ROWS = 200, COLS = 300 };
    static uint8_t pixels[ROWS * COLS];
    memset(pixels, 0, sizeof pixels);
    fill(pixels, COLS, 120, 200, 60, 30, 255); // 60×30, far from the middle
    pixels[0] = 20;                            // a speck too faint to count
    assert_ok(heddle_prepare(pixels, ROWS, COLS, &digits, prepared, said, sizeof said));
    assert_string_equal(said, "300×200 cut to the ink, 30×60, scaled to 10×20, centred in 28×28");
    double row, col;
    assert_float_equal((float)mass_of(prepared, &row, &col), 200, 1e-2F); // 20×10 pixels, all of them full
    assert_true(fabs(row - 14) <= 0.5 && fabs(col - 14) <= 0.5);
}

// The centre of mass of a heavy blob with a thin tail is near an end: the tail must not leave the picture.
static void centring_never_pushes_ink_out(void **state)
{
    (void)state;
    enum { SIZE = 100 };
    static uint8_t pixels[SIZE * SIZE];
    memset(pixels, 0, sizeof pixels);
    fill(pixels, SIZE, 0, 0, 20, 20, 255);
    fill(pixels, SIZE, 95, 95, 5, 5, 255);
    assert_ok(heddle_prepare(pixels, SIZE, SIZE, &digits, prepared, said, sizeof said));
    double row, col;
    // (20·20 + 5·5) pixels at a fifth of the size.
    assert_float_equal((float)mass_of(prepared, &row, &col), (400 + 25) / 25.0F, 1e-2F);
    float strongest_end = 0;
    for (int i = 0; i < PIXELS; i++)
        if (i / SIDE > SIDE / 2 && i % SIDE > SIDE / 2)
            strongest_end = fmaxf(strongest_end, prepared[i]);
    assert_true(strongest_end > 0.9F);
}

// As of digits of 8×8 pixels, which have no margin: the extent is that of the images, and the box is centred.
static void a_drawing_takes_as_much_room_as_the_training_images_did(void **state)
{
    (void)state;
    enum { SIZE = 100, SMALL = 8, COUNT = 3 };
    uint8_t images[COUNT * SMALL * SMALL] = {0}, labels[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        fill(images + i * SMALL * SMALL, SMALL, i == 2, 3, i == 2 ? SMALL - 2 : SMALL, 2, 200);
    const heddle_dataset dataset = {
        .count = COUNT, .channels = 1, .height = SMALL, .width = SMALL, .images = images, .labels = labels};
    const heddle_image_traits traits = heddle_measure_traits(&dataset);
    assert_true(fabs(traits.extent - (1 + 1 + 0.75) / 3) < 1e-12);
    static uint8_t pixels[SIZE * SIZE];
    memset(pixels, 255, sizeof pixels);
    fill(pixels, SIZE, 30, 60, 40, 10, 0); // ink far from the middle of a large sheet
    const heddle_prepare_options options = {.channels = 1, .height = SMALL, .width = SMALL, .traits = traits};
    assert_ok(heddle_prepare(pixels, SIZE, SIZE, &options, prepared, said, sizeof said));
    assert_string_equal(said, "dark on light, inverted; 100×100 cut to the ink, 10×40, scaled to 2×7, centred in 8×8");
    for (int row = 0; row < SMALL; row++)
        for (int col = 0; col < SMALL; col++)
            assert_float_equal(prepared[row * SMALL + col], row < 7 && (col == 3 || col == 4), 1e-6F);
}

static void images_without_a_background_or_with_colours_have_no_extent(void **state)
{
    (void)state;
    uint8_t images[3 * 4] = {0}, labels[1] = {0};
    heddle_dataset dataset = {.count = 1, .channels = 3, .height = 2, .width = 2, .images = images, .labels = labels};
    assert_true(heddle_measure_traits(&dataset).extent == 0);
    memset(images, 128, sizeof images);
    dataset.channels = 1;
    assert_true(heddle_measure_traits(&dataset).extent == 0);
}

static void other_pictures_are_scaled_whole(void **state)
{
    (void)state;
    enum { ROWS = 56, COLS = 28 };
    static uint8_t pixels[ROWS * COLS];
    memset(pixels, 0, sizeof pixels);
    fill(pixels, COLS, 0, 7, ROWS, 14, 255);
    assert_ok(heddle_prepare(pixels, ROWS, COLS, &things, prepared, said, sizeof said));
    assert_string_equal(said, "28×56, scaled to 28×28");
    for (int i = 0; i < PIXELS; i++)
        assert_true(prepared[i] == (i % SIDE >= 7 && i % SIDE < 21 ? 1.0F : 0.0F));
}

static void every_picture_of_one_colour_and_of_any_size_works(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 500}, {500, 1}, {2, 2}, {3, 1}, {27, 29}, {28, 1}, {1000, 3}};
    static const uint8_t colours[] = {0, 1, 127, 128, 255};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof colours; j++)
            for (int way = 0; way < 2; way++) {
                size_t count = (size_t)sizes[i][0] * (size_t)sizes[i][1];
                uint8_t *pixels = malloc(count);
                assert_non_null(pixels);
                memset(pixels, colours[j], count);
                memset(prepared, 0xff, sizeof prepared);
                assert_ok(heddle_prepare(pixels, sizes[i][0], sizes[i][1], way ? &digits : &things, prepared, said,
                                         sizeof said));
                for (int p = 0; p < PIXELS; p++)
                    assert_true(prepared[p] >= 0 && prepared[p] <= 1);
                free(pixels);
            }
}

static void colours_stay_apart(void **state)
{
    (void)state;
    enum { SIZE = 56 };
    static uint8_t pixels[SIZE * SIZE * 3];
    for (int i = 0; i < SIZE * SIZE; i++) {
        pixels[3 * i] = 30;
        pixels[3 * i + 1] = 60;
        pixels[3 * i + 2] = 90;
    }
    heddle_prepare_options colour = {.channels = 3, .height = SIDE, .width = SIDE};
    assert_ok(heddle_prepare(pixels, SIZE, SIZE, &colour, prepared, said, sizeof said));
    for (int i = 0; i < 3 * PIXELS; i++)
        assert_float_equal(prepared[i], (float)(30 + 30 * (i / PIXELS)) / 255.0F, 1e-6F);
}

// What the picture becomes depends on what the network was trained on.
static void the_background_is_that_of_the_training_images(void **state)
{
    (void)state;
    enum { SIZE = 56 };
    static uint8_t bright[SIZE * SIZE];
    memset(bright, 230, sizeof bright); // paper
    fill(bright, SIZE, 20, 20, 10, 10, 10);
    heddle_prepare_options options = things;
    options.traits.border = 0.02; // as MNIST: the paper becomes dark
    assert_ok(heddle_prepare(bright, SIZE, SIZE, &options, prepared, said, sizeof said));
    assert_true(prepared[0] < 0.2F && prepared[12 * SIDE + 12] > 0.8F);
    options.traits.border = 0.5; // photographs: nothing is inverted
    assert_ok(heddle_prepare(bright, SIZE, SIZE, &options, prepared, said, sizeof said));
    assert_true(prepared[0] > 0.8F && prepared[12 * SIDE + 12] < 0.2F);
    assert_null(strstr(said, "inverted"));
    options.traits = (heddle_image_traits){.border = 0.98, .extent = 0.5}; // drawings on paper: so is what is added
    assert_ok(heddle_prepare(bright, SIZE, SIZE, &options, prepared, said, sizeof said));
    assert_null(strstr(said, "inverted"));
    assert_true(prepared[0] > 0.99F && prepared[12 * SIDE + 12] < 0.2F);
    for (int i = 0; i < SIZE * SIZE; i++)
        bright[i] = (uint8_t)(255 - bright[i]);
    assert_ok(heddle_prepare(bright, SIZE, SIZE, &options, prepared, said, sizeof said));
    assert_non_null(strstr(said, "light on dark, inverted"));
    assert_true(prepared[0] > 0.8F && prepared[12 * SIDE + 12] < 0.2F);
}

static void the_border_of_a_dataset_is_its_outermost_pixels(void **state)
{
    (void)state;
    enum { ROWS = 5, COLS = 4, COUNT = 2 };
    uint8_t images[COUNT * ROWS * COLS], labels[COUNT] = {0, 1};
    memset(images, 255, sizeof images);
    for (int i = 0; i < COUNT; i++)
        fill(images + i * ROWS * COLS, COLS, 1, 1, ROWS - 2, COLS - 2, 0);
    heddle_dataset dataset = {.count = COUNT, .channels = 1, .height = ROWS, .width = COLS, .images = images};
    dataset.labels = labels;
    assert_true(heddle_measure_traits(&dataset).border == 1);
    for (size_t i = 0; i < sizeof images; i++)
        images[i] = (uint8_t)(255 - images[i]);
    assert_true(heddle_measure_traits(&dataset).border == 0);
    dataset.height = 1; // all of it is border
    dataset.width = 1;
    images[0] = 51;
    images[1] = 153;
    assert_true(fabs(heddle_measure_traits(&dataset).border - 0.4) < 1e-12);
}

static void nonsense_is_refused_and_a_short_text_is_cut(void **state)
{
    (void)state;
    uint8_t pixels[4] = {0};
    heddle_prepare_options none = {.channels = 1};
    assert_int_equal(heddle_prepare(pixels, 0, 4, &digits, prepared, said, sizeof said), HEDDLE_INVALID);
    assert_int_equal(heddle_prepare(pixels, 2, -2, &digits, prepared, said, sizeof said), HEDDLE_INVALID);
    assert_int_equal(heddle_prepare(pixels, 2, 2, &none, prepared, said, sizeof said), HEDDLE_INVALID);
    char little[6];
    assert_ok(heddle_prepare(pixels, 2, 2, &digits, prepared, little, sizeof little));
    assert_int_equal(strlen(little), sizeof little - 1);
}

static void colours_are_never_inverted(void **state)
{
    (void)state;
    const heddle_prepare_options colours = {.channels = 3, .height = SIDE, .width = SIDE};
    static uint8_t pixels[PIXELS * 3];
    memset(pixels, 255, sizeof pixels);
    for (int i = 300; i < 400; i++) // blue on white, for a network whose images are dark at the edge
        pixels[3 * i] = pixels[3 * i + 1] = 0;
    assert_ok(heddle_prepare(pixels, SIDE, SIDE, &colours, prepared, said, sizeof said));
    assert_null(strstr(said, "inverted"));
    assert_float_equal(prepared[350], 0, 1e-6F);
    assert_float_equal(prepared[2 * PIXELS + 350], 1, 1e-6F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_never_inverted),
        cmocka_unit_test(the_right_size_is_left_as_it_is),
        cmocka_unit_test(dark_on_light_gives_what_light_on_dark_gives),
        cmocka_unit_test(handwriting_is_cut_to_its_ink_scaled_and_centred),
        cmocka_unit_test(centring_never_pushes_ink_out),
        cmocka_unit_test(a_drawing_takes_as_much_room_as_the_training_images_did),
        cmocka_unit_test(images_without_a_background_or_with_colours_have_no_extent),
        cmocka_unit_test(other_pictures_are_scaled_whole),
        cmocka_unit_test(every_picture_of_one_colour_and_of_any_size_works),
        cmocka_unit_test(colours_stay_apart),
        cmocka_unit_test(the_background_is_that_of_the_training_images),
        cmocka_unit_test(the_border_of_a_dataset_is_its_outermost_pixels),
        cmocka_unit_test(nonsense_is_refused_and_a_short_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
