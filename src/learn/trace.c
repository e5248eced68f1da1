// The trace of a judging, for pictures: the check's, in which files are called as the learner knows them.

#include "check/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/access.h"
#include "check/describe.h"
#include "learn/judging.h"

static void clean(const heddle_learn_judging *judging, cJSON *json)
{
    if (cJSON_IsString(json) && strstr(json->valuestring, judging->folder))
        cJSON_SetValuestring(json, heddle_learn_without_folders(judging, json->valuestring));
    for (cJSON *child = json ? json->child : NULL; child; child = child->next)
        clean(judging, child);
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

static const char *text_of(const cJSON *object, const char *field)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, field));
    return text ? text : "";
}

// What the kernel calls the memory of an event; false where its line leaves a choice, or is in a function that the
// kernel calls, which has names of its own.
static bool find_name(const heddle_check_result *result, const char *kernel, const cJSON *place, const char *kind,
                      heddle_check_access *access)
{
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(place, "line");
    const sim_source *source = cJSON_IsNumber(line) && heddle_check_same_function(kernel, text_of(place, "function"))
                                   ? heddle_check_sources_code(result->sources, text_of(place, "file"))
                                   : NULL;
    heddle_check_place at = {.role = kind, .frames = 1, .has_thread = true};
    if (!source)
        return false;
    at.frame[0] = (heddle_check_frame){.file = text_of(place, "file"), .line = line->valueint, .function = kernel};
    const heddle_check_finding about = {.kernel = kernel, .message = "", .places = &at, .place_count = 1};
    return heddle_check_access_find(source, &about, &at, access) && access->name[0] && access->indices <= 1;
}

// A buffer whose name is looked for. Buffers that a host swaps between two launches have two names there: such a one
// keeps its own.
typedef struct unnamed {
    bool wanted, two_names;
    const cJSON *launch; // that was looked at last
    bool settled;        // in this launch
    int place, tries;    // that was asked last
    char name[HEDDLE_CHECK_NAME];
} unnamed;

enum { MOST_TRIES = 16 };

static void name_by_event(const heddle_check_result *result, const cJSON *trace, const cJSON *launch,
                          const cJSON *event, unnamed *buffers, int count)
{
    const cJSON *index = cJSON_GetObjectItemCaseSensitive(event, "buffer");
    const cJSON *place = cJSON_GetObjectItemCaseSensitive(event, "place");
    unnamed *one =
        cJSON_IsNumber(index) && index->valueint >= 0 && index->valueint < count ? &buffers[index->valueint] : NULL;
    heddle_check_access access;
    if (!one || !one->wanted || !cJSON_IsNumber(place))
        return;
    if (one->launch != launch) {
        one->launch = launch;
        one->settled = false;
        one->place = -1;
        one->tries = 0;
    }
    if (one->settled || place->valueint == one->place || one->tries == MOST_TRIES)
        return;
    one->place = place->valueint;
    one->tries++;
    if (!find_name(result, text_of(launch, "kernel"),
                   indexed(cJSON_GetObjectItemCaseSensitive(trace, "places"), event, "place"), text_of(event, "kind"),
                   &access))
        return;
    one->settled = true;
    one->two_names |= one->name[0] && strcmp(one->name, access.name) != 0;
    snprintf(one->name, sizeof one->name, "%s", access.name);
}

static void name_by_kernels(const heddle_learn_judging *judging, const heddle_check_result *result, const cJSON *trace)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(trace, "buffers"), *buffer;
    const cJSON *launch, *block, *event;
    int count = cJSON_GetArraySize(list), at = 0;
    unnamed *buffers = calloc((size_t)count + 1, sizeof *buffers);
    if (!buffers)
        return; // a picture says "memory" then
    cJSON_ArrayForEach(buffer, list)
    {
        buffers[at++].wanted = strcmp(text_of(buffer, "space"), "shared") != 0 && !is_learners(judging, trace, buffer);
    }
    cJSON_ArrayForEach(launch, cJSON_GetObjectItemCaseSensitive(trace, "launches"))
    {
        cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(launch, "blocks"))
        {
            cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(block, "events"))
            {
                name_by_event(result, trace, launch, event, buffers, count);
            }
        }
    }
    at = 0;
    cJSON_ArrayForEach(buffer, list)
    {
        const unnamed *one = &buffers[at++];
        if (one->name[0] && !one->two_names)
            cJSON_ReplaceItemInObjectCaseSensitive(buffer, "name", cJSON_CreateString(one->name));
    }
    free(buffers);
}

// Memory that the judge allocated has a name of the judge's: a learner knows it by the kernel's parameter.
static void name_buffers(const heddle_learn_judging *judging, const heddle_check_result *result, const cJSON *trace)
{
    name_by_kernels(judging, result, trace);
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
