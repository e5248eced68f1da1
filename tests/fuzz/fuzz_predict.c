// Any bytes as the body of /v1/predict, for an image of a few pixels. What is read without a JSON tree must be what the
// JSON reader gives, to the last bit; and whatever that one takes has the size it says.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "serve/images.h"
#include "serve/scan.h"
#include "web/request.h"

enum { MOST_SIDE = 3 };

// A zero byte stands behind the text, as behind every body.
static bool scan(const char *text, size_t size, float *pixels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pixels[i] = -1;
    if (!heddle_serve_scan(text, size, pixels, count))
        return false;
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(pixels[i] >= 0 && pixels[i] <= 1);
    return true;
}

static void check_images(const heddle_serve_images *images, size_t count)
{
    FUZZ_CHECK(images->count >= 1 && images->count <= HEDDLE_SERVE_MOST_IMAGES && !images->too_large);
    for (size_t i = 0; i < (size_t)images->count * count; i++)
        FUZZ_CHECK(images->pixels[i] >= 0 && images->pixels[i] <= 1);
}

static void check_base64(const char *text)
{
    uint8_t *bytes = NULL, *again = NULL;
    size_t size = 0, size_again = 0;
    if (heddle_serve_base64_read(text, &bytes, &size) != HEDDLE_OK) {
        FUZZ_CHECK(!bytes);
        return;
    }
    char *written = heddle_serve_base64_write(bytes, size);
    if (written && size > 0) { // "A===" has none
        FUZZ_CHECK(heddle_serve_base64_read(written, &again, &size_again) == HEDDLE_OK);
        FUZZ_CHECK(size_again == size && memcmp(bytes, again, size) == 0);
    }
    free(written);
    free(again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const heddle_prepare_options wanted = {
        .channels = data[0] & 4 ? 3 : 1, .height = 1 + data[0] / 8 % MOST_SIDE, .width = 1 + data[0] % 4 % MOST_SIDE};
    const size_t count = (size_t)wanted.channels * (size_t)wanted.height * (size_t)wanted.width;
    char *text = calloc(size, 1);
    float *pixels = calloc(count, sizeof *pixels);
    heddle_serve_images images = {0};
    cJSON *json = NULL;
    if (!text || !pixels) {
        free(text);
        free(pixels);
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    const bool scanned = scan(text, size - 1, pixels, count);
    bool read = heddle_web_json_read(text, size - 1, &json) == HEDDLE_OK &&
                heddle_serve_images_read(json, &wanted, &images) == HEDDLE_OK;
    if (read)
        check_images(&images, count);
    if (scanned)
        FUZZ_CHECK(read && images.count == 1 && memcmp(images.pixels, pixels, count * sizeof *pixels) == 0);
    FUZZ_CHECK(read || !images.pixels);
    check_base64(text);
    free(images.pixels);
    cJSON_Delete(json);
    free(pixels);
    free(text);
    return 0;
}
