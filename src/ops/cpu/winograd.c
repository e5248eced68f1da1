// Sizes, packed weights and matrix products of a Winograd convolution. The transforms of images are in winograd.inc.

#include "ops/cpu/winograd.h"

enum {
    POINTS = HEDDLE_WINOGRAD_POINTS,
    PANEL = HEDDLE_CPU_PANEL,
    TAPS = 9,
    // Tiles per block if an image has more: with 64 channels on both sides a block's points are 0.5 MiB, half of a
    // usual L2 cache, and the weights are read once for 64 rows.
    BLOCK_TILES = 64,
    // Between points, so that sixteen of them at a power-of-two distance do not fall into the same cache sets.
    POINT_GAP = 16,
};

heddle_winograd heddle_winograd_plan(int c, int h, int w, int k)
{
    heddle_winograd plan = {.c = c, .h = h, .w = w, .k = k};
    plan.inputs = heddle_cpu_round_up(c, PANEL);
    plan.outputs = heddle_cpu_round_up(k, PANEL);
    plan.tile_rows = (h + 1) / 2;
    plan.tile_columns = (w + 1) / 2;
    plan.block_rows = plan.tile_columns < BLOCK_TILES ? BLOCK_TILES / plan.tile_columns : 1;
    if (plan.block_rows > plan.tile_rows)
        plan.block_rows = plan.tile_rows;
    plan.frame = (heddle_image_frame){
        .rows = 2 * plan.tile_rows + 2,
        .columns = 2 * plan.tile_columns + 2,
        .channels = plan.inputs,
        .border = 1,
    };
    plan.image_row = (ptrdiff_t)plan.frame.columns * plan.inputs;
    ptrdiff_t tiles = (ptrdiff_t)plan.block_rows * plan.tile_columns;
    plan.in_point = tiles * plan.inputs + POINT_GAP;
    plan.out_point = tiles * plan.outputs + POINT_GAP;
    plan.weight_point = (ptrdiff_t)plan.inputs * plan.outputs + POINT_GAP;
    plan.weights = (size_t)POINTS * plan.weight_point;
    return plan;
}

heddle_winograd_scratch heddle_winograd_take(const heddle_winograd *plan, heddle_scratch *scratch)
{
    return (heddle_winograd_scratch){
        .image = heddle_scratch_floats(scratch, (size_t)plan->frame.rows * plan->image_row),
        .in_points = heddle_scratch_floats(scratch, (size_t)POINTS * plan->in_point + HEDDLE_CPU_SLACK),
        .out_points = heddle_scratch_floats(scratch, (size_t)POINTS * plan->out_point + HEDDLE_CPU_SLACK),
    };
}

int heddle_winograd_blocks(const heddle_winograd *plan)
{
    return (plan->tile_rows + plan->block_rows - 1) / plan->block_rows;
}

int heddle_winograd_block(const heddle_winograd *plan, int index, heddle_cpu_tiles *inputs, heddle_cpu_tiles *outputs)
{
    int first = index * plan->block_rows, left = plan->tile_rows - first;
    int rows = left < plan->block_rows ? left : plan->block_rows;
    *inputs = (heddle_cpu_tiles){
        .rows = rows, .columns = plan->tile_columns, .channels = plan->inputs, .point = plan->in_point};
    *outputs = (heddle_cpu_tiles){
        .rows = rows, .columns = plan->tile_columns, .channels = plan->outputs, .point = plan->out_point};
    return first;
}

// --- weights --------------------------------------------------------------------------------------------------------

// G on three values, sixteen filters at once.
static void filter_column(const float *a, const float *b, const float *c, float to[4][PANEL])
{
    for (int i = 0; i < PANEL; i++) {
        to[0][i] = a[i];
        to[1][i] = 0.5f * (a[i] + b[i] + c[i]);
        to[2][i] = 0.5f * (a[i] - b[i] + c[i]);
        to[3][i] = c[i];
    }
}

// The 16 points of filter (9, 16), each to its own place, `point` floats apart.
static void transform_filter(float filter[TAPS][PANEL], float *to, ptrdiff_t point)
{
    float down[3][4][PANEL], across[4][PANEL];
    for (int s = 0; s < 3; s++)
        filter_column(filter[s], filter[3 + s], filter[6 + s], down[s]);
    for (int i = 0; i < 4; i++) {
        filter_column(down[0][i], down[1][i], down[2][i], across);
        for (int j = 0; j < 4; j++)
            for (int lane = 0; lane < PANEL; lane++)
                to[(4 * i + j) * point + lane] = across[j][lane];
    }
}

void heddle_winograd_pack(const heddle_winograd *plan, const float *weight, const float *scale, int panel,
                          float *packed)
{
    for (int c = 0; c < plan->inputs; c++) {
        float filter[TAPS][PANEL] = {{0}};
        for (int lane = 0; lane < PANEL && c < plan->c; lane++) {
            int k = panel * PANEL + lane;
            const float *from = weight + ((size_t)k * plan->c + c) * TAPS;
            for (int tap = 0; tap < TAPS && k < plan->k; tap++)
                filter[tap][lane] = scale ? from[tap] * scale[k] : from[tap];
        }
        transform_filter(filter, packed + ((size_t)panel * plan->inputs + c) * PANEL, plan->weight_point);
    }
}

