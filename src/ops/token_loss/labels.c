// Labels are data, so every rung on the CPU checks them before it uses them as indices.

#include <inttypes.h>

#include "ops/token_loss/token_loss.h"

heddle_status heddle_token_loss_check_labels(const heddle_token_loss_shape *shape, const int64_t *labels)
{
    for (int i = 0; i < shape->rows; i++)
        if (labels[i] != (int64_t)shape->ignored && (labels[i] < 0 || labels[i] >= shape->cols))
            return heddle_fail(HEDDLE_INVALID,
                               "token_loss: row %d has label %" PRId64 ", but the words are 0 to %d and the ignored "
                               "label is %.0f: check the labels",
                               i, labels[i], shape->cols - 1, (double)shape->ignored);
    return HEDDLE_OK;
}
