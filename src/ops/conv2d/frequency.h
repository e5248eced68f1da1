// A convolution and its gradients as products of Fourier transforms, for stride and dilation 1. Shared by the rungs on
// CPU and GPU: which planes are transformed, how large the transforms are, which of them are multiplied, and the layout
// of the workspace.
//
// All three are sums over pairs of planes, image and filter, of one of these:
//
//     forward           output[y]      = Σ input[y - padding + r] weight[r]           over channels c
//     backward_data     grad_input[h]  = Σ grad_output[h + padding - r] weight[r]     over filters k
//     backward_weight   grad_weight[r] = Σ input[r - padding + y] grad_output[y]      over images n
//
// The first and the last are the product with the conjugate, shifted forward by the padding; the second is the plain
// product, shifted back by it. A shift is a factor of modulus 1 in the frequency domain. So results begin at place 0,
// and the last transform writes them straight to the output.
//
// Images too large for one transform, or for one of a good length, are cut into tiles of the result (overlap-save).
// Each is a small convolution of a tile of the image that is r - 1 rows and s - 1 columns larger, and tiles count as
// more images.
#pragma once

#include "ops/conv2d/conv2d.h"
#include "ops/fft/fft.h"

typedef enum conv2d_pass { CONV2D_FORWARD, CONV2D_BACKWARD_DATA, CONV2D_BACKWARD_WEIGHT } conv2d_pass;

enum {
    CONV2D_PITCH = 8,               // complex numbers in 64 bytes: rows of spectra begin at multiples of it
    CONV2D_SPECTRA_ALIGNMENT = 256, // bytes
};
// Complex numbers of all spectra together: 4 GiB. Larger shapes are left to the direct rungs.
static const double conv2d_most_numbers = 512 << 20;

// Real planes one after another.
typedef struct conv2d_planes {
    int count, rows, columns;
} conv2d_planes;

// How images are cut. Tile (y, x) computes places [y * rows, y * rows + rows) of the result, likewise columns. Its
// image begins at (y * rows + origin_row, x * columns + origin_column), with zeros outside.
typedef struct conv2d_tiles {
    int down, across;  // tiles of an image; 0: it is not cut
    int rows, columns; // computed per tile
    int origin_row, origin_column;
} conv2d_tiles;

// result (i, j) = Σ over q of image (i, q) * filter (j, q); the plane of each is i * step_i + q * step_q and so on.
typedef struct conv2d_frequency {
    int rows, columns;           // of a transform
    int half, pitch;             // complex numbers of a spectrum's row: stored, and from row to row
    conv2d_planes image, filter; // what is transformed
    conv2d_planes result;        // the result
    int images, filters, sum;    // how many i, j and q
    int image_step, image_sum;   // in planes
    int filter_step, filter_sum; // in planes
    int result_image, result_filter;
    int conjugate;               // the filter's spectrum is
    int move_rows, move_columns; // places that the result is shifted by, in [0, rows) and [0, columns)
    conv2d_tiles tiles;
    conv2d_planes whole_image, whole_filter, whole_result; // before cutting: the operands
} conv2d_frequency;

// Which lengths a device's transforms have.
typedef struct conv2d_limits {
    int rows, columns; // the longest
    double mixed;      // time of a transform whose length is not a power of two, relative to one of the same length
                       // that is
    double cut;        // time of a convolution that is cut and joined, relative to one that is not; 0: nothing is cut
} conv2d_limits;

// On a GPU: what one kernel can do. Powers of two stay in registers; other lengths go through shared memory in every
// stage. Cutting and joining are two of nine passes through memory.
static const conv2d_limits conv2d_cuda_limits = {HEDDLE_FFT_ONE_KERNEL, 2 * HEDDLE_FFT_ONE_KERNEL, 3, 1.3};
// From this length on; twice as many for rows, which are real.
enum { CONV2D_SHORTEST_POWER = 32 };

static inline int conv2d_larger(int a, int b)
{
    return a > b ? a : b;
}

// Smallest length for one axis. A cyclic convolution of length L adds elements that are L places apart. From `in +
// padding` on, the wanted places are clear of all other nonzero places of the linear convolution. The filter and the
// result must fit too.
static inline int conv2d_least_length(const heddle_conv2d_shape *shape, int in, int filter)
{
    int fits = conv2d_larger(filter, heddle_conv2d_extent(shape, in, filter));
    return conv2d_larger(in + shape->padding, fits);
}

