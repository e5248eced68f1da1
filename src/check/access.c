// gcc puts a load at the ] of the last index (in templates at its [), at a member's name or at a star, a store at its
// operator, a call at its parenthesis; a load that is a whole initialiser at the variable, and one that is an argument
// at the call. clang puts a load where its expression begins, and a call at its name. What a macro expands to stands at
// its name.

#include "check/access.h"

#include <stdio.h>
#include <string.h>

#include "sim/source/launch.h"
#include "sim/source/scope.h"

typedef enum store { NO_STORE, PLAIN_STORE, COMPOUND_STORE } store;

// A part of the line that could be meant.
typedef struct candidate {
    int first, last; // tokens [first, last)
    int name, named; // tokens [name, named) of the array or pointer; empty: it has no name
    int indices;     // brackets and arrows behind that
    bool through;    // it goes through a pointer or an index
    store how;
    int operator_first, operator_last; // tokens of what stores; empty: nothing does
} candidate;

// What is looked for, and what was found of it.
typedef struct search {
    const sim_source *source;
    const sim_tokens *code;
    int first, last; // tokens that are looked at
    int line;        // the first token of the line
    int column;      // the token at the compiler's column; -1: not known
    candidate found;
    int count;
} search;

static bool is(const search *in, int token, const char *text)
{
    return sim_token_is(in->source, sim_token_at(in->code, token), text);
}

static bool is_any(const search *in, int token, const char *const *texts)
{
    return sim_token_is_any(in->source, sim_token_at(in->code, token), texts);
}

static bool is_name(const search *in, int token)
{
    return sim_token_at(in->code, token)->kind == SIM_TOKEN_NAME;
}

static bool is_arrow(const search *in, int token)
{
    return is(in, token, "-") && is(in, token + 1, ">") && sim_tokens_are_adjacent(in->code, token);
}

static int behind(const search *in, int open)
{
    int match = sim_token_at(in->code, open)->match;
    return match > open ? match + 1 : open + 1;
}

static void offer(search *in, const candidate *one)
{
    in->found = *one;
    in->count++;
}

// --- accesses --------------------------------------------------------------------------------------------------------

static const char *const statement_words[] = {"else", "do", "return", "case", "goto", "throw", NULL};

// Whether the parenthesis that closes at `close` is that of a condition: a statement follows.
static bool closes_condition(const search *in, int close)
{
    static const char *const heads[] = {"if", "constexpr", "while", "for", "switch", NULL};
    int open = sim_token_at(in->code, close)->match;
    return open >= 0 && is_any(in, open - 1, heads);
}

// A star that is no product and no part of a type.
static bool is_dereference(const search *in, int star)
{
    const sim_token *before = sim_token_at(in->code, star - 1);
    if (!is(in, star, "*") || before->kind == SIM_TOKEN_NUMBER || is(in, star - 1, "]"))
        return false;
    if (before->kind == SIM_TOKEN_NAME)
        return is_any(in, star - 1, statement_words);
    return !is(in, star - 1, ")") || closes_condition(in, star - 1);
}

// The last name between two tokens: the pointer of (float4 *)a and of reinterpret_cast<float4 *>(a).
static void name_in(const search *in, int first, int last, candidate *one)
{
    one->name = one->named = first;
    if (is_name(in, last - 1) && (last - 1 == first || !is(in, last - 2, "+"))) {
        one->name = last - 1;
        one->named = last;
    } else if (is_name(in, first) && is(in, first + 1, "+")) { // *(a + i)
        one->named = first + 1;
    }
}

// The name, bracket or cast that an access begins with; returns what is behind it, `at` where it is none.
static int read_primary(const search *in, int at, candidate *one)
{
    static const char *const casts[] = {"reinterpret_cast", "static_cast", "const_cast", NULL};
    if (is_any(in, at, casts)) {
        int open = at + 1;
        while (open < in->last && !is(in, open, "("))
            open++;
        name_in(in, open + 1, behind(in, open) - 1, one);
        return behind(in, open);
    }
    if (is(in, at, "(")) {
        name_in(in, at + 1, behind(in, at) - 1, one);
        return behind(in, at);
    }
    if (!is_name(in, at) || is_any(in, at, statement_words))
        return at;
    one->name = at;
    while (is(in, at + 1, "::") && is_name(in, at + 2))
        at += 2;
    one->named = at + 1;
    return at + 1;
}

