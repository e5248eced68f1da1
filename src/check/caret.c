// Looking for the access, barrier, launch or call in one line of source. Comments and literals are blanked first, so
// that what they say is not taken for code.

#include "check/caret.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "check/code.h"
#include "check/parameter.h"

enum { MOST_COLUMNS = 400 }; // what lies beyond is not shown either

typedef struct span {
    size_t start, end;
} span;

// The one that is left, or whether there were several.
typedef struct choice {
    span at;
    int count;
} choice;

static void offer(choice *chosen, size_t start, size_t end)
{
    if (chosen->count > 0 && chosen->at.start == start && chosen->at.end == end)
        return;
    chosen->at = (span){start, end};
    chosen->count++;
}

// --- reading a line --------------------------------------------------------------------------------------------------

static size_t word_end(const char *code, size_t at)
{
    return at + heddle_check_word_length(code + at);
}

static size_t skip_blanks(const char *code, size_t at)
{
    return at + strspn(code + at, " ");
}

// Behind the bracket that closes the one at `at`; where it is not closed on this line, behind all of it.
static size_t behind_bracket(const char *code, size_t at)
{
    int depth = 0;
    for (; code[at]; at++) {
        depth += code[at] == '(' || code[at] == '[';
        depth -= code[at] == ')' || code[at] == ']';
        if (depth == 0)
            return at + 1;
    }
    return at;
}

static bool is_at(const char *code, size_t at, size_t length, const char *word)
{
    return heddle_check_word_is(code + at, length, word);
}

// --- accesses --------------------------------------------------------------------------------------------------------

// The end of what stands before `at`, blanks left out.
static size_t blanks_before(const char *code, size_t at)
{
    while (at > 0 && code[at - 1] == ' ')
        at--;
    return at;
}

static bool ends_in(const char *code, size_t end, const char *const *words)
{
    size_t begin = end;
    while (begin > 0 && heddle_check_is_word(code[begin - 1]))
        begin--;
    for (; *words; words++)
        if (is_at(code, begin, end - begin, *words))
            return true;
    return false;
}

// Whether the bracket that closes before `end` is that of a condition: a statement follows.
static bool closes_condition(const char *code, size_t end)
{
    static const char *const heads[] = {"if", "constexpr", "while", "for", NULL};
    int depth = 0;
    for (size_t at = end; at-- > 0;) {
        depth += code[at] == ')';
        depth -= code[at] == '(';
        if (depth == 0)
            return ends_in(code, blanks_before(code, at), heads);
    }
    return false;
}

// A star that is no product and no part of a type.
static bool is_dereference(const char *code, size_t at)
{
    static const char *const statements[] = {"else", "do", "return", NULL};
    if (code[at] != '*')
        return false;
    size_t before = blanks_before(code, at);
    return before == 0 || strchr("=(,+-/;{}&|<>!?:[*", code[before - 1]) != NULL || ends_in(code, before, statements) ||
           (code[before - 1] == ')' && closes_condition(code, before));
}

// name[...][...].member, name->member, *name: the end of the access that begins at `at`; `at` where none does.
static size_t access_end(const char *code, size_t at)
{
    size_t begin = at;
    bool accesses = false;
    if (is_dereference(code, at)) {
        at = skip_blanks(code, at + 1);
        accesses = true;
    }
    bool member = at > 0 && (code[at - 1] == '.' || (code[at - 1] == '>' && at > 1 && code[at - 2] == '-'));
    if (!heddle_check_is_word(code[at]) || isdigit((unsigned char)code[at]) || member ||
        (at > 0 && heddle_check_is_word(code[at - 1])))
        return begin;
    at = word_end(code, at);
    for (;;) {
        size_t next = skip_blanks(code, at);
        if (code[next] == '[') {
            at = behind_bracket(code, next);
            accesses = true;
        } else if (code[next] == '-' && code[next + 1] == '>' && heddle_check_is_word(code[next + 2])) {
            at = word_end(code, next + 2);
            accesses = true;
        } else if (code[next] == '.' && heddle_check_is_word(code[next + 1])) {
            at = word_end(code, next + 1);
        } else {
            break;
        }
    }
    return accesses ? at : begin;
}

// The sign that stores, behind an access: =, += and its kin, ++ and --.
typedef enum store { NO_STORE, PLAIN_STORE, COMPOUND_STORE } store;

