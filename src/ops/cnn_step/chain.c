// The step as a chain of operators: their shapes, for its checks, its cost and its reference.

#include "ops/cnn_step/chain.h"

heddle_cnn_step_chain heddle_cnn_step_chain_of(const heddle_cnn_step_shape *shape)
{
    int h1 = shape->h / 2, w1 = shape->w / 2, features = shape->k2 * (h1 / 2) * (w1 / 2);
    float epsilon = shape->epsilon, momentum = shape->momentum;
    return (heddle_cnn_step_chain){
        .gather = {shape->n, shape->count, shape->length, shape->c * shape->h * shape->w},
        .stem = {shape->n, shape->c, shape->h, shape->w, shape->k1, 0, 1, epsilon, momentum},
        .block = {shape->n, shape->k1, h1, w1, shape->k2, 1, 0, epsilon, momentum},
        .hidden = {shape->n, features, shape->hidden},
        .relu = {shape->n * shape->hidden},
        .output = {shape->n, shape->hidden, shape->classes},
        .loss = {shape->n, shape->classes},
    };
}
