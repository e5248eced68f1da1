// Images of requests: everything here may come from a stranger.

#include "serve/images.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "io/png.h"

enum { SAID_SIZE = 256, BITS_OF_DIGIT = 6, BITS_OF_BYTE = 8, MOST_SIDE = 2048 };

static const double brightest = 255;

// --- base64 ----------------------------------------------------------------------------------------------------------

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_of(char letter)
{
    const char *found = letter ? strchr(digits, letter) : NULL;
    return found ? (int)(found - digits) : -1;
}

heddle_status heddle_serve_base64_read(const char *text, uint8_t **bytes, size_t *size)
{
    const size_t length = strlen(text);
    size_t count = length;
    unsigned held = 0;
    int bits = 0;
    *size = 0;
    *bytes = NULL;
    while (count > 0 && text[count - 1] == '=' && length - count < 2)
        count--;
    if (length % 4 != 0 || count == 0)
        return heddle_fail(HEDDLE_CORRUPT, "this is not base64: its length must be a multiple of 4, and not 0");
    uint8_t *read = malloc(length / 4 * 3 + 1);
    if (!read)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an image");
    for (size_t i = 0; i < count; i++) {
        const int digit = digit_of(text[i]);
        if (digit < 0) {
            free(read);
            return heddle_fail(HEDDLE_CORRUPT, "this is not base64: character %zu is not one of it", i + 1);
        }
        held = held << BITS_OF_DIGIT | (unsigned)digit;
        bits += BITS_OF_DIGIT;
        if (bits >= BITS_OF_BYTE) {
            bits -= BITS_OF_BYTE;
            read[(*size)++] = (uint8_t)(held >> bits);
        }
    }
    *bytes = read;
    return HEDDLE_OK;
}

char *heddle_serve_base64_write(const uint8_t *bytes, size_t size)
{
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned held = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        *to++ = digits[held >> 18];
        *to++ = digits[held >> 12 & 63];
        *to++ = left > 1 ? digits[held >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[held & 63] : '=';
    }
    *to = '\0';
    return text;
}

// --- images ----------------------------------------------------------------------------------------------------------

static heddle_status read_numbers(const cJSON *list, const heddle_prepare_options *wanted, int index, float *pixels)
{
    const size_t expected = (size_t)wanted->channels * (size_t)wanted->height * (size_t)wanted->width;
    size_t count = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, list)
    {
        if (count == expected)
            break;
        if (!cJSON_IsNumber(one) || !(one->valuedouble >= 0) || !(one->valuedouble <= brightest))
            return heddle_fail(HEDDLE_INVALID, "image %d, pixel %zu: expected a number from 0 to 255", index, count);
        pixels[count++] = (float)(one->valuedouble / brightest);
    }
    if (count == expected && !one)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "image %d has %d numbers, but the network takes %d×%d×%d, %zu numbers", index,
                       cJSON_GetArraySize(list), wanted->channels, wanted->height, wanted->width, expected);
}

static heddle_status take_picture(const heddle_picture *picture, const heddle_prepare_options *wanted, float *pixels)
{
    char said[SAID_SIZE];
    const size_t area = (size_t)wanted->height * (size_t)wanted->width, channels = (size_t)wanted->channels;
    if (picture->height != wanted->height || picture->width != wanted->width)
        return heddle_prepare(picture->pixels, picture->height, picture->width, wanted, pixels, said, sizeof said);
    for (size_t i = 0; i < area; i++)
        for (size_t c = 0; c < channels; c++)
            pixels[c * area + i] = (float)(picture->pixels[i * channels + c] / brightest);
    return HEDDLE_OK;
}

// What is read of one request, and how many pixels its PNGs may still have.
typedef struct reading {
    const heddle_prepare_options *wanted;
    int64_t left;
    bool too_large;
} reading;

