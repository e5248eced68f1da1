// The list of layer types, and reading, writing and describing a layer through its type's entry.

#include "nn/layers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define DECLARE(type) extern const heddle_layer_type heddle_layer_##type;
#define ADDRESS(type) &heddle_layer_##type,
#define LAYER_TYPES(each)                                                                                              \
    each(conv2d) each(batchnorm2d) each(layernorm) each(relu) each(tanh) each(sigmoid) each(elu) each(gelu)            \
        each(softplus) each(swish) each(maxpool2d) each(avgpool2d) each(globalavgpool) each(flatten) each(linear)      \
            each(dropout) each(log_softmax) each(residual)
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

static const heddle_layer_type *find_type(const char *name)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    return NULL;
}

// --- reading --------------------------------------------------------------------------------------------------------

enum { MOST_LAYERS = 256, PLACE_SIZE = 256, LIST_SIZE = 256, VALUE_SIZE = 64 };

// Where reading has got to: `depth` lists of layers lie around the present place.
typedef struct reading {
    int classes, depth, count;
} reading;

// A list of layers and how it is called: in errors, and in front of its layers' names.
typedef struct place {
    char what[PLACE_SIZE], prefix[HEDDLE_LAYER_PATH];
} place;

static heddle_status read_list(reading *reader, const place *at, const cJSON *json, int rank, const int dims[3],
                               heddle_layer_list *list);

// What other libraries call a layer type or a setting, in lower case and without '_'.
static const struct known_as {
    const char *theirs, *ours;
} known_types[] =
    {
        {"silu", "swish"},
        {"dense", "linear"},
        {"fc", "linear"},
        {"fullyconnected", "linear"},
        {"conv", "conv2d"},
        {"batchnorm", "batchnorm2d"},
        {"batchnormalization", "batchnorm2d"},
        {"batchnorm1d", "layernorm"},
        {"layernormalization", "layernorm"},
        {"maxpool", "maxpool2d"},
        {"maxpooling2d", "maxpool2d"},
        {"avgpool", "avgpool2d"},
        {"averagepooling2d", "avgpool2d"},
        {"adaptiveavgpool2d", "globalavgpool"},
        {"globalavgpool2d", "globalavgpool"},
        {"globalaveragepooling2d", "globalavgpool"},
        {"dropout2d", "dropout"},
},
  known_settings[] = {
      {"outchannels", "channels"}, {"filters", "channels"}, {"outfeatures", "features"},  {"units", "features"},
      {"kernelsize", "kernel"},    {"poolsize", "window"},  {"strides", "stride"},        {"eps", "epsilon"},
      {"p", "probability"},        {"rate", "probability"}, {"usebias", "bias"},          {"kernel", "window"},
      {"kernelsize", "window"},    {"size", "window"},      {"dilationrate", "dilation"},
};

// "Adaptive_AvgPool2d" as "adaptiveavgpool2d".
static const char *plain_name(const char *name, char plain[HEDDLE_LAYER_NAME])
{
    size_t length = 0;
    for (const char *c = name; *c && length + 1 < HEDDLE_LAYER_NAME; c++)
        if (*c != '_' && *c != '-')
            plain[length++] = (char)tolower((unsigned char)*c);
    plain[length] = '\0';
    return plain;
}

// The one of `names` that was probably meant: the same in other case, another library's word, or the nearest.
static const char *meant(const char *name, const char *const *names, int count, const struct known_as *known,
                         size_t known_count)
{
    char plain[HEDDLE_LAYER_NAME], own[HEDDLE_LAYER_NAME];
    plain_name(name, plain);
    for (int i = 0; i < count; i++)
        if (strcmp(plain, plain_name(names[i], own)) == 0)
            return names[i];
    for (size_t k = 0; k < known_count; k++)
        for (int i = 0; i < count && strcmp(known[k].theirs, plain) == 0; i++)
            if (strcmp(known[k].ours, names[i]) == 0)
                return names[i];
    return heddle_text_nearest(name, names, count);
}

static const char *join(const char *const *names, int count, char list[LIST_SIZE])
{
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < count && used < LIST_SIZE; i++)
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s%s", i ? ", " : "", names[i]);
    return list;
}

