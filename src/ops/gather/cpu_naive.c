// gather, first rung: one pixel at a time, one thread.
//
// Limited by: the memory bandwidth of one core.

#include "ops/gather/gather.h"

#include "base/move.h"

static void move_image(const heddle_gather_shape *shape, const uint8_t *from, const int8_t *move, float *to)
{
    const int plane = shape->h * shape->w;
    for (int p = 0; p < shape->pixels; p++) {
        int at = p % plane, source = heddle_move_source(move, shape->h, shape->w, at / shape->w, at % shape->w);
        to[p] = source < 0 ? 0.0f : (float)from[p - at + source] / 255.0f;
    }
}

heddle_status heddle_gather_cpu_naive(const heddle_call *call)
{
    const heddle_gather_shape *shape = call->shape;
    const uint8_t *dataset = call->input[0];
    const int32_t *dataset_labels = call->input[1], *order = call->input[2];
    const int64_t *cursor = call->input[3];
    const int8_t *moves = call->input[4];
    float *images = call->output[0];
    int32_t *labels = call->output[1];
    for (int i = 0; i < shape->n; i++) {
        size_t row = (size_t)order[cursor[0] + i];
        const uint8_t *from = dataset + row * shape->pixels;
        float *to = images + (size_t)i * shape->pixels;
        if (shape->w && moves)
            move_image(shape, from, moves + (cursor[0] + i) * HEDDLE_MOVE_COUNT, to);
        else
            for (int p = 0; p < shape->pixels; p++)
                to[p] = (float)from[p] / 255.0f;
        labels[i] = dataset_labels[row];
    }
    return HEDDLE_OK;
}
