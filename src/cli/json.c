// Prints JSON lines and writes JSON files.

#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/json.h"

static bool prints; // a --json without a file was on the command line

static heddle_status no_memory(void)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the JSON output");
}

static heddle_status print_line(const char *name, cJSON *fields)
{
    cJSON *line = fields ? cJSON_CreateObject() : NULL;
    cJSON_AddStringToObject(line, "event", name);
    while (line && fields->child) {
        cJSON *field = cJSON_DetachItemViaPointer(fields, fields->child);
        cJSON_AddItemToObject(line, field->string, field);
    }
    char *text = line ? cJSON_PrintUnformatted(line) : NULL;
    cJSON_Delete(line);
    cJSON_Delete(fields);
    if (!text)
        return no_memory();
    puts(text);
    fflush(stdout);
    cJSON_free(text);
    return HEDDLE_OK;
}

void heddle_cli_json_event(const heddle_cli_json *json, const char *name, cJSON *fields)
{
    if (json->print)
        print_line(name, fields);
    else
        cJSON_Delete(fields);
}

heddle_status heddle_cli_write_json(cJSON *json, const char *path)
{
    char *text = json ? heddle_json_print(json) : NULL;
    cJSON_Delete(json);
    if (!text)
        return no_memory();
    heddle_status status = heddle_file_write_atomic(path, (const heddle_slice[]){{text, strlen(text)}, {"\n", 1}}, 2);
    free(text);
    return status;
}

heddle_status heddle_cli_json_save(const heddle_cli_json *json, cJSON *result)
{
    if (json->file)
        return heddle_cli_write_json(result, json->file);
    cJSON_Delete(result);
    return HEDDLE_OK;
}

heddle_status heddle_cli_json_result(const heddle_cli_json *json, cJSON *result)
{
    return json->print ? print_line("result", result) : heddle_cli_json_save(json, result);
}

void heddle_cli_json_read(const char *value, heddle_cli_json *json)
{
    bool to_file = value && strcmp(value, "-") != 0;
    *json = (heddle_cli_json){.print = !to_file, .file = to_file ? value : NULL};
    prints = json->print;
}

bool heddle_cli_json_wanted(const heddle_cli_json *json)
{
    return json->print || json->file;
}

void heddle_cli_json_error(const char *message, int exit_code)
{
    if (!prints)
        return;
    cJSON *error = cJSON_CreateObject();
    cJSON_AddStringToObject(error, "message", message);
    cJSON_AddNumberToObject(error, "exit_code", exit_code);
    print_line("error", error);
}
