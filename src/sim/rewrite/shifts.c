// Shifts whose count is not a constant say so to sim/shift.h: a count as large as the number of bits, or larger, gives
// on a GPU what it does not on a host.

#include "rewrite/unit.h"

static bool is_sign(const sim_source *source, const sim_tokens *tokens, int index, char sign)
{
    const char text[] = {sign, '\0'};
    return sim_token_is(source, sim_token_at(tokens, index), text);
}

// Exactly two of the sign, with nothing between, and no assignment.
static bool is_shift(const sim_source *source, const sim_tokens *tokens, int index, char sign)
{
    return is_sign(source, tokens, index, sign) && is_sign(source, tokens, index + 1, sign) &&
           tokens->at[index].end == tokens->at[index + 1].start && !is_sign(source, tokens, index - 1, sign) &&
           !is_sign(source, tokens, index + 2, sign) && !is_sign(source, tokens, index + 2, '=') &&
           !sim_token_is(source, sim_token_at(tokens, index - 1), "operator");
}

static bool is_constant(const sim_source *source, const sim_tokens *tokens, int index)
{
    static const char *const goes_on[] = {"*", "/", "%", "+", "-", NULL};
    return tokens->at[index].kind == SIM_TOKEN_NUMBER &&
           !sim_token_is_any(source, sim_token_at(tokens, index + 1), goes_on);
}

static bool is_operand(const sim_source *source, const sim_token *token)
{
    return token->kind == SIM_TOKEN_NAME || token->kind == SIM_TOKEN_NUMBER || sim_token_is(source, token, "(");
}

// The two may close lists of template arguments: not if none was opened in the statement.
static bool closes_templates(const sim_source *source, const sim_tokens *tokens, int index)
{
    for (int i = sim_statement_start(source, tokens, index); i < index; i++)
        if (is_sign(source, tokens, i, '<'))
            return true;
    return false;
}

void sim_edit_shifts(sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    for (int i = 1; i + 2 < code->count; i++) {
        const bool left = is_shift(source, code, i, '<'), right = !left && is_shift(source, code, i, '>');
        if ((!left && !right) || !is_operand(source, &code->at[i + 2]) || is_constant(source, code, i + 2) ||
            !sim_scope_is_device_only(sim_scope_of(source, &code->at[i])) ||
            (right && closes_templates(source, code, i)))
            continue;
        sim_edit_insert(file, code->at[i + 1].end, left ? "sim_shift<<" : "sim_shift>>");
    }
}
