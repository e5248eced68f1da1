// JPEG files for tests, written with libjpeg.
#ifndef HEDDLE_TESTS_JPEG_FILES_H
#define HEDDLE_TESTS_JPEG_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

typedef struct jpeg_kind {
    int width, height;
    J_COLOR_SPACE colors; // JCS_GRAYSCALE, JCS_RGB or JCS_CMYK: of `pixels` (height, width, 1, 3 or 4)
    bool progressive, arithmetic;
    int restart; // MCUs between restart markers; 0: none
} jpeg_kind;

// Best quality and no subsampling, so that what is read differs little. The caller frees the content.
static inline uint8_t *jpeg_build(const jpeg_kind *kind, const uint8_t *pixels, size_t *size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors; // its error_exit ends the test
    unsigned char *content = NULL;
    unsigned long bytes = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &content, &bytes);
    jpeg.image_width = (JDIMENSION)kind->width;
    jpeg.image_height = (JDIMENSION)kind->height;
    jpeg.in_color_space = kind->colors;
    jpeg.input_components = kind->colors == JCS_CMYK ? 4 : kind->colors == JCS_RGB ? 3 : 1;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    for (int c = 0; c < jpeg.num_components; c++)
        jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
    jpeg.arith_code = kind->arithmetic;
    jpeg.restart_interval = (unsigned)kind->restart;
    if (kind->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    size_t row = (size_t)kind->width * (size_t)jpeg.input_components;
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW line = (JSAMPROW)(uintptr_t)(pixels + jpeg.next_scanline * row);
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = bytes;
    return content;
}

#endif
