// The branches and loops of device code, told to the runtime (sim/branches.h) in a program that counts divergent
// branches. A condition is handed on with the number of its place; break, return and the ends of functions are told
// too, so that the runtime always knows in which iterations of which loops a thread is. Branches inside macros stay
// as they are, and so do conditions that declare a variable.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"
#include "source/statement.h"

// What is edited: the statements of one function. Opening texts are inserted before all other edits are made and
// closing texts after them, so that what another edit inserts at the same place stays inside.
typedef struct branch_editor {
    sim_file *file;
    const sim_source *source;
    const sim_tokens *code;
    uint64_t places; // the number of a place is this plus its token
    bool closing;
    sim_statements statements;
} branch_editor;

static bool is(const branch_editor *editor, int token, const char *text)
{
    return sim_token_is(editor->source, sim_token_at(editor->code, token), text);
}

static void insert(const branch_editor *editor, bool closing, uint32_t at, const char *before, int place,
                   const char *after)
{
    sim_text text = {0};
    if (closing != editor->closing)
        return;
    sim_text_add(&text, before);
    if (place >= 0)
        sim_text_print(&text, "0x%" PRIx64 "u", editor->places + (uint64_t)place);
    sim_text_add(&text, after);
    if (!text.failed && text.at)
        sim_edit_insert(editor->file, at, text.at);
    else
        editor->file->failed = true;
    sim_text_free(&text);
}

// --- conditions ------------------------------------------------------------------------------------------------------

// The semicolons between two brackets that are in no brackets themselves; returns how many there are.
static int semicolons(const branch_editor *editor, int open, int close, int at[2])
{
    int count = 0;
    for (int i = open + 1; i < close; i++) {
        if (is(editor, i, ";") && count++ < 2)
            at[count - 1] = i;
        i = editor->code->at[i].match > i ? editor->code->at[i].match : i;
    }
    return count;
}

// float *x = find(): a type and a name before the sign, and nothing else that an expression could have there.
static bool declares(const branch_editor *editor, int first, int end)
{
    static const char *const parts[] = {"::", "<", ">", "*", "&", ",", NULL};
    int sign = first;
    while (sign < end && (editor->code->at[sign].kind == SIM_TOKEN_NAME ||
                          sim_token_is_any(editor->source, &editor->code->at[sign], parts)))
        sign++;
    return sign - first >= 2 && sign < end && editor->code->at[first].kind == SIM_TOKEN_NAME &&
           editor->code->at[sign - 1].kind == SIM_TOKEN_NAME && (is(editor, sign, "=") || is(editor, sign, "{")) &&
           !is(editor, sign + 1, "=");
}

// The tokens [first, end) of a statement's condition. False: there is none that could be handed on.
static bool condition_of(const branch_editor *editor, const sim_statement *statement, int *first, int *end)
{
    int open = statement->first + 1, at[2];
    if (statement->kind == SIM_STATEMENT_DO)
        open = is(editor, statement->last, ";") ? sim_token_at(editor->code, statement->last - 1)->match : -1;
    int close = open > 0 && is(editor, open, "(") ? editor->code->at[open].match : -1;
    if (close < open || statement->is_constant ||
        (statement->kind == SIM_STATEMENT_DO && !is(editor, open - 1, "while")))
        return false;
    int count = semicolons(editor, open, close, at);
    bool is_for = statement->kind == SIM_STATEMENT_FOR;
    if (count != 2 && (is_for || count > 1))
        return false; // a loop over a range
    *first = count > 0 ? at[0] + 1 : open + 1;
    *end = is_for ? at[1] : close;
    return !declares(editor, *first, *end);
}

// Wraps the condition: `before` place `, static_cast<bool>(` condition `))`.
static void edit_condition(const branch_editor *editor, const sim_statement *statement)
{
    int first, end;
    bool loops = sim_statement_is_loop(statement);
    if (!condition_of(editor, statement, &first, &end))
        return;
    uint32_t from = editor->code->at[first - 1].end, to = editor->code->at[end].start;
    if (first == end) { // for (;;)
        insert(editor, false, from, "sim::turns(", statement->first, ")");
        return;
    }
    insert(editor, false, from, loops ? "sim::loops(" : "sim::branches(", statement->first, ", static_cast<bool>(");
    insert(editor, true, to, "))", -1, "");
}

// --- switch ----------------------------------------------------------------------------------------------------------

static int breakable_around(const branch_editor *editor, int index)
{
    const sim_statement *all = editor->statements.at;
    int around = all[index].parent;
    while (around >= 0 && all[around].kind != SIM_STATEMENT_SWITCH && !sim_statement_is_loop(&all[around]))
        around = all[around].parent;
    return around;
}

// The statement around a label that it belongs to, loops aside.
static int switch_around(const branch_editor *editor, int index)
{
    const sim_statement *all = editor->statements.at;
    int around = all[index].parent;
    while (around >= 0 && all[around].kind != SIM_STATEMENT_SWITCH)
        around = all[around].parent;
    return around;
}

// A label that can be written a second time, in the head of the switch.
static bool can_repeat(const branch_editor *editor, const sim_statement *label)
{
    const sim_token *first = &editor->code->at[label->first], *last = &editor->code->at[label->last];
    for (int i = label->first; i < label->last; i++)
        if (is(editor, i, ".") && is(editor, i + 1, ".")) // a range of values
            return false;
    return is(editor, label->last, ":") && first->line == last->line;
}

