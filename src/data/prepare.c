// Brings a picture to a network's input. One that has the right size already only gets the right background, and one
// for images without a background is only scaled, as a folder of image files is. Everything else is done on a dark
// background; for a network trained on a light one the result is inverted at the end.

#include "data/prepare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/scale.h"

enum { MOST_BYTE = 255, MOST_MEASURED = 1000 }; // images that the extent is measured by

// Ink fainter than this part of the strongest does not count towards the box around it.
static const float INK_THRESHOLD = 0.2F;
// Borders darker than this part, or lighter than the rest, make a background; between, pictures fill their frame.
static const double BACKGROUND_PART = 0.25;
// MNIST's digits fill 20 of 28 pixels; taken for what a checkpoint of an earlier version does not say.
static const double MNIST_EXTENT = 20.0 / 28.0;
// Drawings that leave a margin are centred by their mass, as in MNIST; others by the box around them.
static const double MARGIN_EXTENT = 0.9;

// A float picture, (channels, rows, cols).
typedef struct plane {
    int channels, rows, cols;
    float *values;
} plane;

static float *at(const plane *picture, int channel, int row, int col)
{
    return &picture
                ->values[((size_t)channel * (size_t)picture->rows + (size_t)row) * (size_t)picture->cols + (size_t)col];
}

static heddle_status plane_create(int channels, int rows, int cols, plane *made)
{
    *made = (plane){channels, rows, cols, calloc((size_t)channels * (size_t)rows * (size_t)cols, sizeof(float))};
    return made->values ? HEDDLE_OK
                        : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a %d×%d image", cols, rows);
}

// From one pixel of the border to the next in its row: inner rows have only their ends in it.
static int border_step(int row, int rows, int cols)
{
    return row == 0 || row == rows - 1 || cols == 1 ? 1 : cols - 1;
}

// A drawing on paper has a light border.
static bool is_dark_on_light(const plane *picture)
{
    double sum = 0;
    size_t count = 0;
    for (int channel = 0; channel < picture->channels; channel++)
        for (int row = 0; row < picture->rows; row++)
            for (int col = 0; col < picture->cols; col += border_step(row, picture->rows, picture->cols), count++)
                sum += *at(picture, channel, row, col);
    return sum > 0.5 * (double)count;
}

static double border_brightness(const heddle_dataset *dataset)
{
    size_t planes = (size_t)dataset->count * (size_t)dataset->channels;
    size_t pixels = (size_t)dataset->height * (size_t)dataset->width;
    uint64_t sum = 0, count = 0;
    for (size_t i = 0; i < planes; i++)
        for (int row = 0; row < dataset->height; row++) {
            const uint8_t *line = dataset->images + i * pixels + (size_t)row * (size_t)dataset->width;
            int step = border_step(row, dataset->height, dataset->width);
            for (int col = 0; col < dataset->width; col += step, count++)
                sum += line[col];
        }
    return count ? (double)sum / (double)count / MOST_BYTE : 0;
}

static bool is_dark(double border)
{
    return border < BACKGROUND_PART;
}

static bool is_light(double border)
{
    return border > 1 - BACKGROUND_PART;
}

static void invert(const plane *picture)
{
    size_t count = (size_t)picture->channels * (size_t)picture->rows * (size_t)picture->cols;
    for (size_t i = 0; i < count; i++)
        picture->values[i] = 1.0F - picture->values[i];
}

// Turns the picture light on dark. True if the result has to be inverted at the end, for a network that knows dark on
// light. A network whose images have no background gets the picture as it is, and so does one for colours: inverting
// those makes other things of them.
static bool normalise_background(const plane *picture, double border, char *said, size_t said_size)
{
    if (picture->channels > 1)
        return false;
    bool light = is_light(border), dark = is_dark(border);
    bool dark_on_light = is_dark_on_light(picture);
    if ((light || dark) && dark_on_light)
        invert(picture);
    if (dark && dark_on_light)
        snprintf(said, said_size, "dark on light, inverted; ");
    if (light && !dark_on_light)
        snprintf(said, said_size, "light on dark, inverted; ");
    return light;
}

typedef struct box {
    int top, left, rows, cols;
} box;

