// Layer by layer over one image: a trace of its own, whose values all keep their memory.

#include "nn/activations.h"

#include <stdlib.h>

#include "nn/lower.h"
#include "nn/run.h"

struct heddle_activations {
    heddle_state *state;
    heddle_stream *stream;
    heddle_trace trace;
    heddle_value image;
    heddle_value *outputs; // one per layer
    void *memory;
    float *host; // the outputs one after another
    heddle_workspace workspace;
};

static size_t output_elements(const heddle_activations *made, int layer)
{
    return made->trace.values[made->outputs[layer]].elements;
}

static heddle_status lower(heddle_activations *made, heddle_value *parameters)
{
    const heddle_model *model = made->state->model;
    const int dims[] = {1, model->input.channels, model->input.height, model->input.width};
    heddle_lowering lowering = {
        .trace = &made->trace,
        .model = model,
        .batch = 1,
        .kernels = HEDDLE_TUNED,
        .device = heddle_device_get_kind(made->state->device),
        .parameters = parameters,
    };
    for (int i = 0; i < model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &model->parameters[i];
        HEDDLE_TRY(
            heddle_trace_value_add(&made->trace, spec->name, HEDDLE_F32, spec->rank, spec->dims, &parameters[i]));
        made->trace.values[parameters[i]].memory =
            made->state->bank[heddle_state_bank(made->state, i)] + made->state->offset[i];
    }
    HEDDLE_TRY(heddle_trace_value_add(&made->trace, "images", HEDDLE_F32, 4, dims, &made->image));
    heddle_value value = made->image;
    for (int i = 0; i < model->layer_count; i++) {
        const heddle_layer_list one = {&model->layers[i], 1}; // alone, so that nothing is fused
        HEDDLE_TRY(heddle_lower_layers(&lowering, &one, value, &value));
        made->outputs[i] = value;
    }
    return HEDDLE_OK;
}

static heddle_status place(heddle_activations *made)
{
    int count = 0;
    heddle_part *parts = calloc((size_t)made->trace.value_count, sizeof *parts);
    if (!parts)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the values of layers");
    for (int i = 0; i < made->trace.value_count; i++) {
        heddle_trace_value *value = &made->trace.values[i];
        if (value->root == i && !value->memory)
            parts[count++] = (heddle_part){&value->memory, value->elements * heddle_dtype_size(value->dtype)};
    }
    heddle_status status = heddle_alloc_parts(made->state->device, "the values of layers", parts, count, &made->memory);
    free(parts);
    size_t elements = 0;
    for (int i = 0; i < made->state->model->layer_count; i++)
        elements += output_elements(made, i);
    made->host = calloc(elements + 1, sizeof *made->host);
    if (status == HEDDLE_OK && !made->host)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the values of layers");
    return status;
}

heddle_status heddle_activations_create(heddle_network *network, heddle_activations **activations)
{
    heddle_activations *made = calloc(1, sizeof *made);
    *activations = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the values of layers");
    made->state = heddle_network_state(network, &made->stream);
    made->workspace.device = made->state->device;
    made->outputs = calloc((size_t)made->state->model->layer_count + 1, sizeof *made->outputs);
    heddle_value *parameters = calloc((size_t)made->state->model->parameter_count + 1, sizeof *parameters);
    heddle_status status = made->outputs && parameters
                               ? lower(made, parameters)
                               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the values of layers");
    free(parameters);
    if (status == HEDDLE_OK)
        status = place(made);
    if (status == HEDDLE_OK)
        *activations = made;
    else
        heddle_activations_destroy(made);
    return status;
}

void heddle_activations_destroy(heddle_activations *activations)
{
    if (!activations)
        return;
    heddle_workspace_destroy(&activations->workspace);
    heddle_free(activations->state->device, activations->memory);
    heddle_trace_destroy(&activations->trace);
    free(activations->outputs);
    free(activations->host);
    free(activations);
}

static heddle_status queue(heddle_activations *activations, const float *image)
{
    const heddle_trace *trace = &activations->trace;
    const heddle_trace_value *input = &trace->values[activations->image];
    float *to = activations->host;
    HEDDLE_TRY(heddle_copy(activations->stream, input->memory, image, input->elements * sizeof *image));
    for (int i = 0; i < trace->node_count; i++)
        HEDDLE_TRY(heddle_run_node(trace, i, HEDDLE_TUNED, activations->stream, &activations->workspace));
    for (int i = 0; i < activations->state->model->layer_count; i++) {
        const heddle_trace_value *output = &trace->values[activations->outputs[i]];
        HEDDLE_TRY(
            heddle_copy(activations->stream, to, trace->values[output->root].memory, output->elements * sizeof *to));
        to += output->elements;
    }
    return HEDDLE_OK;
}

heddle_status heddle_activations_run(heddle_activations *activations, const float *image)
{
    return heddle_wait_after(activations->stream, queue(activations, image));
}

int heddle_activations_count(const heddle_activations *activations)
{
    return activations->state->model->layer_count;
}

heddle_activation heddle_activations_layer(const heddle_activations *activations, int index)
{
    const heddle_layer *layer = &activations->state->model->layers[index];
    heddle_activation found = {.name = layer->name, .rank = layer->out_rank, .values = activations->host};
    for (int i = 0; i < layer->out_rank; i++)
        found.dims[i] = layer->out[i];
    for (int i = 0; i < index; i++)
        found.values += output_elements(activations, i);
    return found;
}