void heddle_winograd_pack_transposed(const heddle_winograd *plan, const float *weight, int panel, float *packed)
{
    for (int k = 0; k < plan->outputs; k++) {
        float filter[TAPS][PANEL] = {{0}};
        for (int lane = 0; lane < PANEL && k < plan->k; lane++) {
            int c = panel * PANEL + lane;
            const float *from = weight + ((size_t)k * plan->c + c) * TAPS;
            for (int tap = 0; tap < TAPS && c < plan->c; tap++)
                filter[tap][lane] = from[tap];
        }
        transform_filter(filter, packed + ((size_t)panel * plan->outputs + k) * PANEL, plan->weight_point);
    }
}

// Gᵀ on four values, sixteen filters at once.
static void filter_column_transposed(const float *const p[4], float *const to[3])
{
    for (int i = 0; i < PANEL; i++) {
        float sum = 0.5f * (p[1][i] + p[2][i]), difference = 0.5f * (p[1][i] - p[2][i]);
        to[0][i] = p[0][i] + sum;
        to[1][i] = difference;
        to[2][i] = p[3][i] + sum;
    }
}

size_t heddle_winograd_part_floats(const heddle_winograd *plan)
{
    return (size_t)TAPS * plan->inputs * plan->outputs;
}

void heddle_winograd_grad_weights(const heddle_winograd *plan, const float *grad, float *part)
{
    size_t filters = (size_t)plan->inputs * (plan->outputs / PANEL);
    ptrdiff_t point = plan->weight_point;
    for (size_t filter = 0; filter < filters; filter++, grad += PANEL, part += TAPS * PANEL) {
        float down[3][4][PANEL];
        for (int j = 0; j < 4; j++) {
            const float *const column[4] = {grad + j * point, grad + (4 + j) * point, grad + (8 + j) * point,
                                            grad + (12 + j) * point};
            // cppcheck-suppress legacyUninitvar ; the callee writes them
            filter_column_transposed(column, (float *const[3]){down[0][j], down[1][j], down[2][j]});
        }
        for (int r = 0; r < 3; r++) {
            const float *const row[4] = {down[r][0], down[r][1], down[r][2], down[r][3]};
            float *to = part + 3 * r * PANEL;
            filter_column_transposed(row, (float *const[3]){to, to + PANEL, to + 2 * PANEL});
        }
    }
}

void heddle_winograd_add_parts(const heddle_winograd *plan, const float *part, int parts, int panel, float *grad_weight)
{
    size_t size = heddle_winograd_part_floats(plan);
    part += (size_t)panel * plan->inputs * TAPS * PANEL;
    for (int c = 0; c < plan->c; c++, part += TAPS * PANEL) {
        float sum[TAPS * PANEL] = {0};
        for (int i = 0; i < parts; i++)
            for (int j = 0; j < TAPS * PANEL; j++)
                sum[j] += part[i * size + j];
        for (int lane = 0; lane < PANEL && panel * PANEL + lane < plan->k; lane++)
            for (int tap = 0; tap < TAPS; tap++)
                grad_weight[((size_t)(panel * PANEL + lane) * plan->c + c) * TAPS + tap] = sum[tap * PANEL + lane];
    }
}

// --- products -------------------------------------------------------------------------------------------------------

// c (16, tiles, columns) = a (16, tiles, depth) · b (16, columns / 16, depth, 16)
static void multiply_points(const heddle_cpu_kernels *kernels, int tiles, int depth, int columns, const float *a,
                            ptrdiff_t a_point, const float *b, ptrdiff_t b_point, float *c, ptrdiff_t c_point)
{
    const ptrdiff_t no_offset = 0;
    heddle_cpu_multiply work = {
        .rows = tiles, .depth = depth, .taps = 1, .a_row = depth, .tap_offset = &no_offset, .c_row = columns};
    for (int point = 0; point < POINTS; point++) {
        work.a = a + point * a_point;
        work.b = b + point * b_point;
        for (int panel = 0; panel < columns; panel += PANEL) {
            work.c = c + point * c_point + panel;
            kernels->multiply(&work);
            work.b += (size_t)depth * PANEL;
        }
    }
}

void heddle_winograd_forward(const heddle_winograd *plan, const heddle_cpu_kernels *kernels, int tiles,
                             const float *in_points, const float *packed, float *out_points)
{
    multiply_points(kernels, tiles, plan->inputs, plan->outputs, in_points, plan->in_point, packed, plan->weight_point,
                    out_points, plan->out_point);
}

void heddle_winograd_backward_data(const heddle_winograd *plan, const heddle_cpu_kernels *kernels, int tiles,
                                   const float *out_points, const float *packed_transposed, float *in_points)
{
    multiply_points(kernels, tiles, plan->outputs, plan->inputs, out_points, plan->out_point, packed_transposed,
                    plan->weight_point, in_points, plan->in_point);
}

void heddle_winograd_backward_weight(const heddle_winograd *plan, const heddle_cpu_kernels *kernels, int tiles,
                                     const float *in_points, const float *out_points, float *grad)
{
    heddle_cpu_accumulate work = {.rows = plan->inputs,
                                  .lines = 1,
                                  .points = tiles,
                                  .a_point = plan->inputs,
                                  .b_point = plan->outputs,
                                  .c_row = PANEL};
    for (int point = 0; point < POINTS; point++) {
        work.a = in_points + point * plan->in_point;
        work.c = grad + point * plan->weight_point;
        for (int panel = 0; panel < plan->outputs; panel += PANEL) {
            work.b = out_points + point * plan->out_point + panel;
            kernels->accumulate(&work);
            work.c += (size_t)plan->inputs * PANEL;
        }
    }
}