static bool is_member(const search *in, int at)
{
    return is(in, at - 1, ".") || is(in, at - 1, "::") || (at > 1 && is_arrow(in, at - 2));
}

static bool is_call(const search *in, int name)
{
    return is(in, name + 1, "(");
}

// [...], .member and ->member.
static int read_postfix(const search *in, int at, candidate *one)
{
    for (;;) {
        bool arrow = is_arrow(in, at);
        int member = at + (arrow ? 2 : 1);
        if (is(in, at, "[")) {
            one->through = true;
            one->indices++;
            at = behind(in, at);
        } else if ((arrow || is(in, at, ".")) && is_name(in, member) && !is_call(in, member)) {
            one->through |= arrow;
            one->indices += arrow;
            at = member + 1;
            if (one->indices == 0)
                one->named = at;
        } else {
            return at;
        }
    }
}

// The operator that stores, behind an access: =, += and its kin, ++ and --.
static void read_store(const search *in, candidate *one)
{
    static const char *const signs[] = {"+", "-", "*", "/", "%", "&", "|", "^", NULL};
    int at = one->last, width = 0;
    bool twice = sim_tokens_are_adjacent(in->code, at);
    bool shifts = (is(in, at, "<") && is(in, at + 1, "<")) || (is(in, at, ">") && is(in, at + 1, ">"));
    if (is(in, at, "=") && !(twice && is(in, at + 1, "=")))
        width = 1;
    else if (twice && ((is(in, at, "+") && is(in, at + 1, "+")) || (is(in, at, "-") && is(in, at + 1, "-"))))
        width = 2;
    else if (twice && is_any(in, at, signs) && is(in, at + 1, "="))
        width = 2;
    else if (shifts && is(in, at + 2, "="))
        width = 3;
    one->how = width == 0 ? NO_STORE : width == 1 ? PLAIN_STORE : COMPOUND_STORE;
    one->operator_first = at;
    one->operator_last = at + width;
    int before = one->first - 2;
    bool counted = (is(in, before, "+") && is(in, before + 1, "+")) || (is(in, before, "-") && is(in, before + 1, "-"));
    if (counted && sim_tokens_are_adjacent(in->code, before)) {
        one->how = COMPOUND_STORE;
        one->operator_first = before;
        one->operator_last = one->first;
    }
}

// name[...][...].member, name->member, *name: the access that begins at a token.
static bool read_access(const search *in, int at, candidate *one)
{
    *one = (candidate){.first = at};
    if (is_dereference(in, at)) {
        one->through = true;
        while (is(in, at, "*"))
            at++;
    } else if (is_member(in, at) || (is(in, at, "(") && is_name(in, at - 1) && !is_any(in, at - 1, statement_words))) {
        return false;
    }
    int next = read_primary(in, at, one);
    if (next == at || (is_name(in, at) && is(in, next, "(")))
        return false;
    one->last = read_postfix(in, next, one);
    if (is(in, at, "(") && !one->through && one->last == next)
        return false; // brackets around an expression
    read_store(in, one);
    return true;
}

static bool fits(const candidate *one, bool write, bool read)
{
    return (write && one->how != NO_STORE) || (read && one->how != PLAIN_STORE);
}

// Whether the compiler's column points at the access itself, and not into one of its indices.
static bool is_at_column(const search *in, const candidate *one)
{
    for (int at = one->first; at < one->last; at++) {
        bool bracket = is(in, at, "[") || is(in, at, "(");
        if (at == in->column || (bracket && sim_token_at(in->code, at)->match == in->column))
            return true;
        at = bracket ? behind(in, at) - 1 : at;
    }
    return in->column >= one->operator_first && in->column < one->operator_last;
}

static bool is_named(const search *in, const candidate *one, const char *name)
{
    return name[0] && one->named - one->name == 1 && is(in, one->name, name);
}

typedef enum which { AT_COLUMN, NAMED, THROUGH } which;

