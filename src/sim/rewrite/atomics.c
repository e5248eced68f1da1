// An atomic call that is a whole statement discards its result: sim_discard() before it says so, because such an
// atomic reads nothing that could race.

#include "rewrite/unit.h"

// Whether the parenthesis that closes at `index` is the condition of a statement.
static bool is_condition(const sim_source *source, const sim_tokens *tokens, int index)
{
    static const char *const words[] = {"if", "for", "while", "switch", "constexpr", NULL};
    const sim_token *close = sim_token_at(tokens, index);
    return sim_token_is(source, close, ")") && close->match > 0 &&
           sim_token_is_any(source, &tokens->at[close->match - 1], words);
}

// case 3: and label: end before a statement; the : of a ?: does not.
static bool is_label_end(const sim_source *source, const sim_tokens *tokens, int colon)
{
    if (!sim_token_is(source, sim_token_at(tokens, colon), ":"))
        return false;
    for (int i = sim_statement_start(source, tokens, colon); i < colon; i++)
        if (sim_token_is(source, &tokens->at[i], "?"))
            return false;
    return true;
}

static bool starts_statement(const sim_source *source, const sim_tokens *tokens, int index)
{
    static const char *const ends[] = {";", "{", "}", "else", "do", NULL};
    const sim_token *before = sim_token_at(tokens, index - 1);
    return sim_token_is_any(source, before, ends) || is_condition(source, tokens, index - 1) ||
           is_label_end(source, tokens, index - 1);
}

void sim_edit_atomics(const sim_unit *unit, sim_file *file, const sim_tokens *tokens)
{
    const sim_source *source = &file->source;
    for (int i = 0; i + 2 < tokens->count; i++) {
        const sim_token *open = &tokens->at[i + 1];
        if (!sim_is_plain_atomic(unit, source, &tokens->at[i]) || !sim_token_is(source, open, "(") || open->match < i ||
            !sim_token_is(source, sim_token_at(tokens, open->match + 1), ";"))
            continue;
        int start = i;
        if (sim_token_is(source, sim_token_at(tokens, start - 1), "::"))
            start--;
        if (sim_token_is(source, sim_token_at(tokens, start - 1), ")") &&
            sim_token_is(source, sim_token_at(tokens, start - 2), "void") &&
            sim_token_is(source, sim_token_at(tokens, start - 3), "("))
            start -= 3;
        bool in_function = tokens != &source->code || sim_scope_of(source, &tokens->at[i])->kind == SIM_SCOPE_FUNCTION;
        if (in_function && starts_statement(source, tokens, start))
            sim_edit_insert(file, tokens->at[start].start, "sim_discard(), ");
    }
}
