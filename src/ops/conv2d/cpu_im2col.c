// conv2d by matrix products: each image is unfolded so that a column holds one window, and a product with the filters
// does the rest.
//
//     columns (c*r*s, ho*wo):  output (k, ho*wo) = weight (k, c*r*s) * columns
//
// Images are independent, so each is a piece; the weight gradient sums over images, in a fixed number of groups.
//
// Limited by: writing and reading columns that hold every input r*s times. The direct rungs read the image itself.

#include <string.h>

#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"
#include "ops/lanes.h"
#include "ops/matmul/gemm.h"
#include "ops/pieces.h"

#if HEDDLE_HAVE_OPENBLAS
static const heddle_gemm_kernel *const kernel = &heddle_gemm_openblas;
#else
static const heddle_gemm_kernel *const kernel = &heddle_gemm_blocked;
#endif

enum { WEIGHT_GROUPS = 16 }; // groups of images with a weight gradient each: work for 16 threads, memory for 16 filters

typedef struct conv_work {
    const heddle_call *call;
    const heddle_conv2d_shape *shape;
    int taps; // c * r * s
    int out_h, out_w;
    size_t pixels;     // ho * wo
    size_t image_size; // c * h * w
    bool unfolded;     // a 1x1 filter: the image is already its columns
} conv_work;

static conv_work work_of(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = call->shape;
    int out_h = heddle_conv2d_out_h(shape), out_w = heddle_conv2d_out_w(shape);
    return (conv_work){
        .call = call,
        .shape = shape,
        .taps = shape->c * shape->r * shape->s,
        .out_h = out_h,
        .out_w = out_w,
        .pixels = (size_t)out_h * out_w,
        .image_size = (size_t)shape->c * shape->h * shape->w,
        .unfolded = shape->r == 1 && shape->s == 1 && shape->stride == 1 && shape->padding == 0,
    };
}

// --- scratch: for each worker, the columns of an image and what the kernel needs -------------------------------------

static size_t columns_bytes(const heddle_conv2d_shape *shape)
{
    size_t pixels = (size_t)heddle_conv2d_out_h(shape) * heddle_conv2d_out_w(shape);
    return heddle_align_bytes((size_t)shape->c * shape->r * shape->s * pixels * sizeof(float));
}

static size_t worker_bytes(const heddle_conv2d_shape *shape)
{
    return columns_bytes(shape) + heddle_align_bytes(kernel->scratch_bytes);
}

static void *workspace_at(const conv_work *work, size_t offset)
{
    return (char *)work->call->workspace + offset;
}

static float *worker_columns(const conv_work *work, int worker)
{
    return workspace_at(work, (size_t)worker * worker_bytes(work->shape));
}

static void *worker_scratch(const conv_work *work, int worker)
{
    return workspace_at(work, (size_t)worker * worker_bytes(work->shape) + columns_bytes(work->shape));
}

// --- unfolding -------------------------------------------------------------------------------------------------------

// Output positions whose tap falls inside the image, along one direction: [*begin, *end).
static void inside(const heddle_conv2d_shape *shape, int tap, int extent, int positions, int *begin, int *end)
{
    int offset = tap * shape->dilation - shape->padding;
    int first = offset < 0 ? (-offset + shape->stride - 1) / shape->stride : 0;
    int past = extent - offset > 0 ? (extent - offset + shape->stride - 1) / shape->stride : 0;
    *begin = first < positions ? first : positions;
    *end = past < positions ? past : positions;
    if (*end < *begin)
        *end = *begin;
}

// Row (c, r, s) of the columns: what that tap reads at each output position; 0 in the padding.
static void unfold_tap(const conv_work *work, const float *plane, int r, int s, float *row)
{
    const heddle_conv2d_shape *shape = work->shape;
    int y_begin, y_end, x_begin, x_end;
    inside(shape, r, shape->h, work->out_h, &y_begin, &y_end);
    inside(shape, s, shape->w, work->out_w, &x_begin, &x_end);
    memset(row, 0, work->pixels * sizeof *row);
    for (int y = y_begin; y < y_end; y++) {
        const float *line = plane + (ptrdiff_t)(y * shape->stride + r * shape->dilation - shape->padding) * shape->w;
        ptrdiff_t offset = s * shape->dilation - shape->padding;
        float *to = row + (size_t)y * work->out_w;
        if (shape->stride == 1)
            memcpy(to + x_begin, line + x_begin + offset, (size_t)(x_end - x_begin) * sizeof *to);
        else
            for (int x = x_begin; x < x_end; x++)
                to[x] = line[x * shape->stride + offset];
    }
}