static heddle_status unknown_type(const char *what, const char *name)
{
    const char *names[TYPES];
    char plain[HEDDLE_LAYER_NAME], list[LIST_SIZE];
    for (int i = 0; i < TYPES; i++)
        names[i] = types[i]->name;
    if (strcmp(plain_name(name, plain), "softmax") == 0)
        return heddle_fail(HEDDLE_INVALID, "%s: there is no layer type '%s'; leave it out: the loss contains it", what,
                           name);
    const char *nearest = meant(name, names, TYPES, known_types, sizeof known_types / sizeof *known_types);
    return heddle_fail(HEDDLE_INVALID, "%s: there is no layer type '%s'%s%s%s", what, name,
                       nearest ? "; did you mean '" : "; the types are ", nearest ? nearest : join(names, TYPES, list),
                       nearest ? "'?" : "");
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
    char list[LIST_SIZE];
    const char **names = calloc((size_t)count, sizeof *names);
    if (!names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for the names of settings", what);
    for (int i = 0; i < type->setting_count; i++)
        names[i] = type->settings[i].name;
    names[type->setting_count] = "name";
    names[type->setting_count + 1] = "type";
    const char *nearest = meant(name, names, count, known_settings, sizeof known_settings / sizeof *known_settings);
    join(names, type->setting_count, list);
    free(names);
    const char *settings = list[0] ? "ts settings are " : "t has no settings";
    if (nearest)
        return heddle_fail(HEDDLE_INVALID, "%s: %s has no setting '%s'; did you mean '%s'? I%s%s", what, type->name,
                           name, nearest, settings, list);
    return heddle_fail(HEDDLE_INVALID, "%s: %s has no setting '%s'; i%s%s", what, type->name, name, settings, list);
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

static heddle_status read_layers(reading *reader, const char *what, const cJSON *field, const heddle_setting *setting,
                                 heddle_layer *layer)
{
    bool plain = strcmp(setting->name, "layers") == 0;
    place inside;
    snprintf(inside.what, sizeof inside.what, "%s%s%s", what, plain ? "" : ", ", plain ? "" : setting->name);
    snprintf(inside.prefix, sizeof inside.prefix, "%s.%s%s", layer->name, plain ? "" : setting->name, plain ? "" : ".");
    if (!cJSON_IsArray(field))
        return heddle_fail(HEDDLE_INVALID, "%s: '%s' must be a list of layers", what, setting->name);
    if (reader->depth == HEDDLE_LAYER_DEPTH)
        return heddle_fail(HEDDLE_INVALID, "%s: lists of layers are nested more than %d deep", what,
                           HEDDLE_LAYER_DEPTH);
    void *at = (char *)layer + setting->offset;
    return read_list(reader, &inside, field, layer->in_rank, layer->in, at);
}

// A number that is a list or a text: says what is allowed.
static heddle_status refuse_value(const char *what, const cJSON *field, const heddle_setting *setting)
{
    char range[VALUE_SIZE];
    const char *kind = setting->kind == HEDDLE_SETTING_FLOAT ? "a number" : "an integer", *hint = "";
    snprintf(range, sizeof range, "%s from %.10g to %.10g", kind, setting->least, setting->most);
    if (setting->kind == HEDDLE_SETTING_FEATURES)
        hint = " or \"classes\"";
    else if (cJSON_IsArray(field))
        hint = ", the same for height and width";
    else if (cJSON_IsString(field) && strcmp(field->valuestring, "same") == 0)
        hint = "; (kernel - 1) / 2 keeps the size if kernel is odd and stride and dilation are 1";
    else if (cJSON_IsString(field) && strcmp(field->valuestring, "valid") == 0)
        hint = "; 0 is no padding";
    return heddle_fail(HEDDLE_INVALID, "%s: '%s' (%s) must be %s%s", what, setting->name, setting->note, range, hint);
}

static heddle_status read_number(const reading *reader, const char *what, const cJSON *json, const cJSON *field,
                                 const heddle_setting *setting, void *at)
{
    int *integer = at;
    float *real = at;
    if (setting->kind == HEDDLE_SETTING_BOOL) {
        if (field && !cJSON_IsBool(field))
            return heddle_fail(HEDDLE_INVALID, "%s: '%s' must be true or false", what, setting->name);
        *integer = field ? cJSON_IsTrue(field) : (int)setting->initial;
        return HEDDLE_OK;
    }
    bool classes = setting->kind == HEDDLE_SETTING_FEATURES && field && cJSON_IsString(field) &&
                   strcmp(field->valuestring, "classes") == 0;
    if (classes) {
        *integer = reader->classes;
        return HEDDLE_OK;
    }
    if (field && !cJSON_IsNumber(field))
        return refuse_value(what, field, setting);
    if (setting->kind == HEDDLE_SETTING_FLOAT) {
        double value;
        HEDDLE_TRY(
            heddle_json_number_or(what, json, setting->name, setting->least, setting->most, setting->initial, &value));
        *real = (float)value;
        return HEDDLE_OK;
    }
    long long value;
    HEDDLE_TRY(heddle_json_int_or(what, json, setting->name, (long long)setting->least, (long long)setting->most,
                                  isnan(setting->initial) ? 0 : (long long)setting->initial, &value));
    *integer = (int)value;
    return HEDDLE_OK;
}

static heddle_status read_settings(reading *reader, const char *what, const cJSON *json, heddle_layer *layer)
{
    for (int i = 0; i < layer->type->setting_count; i++) {
        const heddle_setting *setting = &layer->type->settings[i];
        const cJSON *field = cJSON_GetObjectItemCaseSensitive(json, setting->name);
        if (!field && isnan(setting->initial))
            return heddle_fail(HEDDLE_INVALID, "%s: '%s' is missing (%s)", what, setting->name, setting->note);
        if (setting->kind != HEDDLE_SETTING_LAYERS)
            HEDDLE_TRY(read_number(reader, what, json, field, setting, (char *)layer + setting->offset));
        else if (field)
            HEDDLE_TRY(read_layers(reader, what, field, setting, layer));
    }
    return HEDDLE_OK;
}

heddle_status heddle_name_read(const char *what, const cJSON *given, char *name, size_t size)
{
    const char *text = cJSON_IsString(given) ? given->valuestring : "";
    bool plain = text[0] != '\0' && strlen(text) < size;
    for (const char *c = text; *c; c++)
        plain &= (unsigned char)*c >= ' ' && *c != 0x7f && *c != '/';
    if (!plain)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: 'name' must be text of 1 to %zu bytes without '/' or control characters", what,
                           size - 1);
    snprintf(name, size, "%s", text);
    return HEDDLE_OK;
}

// The name the file gives, or "conv1" for the first unnamed convolution of the list.
static heddle_status read_name(const char *what, const char *prefix, const cJSON *json, const heddle_layer_list *before,
                               heddle_layer *layer)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(json, "name");
    char own[HEDDLE_LAYER_NAME];
    if (given) {
        HEDDLE_TRY(heddle_name_read(what, given, own, sizeof own));
    } else {
        int number = 1;
        for (int i = 0; i < before->count; i++)
            number += strcmp(before->layers[i].type->short_name, layer->type->short_name) == 0;
        snprintf(own, sizeof own, "%s%d", layer->type->short_name, number);
    }
    layer->own_name = (int)strlen(prefix);
    snprintf(layer->name, sizeof layer->name, "%s%s", prefix, own);
    for (int i = 0; i < before->count; i++)
        if (strcmp(before->layers[i].name, layer->name) == 0)
            return heddle_fail(HEDDLE_INVALID, "%s: another layer is called '%s' too; give one of them another name",
                               what, own);
    return HEDDLE_OK;
}

