// Reads judge.json. A key that it does not know is an error: a misspelt limit would never be applied.

#include "learn/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/place.h"

enum { USUAL_SECONDS = 10, MOST_SECONDS = 60, USUAL_SCHEDULES = 2, MOST_SCHEDULES = 16 };

const char *const heddle_learn_measure_names[HEDDLE_LEARN_MEASURES] = {
    [HEDDLE_LEARN_SECTORS_PER_REQUEST] = "sectors_per_request",
    [HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST] = "wavefronts_per_request",
    [HEDDLE_LEARN_ACCESSES] = "accesses",
    [HEDDLE_LEARN_REQUESTS] = "requests",
    [HEDDLE_LEARN_SECTORS] = "sectors",
    [HEDDLE_LEARN_LAUNCHES] = "launches",
    [HEDDLE_LEARN_BARRIERS] = "barriers",
};

static heddle_status read_list(const char *what, const cJSON *object, const char *field, heddle_arena *arena,
                               const char ***list)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, field), *item;
    int count = 0;
    if (!array)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_json_array(what, object, field, &array));
    *list = heddle_arena_alloc(arena, ((size_t)cJSON_GetArraySize(array) + 1) * sizeof **list);
    if (!*list)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory to read it", what);
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item))
            return heddle_fail(HEDDLE_CORRUPT, "%s: %s must be a list of texts", what, field);
        (*list)[count++] = heddle_arena_copy_text(arena, item->valuestring);
    }
    return HEDDLE_OK;
}

// An object: each word with the reason that a learner is told.
static heddle_status read_words(const char *what, const cJSON *json, const char *field, heddle_arena *arena,
                                heddle_learn_word **words)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(json, field), *item;
    int count = 0;
    if (!object)
        return HEDDLE_OK;
    *words = heddle_arena_alloc(arena, ((size_t)cJSON_GetArraySize(object) + 1) * sizeof **words);
    if (!*words)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory to read it", what);
    cJSON_ArrayForEach(item, object)
    {
        if (!cJSON_IsObject(object) || !cJSON_IsString(item) || item->valuestring[0] == '\0')
            return heddle_fail(HEDDLE_CORRUPT, "%s: %s must be an object of words, each with a reason", what, field);
        heddle_learn_word *word = &(*words)[count++];
        word->text = heddle_arena_copy_text(arena, item->string);
        word->why = heddle_arena_copy_text(arena, item->valuestring);
        if (!word->text || !word->why)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory to read it", what);
    }
    (*words)[count] = (heddle_learn_word){0};
    return HEDDLE_OK;
}

static heddle_status refuse_unknown(const char *what, const cJSON *object, const char *const *known)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        int i = 0;
        while (known[i] && strcmp(known[i], item->string) != 0)
            i++;
        if (!known[i])
            return heddle_fail(HEDDLE_CORRUPT, "%s: unknown key \"%s\"", what, item->string);
    }
    return HEDDLE_OK;
}

static heddle_status text_or_null(const char *what, const cJSON *object, const char *field, heddle_arena *arena,
                                  const char **text)
{
    if (!cJSON_GetObjectItemCaseSensitive(object, field))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_json_text(what, object, field, text));
    *text = heddle_arena_copy_text(arena, *text);
    return *text ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory to read it", what);
}