static void unfold(const conv_work *work, const float *image, float *columns)
{
    const heddle_conv2d_shape *shape = work->shape;
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < shape->r; r++)
            for (int s = 0; s < shape->s; s++) {
                unfold_tap(work, image + (size_t)c * shape->h * shape->w, r, s, columns);
                columns += work->pixels;
            }
}

// The reverse: every column element is added to the input element it came from.
static void fold_tap(const conv_work *work, const float *row, int r, int s, float *plane)
{
    const heddle_conv2d_shape *shape = work->shape;
    int y_begin, y_end, x_begin, x_end;
    inside(shape, r, shape->h, work->out_h, &y_begin, &y_end);
    inside(shape, s, shape->w, work->out_w, &x_begin, &x_end);
    for (int y = y_begin; y < y_end; y++) {
        float *line = plane + (ptrdiff_t)(y * shape->stride + r * shape->dilation - shape->padding) * shape->w;
        ptrdiff_t offset = s * shape->dilation - shape->padding;
        const float *from = row + (size_t)y * work->out_w;
        for (int x = x_begin; x < x_end; x++)
            line[x * shape->stride + offset] += from[x];
    }
}

static void fold(const conv_work *work, const float *columns, float *image)
{
    const heddle_conv2d_shape *shape = work->shape;
    memset(image, 0, work->image_size * sizeof *image);
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < shape->r; r++)
            for (int s = 0; s < shape->s; s++) {
                fold_tap(work, columns, r, s, image + (size_t)c * shape->h * shape->w);
                columns += work->pixels;
            }
}

// --- forward ---------------------------------------------------------------------------------------------------------

static void forward_image(void *context, int n, int worker)
{
    const conv_work *work = context;
    const heddle_conv2d_shape *shape = work->shape;
    const float *image = (const float *)work->call->input[0] + (size_t)n * work->image_size;
    const float *bias = work->call->input[2];
    float *output = (float *)work->call->output[0] + (size_t)n * shape->k * work->pixels;
    float *columns = worker_columns(work, worker);
    if (!work->unfolded)
        unfold(work, image, columns);
    for (int k = 0; bias && k < shape->k; k++)
        for (size_t i = 0; i < work->pixels; i++)
            output[k * work->pixels + i] = bias[k];
    heddle_gemm gemm = {.m = shape->k,
                        .n = (int)work->pixels,
                        .k = work->taps,
                        .a = work->call->input[1],
                        .b = work->unfolded ? image : columns,
                        .c = output,
                        .leading_a = work->taps,
                        .leading_b = (int)work->pixels,
                        .leading_c = (int)work->pixels,
                        .alpha = 1.0f,
                        .beta = bias ? 1.0f : 0.0f};
    kernel->run(&gemm, worker_scratch(work, worker));
}

heddle_status heddle_conv2d_forward_cpu_im2col(const heddle_call *call)
{
    conv_work work = work_of(call);
    heddle_pool_run(call->pool, work.shape->n, forward_image, &work);
    return HEDDLE_OK;
}

size_t heddle_conv2d_forward_cpu_im2col_workspace(const void *shape, int threads)
{
    return (size_t)threads * worker_bytes(shape);
}

// --- gradient of the input -------------------------------------------------------------------------------------------

static void backward_data_image(void *context, int n, int worker)
{
    const conv_work *work = context;
    const heddle_conv2d_shape *shape = work->shape;
    float *grad_image = (float *)work->call->output[0] + (size_t)n * work->image_size;
    float *columns = work->unfolded ? grad_image : worker_columns(work, worker);
    heddle_gemm gemm = {.m = work->taps,
                        .n = (int)work->pixels,
                        .k = shape->k,
                        .transpose_a = true,
                        .a = work->call->input[0],
                        .b = (const float *)work->call->input[1] + (size_t)n * shape->k * work->pixels,
                        .c = columns,
                        .leading_a = work->taps,
                        .leading_b = (int)work->pixels,
                        .leading_c = (int)work->pixels,
                        .alpha = 1.0f};
    kernel->run(&gemm, worker_scratch(work, worker));
    if (!work->unfolded)
        fold(work, columns, grad_image);
}

