// PNG: every kind of picture arrives as the gray or RGB it shows; damaged files are one clear line.

#include "files.h"

#include "io/image_file.h"
#include "io/png.h"

#ifdef HEDDLE_HAVE_PNG

#include <png.h>

enum { WIDTH = 9, HEIGHT = 5 }; // odd, and not a multiple of 8: bits that do not fill a byte, passes that are short

// One kind of PNG to write.
typedef struct png_kind {
    int depth, color, interlace;
    const png_color *palette;
    int palette_size;
    const png_byte *palette_alpha;
    int palette_alpha_size;
    const png_color_16 *transparent;
} png_kind;

static void write_kind(const char *path, const png_kind *kind, const png_byte *rows, size_t row_bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    png_struct *png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_info *info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng cannot write the test's picture");
    png_init_io(png, file);
    png_set_IHDR(png, info, WIDTH, HEIGHT, kind->depth, kind->color, kind->interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (kind->palette)
        png_set_PLTE(png, info, kind->palette, kind->palette_size);
    if (kind->palette_alpha || kind->transparent)
        png_set_tRNS(png, info, kind->palette_alpha, kind->palette_alpha_size, kind->transparent);
    png_bytep pointers[HEIGHT];
    for (int y = 0; y < HEIGHT; y++)
        pointers[y] = (png_bytep)rows + (size_t)y * row_bytes;
    png_set_rows(png, info, pointers);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void assert_close(int value, int expected)
{
    assert_in_range(value + 1, expected, expected + 2); // rounding may differ by one
}

static heddle_picture read_kind(const char *folder, const png_kind *kind, const png_byte *rows, size_t row_bytes,
                                int channels)
{
    const char *path = scratch_path(folder, "kind.png");
    write_kind(path, kind, rows, row_bytes);
    heddle_picture picture;
    assert_ok(heddle_image_file_read(path, channels, &picture));
    assert_int_equal(picture.width, WIDTH);
    assert_int_equal(picture.height, HEIGHT);
    assert_int_equal(picture.channels, channels);
    return picture;
}

// --- what a picture shows -------------------------------------------------------------------------------------------

static void gray_is_kept(void **state)
{
    png_byte rows[HEIGHT][WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        rows[i / WIDTH][i % WIDTH] = (png_byte)(i * 5);
    const png_kind kinds[] = {{.depth = 8, .color = PNG_COLOR_TYPE_GRAY},
                              {.depth = 8, .color = PNG_COLOR_TYPE_GRAY, .interlace = PNG_INTERLACE_ADAM7}};
    for (int k = 0; k < 2; k++) {
        heddle_picture picture = read_kind(*state, &kinds[k], rows[0], WIDTH, 1);
        assert_memory_equal(picture.pixels, rows, sizeof rows);
        heddle_picture_free(&picture);
    }
}

static void gray_becomes_equal_red_green_and_blue(void **state)
{
    png_byte rows[HEIGHT][WIDTH];
    memset(rows, 77, sizeof rows);
    heddle_picture picture =
        read_kind(*state, &(png_kind){.depth = 8, .color = PNG_COLOR_TYPE_GRAY}, rows[0], WIDTH, 3);
    for (int i = 0; i < HEIGHT * WIDTH * 3; i++)
        assert_int_equal(picture.pixels[i], 77);
    heddle_picture_free(&picture);
}

static void one_bit_becomes_black_and_white(void **state)
{
    png_byte rows[HEIGHT][2] = {{0x80, 0x80}, {0x40, 0}, {0x20, 0}, {0x10, 0}, {0xff, 0x80}};
    heddle_picture picture = read_kind(*state, &(png_kind){.depth = 1, .color = PNG_COLOR_TYPE_GRAY}, rows[0], 2, 1);
    assert_int_equal(picture.pixels[0], 255);
    assert_int_equal(picture.pixels[1], 0);
    assert_int_equal(picture.pixels[8], 255);
    assert_int_equal(picture.pixels[WIDTH], 0);
    assert_int_equal(picture.pixels[WIDTH + 1], 255);
    heddle_picture_free(&picture);
}

static void sixteen_bits_are_scaled_to_eight(void **state)
{
    png_byte rows[HEIGHT][WIDTH][2];
    memset(rows, 0, sizeof rows);
    rows[0][0][0] = rows[0][0][1] = 0xff;
    rows[0][1][0] = 0x80;
    heddle_picture picture =
        read_kind(*state, &(png_kind){.depth = 16, .color = PNG_COLOR_TYPE_GRAY}, rows[0][0], WIDTH * 2, 1);
    assert_int_equal(picture.pixels[0], 255);
    assert_close(picture.pixels[1], 128);
    assert_int_equal(picture.pixels[2], 0);
    heddle_picture_free(&picture);
}

static void colours_become_their_brightness(void **state)
{
    png_byte rows[HEIGHT][WIDTH][3];
    memset(rows, 255, sizeof rows);
    memcpy(rows[0][0], (png_byte[]){255, 0, 0}, 3);
    memcpy(rows[0][1], (png_byte[]){0, 255, 0}, 3);
    memcpy(rows[0][2], (png_byte[]){0, 0, 255}, 3);
    memcpy(rows[0][3], (png_byte[]){0, 0, 0}, 3);
    const png_kind rgb = {.depth = 8, .color = PNG_COLOR_TYPE_RGB};
    heddle_picture picture = read_kind(*state, &rgb, rows[0][0], WIDTH * 3, 1);
    assert_close(picture.pixels[0], 76);
    assert_close(picture.pixels[1], 150);
    assert_close(picture.pixels[2], 29);
    assert_int_equal(picture.pixels[3], 0);
    assert_int_equal(picture.pixels[4], 255);
    heddle_picture_free(&picture);
    picture = read_kind(*state, &rgb, rows[0][0], WIDTH * 3, 3);
    assert_memory_equal(picture.pixels, rows, sizeof rows);
    heddle_picture_free(&picture);
}

static void a_palette_is_looked_up(void **state)
{
    const png_color palette[4] = {{10, 20, 30}, {255, 0, 0}, {0, 0, 0}, {255, 255, 255}};
    const png_byte alpha[1] = {0}; // the first colour is transparent
    png_byte rows[HEIGHT][3];
    memset(rows, 0, sizeof rows);
    rows[0][0] = 0x1b; // two bits a pixel: 0 1 2 3
    const png_kind paletted = {.depth = 2,
                               .color = PNG_COLOR_TYPE_PALETTE,
                               .palette = palette,
                               .palette_size = 4,
                               .palette_alpha = alpha,
                               .palette_alpha_size = 1,
                               .interlace = PNG_INTERLACE_ADAM7};
    heddle_picture picture = read_kind(*state, &paletted, rows[0], 3, 3);
    const uint8_t expected[] = {255, 255, 255, 255, 0, 0, 0, 0, 0, 255, 255, 255};
    assert_memory_equal(picture.pixels, expected, sizeof expected);
    heddle_picture_free(&picture);
}

static void transparency_is_laid_over_white(void **state)
{
    png_byte rows[HEIGHT][WIDTH][4];
    memset(rows, 0, sizeof rows); // transparent black
    memcpy(rows[0][0], (png_byte[]){0, 0, 0, 255}, 4);
    memcpy(rows[0][1], (png_byte[]){0, 0, 0, 128}, 4);
    memcpy(rows[0][2], (png_byte[]){200, 100, 50, 128}, 4);
    heddle_picture picture =
        read_kind(*state, &(png_kind){.depth = 8, .color = PNG_COLOR_TYPE_RGBA}, rows[0][0], WIDTH * 4, 3);
    assert_int_equal(picture.pixels[0], 0);
    assert_close(picture.pixels[3], 127);
    assert_close(picture.pixels[6], 227);
    assert_close(picture.pixels[7], 177);
    assert_close(picture.pixels[8], 152);
    assert_int_equal(picture.pixels[9], 255);
    heddle_picture_free(&picture);
}

// A stroke of `ink` and, where `paper` is not negative, paper around it; transparent elsewhere. What the first, which
// is transparent, and the stroke become.
static void read_stroke(void *state, int ink, int paper, int *outside, int *stroke)
{
    png_byte rows[HEIGHT][WIDTH][2];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        memcpy(rows[i / WIDTH][i % WIDTH], (png_byte[]){255, 0}, 2); // grey and alpha
    for (int x = 1; x < WIDTH && paper >= 0; x++)
        memcpy(rows[0][x], (png_byte[]){(png_byte)paper, 255}, 2);
    memcpy(rows[0][1], (png_byte[]){(png_byte)ink, 255}, 2);
    memcpy(rows[0][2], (png_byte[]){(png_byte)ink, 255}, 2);
    heddle_picture picture =
        read_kind(state, &(png_kind){.depth = 8, .color = PNG_COLOR_TYPE_GRAY_ALPHA}, rows[0][0], WIDTH * 2, 1);
    *outside = picture.pixels[0];
    *stroke = picture.pixels[1];
    heddle_picture_free(&picture);
}

static void a_light_drawing_is_laid_over_black(void **state)
{
    int outside, stroke;
    read_stroke(*state, 255, -1, &outside, &stroke);
    assert_int_equal(outside, 0);
    assert_int_equal(stroke, 255);
    read_stroke(*state, 180, -1, &outside, &stroke);
    assert_int_equal(outside, 0);
    assert_int_equal(stroke, 180);
    read_stroke(*state, 60, -1, &outside, &stroke);
    assert_int_equal(outside, 255);
    assert_int_equal(stroke, 60);
    read_stroke(*state, 100, -1, &outside, &stroke); // neither light nor dark
    assert_int_equal(outside, 255);
    assert_int_equal(stroke, 100);
    read_stroke(*state, 0, 255, &outside, &stroke); // dark ink on paper of its own
    assert_int_equal(outside, 255);
    assert_int_equal(stroke, 0);
}

static void a_transparent_gray_is_laid_over_white(void **state)
{
    png_byte rows[HEIGHT][WIDTH];
    memset(rows, 40, sizeof rows);
    rows[0][0] = 41;
    const png_color_16 transparent = {.gray = 40};
    heddle_picture picture = read_kind(
        *state, &(png_kind){.depth = 8, .color = PNG_COLOR_TYPE_GRAY, .transparent = &transparent}, rows[0], WIDTH, 1);
    assert_int_equal(picture.pixels[0], 41);
    assert_int_equal(picture.pixels[1], 255);
    heddle_picture_free(&picture);
}

static void what_is_written_is_read_back(void **state)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        uint8_t pixels[HEIGHT * WIDTH * 3];
        for (int i = 0; i < HEIGHT * WIDTH * channels; i++)
            pixels[i] = (uint8_t)(i * 37);
        const heddle_picture written = {WIDTH, HEIGHT, channels, pixels};
        const char *path = scratch_path(*state, "written.png");
        assert_ok(heddle_png_write(path, &written));
        heddle_picture read;
        assert_ok(heddle_image_file_read(path, channels, &read));
        assert_int_equal(read.width, WIDTH);
        assert_memory_equal(read.pixels, pixels, (size_t)(HEIGHT * WIDTH * channels));
        heddle_picture_free(&read);
        assert_ok(heddle_png_write(path, &(heddle_picture){1, 1, channels, pixels}));
        assert_ok(heddle_image_file_read(path, channels, &read));
        assert_int_equal(read.width * read.height, 1);
        assert_memory_equal(read.pixels, pixels, (size_t)channels);
        heddle_picture_free(&read);
    }
}

// --- what can be wrong ----------------------------------------------------------------------------------------------

static size_t example(const char *folder, uint8_t *content, size_t room)
{
    uint8_t pixels[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i] = (uint8_t)(i * 29);
    const char *path = scratch_path(folder, "example.png");
    assert_ok(heddle_png_write(path, &(heddle_picture){WIDTH, HEIGHT, 1, pixels}));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(content, 1, room, file);
    fclose(file);
    assert_in_range(size, 50, room - 1);
    return size;
}

static void every_truncation_is_refused(void **state)
{
    uint8_t content[1024];
    size_t size = example(*state, content, sizeof content);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, content, cut);
        heddle_picture picture;
        assert_fails(heddle_png_parse("cut.png", part, cut, 1, &picture), HEDDLE_CORRUPT, "cut.png");
        assert_null(picture.pixels);
        free(part);
    }
}

