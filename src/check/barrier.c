// The barrier belongs between the two statements of the innermost block around both accesses that have one of them
// each. A branch around that block is named too, for threads that do not take it would not come to the barrier. Where a
// loop has a barrier there already, or both accesses are one statement, those of different iterations meet: the barrier
// belongs at the end of the loop's body.

#include "check/barrier.h"

#include <stdio.h>
#include <string.h>

#include "sim/source/conditional.h"
#include "sim/source/statement.h"

static const char *const block_barriers[] = {"__syncthreads", "sync", "arrive_and_wait", "wait", NULL};
static const char *const warp_barriers[] = {"__syncwarp", NULL};

// The token of the first of these calls on these lines; -1: there is none. `compiled`: a token that was; calls in
// another branch of an #if were not.
static int find_call(const sim_source *source, int compiled, int first_line, int last_line, const char *const *calls)
{
    int first, last;
    for (sim_tokens_on_line(&source->code, first_line, &first, &last);
         first < source->code.count && source->code.at[first].line <= last_line; first++) {
        const sim_token *next = sim_token_at(&source->code, first + 1);
        if (sim_token_is_any(source, &source->code.at[first], calls) &&
            (sim_token_is(source, next, "(") || sim_token_is(source, next, "<")) &&
            sim_presence_of(source, compiled, first) != SIM_LEFT_OUT)
            return first;
    }
    return -1;
}

// Whether a barrier that would order the two accesses is called on these lines.
static bool lines_have_barrier(const sim_source *source, int compiled, int first_line, int last_line, bool in_warp)
{
    return find_call(source, compiled, first_line, last_line, block_barriers) >= 0 ||
           (in_warp && find_call(source, compiled, first_line, last_line, warp_barriers) >= 0);
}

typedef struct gap {
    int first, last; // lines
    int branch;      // the line of a branch around both; 0: none
} gap;

static int depth_of(const sim_statements *statements, int statement)
{
    int depth = 0;
    for (; statement >= 0; statement = statements->at[statement].parent)
        depth++;
    return depth;
}

// Climbs to the two statements next to each other, of which one has the first access and the other the second; returns
// the block around them; -1: one access is in a head, or the two are in different branches of an if.
static int find_neighbours(const sim_statements *statements, int *one, int *other)
{
    const sim_statement *at = statements->at;
    while (depth_of(statements, *one) > depth_of(statements, *other))
        *one = at[*one].parent;
    while (depth_of(statements, *other) > depth_of(statements, *one))
        *other = at[*other].parent;
    while (*one != *other && at[*one].parent != at[*other].parent) {
        *one = at[*one].parent;
        *other = at[*other].parent;
    }
    int around = at[*one].parent;
    return *one != *other && around >= 0 && at[around].kind == SIM_STATEMENT_BLOCK ? around : -1;
}

// The outermost branch around a statement, inside of `within` (-1: the function), that threads may take differently; 0:
// none.
static int branch_line(const sim_source *source, const sim_statements *statements, int statement, int within)
{
    int line = 0;
    for (; statement >= 0 && statement != within; statement = statements->at[statement].parent)
        if (sim_statement_is_branch(&statements->at[statement]) && !statements->at[statement].is_constant)
            line = source->code.at[statements->at[statement].first].line;
    return line;
}

// Narrows the lines of the accesses to where the barrier can stand: behind the statement of the first, and behind
// blocks between the two. False: no lines can be named.
static bool narrow(const sim_source *source, const sim_statements *statements, int first, int last, gap *between)
{
    int one = sim_statement_around(statements, first), other = sim_statement_around(statements, last);
    int around = one >= 0 && other >= 0 ? find_neighbours(statements, &one, &other) : -1;
    if (around < 0)
        return false;
    int behind = one;
    for (int i = one + 1; i < other; i++)
        if (statements->at[i].parent == around && statements->at[i].kind != SIM_STATEMENT_SIMPLE)
            behind = i;
    between->first = source->code.at[statements->at[behind].last].line;
    between->last = source->code.at[statements->at[other].first].line;
    between->branch = branch_line(source, statements, around, -1);
    return between->first < between->last;
}

