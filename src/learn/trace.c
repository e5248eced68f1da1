// The trace of a judging, for pictures: the check's, in which files are called as the learner knows them.

#include "check/trace.h"

#include <string.h>

#include "learn/judging.h"

static void clean(const heddle_learn_judging *judging, cJSON *json)
{
    if (cJSON_IsString(json) && strstr(json->valuestring, judging->folder))
        cJSON_SetValuestring(json, heddle_learn_without_folders(judging, json->valuestring));
    cJSON *child = NULL;
    cJSON_ArrayForEach(child, json) clean(judging, child);
}

static cJSON *indexed(const cJSON *list, const cJSON *object, const char *field)
{
    const cJSON *index = cJSON_GetObjectItemCaseSensitive(object, field);
    return cJSON_IsNumber(index) ? cJSON_GetArrayItem(list, index->valueint) : NULL;
}

// The buffer of the first recorded event at the places of a finding; NULL: there is none.
static cJSON *buffer_of(const cJSON *trace, const cJSON *finding)
{
    const cJSON *place = NULL;
    cJSON_ArrayForEach(place, cJSON_GetObjectItemCaseSensitive(finding, "places"))
    {
        const cJSON *at = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(place, "events"), 0);
        const cJSON *launch = indexed(cJSON_GetObjectItemCaseSensitive(trace, "launches"), at, "launch");
        const cJSON *block = indexed(cJSON_GetObjectItemCaseSensitive(launch, "blocks"), at, "block");
        const cJSON *event = indexed(cJSON_GetObjectItemCaseSensitive(block, "events"), at, "event");
        cJSON *buffer = indexed(cJSON_GetObjectItemCaseSensitive(trace, "buffers"), event, "buffer");
        if (buffer)
            return buffer;
    }
    return NULL;
}

static bool is_learners(const heddle_learn_judging *judging, const cJSON *trace, const cJSON *buffer)
{
    const cJSON *place = indexed(cJSON_GetObjectItemCaseSensitive(trace, "places"), buffer, "place");
    const char *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(place, "file"));
    return file && heddle_learn_is_learners(judging, file);
}

// Memory that the judge allocated has a name of the judge's: a learner knows it by the kernel's parameter.
static void name_buffers(const heddle_learn_judging *judging, const heddle_check_result *result, const cJSON *trace)
{
    const cJSON *findings = cJSON_GetObjectItemCaseSensitive(trace, "findings");
    for (int i = 0; i < result->finding_count; i++) {
        const char *parameter = result->findings[i]->parameter;
        cJSON *buffer = parameter && parameter[0] ? buffer_of(trace, cJSON_GetArrayItem(findings, i)) : NULL;
        if (buffer && !is_learners(judging, trace, buffer))
            cJSON_ReplaceItemInObjectCaseSensitive(buffer, "name", cJSON_CreateString(parameter));
    }
}

void heddle_learn_keep_trace(const heddle_learn_judging *judging, const heddle_check_result *result)
{
    static const char *const named[] = {"places", "sources", "findings", "operations"};
    cJSON *trace = heddle_check_trace_json_short(result);
    if (trace)
        name_buffers(judging, result, trace); // by whole names of files
    for (size_t i = 0; trace && i < sizeof named / sizeof *named; i++)
        clean(judging, cJSON_GetObjectItemCaseSensitive(trace, named[i]));
    judging->verdict->trace = trace;
}
