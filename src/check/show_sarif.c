// A result as SARIF 2.1.0, which editors and code hosts show beside the source.

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "check/describe.h"
#include "check/show.h"
#include "heddle/heddle.h"

enum { URI_SIZE = 3 * PATH_MAX }; // each byte may become %XX

// Files below the working folder are named relative to it, as code hosts want them; others by a file: address.
static const char *uri_of(const char *path, char *uri, size_t size)
{
    char shortened[PATH_MAX];
    heddle_check_short_path(path, shortened, sizeof shortened);
    size_t used = (size_t)snprintf(uri, size, "%s", shortened[0] == '/' ? "file://" : "");
    for (const char *c = shortened; *c && used + 4 < size; c++) {
        if (isalnum((unsigned char)*c) || strchr("/-._~", *c))
            uri[used++] = *c;
        else
            used += (size_t)snprintf(uri + used, size - used, "%%%02X", (unsigned char)*c);
    }
    uri[used] = '\0';
    return uri;
}

static cJSON *message_json(const char *text)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "text", text);
    return message;
}

// SARIF counts characters, and the report bytes of UTF-8.
static int characters(const char *text, int bytes)
{
    int count = 0;
    for (int i = 0; i < bytes && text[i]; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

// `place`: what is meant in the line; NULL: all of it.
static void add_columns(cJSON *region, const heddle_check_result *result, const heddle_check_place *place)
{
    const char *line = place && place->column > 0
                           ? heddle_check_sources_line(result->sources, place->frame[0].file, place->frame[0].line)
                           : NULL;
    if (!line || (size_t)place->column > strlen(line))
        return;
    int before = characters(line, place->column - 1);
    cJSON_AddNumberToObject(region, "startColumn", before + 1);
    if (place->width > 0) // the end is behind the last character
        cJSON_AddNumberToObject(region, "endColumn", before + 1 + characters(line + place->column - 1, place->width));
}

static cJSON *location_json(const heddle_check_result *result, const heddle_check_frame *frame,
                            const heddle_check_place *place, const char *text)
{
    char *uri = malloc(URI_SIZE);
    cJSON *location = cJSON_CreateObject();
    cJSON *physical = cJSON_AddObjectToObject(location, "physicalLocation");
    cJSON *artifact = cJSON_AddObjectToObject(physical, "artifactLocation");
    cJSON_AddStringToObject(artifact, "uri", uri ? uri_of(frame->file, uri, URI_SIZE) : "");
    if (frame->line > 0) {
        cJSON *region = cJSON_AddObjectToObject(physical, "region");
        cJSON_AddNumberToObject(region, "startLine", frame->line);
        add_columns(region, result, place);
    }
    if (text)
        cJSON_AddItemToObject(location, "message", message_json(text));
    free(uri);
    return location;
}

// A rule for every kind, so that its place is its number; cause and cure of those that were found.
static cJSON *rules_json(const heddle_check_result *result)
{
    cJSON *rules = cJSON_CreateArray();
    for (int kind = 0; kind < HEDDLE_CHECK_KINDS; kind++) {
        const heddle_check_finding *found = NULL;
        for (int i = 0; i < result->finding_count && !found; i++)
            found = (int)result->findings[i]->kind == kind ? result->findings[i] : NULL;
        cJSON *rule = cJSON_CreateObject();
        cJSON_AddStringToObject(rule, "id", heddle_check_kinds[kind].name);
        cJSON_AddItemToObject(rule, "shortDescription", message_json(heddle_check_kinds[kind].title));
        if (found && found->cause[0])
            cJSON_AddItemToObject(rule, "fullDescription", message_json(found->cause));
        if (found && found->cure[0])
            cJSON_AddItemToObject(rule, "help", message_json(found->cure));
        cJSON_AddItemToArray(rules, rule);
    }
    return rules;
}

static void add_sentence(char *text, size_t size, const char *sentence)
{
    size_t used = strlen(text), length = strlen(sentence);
    bool ended = length > 0 && strchr(".!?:)", sentence[length - 1]);
    if (length > 0 && used < size) // most sentences of a report are lines of their own, without a stop
        snprintf(text + used, size - used, "%s%c%s%s", used ? " " : "",
                 used ? toupper((unsigned char)sentence[0]) : sentence[0], sentence + 1, ended ? "" : ".");
}

static cJSON *result_message(const heddle_check_finding *finding)
{
    char text[4 * HEDDLE_CHECK_SENTENCE] = "", part[HEDDLE_CHECK_SENTENCE];
    snprintf(text, sizeof text, "%s.", heddle_check_headline(finding, part, sizeof part));
    add_sentence(text, sizeof text, finding->message);
    if (heddle_check_memory_sentence(finding, part, sizeof part)[0])
        snprintf(text + strlen(text), sizeof text - strlen(text), " Memory: %s.", part);
    add_sentence(text, sizeof text, finding->cure);
    return message_json(text);
}

// Heddle's own main is no file that a reader could open.
static bool is_in_file(const heddle_check_frame *frame)
{
    return frame->file[0] == '/' || (frame->file[0] && frame->line > 0);
}

static cJSON *finding_json(const heddle_check_result *result, const heddle_check_finding *finding)
{
    char text[256], thread[128];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "ruleId", heddle_check_kinds[finding->kind].name);
    cJSON_AddNumberToObject(object, "ruleIndex", finding->kind);
    cJSON_AddStringToObject(object, "level", heddle_check_tier_name(finding->tier));
    cJSON_AddItemToObject(object, "message", result_message(finding));
    cJSON *locations = cJSON_AddArrayToObject(object, "locations");
    cJSON *related = cJSON_CreateArray();
    for (int i = 0; i < finding->place_count; i++) {
        const heddle_check_place *place = &finding->places[i];
        if (place->frames == 0)
            continue;
        snprintf(text, sizeof text, "%s %s", place->role, heddle_check_thread_text(place, thread, sizeof thread));
        bool first = cJSON_GetArraySize(locations) == 0;
        cJSON_AddItemToArray(first ? locations : related, location_json(result, &place->frame[0], place, text));
    }
    if (finding->memory && is_in_file(&finding->memory->allocated))
        cJSON_AddItemToArray(related, location_json(result, &finding->memory->allocated, NULL, "allocated here"));
    if (finding->memory && is_in_file(&finding->memory->freed))
        cJSON_AddItemToArray(related, location_json(result, &finding->memory->freed, NULL, "freed here"));
    cJSON_AddItemToObject(object, "relatedLocations", related);
    return object;
}

static cJSON *run_json(const heddle_check_result *result)
{
    cJSON *run = cJSON_CreateObject();
    cJSON *tool = cJSON_AddObjectToObject(run, "tool");
    cJSON *driver = cJSON_AddObjectToObject(tool, "driver");
    cJSON_AddStringToObject(driver, "name", "heddle check");
    cJSON_AddStringToObject(driver, "version", heddle_version());
    cJSON_AddItemToObject(driver, "rules", rules_json(result));
    cJSON *invocations = cJSON_AddArrayToObject(run, "invocations");
    cJSON *invocation = cJSON_CreateObject();
    cJSON_AddBoolToObject(invocation, "executionSuccessful", result->built);
    cJSON_AddItemToArray(invocations, invocation);
    cJSON_AddStringToObject(run, "columnKind", "unicodeCodePoints");
    cJSON *results = cJSON_AddArrayToObject(run, "results");
    for (int i = 0; i < result->finding_count; i++)
        cJSON_AddItemToArray(results, finding_json(result, result->findings[i]));
    return run;
}

heddle_status heddle_check_show_sarif(const heddle_check_result *result, FILE *file)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    cJSON_AddStringToObject(json, "version", "2.1.0");
    cJSON *runs = cJSON_AddArrayToObject(json, "runs");
    cJSON_AddItemToArray(runs, run_json(result));
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the SARIF file");
    fputs(text, file);
    fputc('\n', file);
    cJSON_free(text);
    return ferror(file) ? heddle_fail(HEDDLE_IO, "cannot write the SARIF file") : HEDDLE_OK;
}
