// PNG through libpng. Its errors arrive by longjmp and leave as a status; it reads from and writes to memory, so that
// files stay with base/file.h. What a picture means (dark on light, a digit, a sheet) is the caller's business.

#include "io/png.h"

#include <stdlib.h>

#include "base/file.h"

#ifdef HEDDLE_HAVE_PNG

#include <limits.h>
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

enum {
    SIGNATURE_BYTES = 8,
    RGBA = 4, // what every PNG is first brought to
    OPAQUE = 255,
    // deflate expands at most 1032-fold, so a file this small for its pixels cannot be complete
    MAX_INFLATION = 1032,
    MAX_CHUNK_BYTES = 16 * 1024 * 1024, // of ancillary data: colour profiles, comments
    MESSAGE_SIZE = 128,
};

typedef struct heddle_png_reader {
    const uint8_t *content;
    size_t size, position;
    png_struct *png;
    png_info *info;
    uint8_t *rgba;  // (height, width, 4)
    uint8_t **rows; // into rgba
    png_uint_32 width, height;
    jmp_buf failed;
    char message[MESSAGE_SIZE];
} heddle_png_reader;

// --- what libpng calls ----------------------------------------------------------------------------------------------

static void on_read_error(png_struct *png, const char *message)
{
    heddle_png_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    longjmp(reader->failed, 1);
}

static void on_warning(png_struct *png, const char *message)
{
    (void)png, (void)message; // what can still be shown is shown
}

static void on_read(png_struct *png, png_byte *to, size_t bytes)
{
    heddle_png_reader *reader = png_get_io_ptr(png);
    if (bytes > reader->size - reader->position)
        png_error(png, "the file ends early");
    memcpy(to, reader->content + reader->position, bytes);
    reader->position += bytes;
}

// --- reading --------------------------------------------------------------------------------------------------------

static heddle_status start_reader(const char *what, heddle_png_reader *reader)
{
    if (reader->size < SIGNATURE_BYTES || png_sig_cmp(reader->content, 0, SIGNATURE_BYTES) != 0)
        return heddle_fail(HEDDLE_CORRUPT, "%s is not a PNG file", what);
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_read_error, on_warning);
    reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
    if (!reader->info)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", what);
    return HEDDLE_OK;
}

static void read_header(heddle_png_reader *reader)
{
    png_struct *png = reader->png;
    png_set_read_fn(png, reader, on_read);
    png_set_user_limits(png, INT_MAX, INT_MAX); // ours is on the product
    png_set_chunk_malloc_max(png, MAX_CHUNK_BYTES);
    png_read_info(png, reader->info);
    reader->width = png_get_image_width(png, reader->info);
    reader->height = png_get_image_height(png, reader->info);

    png_set_expand(png); // palette and few bits to 8, transparent colour to alpha
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, OPAQUE, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
}

static heddle_status check_size(const char *what, const heddle_png_reader *reader)
{
    HEDDLE_TRY(heddle_picture_check_size(what, reader->width, reader->height));
    uint64_t row_bits = (uint64_t)reader->width * png_get_bit_depth(reader->png, reader->info) *
                        png_get_channels(reader->png, reader->info);
    if (row_bits / 8 * reader->height / MAX_INFLATION > reader->size)
        return heddle_fail(HEDDLE_CORRUPT, "%s: the header says %lu×%lu pixels, too many for a file of %zu bytes", what,
                           (unsigned long)reader->width, (unsigned long)reader->height, reader->size);
    return HEDDLE_OK;
}

static heddle_status make_rows(const char *what, heddle_png_reader *reader)
{
    size_t row = (size_t)reader->width * RGBA;
    reader->rgba = calloc(reader->height, row); // zeroed: a partial image must not show old memory
    reader->rows = calloc(reader->height, sizeof *reader->rows);
    if (!reader->rgba || !reader->rows)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for %lu×%lu pixels", what,
                           (unsigned long)reader->width, (unsigned long)reader->height);
    for (png_uint_32 y = 0; y < reader->height; y++)
        reader->rows[y] = reader->rgba + y * row;
    return HEDDLE_OK;
}

