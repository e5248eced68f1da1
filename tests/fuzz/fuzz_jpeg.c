// Any bytes as a JPEG file, measured and read as gray and as RGB. What parses must be wholly readable.

#include "fuzz.h"
#include "io/jpeg.h"

// A few bytes can claim millions of pixels, and decoding them takes a second under sanitizers: of the inputs that claim
// more than MOST_PIXELS, one in LARGE_PERIOD is decoded, by its last byte.
enum { MOST_PIXELS = 1 << 16, LARGE_PERIOD = 32 };

static volatile unsigned sink; // so that reading is not optimised away

static void parse(const uint8_t *data, size_t size, int channels)
{
    heddle_picture picture;
    heddle_picture_info info;
    heddle_status measured = heddle_jpeg_measure("fuzz", data, size, &info);
    if (measured == HEDDLE_OK && (int64_t)info.width * info.height > MOST_PIXELS && data[size - 1] % LARGE_PERIOD != 0)
        return;
    if (heddle_jpeg_parse("fuzz", data, size, channels, &picture) != HEDDLE_OK) {
        FUZZ_CHECK(!picture.pixels);
        return;
    }
    FUZZ_CHECK(measured == HEDDLE_OK && info.width == picture.width && info.height == picture.height);
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
