// JPEG through libjpeg-turbo. Its errors arrive by longjmp and leave as a status. What it only warns of, it fills with
// gray: here damaged and truncated data is an error, so that a picture is read whole or not at all.

#include "io/jpeg.h"

#ifdef HEDDLE_HAVE_JPEG

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum {
    MAX_SCANS = 1000,      // of a progressive file: each of them goes over the whole picture
    MAX_MEMORY = 1 << 30,  // of libjpeg's coefficients, in bytes
    LEAST_BLOCK = 32 * 32, // pixels that a file spends at least one bit on: 8×8 coefficients, subsampled 4×4
    CMYK = 4,
    BYTE_MAX = 255,
};

typedef struct heddle_jpeg_reader {
    struct jpeg_decompress_struct jpeg; // its client_data is this reader
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    const uint8_t *content;
    size_t size;
    int channels;
    uint8_t *pixels; // (height, width, channels)
    uint8_t *line;   // one line as libjpeg gives it
    jmp_buf failed;
    char message[JMSG_LENGTH_MAX];
} heddle_jpeg_reader;

// --- what libjpeg calls ---------------------------------------------------------------------------------------------

static void on_error(j_common_ptr jpeg)
{
    heddle_jpeg_reader *reader = jpeg->client_data;
    jpeg->err->format_message(jpeg, reader->message);
    longjmp(reader->failed, 1);
}

// Levels below 0 are warnings. Some are of no consequence to the picture.
static void on_message(j_common_ptr jpeg, int level)
{
    int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR)
        on_error(jpeg);
}

static void on_output(j_common_ptr jpeg)
{
    (void)jpeg; // a library does not print
}

static void on_progress(j_common_ptr jpeg)
{
    heddle_jpeg_reader *reader = jpeg->client_data;
    if (reader->jpeg.input_scan_number <= MAX_SCANS)
        return;
    snprintf(reader->message, sizeof reader->message, "more than %d scans", MAX_SCANS);
    longjmp(reader->failed, 1);
}

// --- reading --------------------------------------------------------------------------------------------------------

static void read_header(heddle_jpeg_reader *reader)
{
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->progress = &reader->progress;
    jpeg->mem->max_memory_to_use = MAX_MEMORY;
    jpeg_mem_src(jpeg, reader->content, (unsigned long)reader->size);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK)
        jpeg->out_color_space = JCS_CMYK;
    else
        jpeg->out_color_space = jpeg->jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
}

// Adobe's programs store CMYK inverted, and nearly all such files are theirs.
static void cmyk_to_rgb(const uint8_t cmyk[CMYK], bool inverted, uint8_t rgb[3])
{
    unsigned black = inverted ? cmyk[3] : BYTE_MAX - cmyk[3];
    for (int c = 0; c < 3; c++) {
        unsigned value = inverted ? cmyk[c] : BYTE_MAX - cmyk[c];
        rgb[c] = (uint8_t)((value * black + BYTE_MAX / 2) / BYTE_MAX);
    }
}

static void convert_line(const heddle_jpeg_reader *reader, uint8_t *to)
{
    const struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    const int stride = jpeg->output_components;
    for (JDIMENSION x = 0; x < jpeg->output_width; x++) {
        const uint8_t *from = reader->line + (size_t)x * (size_t)stride;
        uint8_t rgb[3] = {from[0], from[0], from[0]};
        if (stride == CMYK)
            cmyk_to_rgb(from, jpeg->saw_Adobe_marker, rgb);
        else if (stride == 3)
            memcpy(rgb, from, sizeof rgb);
        if (reader->channels == 1)
            to[x] = stride == 1 ? from[0] : heddle_luma(rgb);
        else
            memcpy(to + 3 * (size_t)x, rgb, sizeof rgb);
    }
}

static void read_lines(heddle_jpeg_reader *reader)
{
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    jpeg_start_decompress(jpeg);
    size_t row = (size_t)jpeg->output_width * (size_t)reader->channels;
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *to = reader->pixels + (size_t)jpeg->output_scanline * row;
        jpeg_read_scanlines(jpeg, &reader->line, 1);
        convert_line(reader, to);
    }
    jpeg_finish_decompress(jpeg);
}

