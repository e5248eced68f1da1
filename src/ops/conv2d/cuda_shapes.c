// Which shapes the CUDA rungs of conv2d take, and how much workspace they need. Their kernels include the same headers.

#include "ops/conv2d/columns.h"
#include "ops/conv2d/fragments.h"
#include "ops/conv2d/row_strips.h"
#include "ops/conv2d/split.h"
#include "ops/conv2d/tiled.h"

size_t heddle_conv2d_cuda_forward_packed_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_packed_bytes(&view);
}

size_t heddle_conv2d_cuda_backward_data_packed_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_backward_data(shape);
    return conv2d_packed_bytes(&view);
}

size_t heddle_conv2d_cuda_forward_columns_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    return sizeof(float) * conv2d_column_floats(&view, conv2d_column_rows(&view));
}

size_t heddle_conv2d_cuda_backward_data_columns_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_backward_data(shape);
    return sizeof(float) * conv2d_column_floats(&view, conv2d_column_rows(&view));
}

size_t heddle_conv2d_cuda_backward_weight_columns_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    size_t parts = (size_t)conv2d_column_parts(&view) * conv2d_column_steps(&view);
    return sizeof(float) *
           (conv2d_column_floats(&view, conv2d_column_rows(&view) + 1) + parts * conv2d_part_size(&view));
}

bool heddle_conv2d_cuda_forward_tiled_supports(const void *shape)
{
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_tiled_takes(&view);
}

bool heddle_conv2d_cuda_backward_data_tiled_supports(const void *shape)
{
    conv2d_view view = conv2d_view_backward_data(shape);
    return conv2d_tiled_takes(&view);
}

bool heddle_conv2d_cuda_backward_weight_tiled_supports(const void *shape)
{
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_tiled_gradient_takes(&view);
}

size_t heddle_conv2d_cuda_split_gemm_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    return sizeof(float) * conv2d_part_size(&view) * conv2d_split_parts(&view);
}

size_t heddle_conv2d_cuda_sliding_window_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    return sizeof(float) * conv2d_part_size(&view) * conv2d_sliding_parts(&view);
}

bool heddle_conv2d_cuda_sliding_window_supports(const void *shape)
{
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_sliding_takes(&view);
}

size_t heddle_conv2d_cuda_image_in_shared_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    return sizeof(float) * conv2d_part_size(&view) * conv2d_image_parts(&view);
}

bool heddle_conv2d_cuda_image_in_shared_supports(const void *shape)
{
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_image_takes(&view);
}

bool heddle_conv2d_cuda_forward_row_strips_supports(const void *shape)
{
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_row_strips_take(&view);
}

bool heddle_conv2d_cuda_backward_data_row_strips_supports(const void *shape)
{
    conv2d_view view = conv2d_view_backward_data(shape);
    return conv2d_row_strips_take(&view);
}

size_t heddle_conv2d_cuda_forward_fragments_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_fragments_bytes(&view);
}

size_t heddle_conv2d_cuda_backward_data_fragments_workspace(const void *shape, int threads)
{
    (void)threads;
    conv2d_view view = conv2d_view_backward_data(shape);
    return conv2d_fragments_bytes(&view);
}

bool heddle_conv2d_cuda_forward_mma_image_supports(const void *shape)
{
    conv2d_view view = conv2d_view_forward(shape);
    return conv2d_mma_image_takes(&view);
}

bool heddle_conv2d_cuda_backward_data_mma_image_supports(const void *shape)
{
    conv2d_view view = conv2d_view_backward_data(shape);
    return conv2d_mma_image_takes(&view);
}

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
