// Labels are data, so every rung on the CPU checks them before it uses them as indices.

#include "ops/cross_entropy/cross_entropy.h"

heddle_status heddle_cross_entropy_check_labels(const heddle_rows_shape *shape, const int32_t *labels)
{
    for (int i = 0; i < shape->rows; i++)
        if (labels[i] < 0 || labels[i] >= shape->cols)
            return heddle_fail(
                HEDDLE_INVALID,
                "cross_entropy: row %d has label %d, but the classes are 0 to %d: check the labels or the "
                "model's last layer",
                i, labels[i], shape->cols - 1);
    return HEDDLE_OK;
}
