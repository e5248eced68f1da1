// JPEG: every kind of picture arrives as the gray or RGB it shows; damaged files are one clear line.

#include "files.h"

#include "io/image_file.h"
#include "io/jpeg.h"

#ifdef HEDDLE_HAVE_JPEG

#include "jpeg_files.h"

enum { WIDTH = 19, HEIGHT = 13, PIXELS = WIDTH * HEIGHT }; // not multiples of a block of 8×8
static const int most_error = 4;                           // of a byte at the best quality

static void assert_near(int value, int expected)
{
    assert_in_range(value + most_error, expected, expected + 2 * most_error);
}

// Slopes, which JPEG keeps well.
static void draw(uint8_t *pixels, int components)
{
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0; c < components; c++)
            pixels[i * components + c] = (uint8_t)(c == 1 ? i % WIDTH * 9 : 255 - i / WIDTH * 12);
}

static heddle_picture parse_kind(const jpeg_kind *kind, const uint8_t *pixels, int channels)
{
    size_t size;
    uint8_t *content = jpeg_build(kind, pixels, &size);
    heddle_picture_info info;
    heddle_picture picture;
    assert_ok(heddle_jpeg_measure("kind.jpg", content, size, &info));
    assert_int_equal(info.width, kind->width);
    assert_int_equal(info.height, kind->height);
    assert_int_equal(info.grey, kind->colors == JCS_GRAYSCALE);
    assert_ok(heddle_jpeg_parse("kind.jpg", content, size, channels, &picture));
    assert_int_equal(picture.width, kind->width);
    assert_int_equal(picture.height, kind->height);
    assert_int_equal(picture.channels, channels);
    free(content);
    return picture;
}

// --- what a picture shows -------------------------------------------------------------------------------------------

static void gray_is_read_as_gray_and_as_equal_colours(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS];
    draw(pixels, 1);
    const jpeg_kind kind = {.width = WIDTH, .height = HEIGHT, .colors = JCS_GRAYSCALE};
    heddle_picture gray = parse_kind(&kind, pixels, 1), colour = parse_kind(&kind, pixels, 3);
    for (int i = 0; i < PIXELS; i++) {
        assert_near(gray.pixels[i], pixels[i]);
        for (int c = 0; c < 3; c++)
            assert_int_equal(colour.pixels[3 * i + c], gray.pixels[i]);
    }
    heddle_picture_free(&gray);
    heddle_picture_free(&colour);
}

static void every_way_of_coding_shows_the_same_colours(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS * 3];
    draw(pixels, 3);
    const jpeg_kind kinds[] = {
        {.width = WIDTH, .height = HEIGHT, .colors = JCS_RGB},
        {.width = WIDTH, .height = HEIGHT, .colors = JCS_RGB, .progressive = true},
        {.width = WIDTH, .height = HEIGHT, .colors = JCS_RGB, .restart = 1},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        heddle_picture colour = parse_kind(&kinds[k], pixels, 3), gray = parse_kind(&kinds[k], pixels, 1);
        for (int i = 0; i < PIXELS * 3; i++)
            assert_near(colour.pixels[i], pixels[i]);
        for (int i = 0; i < PIXELS; i++)
            assert_int_equal(gray.pixels[i], heddle_luma(colour.pixels + 3 * i));
        heddle_picture_free(&colour);
        heddle_picture_free(&gray);
    }
}

// libjpeg writes an Adobe marker, so the values are those of Adobe: 255 is no ink.
static void inks_become_colours(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS * 4];
    for (int i = 0; i < PIXELS; i++)
        memcpy(pixels + 4 * i, (uint8_t[]){255, 128, 0, i < PIXELS / 2 ? 255 : 0}, 4);
    heddle_picture picture = parse_kind(&(jpeg_kind){.width = WIDTH, .height = HEIGHT, .colors = JCS_CMYK}, pixels, 3);
    assert_near(picture.pixels[0], 255);
    assert_near(picture.pixels[1], 128);
    assert_near(picture.pixels[2], 0);
    assert_near(picture.pixels[PIXELS * 3 - 3], 0); // black ink over all
    heddle_picture_free(&picture);
}

static void a_file_is_recognised_by_its_content(void **state)
{
    uint8_t pixels[PIXELS * 3];
    draw(pixels, 3);
    size_t size;
    uint8_t *content = jpeg_build(&(jpeg_kind){.width = WIDTH, .height = HEIGHT, .colors = JCS_RGB}, pixels, &size);
    scratch_write(*state, "really.png", content, size);
    free(content);
    heddle_picture picture;
    heddle_picture_info info;
    assert_ok(heddle_image_file_read(scratch_path(*state, "really.png"), 3, &picture));
    assert_ok(heddle_image_file_measure(scratch_path(*state, "really.png"), &info));
    assert_int_equal(picture.width, WIDTH);
    assert_int_equal(info.height, HEIGHT);
    heddle_picture_free(&picture);
    scratch_write(*state, "empty.jpg", "", 0);
    assert_fails(heddle_image_file_read(scratch_path(*state, "empty.jpg"), 3, &picture), HEDDLE_CORRUPT,
                 "empty.jpg is empty");
    assert_fails(heddle_image_file_measure(scratch_path(*state, "none.jpg"), &info), HEDDLE_NOT_FOUND, "none.jpg");
}

