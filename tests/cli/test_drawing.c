// Images as text and on a sheet: what is bright shows, what does not fit is made smaller.

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/drawing.h"

static char text[1 << 16];

static const char *print(const heddle_drawing *drawings, int count, heddle_drawing_style style, int columns)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    heddle_drawing_print(file, drawings, count, style, columns);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void bright_pixels_are_dense_and_dark_ones_blank(void **state)
{
    (void)state;
    const uint8_t pixels[] = {
        255, 0, 0,   128, //
        255, 0, 255, 128,
    };
    heddle_drawing one = {.pixels = pixels, .width = 4, .height = 2, .caption = "7"};
    assert_string_equal(print(&one, 1, HEDDLE_DRAWING_RAMP, 80), "@ =+\n7   \n");
}

static void an_odd_last_row_is_drawn(void **state)
{
    (void)state;
    const uint8_t pixels[] = {255, 255, 255};
    heddle_drawing one = {.pixels = pixels, .width = 1, .height = 3};
    assert_string_equal(print(&one, 1, HEDDLE_DRAWING_RAMP, 80), "@\n=\n \n");
}

static void drawings_stand_side_by_side_as_far_as_they_fit(void **state)
{
    (void)state;
    const uint8_t pixels[] = {255, 255, 255, 255};
    heddle_drawing many[3];
    for (int i = 0; i < 3; i++)
        many[i] = (heddle_drawing){.pixels = pixels, .width = 2, .height = 2};
    assert_string_equal(print(many, 3, HEDDLE_DRAWING_RAMP, 6), "@@  @@\n      \n\n@@\n  \n");
    assert_string_equal(print(many, 3, HEDDLE_DRAWING_RAMP, 10), "@@  @@  @@\n          \n");
    assert_string_equal(print(many, 1, HEDDLE_DRAWING_RAMP, 0), "=\n \n");
}

static void a_long_caption_is_cut_between_characters(void **state)
{
    (void)state;
    const uint8_t pixels[] = {255, 255};
    heddle_drawing one = {.pixels = pixels, .width = 1, .height = 2, .caption = "é23456789012345678901234ü"};
    assert_string_equal(print(&one, 1, HEDDLE_DRAWING_RAMP, 80), "@\né23456789012345678901234\n");
}

static void a_caption_may_be_wider_than_its_image(void **state)
{
    (void)state;
    const uint8_t pixels[] = {255, 255};
    heddle_drawing two[] = {
        {.pixels = pixels, .width = 1, .height = 2, .caption = "#0: boot"},
        {.pixels = pixels, .width = 1, .height = 2, .caption = "#1: bag"},
    };
    assert_string_equal(print(two, 2, HEDDLE_DRAWING_RAMP, 80), "@         @\n#0: boot  #1: bag \n");
}

static void a_wide_image_is_drawn_smaller(void **state)
{
    (void)state;
    enum { WIDTH = 640, HEIGHT = 20 };
    static uint8_t pixels[WIDTH * HEIGHT];
    memset(pixels, 255, sizeof pixels);
    heddle_drawing one = {.pixels = pixels, .width = WIDTH, .height = HEIGHT};
    const char *printed = print(&one, 1, HEDDLE_DRAWING_RAMP, 80);
    assert_int_equal(strcspn(printed, "\n"), 64);
    assert_int_equal(strspn(printed, "@"), 64);
}

static void blocks_show_two_pixels_in_their_shades(void **state)
{
    (void)state;
    const uint8_t pixels[] = {255, 0};
    heddle_drawing one = {.pixels = pixels, .width = 1, .height = 2};
    assert_string_equal(print(&one, 1, HEDDLE_DRAWING_BLOCKS, 80), "\033[38;5;255;48;5;232m▀\033[0m\n \n");
}

static void auto_is_plain_in_a_file(void **state)
{
    (void)state;
    const uint8_t pixels[] = {255, 255};
    heddle_drawing one = {.pixels = pixels, .width = 1, .height = 2};
    assert_string_equal(print(&one, 1, HEDDLE_DRAWING_AUTO, 80), "@\n \n");
}

static void a_sheet_holds_every_image_enlarged(void **state)
{
    (void)state;
    const int scale = 16, gap = 4;
    const uint8_t first[] = {10, 20, 30, 40}, second[4] = {255, 255, 255, 255};
    uint8_t blank[4 * 4] = {0};
    heddle_drawing drawings[3] = {
        {.pixels = blank, .width = 4, .height = 4},
        {.pixels = blank, .width = 4, .height = 4},
        {.pixels = blank, .width = 4, .height = 4},
    };
    memcpy(blank, first, sizeof first);
    memcpy(blank + 12, second, sizeof second);
    uint8_t *sheet;
    int width, height;
    assert_int_equal(heddle_drawing_sheet(drawings, 3, &sheet, &width, &height), HEDDLE_OK);
    assert_int_equal(width, 2 * (4 * scale + gap) + gap);
    assert_int_equal(height, 2 * (4 * scale + gap) + gap);
    assert_int_equal(sheet[gap * width + gap], 10);
    assert_int_equal(sheet[gap * width + gap + scale], 20);
    assert_int_equal(sheet[(gap + 4 * scale - 1) * width + gap + 4 * scale - 1], 255);
    assert_int_equal(sheet[(2 * gap + 4 * scale) * width + gap], 10);
    assert_int_equal(sheet[height * width - 1], 128); // nothing in the fourth place
    free(sheet);
}

static void a_sheet_too_large_is_refused(void **state)
{
    (void)state;
    const uint8_t pixel = 0;
    heddle_drawing huge[4];
    for (int i = 0; i < 4; i++)
        huge[i] = (heddle_drawing){.pixels = &pixel, .width = 1 << 14, .height = 1 << 14};
    uint8_t *sheet;
    int width, height;
    assert_int_equal(heddle_drawing_sheet(huge, 4, &sheet, &width, &height), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "too large; show fewer"));
}

static void one_image_alone_has_no_frame(void **state)
{
    (void)state;
    uint8_t pixels[] = {10, 20, 30, 40};
    heddle_drawing drawing = {.pixels = pixels, .height = 2, .width = 2};
    uint8_t *sheet;
    int width, height;
    assert_int_equal(heddle_drawing_sheet(&drawing, 1, &sheet, &width, &height), HEDDLE_OK);
    assert_int_equal(width, height);
    assert_int_equal(width % 2, 0);
    assert_int_equal(sheet[0], 10);
    assert_int_equal(sheet[(size_t)width * (size_t)height - 1], 40);
    free(sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_image_alone_has_no_frame),
        cmocka_unit_test(bright_pixels_are_dense_and_dark_ones_blank),
        cmocka_unit_test(an_odd_last_row_is_drawn),
        cmocka_unit_test(drawings_stand_side_by_side_as_far_as_they_fit),
        cmocka_unit_test(a_long_caption_is_cut_between_characters),
        cmocka_unit_test(a_caption_may_be_wider_than_its_image),
        cmocka_unit_test(a_wide_image_is_drawn_smaller),
        cmocka_unit_test(blocks_show_two_pixels_in_their_shades),
        cmocka_unit_test(auto_is_plain_in_a_file),
        cmocka_unit_test(a_sheet_holds_every_image_enlarged),
        cmocka_unit_test(a_sheet_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
