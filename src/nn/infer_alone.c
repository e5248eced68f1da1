// The prediction of a single image as one kernel, predict_one: the groups of layers that rows.h finds become its steps.
// Parameters are copied to where it reads them when the plan is made.

#include <math.h>
#include <stdlib.h>

#include "nn/infer.h"
#include "nn/run.h"
#include "ops/predict_one/predict_one.h"

struct heddle_alone {
    heddle_predict_step steps[HEDDLE_PREDICT_STEPS];
    const heddle_layer *layers[HEDDLE_PREDICT_STEPS]; // whose weights a step has
    heddle_predict_one_shape shape;
    void *memory;
    float *weights;
    int32_t *state;
};

// --- steps -----------------------------------------------------------------------------------------------------------

// The step of each group, and whether what the group leaves are the means of that step's channels.
typedef struct taken {
    int step[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS];
    bool means[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS];
} taken;

static bool is_linear(const heddle_rows_group *group)
{
    return group->product->out_rank == 1;
}

// Pooling that follows no product: the mean of whole images, for the linear layer behind it.
static bool take_pool(const heddle_rows *rows, int index, taken *at)
{
    const heddle_rows_group *group = &rows->groups[index];
    at->step[index] = group->from < 0 ? -1 : at->step[group->from];
    at->means[index] = true;
    return group->from >= 0 && !at->means[group->from] && rows->groups[group->from].product && group->average &&
           group->next_h == 1 && group->next_w == 1 && group->window == group->out_h && group->window == group->out_w;
}

// A product and what follows it.
static bool take_product(const heddle_rows *rows, int index, heddle_alone *alone, taken *at)
{
    const heddle_rows_group *group = &rows->groups[index];
    const heddle_layer *layer = group->product;
    const bool means = group->from >= 0 && at->means[group->from];
    const int number = alone->shape.steps;
    if (number == HEDDLE_PREDICT_STEPS || group->norm || (means && !is_linear(group)) ||
        (group->around >= 0 && at->means[group->around]))
        return false;
    alone->layers[number] = layer;
    alone->steps[number] = (heddle_predict_step){
        .kind = !is_linear(group) ? HEDDLE_PREDICT_CONV
                : means           ? HEDDLE_PREDICT_MEANS
                                  : HEDDLE_PREDICT_LINEAR,
        .from = group->from < 0 ? -1 : at->step[group->from],
        .around = group->around < 0 ? -1 : at->step[group->around],
        .channels = is_linear(group) ? layer->features : layer->channels,
        .r = layer->kernel,
        .stride = layer->stride,
        .padding = layer->padding,
        .dilation = layer->dilation,
        .function = (int)group->function,
        .window = group->window,
        .average = group->average,
    };
    at->step[index] = number;
    alone->shape.steps++;
    return true;
}

static bool take_groups(const heddle_model *model, const heddle_rows *rows, heddle_alone *alone)
{
    const heddle_input_shape *input = &model->input;
    taken at = {0};
    alone->shape = (heddle_predict_one_shape){
        .c = input->channels, .h = input->height, .w = input->width, .classes = input->classes};
    for (int i = 0; i < rows->group_count; i++)
        if (rows->groups[i].product ? !take_product(rows, i, alone, &at) : !take_pool(rows, i, &at))
            return false;
    return heddle_predict_place(alone->steps, alone->shape.steps, &alone->shape);
}

// NULL where some layer is none of its steps, or without memory.
static heddle_alone *find_steps(const heddle_model *model)
{
    heddle_rows *rows = calloc(1, sizeof *rows);
    heddle_alone *alone = calloc(1, sizeof *alone);
    const bool fits = rows && alone && heddle_rows_group_layers(model, 1, rows) && take_groups(model, rows, alone);
    free(rows);
    if (fits)
        return alone;
    free(alone);
    return NULL;
}

static bool has_rung(const heddle_alone *alone, heddle_device_kind device, heddle_arithmetic arithmetic)
{
    const heddle_op *op = &heddle_op_predict_one;
    const heddle_rung *rung;
    return heddle_shape_validate(op, &alone->shape) == HEDDLE_OK &&
           heddle_rung_choose(op, device, HEDDLE_FUSED, arithmetic, &alone->shape, &rung) == HEDDLE_OK;
}

static bool is_for_it(int batch, heddle_device_kind device, heddle_tier kernels, heddle_arithmetic arithmetic)
{
    return batch == 1 && device != HEDDLE_CPU && kernels == HEDDLE_FUSED && arithmetic != HEDDLE_INT8;
}

bool heddle_infer_alone(const heddle_model *model, int batch, heddle_device_kind device, heddle_tier kernels,
                        heddle_arithmetic arithmetic)
{
    heddle_alone *alone = is_for_it(batch, device, kernels, arithmetic) ? find_steps(model) : NULL;
    const bool fits = alone && has_rung(alone, device, arithmetic);
    free(alone);
    return fits;
}

// --- weights ---------------------------------------------------------------------------------------------------------

static const float *parameter_of(const heddle_state *state, const heddle_layer *layer, const char *name,
                                 const float *parameters)
{
    const int index = heddle_model_parameter_index(state->model, layer->name, name);
    return index < 0 ? NULL : parameters + state->offset[index];
}