static heddle_status check_input(const char *what, const heddle_layer *layer)
{
    if (layer->type->in_rank == 1 && layer->in_rank == 3)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: %s takes features, but gets images of %d×%d×%d; put a flatten before it", what,
                           layer->type->name, layer->in[0], layer->in[1], layer->in[2]);
    if (layer->type->in_rank == 3 && layer->in_rank == 1)
        return heddle_fail(
            HEDDLE_INVALID, "%s: %s takes images, but gets %d features; %s", what, layer->type->name, layer->in[0],
            layer->type == &heddle_layer_batchnorm2d ? "use layernorm for features" : "put it before the flatten");
    return HEDDLE_OK;
}

static heddle_status read_layer(reading *reader, const char *what, const char *prefix, const cJSON *json,
                                const heddle_layer_list *before, heddle_layer *layer)
{
    if (!cJSON_IsObject(json))
        return heddle_fail(HEDDLE_INVALID, "%s: a layer is an object such as {\"type\": \"relu\"}", what);
    if (reader->count++ == MOST_LAYERS)
        return heddle_fail(HEDDLE_INVALID, "%s: a model has at most %d layers", what, MOST_LAYERS);
    const char *type_name;
    HEDDLE_TRY(heddle_json_text(what, json, "type", &type_name));
    layer->type = find_type(type_name);
    if (!layer->type)
        return unknown_type(what, type_name);
    HEDDLE_TRY(check_names(what, json, layer->type));
    HEDDLE_TRY(read_name(what, prefix, json, before, layer));
    HEDDLE_TRY(check_input(what, layer));
    HEDDLE_TRY(read_settings(reader, what, json, layer));
    heddle_status status = layer->type->infer(layer);
    return status == HEDDLE_OK ? HEDDLE_OK : heddle_fail_within(status, "%s: %s", what, type_name);
}