// The smallest box with all the ink; the whole picture if there is no ink.
static box find_ink(const plane *picture)
{
    float strongest = 0;
    size_t count = (size_t)picture->channels * (size_t)picture->rows * (size_t)picture->cols;
    for (size_t i = 0; i < count; i++)
        strongest = fmaxf(strongest, picture->values[i]);
    int top = picture->rows, left = picture->cols, bottom = -1, right = -1;
    for (int channel = 0; channel < picture->channels; channel++)
        for (int row = 0; row < picture->rows; row++)
            for (int col = 0; col < picture->cols; col++) {
                if (*at(picture, channel, row, col) <= INK_THRESHOLD * strongest)
                    continue;
                top = row < top ? row : top;
                bottom = row > bottom ? row : bottom;
                left = col < left ? col : left;
                right = col > right ? col : right;
            }
    if (bottom < 0)
        return (box){0, 0, picture->rows, picture->cols};
    return (box){top, left, bottom - top + 1, right - left + 1};
}

// Of images of one channel that have a background.
static double measure_extent(const heddle_dataset *dataset, bool light)
{
    const size_t pixels = (size_t)dataset->height * (size_t)dataset->width;
    const int count = dataset->count < MOST_MEASURED ? dataset->count : MOST_MEASURED;
    plane image;
    double sum = 0;
    if (count == 0 || plane_create(1, dataset->height, dataset->width, &image) != HEDDLE_OK)
        return NAN;
    for (int i = 0; i < count; i++) {
        const size_t index = (size_t)i * (size_t)dataset->count / (size_t)count; // evenly spread
        for (size_t p = 0; p < pixels; p++)
            image.values[p] = (float)dataset->images[index * pixels + p] / (float)MOST_BYTE;
        if (light)
            invert(&image);
        box part = find_ink(&image);
        sum += fmax((double)part.rows / image.rows, (double)part.cols / image.cols);
    }
    free(image.values);
    return sum / count;
}

heddle_image_traits heddle_measure_traits(const heddle_dataset *dataset)
{
    heddle_image_traits traits = {.border = border_brightness(dataset)};
    if (dataset->channels == 1 && (is_dark(traits.border) || is_light(traits.border)))
        traits.extent = measure_extent(dataset, is_light(traits.border));
    return traits;
}

// One value of the scaled ink: the mean of the source area it covers, or between pixels when scaling up.
static float sample(const plane *from, const box *part, int channel, float top, float left, float height, float width)
{
    double sum = 0, weight = 0;
    float bottom = top + height, right = left + width;
    for (int row = (int)floorf(top); (float)row < bottom && row < part->rows; row++) {
        float rows = fminf(bottom, (float)row + 1) - fmaxf(top, (float)row);
        for (int col = (int)floorf(left); (float)col < right && col < part->cols; col++) {
            float cols = fminf(right, (float)col + 1) - fmaxf(left, (float)col);
            if (rows <= 0 || cols <= 0)
                continue;
            sum += (double)(rows * cols * *at(from, channel, part->top + row, part->left + col));
            weight += (double)(rows * cols);
        }
    }
    return weight > 0 ? (float)(sum / weight) : 0.0F;
}

// Scales `part` of `from` into `to` by area, at (top, left), rows × cols pixels.
static void scale_into(const plane *from, const box *part, const plane *to, int top, int left, int rows, int cols)
{
    float row_step = (float)part->rows / (float)rows, col_step = (float)part->cols / (float)cols;
    for (int channel = 0; channel < to->channels; channel++)
        for (int row = 0; row < rows; row++)
            for (int col = 0; col < cols; col++) {
                int to_row = top + row, to_col = left + col;
                if (to_row < 0 || to_row >= to->rows || to_col < 0 || to_col >= to->cols)
                    continue;
                *at(to, channel, to_row, to_col) =
                    sample(from, part, channel, (float)row * row_step, (float)col * col_step, row_step, col_step);
            }
}

// `wanted`, or the nearest place where `extent` pixels are all inside `size`.
static int keep_inside(int wanted, int extent, int size)
{
    int most = size - extent > 0 ? size - extent : 0;
    return wanted < 0 ? 0 : wanted > most ? most : wanted;
}

// How far to move a picture so that its centre of mass is in the middle.
static void offset_to_centre(const plane *picture, int *down, int *right)
{
    double mass = 0, row_sum = 0, col_sum = 0;
    for (int channel = 0; channel < picture->channels; channel++)
        for (int row = 0; row < picture->rows; row++)
            for (int col = 0; col < picture->cols; col++) {
                double value = *at(picture, channel, row, col);
                mass += value;
                row_sum += value * (row + 0.5);
                col_sum += value * (col + 0.5);
            }
    *down = mass > 0 ? (int)lround(picture->rows / 2.0 - row_sum / mass) : 0;
    *right = mass > 0 ? (int)lround(picture->cols / 2.0 - col_sum / mass) : 0;
}

