// Assignments of device code whose right side may be a call that returns a structure. gcc's hooks pass over the write
// of such a result, s[i] = f(i), unless f is inlined: sim::stored() makes the result a value first and its store a
// copy, which has a hook. An initialiser is left alone: it may be bound to a reference, and a local variable has no
// hooks.

#include "rewrite/unit.h"

static bool is(const sim_source *source, int index, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, index), text);
}

static bool touch(const sim_source *source, int index)
{
    return sim_token_at(&source->code, index)->end == sim_token_at(&source->code, index + 1)->start;
}

// Whether a statement may begin behind this token: what stands there is then no declaration's name.
static bool ends_statement(const sim_source *source, int index)
{
    static const char *const ends[] = {";", "{", "}", ")", ":", "else", "do", NULL};
    return sim_token_is_any(source, sim_token_at(&source->code, index), ends);
}

// Whether the token before `sign`, an equals sign, ends the left side of an assignment.
static bool assigns(const sim_source *source, int sign)
{
    static const char *const declares[] = {"auto", "__attribute__", "__align__", "alignas", "decltype", NULL};
    const sim_token *last = sim_token_at(&source->code, sign - 1);
    if (sim_token_is(source, last, "]") || sim_token_is(source, last, ")")) {
        const sim_token *before = sim_token_at(&source->code, last->match - 1);
        if (sim_token_is(source, last, ")"))
            return last->match >= 0 && !sim_token_is_any(source, before, declares);
        return last->match >= 0 && !sim_token_is_any(source, before, declares) && // auto [a, b] = ...
               (before->kind == SIM_TOKEN_NAME || sim_token_is(source, before, "]") ||
                sim_token_is(source, before, ")"));
    }
    for (const char *const *step = (const char *const[]){"+", "-", NULL}; *step; step++)
        if (is(source, sign - 1, *step) && is(source, sign - 2, *step)) // *p++ = ...
            return true;
    if (last->kind != SIM_TOKEN_NAME)
        return false;
    int before = sign - 2;
    while (is(source, before, "::") && sim_token_at(&source->code, before - 1)->kind == SIM_TOKEN_NAME)
        before -= 2;
    if (is(source, before, ".")) // not of {.x = 1, .y = 2}
        return !is(source, before - 1, "{") && !is(source, before - 1, ",");
    if (is(source, before, ">") && is(source, before - 1, "-"))
        return true;
    while (is(source, before, "*"))
        before--;
    return ends_statement(source, before);
}

// Whether token `index` begins the arguments of a call. CUDA's own functions, atomics and those whose names begin with
// two underscores, are always inlined.
static bool calls(const sim_unit *unit, const sim_source *source, int index)
{
    static const char *const others[] = {"sizeof", "alignof", "decltype", NULL};
    const sim_token *callee = sim_token_at(&source->code, index - 1);
    bool braces = is(source, index, "{");
    if ((!braces && !is(source, index, "(")) || sim_token_is_any(source, callee, others))
        return false;
    if (callee->kind != SIM_TOKEN_NAME)
        return sim_token_is(source, callee, ">") || (!braces && sim_token_is(source, callee, "]"));
    bool reserved = source->text[callee->start] == '_' && source->text[callee->start + 1] == '_';
    return (!reserved && !sim_is_plain_atomic(unit, source, callee)) ||
           sim_name_list_has(&unit->device_functions, source, callee);
}

// Whether the expression that begins at token `index` may have a structure as its result.
static bool may_return_structure(const sim_unit *unit, const sim_source *source, int index)
{
    static const char *const ends[] = {";", ",", ")", "}", "]", NULL};
    static const char *const operators[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<", "!", "~", NULL};
    bool has_operator = false;
    for (; index < source->code.count; index++) {
        const sim_token *token = &source->code.at[index];
        int behind = is(source, index, "<") ? sim_behind_angles(source, &source->code, index) : -1;
        if (calls(unit, source, index) || (behind > index && calls(unit, source, behind))) // f<float, 4>(i)
            return true;
        if (sim_token_is_any(source, token, ends))
            break;
        has_operator |= unit->has_operators && sim_token_is_any(source, token, operators);
        has_operator |= unit->has_subscripts && sim_token_is(source, token, "[") &&
                        sim_token_at(&source->code, index - 1)->kind == SIM_TOKEN_NAME;
        if (token->match > index)
            index = token->match;
    }
    return has_operator;
}

void sim_edit_stores(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    for (int i = 1; i + 1 < source->code.count; i++) {
        const sim_token *sign = &source->code.at[i];
        if (!sim_token_is(source, sign, "=") || !sim_scope_is_device(sim_scope_of(source, sign)))
            continue;
        if (is(source, i + 1, "{") || (is(source, i + 1, "=") && touch(source, i)) || !assigns(source, i))
            continue;
        if (may_return_structure(unit, source, i + 1))
            sim_edit_insert(file, sign->end, " ::sim::stored() =");
    }
}