static void read_pixels(heddle_png_reader *reader)
{
    png_read_update_info(reader->png, reader->info);
    if (png_get_rowbytes(reader->png, reader->info) != (size_t)reader->width * RGBA)
        png_error(reader->png, "unexpected row size");
    png_read_image(reader->png, reader->rows);
    png_read_end(reader->png, NULL);
}

// Runs one libpng step; its longjmp lands here, so nothing below keeps a variable across it.
static heddle_status guarded(const char *what, heddle_png_reader *reader, void (*step)(heddle_png_reader *))
{
    if (setjmp(reader->failed))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the PNG is corrupt: %s", what, reader->message);
    step(reader);
    return HEDDLE_OK;
}

static uint8_t blend(unsigned value, unsigned alpha, unsigned background)
{
    return (uint8_t)((value * alpha + background * (OPAQUE - alpha) + OPAQUE / 2) / OPAQUE);
}

// The background of transparent pixels: white, as on paper, unless the drawing is light and would vanish on it. Dark
// ink on its own light paper counts as dark.
static unsigned choose_background(const heddle_png_reader *reader)
{
    enum { DARK = 64, LIGHT = 128, LEAST_INK = 64 }; // ink is at least 1/64 of what is drawn
    size_t pixels = (size_t)reader->width * reader->height;
    uint64_t drawn = 0, dark = 0, brightness = 0;
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *pixel = reader->rgba + i * RGBA;
        uint64_t alpha = pixel[3];
        drawn += alpha;
        brightness += alpha * heddle_luma(pixel);
        dark += heddle_luma(pixel) < DARK ? alpha : 0;
    }
    return brightness > LIGHT * drawn && dark * LEAST_INK < drawn ? 0 : OPAQUE;
}

static heddle_status convert(const char *what, const heddle_png_reader *reader, int channels, heddle_picture *picture)
{
    size_t pixels = (size_t)reader->width * reader->height;
    uint8_t *to = malloc(pixels * (size_t)channels);
    if (!to)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for %zu pixels", what, pixels);
    const unsigned background = choose_background(reader);
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *from = reader->rgba + i * RGBA;
        uint8_t rgb[3];
        for (int c = 0; c < 3; c++)
            rgb[c] = blend(from[c], from[3], background);
        if (channels == 1)
            to[i] = heddle_luma(rgb);
        else
            memcpy(to + 3 * i, rgb, sizeof rgb);
    }
    *picture = (heddle_picture){
        .width = (int)reader->width, .height = (int)reader->height, .channels = channels, .pixels = to};
    return HEDDLE_OK;
}

static heddle_status open_reader(const char *what, heddle_png_reader *reader)
{
    HEDDLE_TRY(start_reader(what, reader));
    HEDDLE_TRY(guarded(what, reader, read_header));
    return check_size(what, reader);
}

static heddle_status read_all(const char *what, heddle_png_reader *reader, int channels, heddle_picture *picture)
{
    HEDDLE_TRY(open_reader(what, reader));
    HEDDLE_TRY(make_rows(what, reader));
    HEDDLE_TRY(guarded(what, reader, read_pixels));
    return convert(what, reader, channels, picture);
}

static heddle_status make_reader(const char *what, const void *content, size_t size, heddle_png_reader **reader)
{
    *reader = calloc(1, sizeof **reader);
    if (!*reader)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", what);
    (*reader)->content = content;
    (*reader)->size = size;
    return HEDDLE_OK;
}

static void free_reader(heddle_png_reader *reader)
{
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader->rows);
    free(reader->rgba);
    free(reader);
}

heddle_status heddle_png_parse(const char *what, const void *content, size_t size, int channels,
                               heddle_picture *picture)
{
    *picture = (heddle_picture){0};
    HEDDLE_TRY(heddle_picture_check_channels(what, channels));
    heddle_png_reader *reader;
    HEDDLE_TRY(make_reader(what, content, size, &reader));
    heddle_status status = read_all(what, reader, channels, picture);
    free_reader(reader);
    return status;
}

