// How far a float32 result may be from the float64 reference. The caller decides what is compared and reports it.

#include "ops/tolerance.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/random.h"

enum { OPERANDS = 2 * HEDDLE_MAX_OPERANDS };

static const double unit_roundoff = 0x1p-24;
static const double step = 0x1p-20; // far above float64's rounding, far below what would change the function's shape

// Rounds of perturbing the inputs: in a single one the perturbations of a few elements might agree, and cancel.
enum { ROUNDS = 3, LONG_ROUNDS = 1 };
static const double long_flops = 1e6; // a reference longer than this has enough elements

int64_t heddle_tolerance_reduction(const heddle_op *op, const void *shape)
{
    int64_t reduction = op->reduction ? op->reduction(shape) : 1;
    return reduction > 1 ? reduction : 1;
}

// Half a unit in the last place, if that is more than float32's.
static double output_roundoff(heddle_dtype dtype)
{
    return dtype == HEDDLE_BF16 ? 0x1p-8 : dtype == HEDDLE_F16 ? 0x1p-11 : dtype == HEDDLE_F16_PAIR ? 0x1p-22 : 0;
}

// What the inputs of products are rounded to; storing them is exact. Arithmetic of 16 bits rounds results in between to
// the type that the output is stored in; what is stored as float32 beside it is computed before.
static double input_roundoff(heddle_arithmetic arithmetic, heddle_dtype output)
{
    if (arithmetic == HEDDLE_FP16 || arithmetic == HEDDLE_BFLOAT)
        return output_roundoff(output);
    return arithmetic == HEDDLE_TF32 ? 0x1p-11 : 0;
}

double heddle_tolerance_factor(int64_t reduction, heddle_arithmetic arithmetic, int sum_bits, heddle_dtype output)
{
    if (!heddle_dtype_is_float(output))
        return 0;
    return unit_roundoff * (8 + 4 * sqrt((double)reduction)) + 8 * input_roundoff(arithmetic, output) +
           (sum_bits > 0 ? ldexp(64, -sum_bits) : 0) + output_roundoff(output);
}

double heddle_tolerance_norm(const heddle_op *op, const void *shape, int index, heddle_arithmetic arithmetic,
                             double norm)
{
    const heddle_operand *operand = &op->operands[index];
    static const double roundoff[] = {
        [HEDDLE_FULL] = 0x1p-24, [HEDDLE_TF32X3] = 0x1p-22, [HEDDLE_TF32] = 0x1p-11,
        [HEDDLE_FP16] = 0x1p-11, [HEDDLE_BFLOAT] = 0x1p-8,  [HEDDLE_INT8] = 0x1p-8,
    };
    const double layers = 10;      // accumulated roundings, from the first layer to the loss
    const double long_sums = 1e-5; // float32's own, over all pixels of a batch
    // Times the root, from the loss back to the first layer. One image has few windows: 4.7 was observed. With many
    // images a missing tap (an error of at least 0.27 of the norm) must not pass.
    const double one_image = 28 * 28;
    const double images = (double)heddle_tolerance_reduction(op, shape) / one_image;
    const double windows = images <= 1 ? 6 : 4;
    // A count of images: those whose two best logits are closer than the rounding may fall on either side.
    if (operand->dtype == HEDDLE_I32)
        return arithmetic >= HEDDLE_TF32 ? fmax(1, layers * roundoff[arithmetic] * images) : 0;
    if (operand->dtype != HEDDLE_F32 && operand->dtype != HEDDLE_F64)
        return 0;
    if (operand->smooth)
        return fmax(layers * roundoff[arithmetic], long_sums) * norm;
    return windows * sqrt(roundoff[arithmetic]) * norm;
}

double heddle_tolerance(int64_t reduction, double scale, double expected)
{
    return heddle_tolerance_factor(reduction, HEDDLE_FULL, 0, HEDDLE_F32) * fmax(scale, fabs(expected));
}

