// The name of extern __shared__ memory. Every such declaration means one buffer, and in the program no name is left of
// them; in the source it is the one that is declared where the access stands, or the only one of the file.
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>

#include "report/internal.h"

enum { MOST_NAMES = 8, NAME_BYTES = 64 };

typedef struct declared {
    char name[NAME_BYTES];
    int depth; // of the brackets that it stands in
} declared;

typedef struct reading {
    declared names[MOST_NAMES]; // those that can be seen at this place
    int count, depth;
    char only[NAME_BYTES]; // of the file; "": none
    bool several;
    bool is_extern, is_shared; // of the statement that is being read
    const char *word;          // its last one
    size_t length;
} reading;

static void declare(reading *state)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)(state->length < NAME_BYTES ? state->length : 0), state->word);
    if (name[0] == '\0')
        return;
    state->several |= state->only[0] && strcmp(state->only, name) != 0;
    memcpy(state->only, name, sizeof name);
    if (state->count == MOST_NAMES)
        return;
    memcpy(state->names[state->count].name, name, sizeof name);
    state->names[state->count++].depth = state->depth;
}

static void read_sign(reading *state, char sign)
{
    if (sign == '[' && state->is_extern && state->is_shared) {
        declare(state);
        state->is_extern = false;
    }
    if (sign == '{' || sign == '}' || sign == ';')
        state->is_extern = state->is_shared = false;
    state->depth += (sign == '{') - (sign == '}' && state->depth > 0);
    while (state->count > 0 && state->names[state->count - 1].depth > state->depth)
        state->count--;
}

static void read_word(reading *state, const char *word, size_t length)
{
    state->is_extern |= length == strlen("extern") && memcmp(word, "extern", length) == 0;
    state->is_shared |= length == strlen("__shared__") && memcmp(word, "__shared__", length) == 0;
    state->word = word;
    state->length = length;
}

static void read_to(reading *state, const char *at, const char *end)
{
    sim_reader reader = {.at = at, .end = end, .line_begins = true};
    for (sim_piece_kind kind; (kind = sim_source_next(&reader)) != SIM_PIECE_END;) {
        if (kind == SIM_PIECE_SIGN)
            read_sign(state, *reader.piece);
        else if (kind == SIM_PIECE_WORD)
            read_word(state, reader.piece, (size_t)(reader.at - reader.piece));
    }
}

static bool name_in_scope(const sim_frame *frame, char *name, size_t bytes)
{
    size_t length = 0, all;
    const char *text = sim_source_text(frame->file, &all), *line = sim_source_line(frame->file, frame->line, &length);
    reading state = {.count = 0};
    if (!text || !line)
        return false;
    read_to(&state, text, line + length);
    if (state.count > 0)
        snprintf(name, bytes, "%s", state.names[state.count - 1].name);
    return state.count > 0;
}

static void only_name(const sim_frame *frame, char *name, size_t bytes)
{
    size_t all;
    const char *text = sim_source_text(frame->file, &all);
    reading state = {.count = 0};
    if (text)
        read_to(&state, text, text + all);
    if (!state.several)
        snprintf(name, bytes, "%s", state.only);
}

void sim_dynamic_name(sim_described *memory, const sim_stack *where)
{
    if (!memory->dynamic || memory->name[0] || !where)
        return;
    for (size_t i = 0; i < where->count; i++)
        if (name_in_scope(&where->frames[i], memory->name, sizeof memory->name))
            return;
    only_name(&where->frames[where->count - 1], memory->name, sizeof memory->name);
}