static store store_behind(const char *code, size_t at)
{
    at = skip_blanks(code, at);
    if (code[at] == '=')
        return code[at + 1] == '=' ? NO_STORE : PLAIN_STORE;
    if ((code[at] == '+' || code[at] == '-') && code[at + 1] == code[at])
        return COMPOUND_STORE;
    if (strchr("+-*/%&|^", code[at]) && code[at] && code[at + 1] == '=')
        return COMPOUND_STORE;
    bool shift = (code[at] == '<' || code[at] == '>') && code[at + 1] == code[at] && code[at + 2] == '=';
    return shift ? COMPOUND_STORE : NO_STORE;
}

static bool counted_before(const char *code, size_t at)
{
    while (at > 0 && code[at - 1] == ' ')
        at--;
    return at > 1 && (code[at - 1] == '+' || code[at - 1] == '-') && code[at - 2] == code[at - 1];
}

// Indices of the access from `at` to `end`: 2 of "tile[i][j]".
static int dimensions(const char *code, size_t at, size_t end)
{
    int count = 0;
    for (at += strcspn(code + at, "["); at < end; at = skip_blanks(code, behind_bracket(code, at)))
        count += code[at] == '[';
    return count;
}

// Of all accesses that the line makes, those that write or read; with a name, only those of this variable, and only
// with as many indices at most.
static void find_accesses(const char *code, bool write, const char *name, int most_dimensions, choice *chosen)
{
    for (size_t at = 0; code[at]; at++) {
        size_t end = access_end(code, at);
        if (end == at)
            continue;
        size_t word = skip_blanks(code, at + (code[at] == '*'));
        store how = counted_before(code, at) ? COMPOUND_STORE : store_behind(code, end);
        bool fits = write ? how != NO_STORE : how != PLAIN_STORE;
        bool named =
            is_at(code, word, word_end(code, word) - word, name) && dimensions(code, at, end) <= most_dimensions;
        if (fits && (name[0] == '\0' || named))
            offer(chosen, at, end);
        at = word_end(code, word) - 1; // an index may hold accesses too
    }
}

// The variable by its name alone, where it is not used as an array: `count = 1`.
static void find_words(const char *code, const char *name, choice *chosen)
{
    for (size_t at = 0; name[0] && code[at]; at++) {
        if (!heddle_check_is_word(code[at]) || (at > 0 && heddle_check_is_word(code[at - 1])))
            continue;
        size_t end = word_end(code, at);
        if (is_at(code, at, end - at, name))
            offer(chosen, at, end);
        at = end - 1;
    }
}

// --- calls -----------------------------------------------------------------------------------------------------------

static bool has_part(const char *word, size_t length, const char *const *parts)
{
    for (; *parts; parts++)
        for (size_t at = 0; at + strlen(*parts) <= length; at++)
            if (strncmp(word + at, *parts, strlen(*parts)) == 0)
                return true;
    return false;
}

// The calls whose name has one of these parts (NULL: any), or that the message names.
static void find_calls(const char *code, const char *const *parts, const char *message, choice *chosen)
{
    char word[128];
    for (size_t at = 0; code[at]; at++) {
        if (!heddle_check_is_word(code[at]))
            continue;
        size_t end = word_end(code, at), length = end - at;
        snprintf(word, sizeof word, "%.*s", (int)length, code + at);
        bool called = code[skip_blanks(code, end)] == '(' || code[skip_blanks(code, end)] == '<';
        bool fits = parts ? has_part(code + at, length, parts)
                          : length < sizeof word && heddle_check_find_word(message, message, word) != NULL;
        if (called && fits)
            offer(chosen, at, end);
        at = end - 1;
    }
}

// kernel<<<...>>>
static void find_launches(const char *code, choice *chosen)
{
    for (const char *at = code; (at = strstr(at, "<<<")) != NULL; at += 3) {
        size_t start = (size_t)(at - code);
        const char *close = strstr(at, ">>>");
        while (start > 0 && (heddle_check_is_word(code[start - 1]) || strchr(":<>,", code[start - 1])))
            start--;
        offer(chosen, start, close ? (size_t)(close - code) + 3 : (size_t)(at - code) + 3);
    }
}

