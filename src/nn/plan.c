// Compiles a trace into a plan and runs it: choose rungs, lay out memory, capture the step as a graph.

#include "nn/plan.h"

#include <stdlib.h>

#include "base/log.h"
#include "nn/infer.h"
#include "nn/layout.h"
#include "nn/run.h"
#include "nn/tune.h"

static heddle_status place_values(heddle_plan *plan)
{
    size_t *offset = calloc((size_t)plan->trace.value_count + 1, sizeof *offset);
    if (!offset)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to lay out a plan");
    heddle_status status = heddle_layout(&plan->trace, offset, &plan->arena_bytes, &plan->values_bytes);
    if (status == HEDDLE_OK)
        status = heddle_alloc_for(plan->device, "a step's values", plan->arena_bytes, &plan->arena);
    for (int i = 0; i < plan->trace.value_count && status == HEDDLE_OK; i++) {
        heddle_trace_value *value = &plan->trace.values[i];
        if (value->root == i && !value->memory && plan->arena)
            value->memory = (char *)plan->arena + offset[i];
    }
    free(offset);
    return status;
}

// --- rungs ----------------------------------------------------------------------------------------------------------

// Rungs that a call may be given, the ladder's own choice first.
typedef struct choice {
    const heddle_rung *rungs[HEDDLE_TUNE_CANDIDATES];
    int count;
} choice;

static heddle_tune_wish wish_of(const heddle_plan *plan)
{
    return (heddle_tune_wish){.tier = plan->options.kernels,
                              .arithmetic = plan->options.arithmetic,
                              .deterministic = plan->options.deterministic};
}

// Of every call; *most_bytes is the scratch memory that the greediest of them wants.
static heddle_status list_choices(const heddle_plan *plan, choice *choices, size_t *most_bytes)
{
    heddle_device_kind device = heddle_device_get_kind(plan->device);
    const heddle_tune_wish wish = wish_of(plan);
    *most_bytes = 0;
    for (int i = 0; i < plan->trace.node_count; i++) {
        const heddle_trace_node *node = &plan->trace.nodes[i];
        choices[i].count = heddle_tune_candidates(node->op, device, &wish, node->shape, choices[i].rungs);
        if (choices[i].count == 0) // says what is wrong
            return heddle_rung_choose(node->op, device, wish.tier, wish.arithmetic, node->shape, &choices[i].rungs[0]);
        for (int j = 0; j < choices[i].count; j++) {
            size_t bytes = heddle_rung_workspace(choices[i].rungs[j], node->shape, plan->device);
            *most_bytes = bytes > *most_bytes ? bytes : *most_bytes;
        }
    }
    return HEDDLE_OK;
}

// Tries them out. Zeros are what every operator can read: as values, as labels, as places.
static heddle_status measure_choices(heddle_plan *plan, heddle_stream *stream, const choice *choices, size_t bytes)
{
    const heddle_tune_wish wish = wish_of(plan);
    heddle_tuner *tuner = NULL;
    heddle_workspace workspace = {0};
    HEDDLE_TRY(heddle_tuner_open(stream, &tuner));
    // Known choices first, whatever memory is left: with others the run would not have the same bits.
    bool known = true;
    for (int i = 0; i < plan->call_count; i++)
        known &= heddle_tuner_knows(tuner, plan->calls[i].op, plan->calls[i].call.shape, &wish, choices[i].rungs,
                                    choices[i].count, &plan->calls[i].rung);
    heddle_status status = heddle_fill(stream, plan->fixed, 0, plan->fixed_bytes);
    if (status == HEDDLE_OK)
        status = heddle_fill(stream, plan->arena, 0, plan->arena_bytes);
    // A choice that the next run does not find again would not give it the same bits either.
    if (status == HEDDLE_OK && (known || (wish.deterministic && !heddle_tuner_keeps(tuner))))
        status = HEDDLE_UNSUPPORTED;
    if (status == HEDDLE_OK)
        status = heddle_workspace_reserve(&workspace, stream, bytes);
    for (int i = 0; i < plan->call_count && status == HEDDLE_OK; i++) {
        heddle_planned_call *planned = &plan->calls[i];
        planned->call.workspace = workspace.memory;
        status = heddle_tuner_choose(tuner, planned->op, &planned->call, &wish, choices[i].rungs, choices[i].count,
                                     &planned->rung);
    }
    heddle_tuner_close(tuner);
    heddle_workspace_destroy(&workspace);
    // Without a place or the memory to measure in, the ladder's order has to do.
    return status == HEDDLE_UNSUPPORTED || status == HEDDLE_OUT_OF_MEMORY ? HEDDLE_OK : status;
}