heddle_status heddle_png_measure(const char *what, const void *content, size_t size, heddle_picture_info *info)
{
    *info = (heddle_picture_info){0};
    heddle_png_reader *reader;
    HEDDLE_TRY(make_reader(what, content, size, &reader));
    heddle_status status = open_reader(what, reader);
    if (status == HEDDLE_OK)
        *info = (heddle_picture_info){
            .width = (int)reader->width,
            .height = (int)reader->height,
            .grey = !(png_get_color_type(reader->png, reader->info) & PNG_COLOR_MASK_COLOR),
        };
    free_reader(reader);
    return status;
}

// --- writing --------------------------------------------------------------------------------------------------------

typedef struct heddle_png_writer {
    uint8_t *content;
    size_t size, room;
    png_struct *png;
    png_info *info;
    const heddle_picture *picture;
    jmp_buf failed;
    char message[MESSAGE_SIZE];
} heddle_png_writer;

static void on_write_error(png_struct *png, const char *message)
{
    heddle_png_writer *writer = png_get_error_ptr(png);
    snprintf(writer->message, sizeof writer->message, "%s", message);
    longjmp(writer->failed, 1);
}

static void on_write(png_struct *png, png_byte *from, size_t bytes)
{
    heddle_png_writer *writer = png_get_io_ptr(png);
    if (bytes > writer->room - writer->size) {
        size_t room = 2 * (writer->room + bytes);
        uint8_t *grown = realloc(writer->content, room);
        if (!grown)
            png_error(png, "out of memory");
        writer->content = grown;
        writer->room = room;
    }
    memcpy(writer->content + writer->size, from, bytes);
    writer->size += bytes;
}

static void on_flush(png_struct *png)
{
    (void)png;
}

static void write_picture(heddle_png_writer *writer)
{
    const heddle_picture *picture = writer->picture;
    size_t row = (size_t)picture->width * (size_t)picture->channels;
    png_set_write_fn(writer->png, writer, on_write, on_flush);
    png_set_IHDR(writer->png, writer->info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8,
                 picture->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer->png, writer->info);
    for (int y = 0; y < picture->height; y++)
        png_write_row(writer->png, picture->pixels + (size_t)y * row);
    png_write_end(writer->png, writer->info);
}

static bool guarded_write(heddle_png_writer *writer)
{
    if (setjmp(writer->failed))
        return false;
    write_picture(writer);
    return true;
}

heddle_status heddle_png_write(const char *path, const heddle_picture *picture)
{
    if (picture->width <= 0 || picture->height <= 0 || (picture->channels != 1 && picture->channels != 3) ||
        !picture->pixels)
        return heddle_fail(HEDDLE_INVALID, "%s: cannot write an image of %d×%d pixels and %d channels", path,
                           picture->width, picture->height, picture->channels);
    heddle_png_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write it", path);
    writer->picture = picture;
    writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, on_write_error, on_warning);
    writer->info = writer->png ? png_create_info_struct(writer->png) : NULL;

    heddle_status status;
    if (!writer->info)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write it", path);
    else if (!guarded_write(writer))
        status = heddle_fail(HEDDLE_IO, "%s: libpng cannot write it: %s", path, writer->message);
    else
        status = heddle_file_write_atomic(path, &(heddle_slice){writer->content, writer->size}, 1);
    png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->content);
    free(writer);
    return status;
}

#else // without libpng

static heddle_status missing(const char *what)
{
    return heddle_fail(HEDDLE_MISSING, "%s: heddle was built without libpng; install libpng-dev and rebuild", what);
}

heddle_status heddle_png_parse(const char *what, const void *content, size_t size, int channels,
                               heddle_picture *picture)
{
    (void)content, (void)size, (void)channels;
    *picture = (heddle_picture){0};
    return missing(what);
}

heddle_status heddle_png_measure(const char *what, const void *content, size_t size, heddle_picture_info *info)
{
    (void)content, (void)size;
    *info = (heddle_picture_info){0};
    return missing(what);
}

heddle_status heddle_png_write(const char *path, const heddle_picture *picture)
{
    (void)picture;
    return missing(path);
}

#endif
