// Copies by the compiler's own names for memcpy and its kin become calls of these: what the compiler turns the others
// into has no hooks. Not in a constexpr function, which may call nothing that is not.

#include <string.h>

#include "rewrite/unit.h"

static bool is_constexpr(const sim_source *source, const sim_scope *scope)
{
    const sim_scope *function = scope;
    for (; scope->parent >= 0; scope = &source->scopes[scope->parent])
        if (scope->kind == SIM_SCOPE_FUNCTION)
            function = scope;
    for (int i = sim_statement_start(source, &source->code, function->open); i < function->open; i++)
        if (sim_token_is(source, &source->code.at[i], "constexpr"))
            return true;
    return false;
}

void sim_edit_copies(sim_file *file)
{
    static const char *const copies[] = {"__builtin_memcpy", "__builtin_memmove", "__builtin_memset", NULL};
    const sim_source *source = &file->source;
    for (int i = 0; i + 1 < source->code.count; i++) {
        const sim_token *name = &source->code.at[i];
        if (!sim_token_is_any(source, name, copies) || !sim_token_is(source, &source->code.at[i + 1], "("))
            continue;
        const sim_scope *scope = sim_scope_of(source, name);
        if (sim_scope_is_device(scope) && !is_constexpr(source, scope))
            sim_edit_replace(file, name->start, name->start + (uint32_t)strlen("__builtin_"), "");
    }
}
