// A request to train, read and checked. Names are those of built-in models and installed datasets: a page must not
// make the server open any file.

#include <limits.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "base/text.h"
#include "serve/training.h"

enum { MOST_DATASETS = 16 };

static const char what[] = "the request";

static heddle_status text_or(const cJSON *request, const char *field, const char *otherwise, const char **value)
{
    *value = otherwise;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(request, field);
    if (!item || (cJSON_IsString(item) && !item->valuestring[0]))
        return HEDDLE_OK;
    return heddle_json_text(what, request, field, value);
}

// The index of a name in a NULL-terminated list.
static heddle_status choose(const cJSON *request, const char *field, const char *const *names, int *index)
{
    const char *name;
    int count = 0;
    HEDDLE_TRY(text_or(request, field, names[*index], &name));
    for (; names[count]; count++)
        if (strcmp(names[count], name) == 0) {
            *index = count;
            return HEDDLE_OK;
        }
    const char *nearest = heddle_text_nearest(name, names, count);
    return heddle_fail(HEDDLE_INVALID, "\"%s\": there is no %.60s; did you mean %s?", field, name,
                       nearest ? nearest : names[0]);
}

static heddle_status check_model(const char *name)
{
    const char *const *names = heddle_model_names();
    int count = 0;
    for (; names[count]; count++)
        if (strcmp(names[count], name) == 0)
            return HEDDLE_OK;
    const char *nearest = heddle_text_nearest(name, names, count);
    return heddle_fail(HEDDLE_INVALID, "\"model\": there is no %.60s; did you mean %s?", name,
                       nearest ? nearest : names[0]);
}

// "synth:count=500" is synth.
static heddle_status check_data(const char *name, const char *folder)
{
    heddle_dataset_info list[MOST_DATASETS];
    const size_t length = strcspn(name, ":");
    const int count = heddle_dataset_list(folder, list, MOST_DATASETS);
    for (int i = 0; i < count && i < MOST_DATASETS; i++) {
        if (strlen(list[i].name) != length || strncmp(list[i].name, name, length) != 0)
            continue;
        if (list[i].present)
            return HEDDLE_OK;
        return heddle_fail(HEDDLE_INVALID, "\"data\": %s is not installed; get it with: heddle data get %s",
                           list[i].name, list[i].name);
    }
    return heddle_fail(HEDDLE_INVALID, "\"data\": there is no %.60s; take mnist, fashion or synth", name);
}

static heddle_status check_fields(const cJSON *request)
{
    static const char *const known[] = {"model",    "data",      "epochs", "batch",     "rate",
                                        "schedule", "optimizer", "device", "precision", "seed"};
    enum { KNOWN = sizeof known / sizeof *known };
    const cJSON *item;
    cJSON_ArrayForEach(item, request)
    {
        bool is_known = false;
        for (int i = 0; i < KNOWN; i++)
            is_known |= strcmp(item->string, known[i]) == 0;
        const char *nearest = is_known ? NULL : heddle_text_nearest(item->string, known, KNOWN);
        if (!is_known)
            return heddle_fail(HEDDLE_INVALID, "there is no setting \"%.60s\"%s%s%s", item->string,
                               nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    }
    return HEDDLE_OK;
}

static heddle_status check_device(const char *name, heddle_arithmetic arithmetic)
{
    const bool cuda = name && strncmp(name, "cuda", strlen("cuda")) == 0;
    if (name && !cuda && strcmp(name, "cpu") != 0 && strcmp(name, "sim") != 0)
        return heddle_fail(HEDDLE_INVALID, "\"device\": there is no %.60s; take cpu, cuda or sim", name);
    if (name && strcmp(name, "cpu") == 0 && arithmetic != HEDDLE_FULL)
        return heddle_fail(HEDDLE_INVALID, "\"precision\": the CPU computes in fp32");
    return HEDDLE_OK;
}

heddle_status heddle_serve_training_read(const cJSON *request, const char *folder, heddle_serve_training_wish *wish)
{
    static const char *const optimizers[] = {"sgd", "momentum", "adamw", NULL};
    static const char *const schedules[] = {"constant", "linear", "cosine", NULL};
    static const char *const precisions[] = {"fp32", "tf32x3", "tf32", "fp16", "bf16", NULL};
    heddle_train_options *options = &wish->options;
    *wish = (heddle_serve_training_wish){.options = heddle_train_defaults()};
    int optimizer = (int)options->optimizer, schedule = HEDDLE_LINEAR, precision = (int)options->arithmetic;
    long long epochs, batch, seed;
    HEDDLE_TRY(check_fields(request));
    HEDDLE_TRY(text_or(request, "model", "cnn", &wish->model));
    HEDDLE_TRY(text_or(request, "data", heddle_dataset_default(folder), &wish->data));
    HEDDLE_TRY(text_or(request, "device", NULL, &wish->device));
    HEDDLE_TRY(check_model(wish->model));
    HEDDLE_TRY(check_data(wish->data, folder));
    HEDDLE_TRY(heddle_json_int_or(what, request, "epochs", 1, 1000000, 3, &epochs));
    HEDDLE_TRY(heddle_json_int_or(what, request, "batch", 1, 1000000, 16, &batch));
    HEDDLE_TRY(heddle_json_int_or(what, request, "seed", 0, LLONG_MAX / 2, 1, &seed));
    HEDDLE_TRY(heddle_json_number_or(what, request, "rate", 1e-12, 1e6, 0.05, &options->learning_rate));
    HEDDLE_TRY(choose(request, "optimizer", optimizers, &optimizer));
    HEDDLE_TRY(choose(request, "schedule", schedules, &schedule));
    HEDDLE_TRY(choose(request, "precision", precisions, &precision));
    HEDDLE_TRY(check_device(wish->device, (heddle_arithmetic)precision));
    options->epochs = (int)epochs;
    options->batch = (int)batch;
    options->seed = (uint64_t)seed;
    options->optimizer = (heddle_optimizer)optimizer;
    options->schedule = (heddle_schedule)schedule;
    options->arithmetic = (heddle_arithmetic)precision;
    return HEDDLE_OK;
}