// One object may limit several measures of the same kernel and accesses; each becomes a limit of its own.
static heddle_status read_limit(const char *what, const cJSON *object, heddle_arena *arena, heddle_learn_rules *rules)
{
    static const char *const known[] = {"kernel",
                                        "space",
                                        "access",
                                        "sectors_per_request",
                                        "wavefronts_per_request",
                                        "accesses",
                                        "requests",
                                        "sectors",
                                        "launches",
                                        "barriers",
                                        NULL};
    heddle_learn_limit limit = {0};
    int measures = 0;
    if (!cJSON_IsObject(object))
        return heddle_fail(HEDDLE_CORRUPT, "%s: limits must be a list of objects", what);
    HEDDLE_TRY(refuse_unknown(what, object, known));
    HEDDLE_TRY(text_or_null(what, object, "kernel", arena, &limit.kernel));
    HEDDLE_TRY(text_or_null(what, object, "space", arena, &limit.space));
    HEDDLE_TRY(text_or_null(what, object, "access", arena, &limit.access));
    for (int i = 0; i < HEDDLE_LEARN_MEASURES; i++) {
        const char *name = heddle_learn_measure_names[i];
        if (!cJSON_GetObjectItemCaseSensitive(object, name))
            continue;
        limit.measure = (heddle_learn_measure)i;
        HEDDLE_TRY(heddle_json_number_or(what, object, name, 0, 1e18, 0, &limit.most));
        rules->limits[rules->limit_count++] = limit;
        measures++;
    }
    return measures > 0 ? HEDDLE_OK : heddle_fail(HEDDLE_CORRUPT, "%s: a limit that limits nothing", what);
}

static heddle_status read_limits(const char *what, const cJSON *json, heddle_arena *arena, heddle_learn_rules *rules)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, "limits"), *item;
    if (!array)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_json_array(what, json, "limits", &array));
    size_t most = (size_t)cJSON_GetArraySize(array) * HEDDLE_LEARN_MEASURES + 1;
    rules->limits = heddle_arena_alloc(arena, most * sizeof *rules->limits);
    if (!rules->limits)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: no memory to read it", what);
    cJSON_ArrayForEach(item, array)
    {
        HEDDLE_TRY(read_limit(what, item, arena, rules));
    }
    return HEDDLE_OK;
}

static heddle_status read_rules(const char *what, const cJSON *json, heddle_arena *arena, heddle_learn_rules *rules)
{
    static const char *const known[] = {
        "start_fails_because", "limits", "must_use", "must_not_use", "output", "seconds", "schedules", "gpu",
        "libraries",           NULL};
    long long schedules;
    if (!cJSON_IsObject(json))
        return heddle_fail(HEDDLE_CORRUPT, "%s: must be an object", what);
    HEDDLE_TRY(refuse_unknown(what, json, known));
    HEDDLE_TRY(read_list(what, json, "start_fails_because", arena, &rules->start_fails_because));
    if (!rules->start_fails_because || !rules->start_fails_because[0])
        return heddle_fail(HEDDLE_CORRUPT, "%s: start_fails_because must name at least one reason", what);
    HEDDLE_TRY(read_words(what, json, "must_use", arena, &rules->must_use));
    HEDDLE_TRY(read_words(what, json, "must_not_use", arena, &rules->must_not_use));
    HEDDLE_TRY(read_list(what, json, "output", arena, &rules->output));
    HEDDLE_TRY(read_list(what, json, "libraries", arena, &rules->libraries));
    HEDDLE_TRY(read_limits(what, json, arena, rules));
    HEDDLE_TRY(heddle_json_number_or(what, json, "seconds", 0.1, MOST_SECONDS, USUAL_SECONDS, &rules->seconds));
    HEDDLE_TRY(heddle_json_int_or(what, json, "schedules", 1, MOST_SCHEDULES, USUAL_SCHEDULES, &schedules));
    rules->schedules = (int)schedules;
    return text_or_null(what, json, "gpu", arena, &rules->gpu);
}

heddle_status heddle_learn_rules_read(const heddle_learn_exercise *exercise, heddle_arena *arena,
                                      heddle_learn_rules *rules)
{
    char path[HEDDLE_PLACE_SIZE];
    cJSON *json = NULL;
    *rules = (heddle_learn_rules){0};
    snprintf(path, sizeof path, "%s/judge.json", exercise->folder);
    HEDDLE_TRY(heddle_json_read(path, &json));
    heddle_status status = read_rules(path, json, arena, rules);
    cJSON_Delete(json);
    return status;
}