// Rows of the image are real: an even number of elements is a transform of half as many complex ones.
static inline int conv2d_even_length(int least)
{
    return 2 * heddle_fft_smooth_from((least + 1) / 2);
}

// Transforms along one axis, and how many tiles of the result they make.
typedef struct conv2d_axis {
    int length, tiles;
} conv2d_axis;

static inline conv2d_axis conv2d_axis_of(int length, int tiles)
{
    conv2d_axis axis;
    axis.length = length, axis.tiles = tiles;
    return axis;
}

static inline double conv2d_length_price(int length, int shortest_power, const conv2d_limits *limits)
{
    return length >= shortest_power && heddle_fft_is_power_of_two(length) ? 1 : limits->mixed;
}

// The cost of the transforms of one plane, in arbitrary units.
static inline double conv2d_axes_price(conv2d_axis down, conv2d_axis across, const conv2d_limits *limits)
{
    double numbers = (double)down.length * down.tiles * across.length * across.tiles;
    return numbers * (conv2d_length_price(down.length, CONV2D_SHORTEST_POWER, limits) +
                      conv2d_length_price(across.length, 2 * CONV2D_SHORTEST_POWER, limits));
}

static inline int conv2d_power_from(int least)
{
    int power = 2;
    while (power < least)
        power *= 2;
    return power;
}

// Uncut candidates along an axis: the shortest length, and the power of two from there on.
static inline int conv2d_whole_axes(int shortest, int longest, conv2d_axis axes[2])
{
    int power = conv2d_power_from(shortest);
    axes[0] = conv2d_axis_of(shortest, 1);
    axes[1] = conv2d_axis_of(power, 1);
    return shortest > longest ? 0 : power > longest || power == shortest ? 1 : 2;
}

// Candidates for tiles: every power of two from `shortest` on that leaves room for more than the filter, and one tile
// of length `whole`, if only the other axis is cut.
enum { CONV2D_MOST_AXES = 16 };
static inline int conv2d_cut_axes(int wanted, int filter, int shortest, int longest, int whole,
                                  conv2d_axis axes[CONV2D_MOST_AXES])
{
    int count = 0;
    if (whole <= longest)
        axes[count++] = conv2d_axis_of(whole, 1);
    for (int length = shortest; length <= longest && count < CONV2D_MOST_AXES; length *= 2)
        if (length > filter)
            axes[count++] = conv2d_axis_of(length, (wanted + length - filter) / (length - filter + 1));
    return count;
}

// The cheapest pair of them; `best` and its axes stay if none is cheaper.
static inline double conv2d_cheapest(const conv2d_axis *downs, int down_count, const conv2d_axis *acrosses,
                                     int across_count, double factor, double best, const conv2d_limits *limits,
                                     conv2d_axis *down, conv2d_axis *across)
{
    for (int i = 0; i < down_count; i++)
        for (int j = 0; j < across_count; j++) {
            double price = factor * conv2d_axes_price(downs[i], acrosses[j], limits);
            if (price < best) {
                best = price;
                *down = downs[i];
                *across = acrosses[j];
            }
        }
    return best;
}

static inline conv2d_planes conv2d_planes_of(int count, int rows, int columns)
{
    conv2d_planes planes;
    planes.count = count, planes.rows = rows, planes.columns = columns;
    return planes;
}

static inline void conv2d_set_products(conv2d_frequency *plan, const heddle_conv2d_shape *shape, conv2d_pass pass)
{
    int n = shape->n, c = shape->c, k = shape->k;
    if (pass == CONV2D_BACKWARD_WEIGHT) { // i = c, j = k, q = n
        plan->images = c, plan->filters = k, plan->sum = n;
        plan->image_step = 1, plan->image_sum = c;
        plan->filter_step = 1, plan->filter_sum = k;
        plan->result_image = 1, plan->result_filter = c;
        return;
    }
    bool forward = pass == CONV2D_FORWARD; // i = n; j = k, q = c, or the other way round
    plan->images = n, plan->filters = forward ? k : c, plan->sum = forward ? c : k;
    plan->image_step = plan->sum, plan->image_sum = 1;
    plan->filter_step = forward ? c : 1, plan->filter_sum = forward ? 1 : c;
    plan->result_image = plan->filters, plan->result_filter = 1;
}