static void changed_bytes_are_refused_or_shown_but_never_crash(void **state)
{
    uint8_t content[1024], changed[1024];
    size_t size = example(*state, content, sizeof content);
    int refused = 0;
    for (size_t at = 0; at < size; at++) {
        memcpy(changed, content, size);
        changed[at] ^= 0x41;
        heddle_picture picture;
        heddle_status status = heddle_png_parse("changed.png", changed, size, 1, &picture);
        refused += status == HEDDLE_CORRUPT;
        heddle_picture_free(&picture);
    }
    assert_true(refused > (int)size / 2);
}

static void something_else_is_no_png(void **state)
{
    scratch_write(*state, "text.png", "hello, world", 12);
    heddle_picture picture;
    assert_fails(heddle_png_parse("text.png", "hello, world", 12, 1, &picture), HEDDLE_CORRUPT,
                 "text.png is not a PNG file");
    assert_fails(heddle_image_file_read(scratch_path(*state, "text.png"), 1, &picture), HEDDLE_CORRUPT,
                 "text.png is neither a PNG nor a JPEG file");
    assert_fails(heddle_image_file_read(scratch_path(*state, "none.png"), 1, &picture), HEDDLE_NOT_FOUND, "none.png");
}

static uint32_t chunk_sum(const uint8_t *data, size_t size)
{
    uint32_t sum = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        sum ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xedb88320 : sum >> 1;
    }
    return ~sum;
}

