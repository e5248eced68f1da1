// Fragments of wmma that are declared without a value, in device code: `fragment<...> a, b[2];` is followed by
// `::sim::unfilled(a); ::sim::unfilled(b);`, by which mma.h knows them until they are filled. A fragment that is given
// a value, `= {}` too, is left alone.

#include <stdlib.h>

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

static void edit_fragment(sim_file *file, int index)
{
    const sim_source *source = &file->source;
    const sim_scope *scope = sim_scope_of(source, at(source, index));
    if (!sim_token_is(source, at(source, index + 1), "<") || scope->kind != SIM_SCOPE_FUNCTION ||
        !sim_scope_is_device(scope) || is_member(source, scope) || !begins_statement(source, index))
        return;
    const int variable = sim_behind_angles(source, &source->code, index + 1);
    sim_text calls = {0};
    const int end = variable > index ? add_calls(source, variable, &calls) : -1;
    char *text = sim_text_take(&calls);
    if (text && end >= 0)
        sim_edit_insert(file, at(source, end)->end, text);
    free(text);
}

void sim_edit_fragments(sim_file *file)
{
    for (int i = 0; i < file->source.code.count; i++)
        if (sim_token_is(&file->source, at(&file->source, i), "fragment"))
            edit_fragment(file, i);
}
