// conv2d: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

// Rows or columns of the output, for `in` of the input and a filter of `filter`.
static inline int heddle_conv2d_extent(const heddle_conv2d_shape *shape, int in, int filter)
{
    long long room = (long long)in + 2LL * shape->padding - (long long)shape->dilation * (filter - 1) - 1;
    return room < 0 || shape->stride < 1 ? 0 : (int)(room / shape->stride + 1);
}

extern const heddle_op heddle_op_conv2d_forward, heddle_op_conv2d_backward_data, heddle_op_conv2d_backward_weight;

// What conv2d_bias_relu shares with the forward operator.
enum { HEDDLE_CONV2D_FIELDS = 10 };
extern const heddle_field heddle_conv2d_fields[HEDDLE_CONV2D_FIELDS];
// The same rows for a table that has more of them, of a struct that begins with a heddle_conv2d_shape; the functions
// below take such a struct as well. Needs ops/define.h.
#define HEDDLE_CONV2D_FIELD_ROWS                                                                                       \
    {HEDDLE_REQUIRED_INT(heddle_conv2d_shape, n, "images")},                                                           \
        {HEDDLE_REQUIRED_INT(heddle_conv2d_shape, c, "channels of the input")},                                        \
        {HEDDLE_REQUIRED_INT(heddle_conv2d_shape, h, "rows of the input")},                                            \
        {HEDDLE_REQUIRED_INT(heddle_conv2d_shape, w, "columns of the input")},                                         \
        {HEDDLE_REQUIRED_INT(heddle_conv2d_shape, k, "channels of the output")},                                       \
        {HEDDLE_OPTIONAL_INT(heddle_conv2d_shape, r, 3, "rows of the filter")},                                        \
        {HEDDLE_OPTIONAL_INT(heddle_conv2d_shape, s, 3, "columns of the filter")},                                     \
        {HEDDLE_OPTIONAL_INT(heddle_conv2d_shape, stride, 1, "step between windows")},                                 \
        {HEDDLE_OPTIONAL_INT(heddle_conv2d_shape, padding, 1, "zeros around the input, on each side")},                \
    {                                                                                                                  \
        HEDDLE_OPTIONAL_INT(heddle_conv2d_shape, dilation, 1, "step between the taps of a window")                     \
    }
