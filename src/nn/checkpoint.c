// Writes and reads checkpoints. What they say of the run is in checkpoint_about.c, the file format in io/.

#include "nn/checkpoint.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "nn/checkpoint_about.h"

enum { ARRAY_NAME = HEDDLE_PARAMETER_NAME + 16 };

static const char KEY_MODEL[] = HEDDLE_CHECKPOINT_MODEL;
static const char KEY_TRAINING[] = HEDDLE_CHECKPOINT_TRAINING;

// The banks a checkpoint holds, and what stands before a parameter's name in each.
static const struct {
    heddle_bank bank;
    const char *prefix;
} saved_banks[] = {
    {HEDDLE_BANK_PARAMETERS, ""},
    {HEDDLE_BANK_STATISTICS, ""},
    {HEDDLE_BANK_MOMENT1, "moment1/"},
    {HEDDLE_BANK_MOMENT2, "moment2/"},
};
enum { SAVED_BANKS = sizeof saved_banks / sizeof *saved_banks };

heddle_position heddle_position_start(void)
{
    return (heddle_position){.train_loss = NAN,
                             .train_accuracy = NAN,
                             .test_loss = NAN,
                             .test_accuracy = NAN,
                             .best_accuracy = NAN,
                             .best_loss = NAN};
}

// Does parameter `index` have an entry in this bank?
static bool in_bank(const heddle_state *state, int index, heddle_bank bank)
{
    if (!state->bank[bank])
        return false;
    bool is_moment = bank == HEDDLE_BANK_MOMENT1 || bank == HEDDLE_BANK_MOMENT2;
    return is_moment ? state->model->parameters[index].trained : heddle_state_bank(state, index) == bank;
}

static bool all_finite(const float *values, size_t count)
{
    int bad = 0; // not left at the first, so that the loop is vectorised
    for (size_t i = 0; i < count; i++)
        bad |= !(fabsf(values[i]) <= FLT_MAX);
    return !bad;
}

// --- writing --------------------------------------------------------------------------------------------------------

typedef struct writer {
    float *values[SAVED_BANKS];
    heddle_array *arrays;
    char (*names)[ARRAY_NAME];
    int count;
} writer;

