// Sizes, packed weights and matrix products of a direct convolution.

#include "ops/cpu/direct.h"

enum { PANEL = HEDDLE_CPU_PANEL };

bool heddle_direct_supports(const heddle_conv2d_shape *shape)
{
    return shape->dilation == 1 ? shape->r <= HEDDLE_DIRECT_MOST_TAPS
                                : (double)shape->r * shape->s <= HEDDLE_DIRECT_MOST_TAPS;
}

heddle_direct heddle_direct_plan(const heddle_conv2d_shape *shape)
{
    heddle_direct plan = {.shape = *shape,
                          .out_h = heddle_conv2d_out_h(shape),
                          .out_w = heddle_conv2d_out_w(shape),
                          .outputs = heddle_cpu_round_up(shape->k, PANEL)};
    bool rows = shape->dilation == 1;
    plan.taps = rows ? shape->r : shape->r * shape->s;
    plan.depth = rows ? shape->s * shape->c : shape->c;
    plan.frame = (heddle_image_frame){.rows = shape->h + 2 * shape->padding,
                                      .columns = shape->w + 2 * shape->padding,
                                      .channels = shape->c,
                                      .border = shape->padding};
    plan.image_row = (ptrdiff_t)plan.frame.columns * shape->c;
    plan.image = (size_t)plan.frame.rows * plan.image_row + HEDDLE_CPU_SLACK;
    plan.weights = (size_t)plan.outputs * plan.taps * plan.depth;
    return plan;
}

bool heddle_direct_has_transpose(const heddle_conv2d_shape *shape)
{
    return shape->stride == 1 && shape->padding <= shape->dilation * (shape->r - 1) &&
           shape->padding <= shape->dilation * (shape->s - 1) && shape->r == shape->s;
}

heddle_direct heddle_direct_transpose(const heddle_conv2d_shape *shape)
{
    heddle_conv2d_shape transposed = *shape;
    transposed.c = shape->k;
    transposed.k = shape->c;
    transposed.h = heddle_conv2d_out_h(shape);
    transposed.w = heddle_conv2d_out_w(shape);
    transposed.padding = shape->dilation * (shape->r - 1) - shape->padding;
    return heddle_direct_plan(&transposed);
}

// --- weights --------------------------------------------------------------------------------------------------------

// Place `i` of tap `tap` as row, column and channel of the filter.
typedef struct place {
    int r, s, c;
} place;

static place place_of(const heddle_direct *plan, int tap, int i)
{
    if (plan->shape.dilation == 1)
        return (place){tap, i / plan->shape.c, i % plan->shape.c};
    return (place){tap / plan->shape.s, tap % plan->shape.s, i};
}

void heddle_direct_pack(const heddle_direct *plan, const float *weight, int panel, float *packed)
{
    const heddle_conv2d_shape *shape = &plan->shape;
    float *to = packed + (size_t)panel * plan->taps * plan->depth * PANEL;
    for (int tap = 0; tap < plan->taps; tap++)
        for (int i = 0; i < plan->depth; i++, to += PANEL) {
            place at = place_of(plan, tap, i);
            for (int lane = 0; lane < PANEL; lane++) {
                int k = panel * PANEL + lane;
                size_t from = (((size_t)k * shape->c + at.c) * shape->r + at.r) * shape->s + at.s;
                to[lane] = k < shape->k ? weight[from] : 0;
            }
        }
}

// The transposed plan's k are the original's c, and the filter is rotated by 180 degrees.
void heddle_direct_pack_transposed(const heddle_direct *transposed, const float *weight, int panel, float *packed)
{
    const heddle_conv2d_shape *shape = &transposed->shape;
    float *to = packed + (size_t)panel * transposed->taps * transposed->depth * PANEL;
    for (int tap = 0; tap < transposed->taps; tap++)
        for (int i = 0; i < transposed->depth; i++, to += PANEL) {
            place at = place_of(transposed, tap, i);
            int r = shape->r - 1 - at.r, s = shape->s - 1 - at.s;
            for (int lane = 0; lane < PANEL; lane++) {
                int c = panel * PANEL + lane;
                to[lane] = c < shape->k ? weight[(((size_t)at.c * shape->k + c) * shape->r + r) * shape->s + s] : 0;
            }
        }
}