static bool same_function(const heddle_check_frame *one, const heddle_check_frame *other)
{
    return strcmp(one->file, other->file) == 0 && strcmp(one->function, other->function) == 0;
}

// The innermost function that both accesses are in, themselves or by what they call there; false: there is none.
static bool find_common(const heddle_check_finding *finding, const heddle_check_frame **one,
                        const heddle_check_frame **other)
{
    const heddle_check_place *places = finding->places;
    for (int i = 0; i < places[0].frames; i++)
        for (int j = 0; j < places[1].frames; j++)
            if (same_function(&places[0].frame[i], &places[1].frame[j])) {
                *one = &places[0].frame[i];
                *other = &places[1].frame[j];
                return true;
            }
    return false;
}

// The innermost loop around both statements; -1: none.
static int common_loop(const sim_statements *statements, int one, int other)
{
    int loop = sim_statement_loop(statements, one);
    for (; loop >= 0; loop = sim_statement_loop(statements, statements->at[loop].parent))
        for (int i = other; i >= 0; i = statements->at[i].parent)
            if (i == loop)
                return loop;
    return -1;
}

static int line_of(const sim_source *source, int token)
{
    return source->code.at[token].line;
}

// The last line of what the loop's body does.
static int body_end(const sim_source *source, const sim_statements *statements, int loop)
{
    int body = -1, last = statements->at[loop].last;
    for (int i = loop + 1; i < statements->count; i++) {
        int parent = statements->at[i].parent;
        if (parent == loop)
            body = i;
        if (parent == loop || (parent == body && statements->at[body].kind == SIM_STATEMENT_BLOCK))
            last = statements->at[i].last;
    }
    return line_of(source, last);
}

static void add_branch(int line, char *text, size_t size)
{
    size_t used = strlen(text);
    if (line > 0)
        snprintf(text + used, size - used, ", outside the branch of line %d unless all threads of the block take it",
                 line);
}

// One function with both accesses, while it is read.
typedef struct reading {
    const sim_source *source;
    sim_statements statements;
    int compiled;   // the token of an access
    int one, other; // the statements of the accesses
    int loop;       // around both; -1: none
    bool in_warp;   // the threads are of one warp
} reading;

static bool loop_has_barrier(const reading *in)
{
    const sim_statement *around = &in->statements.at[in->loop];
    return lines_have_barrier(in->source, in->compiled, line_of(in->source, around->first),
                              line_of(in->source, around->last), in->in_warp);
}

static void at_end_of_loop(const reading *in, char *text, size_t size)
{
    int branch = branch_line(in->source, &in->statements, in->one, in->loop);
    snprintf(text, size, "at the end of the loop's body, after line %d",
             body_end(in->source, &in->statements, in->loop));
    size_t used = strlen(text);
    if (branch > 0)
        used += (size_t)snprintf(text + used, size - used, " and outside the branch of line %d", branch);
    snprintf(text + used, size - used, ", because accesses of different iterations meet");
    add_branch(branch_line(in->source, &in->statements, in->loop, -1), text, size);
}

static bool place_of(const reading *in, int first, int last, int from, int to, char *text, size_t size)
{
    gap between = {0};
    bool barrier_between = lines_have_barrier(in->source, in->compiled, first + 1, last - 1, in->in_warp);
    bool barrier_in_loop = in->loop >= 0 && loop_has_barrier(in);
    if (in->loop >= 0 && (first == last ? !barrier_in_loop : barrier_between)) {
        at_end_of_loop(in, text, size);
        return true;
    }
    if (first == last || barrier_between || !narrow(in->source, &in->statements, from, to, &between))
        return false;
    snprintf(text, size, "between line %d and line %d", between.first, between.last);
    add_branch(between.branch, text, size);
    size_t used = strlen(text);
    if (in->loop >= 0 && !barrier_in_loop)
        snprintf(text + used, size - used,
                 ", and another one at the end of the loop's body, after line %d, if its iterations use the same "
                 "elements",
                 body_end(in->source, &in->statements, in->loop));
    return true;
}