int heddle_conv2d_dims_input(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv2d_dims_weight(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv2d_dims_bias(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv2d_dims_output(const void *shape, int dims[HEDDLE_MAX_DIMS]);
heddle_status heddle_conv2d_validate(const void *shape);
heddle_cost heddle_conv2d_forward_cost(const void *shape);
void heddle_conv2d_forward_reference(const void *shape, const double *const *input, double *const *output);
int64_t heddle_conv2d_forward_reduction(const void *shape);

heddle_status heddle_conv2d_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_conv2d_backward_data_cpu_naive(const heddle_call *call);
heddle_status heddle_conv2d_backward_weight_cpu_naive(const heddle_call *call);

heddle_status heddle_conv2d_forward_cpu_im2col(const heddle_call *call);
heddle_status heddle_conv2d_backward_data_cpu_im2col(const heddle_call *call);
heddle_status heddle_conv2d_backward_weight_cpu_im2col(const heddle_call *call);
size_t heddle_conv2d_forward_cpu_im2col_workspace(const void *shape, int threads);
size_t heddle_conv2d_backward_data_cpu_im2col_workspace(const void *shape, int threads);
size_t heddle_conv2d_backward_weight_cpu_im2col_workspace(const void *shape, int threads);

heddle_status heddle_conv2d_forward_cpu_direct(const heddle_call *call);
heddle_status heddle_conv2d_backward_data_cpu_direct(const heddle_call *call);
heddle_status heddle_conv2d_backward_weight_cpu_direct(const heddle_call *call);
bool heddle_conv2d_cpu_direct_supports(const void *shape); // forward and backward_weight
bool heddle_conv2d_backward_data_cpu_direct_supports(const void *shape);
size_t heddle_conv2d_forward_cpu_direct_workspace(const void *shape, int threads);
size_t heddle_conv2d_backward_data_cpu_direct_workspace(const void *shape, int threads);
size_t heddle_conv2d_backward_weight_cpu_direct_workspace(const void *shape, int threads);

heddle_status heddle_conv2d_forward_cpu_winograd(const heddle_call *call);
heddle_status heddle_conv2d_backward_data_cpu_winograd(const heddle_call *call);
heddle_status heddle_conv2d_backward_weight_cpu_winograd(const heddle_call *call);
bool heddle_conv2d_cpu_winograd_supports(const void *shape);
size_t heddle_conv2d_cpu_winograd_workspace(const void *shape, int threads); // forward and backward_data
size_t heddle_conv2d_backward_weight_cpu_winograd_workspace(const void *shape, int threads);

heddle_status heddle_conv2d_forward_cpu_fft(const heddle_call *call);
heddle_status heddle_conv2d_backward_data_cpu_fft(const heddle_call *call);
heddle_status heddle_conv2d_backward_weight_cpu_fft(const heddle_call *call);
bool heddle_conv2d_cpu_fft_supports(const void *shape);
bool heddle_conv2d_forward_cpu_fft_pays(const void *shape);
bool heddle_conv2d_backward_data_cpu_fft_pays(const void *shape);
bool heddle_conv2d_backward_weight_cpu_fft_pays(const void *shape);
size_t heddle_conv2d_forward_cpu_fft_workspace(const void *shape, int threads);
size_t heddle_conv2d_backward_data_cpu_fft_workspace(const void *shape, int threads);
size_t heddle_conv2d_backward_weight_cpu_fft_workspace(const void *shape, int threads);

// The CUDA rungs come with the device's module; the shapes they accept and their workspace are declared here.
size_t heddle_conv2d_cuda_forward_packed_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_backward_data_packed_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_forward_columns_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_backward_data_columns_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_backward_weight_columns_workspace(const void *shape, int threads);
bool heddle_conv2d_cuda_forward_tiled_supports(const void *shape);
bool heddle_conv2d_cuda_backward_data_tiled_supports(const void *shape);
bool heddle_conv2d_cuda_backward_weight_tiled_supports(const void *shape);
size_t heddle_conv2d_cuda_split_gemm_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_mma_split_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_sliding_window_workspace(const void *shape, int threads);
bool heddle_conv2d_cuda_sliding_window_supports(const void *shape);
size_t heddle_conv2d_cuda_image_in_shared_workspace(const void *shape, int threads);
bool heddle_conv2d_cuda_image_in_shared_supports(const void *shape);
bool heddle_conv2d_cuda_forward_row_strips_supports(const void *shape);
bool heddle_conv2d_cuda_backward_data_row_strips_supports(const void *shape);
size_t heddle_conv2d_cuda_forward_fragments_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_backward_data_fragments_workspace(const void *shape, int threads);
bool heddle_conv2d_cuda_forward_mma_image_supports(const void *shape);
bool heddle_conv2d_cuda_backward_data_mma_image_supports(const void *shape);
bool heddle_conv2d_cuda_small_channels_supports(const void *shape);
bool heddle_conv2d_cuda_patches_supports(const void *shape);
bool heddle_conv2d_cuda_fft_supports(const void *shape);
bool heddle_conv2d_cuda_forward_fft_pays(const void *shape);
bool heddle_conv2d_cuda_backward_data_fft_pays(const void *shape);
bool heddle_conv2d_cuda_backward_weight_fft_pays(const void *shape);
size_t heddle_conv2d_cuda_forward_fft_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_backward_data_fft_workspace(const void *shape, int threads);
size_t heddle_conv2d_cuda_backward_weight_fft_workspace(const void *shape, int threads);