// What was really taken: an operator without a rung of the tier or the precision asked for has one of another.
static const char *precision_of(const heddle_planned_call *planned)
{
    if (planned->op->element)
        return heddle_dtype_name(planned->op->element(planned->call.shape));
    return planned->rung->arithmetic == HEDDLE_FULL ? "fp32" : heddle_arithmetic_names[planned->rung->arithmetic];
}

heddle_arithmetic heddle_plan_arithmetic(const heddle_plan *plan)
{
    const heddle_arithmetic asked = plan->options.arithmetic;
    heddle_arithmetic used = HEDDLE_FULL;
    for (int i = 0; i < plan->call_count; i++) {
        if (plan->calls[i].op->element) // over rows, of elements that were chosen for what was asked for
            return asked == HEDDLE_INT8 && !plan->options.ranges ? HEDDLE_FP16 : asked;
        const heddle_arithmetic one = plan->calls[i].rung->arithmetic;
        used = one > used ? one : used;
    }
    return used;
}

static void log_choices(const heddle_plan *plan)
{
    const char *what = plan->options.training ? "training step" : "evaluation";
    for (int i = 0; i < plan->call_count; i++) {
        const heddle_rung *rung = plan->calls[i].rung;
        heddle_log(HEDDLE_LOG_INFO, "%s, batch %d: %s by %s (%s, %s)", what, plan->options.batch,
                   plan->calls[i].op->name, rung->name, heddle_tier_names[rung->tier], precision_of(&plan->calls[i]));
    }
}

static heddle_status choose_rungs(heddle_plan *plan, heddle_stream *stream)
{
    const heddle_trace *trace = &plan->trace;
    size_t most_bytes;
    choice *choices = calloc((size_t)trace->node_count, sizeof *choices);
    plan->calls = calloc((size_t)trace->node_count, sizeof *plan->calls);
    if (!plan->calls || !choices) {
        free(choices);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the calls of a plan");
    }
    heddle_status status = list_choices(plan, choices, &most_bytes);
    plan->call_count = status == HEDDLE_OK ? trace->node_count : 0;
    for (int i = 0; i < plan->call_count; i++) {
        plan->calls[i].op = trace->nodes[i].op;
        plan->calls[i].rung = choices[i].rungs[0];
        heddle_node_call(trace, &trace->nodes[i], &plan->calls[i].call);
    }
    // A simulated GPU reports no timings, and the ladders know which rung is best on a CPU.
    bool measured = heddle_device_get_kind(plan->device) == HEDDLE_CUDA && plan->options.kernels != HEDDLE_NAIVE;
    if (status == HEDDLE_OK && measured)
        status = measure_choices(plan, stream, choices, most_bytes);
    free(choices);
    if (status == HEDDLE_OK)
        log_choices(plan);
    return status;
}

// Calls of a plan run one after another, so one workspace serves them all.
static heddle_status place_workspace(heddle_plan *plan)
{
    for (int i = 0; i < plan->call_count; i++) {
        size_t bytes = heddle_rung_workspace(plan->calls[i].rung, plan->trace.nodes[i].shape, plan->device);
        if (bytes > plan->workspace_bytes)
            plan->workspace_bytes = bytes;
    }
    HEDDLE_TRY(heddle_alloc_for(plan->device, "a step's scratch memory", plan->workspace_bytes, &plan->workspace));
    for (int i = 0; i < plan->call_count; i++)
        plan->calls[i].call.workspace = plan->workspace;
    return HEDDLE_OK;
}

// The gradient of the loss with respect to itself.
static heddle_status upload_seed(heddle_plan *plan, heddle_stream *stream)
{
    // With ranks the loss is the mean over all samples, of which this plan has a part.
    const float unit = plan->options.dist ? (float)plan->options.share : 1.0F;
    HEDDLE_TRY(heddle_copy(stream, plan->seed, &unit, sizeof unit));
    return heddle_stream_synchronize(stream);
}

