// kernel<<<config>>>(arguments) becomes SIM_LAUNCH_POINTER((kernel), (config))(arguments). Also written << < > >>, in
// macros, and with any callee: names with namespaces and template arguments, members, table[i], (expression),
// make<int>().

#include <string.h>

#include "rewrite/unit.h"

enum { ARROWS = 3 }; // of <<< and >>>

typedef struct launch_place {
    int callee, name; // first token of the callee; its last name, -1: none
    int open, close;  // first tokens of <<< and >>>
} launch_place;

static bool adjacent(const sim_tokens *tokens, int index)
{
    return sim_token_at(tokens, index)->end == sim_token_at(tokens, index + 1)->start;
}

static bool is_arrow_tail(const sim_source *source, const sim_tokens *tokens, int index)
{
    return index > 0 && sim_token_is(source, &tokens->at[index], ">") &&
           sim_token_is(source, &tokens->at[index - 1], "-") && adjacent(tokens, index - 1);
}

static bool is_open(const sim_source *source, const sim_tokens *tokens, int i)
{
    return sim_token_is(source, sim_token_at(tokens, i), "<") &&
           sim_token_is(source, sim_token_at(tokens, i + 1), "<") &&
           sim_token_is(source, sim_token_at(tokens, i + 2), "<") && adjacent(tokens, i) &&
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
static bool find_callee(const sim_source *source, const sim_tokens *tokens, int end, launch_place *found)
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

// Whether the callee is chosen between two kernels, `(wide ? f<4> : f<1>)`: that is one pointer, whatever the kernels
// are, and found on the host, once.
static bool is_choice(const sim_source *source, const sim_tokens *tokens, const launch_place *launch)
{
    for (int i = launch->callee; i < launch->open; i++)
        if (sim_token_is(source, &tokens->at[i], "?"))
            return true;
    return false;
}

// A template, or a name that several kernels share, can only be called, not pointed to.
static const char *launcher_of(const sim_unit *unit, const sim_source *source, const sim_tokens *tokens,
                               const launch_place *launch)
{
    int last = launch->name >= 0 ? launch->name : launch->open - 1;
    for (int i = launch->name >= 0 ? launch->name : launch->callee; i <= last; i++) {
        const sim_token *token = &tokens->at[i];
        if (token->kind != SIM_TOKEN_NAME)
            continue;
        const sim_kernel_name *kernel = sim_kernel_find(unit, source->text + token->start, token->end - token->start);
        if (kernel && kernel->returns_value)
            return "SIM_LAUNCH_REFUSED((";
        if (kernel && (kernel->is_template || kernel->overloaded || kernel->has_defaults) &&
            !is_choice(source, tokens, launch))
            return "SIM_LAUNCH_CALL((";
    }
    return "SIM_LAUNCH_POINTER((";
}

// Whether the name is a parameter of the macro on whose line it stands: then it may be any kernel.
static bool is_macro_parameter(const sim_source *source, const sim_tokens *tokens, int name)
{
    if (tokens != &source->lines || name < 0)
        return false;
    int first = name;
    while (first > 0 && tokens->at[first - 1].kind != SIM_TOKEN_BREAK)
        first--;
    const sim_token *open = sim_token_at(tokens, first + 2);
    if (!sim_token_is(source, sim_token_at(tokens, first), "define") || !sim_token_is(source, open, "(") ||
        !adjacent(tokens, first + 1))
        return false;
    const sim_token *token = &tokens->at[name];
    for (int i = first + 3; i < open->match; i++) {
        const sim_token *parameter = &tokens->at[i];
        size_t length = parameter->end - parameter->start;
        if (length == token->end - token->start &&
            memcmp(source->text + parameter->start, source->text + token->start, length) == 0)
            return true;
    }
    return false;
}

static void edit_launch(const sim_unit *unit, sim_file *file, const sim_tokens *tokens, const launch_place *launch)
{
    const sim_source *source = &file->source;
    const sim_token *callee = &tokens->at[launch->callee];
    if (tokens == &source->code && sim_scope_is_device_only(sim_scope_of(source, callee)))
        sim_edit_insert(file, callee->start,
                        "sim_unsupported(\"dynamic parallelism: a launch inside a kernel\", "
                        "\"launch the kernel from host code\"), ");
    bool any = is_macro_parameter(source, tokens, launch->name);
    sim_edit_insert(file, callee->start, any ? "SIM_LAUNCH_CALL((" : launcher_of(unit, source, tokens, launch));
    const sim_token *open = &tokens->at[launch->open], *close = &tokens->at[launch->close];
    sim_edit_replace(file, open->start, open[ARROWS - 1].end, "), (");
    sim_edit_replace(file, close->start, close[ARROWS - 1].end, "))");
}

void sim_edit_launches(const sim_unit *unit, sim_file *file, const sim_tokens *tokens)
{
    const sim_source *source = &file->source;
    for (int i = 1; i < tokens->count; i++) {
        if (!is_open(source, tokens, i))
            continue;
        launch_place launch = {.open = i};
        launch.close = find_close(source, tokens, i + ARROWS);
        if (launch.close < 0 || !find_callee(source, tokens, i, &launch))
            continue;
        edit_launch(unit, file, tokens, &launch);
        i = launch.close + ARROWS - 1;
    }
}
