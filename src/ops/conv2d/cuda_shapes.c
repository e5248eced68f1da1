// Which shapes the CUDA rungs of conv2d accept, and their workspace. The kernels include the same headers.

#include "ops/conv2d/columns.h"
#include "ops/conv2d/fragments.h"
#include "ops/conv2d/frequency.h"
#include "ops/conv2d/row_strips.h"
#include "ops/conv2d/split.h"
#include "ops/conv2d/tiled.h"
#include "ops/define.h"

static size_t column_bytes(const conv2d_view *view)
{
    return sizeof(float) * conv2d_column_floats(view, conv2d_column_rows(view));
}

static size_t weight_column_bytes(const conv2d_view *view)
{
    size_t parts = (size_t)conv2d_column_parts(view) * conv2d_column_steps(view);
    return sizeof(float) * (conv2d_column_floats(view, conv2d_column_rows(view) + 1) + parts * conv2d_part_size(view));
}

// A rung's function of the convolution `view`: of conv2d_view_forward, or of conv2d_view_backward_data.
#define SUPPORTS(function, pass, takes)                                                                                \
    bool function(const void *shape)                                                                                   \
    {                                                                                                                  \
        const conv2d_view view = conv2d_view_##pass(shape);                                                            \
        return (takes);                                                                                                \
    }
#define WORKSPACE(function, pass, bytes)                                                                               \
    size_t function(const void *shape, int threads)                                                                    \
    {                                                                                                                  \
        const conv2d_view view = conv2d_view_##pass(shape);                                                            \
        (void)threads;                                                                                                 \
        return (bytes);                                                                                                \
    }

WORKSPACE(heddle_conv2d_cuda_forward_packed_workspace, forward, conv2d_packed_bytes(&view))
WORKSPACE(heddle_conv2d_cuda_backward_data_packed_workspace, backward_data, conv2d_packed_bytes(&view))
WORKSPACE(heddle_conv2d_cuda_forward_columns_workspace, forward, column_bytes(&view))
WORKSPACE(heddle_conv2d_cuda_backward_data_columns_workspace, backward_data, column_bytes(&view))
WORKSPACE(heddle_conv2d_cuda_backward_weight_columns_workspace, forward, weight_column_bytes(&view))
SUPPORTS(heddle_conv2d_cuda_forward_tiled_supports, forward, conv2d_tiled_takes(&view))
SUPPORTS(heddle_conv2d_cuda_backward_data_tiled_supports, backward_data, conv2d_tiled_takes(&view))
SUPPORTS(heddle_conv2d_cuda_backward_weight_tiled_supports, forward, conv2d_tiled_gradient_takes(&view))
WORKSPACE(heddle_conv2d_cuda_split_gemm_workspace, forward,
          sizeof(float) * conv2d_part_size(&view) * conv2d_split_parts(&view))
WORKSPACE(heddle_conv2d_cuda_mma_split_workspace, forward,
          sizeof(float) * conv2d_part_size(&view) * conv2d_mma_split_parts(&view))
WORKSPACE(heddle_conv2d_cuda_sliding_window_workspace, forward,
          sizeof(float) * conv2d_part_size(&view) * conv2d_sliding_parts(&view))
SUPPORTS(heddle_conv2d_cuda_sliding_window_supports, forward, conv2d_sliding_takes(&view))
WORKSPACE(heddle_conv2d_cuda_image_in_shared_workspace, forward,
          sizeof(float) * conv2d_part_size(&view) * conv2d_image_parts(&view))
SUPPORTS(heddle_conv2d_cuda_image_in_shared_supports, forward, conv2d_image_takes(&view))
SUPPORTS(heddle_conv2d_cuda_forward_row_strips_supports, forward, conv2d_row_strips_take(&view))
SUPPORTS(heddle_conv2d_cuda_backward_data_row_strips_supports, backward_data, conv2d_row_strips_take(&view))
WORKSPACE(heddle_conv2d_cuda_forward_fragments_workspace, forward, conv2d_fragments_bytes(&view))
WORKSPACE(heddle_conv2d_cuda_backward_data_fragments_workspace, backward_data, conv2d_fragments_bytes(&view))
SUPPORTS(heddle_conv2d_cuda_forward_mma_image_supports, forward, conv2d_mma_image_takes(&view))
SUPPORTS(heddle_conv2d_cuda_backward_data_mma_image_supports, backward_data, conv2d_mma_image_takes(&view))

bool heddle_conv2d_cuda_small_channels_supports(const void *shape_)
{
    const heddle_conv2d_shape *shape = shape_;
    return shape->c <= 4 && shape->r == 3 && shape->s == 3 && shape->stride == 1 && shape->dilation == 1;
}

bool heddle_conv2d_cuda_patches_supports(const void *shape_)
{
    const heddle_conv2d_shape *shape = shape_;
    return shape->c >= 1 && shape->c <= 4 && shape->r == shape->s &&
           (shape->r == 3 || shape->r == 5 || shape->r == 7) && shape->stride == 2 && shape->dilation == 1 &&
           shape->h > 0 && shape->w > 0;
}

// --- 09_fft ----------------------------------------------------------------------------------------------------------

// Everything else, in multiplications of the direct rungs that take the same time: counted, then measured against
// 04_implicit_gemm and 04_split_gemm.
static const conv2d_prices fft_prices = {
    // Read and written for rows, for columns and for the products: some 50 bytes; a direct rung's tile moves one per
    // few hundred multiplications.
    .transformed = 260,
    .product = 16, // 4 multiplications, but 4 bytes read besides
    .call = 3e8,   // eight kernels one after another
    // One filter is as slow as eight in 01_naive, and in 04_implicit_gemm, which would compute 64.
    .panel = 8,
    // Up to here a pixel's window is in registers or on its way there, and a multiplication costs nothing extra.
    .least_taps = 25,
};

bool heddle_conv2d_cuda_fft_supports(const void *shape)
{
    return conv2d_frequency_takes(shape, &conv2d_cuda_limits);
}

static size_t fft_workspace(const heddle_conv2d_shape *shape, conv2d_pass pass)
{
    conv2d_frequency plan = conv2d_frequency_of(shape, pass, &conv2d_cuda_limits);
    return conv2d_frequency_memory_of(&plan, pass).bytes;
}

#define FFT(bytes, pays, pass)                                                                                         \
    HEDDLE_SHARED_WORKSPACE(bytes, heddle_conv2d_shape, fft_workspace(shape, pass))                                    \
    HEDDLE_SHARED_OF_SHAPE(bool, pays, heddle_conv2d_shape,                                                            \
                           conv2d_frequency_pays(shape, pass, &conv2d_cuda_limits, &fft_prices))
FFT(heddle_conv2d_cuda_forward_fft_workspace, heddle_conv2d_cuda_forward_fft_pays, CONV2D_FORWARD)
FFT(heddle_conv2d_cuda_backward_data_fft_workspace, heddle_conv2d_cuda_backward_data_fft_pays, CONV2D_BACKWARD_DATA)
FFT(heddle_conv2d_cuda_backward_weight_fft_workspace, heddle_conv2d_cuda_backward_weight_fft_pays,
    CONV2D_BACKWARD_WEIGHT)
