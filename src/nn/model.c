// Models: reading them from JSON, checking that the layers fit together, writing them back.

#include "nn/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/place.h"
#include "base/text.h"

enum {
    MOST_PIXELS = 4096, // channels, height or width of an input
    MOST_CLASSES = 65536,
    MODEL_FILE_LIMIT = 1 << 20, // 1 MiB, as a message says
    LIST_SIZE = 128,            // names of the built-in models
    PLACE_SIZE = 256,           // the file and the object that a message is about
};

// --- reading --------------------------------------------------------------------------------------------------------

// The keys of an object; a misspelt one must not pass for an absent one.
static heddle_status check_keys(const char *what, const char *object, const cJSON *json, const char *const *keys,
                                int count, const char *list)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, json)
    {
        bool known = false;
        for (int i = 0; i < count; i++)
            known |= strcmp(keys[i], field->string) == 0;
        if (known)
            continue;
        const char *nearest = heddle_text_nearest(field->string, keys, count);
        return heddle_fail(HEDDLE_INVALID, "%s: %s has no '%s'; %s%s%s", what, object, field->string,
                           nearest ? "did you mean '" : "it has ", nearest ? nearest : list, nearest ? "'?" : "");
    }
    return HEDDLE_OK;
}

// "input", which is checked even where the data say what goes in.
static heddle_status parse_own_input(const char *what, const cJSON *own, heddle_model *model)
{
    static const char *const keys[] = {"channels", "height", "width", "classes"};
    char place[PLACE_SIZE];
    long long channels, height, width, classes;
    if (!cJSON_IsObject(own))
        return heddle_fail(HEDDLE_INVALID, "%s: \"input\" must be an object such as %s", what,
                           "{\"channels\": 1, \"height\": 28, \"width\": 28, \"classes\": 10}");
    HEDDLE_TRY(
        check_keys(what, "\"input\"", own, keys, sizeof keys / sizeof *keys, "channels, height, width and classes"));
    snprintf(place, sizeof place, "%s, \"input\"", what);
    HEDDLE_TRY(heddle_json_int(place, own, "channels", 1, MOST_PIXELS, &channels));
    HEDDLE_TRY(heddle_json_int(place, own, "height", 1, MOST_PIXELS, &height));
    HEDDLE_TRY(heddle_json_int(place, own, "width", 1, MOST_PIXELS, &width));
    HEDDLE_TRY(heddle_json_int(place, own, "classes", 2, MOST_CLASSES, &classes));
    model->named_input = (heddle_input_shape){(int)channels, (int)height, (int)width, (int)classes};
    return HEDDLE_OK;
}

static heddle_status parse_input(const char *what, const cJSON *json, const heddle_input_shape *input,
                                 heddle_model *model)
{
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(json, "input");
    if (own)
        HEDDLE_TRY(parse_own_input(what, own, model));
    if (!own && !input)
        return heddle_fail(HEDDLE_INVALID, "%s: no \"input\" says what goes into the model", what);
    model->input = input ? *input : model->named_input;
    const heddle_input_shape *shape = &model->input;
    if (shape->channels < 1 || shape->height < 1 || shape->width < 1 || shape->classes < 2)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: an input of %d×%d×%d with %d classes; a model needs at least 1×1×1 and 2", what,
                           shape->channels, shape->height, shape->width, shape->classes);
    if (shape->channels > MOST_PIXELS || shape->height > MOST_PIXELS || shape->width > MOST_PIXELS ||
        shape->classes > MOST_CLASSES)
        return heddle_fail(HEDDLE_INVALID, "%s: an input of %d×%d×%d with %d classes; at most %d of each and %d", what,
                           shape->channels, shape->height, shape->width, shape->classes, MOST_PIXELS, MOST_CLASSES);
    return HEDDLE_OK;
}

// Lists `layers` and what is inside them; with NULL it only counts.
static int list_layers(const heddle_layer_list *list, const heddle_layer **every)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        const heddle_layer *layer = &list->layers[i];
        if (every)
            every[count] = layer;
        count++;
        count += list_layers(&layer->layers, every ? every + count : NULL);
        count += list_layers(&layer->projection, every ? every + count : NULL);
    }
    return count;
}

