// vec_cast<A, B>::cast<4>(to), thing.get<2>(): where the type on the left depends on a template's parameters, C++ wants
// the word `template` before such a name. nvcc reads device code without it, and so do we.

#include "rewrite/unit.h"

static bool is_joined(const sim_source *source, const sim_tokens *code, int index)
{
    const sim_token *before = sim_token_at(code, index - 1);
    return sim_token_is(source, before, "::") || sim_token_is(source, before, ".") ||
           (sim_token_is(source, before, ">") && sim_token_is(source, sim_token_at(code, index - 2), "-"));
}

// <...>( that may be a template's arguments and a call: what stands between is not joined by && or ||.
static bool is_call(const sim_source *source, const sim_tokens *code, int open)
{
    int behind = sim_token_is(source, sim_token_at(code, open), "<") ? sim_behind_angles(source, code, open) : -1;
    for (int i = open; i < behind; i++) {
        const sim_token *token = &code->at[i];
        if ((sim_token_is(source, token, "&") || sim_token_is(source, token, "|")) &&
            sim_tokens_equal(source, token, source, &code->at[i + 1]))
            return false;
    }
    return behind > 0 && sim_token_is(source, sim_token_at(code, behind), "(");
}

void sim_edit_templates(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    for (int i = 2; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (token->kind == SIM_TOKEN_NAME && is_joined(source, code, i) && is_call(source, code, i + 1) &&
            sim_scope_is_device(sim_scope_of(source, token)) &&
            sim_name_list_has(&unit->member_templates, source, token))
            sim_edit_insert(file, token->start, "template ");
    }
}
