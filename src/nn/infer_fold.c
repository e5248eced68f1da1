// Folds batchnorm into convolutions: outside training it is a scale and a shift per channel, which weight and bias of
// the convolution before it can have instead. Dropout does nothing there, and goes.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/infer.h"

static bool is_type(const heddle_layer *layer, const char *name)
{
    return strcmp(layer->type->name, name) == 0;
}

// Whether a batchnorm is behind layer `index` of the list that is folded into it.
static bool folds(const heddle_layer_list *list, int index, bool keep_blocks)
{
    const heddle_layer *layers = &list->layers[index];
    return index + 1 < list->count && is_type(&layers[0], "conv2d") && is_type(&layers[1], "batchnorm2d") &&
           !(keep_blocks && heddle_is_block(layers, list->count - index));
}

// --- the model -------------------------------------------------------------------------------------------------------

// Takes dropout and batchnorms out of the JSON of a list of layers; returns how many.
static int fold_list(const heddle_layer_list *list, cJSON *json, bool keep_blocks)
{
    int folded = 0;
    cJSON *item = json->child, *next;
    for (int i = 0; i < list->count && item; i++, item = next) {
        next = item->next;
        if (is_type(&list->layers[i], "dropout") && cJSON_GetArraySize(json) > 1) {
            cJSON_Delete(cJSON_DetachItemViaPointer(json, item));
            folded++;
            continue;
        }
        cJSON *inner = cJSON_GetObjectItemCaseSensitive(item, "layers");
        cJSON *around = cJSON_GetObjectItemCaseSensitive(item, "projection");
        folded += inner ? fold_list(&list->layers[i].layers, inner, keep_blocks) : 0;
        folded += around ? fold_list(&list->layers[i].projection, around, keep_blocks) : 0;
        if (!folds(list, i, keep_blocks))
            continue;
        cJSON_DeleteItemFromObjectCaseSensitive(item, "bias");
        cJSON_AddBoolToObject(item, "bias", true);
        cJSON_Delete(cJSON_DetachItemViaPointer(json, next));
        next = item->next;
        i++;
        folded++;
    }
    return folded;
}

static heddle_status fold_model(const heddle_model *model, bool keep_blocks, heddle_model **folded)
{
    const heddle_layer_list list = {model->layers, model->layer_count};
    cJSON *json = cJSON_Parse(model->json);
    cJSON *layers = cJSON_GetObjectItemCaseSensitive(json, "layers");
    const int count = layers ? fold_list(&list, layers, keep_blocks) : 0;
    char *text = count > 0 ? cJSON_PrintUnformatted(json) : NULL;
    heddle_status status = HEDDLE_OK;
    *folded = NULL;
    if (text)
        status = heddle_model_parse(model->name, text, NULL, folded);
    else if (!layers || count > 0)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a model without batchnorm");
    cJSON_free(text);
    cJSON_Delete(json);
    return status;
}

// Folds everything where the rest runs over rows, or else all but what fused operators compute.
static heddle_status fold_for(const heddle_state *from, const heddle_network_options *options, heddle_model **folded)
{
    const heddle_device_kind device = heddle_device_get_kind(from->device);
    HEDDLE_TRY(fold_model(from->model, false, folded));
    const heddle_model *model = *folded ? *folded : from->model;
    if (options->kernels != HEDDLE_FUSED ||
        heddle_infer_by_rows(model, options->batch, device, options->kernels, options->arithmetic) ||
        heddle_infer_alone(model, options->batch, device, options->kernels, options->arithmetic))
        return HEDDLE_OK;
    heddle_model_close(*folded);
    return fold_model(from->model, true, folded);
}

heddle_status heddle_folded_create(heddle_state *from, const heddle_network_options *options, heddle_folded **folded)
{
    heddle_folded *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a model without batchnorm");
    made->from = from;
    made->state = from;
    heddle_status status = fold_for(from, options, &made->model);
    if (status == HEDDLE_OK && made->model) {
        made->state = NULL;
        status = heddle_state_create(from->device, made->model, false, HEDDLE_SGD, &made->state);
    }
    if (status != HEDDLE_OK) {
        heddle_folded_destroy(made);
        return status;
    }
    *folded = made;
    return HEDDLE_OK;
}

void heddle_folded_destroy(heddle_folded *folded)
{
    if (!folded)
        return;
    if (folded->model)
        heddle_state_destroy(folded->state);
    heddle_model_close(folded->model);
    free(folded);
}

// --- the parameters --------------------------------------------------------------------------------------------------