// Puts a call into a stream, between the two marks of whoever watches.
static heddle_status launch(const heddle_plan *plan, int call, int steps, const heddle_call *how)
{
    const heddle_planned_call *planned = &plan->calls[call];
    heddle_probe *probe = plan->options.probe;
    const heddle_probed_call probed = {.plan = plan, .call = call, .steps = steps, .stream = how->stream};
    if (probe)
        HEDDLE_TRY(probe->before(probe, &probed));
    HEDDLE_TRY(heddle_launch(planned->op, planned->rung, how));
    return probe ? probe->behind(probe, &probed) : HEDDLE_OK;
}

// All steps by one call: the plan's own has the shape for as many as its longest graph.
static heddle_status launch_whole_steps(const heddle_plan *plan, heddle_stream *stream, int steps)
{
    const heddle_planned_call *planned = &plan->calls[0];
    heddle_cnn_train_shape shape = *(const heddle_cnn_train_shape *)planned->call.shape;
    heddle_call call = planned->call;
    shape.steps = steps;
    call.shape = &shape;
    call.stream = stream;
    return launch(plan, 0, steps, &call);
}

// --- nodes aside ----------------------------------------------------------------------------------------------------

// They have no scratch memory of their own: a rung that wants some runs in its turn.
static bool runs_aside(const heddle_plan *plan, int call)
{
    const heddle_trace_node *node = &plan->trace.nodes[call];
    return node->aside && heddle_rung_workspace(plan->calls[call].rung, node->shape, plan->device) == 0;
}

static heddle_status open_side(heddle_plan *plan)
{
    bool any = false;
    for (int i = 0; i < plan->call_count; i++)
        any |= runs_aside(plan, i);
    if (!any)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_stream_create(plan->device, 0, &plan->side));
    HEDDLE_TRY(heddle_event_create(plan->device, &plan->forked));
    return heddle_event_create(plan->device, &plan->joined);
}

static void close_side(heddle_plan *plan)
{
    if (plan->side)
        heddle_stream_destroy(plan->side);
    if (plan->forked)
        heddle_event_destroy(plan->forked);
    if (plan->joined)
        heddle_event_destroy(plan->joined);
}

// The stream for a call: the side's begins behind what is queued by now.
static heddle_status stream_for(heddle_plan *plan, heddle_stream *stream, int call, heddle_stream **chosen)
{
    *chosen = stream;
    if (!plan->side)
        return HEDDLE_OK;
    if (call == plan->join_call) {
        HEDDLE_TRY(heddle_event_record(plan->joined, plan->side));
        return heddle_stream_wait(stream, plan->joined);
    }
    if (!runs_aside(plan, call))
        return HEDDLE_OK;
    *chosen = plan->side;
    HEDDLE_TRY(heddle_event_record(plan->forked, stream));
    return heddle_stream_wait(plan->side, plan->forked);
}

// --- graphs ---------------------------------------------------------------------------------------------------------