static double root_mean_square(const double *values, size_t elements)
{
    double sum = 0;
    for (size_t i = 0; i < elements; i++)
        sum += values[i] * values[i] / (double)elements;
    return sqrt(sum);
}

double heddle_tolerance_whole(const heddle_operand *operand, const double *expected, size_t elements)
{
    return operand->by_row ? root_mean_square(expected, elements) : 0;
}

double heddle_tolerance_row(const heddle_operand *operand, const double *row, size_t columns, double whole)
{
    if (!operand->by_row || !(whole > 0))
        return 1;
    return fmax(1, root_mean_square(row, columns) / whole);
}

// The value that would be at `index` if they were sorted, by Hoare's selection, which leaves most of them unsorted. A
// NaN is neither smaller nor larger than anything, and ends up anywhere.
static double select_double(double *values, ptrdiff_t count, ptrdiff_t index)
{
    for (ptrdiff_t first = 0, last = count - 1; first < last;) {
        double pivot = values[index];
        ptrdiff_t low = first, high = last;
        while (low <= high) {
            while (values[low] < pivot)
                low++;
            while (pivot < values[high])
                high--;
            if (low <= high) {
                double value = values[low];
                values[low++] = values[high];
                values[high--] = value;
            }
        }
        if (high < index)
            first = low;
        if (index < low)
            last = high;
    }
    return values[index];
}

// Median of |moved - expected|; `moved` is overwritten.
static double median_distance(double *moved, const double *expected, size_t elements)
{
    for (size_t i = 0; i < elements; i++)
        moved[i] = fabs(moved[i] - expected[i]);
    return elements ? select_double(moved, (ptrdiff_t)elements, (ptrdiff_t)(elements / 2)) : 0;
}

static bool is_moved(const heddle_operand *operand)
{
    return operand->role != HEDDLE_OUTPUT && heddle_dtype_is_float(operand->dtype);
}

// The prepared operands, with every float that is read multiplied by 1 + step or 1 - step.
static void move_inputs(const heddle_op *op, double *const *prepared, const size_t *elements, double **moved,
                        uint64_t round)
{
    heddle_random random = heddle_random_make(1, round);
    for (int i = 0; i < op->operand_count; i++) {
        if (!moved[i])
            continue;
        memcpy(moved[i], prepared[i], elements[i] * sizeof(double));
        for (size_t e = 0; is_moved(&op->operands[i]) && e < elements[i]; e++)
            moved[i][e] *= heddle_random_u32(&random) & 1 ? 1 + step : 1 - step;
    }
}

static void run_reference(const heddle_op *op, const void *shape, double *const *operand)
{
    const double *input[HEDDLE_MAX_OPERANDS] = {NULL};
    double *output[HEDDLE_MAX_OPERANDS] = {NULL};
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(op, i, &slot))
            output[slot] = operand[i];
        else
            input[slot] = operand[i];
    }
    op->reference(shape, input, output);
}

heddle_status heddle_tolerance_scale(const heddle_op *op, const void *shape, double *const *prepared,
                                     double *const *expected, const size_t *elements, double *scale)
{
    double *moved[OPERANDS] = {NULL};
    bool enough = true;
    for (int i = 0; i < op->operand_count; i++) {
        scale[i] = root_mean_square(expected[i], elements[i]);
        if (prepared[i])
            moved[i] = malloc((elements[i] + 1) * sizeof(double));
        enough = enough && (moved[i] || !prepared[i]);
    }
    uint64_t rounds = op->cost(shape).flops > long_flops ? LONG_ROUNDS : ROUNDS;
    for (uint64_t round = 0; enough && round < rounds; round++) {
        move_inputs(op, prepared, elements, moved, round);
        run_reference(op, shape, moved);
        for (int i = 0; i < op->operand_count; i++)
            if (moved[i] && op->operands[i].role != HEDDLE_INPUT)
                scale[i] = fmax(scale[i], median_distance(moved[i], expected[i], elements[i]) / step);
    }
    for (int i = 0; i < OPERANDS; i++)
        free(moved[i]);
    return enough ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the operands of %s", op->name);
}
