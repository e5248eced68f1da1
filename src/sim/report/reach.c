// Why some threads never come to a barrier: they return before it, or it stands in a branch that they do not take. That
// is not known from the run, in which both are threads that have ended; it is read from the source around the barrier.
#define _GNU_SOURCE 1
#include <string.h>

#include "report/internal.h"
#include "report/leaving.h"

enum { DEEPEST = 64 }; // brackets inside each other

typedef enum block_kind { PLAIN, FUNCTION, BRANCH, LOOP } block_kind;

// What is known at one place of the text.
typedef struct reading {
    block_kind blocks[DEEPEST];
    int depth, parentheses;
    block_kind statement; // what the statement that is being read begins
    bool called;          // it has a parameter list
    bool in_function, returned;
    const char *function; // behind its brace
} reading;

static bool is(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

static void read_word(reading *state, const char *word, size_t length)
{
    if (is(word, length, "if") || is(word, length, "else") || is(word, length, "switch"))
        state->statement = BRANCH;
    else if (is(word, length, "for") || is(word, length, "while") || is(word, length, "do"))
        state->statement = state->statement == BRANCH ? BRANCH : LOOP;
    else if (is(word, length, "return") || is(word, length, "goto"))
        state->returned |= state->in_function;
}

static void begin_statement(reading *state)
{
    state->statement = PLAIN;
    state->called = false;
}

static void open_block(reading *state, const char *behind)
{
    block_kind kind = state->statement;
    if (!state->in_function && state->called) {
        kind = FUNCTION;
        state->in_function = true;
        state->returned = false;
        state->function = behind;
    }
    if (state->depth < DEEPEST)
        state->blocks[state->depth] = kind;
    state->depth++;
    begin_statement(state);
}

static void close_block(reading *state)
{
    if (state->depth > 0 && --state->depth < DEEPEST && state->blocks[state->depth] == FUNCTION)
        state->in_function = false;
    begin_statement(state);
}

static void read_sign(reading *state, const char *sign)
{
    switch (*sign) {
    case '(':
        state->parentheses++;
        state->called = true;
        break;
    case ')': state->parentheses -= state->parentheses > 0; break;
    case '{': open_block(state, sign + 1); break;
    case '}': close_block(state); break;
    case ';':
        if (state->parentheses == 0)
            begin_statement(state);
        break;
    default: break;
    }
}

// Reads from `at` to the word on the last line that `meant` means, or else to that line's begin. Returns where that is.
static const char *read_to(reading *state, const char *at, const char *last, const char *end,
                           bool (*meant)(const char *word, size_t length, const char *name), const char *name)
{
    reading before_line = *state;
    bool reached = false;
    sim_reader reader = {.at = at, .end = end, .line_begins = true};
    for (sim_piece_kind kind; (kind = sim_source_next(&reader)) != SIM_PIECE_END;) {
        if (reader.piece >= last && !reached) {
            reached = true;
            before_line = *state;
        }
        if (kind == SIM_PIECE_SIGN)
            read_sign(state, reader.piece);
        if (kind != SIM_PIECE_WORD)
            continue;
        if (reached && meant(reader.piece, (size_t)(reader.at - reader.piece), name))
            return reader.at;
        read_word(state, reader.piece, (size_t)(reader.at - reader.piece));
    }
    *state = before_line;
    return last;
}

static bool is_barrier(const char *word, size_t length, const char *name)
{
    (void)name;
    return memmem(word, length, "sync", 4) || memmem(word, length, "barrier", 7) || memmem(word, length, "wait", 4);
}

static bool is_call(const char *word, size_t length, const char *name)
{
    return strncmp(word, name, length) == 0 && !sim_source_in_word(name[length]);
}

static bool stands_in(const reading *state, block_kind kind)
{
    for (int i = 0; i < state->depth && i < DEEPEST; i++)
        if (state->blocks[i] == kind)
            return true;
    return state->statement == kind;
}

static bool is_other_branch(const char *at, const char *end) // of the preprocessor's
{
    for (at++; at < end && (*at == ' ' || *at == '\t');)
        at++;
    return end - at > 3 && (memcmp(at, "el", 2) == 0 || memcmp(at, "end", 3) == 0);
}

// Whether threads may have left the function between its begin and `at` in other ways than by a return.
static bool leaves_before(const sim_program *program, const reading *state, const char *at)
{
    sim_reader reader = {.at = state->function, .end = at};
    for (sim_piece_kind kind; (kind = sim_source_next(&reader)) != SIM_PIECE_END;)
        if (kind == SIM_PIECE_WORD && sim_word_leaves(program, reader.piece, reader.at, at))
            return true;
    return false;
}

static bool is_label(const char *behind, const char *end)
{
    while (behind < end && (*behind == ' ' || *behind == '\t'))
        behind++;
    return behind < end && *behind == ':' && !(behind + 1 < end && behind[1] == ':');
}

// Whether the function does anything behind the branches and loops that `at` stands in, and threads cannot have left it
// within these. What the preprocessor chooses between is not read: it may be left out.
static bool goes_on_behind(const sim_program *program, reading state, const char *at, const char *end)
{
    sim_reader reader = {.at = at, .end = end};
    for (sim_piece_kind kind; state.in_function && (kind = sim_source_next(&reader)) != SIM_PIECE_END;) {
        if (kind == SIM_PIECE_DIRECTIVE && is_other_branch(reader.piece, end))
            return false;
        if (kind == SIM_PIECE_SIGN)
            read_sign(&state, reader.piece);
        if (kind != SIM_PIECE_WORD)
            continue;
        const char *word = reader.piece;
        size_t length = (size_t)(reader.at - word);
        if (sim_word_leaves(program, word, reader.at, end))
            return false;
        if (is_label(reader.at, end)) // no work: threads that are done go there
            continue;
        if (!stands_in(&state, BRANCH) && !stands_in(&state, LOOP) && !is(word, length, "else"))
            return true;
        read_word(&state, word, length);
    }
    return false;
}

typedef struct reached {
    sim_reach reach;
    bool loop_alone; // that is around it, and no branch
    bool may_leave;  // before it, by a return, a goto, what a macro does or PTX
} reached;

// Of one function: that of the barrier, or one that the next inner one was called from.
static reached reach_in(const sim_frame *frame, const char *called)
{
    size_t length, bytes;
    const char *line = sim_source_line(frame->file, frame->line, &length);
    const char *text = sim_source_text(frame->file, &bytes);
    const sim_program *program = sim_program_of(frame->file);
    reading state = {.depth = 0};
    reached found = {.may_leave = true};
    if (!line || !text || !program)
        return found;
    const char *at = read_to(&state, text, line, line + length, called ? is_call : is_barrier, called);
    bool branch = stands_in(&state, BRANCH), loop = stands_in(&state, LOOP);
    if (!state.in_function || (state.returned && branch))
        return found;
    found.loop_alone = loop && !branch;
    found.may_leave = state.returned || sim_program_exits(program) || leaves_before(program, &state, at);
    if (found.may_leave && !state.returned)
        return found;
    if (state.returned || branch || loop)
        found.reach = state.returned                                     ? SIM_REACH_RETURN
                      : goes_on_behind(program, state, at, text + bytes) ? SIM_REACH_PASSED
                                                                         : SIM_REACH_BRANCH;
    return found;
}

static bool is_kernel(const sim_frame *frame, const char *kernel)
{
    size_t length = kernel ? strcspn(kernel, "<(") : 0;
    return length > 0 && strncmp(frame->function, kernel, length) == 0 && !sim_source_in_word(frame->function[length]);
}

// Threads pass a barrier by for certain where they cannot have left the kernel or a function before it.
sim_reach sim_reach_of(const sim_stack *where, const char *kernel)
{
    reached found = {.reach = SIM_REACH_UNKNOWN};
    bool certain = where && where->count > 0 && is_kernel(&where->frames[where->count - 1], kernel);
    for (size_t i = 0; where && i < where->count; i++) {
        reached next = reach_in(&where->frames[i], i > 0 ? where->frames[i - 1].function : NULL);
        certain = certain && !next.may_leave;
        if (found.reach == SIM_REACH_UNKNOWN || (found.loop_alone && next.reach == SIM_REACH_RETURN))
            found = next;
    }
    return found.reach == SIM_REACH_PASSED && !certain ? SIM_REACH_BRANCH : found.reach;
}