static heddle_status parse_layers(const char *what, const cJSON *json, heddle_model *model)
{
    const heddle_input_shape *input = &model->input;
    const int dims[3] = {input->channels, input->height, input->width};
    heddle_layer_list list = {0};
    heddle_status status = heddle_layers_read(what, json, input->classes, dims, &list);
    model->layers = list.layers;
    model->layer_count = list.count;
    HEDDLE_TRY(status);
    if (list.count == 0)
        return heddle_fail(HEDDLE_INVALID, "%s: the list of layers is empty", what);
    const heddle_layer *last = &list.layers[list.count - 1];
    if (last->out_rank != 1 || last->out[0] != input->classes)
        return heddle_fail(HEDDLE_INVALID, "%s: the last layer must give %d features, one per class; end with %s", what,
                           input->classes, "{\"type\": \"linear\", \"features\": \"classes\"}");
    model->every_count = list_layers(&list, NULL);
    model->every = calloc((size_t)model->every_count + 1, sizeof(const heddle_layer *));
    if (!model->every)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for a list of %d layers", what, model->every_count);
    list_layers(&list, model->every);
    return HEDDLE_OK;
}

static size_t spec_elements(const heddle_parameter_spec *spec)
{
    size_t elements = 1;
    for (int i = 0; i < spec->rank; i++)
        elements *= (size_t)spec->dims[i];
    return elements;
}

static heddle_status collect_parameters(const char *what, heddle_model *model)
{
    model->parameters = calloc((size_t)model->every_count * HEDDLE_LAYER_PARAMETERS + 1, sizeof *model->parameters);
    if (!model->parameters)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for the list of parameters", what);
    double elements = 0;
    for (int i = 0; i < model->every_count; i++) {
        const heddle_layer *layer = model->every[i];
        if (!layer->type->parameters)
            continue;
        heddle_parameter_spec *specs = &model->parameters[model->parameter_count];
        int count = layer->type->parameters(layer, specs);
        for (int j = 0; j < count; j++) {
            elements += (double)spec_elements(&specs[j]);
            // A name with a dot may be that of a layer inside another.
            if (heddle_model_find_parameter(model, specs[j].name) >= 0)
                return heddle_fail(HEDDLE_INVALID, "%s: two parameters are called '%s'; give layer '%s' another name",
                                   what, specs[j].name, layer->name);
        }
        model->parameter_count += count;
    }
    if (elements > (double)(1 << 30))
        return heddle_fail(HEDDLE_INVALID, "%s: %.3g parameters; at most 2^30 are possible", what, elements);
    return HEDDLE_OK;
}

static heddle_status write_json(const char *what, heddle_model *model)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *input = json ? cJSON_AddObjectToObject(json, "input") : NULL;
    bool whole = input && cJSON_AddStringToObject(json, "name", model->name) &&
                 cJSON_AddNumberToObject(input, "channels", model->input.channels) &&
                 cJSON_AddNumberToObject(input, "height", model->input.height) &&
                 cJSON_AddNumberToObject(input, "width", model->input.width) &&
                 cJSON_AddNumberToObject(input, "classes", model->input.classes);
    cJSON *list = whole ? heddle_layers_to_json(&(heddle_layer_list){model->layers, model->layer_count}) : NULL;
    whole = list && cJSON_AddItemToObject(json, "layers", list);
    model->json = whole ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    return model->json ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for the model's text", what);
}

static heddle_status build(const char *what, const cJSON *json, const heddle_input_shape *input, heddle_model *model)
{
    if (!cJSON_IsObject(json))
        return heddle_fail(HEDDLE_INVALID, "%s: a model is an object with \"layers\"", what);
    static const char *const keys[] = {"name", "input", "layers"};
    HEDDLE_TRY(check_keys(what, "a model", json, keys, sizeof keys / sizeof *keys, "name, input and layers"));
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "name");
    snprintf(model->name, sizeof model->name, "model");
    if (name)
        HEDDLE_TRY(heddle_name_read(what, name, model->name, sizeof model->name));
    HEDDLE_TRY(parse_input(what, json, input, model));
    const cJSON *layers;
    HEDDLE_TRY(heddle_json_array(what, json, "layers", &layers));
    HEDDLE_TRY(parse_layers(what, layers, model));
    HEDDLE_TRY(collect_parameters(what, model));
    return write_json(what, model);
}