static void find_accesses(search *in, bool write, bool read, which wanted, const char *name)
{
    candidate one;
    in->count = 0;
    for (int at = in->first; at < in->last; at++) {
        if (!read_access(in, at, &one) || !fits(&one, write, read))
            continue;
        bool meant = wanted == AT_COLUMN ? is_at_column(in, &one)
                     : wanted == NAMED   ? is_named(in, &one, name)
                                         : one.through;
        bool again = in->count > 0 && one.named > one.name && one.name == in->found.name; // inside a cast
        if (meant && !again)
            offer(in, &one);
        if (is_dereference(in, at)) {
            while (is(in, at + 1, "*"))
                at++;
            at += is_name(in, at + 1); // the pointer itself
        }
    }
}

// The end of the initialiser or right side that begins at a token.
static int expression_end(const search *in, int at)
{
    static const char *const ends[] = {";", ",", ")", "}", NULL};
    while (at < in->last && !is_any(in, at, ends))
        at = is(in, at, "(") || is(in, at, "[") || is(in, at, "{") ? behind(in, at) : at + 1;
    return at < in->last ? at : in->last;
}

// Where the column is not that of the access itself, it says which part of the line has it.
static void narrow_to_column(search *in)
{
    int at = in->column;
    if (at < 0)
        return;
    if (is_name(in, at) && is(in, at + 1, "("))
        at++;
    if (is(in, at, "(")) {
        in->first = at + 1;
        in->last = behind(in, at) - 1;
    } else if (is(in, at, "=") || (is_name(in, at) && is(in, at + 1, "="))) {
        in->first = at + 1;
        in->last = expression_end(in, at + 1);
    }
}

// The name that a column points at where nothing else is known: of a function, of a macro.
static void offer_callee(search *in)
{
    int name = in->column - is(in, in->column, "(");
    if (is_name(in, name) && is(in, name + 1, "("))
        offer(in, &(candidate){.first = name, .last = name + 1});
}

static void find_by_name(search *in, bool write, bool read, const char *name)
{
    find_accesses(in, write, read, NAMED, name);
    if (in->count == 0)
        find_accesses(in, write, read, THROUGH, name);
}

static void find_access(search *in, bool write, bool read, const char *name)
{
    search whole = *in;
    find_accesses(in, write, read, AT_COLUMN, name);
    if (in->count == 1)
        return;
    narrow_to_column(in);
    find_by_name(in, write, read, name);
    if (in->count > 0 || in->column < 0)
        return;
    if (write) { // a function that returns a structure stores it itself
        find_by_name(&whole, write, read, name);
        *in = whole;
    }
    if (in->count == 0)
        offer_callee(in);
}

// --- calls, launches, loops -----------------------------------------------------------------------------------------

static bool mentions(const char *message, const sim_source *source, const sim_token *token)
{
    size_t length = token->end - token->start;
    const char *at = message;
    while ((at = memmem(at, strlen(at), source->text + token->start, length)) != NULL) {
        if ((at == message || !sim_is_name(at[-1])) && !sim_is_name(at[length]))
            return true;
        at++;
    }
    return false;
}

// The call at the column; without one, the only call. With a message, only those that it names: a macro at the column
// may have one of them.
static void find_calls(search *in, const char *message)
{
    static const char *const others[] = {"if", "for", "while", "switch", "return", "sizeof", "volatile", NULL};
    in->count = 0;
    for (int at = in->first; at < in->last; at++) {
        int open = is(in, at + 1, "<") ? sim_behind_angles(in->source, in->code, at + 1) : at + 1;
        if (!is_name(in, at) || !is(in, open, "(") || is_any(in, at, others) ||
            (message && !mentions(message, in->source, &in->code->at[at])))
            continue;
        bool here = in->column == at || in->column == open;
        in->count = here ? 0 : in->count;
        offer(in, &(candidate){.first = at, .last = at + 1});
        if (here)
            return;
    }
}

static void name_argument(search *in)
{
    candidate argument;
    int at = in->found.first + 2;
    if (in->count != 1)
        return;
    if (is(in, at, "&") && read_access(in, at + 1, &argument)) {
        in->found.name = argument.name;
        in->found.named = argument.named;
        in->found.indices = argument.indices;
    } else if (is_name(in, at) && (is(in, at + 1, ",") || is(in, at + 1, "+"))) { // a pointer, or one with an offset
        in->found.name = at;
        in->found.named = at + 1;
    }
}

