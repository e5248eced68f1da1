// Shapes and parameters that several layer types have.

#include "nn/layers/type.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

heddle_status heddle_infer_elements(const heddle_layer *layer, int *elements)
{
    *elements = 1;
    for (int i = 0; i < layer->in_rank; i++)
        if (__builtin_mul_overflow(*elements, layer->in[i], elements))
            return heddle_fail(HEDDLE_INVALID, "images of %d×%d×%d have more than %d features; pool them first",
                               layer->in[0], layer->in[1], layer->in[2], INT_MAX);
    return HEDDLE_OK;
}

heddle_status heddle_infer_same(heddle_layer *layer)
{
    layer->out_rank = layer->in_rank;
    memcpy(layer->out, layer->in, sizeof layer->out);
    return HEDDLE_OK;
}

// In the words of the file: a convolution has a kernel, pooling has a window.
static heddle_status refuse_window(const heddle_layer *layer, int extent)
{
    char size[64];
    if (layer->kernel == 0)
        snprintf(size, sizeof size, "window %d", layer->window);
    else if (extent == layer->kernel)
        snprintf(size, sizeof size, "kernel %d", layer->kernel);
    else
        snprintf(size, sizeof size, "kernel %d with dilation %d spans %d pixels and", layer->kernel, layer->dilation,
                 extent);
    return heddle_fail(HEDDLE_INVALID,
                       "%s does not fit into %d×%d pixels with padding %d; make it smaller or add padding", size,
                       layer->in[1], layer->in[2], layer->padding);
}

heddle_status heddle_infer_windows(heddle_layer *layer, int channels, int extent)
{
    layer->out_rank = 3;
    layer->out[0] = channels;
    for (int i = 1; i < 3; i++) {
        int room = layer->in[i] + 2 * layer->padding - extent;
        if (room < 0)
            return refuse_window(layer, extent);
        layer->out[i] = room / layer->stride + 1;
    }
    return HEDDLE_OK;
}

heddle_parameter_spec heddle_parameter_make(const heddle_layer *layer, const char *name, int rank, const int *dims)
{
    heddle_parameter_spec spec = {.rank = rank, .trained = true, .decay = layer->decay};
    snprintf(spec.name, sizeof spec.name, "%s.%s", layer->name, name);
    memcpy(spec.dims, dims, (size_t)rank * sizeof *dims);
    return spec;
}

int heddle_weight_and_bias(const heddle_layer *layer, int rank, const int *dims, heddle_parameter_spec *specs)
{
    int inputs = 1, count = layer->bias ? 2 : 1;
    for (int i = 1; i < rank; i++)
        inputs *= dims[i];
    specs[0] = heddle_parameter_make(layer, "weight", rank, dims);
    if (layer->bias)
        specs[1] = heddle_parameter_make(layer, "bias", 1, dims);
    for (int i = 0; i < count; i++) {
        specs[i].start = HEDDLE_START_UNIFORM;
        specs[i].bound = 1.0F / sqrtf((float)inputs);
    }
    return count;
}