heddle_status heddle_model_parse(const char *what, const char *text, const heddle_input_shape *input,
                                 heddle_model **model)
{
    if (!what || !text || !model)
        return heddle_fail(HEDDLE_INVALID, "heddle_model_parse needs a text and a place for the model");
    cJSON *json = NULL;
    HEDDLE_TRY(heddle_json_parse(what, text, strlen(text), &json));
    heddle_model *made = calloc(1, sizeof *made);
    heddle_status status =
        made ? build(what, json, input, made) : heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for a model", what);
    cJSON_Delete(json);
    if (status != HEDDLE_OK) {
        heddle_model_close(made);
        return status;
    }
    *model = made;
    return HEDDLE_OK;
}

static heddle_status unknown_model(const char *name)
{
    const char *const *names = heddle_model_names();
    char list[LIST_SIZE] = "";
    int count = 0;
    for (size_t used = 0; names[count] && used < sizeof list; count++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
    const char *nearest = heddle_text_nearest(name, names, count);
    return heddle_fail(HEDDLE_NOT_FOUND, "there is no model '%s', and no file of that name; built in: %s%s%s%s", name,
                       list, nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

heddle_status heddle_model_open(const char *name, const heddle_input_shape *input, heddle_model **model)
{
    if (!name || !model)
        return heddle_fail(HEDDLE_INVALID, "heddle_model_open needs a name and a place for the model");
    const char *builtin = heddle_model_builtin(name);
    if (builtin)
        return heddle_model_parse(name, builtin, input, model);
    if (heddle_folder_exists(name))
        return heddle_fail(HEDDLE_NOT_FOUND, "%s is a folder, not a model; name a model file in it", name);
    if (!heddle_file_exists(name))
        return unknown_model(name);
    char *text = NULL, page[HEDDLE_PLACE_SIZE];
    size_t size = 0;
    heddle_status status = heddle_file_read(name, MODEL_FILE_LIMIT, &text, &size);
    bool too_large = status == HEDDLE_CORRUPT, has_zero_byte = status == HEDDLE_OK && strlen(text) != size;
    if (too_large || has_zero_byte)
        status = heddle_fail(HEDDLE_CORRUPT, "%s is no model file: it %s; a model is JSON text, see %s", name,
                             too_large ? "is larger than 1 MiB" : "is not text", heddle_page("models.md", page));
    else if (status == HEDDLE_OK)
        status = heddle_model_parse(name, text, input, model);
    free(text);
    // What a file says wrongly is the file's fault, be it JSON or not.
    return status == HEDDLE_INVALID ? HEDDLE_CORRUPT : status;
}

void heddle_model_close(heddle_model *model)
{
    if (!model)
        return;
    heddle_layers_free(&(heddle_layer_list){model->layers, model->layer_count});
    free(model->every);
    free(model->parameters);
    cJSON_free(model->json);
    free(model);
}

// --- looking at it --------------------------------------------------------------------------------------------------

const char *heddle_model_name(const heddle_model *model)
{
    return model->name;
}

heddle_input_shape heddle_model_input(const heddle_model *model)
{
    return model->input;
}

const char *heddle_model_json(const heddle_model *model)
{
    return model->json;
}

size_t heddle_model_parameters(const heddle_model *model)
{
    size_t elements = 0;
    for (int i = 0; i < model->parameter_count; i++)
        elements += model->parameters[i].trained ? spec_elements(&model->parameters[i]) : 0;
    return elements;
}

int heddle_model_layers(const heddle_model *model)
{
    return model->every_count;
}

heddle_status heddle_model_layer(const heddle_model *model, int index, heddle_layer_info *info)
{
    if (index < 0 || index >= model->every_count)
        return heddle_fail(HEDDLE_INVALID, "model %s has %d layers, no layer %d", model->name, model->every_count,
                           index);
    const heddle_layer *layer = model->every[index];
    *info = (heddle_layer_info){.name = layer->name, .type = layer->type->name, .rank = layer->out_rank};
    memcpy(info->dims, layer->out, sizeof layer->out);
    heddle_layer_details(layer, info->details, sizeof info->details);
    heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS];
    int count = layer->type->parameters ? layer->type->parameters(layer, specs) : 0;
    for (int i = 0; i < count; i++)
        info->parameters += specs[i].trained ? spec_elements(&specs[i]) : 0;
    return HEDDLE_OK;
}