static inline void conv2d_set_lengths(conv2d_frequency *plan, int rows, int columns, int move_rows, int move_columns)
{
    plan->rows = rows, plan->columns = columns;
    plan->half = columns / 2 + 1;
    plan->pitch = (plan->half + CONV2D_PITCH - 1) / CONV2D_PITCH * CONV2D_PITCH;
    plan->move_rows = (move_rows % rows + rows) % rows;
    plan->move_columns = (move_columns % columns + columns) % columns;
}

// Cuts a plan's images into tiles; its whole planes are kept.
static inline void conv2d_cut(conv2d_frequency *plan, const heddle_conv2d_shape *shape, conv2d_pass pass,
                              conv2d_axis down, conv2d_axis across)
{
    conv2d_tiles *tiles = &plan->tiles;
    bool data = pass == CONV2D_BACKWARD_DATA;
    conv2d_planes *part = pass == CONV2D_BACKWARD_WEIGHT ? &plan->filter : &plan->result;
    int each = down.tiles * across.tiles;
    tiles->down = down.tiles, tiles->across = across.tiles;
    tiles->rows = (part->rows + down.tiles - 1) / down.tiles;
    tiles->columns = (part->columns + across.tiles - 1) / across.tiles;
    tiles->origin_row = data ? shape->padding - (shape->r - 1) : -shape->padding;
    tiles->origin_column = data ? shape->padding - (shape->s - 1) : -shape->padding;
    *part = conv2d_planes_of(part->count * each, tiles->rows, tiles->columns);
    plan->image = conv2d_planes_of(plan->image.count * each, tiles->rows + shape->r - 1, tiles->columns + shape->s - 1);
    heddle_conv2d_shape more = *shape;
    more.n *= each;
    conv2d_set_products(plan, &more, pass);
    conv2d_set_lengths(plan, down.length, across.length, data ? 1 - shape->r : 0, data ? 1 - shape->s : 0);
}

// Decides whether and how a plan is cut, and how long its transforms are.
static inline void conv2d_choose_lengths(conv2d_frequency *plan, const heddle_conv2d_shape *shape, conv2d_pass pass,
                                         const conv2d_limits *limits)
{
    conv2d_planes wanted = pass == CONV2D_BACKWARD_WEIGHT ? plan->filter : plan->result;
    int rows = heddle_fft_smooth_from(conv2d_least_length(shape, shape->h, shape->r));
    int columns = conv2d_even_length(conv2d_least_length(shape, shape->w, shape->s));
    int move = pass == CONV2D_BACKWARD_DATA ? -shape->padding : shape->padding;
    conv2d_axis downs[CONV2D_MOST_AXES], acrosses[CONV2D_MOST_AXES];
    conv2d_axis down = conv2d_axis_of(rows, 1), across = conv2d_axis_of(columns, 1);
    int down_count = conv2d_whole_axes(rows, limits->rows, downs);
    int across_count = conv2d_whole_axes(columns, limits->columns, acrosses);
    double whole = conv2d_cheapest(downs, down_count, acrosses, across_count, 1, 1e300, limits, &down, &across);
    if (limits->cut > 0) {
        down_count = conv2d_cut_axes(wanted.rows, shape->r, CONV2D_SHORTEST_POWER, limits->rows,
                                     heddle_fft_smooth_from(wanted.rows + shape->r - 1), downs);
        across_count = conv2d_cut_axes(wanted.columns, shape->s, 2 * CONV2D_SHORTEST_POWER, limits->columns,
                                       conv2d_even_length(wanted.columns + shape->s - 1), acrosses);
    }
    double factor = limits->cut > 0 ? limits->cut : 1e300; // nothing is cut
    double cut = conv2d_cheapest(downs, down_count, acrosses, across_count, factor, whole, limits, &down, &across);
    if (cut < whole)
        conv2d_cut(plan, shape, pass, down, across);
    else
        conv2d_set_lengths(plan, down.length, across.length, move, move);
}

