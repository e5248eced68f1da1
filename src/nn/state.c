// Allocates and starts a model's numbers. Files are checkpoint.c's business.

#include "nn/state.h"

#include <stdlib.h>

#include "heddle/ops.h"
#include "heddle/random.h"
#include "nn/run.h"

enum {
    ALIGNMENT = 64,         // floats: each parameter starts on its own cache lines, 256 bytes as device memory does
    SEQUENCE_START = 0x100, // Philox sequence of parameter i is this + i
};

size_t heddle_state_elements(const heddle_state *state, int index)
{
    const heddle_parameter_spec *spec = &state->model->parameters[index];
    size_t elements = 1;
    for (int i = 0; i < spec->rank; i++)
        elements *= (size_t)spec->dims[i];
    return elements;
}

heddle_bank heddle_state_bank(const heddle_state *state, int index)
{
    return state->model->parameters[index].trained ? HEDDLE_BANK_PARAMETERS : HEDDLE_BANK_STATISTICS;
}

// Behind what stands in the banks: those that weight decay applies to, or the others.
static void place_parameters(heddle_state *state, bool decay)
{
    for (int i = 0; i < state->model->parameter_count; i++) {
        if (state->model->parameters[i].decay != decay)
            continue;
        size_t *floats = &state->floats[heddle_state_bank(state, i)];
        state->offset[i] = *floats;
        *floats += (heddle_state_elements(state, i) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

static heddle_status allocate(heddle_state *state, heddle_stream *stream)
{
    for (int i = 0; i < HEDDLE_BANKS; i++) {
        if (state->floats[i] == 0)
            continue;
        size_t bytes = state->floats[i] * sizeof(float);
        HEDDLE_TRY(heddle_alloc_for_model(state->device, "a model's parameters", bytes, (void **)&state->bank[i]));
        HEDDLE_TRY(heddle_fill(stream, state->bank[i], 0, bytes));
    }
    const size_t bytes = HEDDLE_HYPER_COUNT * sizeof(float);
    HEDDLE_TRY(heddle_alloc_for_model(state->device, "an optimiser's settings", bytes, (void **)&state->hyper));
    HEDDLE_TRY(heddle_fill(stream, state->hyper, 0, bytes));
    return heddle_stream_synchronize(stream);
}

heddle_status heddle_state_create(heddle_device *device, const heddle_model *model, bool training,
                                  heddle_optimizer optimizer, heddle_state **state)
{
    heddle_state *made = calloc(1, sizeof *made);
    size_t *offset = calloc((size_t)model->parameter_count + 1, sizeof *offset);
    if (!made || !offset) {
        free(made);
        free(offset);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the parameters of model %s", model->name);
    }
    *made = (heddle_state){.device = device, .model = model, .offset = offset};
    place_parameters(made, true);
    size_t decayed = made->floats[HEDDLE_BANK_PARAMETERS];
    place_parameters(made, false);
    made->undecayed = made->floats[HEDDLE_BANK_PARAMETERS] - decayed;
    size_t trained = made->floats[HEDDLE_BANK_PARAMETERS];
    made->floats[HEDDLE_BANK_GRADIENTS] = training ? trained : 0;
    made->floats[HEDDLE_BANK_MOMENT1] = training && optimizer != HEDDLE_SGD ? trained : 0;
    made->floats[HEDDLE_BANK_MOMENT2] = training && optimizer == HEDDLE_ADAMW ? trained : 0;

    heddle_stream *stream = NULL;
    heddle_status status = heddle_stream_create(device, 0, &stream);
    if (status == HEDDLE_OK)
        status = allocate(made, stream);
    if (stream)
        heddle_stream_destroy(stream);
    if (status != HEDDLE_OK) {
        heddle_state_destroy(made);
        return status;
    }
    *state = made;
    return HEDDLE_OK;
}

void heddle_state_destroy(heddle_state *state)
{
    if (!state)
        return;
    for (int i = 0; i < HEDDLE_BANKS; i++)
        heddle_free(state->device, state->bank[i]);
    heddle_free(state->device, state->hyper);
    free(state->offset);
    free(state);
}

heddle_status heddle_state_read(const heddle_state *state, heddle_stream *stream, heddle_bank bank, float *values)
{
    if (state->floats[bank])
        HEDDLE_TRY(heddle_copy(stream, values, state->bank[bank], state->floats[bank] * sizeof(float)));
    return heddle_stream_synchronize(stream);
}

heddle_status heddle_state_write(heddle_state *state, heddle_stream *stream, heddle_bank bank, const float *values)
{
    if (state->floats[bank])
        HEDDLE_TRY(heddle_copy(stream, state->bank[bank], values, state->floats[bank] * sizeof(float)));
    return heddle_stream_synchronize(stream);
}

static void start_parameter(const heddle_state *state, int index, uint64_t seed, float *values)
{
    const heddle_parameter_spec *spec = &state->model->parameters[index];
    heddle_random random = heddle_random_make(seed, SEQUENCE_START + (uint64_t)index);
    size_t elements = heddle_state_elements(state, index);
    for (size_t i = 0; i < elements; i++) {
        switch (spec->start) {
        case HEDDLE_START_ZERO: values[i] = 0.0F; break;
        case HEDDLE_START_ONE: values[i] = 1.0F; break;
        case HEDDLE_START_UNIFORM: values[i] = (2.0F * heddle_random_uniform(&random) - 1.0F) * spec->bound; break;
        }
    }
}

heddle_status heddle_state_start(heddle_state *state, heddle_stream *stream, uint64_t seed)
{
    for (heddle_bank bank = HEDDLE_BANK_PARAMETERS; bank <= HEDDLE_BANK_STATISTICS; bank++) {
        float *values = calloc(state->floats[bank] + 1, sizeof *values);
        if (!values)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for starting values");
        for (int i = 0; i < state->model->parameter_count; i++)
            if (heddle_state_bank(state, i) == bank)
                start_parameter(state, i, seed, values + state->offset[i]);
        heddle_status status = heddle_state_write(state, stream, bank, values);
        free(values);
        HEDDLE_TRY(status);
    }
    return HEDDLE_OK;
}