// Reads the function around the two lines; false: they are not in one.
static bool read_function(const sim_source *source, int from, int to, reading *in)
{
    int function = sim_function_around(source, from);
    if (function < 0 || function != sim_function_around(source, to) ||
        !sim_statements_read(source, function, &in->statements))
        return false;
    in->compiled = from;
    in->one = sim_statement_around(&in->statements, from);
    in->other = sim_statement_around(&in->statements, to);
    in->loop = common_loop(&in->statements, in->one, in->other);
    return true;
}

int heddle_check_branch_around(heddle_check_sources *sources, const heddle_check_frame *frame)
{
    const sim_source *source = heddle_check_sources_code(sources, frame->file);
    sim_statements statements = {0};
    int first = 0, last = 0, line = 0;
    if (source)
        sim_tokens_on_line(&source->code, frame->line, &first, &last);
    int function = first < last ? sim_function_around(source, first) : -1;
    if (function >= 0 && sim_statements_read(source, function, &statements))
        line = branch_line(source, &statements, sim_statement_around(&statements, first), -1);
    sim_statements_free(&statements);
    return line;
}

// The two lines of a race in one function; false: they are not known.
static const sim_source *lines_of(heddle_check_sources *sources, const heddle_check_finding *finding, int *first,
                                  int *last)
{
    const heddle_check_frame *one, *other;
    if (finding->kind != HEDDLE_CHECK_RACE || finding->place_count != 2 || !find_common(finding, &one, &other))
        return NULL;
    *first = one->line < other->line ? one->line : other->line;
    *last = one->line < other->line ? other->line : one->line;
    return *first > 0 ? heddle_check_sources_code(sources, one->file) : NULL;
}

static bool is_in_warp(const heddle_check_finding *finding)
{
    return strstr(finding->note, "same warp") != NULL;
}

bool heddle_check_barrier_place(heddle_check_sources *sources, const heddle_check_finding *finding, char *text,
                                size_t size)
{
    int first, last, from, to, ignored;
    const sim_source *source = lines_of(sources, finding, &first, &last);
    reading in = {.source = source, .loop = -1, .in_warp = is_in_warp(finding)};
    if (!source)
        return false;
    sim_tokens_on_line(&source->code, first, &from, &ignored);
    sim_tokens_on_line(&source->code, last, &to, &ignored);
    if (lines_have_barrier(source, from, first, first, in.in_warp) ||
        lines_have_barrier(source, to, last, last, in.in_warp))
        return false;
    bool found = read_function(source, from, to, &in) && place_of(&in, first, last, from, to, text, size);
    sim_statements_free(&in.statements);
    return found;
}

// Between the lines of the accesses, or, where those of different iterations meet, in the loop around them.
static int warp_barrier_of(const reading *in, int first, int last)
{
    bool in_loop = in->loop >= 0 && first == last;
    int from = in_loop ? line_of(in->source, in->statements.at[in->loop].first) : first + 1;
    int to = in_loop ? line_of(in->source, in->statements.at[in->loop].last) : last - 1;
    int call = lines_have_barrier(in->source, in->compiled, from, to, false)
                   ? -1
                   : find_call(in->source, in->compiled, from, to, warp_barriers);
    if (call < 0)
        return 0;
    int statement = sim_statement_around(&in->statements, call);
    return branch_line(in->source, &in->statements, statement, -1) > 0 ? 0 : line_of(in->source, call);
}

int heddle_check_warp_barrier(heddle_check_sources *sources, const heddle_check_finding *finding)
{
    int first, last, from, to, ignored, line = 0;
    bool within_block = finding->order == HEDDLE_CHECK_ORDER_BARRIER && !is_in_warp(finding);
    const sim_source *source = within_block ? lines_of(sources, finding, &first, &last) : NULL;
    if (!source)
        return 0;
    reading in = {.source = source, .loop = -1};
    sim_tokens_on_line(&source->code, first, &from, &ignored);
    sim_tokens_on_line(&source->code, last, &to, &ignored);
    if (read_function(source, from, to, &in))
        line = warp_barrier_of(&in, first, last);
    sim_statements_free(&in.statements);
    return line;
}
