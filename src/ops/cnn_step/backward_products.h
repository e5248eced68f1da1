// The products of backward.h: the layout of its tiles in shared memory, and what the warps of each role multiply.
//
// A tile holds an image with a border of zeros, 16 × 16 pixels and two more, channels last: the pixel (y, x) of the
// image is pixel (y + 1) * 16 + x + 1 of the tile. A row of 14 pixels is thus taken as 16, like fragments, and a tap of
// the convolution is a shift. The 16-byte parts of a pixel are swizzled by its number (cnn_part), so that ldmatrix and
// float loads find eight neighbouring pixels in different banks without padding.
#pragma once

#include <type_traits>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"

enum {
    CNN_PART = 16, // bytes that ldmatrix takes of a row

    // The roles' warps: two, one and one of each four run on every quarter of an SM.
    CNN_WEIGHT_WARPS = 8, // gradient of conv2's weight: 32 outputs × 8 inputs × 9 taps each; if split in two, 16
                          // outputs
    CNN_DATA_WARPS = 4,   // gradient of conv2's input, then conv1's sums: 16 inputs × 7 rows each; if split in two, 4
                          // rows
    CNN_STAGE_WARPS = 4,  // gradient of conv2's output; loads what the others read
    CNN_WEIGHT_THREADS = CNN_WEIGHT_WARPS * 32,
    CNN_DATA_THREADS = CNN_DATA_WARPS * 32,
    CNN_STAGE_THREADS = CNN_STAGE_WARPS * 32,
    CNN_BACKWARD_THREADS = CNN_WEIGHT_THREADS + CNN_DATA_THREADS + CNN_STAGE_THREADS,

    CNN_DATA_CHANNELS = 16,

    // Pixels of the image as conv1's sums need them: plane v, row r has the padded image's pixels (r, 2 x + v)
    // adjacent, for every window x. Under tap (i, j) of place (k, l) of its window lies plane l + j, row 2 y + k + i.
    // With these distances the 9 taps of a place are in different banks.
    CNN_PLANES = 4,
    CNN_PLANE_ROW = 48,
    CNN_PLANE = (CNN_SIDE + 2) * CNN_PLANE_ROW + 112,
};

// Where each tile lies, in bytes. Staged tiles exist twice, so that one is filled while the other is read.
template <typename Arithmetic> struct cnn_backward_tiles {
    typedef typename Arithmetic::operand operand;
    enum : int {
        GRAD_PIXEL = CNN_CHANNELS2 * sizeof(operand),
        POOLED_PIXEL = CNN_CHANNELS1 * sizeof(operand),
        WEIGHT_ROW = CNN_TAPS * GRAD_PIXEL, // of one input channel
        GRAD = CNN_TILE_PIXELS * GRAD_PIXEL,
        POOLED = CNN_TILE_PIXELS * POOLED_PIXEL,
        CODES = (CNN_PIXELS1 + 2) * CNN_CHANNELS1, // rows are read 16 pixels long here too
        STEM = CODES + CNN_PLANES * CNN_PLANE,     // for conv1's sums: code1, then the planes

        GRAD_AT = 0,
        POOLED_AT = GRAD_AT + 2 * GRAD,
        STEM_AT = POOLED_AT + 2 * POOLED,
        WEIGHT_AT = STEM_AT + 2 * STEM, // all before it begin as zeros
        COEFFICIENTS_AT = WEIGHT_AT + CNN_CHANNELS1 * WEIGHT_ROW,
        BYTES = COEFFICIENTS_AT + 3 * CNN_CHANNELS2 * sizeof(float),
    };
    static_assert(POOLED_AT % 128 == 0 && POOLED % 128 == 0 && WEIGHT_AT % 128 == 0, "parts are swapped by bank");
};

// Offset of 16-byte part `part` of a tile's pixel, or of a weight's row.
template <int PixelBytes> CNN_DEVICE int cnn_part(int pixel, int part)
{
    const int swapped = PixelBytes % 128 == 0 ? part ^ (pixel & 7) : part ^ (pixel >> 1 & 3);
    return pixel * PixelBytes + swapped * CNN_PART;
}

// The type in which the gradient of conv1's batchnorm is multiplied with the pixels: 16-bit parts that add up to the
// float as precisely as the arithmetic needs. Pixels are exact in each.
template <typename Arithmetic> struct cnn_stem_grad_parts {
    enum { COUNT = 2 };
};
template <> struct cnn_stem_grad_parts<cnn_tf32x3> {
    enum { COUNT = 3 };
};
template <> struct cnn_stem_grad_parts<cnn_fp16> {
    enum { COUNT = 1 };
};
template <> struct cnn_stem_grad_parts<cnn_bf16> {
    enum { COUNT = 1 };
};

// --- gradient of conv2's weight --------------------------------------------------------------------------------------

