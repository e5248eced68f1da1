// Scaling, one axis after the other. What a pixel takes of each source pixel is a weight in 1/65536ths, the same for
// all lines, so that it is worked out once for each axis.

#include "data/scale.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    WEIGHT_BITS = 16,
    WEIGHT_ONE = 1 << WEIGHT_BITS,
    KEPT_BITS = 8, // fractional bits between the two passes
};

// What one pixel of the result is made of.
typedef struct heddle_taps {
    int first, count; // source pixels
    size_t weights;   // index of the first one's weight
} heddle_taps;

typedef struct heddle_axis {
    heddle_taps *taps; // one per pixel of the result
    uint32_t *weights;
} heddle_axis;

// Pixel `at` of `to` covers the source from at * from to (at + 1) * from, in units of 1/to of a source pixel. Weights
// are differences of rounded running sums, so that they add up to one exactly.
static void take_area(heddle_taps *taps, uint32_t *weights, int at, int from, int to)
{
    uint64_t begin = (uint64_t)at * (uint64_t)from, end = begin + (uint64_t)from;
    taps->first = (int)(begin / (uint64_t)to);
    taps->count = 0;
    uint64_t before = 0;
    for (uint64_t pixel = (uint64_t)taps->first; pixel * (uint64_t)to < end; pixel++) {
        uint64_t reach = (pixel + 1) * (uint64_t)to < end ? (pixel + 1) * (uint64_t)to : end;
        uint64_t sum = (reach - begin) * WEIGHT_ONE / (uint64_t)from;
        weights[taps->count++] = (uint32_t)(sum - before);
        before = sum;
    }
}

// Between the two source pixels whose centres are nearest; beyond the outermost centres, that pixel alone.
static void take_between(heddle_taps *taps, uint32_t *weights, int at, int from, int to)
{
    int64_t place = (2 * (int64_t)at + 1) * from - to; // in units of 1 / (2 * to) source pixels, from the first centre
    int64_t first = place < 0 ? 0 : place / (2 * (int64_t)to);
    bool alone = place < 0 || first >= from - 1;
    *taps = (heddle_taps){.first = alone && first > 0 ? from - 1 : (int)first, .count = alone ? 1 : 2};
    uint32_t second = alone ? 0 : (uint32_t)((place - first * 2 * to) * WEIGHT_ONE / (2 * (int64_t)to));
    weights[0] = WEIGHT_ONE - second;
    if (!alone)
        weights[1] = second;
}

static heddle_status make_axis(int from, int to, heddle_axis *axis)
{
    axis->taps = calloc((size_t)to, sizeof *axis->taps);
    axis->weights = calloc((size_t)from + 2 * (size_t)to, sizeof *axis->weights);
    if (!axis->taps || !axis->weights)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to scale %d pixels to %d", from, to);
    size_t used = 0;
    for (int at = 0; at < to; at++) {
        (from >= to ? take_area : take_between)(&axis->taps[at], axis->weights + used, at, from, to);
        axis->taps[at].weights = used;
        used += (size_t)axis->taps[at].count;
    }
    return HEDDLE_OK;
}

// pixels (rows, cols, channels) → lines (channels, rows, width), with KEPT_BITS more.
static void scale_columns(const heddle_axis *axis, const uint8_t *pixels, int rows, int cols, int channels,
                          uint16_t *lines, int width)
{
    for (int channel = 0; channel < channels; channel++)
        for (int row = 0; row < rows; row++) {
            const uint8_t *from = pixels + ((size_t)row * (size_t)cols) * (size_t)channels + channel;
            uint16_t *to = lines + ((size_t)channel * (size_t)rows + (size_t)row) * (size_t)width;
            for (int col = 0; col < width; col++) {
                const heddle_taps *taps = &axis->taps[col];
                uint32_t sum = 0;
                for (int i = 0; i < taps->count; i++)
                    sum += axis->weights[taps->weights + (size_t)i] *
                           from[((size_t)taps->first + (size_t)i) * (size_t)channels];
                to[col] = (uint16_t)(sum >> (WEIGHT_BITS - KEPT_BITS));
            }
        }
}

static void scale_rows(const heddle_axis *axis, const uint16_t *lines, int rows, int channels, uint8_t *planes,
                       int height, int width)
{
    const uint32_t half = 1u << (WEIGHT_BITS + KEPT_BITS - 1);
    for (int channel = 0; channel < channels; channel++)
        for (int row = 0; row < height; row++) {
            const heddle_taps *taps = &axis->taps[row];
            uint8_t *to = planes + ((size_t)channel * (size_t)height + (size_t)row) * (size_t)width;
            for (int col = 0; col < width; col++) {
                uint32_t sum = half;
                for (int i = 0; i < taps->count; i++) {
                    size_t line = (size_t)channel * (size_t)rows + (size_t)taps->first + (size_t)i;
                    sum += axis->weights[taps->weights + (size_t)i] * lines[line * (size_t)width + (size_t)col];
                }
                to[col] = (uint8_t)(sum >> (WEIGHT_BITS + KEPT_BITS));
            }
        }
}

heddle_status heddle_scale(const uint8_t *pixels, int rows, int cols, int channels, uint8_t *planes, int height,
                           int width)
{
    if (rows < 1 || cols < 1 || channels < 1 || height < 1 || width < 1)
        return heddle_fail(HEDDLE_INVALID, "an image of %d×%d pixels and %d channels cannot be scaled to %d×%d", cols,
                           rows, channels, width, height);
    heddle_axis across = {0}, down = {0};
    uint16_t *lines = calloc((size_t)channels * (size_t)rows, (size_t)width * sizeof *lines);
    if (!lines)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to scale a %d×%d image", cols, rows);
    heddle_status status = make_axis(cols, width, &across);
    if (status == HEDDLE_OK)
        status = make_axis(rows, height, &down);
    if (status == HEDDLE_OK) {
        scale_columns(&across, pixels, rows, cols, channels, lines, width);
        scale_rows(&down, lines, rows, channels, planes, height, width);
    }
    free(lines);
    free(across.taps);
    free(across.weights);
    free(down.taps);
    free(down.weights);
    return status;
}