// No result may be the NaN that stands for a missing one: a processor that keeps a NaN's bits would pass it on.
static float usual_nan(float value)
{
    return isnan(value) ? NAN : value;
}

// A step's weights and its bias.
static void arrange_step(const heddle_predict_step *step, const float *weight, const float *bias, float *to)
{
    const int lines = heddle_predict_lines(step), pixels = heddle_predict_pixels(step);
    for (int row = 0; row < step->channels; row++)
        for (int c = 0; c < step->c; c++)
            for (int y = 0; y < lines; y++)
                for (int x = 0; x < pixels; x++)
                    to[step->weight + heddle_predict_place_of(step, row, heddle_predict_column(step, c, y, x))] =
                        usual_nan(*weight++);
    for (int row = 0; bias && row < step->channels; row++)
        to[step->bias + row] = usual_nan(bias[row]);
}

static void arrange(const heddle_alone *alone, const heddle_state *state, const float *parameters, float *weights)
{
    for (int i = 0; i < alone->shape.steps; i++) {
        const float *weight = parameter_of(state, alone->layers[i], "weight", parameters);
        if (weight)
            arrange_step(&alone->steps[i], weight, parameter_of(state, alone->layers[i], "bias", parameters), weights);
    }
}

static heddle_status copy_arranged(const heddle_alone *alone, const heddle_state *state, heddle_stream *stream,
                                   float *parameters, float *weights)
{
    HEDDLE_TRY(heddle_state_read(state, stream, HEDDLE_BANK_PARAMETERS, parameters));
    arrange(alone, state, parameters, weights);
    const size_t bytes = (size_t)alone->shape.weights * sizeof *weights;
    return heddle_wait_after(stream, heddle_copy(stream, alone->weights, weights, bytes));
}

static heddle_status copy_weights(const heddle_alone *alone, const heddle_state *state, heddle_stream *stream)
{
    float *parameters = malloc(state->floats[HEDDLE_BANK_PARAMETERS] * sizeof *parameters + 1);
    float *weights = calloc((size_t)alone->shape.weights, sizeof *weights);
    heddle_status status = parameters && weights
                               ? copy_arranged(alone, state, stream, parameters, weights)
                               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the weights of a prediction");
    free(parameters);
    free(weights);
    return status;
}

static heddle_status begin_state(const heddle_alone *alone, heddle_stream *stream)
{
    const size_t bytes = (size_t)heddle_predict_state(&alone->shape) * sizeof(int32_t);
    int32_t *state = malloc(bytes);
    if (!state)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the results of a prediction's layers");
    heddle_predict_begin(alone->steps, &alone->shape, state);
    heddle_status status = heddle_wait_after(stream, heddle_copy(stream, alone->state, state, bytes));
    free(state);
    return status;
}

static heddle_status place(heddle_plan *plan, const heddle_state *state, heddle_stream *stream, heddle_alone *alone)
{
    const heddle_part parts[] = {
        {(void **)&alone->weights, (size_t)alone->shape.weights * sizeof(float)},
        {(void **)&alone->state, (size_t)heddle_predict_state(&alone->shape) * sizeof(int32_t)},
    };
    HEDDLE_TRY(heddle_alloc_parts(plan->device, "the weights of a prediction", parts, sizeof parts / sizeof *parts,
                                  &alone->memory));
    HEDDLE_TRY(begin_state(alone, stream));
    return copy_weights(alone, state, stream);
}

// --- the plan --------------------------------------------------------------------------------------------------------

heddle_status heddle_plan_infer_alone(heddle_plan *plan, heddle_state *state, heddle_stream *stream, bool *made)
{
    const heddle_plan_options *options = &plan->options;
    const heddle_device_kind device = heddle_device_get_kind(plan->device);
    *made = false;
    if (!options->predicts || !is_for_it(options->batch, device, options->kernels, options->arithmetic) ||
        options->feed->moves)
        return HEDDLE_OK;
    heddle_alone *alone = plan->alone = find_steps(state->model);
    if (!alone || !has_rung(alone, device, options->arithmetic))
        return HEDDLE_OK;
    const heddle_status placed = place(plan, state, stream, alone);
    if (placed == HEDDLE_OUT_OF_MEMORY) { // a plan layer by layer needs no copy of the weights
        heddle_alone_destroy(plan);
        plan->alone = NULL;
        return HEDDLE_OK;
    }
    HEDDLE_TRY(placed);
    const heddle_placed places[] = {
        {"network", alone->steps}, {"image", options->feed->images},       {"weights", alone->weights},
        {"state", alone->state},   {"probabilities", plan->probabilities},
    };
    enum { PLACES = sizeof places / sizeof *places };
    heddle_binding bound[PLACES];
    int node;
    HEDDLE_TRY(heddle_plan_place(plan, &heddle_op_predict_one, &alone->shape, places, PLACES, bound));
    const heddle_model *model = state->model;
    plan->trace.purpose = (heddle_purpose){.phase = HEDDLE_PHASE_FUSED,
                                           .layer = model->layers[0].name,
                                           .last = model->layers[model->layer_count - 1].name};
    *made = true;
    return heddle_trace_apply(&plan->trace, &heddle_op_predict_one, &alone->shape, bound, PLACES, &node);
}

void heddle_alone_destroy(heddle_plan *plan)
{
    if (plan->alone)
        heddle_free(plan->device, plan->alone->memory);
    free(plan->alone);
}
