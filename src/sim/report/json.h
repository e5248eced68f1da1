// A small JSON writer into memory: the caller names members and nests; commas, quotes and escapes are kept here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_json {
    char *text;
    size_t used, room;
    bool comma;  // something stands before in this object or array
    bool failed; // no memory: what was written is not whole
} sim_json;

// `name` NULL: an element of an array, or the outermost value.
void sim_json_open(sim_json *out, const char *name, char bracket);        // '{' or '['
void sim_json_close(sim_json *out, char bracket);                         // '}' or ']'
void sim_json_string(sim_json *out, const char *name, const char *value); // NULL: null
void sim_json_unsigned(sim_json *out, const char *name, uint64_t value);
void sim_json_signed(sim_json *out, const char *name, int64_t value);
void sim_json_bool(sim_json *out, const char *name, bool value);
void sim_json_seconds(sim_json *out, const char *name, double seconds);
void sim_json_triple(sim_json *out, const char *name, const unsigned value[3]);
