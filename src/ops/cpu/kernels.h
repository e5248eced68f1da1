// The inner loops of the convolution rungs, once for each instruction set, and the choice between them. They share
// these rules: activations are channels last, vectors run along channels, and scratch has its channels padded with
// zeros to whole vectors or panels. Which images and tiles to work on, and in which thread, is left to the rungs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    // Columns of a packed panel of weights: four NEON vectors, two of AVX2, one of AVX-512. With it a register tile of
    // 6 rows (12 for AVX-512) fills the register file and needs fewer loads than the load units can do.
    HEDDLE_CPU_PANEL = 16,
    // Floats that must be readable, whatever they hold, after every matrix that `multiply` and `accumulate` read.
    HEDDLE_CPU_SLACK = 16,
    HEDDLE_WINOGRAD_POINTS = 16, // a 4×4 transformed tile: F(2×2, 3×3) makes 2×2 outputs from it
};

// c (rows, 16) = Σ over taps of a_tap (rows, depth) · b_tap (depth, 16)
typedef struct heddle_cpu_multiply {
    int rows, depth, taps;
    const float *a; // (row, tap, i): a[row * a_row + tap_offset[tap] + i]
    ptrdiff_t a_row;
    const ptrdiff_t *tap_offset;
    const float *b; // (taps, depth, 16)
    float *c;       // (row, column): c[row * c_row + column]
    ptrdiff_t c_row;
} heddle_cpu_multiply;

// c (rows, 16) += Σ over lines and points of a (line, point, rows)ᵀ · b (line, point, 16)
typedef struct heddle_cpu_accumulate {
    int rows, lines, points;
    const float *a; // (line, point, row): a[line * a_line + point * a_point + row]
    ptrdiff_t a_line, a_point;
    const float *b; // (line, point, column): b[line * b_line + point * b_point + column]
    ptrdiff_t b_line, b_point;
    float *c; // (row, column): c[row * c_row + column]
    ptrdiff_t c_row;
} heddle_cpu_accumulate;

// The layout of an activation (height, width, channels): floats from one row to the next, from one pixel to the next.
typedef struct heddle_cpu_extent {
    int height, width, channels;
    ptrdiff_t row, pixel;
} heddle_cpu_extent;

// A block of whole rows of Winograd tiles and its transformed points (16, rows · columns, channels).
typedef struct heddle_cpu_tiles {
    int rows, columns;
    int channels;    // a multiple of the vector length
    ptrdiff_t point; // floats from one of the 16 points to the next
} heddle_cpu_tiles;

// What the gradient of a conv block's convolution is computed from, starting at the same place of an image: scale ·
// grad at the winner of a window, + z · slope + offset everywhere.
typedef struct heddle_cpu_unpool {
    const float *convolution; // extent `z`
    heddle_cpu_extent z;
    const float *grad; // one window per pixel: (height / 2, width / 2, channels padded), grad_row floats per row
    ptrdiff_t grad_row, grad_pixel;
    const uint8_t *code; // (height / 2, width / 2, z.channels), code_row bytes per row
    ptrdiff_t code_row;
    int window_rows, window_columns;
    const float *scale, *slope, *offset; // padded with zeros to whole panels
    const float *mean;                   // likewise; for gradient_sums
} heddle_cpu_unpool;

// A first layer's image: planes of (height + 2) rows of `row` floats, one float of border all around.
typedef struct heddle_cpu_planes {
    const float *data;
    int channels, height, width;
    ptrdiff_t row, plane;
} heddle_cpu_planes;

typedef struct heddle_cpu_kernels {
    const char *name; // "neon", "avx2", "avx512", "generic"
    int lanes;        // floats per vector

    // to (columns, rows) = from (rows, columns), with the given floats from a row to the next
    void (*transpose)(const float *from, ptrdiff_t from_row, int rows, int columns, float *to, ptrdiff_t to_row);
    void (*multiply)(const heddle_cpu_multiply *work);
    void (*accumulate)(const heddle_cpu_accumulate *work);

    // --- Winograd F(2×2, 3×3); `image` is padded by one all around: (2·rows + 2, 2·columns + 2, tiles->channels)
    void (*winograd_input)(const heddle_cpu_tiles *tiles, const float *image, ptrdiff_t image_row, float *points);
    // Writes the part of the tiles' outputs that lies inside `extent`.
    void (*winograd_output)(const heddle_cpu_tiles *tiles, const float *points, float *to,
                            const heddle_cpu_extent *extent);
    // A tile is a pooling window: to (window) = relu(max over the tile + shift). `extent` counts windows.
    void (*winograd_output_pool)(const heddle_cpu_tiles *tiles, const float *points, const float *shift, float *to,
                                 const heddle_cpu_extent *extent);
    // The transposes, for gradients. Outside of `extent` the gradient is zero.
    void (*winograd_grad_output)(const heddle_cpu_tiles *tiles, const float *grad, const heddle_cpu_extent *extent,
                                 float *points);
    void (*winograd_grad_unpool)(const heddle_cpu_tiles *tiles, const heddle_cpu_unpool *from, float *points);
    // Adds to `image` where tiles overlap; `first`: nothing lies above, so its top rows are overwritten.
    void (*winograd_grad_input)(const heddle_cpu_tiles *tiles, const float *points, float *image, ptrdiff_t image_row,
                                bool first);

    // --- batchnorm, relu and pooling of one image's convolution
    // Mean, and sum of squares around it, of each channel.
    void (*statistics)(const float *convolution, const heddle_cpu_extent *extent, float *mean, float *squares);
    // output (windows) = relu(max(z · scale + shift)), code (windows, channels) = which won; `windows` is dense.
    void (*normalise_pool)(const float *convolution, const heddle_cpu_extent *extent, const float *scale,
                           const float *shift, float *output, const heddle_cpu_extent *windows, uint8_t *code);
    // Sums over the windows' winners of the gradient, and of the gradient times (z - mean).
    void (*gradient_sums)(const heddle_cpu_unpool *from, float *sum, float *weighted);

    // --- first layer: weights (panels, 9·channels, 16)
    void (*stem_forward)(const heddle_cpu_planes *image, const float *weights, const float *shift, float *output,
                         const heddle_cpu_extent *windows, uint8_t *code); // code may be NULL
    // sums (panels, 9·channels + 1, 16) += Σ over winners of the gradient times the patch, and last of the gradient
    void (*stem_backward)(const heddle_cpu_planes *image, const float *grad, const heddle_cpu_extent *windows,
                          const uint8_t *code, float *sums);
    // sums[d] = Σ of patch element d over all patches, products[d * D + e] (e >= d) = Σ of the product of two
    void (*stem_moments)(const heddle_cpu_planes *image, double *sums, double *products);
} heddle_cpu_kernels;

// The best that this machine can run, or the one named by HEDDLE_SIMD in the environment, if it can run it.
const heddle_cpu_kernels *heddle_cpu_kernels_best(void);
// By name; NULL if this machine cannot run it.
const heddle_cpu_kernels *heddle_cpu_kernels_find(const char *name);

extern const heddle_cpu_kernels heddle_cpu_kernels_generic;
#if defined(__aarch64__)
extern const heddle_cpu_kernels heddle_cpu_kernels_neon;
#elif defined(__x86_64__)
extern const heddle_cpu_kernels heddle_cpu_kernels_avx2;
extern const heddle_cpu_kernels heddle_cpu_kernels_avx512;
#endif

static inline int heddle_cpu_round_up(int value, int multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}
