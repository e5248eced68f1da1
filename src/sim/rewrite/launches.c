// kernel<<<config>>>(arguments) becomes SIM_LAUNCH_POINTER((kernel), (config))(arguments), in macros too.

#include "rewrite/unit.h"
#include "source/launch.h"

// Whether the callee is chosen between two kernels, `(wide ? f<4> : f<1>)`: that is one pointer, whatever the kernels
// are, and found on the host, once.
static bool is_choice(const sim_source *source, const sim_tokens *tokens, const sim_launch *launch)
{
    for (int i = launch->callee; i < launch->open; i++)
        if (sim_token_is(source, &tokens->at[i], "?"))
            return true;
    return false;
}

// A template, or a name that several kernels share, can only be called, not pointed to.
static const char *launcher_of(const sim_unit *unit, const sim_source *source, const sim_tokens *tokens,
                               const sim_launch *launch)
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
        !sim_tokens_are_adjacent(tokens, first + 1))
        return false;
    for (int i = first + 3; i < open->match; i++)
        if (sim_tokens_equal(source, &tokens->at[i], source, &tokens->at[name]))
            return true;
    return false;
}

static void edit_launch(const sim_unit *unit, sim_file *file, const sim_tokens *tokens, const sim_launch *launch)
{
    const sim_source *source = &file->source;
    const sim_token *callee = &tokens->at[launch->callee];
    bool any = is_macro_parameter(source, tokens, launch->name);
    sim_edit_insert(file, callee->start, any ? "SIM_LAUNCH_CALL((" : launcher_of(unit, source, tokens, launch));
    const sim_token *open = &tokens->at[launch->open], *close = &tokens->at[launch->close];
    sim_edit_replace(file, open->start, open[SIM_LAUNCH_ARROWS - 1].end, "), (");
    sim_edit_replace(file, close->start, close[SIM_LAUNCH_ARROWS - 1].end, "))");
}

void sim_edit_launches(const sim_unit *unit, sim_file *file, const sim_tokens *tokens)
{
    for (int i = 1; i < tokens->count; i++) {
        sim_launch launch;
        if (!sim_launch_at(&file->source, tokens, i, &launch))
            continue;
        edit_launch(unit, file, tokens, &launch);
        i = launch.close + SIM_LAUNCH_ARROWS - 1;
    }
}
