// Reading JSON (cJSON underneath) with errors that name the file and the field, and writing it one row per line.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "heddle/status.h"

// Parses `size` bytes of text; `what` names it in errors ("model file cnn.json"). The error gives line and column.
// An object that has a key twice is HEDDLE_CORRUPT. The caller frees *json with cJSON_Delete.
heddle_status heddle_json_parse(const char *what, const char *text, size_t size, cJSON **json);
heddle_status heddle_json_read(const char *path, cJSON **json);

// The entries of an object, sorted by key; NULL when out of memory. The caller frees the list.
const cJSON **heddle_json_sorted(const cJSON *object, int *count);

// Fields of an object. A missing required field, a wrong type, or a number out of [least, most] is HEDDLE_CORRUPT and
// names `what` and the field. The _or forms give `otherwise` when the field is absent.
heddle_status heddle_json_text(const char *what, const cJSON *object, const char *field, const char **value);
heddle_status heddle_json_int(const char *what, const cJSON *object, const char *field, long long least, long long most,
                              long long *value);
heddle_status heddle_json_int_or(const char *what, const cJSON *object, const char *field, long long least,
                                 long long most, long long otherwise, long long *value);
heddle_status heddle_json_number_or(const char *what, const cJSON *object, const char *field, double least, double most,
                                    double otherwise, double *value);
heddle_status heddle_json_array(const char *what, const cJSON *object, const char *field, const cJSON **value);

// Adds a number that is known: nothing for NaN and infinity, which JSON has no words for.
void heddle_json_add_number(cJSON *object, const char *name, double value);

// The document with one row per line, so that a change of one figure is one line of a diff: an element of a list is one
// line, an object that holds lists or objects has one line per member, everything else is one line. The caller frees
// the text; NULL: no memory.
char *heddle_json_print(const cJSON *json);