// Runs one step of libjpeg; its longjmp lands here, so nothing below keeps a variable across it.
static heddle_status guarded(const char *what, heddle_jpeg_reader *reader, void (*step)(heddle_jpeg_reader *))
{
    if (setjmp(reader->failed))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the JPEG is corrupt: %s", what, reader->message);
    step(reader);
    return HEDDLE_OK;
}

static heddle_status check_size(const char *what, const heddle_jpeg_reader *reader)
{
    const struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    HEDDLE_TRY(heddle_picture_check_size(what, jpeg->image_width, jpeg->image_height));
    size_t least = (size_t)jpeg->image_width * jpeg->image_height / LEAST_BLOCK / CHAR_BIT;
    if (!jpeg->arith_code && least > reader->size)
        return heddle_fail(HEDDLE_CORRUPT, "%s: the header says %u×%u pixels, too many for a file of %zu bytes", what,
                           jpeg->image_width, jpeg->image_height, reader->size);
    return HEDDLE_OK;
}

static heddle_status open_reader(const char *what, const void *content, size_t size, heddle_jpeg_reader **made)
{
    heddle_jpeg_reader *reader = *made = calloc(1, sizeof *reader);
    if (!reader)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", what);
    reader->content = content;
    reader->size = size;
    reader->jpeg.err = jpeg_std_error(&reader->errors);
    reader->jpeg.client_data = reader;
    reader->errors.error_exit = on_error;
    reader->errors.emit_message = on_message;
    reader->errors.output_message = on_output;
    reader->progress.progress_monitor = on_progress;
    if (size < 2 || ((const uint8_t *)content)[0] != 0xff || ((const uint8_t *)content)[1] != 0xd8)
        return heddle_fail(HEDDLE_CORRUPT, "%s is not a JPEG file", what);
    HEDDLE_TRY(guarded(what, reader, read_header));
    return check_size(what, reader);
}

static void close_reader(heddle_jpeg_reader *reader)
{
    if (!reader)
        return;
    jpeg_destroy_decompress(&reader->jpeg);
    free(reader->pixels);
    free(reader->line);
    free(reader);
}

static heddle_status read_pixels(const char *what, heddle_jpeg_reader *reader, int channels, heddle_picture *picture)
{
    const size_t width = reader->jpeg.image_width, height = reader->jpeg.image_height;
    reader->channels = channels;
    reader->line = malloc(width * CMYK);
    reader->pixels = malloc(width * height * (size_t)channels);
    if (!reader->line || !reader->pixels)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for %zu×%zu pixels", what, width, height);
    HEDDLE_TRY(guarded(what, reader, read_lines));
    *picture = (heddle_picture){(int)width, (int)height, channels, reader->pixels};
    reader->pixels = NULL;
    return HEDDLE_OK;
}

heddle_status heddle_jpeg_parse(const char *what, const void *content, size_t size, int channels,
                                heddle_picture *picture)
{
    *picture = (heddle_picture){0};
    HEDDLE_TRY(heddle_picture_check_channels(what, channels));
    heddle_jpeg_reader *reader;
    heddle_status status = open_reader(what, content, size, &reader);
    if (status == HEDDLE_OK)
        status = read_pixels(what, reader, channels, picture);
    close_reader(reader);
    return status;
}

heddle_status heddle_jpeg_measure(const char *what, const void *content, size_t size, heddle_picture_info *info)
{
    *info = (heddle_picture_info){0};
    heddle_jpeg_reader *reader;
    heddle_status status = open_reader(what, content, size, &reader);
    if (status == HEDDLE_OK)
        *info = (heddle_picture_info){
            .width = (int)reader->jpeg.image_width,
            .height = (int)reader->jpeg.image_height,
            .grey = reader->jpeg.jpeg_color_space == JCS_GRAYSCALE,
        };
    close_reader(reader);
    return status;
}

#else // without libjpeg

static heddle_status missing(const char *what)
{
    return heddle_fail(HEDDLE_MISSING, "%s: heddle was built without libjpeg; install libjpeg-dev and rebuild", what);
}

heddle_status heddle_jpeg_parse(const char *what, const void *content, size_t size, int channels,
                                heddle_picture *picture)
{
    (void)content, (void)size, (void)channels;
    *picture = (heddle_picture){0};
    return missing(what);
}

heddle_status heddle_jpeg_measure(const char *what, const void *content, size_t size, heddle_picture_info *info)
{
    (void)content, (void)size;
    *info = (heddle_picture_info){0};
    return missing(what);
}

#endif
