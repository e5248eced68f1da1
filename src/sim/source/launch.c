// Reads launches: k<<<...>>>, also written << < > >>, and with any callee: names with namespaces and template
// arguments, members, table[i], (expression), make<int>().

#include "source/launch.h"

enum { ARROWS = SIM_LAUNCH_ARROWS };

bool sim_tokens_are_adjacent(const sim_tokens *tokens, int index)
{
    return sim_token_at(tokens, index)->end == sim_token_at(tokens, index + 1)->start;
}

static bool is_arrow_tail(const sim_source *source, const sim_tokens *tokens, int index)
{
    return index > 0 && sim_token_is(source, &tokens->at[index], ">") &&
           sim_token_is(source, &tokens->at[index - 1], "-") && sim_tokens_are_adjacent(tokens, index - 1);
}

static bool is_open(const sim_source *source, const sim_tokens *tokens, int i)
{
    return sim_token_is(source, sim_token_at(tokens, i), "<") &&
           sim_token_is(source, sim_token_at(tokens, i + 1), "<") &&
           sim_token_is(source, sim_token_at(tokens, i + 2), "<") && sim_tokens_are_adjacent(tokens, i) &&
           !sim_token_is(source, sim_token_at(tokens, i - 1), "operator");
}

// The < that a > closes, going back; -1: none.
static int angle_start(const sim_source *source, const sim_tokens *tokens, int index)
{
    static const char *const ends[] = {";", "{", "}", "(", "[", NULL};
    int depth = 0;
    for (int i = index; i >= 0; i--) {
        const sim_token *token = &tokens->at[i];
        if ((sim_token_is(source, token, ")") || sim_token_is(source, token, "]")) && token->match >= 0)
            i = token->match;
        else if (token->kind == SIM_TOKEN_BREAK || sim_token_is_any(source, token, ends))
            return -1;
        else if (sim_token_is(source, token, ">") && !is_arrow_tail(source, tokens, i))
            depth++;
        else if (sim_token_is(source, token, "<") && --depth == 0)
            return i;
    }
    return -1;
}

static bool is_callable_name(const sim_source *source, const sim_token *token)
{
    static const char *const keywords[] = {"if", "while",     "for",  "switch", "return",    "sizeof", "else",
                                           "do", "constexpr", "case", "throw",  "co_return", NULL};
    return token->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, token, keywords);
}

// Whether the name at `index` is joined to something before it, and the index of the last token of that.
static bool joined(const sim_source *source, const sim_tokens *tokens, int index, int *before)
{
    if (sim_token_is(source, sim_token_at(tokens, index - 1), "template"))
        index--;
    if (sim_token_is(source, sim_token_at(tokens, index - 1), "#") &&
        sim_token_is(source, sim_token_at(tokens, index - 2), "#"))
        *before = index - 3;
    else if (sim_token_is(source, sim_token_at(tokens, index - 1), "::") ||
             sim_token_is(source, sim_token_at(tokens, index - 1), "."))
        *before = index - 2;
    else if (is_arrow_tail(source, tokens, index - 1))
        *before = index - 3;
    else
        return false;
    return true;
}

// Finds the first token of the callee that ends before `end`. False: nothing that can be called stands there.
static bool find_callee(const sim_source *source, const sim_tokens *tokens, int end, sim_launch *found)
{
    int i = end - 1;
    found->name = -1;
    found->callee = -1;
    while (i >= 0) {
        const sim_token *token = &tokens->at[i];
        if (sim_token_is(source, token, ">")) {
            i = angle_start(source, tokens, i) - 1;
            if (i < 0 || !is_callable_name(source, &tokens->at[i]))
                return found->callee >= 0;
            continue;
        }
        if (sim_token_is(source, token, ")") || sim_token_is(source, token, "]")) {
            if (token->match < 0)
                return found->callee >= 0;
            found->callee = token->match;
            i = token->match - 1;
            const sim_token *before = sim_token_at(tokens, i);
            bool postfix = is_callable_name(source, before) || sim_token_is(source, before, "]") ||
                           (sim_token_is(source, token, ")") && sim_token_is(source, before, ">"));
            if (!postfix)
                return true;
            continue;
        }
        if (!is_callable_name(source, token))
            return found->callee >= 0;
        if (found->name < 0 && found->callee < 0)
            found->name = i;
        found->callee = i;
        int before;
        if (!joined(source, tokens, i, &before))
            return true;
        const sim_token *left = sim_token_at(tokens, before);
        bool goes_on = is_callable_name(source, left) || sim_token_is(source, left, ")") ||
                       sim_token_is(source, left, "]") || sim_token_is(source, left, ">");
        if (!goes_on) {
            found->callee = before + 1; // ::kernel
            return true;
        }
        i = before;
    }
    return found->callee >= 0;
}

// The first token of the >>> that ends the configuration. Template arguments may end in > and >> as well, so one with
// an argument list behind it is preferred.
static int find_close(const sim_source *source, const sim_tokens *tokens, int start)
{
    int fallback = -1;
    for (int i = start; i < tokens->count; i++) {
        const sim_token *token = &tokens->at[i];
        if (token->kind == SIM_TOKEN_BREAK || sim_token_is(source, token, ";"))
            return fallback;
        bool opens =
            sim_token_is(source, token, "(") || sim_token_is(source, token, "[") || sim_token_is(source, token, "{");
        if (opens) {
            if (token->match < i)
                return fallback;
            i = token->match;
            continue;
        }
        if (sim_token_is(source, token, ")") || sim_token_is(source, token, "}"))
            return fallback;
        int run = 0;
        while (sim_token_is(source, sim_token_at(tokens, i + run), ">"))
            run++;
        if (run < ARROWS) {
            i += run > 0 ? run - 1 : 0;
            continue;
        }
        if (sim_token_is(source, sim_token_at(tokens, i + run), "("))
            return i + run - ARROWS;
        if (fallback < 0)
            fallback = i + run - ARROWS;
        i += run - 1;
    }
    return fallback;
}

bool sim_launch_at(const sim_source *source, const sim_tokens *tokens, int index, sim_launch *launch)
{
    if (!is_open(source, tokens, index))
        return false;
    *launch = (sim_launch){.open = index, .close = find_close(source, tokens, index + ARROWS)};
    return launch->close >= 0 && find_callee(source, tokens, index, launch);
}