static heddle_status capture(heddle_plan *plan, heddle_stream *stream, int steps, heddle_graph **graph)
{
    HEDDLE_TRY(heddle_capture_begin(stream));
    heddle_status status = plan->whole_steps ? launch_whole_steps(plan, stream, steps) : HEDDLE_OK;
    for (int i = 0; !plan->whole_steps && i < steps * plan->call_count && status == HEDDLE_OK; i++) {
        int call = i % plan->call_count;
        if (call < plan->prepared || (steps > 1 && call < plan->once))
            continue;
        heddle_planned_call *planned = &plan->calls[call];
        status = stream_for(plan, stream, call, &planned->call.stream);
        if (status == HEDDLE_OK)
            status = heddle_plan_reduce_before(plan, stream, call);
        if (status == HEDDLE_OK)
            status = launch(plan, call, 1, &planned->call);
        if (status == HEDDLE_OK)
            status = heddle_plan_reduce_behind(plan, stream, call);
    }
    heddle_status ended = heddle_capture_end(stream, graph);
    return status != HEDDLE_OK ? status : ended;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static heddle_status capture_several(heddle_plan *plan, heddle_stream *stream)
{
    const int asked = plan->options.several, few = least(asked, HEDDLE_PLAN_STEPS);
    const int steps[] = {plan->whole_steps ? asked : few, plan->whole_steps && asked > few ? few : 0};
    for (int i = 0; i < 2; i++) {
        if (steps[i] < 2)
            continue;
        HEDDLE_TRY(capture(plan, stream, steps[i], &plan->several[i].graph));
        plan->several[i].steps = steps[i];
    }
    return HEDDLE_OK;
}

int heddle_plan_steps_for(int steps, int most)
{
    const int longest = least(most, HEDDLE_PLAN_WHOLE_STEPS);
    int best = least(steps, longest);
    for (int graph = best; graph > longest / 2; graph--) // shorter ones would cost more than the steps left over
        if (steps % graph < steps % best)
            best = graph;
    return best;
}

heddle_status heddle_plan_create(heddle_state *state, heddle_stream *stream, const heddle_plan_options *options,
                                 heddle_plan **plan)
{
    if (options->batch < 1)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d; it must be at least 1", options->batch);
    heddle_plan *made = calloc(1, sizeof *made);
    heddle_value *parameters = calloc((size_t)state->model->parameter_count + 1, sizeof *parameters);
    if (!made || !parameters) {
        free(made);
        free(parameters);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a plan");
    }
    made->device = state->device;
    made->options = *options;
    heddle_status status = heddle_plan_trace(made, state, stream, parameters);
    if (status == HEDDLE_OK)
        status = place_values(made);
    if (status == HEDDLE_OK)
        status = choose_rungs(made, stream);
    if (status == HEDDLE_OK)
        status = place_workspace(made);
    if (status == HEDDLE_OK)
        status = upload_seed(made, stream);
    if (status == HEDDLE_OK && options->dist && options->training && !made->whole_steps && !made->once)
        status = heddle_plan_cut(made, state, parameters);
    if (status == HEDDLE_OK)
        status = open_side(made);
    if (status == HEDDLE_OK)
        status = capture(made, stream, 1, &made->graph);
    if (status == HEDDLE_OK)
        status = capture_several(made, stream);
    free(parameters);
    made->lowering.parameters = NULL;
    if (status != HEDDLE_OK) {
        heddle_plan_destroy(made);
        return heddle_fail_within(status, "planning a step of model %s, batch %d", state->model->name, options->batch);
    }
    *plan = made;
    return HEDDLE_OK;
}

void heddle_plan_destroy(heddle_plan *plan)
{
    if (!plan)
        return;
    if (plan->graph)
        heddle_graph_destroy(plan->graph);
    for (int i = 0; i < 2; i++)
        if (plan->several[i].graph)
            heddle_graph_destroy(plan->several[i].graph);
    close_side(plan);
    heddle_plan_reduce_destroy(plan);
    heddle_rows_destroy(plan);
    heddle_alone_destroy(plan);
    heddle_free(plan->device, plan->fixed);
    heddle_free(plan->device, plan->arena);
    heddle_free(plan->device, plan->workspace);
    heddle_trace_destroy(&plan->trace);
    free(plan->calls);
    free(plan);
}

// The first calls of the plan, outside of a graph.
static heddle_status launch_leading(heddle_plan *plan, heddle_stream *stream, int count)
{
    for (int i = 0; i < count; i++) {
        plan->calls[i].call.stream = stream;
        HEDDLE_TRY(launch(plan, i, 1, &plan->calls[i].call));
    }
    return HEDDLE_OK;
}

heddle_status heddle_plan_prepare(heddle_plan *plan, heddle_stream *stream)
{
    return launch_leading(plan, stream, plan->prepared);
}

heddle_status heddle_plan_run(heddle_plan *plan, heddle_stream *stream)
{
    return heddle_graph_launch(plan->graph, stream);
}

heddle_status heddle_plan_run_steps(heddle_plan *plan, heddle_stream *stream, int steps)
{
    if (plan->several[0].steps && steps >= plan->several[0].steps)
        HEDDLE_TRY(launch_leading(plan, stream, plan->once));
    for (int i = 0; i < 2; i++)
        for (; plan->several[i].steps && steps >= plan->several[i].steps; steps -= plan->several[i].steps)
            HEDDLE_TRY(heddle_graph_launch(plan->several[i].graph, stream));
    for (; steps > 0; steps--)
        HEDDLE_TRY(heddle_graph_launch(plan->graph, stream));
    return HEDDLE_OK;
}
