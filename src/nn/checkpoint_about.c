// Writes and reads a run's settings and position. No clock goes in, so that two runs that compute the same bits write
// the same file.

#include "nn/checkpoint_about.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "data/augment.h"
#include "nn/optimizer.h"

// The numbers of a run and where they stand. 64-bit seeds and fingerprints do not fit a JSON number and go as text.
typedef enum number_kind {
    INT,
    INT64,
    COUNT, // int64_t; files of versions that did not count it are without, which says 0
    DOUBLE,
    TRAIT,  // double; files of versions that did not measure it are without, which says NAN
    RESULT, // double; NAN, written as null, while there is none
} number_kind;

typedef struct number {
    const char *name;
    size_t offset;
    number_kind kind;
} number;

// clang-format off
#define OPTION(field, kind) {#field, offsetof(heddle_checkpoint_about, options.field), kind}
#define POSITION(field, kind) {#field, offsetof(heddle_checkpoint_about, position.field), kind}
// clang-format on

static const number settings[] = {
    OPTION(epochs, INT),
    OPTION(batch, INT),
    OPTION(learning_rate, DOUBLE),
    OPTION(momentum, DOUBLE),
    OPTION(beta2, DOUBLE),
    OPTION(epsilon, DOUBLE),
    OPTION(weight_decay, DOUBLE),
    {"border", offsetof(heddle_checkpoint_about, traits.border), DOUBLE},
    {"extent", offsetof(heddle_checkpoint_about, traits.extent), TRAIT},
};
static const number positions[] = {
    POSITION(epoch, INT),
    POSITION(batch, INT),
    POSITION(step, INT64),
    POSITION(left_out, COUNT),
    POSITION(loss_sum, DOUBLE),
    POSITION(correct, INT64),
    POSITION(images, INT64),
    POSITION(epochs_done, INT),
    POSITION(train_loss, RESULT),
    POSITION(train_accuracy, RESULT),
    POSITION(test_loss, RESULT),
    POSITION(test_accuracy, RESULT),
    POSITION(best_accuracy, RESULT),
    POSITION(best_loss, RESULT),
};
enum {
    SETTINGS = sizeof settings / sizeof *settings,
    POSITIONS = sizeof positions / sizeof *positions,
};

static const char *const optimizers[] = {"sgd", "momentum", "adamw", NULL};
static const char *const schedules[] = {"constant", "linear", "cosine", NULL};

// --- writing --------------------------------------------------------------------------------------------------------

// cJSON's own numbers may be off by the last bit, and a resumed run would end in other bits. These read back exactly.
static bool write_exact(cJSON *json, const char *name, double value)
{
    enum { FEWEST_DIGITS = 15, MOST_DIGITS = 17 }; // 17 always do
    static const char number_characters[] = "+-0123456789e";
    char text[64];
    for (int digits = FEWEST_DIGITS; digits <= MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char *point = text + strspn(text, number_characters); // in JSON a point, whatever the locale has
    if (*point) {
        const char *after = point + strcspn(point, number_characters);
        *point = '.';
        memmove(point + 1, after, strlen(after) + 1);
    }
    return cJSON_AddRawToObject(json, name, text) != NULL;
}

static bool write_number(cJSON *json, const heddle_checkpoint_about *about, const number *entry)
{
    const void *at = (const char *)about + entry->offset;
    double value = 0;
    switch (entry->kind) {
    case INT: value = *(const int *)at; break;
    case INT64:
    case COUNT: value = (double)*(const int64_t *)at; break; // far below 2^53
    case DOUBLE:
    case TRAIT:
    case RESULT: value = *(const double *)at; break;
    }
    return isfinite(value) ? write_exact(json, entry->name, value) : cJSON_AddNullToObject(json, entry->name) != NULL;
}

static bool write_hex(cJSON *json, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    return cJSON_AddStringToObject(json, name, text) != NULL;
}

static bool write_classes(cJSON *json, const heddle_checkpoint_about *about)
{
    if (!about->class_names)
        return true;
    cJSON *names = cJSON_AddArrayToObject(json, "classes");
    bool whole = names != NULL;
    for (int i = 0; i < about->classes && whole; i++) {
        cJSON *name = cJSON_CreateString(about->class_names[i]);
        whole = name && cJSON_AddItemToArray(names, name);
    }
    return whole;
}

// Only if there is some: other files are as those of versions without it.
static bool write_augment(cJSON *json, const heddle_augment *augment)
{
    char text[HEDDLE_AUGMENT_TEXT];
    return !heddle_augments(augment) || cJSON_AddStringToObject(json, "augment", heddle_augment_text(augment, text));
}

char *heddle_about_to_json(const heddle_checkpoint_about *about)
{
    cJSON *json = cJSON_CreateObject();
    bool whole = json && cJSON_AddStringToObject(json, "dataset", about->dataset) && write_classes(json, about) &&
                 write_hex(json, "fingerprint", about->fingerprint) && write_hex(json, "seed", about->options.seed) &&
                 cJSON_AddStringToObject(json, "optimizer", heddle_optimizer_name(about->options.optimizer)) &&
                 cJSON_AddStringToObject(json, "schedule", heddle_schedule_name(about->options.schedule)) &&
                 cJSON_AddStringToObject(json, "kernels", heddle_tier_names[about->options.kernels]) &&
                 cJSON_AddStringToObject(json, "arithmetic", heddle_arithmetic_names[about->options.arithmetic]) &&
                 write_augment(json, &about->options.augment);
    for (int i = 0; i < SETTINGS && whole; i++)
        whole = write_number(json, about, &settings[i]);
    cJSON *position = whole ? cJSON_AddObjectToObject(json, "position") : NULL;
    whole = position != NULL;
    for (int i = 0; i < POSITIONS && whole; i++)
        whole = write_number(position, about, &positions[i]);
    char *text = whole ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    return text;
}

// --- reading --------------------------------------------------------------------------------------------------------

static heddle_status read_number(const char *what, const cJSON *json, heddle_checkpoint_about *about,
                                 const number *entry)
{
    void *at = (char *)about + entry->offset;
    if (entry->kind == DOUBLE || entry->kind == TRAIT || entry->kind == RESULT) {
        const cJSON *field = cJSON_GetObjectItemCaseSensitive(json, entry->name);
        bool none = (entry->kind == RESULT && cJSON_IsNull(field)) || (entry->kind == TRAIT && !field);
        if (!none && !(cJSON_IsNumber(field) && isfinite(field->valuedouble)))
            return heddle_fail(HEDDLE_CORRUPT, "%s: '%s' is not a number", what, entry->name);
        *(double *)at = none ? NAN : field->valuedouble;
        return HEDDLE_OK;
    }
    long long value = 0, most = entry->kind == INT ? INT_MAX : 1LL << 53;
    if (entry->kind != COUNT || cJSON_GetObjectItemCaseSensitive(json, entry->name))
        HEDDLE_TRY(heddle_json_int(what, json, entry->name, 0, most, &value));
    if (entry->kind == INT)
        *(int *)at = (int)value;
    else
        *(int64_t *)at = value;
    return HEDDLE_OK;
}

static heddle_status read_hex(const char *what, const cJSON *json, const char *name, uint64_t *value)
{
    const char *text;
    HEDDLE_TRY(heddle_json_text(what, json, name, &text));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return heddle_fail(HEDDLE_CORRUPT, "%s: '%s' must be 16 hexadecimal digits", what, name);
    *value = strtoull(text, NULL, 16);
    return HEDDLE_OK;
}

static heddle_status read_choice(const char *what, const cJSON *json, const char *name, const char *const *choices,
                                 int *choice)
{
    const char *text;
    HEDDLE_TRY(heddle_json_text(what, json, name, &text));
    for (*choice = 0; choices[*choice]; ++*choice)
        if (strcmp(choices[*choice], text) == 0)
            return HEDDLE_OK;
    return heddle_fail(HEDDLE_CORRUPT, "%s: '%s' is '%s', which this version does not know", what, name, text);
}

// Each number may be fine by itself and the whole still no place in a run.
static heddle_status check_position(const char *what, const heddle_checkpoint_about *about)
{
    const heddle_position *position = &about->position;
    bool fits = position->epoch <= about->options.epochs && position->epochs_done == position->epoch &&
                position->batch <= position->step && position->left_out <= position->step &&
                position->correct <= position->images &&
                position->images == (int64_t)position->batch * about->options.batch;
    return fits ? HEDDLE_OK : heddle_fail(HEDDLE_CORRUPT, "%s: its position does not lie in the run", what);
}

static heddle_status read_augment(const char *what, const cJSON *json, heddle_augment *augment)
{
    const char *text;
    if (!cJSON_GetObjectItemCaseSensitive(json, "augment"))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_json_text(what, json, "augment", &text));
    return heddle_augment_parse(text, augment) == HEDDLE_OK ? HEDDLE_OK
                                                            : heddle_fail_within(HEDDLE_CORRUPT, "%s", what);
}