void heddle_direct_add_parts(const heddle_direct *plan, const float *part, int parts, int panel, float *grad_weight)
{
    const heddle_conv2d_shape *shape = &plan->shape;
    part += (size_t)panel * plan->taps * plan->depth * PANEL;
    for (int tap = 0; tap < plan->taps; tap++)
        for (int i = 0; i < plan->depth; i++, part += PANEL) {
            place at = place_of(plan, tap, i);
            float sum[PANEL] = {0};
            for (int j = 0; j < parts; j++)
                for (int lane = 0; lane < PANEL; lane++)
                    sum[lane] += part[j * plan->weights + lane];
            for (int lane = 0; lane < PANEL && panel * PANEL + lane < shape->k; lane++) {
                int k = panel * PANEL + lane;
                grad_weight[(((size_t)k * shape->c + at.c) * shape->r + at.r) * shape->s + at.s] = sum[lane];
            }
        }
}

// --- one image ------------------------------------------------------------------------------------------------------

// Where tap `tap` starts, in floats from the first input under an output.
static ptrdiff_t tap_offset(const heddle_direct *plan, int tap)
{
    place at = place_of(plan, tap, 0);
    return plan->shape.dilation * (at.r * plan->image_row + (ptrdiff_t)at.s * plan->shape.c);
}

// A panel's weights stay in the L1 cache while the rows of the image are processed.
static void forward_panel(const heddle_direct *plan, const heddle_cpu_kernels *kernels, const float *image,
                          const float *packed, float *output)
{
    ptrdiff_t offsets[HEDDLE_DIRECT_MOST_TAPS];
    for (int tap = 0; tap < plan->taps; tap++)
        offsets[tap] = tap_offset(plan, tap);
    heddle_cpu_multiply work = {.rows = plan->out_w,
                                .depth = plan->depth,
                                .taps = plan->taps,
                                .a_row = (ptrdiff_t)plan->shape.stride * plan->shape.c,
                                .tap_offset = offsets,
                                .b = packed,
                                .c_row = plan->outputs};
    for (int y = 0; y < plan->out_h; y++) {
        work.a = image + (ptrdiff_t)y * plan->shape.stride * plan->image_row;
        work.c = output + (ptrdiff_t)y * plan->out_w * plan->outputs;
        kernels->multiply(&work);
    }
}

void heddle_direct_forward(const heddle_direct *plan, const heddle_cpu_kernels *kernels, const float *image,
                           const float *packed, float *output)
{
    for (int panel = 0; panel < plan->outputs / PANEL; panel++)
        forward_panel(plan, kernels, image, packed + (size_t)panel * plan->taps * plan->depth * PANEL,
                      output + (size_t)panel * PANEL);
}

void heddle_direct_backward_weight(const heddle_direct *plan, const heddle_cpu_kernels *kernels, const float *image,
                                   const float *grad, ptrdiff_t grad_row, float *sums)
{
    heddle_cpu_accumulate work = {.rows = plan->depth,
                                  .lines = plan->out_h,
                                  .points = plan->out_w,
                                  .a_line = plan->shape.stride * plan->image_row,
                                  .a_point = (ptrdiff_t)plan->shape.stride * plan->shape.c,
                                  .b_line = grad_row,
                                  .b_point = plan->outputs,
                                  .c_row = PANEL};
    for (int panel = 0; panel < plan->outputs; panel += PANEL)
        for (int tap = 0; tap < plan->taps; tap++) {
            work.a = image + tap_offset(plan, tap);
            work.b = grad + panel;
            work.c = sums + ((size_t)panel * plan->taps + (size_t)tap * PANEL) * plan->depth;
            kernels->accumulate(&work);
        }
}