static void find_loops(const char *code, choice *chosen)
{
    static const char *const words[] = {"for", "while", "do"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        find_words(code, words[i], chosen);
}

// The array whose index is wrong. Where the column is not known, the only access of the line with an index is meant.
static void find_indexed(const char *code, int column, choice *chosen)
{
    for (size_t at = 0; code[at]; at++) {
        size_t end = access_end(code, at);
        if (end == at)
            continue;
        bool indexed = memchr(code + at, '[', end - at) != NULL;
        if (indexed && (column == 0 || at == (size_t)column - 1))
            offer(chosen, at, end);
        at = word_end(code, skip_blanks(code, at + (code[at] == '*'))) - 1;
    }
}

// --- what a place is -------------------------------------------------------------------------------------------------

static bool is_role(const heddle_check_place *place, const char *role)
{
    return strcmp(place->role, role) == 0;
}

// An allocation's name is the one that the host gave it. A kernel mostly knows the memory by another, and may have an
// array of its own by that name.
static bool is_named_by_host(const heddle_check_finding *finding, const heddle_check_place *place)
{
    const char *space = place->has_thread && finding->memory ? finding->memory->space : NULL;
    return space && !strstr(space, "shared") && !strstr(space, "variable");
}

static void find_access(const char *code, bool write, const char *name, bool of_host, choice *chosen)
{
    enum { OF_A_POINTER = 1, ANY = 99 };
    find_accesses(code, write, name, of_host ? OF_A_POINTER : ANY, chosen);
    if (chosen->count == 0 && !of_host)
        find_words(code, name, chosen);
    if (chosen->count == 0)
        find_accesses(code, write, "", ANY, chosen);
}

// An access of which it is not known whether it reads or writes.
static void find_any_access(const char *code, choice *chosen)
{
    for (size_t at = 0; code[at]; at++) {
        size_t end = access_end(code, at);
        if (end == at)
            continue;
        offer(chosen, at, end);
        at = word_end(code, skip_blanks(code, at + (code[at] == '*'))) - 1;
    }
}

static void find_call(const char *code, const heddle_check_finding *finding, const char *name, choice *chosen)
{
    static const char *const of_the_runtime[] = {"cuda", "cublas", "cufft", "curand", "cuMem", NULL};
    static const char *const of_a_warp[] = {"syncwarp", "shfl",     "ballot",   "any_sync", "all_sync",
                                            "add_sync", "min_sync", "max_sync", "and_sync", "or_sync",
                                            "assert",   "trap",     NULL};
    if (finding->kernel && strstr(finding->message, "a launch inside a kernel"))
        find_launches(code, chosen);
    if (chosen->count == 0)
        find_words(code, name, chosen);
    if (chosen->count == 0)
        find_calls(code, NULL, finding->message, chosen);
    if (chosen->count == 0)
        find_calls(code, finding->kernel ? of_a_warp : of_the_runtime, NULL, chosen);
}

// What the code at the place calls the memory; "": that is not known.
static const char *name_at(const heddle_check_finding *finding, const heddle_check_place *place)
{
    if (!finding->memory)
        return "";
    if (!finding->parameter || !place->has_thread)
        return finding->memory->name;
    return heddle_check_is_in_kernel(finding, place) ? finding->parameter : "";
}

bool heddle_check_caret(const heddle_check_finding *finding, const heddle_check_place *place, const char *line,
                        size_t *start, size_t *end)
{
    static const char *const barriers[] = {"sync", "barrier", "wait", NULL};
    static const char *const atomics[] = {"atomic", "fetch_", "exchange", "load", "store", "test_and_set", NULL};
    const char *name = name_at(finding, place);
    char code[MOST_COLUMNS + 1] = "";
    choice chosen = {.count = 0};
    bool comment = false;
    heddle_check_code_of(line, &comment, code, sizeof code);
    bool writes = is_role(place, "write") || is_role(place, "volatile write");
    if (writes || is_role(place, "read") || is_role(place, "volatile read"))
        find_access(code, writes, name, is_named_by_host(finding, place), &chosen);
    else if (is_role(place, "kernel's access"))
        find_any_access(code, &chosen);
    else if (is_role(place, "barrier"))
        find_calls(code, barriers, NULL, &chosen);
    else if (is_role(place, "atomic"))
        find_calls(code, atomics, NULL, &chosen);
    else if (is_role(place, "index"))
        find_indexed(code, place->column, &chosen);
    else if (is_role(place, "launch"))
        find_launches(code, &chosen);
    else if (is_role(place, "loop"))
        find_loops(code, &chosen);
    else
        find_call(code, finding, name, &chosen);
    *start = chosen.at.start;
    *end = chosen.at.end;
    return chosen.count == 1;
}
