// How a command tells what went wrong, and what exit code that is; and how it prints JSON.

#include <stdarg.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "cli/cli.h"

enum { LINE_SIZE = 1024 };

int heddle_cli_exit_code(heddle_status status)
{
    switch (status) {
    case HEDDLE_OK: return HEDDLE_EXIT_OK;
    case HEDDLE_INVALID: return HEDDLE_EXIT_USAGE;
    case HEDDLE_MISSING: return HEDDLE_EXIT_MISSING;
    default: return HEDDLE_EXIT_FAILED;
    }
}

int heddle_cli_fail(heddle_status status)
{
    const char *message = heddle_last_error();
    fprintf(stderr, "heddle: %s\n", message[0] != '\0' ? message : heddle_status_name(status));
    return heddle_cli_exit_code(status);
}

int heddle_cli_usage(const heddle_cli_command *command, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "heddle %s: %s\n", command->name, line);
    return HEDDLE_EXIT_USAGE;
}

int heddle_cli_print_json(cJSON *json)
{
    char *text = json != NULL ? cJSON_Print(json) : NULL;
    cJSON_Delete(json);
    if (text == NULL)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the JSON output"));
    puts(text);
    cJSON_free(text);
    return HEDDLE_EXIT_OK;
}