static void put_big_endian(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

// The size in a PNG's header, with the checksum made right again.
static void claim_size(uint8_t *content, uint32_t width, uint32_t height)
{
    enum { TYPE_AT = 12, WIDTH_AT = 16, HEIGHT_AT = 20, SUM_AT = 29 };
    put_big_endian(content + WIDTH_AT, width);
    put_big_endian(content + HEIGHT_AT, height);
    put_big_endian(content + SUM_AT, chunk_sum(content + TYPE_AT, SUM_AT - TYPE_AT));
}

static void a_claim_that_the_file_cannot_hold_is_refused_before_memory_is_taken(void **state)
{
    uint8_t content[1024];
    size_t size = example(*state, content, sizeof content);
    heddle_picture picture;
    claim_size(content, 8000, 8000);
    assert_fails(heddle_png_parse("bomb.png", content, size, 1, &picture), HEDDLE_CORRUPT,
                 "says 8000×8000 pixels, too many");
    claim_size(content, 60000, 60000);
    assert_fails(heddle_png_parse("bomb.png", content, size, 1, &picture), HEDDLE_UNSUPPORTED,
                 "60000×60000 pixels; heddle reads at most 64 million");
    claim_size(content, 0x7fffffff, 0x7fffffff);
    assert_fails(heddle_png_parse("bomb.png", content, size, 1, &picture), HEDDLE_UNSUPPORTED, "heddle reads at most");
}

static void wrong_arguments_are_refused(void **state)
{
    heddle_picture picture;
    assert_fails(heddle_png_parse("x.png", "", 0, 2, &picture), HEDDLE_INVALID, "1 or 3 channels, not 2");
    uint8_t pixel = 0;
    const char *path = scratch_path(*state, "no.png");
    assert_fails(heddle_png_write(path, &(heddle_picture){0, 1, 1, &pixel}), HEDDLE_INVALID, "0×1 pixels");
    assert_fails(heddle_png_write(path, &(heddle_picture){1, 1, 4, &pixel}), HEDDLE_INVALID, "4 channels");
    assert_fails(heddle_png_write(scratch_path(*state, "no/such/a.png"), &(heddle_picture){1, 1, 1, &pixel}),
                 HEDDLE_NOT_FOUND, "a.png");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gray_is_kept),
        cmocka_unit_test(gray_becomes_equal_red_green_and_blue),
        cmocka_unit_test(one_bit_becomes_black_and_white),
        cmocka_unit_test(sixteen_bits_are_scaled_to_eight),
        cmocka_unit_test(colours_become_their_brightness),
        cmocka_unit_test(a_palette_is_looked_up),
        cmocka_unit_test(transparency_is_laid_over_white),
        cmocka_unit_test(a_light_drawing_is_laid_over_black),
        cmocka_unit_test(a_transparent_gray_is_laid_over_white),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(changed_bytes_are_refused_or_shown_but_never_crash),
        cmocka_unit_test(something_else_is_no_png),
        cmocka_unit_test(a_claim_that_the_file_cannot_hold_is_refused_before_memory_is_taken),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

#else

static void without_libpng_it_says_what_to_install(void **state)
{
    (void)state;
    heddle_picture picture;
    assert_fails(heddle_png_parse("a.png", "", 0, 1, &picture), HEDDLE_MISSING, "libpng-dev");
    assert_fails(heddle_png_write("a.png", &picture), HEDDLE_MISSING, "libpng-dev");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_libpng_it_says_what_to_install)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