static inline conv2d_frequency conv2d_frequency_of(const heddle_conv2d_shape *shape, conv2d_pass pass,
                                                   const conv2d_limits *limits)
{
    conv2d_frequency plan;
    int n = shape->n, c = shape->c, k = shape->k;
    conv2d_tiles whole = {0, 0, 0, 0, 0, 0};
    conv2d_planes input = conv2d_planes_of(n * c, shape->h, shape->w);
    conv2d_planes weight = conv2d_planes_of(k * c, shape->r, shape->s);
    conv2d_planes output = conv2d_planes_of(n * k, heddle_conv2d_extent(shape, shape->h, shape->r),
                                            heddle_conv2d_extent(shape, shape->w, shape->s));
    plan.image = plan.whole_image = pass == CONV2D_BACKWARD_DATA ? output : input;
    plan.filter = plan.whole_filter = pass == CONV2D_BACKWARD_WEIGHT ? output : weight;
    plan.result = plan.whole_result = pass == CONV2D_FORWARD ? output : pass == CONV2D_BACKWARD_DATA ? input : weight;
    plan.conjugate = pass != CONV2D_BACKWARD_DATA;
    plan.tiles = whole;
    conv2d_set_products(&plan, shape, pass);
    conv2d_choose_lengths(&plan, shape, pass, limits);
    return plan;
}

// --- memory ----------------------------------------------------------------------------------------------------------

static inline size_t conv2d_spectrum_numbers(const conv2d_frequency *plan)
{
    return (size_t)plan->rows * plan->pitch;
}

static inline size_t conv2d_spectra_bytes(const conv2d_frequency *plan, const conv2d_planes *planes)
{
    size_t bytes = 2 * sizeof(float) * conv2d_spectrum_numbers(plan) * planes->count;
    return (bytes + CONV2D_SPECTRA_ALIGNMENT - 1) / CONV2D_SPECTRA_ALIGNMENT * CONV2D_SPECTRA_ALIGNMENT;
}

// Tiles of planes, if they are cut.
static inline size_t conv2d_parts_bytes(const conv2d_frequency *plan, const conv2d_planes *planes)
{
    size_t bytes = sizeof(float) * (size_t)planes->count * planes->rows * planes->columns;
    return plan->tiles.down > 0
               ? (bytes + CONV2D_SPECTRA_ALIGNMENT - 1) / CONV2D_SPECTRA_ALIGNMENT * CONV2D_SPECTRA_ALIGNMENT
               : 0;
}

// The parts of the workspace, one after another: the spectra of image, filter and result, then tiles of the image, and
// of the filter (backward_weight) or the result (the others).
typedef struct conv2d_frequency_memory {
    size_t filter, result, image_parts, other_parts, bytes; // where each begins
} conv2d_frequency_memory;

static inline conv2d_frequency_memory conv2d_frequency_memory_of(const conv2d_frequency *plan, conv2d_pass pass)
{
    conv2d_frequency_memory memory;
    const conv2d_planes *other = pass == CONV2D_BACKWARD_WEIGHT ? &plan->filter : &plan->result;
    memory.filter = conv2d_spectra_bytes(plan, &plan->image);
    memory.result = memory.filter + conv2d_spectra_bytes(plan, &plan->filter);
    memory.image_parts = memory.result + conv2d_spectra_bytes(plan, &plan->result);
    memory.other_parts = memory.image_parts + conv2d_parts_bytes(plan, &plan->image);
    memory.bytes = memory.other_parts + conv2d_parts_bytes(plan, other);
    return memory;
}

// --- transforms ------------------------------------------------------------------------------------------------------

// Rows of real planes to rows of their spectra, `planes` one after another. Missing rows are not written.
static inline heddle_fft_job conv2d_rows_there(const conv2d_frequency *plan, const conv2d_planes *planes,
                                               const float *values, float *spectra)
{
    long long spectrum = (long long)conv2d_spectrum_numbers(plan), plane = (long long)planes->rows * planes->columns;
    heddle_fft_job job = heddle_fft_rows(HEDDLE_FFT_TO_HALF, plan->columns, (long long)planes->count * planes->rows,
                                         false, values, spectra);
    heddle_fft_lines from = {planes->rows, plane, planes->columns, 1, planes->columns};
    heddle_fft_lines to = {planes->rows, spectrum, plan->pitch, 1, plan->half};
    job.from = from;
    job.to = to;
    return job;
}

