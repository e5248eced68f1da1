// rows_conv_forward over bytes on the CPU: the compiler's vectors along the channels, sums in int32.
//
// Threads take pieces of rows. A row's products with one tap's weights are a loop that compilers turn into dot products
// of bytes where the CPU has them.
//
// Limited by: one load of a weight per product.

#include <math.h>

#include "base/threads.h"
#include "ops/rows_conv/rows_conv.h"
#include "ops/rows_define.h"

enum { PIECE = 64 }; // rows

static int32_t dot(const int8_t *restrict a, const int8_t *restrict b, int count)
{
    int32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += (int32_t)a[i] * b[i];
    return sum;
}

static int8_t result_of(const heddle_call *call, int row, int to)
{
    const heddle_rows_conv_shape *shape = call->shape;
    const int8_t *input = call->input[0], *weight = call->input[1];
    const float *bias = call->input[2], *scale = call->input[3];
    const int all = heddle_rows_conv_rows(shape), taps = shape->r * shape->s;
    int32_t sum = 0;
    for (int tap = 0; tap < taps; tap++) {
        const int at = row + heddle_rows_conv_shift(shape, tap);
        if (at >= 0 && at < all)
            sum += dot(input + (size_t)at * (size_t)shape->c, weight + ((size_t)to * taps + tap) * (size_t)shape->c,
                       shape->c);
    }
    return (int8_t)heddle_rows_requantise(shape->function, sum, scale ? (double)scale[to] : 1,
                                          bias ? (double)bias[to] : 0);
}

static void take_piece(void *context, int index, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const heddle_rows_conv_shape *shape = call->shape;
    const int all = heddle_rows_conv_rows(shape), end = (index + 1) * PIECE < all ? (index + 1) * PIECE : all;
    for (int row = index * PIECE; row < end; row++) {
        int8_t *output = (int8_t *)call->output[0] + (size_t)row * (size_t)shape->k;
        const bool is_zero = shape->zero_gaps && !heddle_rows_conv_holds(shape, row);
        for (int to = 0; to < shape->k; to++)
            output[to] = is_zero ? 0 : result_of(call, row, to);
    }
}

heddle_status heddle_rows_conv_forward_cpu_int8(const heddle_call *call)
{
    heddle_call copy = *call;
    heddle_pool_run(call->pool, (heddle_rows_conv_rows(call->shape) + PIECE - 1) / PIECE, take_piece, &copy);
    return HEDDLE_OK;
}
