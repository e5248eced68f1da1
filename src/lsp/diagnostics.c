// Findings as diagnostics, each at its first place in the file; the other places are related information.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/describe.h"
#include "lsp/explained.h"
#include "lsp/show.h"
#include "lsp/uri.h"

enum { URI_SIZE = 3 * PATH_MAX, MESSAGE_SIZE = 6 * HEDDLE_CHECK_SENTENCE, TO_LINE_END = 1000 };

int heddle_lsp_column(const char *text, size_t bytes, const heddle_lsp_form *form)
{
    int column = 0;
    if (form->utf8)
        return (int)strnlen(text, bytes);
    for (size_t i = 0; i < bytes && text[i]; i++) {
        const unsigned char c = (unsigned char)text[i];
        // A character of four bytes is two units of UTF-16; bytes that continue a character count nothing.
        column += c >= 0xf0 ? 2 : (c & 0xc0) != 0x80 ? 1 : 0;
    }
    return column;
}

static cJSON *position_json(int line, int column)
{
    cJSON *position = cJSON_CreateObject();
    cJSON_AddNumberToObject(position, "line", line);
    cJSON_AddNumberToObject(position, "character", column);
    return position;
}

cJSON *heddle_lsp_range(int line, int begin, int end)
{
    cJSON *range = cJSON_CreateObject();
    cJSON_AddItemToObject(range, "start", position_json(line, begin));
    cJSON_AddItemToObject(range, "end", position_json(line, end));
    return range;
}

// What is meant in the line, or all of the line but its indentation.
static cJSON *place_range(const heddle_check_result *result, const heddle_check_frame *frame, int column, int width,
                          const heddle_lsp_form *form)
{
    const int line = frame->line > 0 ? frame->line - 1 : 0;
    const char *text = heddle_check_sources_line(result->sources, frame->file, frame->line);
    if (!text)
        return heddle_lsp_range(line, 0, TO_LINE_END); // editors cut it at the end of the line
    const size_t length = strlen(text);
    size_t begin = column > 0 ? (size_t)column - 1 : strspn(text, " \t");
    size_t end = column > 0 ? begin + (size_t)(width > 0 ? width : 1) : length;
    if (begin > length || end > length || begin >= end) {
        begin = strspn(text, " \t");
        end = length;
    }
    return heddle_lsp_range(line, heddle_lsp_column(text, begin, form), heddle_lsp_column(text, end, form));
}

cJSON *heddle_lsp_remark(int line, int severity, const char *code, const char *message)
{
    cJSON *diagnostic = cJSON_CreateObject();
    cJSON_AddItemToObject(diagnostic, "range", heddle_lsp_range(line > 0 ? line - 1 : 0, 0, TO_LINE_END));
    cJSON_AddNumberToObject(diagnostic, "severity", severity);
    if (code)
        cJSON_AddStringToObject(diagnostic, "code", code);
    cJSON_AddStringToObject(diagnostic, "source", "heddle");
    cJSON_AddStringToObject(diagnostic, "message", message);
    return diagnostic;
}

static void add_line(char *text, size_t size, const char *before, const char *sentence)
{
    const size_t used = strlen(text);
    if (sentence && sentence[0] && used < size)
        snprintf(text + used, size - used, "%s%s%s", used ? "\n" : "", before, sentence);
}

static void write_message(const heddle_check_result *result, const heddle_check_finding *finding, char *text,
                          size_t size)
{
    char part[HEDDLE_CHECK_SENTENCE];
    text[0] = '\0';
    add_line(text, size, "", heddle_check_headline(finding, part, sizeof part));
    add_line(text, size, "", finding->message);
    add_line(text, size, "Memory: ", heddle_check_memory_sentence(finding, part, sizeof part));
    add_line(text, size, "Cause: ", finding->cause);
    add_line(text, size, "Fix: ", finding->cure);
    add_line(text, size, "Note: ", finding->note);
    add_line(text, size, "", heddle_check_schedules_text(result, finding, part, sizeof part));
}