// sum (Tiles × 16 outputs, 8 inputs) of each tap += over the image's pixels, grad (pixel, output) * pooled (pixel +
// tap, input). A row of 16 pixels is one fragment of K; the fragments of three rows of `pooled` serve the taps above,
// at and below. In both factors pixels are rows; they are transposed while they are loaded.
template <typename Arithmetic, int Tiles>
CNN_DEVICE void cnn_weight_gradient(float (*sum)[CNN_TAPS][4], const char *grad, const char *pooled, int first_output,
                                    int first_input, int lane)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum { GRAD_STEP = CNN_TILE_SIDE * tiles::GRAD_PIXEL, POOLED_STEP = CNN_TILE_SIDE * tiles::POOLED_PIXEL };
    const int grad_pixel = CNN_TILE_SIDE + 1 + (lane & 7) + (lane >> 4) * 8;
    const int grad_part = first_output / 8 + (lane >> 3 & 1), pooled_part = first_input / 8;
    const char *grad_at[Tiles];
#pragma unroll
    for (int tile = 0; tile < Tiles; tile++)
        grad_at[tile] = grad + cnn_part<tiles::GRAD_PIXEL>(grad_pixel, grad_part + tile * 2);
    const char *pooled_left = pooled + cnn_part<tiles::POOLED_PIXEL>((lane & 15) + (lane >> 4), pooled_part);
    const char *pooled_right = pooled + cnn_part<tiles::POOLED_PIXEL>((lane & 15) + 2, pooled_part);
    uint32_t b[3][6]; // of three rows: their fragments for the taps left, straight and right
#pragma unroll
    for (int row = 0; row < 2; row++) {
        ldmatrix_x4_transposed(b[row], pooled_left + row * POOLED_STEP);
        ldmatrix_x2_transposed(b[row] + 4, pooled_right + row * POOLED_STEP);
    }
#pragma unroll 1
    for (int first = 0; first < CNN_SIDE1; first += 3) {
#pragma unroll
        for (int y = 0; y < 3 && first + y < CNN_SIDE1; y++) {
            uint32_t a[Tiles][4];
#pragma unroll
            for (int tile = 0; tile < Tiles; tile++)
                ldmatrix_x4_transposed(a[tile], grad_at[tile] + y * GRAD_STEP);
            ldmatrix_x4_transposed(b[(y + 2) % 3], pooled_left + (y + 2) * POOLED_STEP);
            ldmatrix_x2_transposed(b[(y + 2) % 3] + 4, pooled_right + (y + 2) * POOLED_STEP);
#pragma unroll
            for (int tap = 0; tap < CNN_TAPS; tap++)
#pragma unroll
                for (int tile = 0; tile < Tiles; tile++)
                    cnn_multiply<Arithmetic>(sum[tile][tap], a[tile], b[(y + tap / 3) % 3] + tap % 3 * 2);
        }
#pragma unroll
        for (int tile = 0; tile < Tiles; tile++)
            grad_at[tile] += 3 * GRAD_STEP;
        pooled_left += 3 * POOLED_STEP, pooled_right += 3 * POOLED_STEP;
    }
}

// --- gradient of conv2's input ---------------------------------------------------------------------------------------

// Row of the weight's tile that has input channel `channel`: even channels first, within 16, so that a thread's two
// rows of a fragment are neighbouring channels and their codes lie in one word.
CNN_DEVICE int cnn_weight_row(int channel)
{
    return (channel & 16) | (channel & 1) << 3 | (channel & 15) >> 1;
}

// sum[row][half][...] (16 inputs × 8 pixels of half a row) = sum over taps and outputs of weight * grad, for `Rows`
// rows from first_row on. A fragment of the gradient's row serves the three rows of the result that it is a tap of.
template <typename Arithmetic, int Rows>
CNN_DEVICE void cnn_data_gradient(float (*sum)[2][4], const char *grad, const char *weight, int first_row,
                                  int first_weight_row, int lane)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum { READ = Rows + 2, STEP = CNN_TILE_SIDE * tiles::GRAD_PIXEL, AHEAD = 2 };
#pragma unroll
    for (int i = 0; i < Rows * 2 * 4; i++)
        sum[i / 8][i / 4 % 2][i % 4] = 0.0f;
    const int weight_row = first_weight_row + (lane & 15);
    const int pixel = first_row * CNN_TILE_SIDE + (lane & 7) + (lane >> 4) * 8;