static heddle_status read_list(reading *reader, const place *at, const cJSON *json, int rank, const int dims[3],
                               heddle_layer_list *list)
{
    int room = cJSON_GetArraySize(json), number = 1;
    *list = (heddle_layer_list){.layers = calloc((size_t)room + 1, sizeof *list->layers)};
    if (!list->layers)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory for %d layers", at->what, room);
    reader->depth++;
    const cJSON *one;
    cJSON_ArrayForEach(one, json)
    {
        char what[PLACE_SIZE];
        snprintf(what, sizeof what, "%s, layer %d", at->what, number++);
        const heddle_layer_list before = *list;
        heddle_layer *layer = &list->layers[list->count++];
        layer->in_rank = rank;
        memcpy(layer->in, dims, sizeof layer->in);
        HEDDLE_TRY(read_layer(reader, what, at->prefix, one, &before, layer));
        rank = layer->out_rank;
        dims = layer->out;
    }
    reader->depth--;
    return HEDDLE_OK;
}

heddle_status heddle_layers_read(const char *what, const cJSON *json, int classes, const int dims[3],
                                 heddle_layer_list *list)
{
    reading reader = {.classes = classes};
    place at = {.prefix = ""};
    snprintf(at.what, sizeof at.what, "%s", what);
    return read_list(&reader, &at, json, 3, dims, list);
}

void heddle_layers_free(heddle_layer_list *list)
{
    for (int i = 0; i < list->count; i++) {
        heddle_layers_free(&list->layers[i].layers);
        heddle_layers_free(&list->layers[i].projection);
    }
    free(list->layers);
    *list = (heddle_layer_list){0};
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
    if (setting->kind == HEDDLE_SETTING_LAYERS)
        return ((const heddle_layer_list *)at)->count;
    return setting->kind == HEDDLE_SETTING_FLOAT ? shortest(*(const float *)at) : *(const int *)at;
}

static bool add_setting(cJSON *json, const heddle_layer *layer, const heddle_setting *setting)
{
    const void *at = (const char *)layer + setting->offset;
    double value = setting_value(layer, setting);
    if (setting->kind == HEDDLE_SETTING_LAYERS) {
        cJSON *list = value > 0 ? heddle_layers_to_json(at) : NULL;
        return value == 0 || (list && cJSON_AddItemToObject(json, setting->name, list));
    }
    return setting->kind == HEDDLE_SETTING_BOOL ? cJSON_AddBoolToObject(json, setting->name, value != 0) != NULL
                                                : cJSON_AddNumberToObject(json, setting->name, value) != NULL;
}

static cJSON *layer_to_json(const heddle_layer *layer)
{
    cJSON *json = cJSON_CreateObject();
    bool whole = json && cJSON_AddStringToObject(json, "type", layer->type->name) &&
                 cJSON_AddStringToObject(json, "name", layer->name + layer->own_name);
    for (int i = 0; i < layer->type->setting_count && whole; i++)
        whole = add_setting(json, layer, &layer->type->settings[i]);
    if (whole)
        return json;
    cJSON_Delete(json);
    return NULL;
}

cJSON *heddle_layers_to_json(const heddle_layer_list *list)
{
    cJSON *json = cJSON_CreateArray();
    bool whole = json != NULL;
    for (int i = 0; i < list->count && whole; i++) {
        cJSON *layer = layer_to_json(&list->layers[i]);
        whole = layer && cJSON_AddItemToArray(json, layer);
    }
    if (whole)
        return json;
    cJSON_Delete(json);
    return NULL;
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
