// The line where a loop begins. A thread that never leaves a loop is found anywhere in it; what a person looks for is
// the loop.
#define _GNU_SOURCE 1
#include <string.h>

#include "report/internal.h"

enum { DEEPEST = 64 }; // brackets inside each other

// Where in the text loops begin: one for each bracket that is open, and that of the statement that is being read.
typedef struct reading {
    const char *blocks[DEEPEST]; // NULL: no loop's
    int depth, parentheses;
    const char *statement, *ended; // ended: the last that ended on the line in question
    const char *line;
} reading;

static void end_statement(reading *state, const char *at)
{
    if (at >= state->line && state->statement)
        state->ended = state->statement;
    state->statement = NULL;
}

static void close_block(reading *state, const char *at)
{
    state->depth -= state->depth > 0;
    if (state->depth < DEEPEST) {
        state->statement = state->blocks[state->depth]; // do { } while (...);
        if (state->statement && state->statement[0] == 'd')
            return;
        end_statement(state, at);
    }
}

static void read_sign(reading *state, const char *at)
{
    if (*at == '(' || *at == ')') {
        state->parentheses += *at == '(' ? 1 : -(state->parentheses > 0);
    } else if (*at == '{') {
        if (state->depth < DEEPEST)
            state->blocks[state->depth] = state->statement;
        state->depth++;
        state->statement = NULL;
    } else if (*at == '}') {
        close_block(state, at);
    } else if (*at == ';' && state->parentheses == 0) {
        end_statement(state, at);
    }
}

static void read_word(reading *state, const char *word, size_t length)
{
    static const char *const loops[] = {"for", "while", "do"};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        if (strlen(loops[i]) == length && memcmp(word, loops[i], length) == 0 &&
            !(i == 1 && state->statement && state->statement[0] == 'd'))
            state->statement = word;
}

// The innermost loop that the line is part of; NULL: none.
static const char *read_to(reading *state, const char *at, const char *end)
{
    sim_reader reader = {.at = at, .end = end, .line_begins = true};
    for (sim_piece_kind kind; (kind = sim_source_next(&reader)) != SIM_PIECE_END;) {
        if (kind == SIM_PIECE_SIGN)
            read_sign(state, reader.piece);
        else if (kind == SIM_PIECE_WORD)
            read_word(state, reader.piece, (size_t)(reader.at - reader.piece));
    }
    if (state->statement || state->ended)
        return state->statement ? state->statement : state->ended;
    for (int i = state->depth < DEEPEST ? state->depth : DEEPEST; i-- > 0;)
        if (state->blocks[i])
            return state->blocks[i];
    return NULL;
}

const sim_stack *sim_loop_of(const sim_stack *where)
{
    size_t length = 0, all;
    const sim_frame *frame = where ? &where->frames[0] : NULL;
    const char *text = frame ? sim_source_text(frame->file, &all) : NULL;
    const char *line = text ? sim_source_line(frame->file, frame->line, &length) : NULL;
    reading state = {.line = line};
    const char *loop = line ? read_to(&state, text, line + length) : NULL;
    sim_frame *frames = loop ? sim_arena_take(where->count * sizeof *frames) : NULL;
    sim_stack *found = frames ? sim_arena_take(sizeof *found) : NULL;
    if (!found)
        return where;
    memcpy(frames, where->frames, where->count * sizeof *frames);
    frames[0].line = 1;
    for (const char *at = text; at < loop; at++)
        frames[0].line += *at == '\n';
    *found = (sim_stack){.count = where->count, .frames = frames};
    return found;
}