heddle_status heddle_conv2d_backward_data_cpu_im2col(const heddle_call *call)
{
    conv_work work = work_of(call);
    heddle_pool_run(call->pool, work.shape->n, backward_data_image, &work);
    return HEDDLE_OK;
}

size_t heddle_conv2d_backward_data_cpu_im2col_workspace(const void *shape, int threads)
{
    return (size_t)threads * worker_bytes(shape);
}

// --- gradient of weight and bias -------------------------------------------------------------------------------------

static size_t group_images(const heddle_conv2d_shape *shape)
{
    return shape->n ? ((size_t)shape->n + WEIGHT_GROUPS - 1) / WEIGHT_GROUPS : 1;
}

static float *group_gradient(const conv_work *work, int group)
{
    size_t scratch = (size_t)heddle_pool_threads(work->call->pool) * worker_bytes(work->shape);
    float *first = workspace_at(work, scratch);
    return first + (size_t)group * work->shape->k * work->taps;
}

static void backward_weight_group(void *context, size_t begin, size_t end, int group, int worker)
{
    const conv_work *work = context;
    const heddle_conv2d_shape *shape = work->shape;
    float *columns = worker_columns(work, worker);
    for (size_t n = begin; n < end; n++) {
        const float *image = (const float *)work->call->input[0] + n * work->image_size;
        if (!work->unfolded)
            unfold(work, image, columns);
        heddle_gemm gemm = {.m = shape->k,
                            .n = work->taps,
                            .k = (int)work->pixels,
                            .transpose_b = true,
                            .a = (const float *)work->call->input[1] + n * shape->k * work->pixels,
                            .b = work->unfolded ? image : columns,
                            .c = group_gradient(work, group),
                            .leading_a = (int)work->pixels,
                            .leading_b = (int)work->pixels,
                            .leading_c = work->taps,
                            .alpha = 1.0f,
                            .beta = n == begin ? 0.0f : 1.0f};
        kernel->run(&gemm, worker_scratch(work, worker));
    }
}

// Elements [begin, end) of grad_weight: the groups' gradients, added in order.
static void add_groups(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const conv_work *work = context;
    float *grad_weight = work->call->output[0];
    int groups = heddle_piece_count((size_t)work->shape->n, group_images(work->shape));
    memset(grad_weight + begin, 0, (end - begin) * sizeof *grad_weight);
    for (int group = 0; group < groups; group++) {
        const float *gradient = group_gradient(work, group);
        for (size_t i = begin; i < end; i++)
            grad_weight[i] += gradient[i];
    }
}

static void grad_bias_channel(void *context, int k, int worker)
{
    (void)worker;
    const conv_work *work = context;
    const float *grad_output = work->call->input[1];
    double sum = 0;
    for (int n = 0; n < work->shape->n; n++)
        sum += heddle_sum(grad_output + ((size_t)n * work->shape->k + k) * work->pixels, work->pixels);
    ((float *)work->call->output[1])[k] = (float)sum;
}

heddle_status heddle_conv2d_backward_weight_cpu_im2col(const heddle_call *call)
{
    conv_work work = work_of(call);
    const heddle_conv2d_shape *shape = work.shape;
    heddle_pieces_run(call->pool, (size_t)shape->n, group_images(shape), backward_weight_group, &work);
    heddle_pieces_run(call->pool, (size_t)shape->k * work.taps, HEDDLE_PIECE_ELEMENTS, add_groups, &work);
    if (call->output[1])
        heddle_pool_run(call->pool, shape->k, grad_bias_channel, &work);
    return HEDDLE_OK;
}

size_t heddle_conv2d_backward_weight_cpu_im2col_workspace(const void *shape_, int threads)
{
    const heddle_conv2d_shape *shape = shape_;
    size_t groups = (size_t)heddle_piece_count((size_t)shape->n, group_images(shape));
    return (size_t)threads * worker_bytes(shape) + groups * shape->k * shape->c * shape->r * shape->s * sizeof(float);
}
