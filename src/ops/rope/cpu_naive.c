// rope, first rung: one pair at a time, with its own angle, sine and cosine, on one thread.
//
// Limited by: pow, sin and cos, which are the same for every head and every sequence. cpu_table computes them once.

#include "ops/rope/rope.h"

heddle_status heddle_rope_cpu_naive(const heddle_call *call)
{
    const heddle_rope_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    const size_t half = (size_t)shape->size / 2;
    size_t at = 0; // of a head
    for (int sample = 0; sample < shape->batch; sample++)
        for (int position = 0; position < shape->sequence; position++)
            for (int head = 0; head < shape->heads; head++, at += 2 * half)
                for (size_t i = 0; i < half; i++) {
                    double angle = heddle_rope_angle(shape, position, (int)i), sine = sin(angle), cosine = cos(angle);
                    float x = input[at + i], y = input[at + half + i];
                    output[at + i] = (float)(x * cosine - y * sine);
                    output[at + half + i] = (float)(y * cosine + x * sine);
                }
    return HEDDLE_OK;
}