static heddle_status collect(writer *to, const heddle_state *state, heddle_stream *stream)
{
    size_t most = (size_t)state->model->parameter_count * SAVED_BANKS + 1;
    to->arrays = calloc(most, sizeof *to->arrays);
    to->names = calloc(most, sizeof *to->names);
    if (!to->arrays || !to->names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to write a checkpoint");
    for (int b = 0; b < SAVED_BANKS; b++) {
        heddle_bank bank = saved_banks[b].bank;
        to->values[b] = malloc((state->floats[bank] + 1) * sizeof(float));
        if (!to->values[b])
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to write a checkpoint");
        HEDDLE_TRY(heddle_state_read(state, stream, bank, to->values[b]));
        for (int i = 0; i < state->model->parameter_count; i++) {
            if (!in_bank(state, i, bank))
                continue;
            const heddle_parameter_spec *spec = &state->model->parameters[i];
            heddle_array *array = &to->arrays[to->count];
            snprintf(to->names[to->count], ARRAY_NAME, "%s%s", saved_banks[b].prefix, spec->name);
            *array = (heddle_array){.name = to->names[to->count], .dtype = HEDDLE_F32, .rank = spec->rank};
            for (int d = 0; d < spec->rank; d++)
                array->dims[d] = spec->dims[d];
            array->data = to->values[b] + state->offset[i];
            array->bytes = heddle_state_elements(state, i) * sizeof(float);
            if (!all_finite(array->data, heddle_state_elements(state, i)))
                return heddle_fail(HEDDLE_DIVERGED, "training diverged: '%s' is no longer finite", array->name);
            to->count++;
        }
    }
    return HEDDLE_OK;
}

heddle_status heddle_checkpoint_write(const char *path, const heddle_state *state, heddle_stream *stream,
                                      const heddle_checkpoint_about *about)
{
    writer to = {0};
    char *training = heddle_about_to_json(about);
    heddle_status status =
        training ? collect(&to, state, stream) : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to write %s", path);
    if (status == HEDDLE_OK) {
        heddle_text_pair metadata[] = {{KEY_MODEL, state->model->json}, {KEY_TRAINING, training}};
        status = heddle_safetensors_write(path, to.arrays, to.count, metadata, 2);
    }
    for (int i = 0; i < SAVED_BANKS; i++)
        free(to.values[i]);
    free(to.arrays);
    free(to.names);
    cJSON_free(training);
    return status;
}

heddle_status heddle_checkpoint_write_values(const char *path, const heddle_model *model, const float *const *values,
                                             const char *training)
{
    const heddle_text_pair metadata[] = {{KEY_MODEL, model->json}, {KEY_TRAINING, training}};
    heddle_array *arrays = calloc((size_t)model->parameter_count + 1, sizeof *arrays);
    if (!arrays)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to write %s", path);
    // Trained ones first, as the banks of a state are written.
    int count = 0;
    for (int i = 0; i < 2 * model->parameter_count; i++) {
        const int index = i % model->parameter_count;
        const heddle_parameter_spec *spec = &model->parameters[index];
        if (spec->trained != (i < model->parameter_count))
            continue;
        heddle_array *array = &arrays[count++];
        *array = (heddle_array){.name = spec->name, .dtype = HEDDLE_F32, .rank = spec->rank, .data = values[index]};
        array->bytes = sizeof(float);
        for (int d = 0; d < spec->rank; d++)
            array->bytes *= (size_t)(array->dims[d] = spec->dims[d]);
    }
    const heddle_status status = heddle_safetensors_write(path, arrays, count, metadata, 2);
    free(arrays);
    return status;
}

// --- reading --------------------------------------------------------------------------------------------------------

struct heddle_checkpoint {
    char *path;
    heddle_safetensors *file;
    heddle_model *model;
    heddle_checkpoint_about about;
    char **class_names;
};

// Class names, if the training data had them.
static heddle_status read_classes(heddle_checkpoint *checkpoint, const cJSON *json)
{
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "classes");
    int classes = heddle_model_input(checkpoint->model).classes;
    if (!names)
        return HEDDLE_OK;
    // The data may have had fewer classes than the model; the rest go by their numbers.
    if (!cJSON_IsArray(names) || cJSON_GetArraySize(names) > classes)
        return heddle_fail(HEDDLE_CORRUPT, "%s: 'classes' must name at most %d classes", checkpoint->path, classes);
    checkpoint->class_names = calloc((size_t)classes + 1, sizeof *checkpoint->class_names);
    if (!checkpoint->class_names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d class names", classes);
    const cJSON *name;
    int index = 0;
    cJSON_ArrayForEach(name, names)
    {
        if (!cJSON_IsString(name))
            return heddle_fail(HEDDLE_CORRUPT, "%s: class %d has no name", checkpoint->path, index);
        checkpoint->class_names[index] = strdup(name->valuestring);
        if (!checkpoint->class_names[index])
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d class names", classes);
        heddle_text_one_line(checkpoint->class_names[index++]); // they are printed
    }
    checkpoint->about.class_names = (const char *const *)checkpoint->class_names;
    checkpoint->about.classes = index;
    return HEDDLE_OK;
}

// The array of a parameter, which must have the parameter's shape; NULL leaves what is wrong as the last error.
static const heddle_array *find_array(const heddle_checkpoint *checkpoint, const heddle_parameter_spec *spec,
                                      const char *prefix)
{
    char name[ARRAY_NAME];
    snprintf(name, sizeof name, "%s%s", prefix, spec->name);
    const heddle_array *array = heddle_safetensors_find(checkpoint->file, name);
    bool fits = array && array->dtype == HEDDLE_F32 && array->rank == spec->rank;
    for (int i = 0; i < spec->rank && fits; i++)
        fits = array->dims[i] == spec->dims[i];
    if (fits && all_finite(array->data, array->bytes / sizeof(float)))
        return array;
    if (!array)
        heddle_fail(HEDDLE_CORRUPT, "%s: '%s' is missing", checkpoint->path, name);
    else if (!fits)
        heddle_fail(HEDDLE_CORRUPT, "%s: '%s' has another shape or type than its model says", checkpoint->path, name);
    else
        heddle_fail(HEDDLE_CORRUPT, "%s: '%s' has numbers that are not finite", checkpoint->path, name);
    return NULL;
}

static heddle_status read_metadata(heddle_checkpoint *checkpoint)
{
    const char *model = heddle_safetensors_metadata(checkpoint->file, KEY_MODEL);
    const char *training = heddle_safetensors_metadata(checkpoint->file, KEY_TRAINING);
    if (!model || !training)
        return heddle_fail(HEDDLE_CORRUPT, "%s: a safetensors file, but not a checkpoint of heddle (no '%s' in it)",
                           checkpoint->path, model ? KEY_TRAINING : KEY_MODEL);
    heddle_status parsed = heddle_model_parse(checkpoint->path, model, NULL, &checkpoint->model);
    if (parsed != HEDDLE_OK) // what would be a mistake in a model file is a damaged file here
        return parsed == HEDDLE_INVALID ? HEDDLE_CORRUPT : parsed;
    // Before anybody makes room for a model, its numbers have to be there: a small file could claim any size.
    for (int i = 0; i < checkpoint->model->parameter_count; i++)
        if (!find_array(checkpoint, &checkpoint->model->parameters[i], ""))
            return HEDDLE_CORRUPT;
    HEDDLE_TRY(heddle_about_from_json(checkpoint->path, training, &checkpoint->about));
    cJSON *json = NULL;
    HEDDLE_TRY(heddle_json_parse(checkpoint->path, training, strlen(training), &json));
    heddle_status status = read_classes(checkpoint, json);
    cJSON_Delete(json);
    return status;
}

// Makes a checkpoint of an opened file, which becomes its own, also when that fails.
static heddle_status make(const char *path, heddle_safetensors *file, heddle_checkpoint **checkpoint)
{
    heddle_checkpoint *made = calloc(1, sizeof *made);
    if (!made || !(made->path = strdup(path))) {
        free(made);
        heddle_safetensors_close(file);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to open %s", path);
    }
    made->file = file;
    heddle_status status = read_metadata(made);
    if (status != HEDDLE_OK) {
        heddle_checkpoint_close(made);
        return status;
    }
    *checkpoint = made;
    return HEDDLE_OK;
}

heddle_status heddle_checkpoint_open(const char *path, heddle_checkpoint **checkpoint)
{
    heddle_safetensors *file = NULL;
    HEDDLE_TRY(heddle_safetensors_open(path, &file));
    return make(path, file, checkpoint);
}

heddle_status heddle_checkpoint_parse(const char *what, const void *content, size_t size,
                                      heddle_checkpoint **checkpoint)
{
    heddle_safetensors *file = NULL;
    HEDDLE_TRY(heddle_safetensors_parse(what, content, size, &file));
    return make(what, file, checkpoint);
}

void heddle_checkpoint_close(heddle_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    for (int i = 0; checkpoint->class_names && checkpoint->class_names[i]; i++)
        free(checkpoint->class_names[i]);
    free(checkpoint->class_names);
    heddle_model_close(checkpoint->model);
    heddle_safetensors_close(checkpoint->file);
    free(checkpoint->path);
    free(checkpoint);
}

const heddle_model *heddle_checkpoint_model(const heddle_checkpoint *checkpoint)
{
    return checkpoint->model;
}

const heddle_checkpoint_about *heddle_checkpoint_about_of(const heddle_checkpoint *checkpoint)
{
    return &checkpoint->about;
}

const char *heddle_checkpoint_training(const heddle_checkpoint *checkpoint)
{
    return heddle_safetensors_metadata(checkpoint->file, KEY_TRAINING);
}

const heddle_array *heddle_checkpoint_array(const heddle_checkpoint *checkpoint, int index)
{
    return heddle_safetensors_find(checkpoint->file, checkpoint->model->parameters[index].name);
}

static heddle_status load_array(const heddle_checkpoint *checkpoint, const heddle_state *state, int index,
                                const char *prefix, float *values)
{
    const heddle_array *array = find_array(checkpoint, &state->model->parameters[index], prefix);
    if (!array)
        return HEDDLE_CORRUPT;
    if (array->bytes)
        memcpy(values + state->offset[index], array->data, array->bytes);
    return HEDDLE_OK;
}

heddle_status heddle_checkpoint_load(const heddle_checkpoint *checkpoint, heddle_state *state, heddle_stream *stream)
{
    for (int b = 0; b < SAVED_BANKS; b++) {
        heddle_bank bank = saved_banks[b].bank;
        float *values = calloc(state->floats[bank] + 1, sizeof *values);
        if (!values)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to load %s", checkpoint->path);
        heddle_status status = HEDDLE_OK;
        for (int i = 0; i < state->model->parameter_count && status == HEDDLE_OK; i++)
            if (in_bank(state, i, bank))
                status = load_array(checkpoint, state, i, saved_banks[b].prefix, values);
        if (status == HEDDLE_OK)
            status = heddle_state_write(state, stream, bank, values);
        free(values);
        HEDDLE_TRY(status);
    }
    return HEDDLE_OK;
}
