// Queries of the registry: find an operator or a rung, choose a rung, launch. Shapes as text are in shape.c,
// operands in operand.c; the list of operators is in registry.c.

#include "heddle/op.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "device/device.h"
#include "device/module.h"
#include "ops/define.h"
#include "ops/registry.h"

int heddle_op_count(void)
{
    return heddle_registry_count;
}

const heddle_op *heddle_op_at(int index)
{
    return index >= 0 && index < heddle_registry_count ? heddle_registry[index] : NULL;
}

// " Did you mean X?", or nothing. `text` must have room for HEDDLE_SUGGESTION_SIZE.
static const char *suggest(const char *name, const char *const *candidates, int count, char *text)
{
    const char *nearest = candidates ? heddle_text_nearest(name, candidates, count) : NULL;
    heddle_suggestion(nearest, text);
    return text;
}

heddle_status heddle_op_find(const char *name, const heddle_op **op)
{
    *op = NULL;
    if (!name)
        return heddle_fail(HEDDLE_INVALID, "an operator needs a name");
    for (int i = 0; i < heddle_registry_count; i++)
        if (strcmp(heddle_registry[i]->name, name) == 0) {
            *op = heddle_registry[i];
            return HEDDLE_OK;
        }

    const char **names = malloc((size_t)heddle_registry_count * sizeof *names);
    for (int i = 0; names && i < heddle_registry_count; i++)
        names[i] = heddle_registry[i]->name;
    char suggestion[HEDDLE_SUGGESTION_SIZE];
    suggest(name, names, heddle_registry_count, suggestion);
    free(names);
    return heddle_fail(HEDDLE_NOT_FOUND, "no operator is called '%.64s'%s", name, suggestion);
}

heddle_status heddle_rung_find(const heddle_op *op, const char *name, const heddle_rung **rung)
{
    *rung = NULL;
    if (!name)
        return heddle_fail(HEDDLE_INVALID, "%s: a rung needs a name", op->name);
    for (int i = 0; i < op->rungs; i++)
        if (strcmp(op->ladder[i].name, name) == 0) {
            *rung = &op->ladder[i];
            return HEDDLE_OK;
        }

    const char **names = malloc((size_t)op->rungs * sizeof *names);
    for (int i = 0; names && i < op->rungs; i++)
        names[i] = op->ladder[i].name;
    char suggestion[HEDDLE_SUGGESTION_SIZE];
    suggest(name, names, op->rungs, suggestion);
    free(names);
    return heddle_fail(HEDDLE_NOT_FOUND, "%s has no rung '%.64s'%s", op->name, name, suggestion);
}

bool heddle_rung_runs_on(const heddle_rung *rung, heddle_device_kind device)
{
    return rung->device == device || (rung->device == HEDDLE_CUDA && device == HEDDLE_SIM && !rung->gpu_only);
}

// What a rung is chosen for.
typedef struct rung_wish {
    heddle_device_kind device;
    heddle_arithmetic arithmetic;
    const void *shape;
} rung_wish;

// Whether a rung is as precise as requested. A request for bytes accepts bf16, one for 16 bits tf32, and one for tf32
// the sum of two.
static bool precise_enough(heddle_arithmetic rung, heddle_arithmetic asked)
{
    return rung == HEDDLE_FULL || rung == asked || (rung <= HEDDLE_TF32 && asked > rung) ||
           (rung == HEDDLE_BFLOAT && asked == HEDDLE_INT8);
}

// Whether the trainer may use it for this.
static bool usable(const heddle_op *op, const heddle_rung *rung, const rung_wish *wish)
{
    return heddle_rung_runs_on(rung, wish->device) && precise_enough(rung->arithmetic, wish->arithmetic) &&
           (!rung->supports || rung->supports(wish->shape)) && (!rung->pays || rung->pays(wish->shape)) &&
           (rung->launch || heddle_module_has_rung(wish->device, op->name, rung));
}

// Adds the suitable rungs with a tier in [least, most], from the last one on, to the `count` that are there already.
static int add_rungs(const heddle_op *op, heddle_tier least, heddle_tier most, const rung_wish *wish,
                     const heddle_rung **rungs, int room, int count)
{
    for (int i = op->rungs - 1; i >= 0; i--) {
        const heddle_rung *rung = &op->ladder[i];
        if (rung->tier < least || rung->tier > most || !usable(op, rung, wish))
            continue;
        if (count < room)
            rungs[count] = rung;
        count++;
    }
    return count;
}

static const heddle_rung *first_rung(const heddle_op *op, const rung_wish *wish)
{
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        if (usable(op, rung, wish))
            return rung;
    }
    return NULL;
}

