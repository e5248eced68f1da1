// The list of layer types, and reading, writing and describing a layer through its type's entry.

#include "nn/layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define DECLARE(type) extern const heddle_layer_type heddle_layer_##type;
#define ADDRESS(type) &heddle_layer_##type,
#define LAYER_TYPES(each)                                                                                              \
    each(conv2d) each(batchnorm2d) each(relu) each(tanh) each(sigmoid) each(elu) each(gelu) each(softplus) each(swish) \
        each(maxpool2d) each(avgpool2d) each(flatten) each(linear) each(dropout) each(log_softmax)
LAYER_TYPES(DECLARE)
static const heddle_layer_type *const types[] = {LAYER_TYPES(ADDRESS)};
enum { TYPES = sizeof types / sizeof *types };

int heddle_layer_type_count(void)
{
    return TYPES;
}

const heddle_layer_type *heddle_layer_type_at(int index)
{
    return types[index];
}

const heddle_layer_type *heddle_layer_type_find(const char *name)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    return NULL;
}

// --- reading --------------------------------------------------------------------------------------------------------

static heddle_status unknown_type(const char *what, const char *name)
{
    const char *names[TYPES];
    for (int i = 0; i < TYPES; i++)
        names[i] = types[i]->name;
    const char *nearest = heddle_text_nearest(name, names, TYPES);
    return heddle_fail(HEDDLE_INVALID, "%s: there is no layer type '%s'%s%s%s", what, name,
                       nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static const heddle_setting *find_setting(const heddle_layer_type *type, const char *name)
{
    for (int i = 0; i < type->setting_count; i++)
        if (strcmp(type->settings[i].name, name) == 0)
            return &type->settings[i];
    return NULL;
}

static heddle_status unknown_setting(const char *what, const heddle_layer_type *type, const char *name)
{
    int count = type->setting_count + 2;
    const char **names = calloc((size_t)count, sizeof *names);
    if (!names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for the names of settings", what);
    names[0] = "type";
    names[1] = "name";
    for (int i = 0; i < type->setting_count; i++)
        names[i + 2] = type->settings[i].name;
    const char *nearest = heddle_text_nearest(name, names, count);
    free(names);
    return heddle_fail(HEDDLE_INVALID, "%s: %s has no setting '%s'%s%s%s", what, type->name, name,
                       nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

// A misspelt setting must not pass for an absent one.
static heddle_status check_names(const char *what, const cJSON *json, const heddle_layer_type *type)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, json)
    {
        bool common = strcmp(field->string, "type") == 0 || strcmp(field->string, "name") == 0;
        if (!common && !find_setting(type, field->string))
            return unknown_setting(what, type, field->string);
    }
    return HEDDLE_OK;
}

static heddle_status read_setting(const char *what, const cJSON *json, const heddle_setting *setting, int classes,
                                  heddle_layer *layer)
{
    void *at = (char *)layer + setting->offset;
    int *integer = at;
    float *real = at;
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(json, setting->name);
    if (!field && isnan(setting->initial))
        return heddle_fail(HEDDLE_INVALID, "%s: '%s' is missing (%s)", what, setting->name, setting->note);
    if (setting->kind == HEDDLE_SETTING_BOOL) {
        if (field && !cJSON_IsBool(field))
            return heddle_fail(HEDDLE_INVALID, "%s: '%s' must be true or false", what, setting->name);
        *integer = field ? cJSON_IsTrue(field) : (int)setting->initial;
        return HEDDLE_OK;
    }
    if (setting->kind == HEDDLE_SETTING_FLOAT) {
        double value;
        HEDDLE_TRY(
            heddle_json_number_or(what, json, setting->name, setting->least, setting->most, setting->initial, &value));
        *real = (float)value;
        return HEDDLE_OK;
    }
    if (setting->kind == HEDDLE_SETTING_FEATURES && field && cJSON_IsString(field) &&
        strcmp(field->valuestring, "classes") == 0) {
        *integer = classes;
        return HEDDLE_OK;
    }
    long long value;
    HEDDLE_TRY(heddle_json_int_or(what, json, setting->name, (long long)setting->least, (long long)setting->most,
                                  isnan(setting->initial) ? 0 : (long long)setting->initial, &value));
    *integer = (int)value;
    return HEDDLE_OK;
}

heddle_status heddle_layer_parse(const char *what, const cJSON *json, int classes, heddle_layer *layer)
{
    if (!cJSON_IsObject(json))
        return heddle_fail(HEDDLE_INVALID, "%s: a layer is an object such as {\"type\": \"relu\"}", what);
    const char *type_name;
    HEDDLE_TRY(heddle_json_text(what, json, "type", &type_name));
    layer->type = heddle_layer_type_find(type_name);
    if (!layer->type)
        return unknown_type(what, type_name);
    HEDDLE_TRY(check_names(what, json, layer->type));
    for (int i = 0; i < layer->type->setting_count; i++)
        HEDDLE_TRY(read_setting(what, json, &layer->type->settings[i], classes, layer));
    if (layer->type->in_rank == 1 && layer->in_rank == 3)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: %s takes features, but gets images of %d×%d×%d; put a flatten before it", what,
                           type_name, layer->in[0], layer->in[1], layer->in[2]);
    if (layer->type->in_rank == 3 && layer->in_rank == 1)
        return heddle_fail(HEDDLE_INVALID, "%s: %s takes images, but gets %d features; put it before the flatten", what,
                           type_name, layer->in[0]);
    heddle_status status = layer->type->infer(layer);
    return status == HEDDLE_OK ? HEDDLE_OK : heddle_fail_within(status, "%s: %s", what, type_name);
}

// --- writing --------------------------------------------------------------------------------------------------------

// A float as the shortest decimal that reads back to it, so that 0.1F is written 0.1.
static double shortest(float value)
{
    char text[32];
    double back = value;
    for (int digits = 1; digits < 10; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        back = strtod(text, NULL);
        if ((float)back == value)
            break;
    }
    return back;
}

static double setting_value(const heddle_layer *layer, const heddle_setting *setting)
{
    const void *at = (const char *)layer + setting->offset;
    return setting->kind == HEDDLE_SETTING_FLOAT ? shortest(*(const float *)at) : *(const int *)at;
}

cJSON *heddle_layer_to_json(const heddle_layer *layer)
{
    cJSON *json = cJSON_CreateObject();
    bool whole = json && cJSON_AddStringToObject(json, "type", layer->type->name) &&
                 cJSON_AddStringToObject(json, "name", layer->name);
    for (int i = 0; i < layer->type->setting_count && whole; i++) {
        const heddle_setting *setting = &layer->type->settings[i];
        double value = setting_value(layer, setting);
        whole = setting->kind == HEDDLE_SETTING_BOOL ? cJSON_AddBoolToObject(json, setting->name, value != 0) != NULL
                                                     : cJSON_AddNumberToObject(json, setting->name, value) != NULL;
    }
    if (!whole) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

void heddle_layer_details(const heddle_layer *layer, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < layer->type->setting_count && used < size; i++) {
        const heddle_setting *setting = &layer->type->settings[i];
        double value = setting_value(layer, setting);
        bool plain = strcmp(setting->name, "stride") == 0 && layer->window == layer->stride;
        if (plain || (!isnan(setting->initial) && value == setting->initial && strcmp(setting->name, "kernel") != 0))
            continue;
        const char *comma = used ? ", " : "";
        int wrote = setting->kind == HEDDLE_SETTING_BOOL
                        ? snprintf(text + used, size - used, "%sno %s", comma, setting->name)
                        : snprintf(text + used, size - used, "%s%s %g", comma, setting->name, value);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}
