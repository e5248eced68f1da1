// What finish.h does with an element of a gradient: stores it, or in cnn_train takes the optimiser's step with it and
// packs the new weight as prepare.h does.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"
#include "ops/optimizer/step.h"

enum {
    CNN_FINISH_WARPS = 8,
    CNN_FINISH_THREADS = CNN_FINISH_WARPS * 32,
    CNN_FINISH_RESIDENT = 4, // blocks per SM: all of them at once
    CNN_FINISH_COUNTER = 3,  // of workspace.counters: blocks that are done
    CNN_OVERFLOW_FLAG = 4,   // likewise: not zero when a gradient is not finite

    CNN_FINISH_COLUMNS = 64, // two per lane: 8 bytes per load, and enough blocks for every SM
    CNN_FINISH_THIRDS = 3,   // blocks of an output channel of conv2
    CNN_FINISH_THIRD = CNN_PATCH / CNN_FINISH_THIRDS,
    CNN_FINISH_CONV2_BLOCKS = CNN_CHANNELS2 * CNN_FINISH_THIRDS,
    CNN_FINISH_QUADS = CNN_FINISH_THIRD / 4, // threads that read a row of a third
    CNN_FINISH_ROWS = CNN_FINISH_THREADS / CNN_FINISH_QUADS,
    CNN_FINISH_HEAD_BLOCKS = (CNN_HEAD_PARTIAL + CNN_FINISH_COLUMNS - 1) / CNN_FINISH_COLUMNS,
    CNN_FINISH_CHANNELS = CNN_CHANNELS2 / 2, // of half a row of hidden_weight
    CNN_FINISH_HIDDEN_BLOCKS = CNN_HIDDEN * 2,

    CNN_STEM_GROUPS = CNN_FINISH_THREADS / CNN_STEM_SUMS, // threads that share one of a channel's sums
};

// --- one element -----------------------------------------------------------------------------------------------------

// One element of a gradient, and in cnn_train the parameter and moments that it changes.
struct cnn_finish_element {
    float *to, parameter, first, second;
};

// The inputs of an optimiser's step.
struct cnn_finish_hyper {
    float values[HEDDLE_HYPER_COUNT];
};

template <cnn_optimizer Update, typename Arguments>
CNN_DEVICE cnn_finish_hyper cnn_finish_hyper_of(const Arguments &arguments)
{
    cnn_finish_hyper hyper = {};
#pragma unroll
    for (int i = 0; i < HEDDLE_HYPER_COUNT; i++)
        if (Update != CNN_NO_UPDATE)
            hyper.values[i] = arguments.training.hyper[i];
    return hyper;
}

// Before the gradient is known.
template <cnn_optimizer Update, typename Arguments>
CNN_DEVICE cnn_finish_element cnn_finish_element_of(const Arguments &arguments, float *to)
{
    cnn_finish_element element = {to, 0, 0, 0};
    if (Update != CNN_NO_UPDATE) {
        const cnn_training &training = arguments.training;
        const size_t at = to - training.operands.parameters;
        element.parameter = *to;
        if (Update > CNN_SGD)
            element.first = training.operands.first_moment[at];
        if (Update > CNN_MOMENTUM)
            element.second = training.operands.second_moment[at];
    }
    return element;
}

// Stores the gradient, or the parameter after a step; returns what it stored.
template <cnn_optimizer Update, typename Arguments>
CNN_DEVICE float cnn_finish_write(const Arguments &arguments, const cnn_finish_hyper &hyper, cnn_finish_element element,
                                  float gradient)
{
    if (Update == CNN_NO_UPDATE) {
        *element.to = gradient;
        return gradient;
    }
    const cnn_training &training = arguments.training;
    const size_t at = element.to - training.operands.parameters;
    if (Update == CNN_SGD)
        sgd_step(gradient, hyper.values, &element.parameter);
    else if (Update == CNN_MOMENTUM)
        momentum_step(gradient, hyper.values, &element.parameter, &element.first);
    else
        adamw_step(gradient, hyper.values, &element.parameter, &element.first, &element.second);
    if (Update > CNN_SGD)
        training.operands.first_moment[at] = element.first;
    if (Update > CNN_MOMENTUM)
        training.operands.second_moment[at] = element.second;
    *element.to = element.parameter;
    return element.parameter;
}

// --- conv2's weight, packed again ------------------------------------------------------------------------------------

// Which row of conv2_forward an output channel has: the inverse of cnn_conv2_channel.
CNN_DEVICE int cnn_conv2_row(int channel)
{
    return channel / 16 * 16 + channel % 4 / 2 * 8 + channel % 16 / 4 * 2 + channel % 2;
}

// Stores the new weight of one output channel, tap and input channel for the next step's products.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_repack_conv2(const Arguments &arguments, int out, int along, float weight)
{
    typedef typename Arithmetic::operand operand;
    enum { CHUNK = 16 / sizeof(operand) };
    const int tap = along / CNN_CHANNELS1, in = along % CNN_CHANNELS1;
    const operand rounded = cnn_round<Arithmetic>(weight);
    arguments.workspace.conv2_forward[(along / CHUNK * CNN_CHANNELS2 + cnn_conv2_row(out)) * CHUNK + along % CHUNK] =
        rounded;
    arguments.workspace.conv2_backward[(in * CNN_TAPS + CNN_TAPS - 1 - tap) * CNN_CHANNELS2 + out] = rounded;
    enum { PARTS = cnn_half_parts<Arithmetic>::COUNT };
    if constexpr (PARTS == 0) {
        ((operand *)arguments.workspace.conv2_parts)[(along / CHUNK * CNN_CHANNELS2 + out) * CHUNK + along % CHUNK] =
            rounded;
    } else {
        __half *parts = (__half *)arguments.workspace.conv2_parts + (along / 8 * CNN_CHANNELS2 + out) * 8 + along % 8;
        float rest = weight * CNN_CONV2_SCALE;
#pragma unroll
        for (int part = 0; part < PARTS; part++, parts += CNN_CHANNELS2 * CNN_PATCH) {
            const __half half = __float2half_rn(rest);
            *parts = half;
            rest -= __half2float(half);
        }
    }
}
