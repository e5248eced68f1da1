// What --json prints, the same way in every command: one object per line. Events while the command runs, the result at
// the end; docs/json.md lists their fields. `--json=FILE` writes the result to a file instead.
#ifndef HEDDLE_CLI_JSON_H
#define HEDDLE_CLI_JSON_H

#include <stdbool.h>

#include "heddle/status.h"

struct cJSON;

// What --json asks for.
typedef struct heddle_cli_json {
    bool print;       // on standard output, which then has nothing else
    const char *file; // into this file; NULL: none
} heddle_cli_json;

// The row of the option in a command's table; `offset` is that of a heddle_cli_json.
#define HEDDLE_CLI_JSON_OPTION(offset)                                                                                 \
    {                                                                                                                  \
        "json", HEDDLE_CLI_JSON, offset, "FILE", NULL,                                                                 \
            "print JSON, one object per line (docs/json.md); with =FILE, write the result there", 0, 0, NULL           \
    }

// These take an object, or NULL where there was no memory for one, and free it.
// Prints {"event": NAME, FIELDS...} on a line where --json asks for it.
void heddle_cli_json_event(const heddle_cli_json *json, const char *name, struct cJSON *fields);
// Prints the result as the last line, or writes the file, or neither, as --json asks for.
heddle_status heddle_cli_json_result(const heddle_cli_json *json, struct cJSON *result);
// The file alone, with what there is of the result so far.
heddle_status heddle_cli_json_save(const heddle_cli_json *json, struct cJSON *result);
// What the option says: NULL, or the value behind the equals sign.
void heddle_cli_json_read(const char *value, heddle_cli_json *json);
// Whether anything asks for the result.
bool heddle_cli_json_wanted(const heddle_cli_json *json);

// Prints {"event": "error", ...} where a --json without a file was on the command line.
void heddle_cli_json_error(const char *message, int exit_code);

// Writes a document of another form, such as a trace, so that the file is the old one or the new one. Frees it.
heddle_status heddle_cli_write_json(struct cJSON *json, const char *path);

#endif