#pragma unroll 1
    for (int k = 0; k < tiles::GRAD_PIXEL / CNN_FRAGMENT_BYTES; k++) {
        const char *weight_at = weight + weight_row * (tiles::WEIGHT_ROW - tiles::GRAD_PIXEL) +
                                cnn_part<tiles::GRAD_PIXEL>(weight_row, k * 2 + (lane >> 4));
#pragma unroll
        for (int shift = 0; shift < 3; shift++) {
            const char *grad_at = grad + cnn_part<tiles::GRAD_PIXEL>(pixel + shift, k * 2 + (lane >> 3 & 1));
            uint32_t a[3][4], b[READ][4];
#pragma unroll
            for (int row = 0; row < AHEAD; row++)
                ldmatrix_x4(b[row], grad_at + row * STEP);
#pragma unroll
            for (int up = 0; up < 3; up++)
                ldmatrix_x4(a[up], weight_at + (up * 3 + shift) * tiles::GRAD_PIXEL);
#pragma unroll
            for (int row = 0; row < READ; row++) {
                if (row + AHEAD < READ)
                    ldmatrix_x4(b[row + AHEAD], grad_at + (row + AHEAD) * STEP);
#pragma unroll
                for (int up = 0; up < 3; up++)
                    if (row - up >= 0 && row - up < Rows)
                        cnn_multiply_two<Arithmetic>(sum[row - up][0], sum[row - up][1], a[up], b[row]);
            }
        }
    }
}

// --- conv1's sums ----------------------------------------------------------------------------------------------------

// The type for conv1's sums: pixels and gradients as halves, or, with float's range, as bfloat16.
template <typename Arithmetic> struct cnn_stem_arithmetic {
    typedef cnn_bf16 type;
};
template <> struct cnn_stem_arithmetic<cnn_fp16> {
    typedef cnn_fp16 type;
};

// Two numbers as one register of a fragment of conv1's sums, and their rounding errors.
template <typename Arithmetic> CNN_DEVICE uint32_t cnn_stem_pack(float first, float second)
{
    return cnn_pair(typename cnn_stem_arithmetic<Arithmetic>::type::operand(), first, second);
}
CNN_DEVICE void cnn_stem_leave(float *first, float *second, uint32_t packed)
{
    *first -= __uint_as_float(packed << 16);
    *second -= __uint_as_float(packed & 0xffff0000u);
}

// Ones, packed: the compiler would round them at run time.
template <typename Arithmetic> CNN_DEVICE uint32_t cnn_stem_ones()
{
    return std::is_same<Arithmetic, cnn_fp16>::value ? 0x3c003c00u : 0x3f803f80u;
}

template <typename Arithmetic> CNN_DEVICE void cnn_stem_multiply(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
    cnn_multiply<typename cnn_stem_arithmetic<Arithmetic>::type>(sum, a, b);
}

// From two pixels' codes of two channels, as ldmatrix transposes them, a selector of __byte_perm for one channel: its
// code of each pixel, twice.
CNN_DEVICE uint32_t cnn_stem_selector(uint32_t codes, int channel)
{
    return __byte_perm(codes, 0, channel == 0 ? 0x4420 : 0x4431) * 0x11u;
}

// stem[place][0] (16 channels, taps 0 to 7), stem[place][1] (16 channels; tap 8, then ones) += over the windows of a
// row that the place has won, their gradient * the pixels under it. `grad`: the row's 16 windows, as a fragment;
// `codes` and `pixels`: where this lane's row of a fragment begins. Each place has its own sums, so that products do
// not wait for each other.
template <typename Arithmetic>
CNN_DEVICE void cnn_stem_row(float (*stem)[2][4], const uint32_t grad[4], const char *codes, const char *pixels,
                             int lane)
{
    uint32_t code[2];
    ldmatrix_x2_transposed(code, codes);
    if ((lane & 3) == 3) // windows 14 and 15 are none
        code[1] = CNN_NO_WINNER * 0x01010101u;
    const uint32_t selector[4] = {cnn_stem_selector(code[0], 0), cnn_stem_selector(code[0], 1),
                                  cnn_stem_selector(code[1], 0), cnn_stem_selector(code[1], 1)};
#pragma unroll
    for (int place = 0; place < 4; place++) {
        uint32_t b[4], mask[4];
        ldmatrix_x4(b, pixels + place % 2 * CNN_PLANE + place / 2 * CNN_PLANE_ROW);
        if (lane >= 4) // columns 9 to 15 of the second fragment
            b[2] = b[3] = cnn_stem_ones<Arithmetic>();
#pragma unroll
        for (int j = 0; j < 4; j++)
            mask[j] = __byte_perm(0xffu << 8 * place, 0, selector[j]);
        const uint32_t a[4] = {grad[0] & mask[0], grad[1] & mask[1], grad[2] & mask[2], grad[3] & mask[3]};
        cnn_stem_multiply<Arithmetic>(stem[place][0], a, b);
        cnn_stem_multiply<Arithmetic>(stem[place][1], a, b + 2);
    }
}

// Offset, in the planes, of the row of a fragment whose address this lane gives to ldmatrix: one tap each, the last for
// all past it; windows 8 to 15 after 0 to 7.
CNN_DEVICE int cnn_stem_pixels(int lane)
{
    const int tap = lane < 16 ? lane & 7 : CNN_TAPS - 1;
    return tap % 3 * CNN_PLANE + tap / 3 * CNN_PLANE_ROW + (lane >> 3 & 1) * CNN_PART;
}