// Both banks of a state in host memory.
typedef struct host_banks {
    const heddle_state *state;
    float *of[HEDDLE_BANK_STATISTICS + 1];
} host_banks;

static heddle_status allocate_banks(const heddle_state *state, host_banks *banks)
{
    banks->state = state;
    for (heddle_bank bank = HEDDLE_BANK_PARAMETERS; bank <= HEDDLE_BANK_STATISTICS; bank++) {
        banks->of[bank] = calloc(state->floats[bank] + 1, sizeof(float));
        if (!banks->of[bank])
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the parameters of model %s", state->model->name);
    }
    return HEDDLE_OK;
}

static void free_banks(const host_banks *banks)
{
    for (heddle_bank bank = HEDDLE_BANK_PARAMETERS; bank <= HEDDLE_BANK_STATISTICS; bank++)
        free(banks->of[bank]);
}

static float *values_of(const host_banks *banks, int index)
{
    return index < 0 ? NULL : banks->of[heddle_state_bank(banks->state, index)] + banks->state->offset[index];
}

// A parameter of a layer; NULL where it has none of that name.
static float *values_named(const host_banks *banks, const heddle_layer *layer, const char *name)
{
    return values_of(banks, heddle_model_parameter_index(banks->state->model, layer->name, name));
}

// (w * x + b - mean) * scale + beta, with scale = gamma / sqrt(variance + epsilon), as w' * x + b'.
static void fold_layer(const heddle_layer *layer, const host_banks *from, const host_banks *to)
{
    const heddle_layer *conv = &layer[0], *norm = &layer[1];
    const float *weight = values_named(from, conv, "weight"), *bias = values_named(from, conv, "bias");
    const float *gamma = values_named(from, norm, "weight"), *beta = values_named(from, norm, "bias");
    const float *mean = values_named(from, norm, "running_mean"), *variance = values_named(from, norm, "running_var");
    float *folded_weight = values_named(to, conv, "weight"), *folded_bias = values_named(to, conv, "bias");
    const size_t filter = (size_t)(conv->in[0] / conv->groups) * (size_t)conv->kernel * (size_t)conv->kernel;
    for (int k = 0; k < conv->channels; k++) {
        const double scale = (double)gamma[k] / sqrt((double)variance[k] + (double)norm->epsilon);
        for (size_t i = (size_t)k * filter; i < ((size_t)k + 1) * filter; i++)
            folded_weight[i] = (float)((double)weight[i] * scale);
        folded_bias[k] = (float)(((bias ? (double)bias[k] : 0) - (double)mean[k]) * scale + (double)beta[k]);
    }
}

// Every convolution of `from` that has no batchnorm behind it any more.
static void fold_layers(const heddle_layer_list *list, const host_banks *from, const host_banks *to)
{
    for (int i = 0; i < list->count; i++) {
        fold_layers(&list->layers[i].layers, from, to);
        fold_layers(&list->layers[i].projection, from, to);
        if (folds(list, i, false) && !values_named(to, &list->layers[i + 1], "weight"))
            fold_layer(&list->layers[i], from, to);
    }
}

static void fold_parameters(const host_banks *from, const host_banks *to)
{
    const heddle_model *model = from->state->model;
    for (int i = 0; i < to->state->model->parameter_count; i++) {
        const int source = heddle_model_find_parameter(model, to->state->model->parameters[i].name);
        if (source >= 0) // a bias may be new
            memcpy(values_of(to, i), values_of(from, source), heddle_state_elements(to->state, i) * sizeof(float));
    }
    fold_layers(&(heddle_layer_list){model->layers, model->layer_count}, from, to);
}

heddle_status heddle_folded_update(heddle_folded *folded, heddle_stream *stream)
{
    if (!folded->model)
        return HEDDLE_OK;
    host_banks from = {0}, to = {0};
    heddle_status status = allocate_banks(folded->from, &from);
    if (status == HEDDLE_OK)
        status = allocate_banks(folded->state, &to);
    for (heddle_bank bank = HEDDLE_BANK_PARAMETERS; bank <= HEDDLE_BANK_STATISTICS && status == HEDDLE_OK; bank++)
        status = heddle_state_read(folded->from, stream, bank, from.of[bank]);
    if (status == HEDDLE_OK)
        fold_parameters(&from, &to);
    for (heddle_bank bank = HEDDLE_BANK_PARAMETERS; bank <= HEDDLE_BANK_STATISTICS && status == HEDDLE_OK; bank++)
        status = heddle_state_write(folded->state, stream, bank, to.of[bank]);
    free_banks(&from);
    free_banks(&to);
    return status;
}