static void add_related(cJSON *list, const heddle_check_result *result, const heddle_check_frame *frame, int column,
                        int width, const char *message, const heddle_lsp_form *form)
{
    char *uri = malloc(URI_SIZE);
    if (uri && frame->file[0] && heddle_lsp_uri_of(frame->file, uri, URI_SIZE)[0]) {
        cJSON *item = cJSON_CreateObject(), *location = cJSON_AddObjectToObject(item, "location");
        cJSON_AddStringToObject(location, "uri", uri);
        cJSON_AddItemToObject(location, "range", place_range(result, frame, column, width, form));
        cJSON_AddStringToObject(item, "message", message);
        cJSON_AddItemToArray(list, item);
    }
    free(uri);
}

// The calls that lead to a place, and all places but the first.
static cJSON *related_json(const heddle_check_result *result, const heddle_check_finding *finding,
                           const heddle_check_place *first, const heddle_lsp_form *form)
{
    char text[256], thread[128];
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < finding->place_count; i++) {
        const heddle_check_place *place = &finding->places[i];
        if (place->frames == 0)
            continue;
        snprintf(text, sizeof text, "%s %s", place->role, heddle_check_thread_text(place, thread, sizeof thread));
        if (place != first)
            add_related(list, result, &place->frame[0], place->column, place->width, text, form);
        for (int f = 1; f < place->frames; f++)
            add_related(list, result, &place->frame[f], 0, 0, "called here", form);
    }
    const heddle_check_memory *memory = finding->memory;
    if (memory)
        add_related(list, result, &memory->allocated, 0, 0, "allocated here", form);
    if (memory)
        add_related(list, result, &memory->freed, 0, 0, "freed here", form);
    return list;
}

// The place that is shown: the first in the file itself, else the first of all. NULL: it has none.
static const heddle_check_place *choose_place(const heddle_check_finding *finding, const char *path)
{
    const heddle_check_place *any = NULL;
    for (int i = 0; i < finding->place_count; i++) {
        const heddle_check_place *place = &finding->places[i];
        if (place->frames == 0 || !place->frame[0].file[0])
            continue;
        if (strcmp(place->frame[0].file, path) == 0)
            return place;
        any = any ? any : place;
    }
    return any;
}

static cJSON *finding_json(const heddle_check_result *result, const heddle_check_finding *finding,
                           const heddle_check_place *place, const heddle_lsp_form *form)
{
    const bool error = finding->tier == HEDDLE_CHECK_ERROR;
    char message[MESSAGE_SIZE], address[HEDDLE_LSP_EXPLAINED_SIZE];
    write_message(result, finding, message, sizeof message);
    cJSON *diagnostic = heddle_lsp_remark(1, error ? HEDDLE_LSP_SEVERITY_ERROR : HEDDLE_LSP_SEVERITY_WARNING,
                                          heddle_check_kinds[finding->kind].name, message);
    if (place)
        cJSON_ReplaceItemInObject(diagnostic, "range",
                                  place_range(result, &place->frame[0], place->column, place->width, form));
    if (heddle_lsp_explained(finding->kind, address)) {
        cJSON *description = cJSON_AddObjectToObject(diagnostic, "codeDescription");
        cJSON_AddStringToObject(description, "href", address);
    }
    cJSON *related = related_json(result, finding, place, form);
    if (form->related && related->child)
        cJSON_AddItemToObject(diagnostic, "relatedInformation", related);
    else
        cJSON_Delete(related);
    return diagnostic;
}

cJSON *heddle_lsp_diagnostics(const heddle_check_result *result, const char *path, const heddle_lsp_form *form)
{
    char *uri = malloc(URI_SIZE);
    cJSON *files = uri ? cJSON_CreateObject() : NULL;
    for (int i = 0; i < result->finding_count && files; i++) {
        const heddle_check_finding *finding = result->findings[i];
        const heddle_check_place *place = choose_place(finding, path);
        heddle_lsp_uri_of(place ? place->frame[0].file : path, uri, URI_SIZE);
        cJSON *list = cJSON_GetObjectItemCaseSensitive(files, uri);
        if (!list)
            list = cJSON_AddArrayToObject(files, uri);
        cJSON_AddItemToArray(list, finding_json(result, finding, place, form));
    }
    free(uri);
    return files;
}