// Columns of spectra in place: `read` rows exist, `wanted` are written.
static inline heddle_fft_job conv2d_columns(const conv2d_frequency *plan, int planes, bool inverse, int read,
                                            int wanted, float *spectra)
{
    long long spectrum = (long long)conv2d_spectrum_numbers(plan);
    heddle_fft_job job =
        heddle_fft_rows(HEDDLE_FFT_COMPLEX, plan->rows, (long long)planes * plan->half, inverse, spectra, spectra);
    heddle_fft_lines from = {plan->half, spectrum, 1, plan->pitch, read};
    heddle_fft_lines to = {plan->half, spectrum, 1, plan->pitch, wanted};
    job.from = from;
    job.to = to;
    return job;
}

// Rows of the result's spectra to the result: the inverse of rows_there.
static inline heddle_fft_job conv2d_rows_back(const conv2d_frequency *plan, const float *spectra, float *values)
{
    const conv2d_planes *planes = &plan->result;
    heddle_fft_job there = conv2d_rows_there(plan, planes, NULL, NULL);
    heddle_fft_job job = heddle_fft_rows(HEDDLE_FFT_OF_HALF, plan->columns, there.lines, true, spectra, values);
    job.from = there.to;
    job.to = there.from;
    job.scale = (float)(1.0 / ((double)plan->rows * plan->columns));
    return job;
}

// --- where it pays ---------------------------------------------------------------------------------------------------

// Multiplications that the direct rungs do in the time of one of these.
typedef struct conv2d_prices {
    double transformed; // a complex number of a spectrum, forward or back, for lengths that are powers of two
    double product;     // of two numbers of spectra
    double call;        // whatever the shape
    int panel;          // filters that the direct rungs compute together: with fewer, they waste multiplications
    int least_taps;     // of a filter, for this rung to be considered
} conv2d_prices;

// Whether there is an image, filters are short enough, and the memory stays within bounds.
static inline bool conv2d_frequency_takes(const heddle_conv2d_shape *shape, const conv2d_limits *limits)
{
    if (shape->h < 1 || shape->w < 1)
        return false;
    if (shape->stride != 1 || shape->dilation != 1 || shape->r > limits->rows / 2 || shape->s > limits->columns / 2)
        return false;
    double rows = 1.0 + conv2d_least_length(shape, shape->h, shape->r);
    double columns = 1.0 + conv2d_least_length(shape, shape->w, shape->s);
    double n = shape->n, c = shape->c, k = shape->k;
    return (n * c + k * c + n * k) * rows * columns / 2 <= conv2d_most_numbers;
}

// Multiplications of the direct rungs, for whole panels of filters.
static inline double conv2d_direct_work(const heddle_conv2d_shape *shape, int filters, int panel)
{
    double outputs =
        (double)heddle_conv2d_extent(shape, shape->h, shape->r) * heddle_conv2d_extent(shape, shape->w, shape->s);
    double others = (double)shape->n * shape->c * shape->k / filters, panels = (filters + panel - 1) / panel;
    return others * panels * panel * outputs * shape->r * shape->s;
}

static inline bool conv2d_frequency_pays(const heddle_conv2d_shape *shape, conv2d_pass pass,
                                         const conv2d_limits *limits, const conv2d_prices *prices)
{
    if ((double)shape->r * shape->s < prices->least_taps)
        return false;
    conv2d_frequency plan = conv2d_frequency_of(shape, pass, limits);
    double planes = (double)plan.image.count + plan.filter.count + plan.result.count;
    double products = (double)plan.images * plan.sum * plan.filters;
    double lengths = conv2d_length_price(plan.rows, CONV2D_SHORTEST_POWER, limits) +
                     conv2d_length_price(plan.columns, 2 * CONV2D_SHORTEST_POWER, limits);
    double transformed = prices->transformed * lengths / 2 * (plan.tiles.down > 0 ? limits->cut : 1);
    double each = planes * transformed + products * prices->product;
    return conv2d_direct_work(shape, plan.filters, prices->panel) >
           (double)conv2d_spectrum_numbers(&plan) * each + prices->call;
}