int heddle_rung_candidates(const heddle_op *op, heddle_device_kind device, heddle_tier tier,
                           heddle_arithmetic arithmetic, const void *shape, const heddle_rung **rungs, int most)
{
    const rung_wish wish = {.device = device, .arithmetic = arithmetic, .shape = shape};
    int count = 0;
    switch (tier) {
    case HEDDLE_NAIVE: count = add_rungs(op, HEDDLE_NAIVE, HEDDLE_NAIVE, &wish, rungs, most, 0); break;
    case HEDDLE_TUNED: count = add_rungs(op, HEDDLE_NAIVE, HEDDLE_TUNED, &wish, rungs, most, 0); break;
    case HEDDLE_VENDOR:
        count = add_rungs(op, HEDDLE_VENDOR, HEDDLE_VENDOR, &wish, rungs, most, 0);
        count = add_rungs(op, HEDDLE_NAIVE, HEDDLE_TUNED, &wish, rungs, most, count);
        break;
    case HEDDLE_FUSED: count = add_rungs(op, HEDDLE_NAIVE, HEDDLE_FUSED, &wish, rungs, most, 0); break;
    }
    // An operator whose ladder begins above the requested tier is still computed, by its lowest rung.
    const heddle_rung *first = count ? NULL : first_rung(op, &wish);
    if (first && most > 0)
        rungs[0] = first;
    return first ? 1 : count;
}

heddle_status heddle_rung_choose(const heddle_op *op, heddle_device_kind device, heddle_tier tier,
                                 heddle_arithmetic arithmetic, const void *shape, const heddle_rung **rung)
{
    *rung = NULL;
    if (heddle_rung_candidates(op, device, tier, arithmetic, shape, rung, 1))
        return HEDDLE_OK;
    char text[HEDDLE_SHAPE_TEXT_SIZE];
    return heddle_fail(HEDDLE_UNSUPPORTED, "no rung of %s on %s can do %s: `heddle ops %s` lists what there is",
                       op->name, heddle_device_kind_name(device), heddle_shape_print(op, shape, text, sizeof text),
                       op->name);
}

// --- launching ------------------------------------------------------------------------------------------------------

// A NULL operand is allowed if it is optional or has no elements.
static heddle_status check_operands(const heddle_op *op, const heddle_call *call)
{
    int inputs = 0, outputs = 0;
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        const void *memory = operand->role == HEDDLE_INPUT ? call->input[inputs++] : call->output[outputs++];
        if (!memory && !operand->optional && heddle_operand_elements(op, i, call->shape) > 0)
            return heddle_fail(HEDDLE_INVALID, "%s: operand '%s' is NULL, and it is not optional", op->name,
                               operand->name);
    }
    return HEDDLE_OK;
}

static heddle_status check_call(const heddle_op *op, const heddle_rung *rung, const heddle_call *call)
{
    if (!call->shape)
        return heddle_fail(HEDDLE_INVALID, "%s: the call has no shape", op->name);
    HEDDLE_TRY(heddle_shape_validate(op, call->shape));
    if (rung->supports && !rung->supports(call->shape)) {
        char text[HEDDLE_SHAPE_TEXT_SIZE];
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: rung %s cannot do %s; choose with heddle_rung_choose", op->name,
                           rung->name, heddle_shape_print(op, call->shape, text, sizeof text));
    }
    return check_operands(op, call);
}

static heddle_status check_workspace(const heddle_op *op, const heddle_rung *rung, const heddle_call *call)
{
    if (!rung->workspace || call->workspace)
        return HEDDLE_OK;
    size_t bytes = rung->workspace(call->shape, heddle_pool_threads(call->pool));
    if (bytes == 0)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "%s: rung %s needs a workspace of %zu bytes, and the call has none", op->name,
                       rung->name, bytes);
}

// A call waiting on a stream: with a copy of the shape, so that the caller may free its own.
typedef struct queued_call {
    heddle_status (*launch)(const heddle_call *call);
    heddle_call call;
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
} queued_call;

static heddle_status run_queued(const void *arguments)
{
    const queued_call *queued = arguments;
    heddle_call call = queued->call;
    call.shape = queued->shape;
    return queued->launch(&call);
}

heddle_status heddle_launch(const heddle_op *op, const heddle_rung *rung, const heddle_call *call)
{
    HEDDLE_TRY(check_call(op, rung, call));
    if (!call->stream) {
        if (rung->device != HEDDLE_CPU)
            return heddle_fail(HEDDLE_INVALID, "%s: rung %s runs on %s, and that needs a stream", op->name, rung->name,
                               heddle_device_kind_name(rung->device));
        HEDDLE_TRY(check_workspace(op, rung, call));
        return rung->launch(call);
    }

    heddle_device *device = heddle_stream_device(call->stream);
    if (!heddle_rung_runs_on(rung, heddle_device_get_kind(device)))
        return heddle_fail(HEDDLE_INVALID, "%s: rung %s runs on %s, the stream is on %s", op->name, rung->name,
                           heddle_device_kind_name(rung->device),
                           heddle_device_kind_name(heddle_device_get_kind(device)));
    queued_call queued = {.launch = rung->launch, .call = *call};
    queued.call.pool = heddle_device_pool(device);
    HEDDLE_TRY(check_workspace(op, rung, &queued.call));
    if (rung->device != HEDDLE_CPU) {
        heddle_device_launcher *launcher = rung->launch;
        if (!launcher)
            HEDDLE_TRY(heddle_device_find_launcher(device, op->name, rung->name, &launcher));
        return launcher(call);
    }
    memcpy(queued.shape, call->shape, op->shape_size);
    return heddle_stream_submit(call->stream, run_queued, &queued, sizeof queued);
}