static heddle_status read_all(const char *what, const cJSON *json, heddle_checkpoint_about *about)
{
    const char *dataset;
    int optimizer, schedule, kernels, arithmetic = HEDDLE_FULL; // which was the only one when there was no such field
    HEDDLE_TRY(heddle_json_text(what, json, "dataset", &dataset));
    if (strlen(dataset) >= sizeof about->dataset)
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"dataset\" is longer than any dataset's name", what);
    snprintf(about->dataset, sizeof about->dataset, "%s", dataset);
    HEDDLE_TRY(read_hex(what, json, "fingerprint", &about->fingerprint));
    HEDDLE_TRY(read_hex(what, json, "seed", &about->options.seed));
    HEDDLE_TRY(read_choice(what, json, "optimizer", optimizers, &optimizer));
    HEDDLE_TRY(read_choice(what, json, "schedule", schedules, &schedule));
    HEDDLE_TRY(read_choice(what, json, "kernels", heddle_tier_names, &kernels));
    if (cJSON_GetObjectItemCaseSensitive(json, "arithmetic"))
        HEDDLE_TRY(read_choice(what, json, "arithmetic", heddle_arithmetic_names, &arithmetic));
    about->options.optimizer = (heddle_optimizer)optimizer;
    about->options.schedule = (heddle_schedule)schedule;
    about->options.kernels = (heddle_tier)kernels;
    about->options.arithmetic = (heddle_arithmetic)arithmetic;
    HEDDLE_TRY(read_augment(what, json, &about->options.augment));
    for (int i = 0; i < SETTINGS; i++)
        HEDDLE_TRY(read_number(what, json, about, &settings[i]));
    if (heddle_train_options_check(&about->options) != HEDDLE_OK)
        return heddle_fail_within(HEDDLE_CORRUPT, "%s", what);
    const cJSON *position = cJSON_GetObjectItemCaseSensitive(json, "position");
    if (!cJSON_IsObject(position))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"position\" should be an object", what);
    for (int i = 0; i < POSITIONS; i++)
        HEDDLE_TRY(read_number(what, position, about, &positions[i]));
    return check_position(what, about);
}

heddle_status heddle_about_from_json(const char *what, const char *text, heddle_checkpoint_about *about)
{
    cJSON *json = NULL;
    *about = (heddle_checkpoint_about){0};
    HEDDLE_TRY(heddle_json_parse(what, text, strlen(text), &json));
    heddle_status status = read_all(what, json, about);
    cJSON_Delete(json);
    return status;
}
