// gather, first rung: a pixel at a time, one thread.
//
// Limited by: one core's share of the memory's bandwidth.

#include "ops/gather/gather.h"

heddle_status heddle_gather_cpu_naive(const heddle_call *call)
{
    const heddle_gather_shape *shape = call->shape;
    const uint8_t *dataset = call->input[0];
    const int32_t *dataset_labels = call->input[1], *order = call->input[2];
    const int64_t *cursor = call->input[3];
    float *images = call->output[0];
    int32_t *labels = call->output[1];
    for (int i = 0; i < shape->n; i++) {
        size_t row = (size_t)order[cursor[0] + i];
        for (int p = 0; p < shape->pixels; p++)
            images[(size_t)i * shape->pixels + p] = (float)dataset[row * shape->pixels + p] / 255.0f;
        labels[i] = dataset_labels[row];
    }
    return HEDDLE_OK;
}
