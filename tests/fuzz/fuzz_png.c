// Any bytes as a PNG file, read as gray and as RGB. What parses must be wholly readable.

#include "fuzz.h"
#include "io/png.h"

static volatile unsigned sink; // so that reading is not optimised away

static void parse(const uint8_t *data, size_t size, int channels)
{
    heddle_picture picture;
    if (heddle_png_parse("fuzz", data, size, channels, &picture) != HEDDLE_OK) {
        FUZZ_CHECK(!picture.pixels);
        return;
    }
    size_t bytes = (size_t)picture.width * (size_t)picture.height * (size_t)channels;
    for (size_t i = 0; i < bytes; i++)
        sink += picture.pixels[i];
    heddle_picture_free(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size, 1);
    parse(data, size, 3);
    return 0;
}
