// conv2d, rung 5: 3x3 windows, stride 1, straight from the image. A thread holds a strip of a row, 14 pixels by 4
// filters, in registers.
//
// Rung 4 copies every element into shared memory once per tap, nine times, and loads 16 numbers for 64 multiplications.
// Neighbouring windows of a row overlap: 16 pixels of one source row serve the three taps of 14 outputs. With 4 filters
// that is 7 loads of 16 bytes for 168 multiplications. Asynchronous copies load the image, bypassing registers, and its
// border is cleared once: the loop has no bounds check left. Results go through shared memory, so that whole rows are
// written, not strips that are a plane apart.
//
// Strips have 14 pixels because networks have rows of 14, 28 and 56; 8 where that fits better.
//
// Limited by: multiplications, which are nearly all of the instructions. Fewer would need another algorithm
// (Winograd's), more per cycle other units (rung 7).

#include "ops/conv2d/row_strips_kernel.h"

static heddle_status launch_forward(const heddle_call *call)
{
    launch_strips<false>(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape),
                         (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
                         (float *)call->output[0]);
    return heddle_cuda_launched("05_row_strips");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    launch_strips<false>(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape),
                         (const float *)call->input[1], (const float *)call->input[0], NULL, (float *)call->output[0]);
    return heddle_cuda_launched("05_row_strips");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "05_row_strips", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "05_row_strips", launch_backward_data)