// The labels of a switch, as what is inserted at both ends of its expression. Labels with no statement between them
// lead the same way: each gets the number of its way. False: one of them cannot be told.
static bool read_labels(const branch_editor *editor, int index, sim_text *ways, sim_text *values)
{
    int way = 0, behind = -1, otherwise = 0;
    for (int i = index + 1; i < editor->statements.count; i++) {
        const sim_statement *label = &editor->statements.at[i];
        bool is_case = is(editor, label->first, "case"), is_default = is(editor, label->first, "default");
        if (label->kind != SIM_STATEMENT_SIMPLE || (!is_case && !is_default) || switch_around(editor, i) != index)
            continue;
        if (!can_repeat(editor, label))
            return false;
        way += label->first != behind;
        behind = label->last + 1;
        if (is_default) {
            otherwise = way;
            continue;
        }
        uint32_t from = editor->code->at[label->first].end, to = editor->code->at[label->last].start;
        sim_text_print(ways, ", %d", way);
        sim_text_print(values, ", (%.*s)", (int)(to - from), editor->source->text + from);
    }
    sim_text all = {0};
    sim_text_print(&all, "sim::chooses<%d%s>(", otherwise, ways->at ? ways->at : "");
    sim_text_free(ways);
    *ways = all;
    return !ways->failed && !values->failed;
}

static void edit_switch(const branch_editor *editor, int index)
{
    const sim_statement *statement = &editor->statements.at[index];
    sim_text ways = {0}, values = {0};
    int first, end;
    if (condition_of(editor, statement, &first, &end) && read_labels(editor, index, &ways, &values)) {
        sim_text_add(&values, ")");
        insert(editor, false, editor->code->at[first - 1].end, ways.at, statement->first, ", (");
        insert(editor, true, editor->code->at[end].start, ")", -1, values.at);
    }
    sim_text_free(&ways);
    sim_text_free(&values);
}

// --- ways out --------------------------------------------------------------------------------------------------------

// Braces inside a simple statement: a lambda, which returns from itself.
static bool is_in_lambda(const branch_editor *editor, int index)
{
    const sim_statement *all = editor->statements.at;
    for (int i = all[index].parent; i >= 0; i = all[i].parent)
        if (all[i].kind == SIM_STATEMENT_SIMPLE)
            return true;
    return false;
}

// `place` is the token of what is left.
static void edit_way_out(const branch_editor *editor, const sim_statement *statement, int place)
{
    if (!is(editor, statement->last, ";"))
        return;
    insert(editor, false, editor->code->at[statement->first].start, "{sim::leaves(", place, ");");
    insert(editor, true, editor->code->at[statement->last].end, "}", -1, "");
}

static void edit_simple(const branch_editor *editor, int index, bool is_kernel)
{
    const sim_statement *statement = &editor->statements.at[index];
    int around = is(editor, statement->first, "break") ? breakable_around(editor, index) : -1;
    if (around >= 0 && sim_statement_is_loop(&editor->statements.at[around]))
        edit_way_out(editor, statement, editor->statements.at[around].first);
    else if (is(editor, statement->first, "return") && !is_kernel && !is_in_lambda(editor, index))
        edit_way_out(editor, statement, editor->statements.at[0].first);
}

// --- functions -------------------------------------------------------------------------------------------------------

static bool has_branches(const sim_statements *statements)
{
    for (int i = 0; i < statements->count; i++)
        if (sim_statement_is_branch(&statements->at[i]) || sim_statement_is_loop(&statements->at[i]))
            return true;
    return false;
}

static void edit_function(const branch_editor *editor, bool is_kernel)
{
    const sim_statement *body = &editor->statements.at[0];
    if (!is_kernel)
        insert(editor, false, editor->code->at[body->first].end, "sim::enters(", body->first, ");");
    for (int i = 1; i < editor->statements.count; i++) {
        const sim_statement *statement = &editor->statements.at[i];
        if (statement->kind == SIM_STATEMENT_SIMPLE)
            edit_simple(editor, i, is_kernel);
        else if (statement->kind == SIM_STATEMENT_SWITCH)
            edit_switch(editor, i);
        else if (statement->kind != SIM_STATEMENT_BLOCK && statement->kind != SIM_STATEMENT_ELSE)
            edit_condition(editor, statement);
    }
    if (!is_kernel)
        insert(editor, true, editor->code->at[body->last].start, "sim::leaves(", body->first, ");");
}

void sim_edit_branches(const sim_unit *unit, int index, bool closing)
{
    enum { UNIT_SHIFT = 40, FILE_SHIFT = 24 }; // a file has fewer tokens than 2^24
    sim_file *file = unit->files[index];
    const sim_source *source = &file->source;
    branch_editor editor = {.file = file,
                            .source = source,
                            .code = &source->code,
                            .places = (uint64_t)(unit->number + 1) << UNIT_SHIFT | (uint64_t)index << FILE_SHIFT,
                            .closing = closing};
    for (int i = 1; unit->branches && i < source->scope_count; i++) {
        const sim_scope *scope = &source->scopes[i];
        if (!sim_scope_is_device(scope) || sim_scope_is_device(&source->scopes[scope->parent]))
            continue;
        if (!sim_statements_read(source, scope->open, &editor.statements))
            file->failed = true;
        else if (has_branches(&editor.statements) && editor.statements.at[0].kind == SIM_STATEMENT_BLOCK)
            edit_function(&editor, (scope->side & SIM_SIDE_GLOBAL) != 0);
    }
    sim_statements_free(&editor.statements);
}
