// Fragments of wmma that are declared without a value, in device code: `fragment<...> a, b[2];` is followed by
// `::sim::unfilled(a); ::sim::unfilled(b);`, by which mma.h knows them until they are filled. So is a name that this
// file gives to such a type. A fragment that is given a value, `= {}` too, is left alone.

#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"

static const sim_token *at(const sim_source *source, int index)
{
    return sim_token_at(&source->code, index);
}

// Whether the braces around the token are a class's.
static bool is_member(const sim_source *source, const sim_scope *scope)
{
    static const char *const classes[] = {"struct", "class", "union", NULL};
    for (int i = sim_statement_start(source, &source->code, scope->open); i < scope->open; i++)
        if (sim_token_is_any(source, at(source, i), classes))
            return true;
    return false;
}

// Whether the type whose name is token `index` begins a statement, but for what it is qualified by.
static bool begins_statement(const sim_source *source, int index)
{
    static const char *const qualifiers[] = {"nvcuda", "wmma", "::", NULL};
    static const char *const before[] = {";", "{", "}", NULL};
    const int start = sim_statement_start(source, &source->code, index);
    for (int i = start; i < index; i++)
        if (!sim_token_is_any(source, at(source, i), qualifiers))
            return false;
    return sim_token_is_any(source, at(source, start - 1), before);
}

// Behind the name at `index` and its sizes.
static int behind_declarator(const sim_source *source, int index)
{
    int next = index + 1;
    while (sim_token_is(source, at(source, next), "[") && at(source, next)->match > next)
        next = at(source, next)->match + 1;
    return next;
}

// Adds a call for each variable from token `first` to the semicolon. The semicolon; -1: not a list of plain variables.
static int add_calls(const sim_source *source, int first, sim_text *calls)
{
    for (int i = first; at(source, i)->kind == SIM_TOKEN_NAME; i++) {
        const sim_token *name = at(source, i);
        sim_text_print(calls, " ::sim::unfilled(%.*s);", (int)(name->end - name->start), source->text + name->start);
        i = behind_declarator(source, i);
        if (sim_token_is(source, at(source, i), ";"))
            return i;
        if (!sim_token_is(source, at(source, i), ","))
            break;
    }
    return -1;
}

// `variable`: the token behind the type.
static void edit_declaration(sim_file *file, int index, int variable)
{
    const sim_source *source = &file->source;
    const sim_scope *scope = sim_scope_of(source, at(source, index));
    if (variable <= index || scope->kind != SIM_SCOPE_FUNCTION || !sim_scope_is_device(scope) ||
        is_member(source, scope) || !begins_statement(source, index))
        return;
    sim_text calls = {0};
    const int end = add_calls(source, variable, &calls);
    char *text = sim_text_take(&calls);
    if (text && end >= 0)
        sim_edit_insert(file, at(source, end)->end, text);
    free(text);
}

// The name that a fragment's type gets, which ends before token `behind`: `using name = wmma::fragment<...>;`, or
// `typedef wmma::fragment<...> name;`. NULL: none.
static const sim_token *name_given(const sim_source *source, int index, int behind)
{
    const int start = sim_statement_start(source, &source->code, index);
    const bool ends = sim_token_is(source, at(source, behind), ";");
    if (sim_token_is(source, at(source, start), "using") && sim_token_is(source, at(source, start + 2), "=") && ends)
        return at(source, start + 1);
    if (sim_token_is(source, at(source, start), "typedef") && at(source, behind)->kind == SIM_TOKEN_NAME &&
        sim_token_is(source, at(source, behind + 1), ";"))
        return at(source, behind);
    return NULL;
}

enum { MOST_NAMES = 32 };
typedef struct given_names {
    const sim_token *at[MOST_NAMES];
    int count;
} given_names;

static bool is_given(const sim_source *source, const given_names *names, const sim_token *token)
{
    const size_t length = token->end - token->start;
    for (int i = 0; i < names->count; i++)
        if (names->at[i]->end - names->at[i]->start == length &&
            memcmp(source->text + names->at[i]->start, source->text + token->start, length) == 0)
            return true;
    return false;
}

void sim_edit_fragments(sim_file *file)
{
    const sim_source *source = &file->source;
    given_names names = {.count = 0};
    for (int i = 0; i < source->code.count; i++) {
        if (at(source, i)->kind == SIM_TOKEN_NAME && names.count > 0 && is_given(source, &names, at(source, i)))
            edit_declaration(file, i, i + 1);
        if (!sim_token_is(source, at(source, i), "fragment") || !sim_token_is(source, at(source, i + 1), "<"))
            continue;
        const int behind = sim_behind_angles(source, &source->code, i + 1);
        const sim_token *name = behind > i ? name_given(source, i, behind) : NULL;
        if (name && names.count < MOST_NAMES)
            names.at[names.count++] = name;
        edit_declaration(file, i, behind);
    }
}
