// A string that grows. Out of memory ends in a string that stays as it was and says so, once, at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_text {
    char *at; // ends with 0; NULL while empty
    size_t bytes, room;
    bool failed; // out of memory: something is missing
} sim_text;

void sim_text_add(sim_text *text, const char *string);
void sim_text_add_bytes(sim_text *text, const char *bytes, size_t count);
void sim_text_print(sim_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
// As the inside of a C string literal.
void sim_text_add_quoted(sim_text *text, const char *bytes, size_t count);
// The string, to be freed by the caller; never NULL unless memory ran out.
char *sim_text_take(sim_text *text);
void sim_text_free(sim_text *text);
// The whole file, ended with 0. False: errno says why.
bool sim_text_read(sim_text *text, const char *path);