static void names_of_image_files_are_known(void **state)
{
    (void)state;
    assert_true(heddle_image_file_is_named("a/b.JPEG") && heddle_image_file_is_named("c.jpg") &&
                heddle_image_file_is_named("d.Png"));
    assert_false(heddle_image_file_is_named("png") || heddle_image_file_is_named("a.png/b") ||
                 heddle_image_file_is_named("a.gif"));
}

// --- what can be wrong ----------------------------------------------------------------------------------------------

static void every_truncation_is_refused(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS * 3];
    draw(pixels, 3);
    for (int progressive = 0; progressive < 2; progressive++) {
        const jpeg_kind kind = {.width = WIDTH, .height = HEIGHT, .colors = JCS_RGB, .progressive = progressive};
        size_t size;
        uint8_t *content = jpeg_build(&kind, pixels, &size);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *part = malloc(cut ? cut : 1);
            memcpy(part, content, cut);
            heddle_picture picture;
            assert_fails(heddle_jpeg_parse("cut.jpg", part, cut, 1, &picture), HEDDLE_CORRUPT, "cut.jpg");
            assert_null(picture.pixels);
            free(part);
        }
        free(content);
    }
}

static void changed_bytes_are_refused_or_shown_but_never_crash(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS * 3];
    draw(pixels, 3);
    size_t size;
    uint8_t *content = jpeg_build(&(jpeg_kind){.width = WIDTH, .height = HEIGHT, .colors = JCS_RGB}, pixels, &size);
    int refused = 0;
    for (size_t at = 0; at < size; at++) {
        content[at] ^= 0x41;
        heddle_picture picture;
        refused += heddle_jpeg_parse("changed.jpg", content, size, 3, &picture) == HEDDLE_CORRUPT;
        heddle_picture_free(&picture);
        content[at] ^= 0x41;
    }
    free(content);
    assert_true(refused > 20);
}

static void something_else_is_no_jpeg(void **state)
{
    (void)state;
    heddle_picture picture;
    heddle_picture_info info;
    assert_fails(heddle_jpeg_parse("a.jpg", "hello", 5, 1, &picture), HEDDLE_CORRUPT, "a.jpg is not a JPEG file");
    assert_fails(heddle_jpeg_measure("a.jpg", "\xff\xd8\xff\xd9", 4, &info), HEDDLE_CORRUPT,
                 "a.jpg: the JPEG is corrupt");
    assert_fails(heddle_jpeg_parse("a.jpg", "", 0, 2, &picture), HEDDLE_INVALID, "1 or 3 channels, not 2");
}

// Where the frame's header says its height and width, big-endian.
static uint8_t *find_size(uint8_t *content, size_t size)
{
    for (size_t i = 0; i + 9 < size; i++)
        if (content[i] == 0xff && content[i + 1] == 0xc0)
            return content + i + 5;
    fail_msg("no frame");
    return NULL;
}

static void a_claim_that_the_file_cannot_hold_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    uint8_t pixels[PIXELS];
    draw(pixels, 1);
    size_t size;
    uint8_t *content =
        jpeg_build(&(jpeg_kind){.width = WIDTH, .height = HEIGHT, .colors = JCS_GRAYSCALE}, pixels, &size);
    uint8_t *claimed = find_size(content, size);
    heddle_picture picture;
    memcpy(claimed, (uint8_t[]){0x1f, 0x40, 0x1f, 0x40}, 4);
    assert_fails(heddle_jpeg_parse("bomb.jpg", content, size, 1, &picture), HEDDLE_CORRUPT,
                 "says 8000×8000 pixels, too many");
    memcpy(claimed, (uint8_t[]){0xea, 0x60, 0xea, 0x60}, 4);
    assert_fails(heddle_jpeg_parse("bomb.jpg", content, size, 1, &picture), HEDDLE_UNSUPPORTED,
                 "60000×60000 pixels; heddle reads at most 64 million");
    free(content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gray_is_read_as_gray_and_as_equal_colours),
        cmocka_unit_test(every_way_of_coding_shows_the_same_colours),
        cmocka_unit_test(inks_become_colours),
        cmocka_unit_test(a_file_is_recognised_by_its_content),
        cmocka_unit_test(names_of_image_files_are_known),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(changed_bytes_are_refused_or_shown_but_never_crash),
        cmocka_unit_test(something_else_is_no_jpeg),
        cmocka_unit_test(a_claim_that_the_file_cannot_hold_is_refused_before_memory_is_taken),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

#else

static void without_libjpeg_it_says_what_to_install(void **state)
{
    (void)state;
    heddle_picture picture;
    heddle_picture_info info;
    assert_fails(heddle_jpeg_parse("a.jpg", "", 0, 1, &picture), HEDDLE_MISSING, "install libjpeg-dev and rebuild");
    assert_fails(heddle_jpeg_measure("a.jpg", "", 0, &info), HEDDLE_MISSING, "install libjpeg-dev and rebuild");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_libjpeg_it_says_what_to_install)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