static void find_launches(search *in)
{
    sim_launch launch;
    in->count = 0;
    for (int at = in->first; at < in->last; at++)
        if (sim_launch_at(in->source, in->code, at, &launch))
            offer(in, &(candidate){.first = launch.callee, .last = launch.close + SIM_LAUNCH_ARROWS});
}

static void find_words(search *in, const char *const *words)
{
    in->count = 0;
    for (int at = in->first; at < in->last; at++)
        if (is_any(in, at, words))
            offer(in, &(candidate){.first = at, .last = at + 1});
}

static void find_call(search *in, const heddle_check_finding *finding, const char *name)
{
    if (name[0])
        find_words(in, (const char *const[]){name, NULL});
    if (in->count != 1)
        find_calls(in, finding->message);
    if (in->count == 0 && in->column >= 0)
        find_calls(in, NULL);
}

// --- what a place is -------------------------------------------------------------------------------------------------

static bool is_role(const heddle_check_place *place, const char *role)
{
    return strcmp(place->role, role) == 0;
}

// An allocation's name is the one that the host gave it: a kernel may have an array of its own by that name.
static const char *name_at(const heddle_check_finding *finding, const heddle_check_place *place)
{
    const heddle_check_memory *memory = finding->memory;
    bool of_host =
        memory && place->has_thread && !strstr(memory->space, "shared") && !strstr(memory->space, "variable");
    return memory && !of_host ? memory->name : "";
}

static void find(search *in, const heddle_check_finding *finding, const heddle_check_place *place)
{
    static const char *const loops[] = {"for", "while", "do", NULL};
    const char *name = name_at(finding, place);
    bool writes = is_role(place, "write") || is_role(place, "volatile write");
    if (writes || is_role(place, "read") || is_role(place, "volatile read"))
        find_access(in, writes, !writes, name);
    else if (is_role(place, "kernel's access") || is_role(place, "index"))
        find_access(in, true, true, name);
    else if (is_role(place, "source") && in->column >= 0)
        offer(in, &(candidate){.first = in->column, .last = in->column + 1});
    else if (is_role(place, "barrier"))
        find_calls(in, NULL);
    else if (is_role(place, "launch"))
        find_launches(in);
    else if (is_role(place, "loop"))
        find_words(in, loops);
    else if (is_role(place, "atomic")) {
        find_calls(in, NULL);
        name_argument(in);
    } else
        find_call(in, finding, name);
}

static void describe(const search *in, heddle_check_access *access)
{
    const sim_source *source = in->source;
    const candidate *found = &in->found;
    uint32_t line = sim_line_start(source, &in->code->at[in->line]);
    uint32_t start = in->code->at[found->first].start, end = in->code->at[found->last - 1].end;
    start = start > line ? start : line; // what lies on other lines is left out
    const char *newline = memchr(source->text + start, '\n', end - start);
    access->column = (int)(start - line) + 1;
    access->width = (int)((newline ? (uint32_t)(newline - source->text) : end) - start);
    access->indices = found->indices;
    access->name[0] = '\0';
    if (found->named == found->name)
        return;
    start = in->code->at[found->name].start;
    end = in->code->at[found->named - 1].end;
    if (end - start < sizeof access->name)
        snprintf(access->name, sizeof access->name, "%.*s", (int)(end - start), source->text + start);
}

bool heddle_check_access_find(const sim_source *source, const heddle_check_finding *finding,
                              const heddle_check_place *place, heddle_check_access *access)
{
    const heddle_check_frame *frame = &place->frame[0];
    search in = {.source = source, .code = &source->code};
    sim_tokens_on_line(in.code, frame->line, &in.first, &in.last);
    in.line = in.first;
    if (in.first == in.last)
        return false;
    in.column = sim_token_at_column(source, frame->line, frame->column);
    find(&in, finding, place);
    if (in.count != 1 || (is_role(place, "index") && in.found.indices == 0))
        return false;
    describe(&in, access);
    return true;
}
