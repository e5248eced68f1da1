// Any text as a model file; any bytes as a checkpoint; and any two texts, with a zero byte between, as the model and
// the training of a checkpoint whose arrays are put right, so that the fuzzer gets past them. What parses must hold
// together and come back the same when it is written.

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "nn/checkpoint.h"
#include "nn/checkpoint_about.h"
#include "nn/layers.h"
#include "nn/lower.h"
#include "nn/optimizer.h"

enum { MOST_FLOATS = 1 << 14 }; // of a model whose checkpoint is made

static volatile size_t sink; // so that reading is not optimised away

#ifdef HEDDLE_FUZZ_ALONE
#include "alone.h"
#endif

// --- models ---------------------------------------------------------------------------------------------------------

static size_t floats_of(const heddle_model *model)
{
    size_t floats = 0;
    for (int i = 0; i < model->parameter_count; i++) {
        size_t elements = 1;
        for (int d = 0; d < model->parameters[i].rank; d++) {
            FUZZ_CHECK(model->parameters[i].dims[d] > 0);
            elements *= (size_t)model->parameters[i].dims[d];
        }
        floats += elements;
    }
    FUZZ_CHECK(floats <= (size_t)1 << 30);
    return floats;
}

static void check_model(const heddle_model *model)
{
    size_t parameters = 0;
    for (int i = 0; i < heddle_model_layers(model); i++) {
        heddle_layer_info info;
        FUZZ_CHECK(heddle_model_layer(model, i, &info) == HEDDLE_OK);
        FUZZ_CHECK(info.rank == 1 || info.rank == 3);
        for (int d = 0; d < info.rank; d++)
            FUZZ_CHECK(info.dims[d] > 0);
        parameters += info.parameters;
        sink += strlen(info.name) + strlen(info.type) + strlen(info.details);
    }
    FUZZ_CHECK(parameters == heddle_model_parameters(model) && parameters <= floats_of(model));
    heddle_model *back = NULL;
    FUZZ_CHECK(heddle_model_parse("back", heddle_model_json(model), NULL, &back) == HEDDLE_OK);
    FUZZ_CHECK(strcmp(heddle_model_json(back), heddle_model_json(model)) == 0);
    heddle_model_close(back);
}

// NULL when the text is no model.
static heddle_model *parse_model(const char *text, const heddle_input_shape *input)
{
    heddle_model *model = NULL;
    if (heddle_model_parse("fuzz", text, input, &model) != HEDDLE_OK) {
        FUZZ_CHECK(!model && heddle_last_error()[0] && !strchr(heddle_last_error(), '\n'));
        return NULL;
    }
    check_model(model);
    return model;
}

// --- checkpoints ----------------------------------------------------------------------------------------------------

static void parse_checkpoint(const void *content, size_t size)
{
    heddle_checkpoint *checkpoint = NULL;
    if (heddle_checkpoint_parse("fuzz", content, size, &checkpoint) != HEDDLE_OK) {
        FUZZ_CHECK(!checkpoint && heddle_last_error()[0] && !strchr(heddle_last_error(), '\n'));
        return;
    }
    check_model(heddle_checkpoint_model(checkpoint));
    const heddle_checkpoint_about *about = heddle_checkpoint_about_of(checkpoint);
    FUZZ_CHECK(heddle_train_options_check(&about->options) == HEDDLE_OK);
    for (int i = 0; about->class_names && i < about->classes; i++)
        sink += strlen(about->class_names[i]);
    char *text = heddle_about_to_json(about);
    heddle_checkpoint_about back = {0};
    FUZZ_CHECK(text && heddle_about_from_json("back", text, &back) == HEDDLE_OK);
    FUZZ_CHECK(back.position.loss_sum == about->position.loss_sum && back.options.seed == about->options.seed);
    cJSON_free(text);
    heddle_checkpoint_close(checkpoint);
}

// The header of a checkpoint with every array `model` has, all zeros, one after another.
static char *make_header(const heddle_model *model, const char *model_text, const char *training)
{
    cJSON *header = cJSON_CreateObject(), *metadata = cJSON_AddObjectToObject(header, "__metadata__");
    cJSON_AddStringToObject(metadata, "heddle.model", model_text);
    cJSON_AddStringToObject(metadata, "heddle.training", training);
    double offset = 0;
    for (int i = 0; i < model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &model->parameters[i];
        cJSON *array = cJSON_AddObjectToObject(header, spec->name);
        cJSON_AddStringToObject(array, "dtype", "F32");
        cJSON_AddItemToObject(array, "shape", cJSON_CreateIntArray(spec->dims, spec->rank));
        double bytes = sizeof(float);
        for (int d = 0; d < spec->rank; d++)
            bytes *= spec->dims[d];
        cJSON_AddItemToObject(array, "data_offsets", cJSON_CreateDoubleArray((double[]){offset, offset + bytes}, 2));
        offset += bytes;
    }
    char *text = cJSON_PrintUnformatted(header);
    cJSON_Delete(header);
    return text;
}

static void parse_texts(const char *model_text, const char *training)
{
    heddle_model *model = parse_model(model_text, NULL);
    char *header = model && floats_of(model) <= MOST_FLOATS ? make_header(model, model_text, training) : NULL;
    if (header) {
        uint64_t length = strlen(header);
        size_t size = sizeof length + length + floats_of(model) * sizeof(float);
        uint8_t *content = calloc(1, size);
        if (content) {
            memcpy(content, &length, sizeof length);
            memcpy(content + sizeof length, header, length);
            parse_checkpoint(content, size);
        }
        free(content);
    }
    cJSON_free(header);
    heddle_model_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse_checkpoint(data, size);
    char *text = malloc(size + 2); // two zeros at the end: there are always two texts
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    heddle_model_close(parse_model(text, &(heddle_input_shape){1, 28, 28, 10}));
    size_t first = strlen(text);
    parse_texts(text, text + (first < size ? first + 1 : size + 1));
    free(text);
    return 0;
}