// Small files may hold huge pictures, which take long to read.
static heddle_status parse_png(const uint8_t *bytes, size_t size, reading *request, heddle_picture *picture)
{
    heddle_picture_info info;
    HEDDLE_TRY(heddle_png_measure("the PNG", bytes, size, &info));
    if (info.width > MOST_SIDE || info.height > MOST_SIDE)
        return heddle_fail(HEDDLE_INVALID, "a PNG of %d×%d; send one of at most %d×%d", info.width, info.height,
                           MOST_SIDE, MOST_SIDE);
    request->left -= (int64_t)info.width * info.height;
    request->too_large = request->left < 0;
    if (request->too_large)
        return heddle_fail(HEDDLE_INVALID,
                           "the PNGs of one request have more than %d pixels; send fewer or smaller ones",
                           HEDDLE_SERVE_MOST_PIXELS);
    return heddle_png_parse("the PNG", bytes, size, request->wanted->channels, picture);
}

static heddle_status read_png(const char *text, reading *request, int index, float *pixels)
{
    const heddle_prepare_options *wanted = request->wanted;
    static const char address[] = "data:image/png;base64,"; // what a canvas gives
    heddle_picture picture = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (wanted->channels != 1 && wanted->channels != 3)
        return heddle_fail(HEDDLE_UNSUPPORTED, "the network takes %d channels, and a PNG has 1 or 3: send numbers",
                           wanted->channels);
    if (strncmp(text, address, strlen(address)) == 0)
        text += strlen(address);
    heddle_status status = heddle_serve_base64_read(text, &bytes, &size);
    if (status == HEDDLE_OK)
        status = parse_png(bytes, size, request, &picture);
    free(bytes);
    if (status == HEDDLE_OK)
        status = take_picture(&picture, wanted, pixels);
    heddle_picture_free(&picture);
    return status == HEDDLE_OK ? status : heddle_fail_within(status, "image %d", index);
}

static heddle_status read_one(const cJSON *image, reading *request, int index, float *pixels)
{
    if (cJSON_IsArray(image))
        return read_numbers(image, request->wanted, index, pixels);
    if (cJSON_IsString(image))
        return read_png(image->valuestring, request, index, pixels);
    return heddle_fail(HEDDLE_INVALID, "image %d must be a list of numbers, or a PNG as base64 text", index);
}

heddle_status heddle_serve_images_read(const cJSON *request, const heddle_prepare_options *wanted,
                                       heddle_serve_images *images)
{
    const cJSON *single = cJSON_GetObjectItemCaseSensitive(request, "image");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(request, "images");
    reading state = {.wanted = wanted, .left = HEDDLE_SERVE_MOST_PIXELS};
    *images = (heddle_serve_images){.channels = wanted->channels, .height = wanted->height, .width = wanted->width};
    if (!single == !list || (list && !cJSON_IsArray(list)))
        return heddle_fail(HEDDLE_INVALID, "expected {\"image\": IMAGE} or {\"images\": [IMAGE, ...]}");
    const int count = single ? 1 : cJSON_GetArraySize(list);
    if (count < 1 || count > HEDDLE_SERVE_MOST_IMAGES)
        return heddle_fail(HEDDLE_INVALID, "%d images in one request; send 1 to %d", count, HEDDLE_SERVE_MOST_IMAGES);
    const size_t area = (size_t)wanted->channels * (size_t)wanted->height * (size_t)wanted->width;
    images->too_large = count > 1 && (size_t)count > HEDDLE_SERVE_MOST_NUMBERS / area;
    if (images->too_large)
        return heddle_fail(HEDDLE_INVALID, "%d images of %zu numbers in one request; send at most %zu", count, area,
                           area < HEDDLE_SERVE_MOST_NUMBERS ? HEDDLE_SERVE_MOST_NUMBERS / area : 1);
    float *read = calloc((size_t)count * area, sizeof *read);
    if (!read)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d images", count);
    heddle_status status = HEDDLE_OK;
    for (const cJSON *one = single ? single : list->child; one && status == HEDDLE_OK;
         one = single ? NULL : one->next) {
        status = read_one(one, &state, images->count, read + (size_t)images->count * area);
        images->count++;
    }
    images->too_large = state.too_large;
    if (status == HEDDLE_OK)
        images->pixels = read;
    else
        free(read);
    return status;
}
