// Output of --json, the same in every command: one object per line, events while the command runs and the result at the
// end (docs/json.md). `--json=FILE` writes the result to a file instead.
#pragma once

#include <stdbool.h>

#include "heddle/status.h"

struct cJSON;

// The value of --json.
typedef struct heddle_cli_json {
    bool print;       // on standard output, which then has only JSON
    const char *file; // to this file; NULL: none
} heddle_cli_json;

// The option's row in a command's table; `offset` is that of a heddle_cli_json.
#define HEDDLE_CLI_JSON_OPTION(offset)                                                                                 \
    {                                                                                                                  \
        "json", HEDDLE_CLI_JSON, offset, "FILE", NULL,                                                                 \
            "print JSON instead of text, one object per line; with =FILE, print text and write the result to FILE as " \
            "JSON; see docs/json.md",                                                                                  \
            0, 0, NULL                                                                                                 \
    }

// These functions take an object, or NULL if there was not enough memory for one, and free it.
void heddle_cli_json_event(const heddle_cli_json *json, const char *name, struct cJSON *fields);
// Prints the result as the last line, or writes the file, or neither, as --json requests.
heddle_status heddle_cli_json_result(const heddle_cli_json *json, struct cJSON *result);
// Writes the file alone, with the result so far.
heddle_status heddle_cli_json_save(const heddle_cli_json *json, struct cJSON *result);
// Sets *json from the option's value: NULL, or the text after the equals sign.
void heddle_cli_json_read(const char *value, heddle_cli_json *json);
// Whether the result is printed or written.
bool heddle_cli_json_wanted(const heddle_cli_json *json);

// Prints {"event": "error", ...} if the command line has a --json without a file.
void heddle_cli_json_error(const char *message, int exit_code);

// Writes another document, such as a trace, atomically. Frees it.
heddle_status heddle_cli_write_json(struct cJSON *json, const char *path);
