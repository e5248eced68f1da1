// explain PROGRAM REPORT SOURCE: prints the report of one run with what the source adds to it, as heddle check has it:
// names, lines and tiers, cause and cure. For run_corpus.py, which holds single runs against the programs' comments.

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "check/columns.h"
#include "check/explain.h"
#include "check/words.h"

static void set_text(cJSON *object, const char *name, const char *text)
{
    cJSON_DeleteItemFromObject(object, name);
    cJSON_AddStringToObject(object, name, text);
}

static void set_number(cJSON *object, const char *name, double number)
{
    cJSON_DeleteItemFromObject(object, name);
    cJSON_AddNumberToObject(object, name, number);
}

static void patch(cJSON *json, const heddle_check_finding *finding)
{
    set_text(json, "tier", finding->tier == HEDDLE_CHECK_ERROR ? "error" : "warning");
    set_text(json, "message", finding->message);
    set_text(json, "cause", finding->cause);
    set_text(json, "cure", finding->cure);
    if (finding->memory)
        set_text(cJSON_GetObjectItem(json, "memory"), "name", finding->memory->name);
    for (int i = 0; i < finding->place_count; i++)
        if (finding->places[i].frames > 0)
            set_number(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "places"), i), "line",
                       finding->places[i].frame[0].line);
}

static int explain(const char *program, const char *path, const char *const *sources)
{
    char *content = NULL;
    size_t size = 0;
    cJSON *json = NULL;
    heddle_check_report *report = NULL;
    if (heddle_file_read(path, 1 << 28, &content, &size) != HEDDLE_OK ||
        heddle_json_parse(path, content, size, &json) != HEDDLE_OK ||
        heddle_check_report_parse(path, content, size, &report) != HEDDLE_OK) {
        fprintf(stderr, "explain: %s\n", heddle_last_error());
        return 1;
    }
    heddle_check_sources *read = heddle_check_sources_create();
    heddle_check_columns *columns = heddle_check_columns_open(program, sources, NULL);
    heddle_check_columns_settle(columns, report);
    const int count = report->finding_count;
    const heddle_check_place **places = heddle_arena_alloc(report->arena, (size_t)(count + 1) * sizeof *places);
    for (int i = 0; places && i < count; i++)
        places[i] = report->findings[i].places;
    heddle_check_explain(report, read);
    cJSON *findings = cJSON_GetObjectItem(json, "findings");
    int kept = 0;
    for (int i = 0; places && i < count; i++) { // explaining takes some out and keeps the order of the others
        heddle_check_finding *finding = &report->findings[kept];
        if (kept < report->finding_count && finding->places == places[i]) {
            heddle_check_words_settle(finding, read, report->arena);
            patch(cJSON_GetArrayItem(findings, kept++), finding);
        } else {
            cJSON_DeleteItemFromArray(findings, kept);
        }
    }
    char *text = cJSON_Print(json);
    puts(text);
    cJSON_free(text);
    heddle_check_columns_close(columns);
    heddle_check_sources_free(read);
    heddle_check_report_free(report);
    cJSON_Delete(json);
    free(content);
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: explain PROGRAM REPORT SOURCE...\n");
        return 2;
    }
    return explain(arguments[1], arguments[2], (const char *const *)arguments + 3);
}