static void add_said(char *said, size_t size, const char *format, int a, int b)
{
    size_t used = strlen(said);
    if (used < size)
        snprintf(said + used, size - used, format, a, b);
}

// Cuts `picture` to its ink, which it scales and centres in `prepared`.
static void fit(const plane *picture, double extent, const plane *prepared, char *said, size_t said_size)
{
    box part = find_ink(picture);
    float by_rows = (float)extent * (float)prepared->rows / (float)part.rows;
    float by_cols = (float)extent * (float)prepared->cols / (float)part.cols;
    float factor = fminf(by_rows, by_cols);
    int rows = (int)fmaxf(1, roundf((float)part.rows * factor)),
        cols = (int)fmaxf(1, roundf((float)part.cols * factor));
    int top = (prepared->rows - rows) / 2, left = (prepared->cols - cols) / 2;
    scale_into(picture, &part, prepared, top, left, rows, cols);
    add_said(said, said_size, "%d×%d", picture->cols, picture->rows);
    if (part.rows != picture->rows || part.cols != picture->cols)
        add_said(said, said_size, " cut to the ink, %d×%d", part.cols, part.rows);
    add_said(said, said_size, ", scaled to %d×%d", cols, rows);
    int down = 0, right = 0;
    if (extent < MARGIN_EXTENT)
        offset_to_centre(prepared, &down, &right);
    memset(prepared->values, 0,
           (size_t)prepared->channels * (size_t)prepared->rows * (size_t)prepared->cols * sizeof(float));
    // A lopsided drawing is centred as far as its ink stays in the picture.
    scale_into(picture, &part, prepared, keep_inside(top + down, rows, prepared->rows),
               keep_inside(left + right, cols, prepared->cols), rows, cols);
    add_said(said, said_size, ", centred in %d×%d", prepared->cols, prepared->rows);
}

// Brings the picture to the size that `made` has, in floats.
static heddle_status fill_plane(const uint8_t *pixels, int rows, int cols, const plane *made)
{
    const size_t count = (size_t)made->channels * (size_t)made->rows * (size_t)made->cols;
    uint8_t *bytes = malloc(count);
    if (!bytes)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a %d×%d image", cols, rows);
    heddle_status status = heddle_scale(pixels, rows, cols, made->channels, bytes, made->rows, made->cols);
    for (size_t i = 0; status == HEDDLE_OK && i < count; i++)
        made->values[i] = (float)bytes[i] / (float)MOST_BYTE;
    free(bytes);
    return status;
}

heddle_status heddle_prepare(const uint8_t *pixels, int rows, int cols, const heddle_prepare_options *options,
                             float *prepared, char *said, size_t said_size)
{
    if (rows < 1 || cols < 1 || options->channels < 1 || options->height < 1 || options->width < 1)
        return heddle_fail(HEDDLE_INVALID, "an image of %d×%d pixels cannot become %d×%d×%d", cols, rows,
                           options->channels, options->height, options->width);
    const double extent = isnan(options->traits.extent) ? MNIST_EXTENT : options->traits.extent;
    const bool fits = rows == options->height && cols == options->width;
    const bool cut = !fits && extent > 0 && options->channels == 1;
    plane picture, result = {options->channels, options->height, options->width, prepared};
    HEDDLE_TRY(plane_create(options->channels, cut ? rows : options->height, cut ? cols : options->width, &picture));
    heddle_status status = fill_plane(pixels, rows, cols, &picture);
    if (status != HEDDLE_OK) {
        free(picture.values);
        return status;
    }
    said[0] = '\0';
    bool invert_result = normalise_background(&picture, options->traits.border, said, said_size);
    size_t count = (size_t)result.channels * (size_t)result.rows * (size_t)result.cols;
    if (cut) {
        memset(prepared, 0, count * sizeof *prepared);
        fit(&picture, extent, &result, said, said_size);
    } else {
        memcpy(prepared, picture.values, count * sizeof *prepared);
        add_said(said, said_size, fits ? "%d×%d as it is" : "%d×%d", cols, rows);
        if (!fits)
            add_said(said, said_size, ", scaled to %d×%d", result.cols, result.rows);
    }
    if (invert_result)
        invert(&result);
    free(picture.values);
    return HEDDLE_OK;
}
