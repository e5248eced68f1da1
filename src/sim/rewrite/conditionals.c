// __CUDA_ARCH__ is defined in device code and nowhere else. Here one compiler sees both, so each #if that asks for it
// is decided by what it stands in or around: in device code, or around nothing but device code, it asks for
// SIM_CUDA_ARCH instead, which is defined.

#include "rewrite/unit.h"

static bool mentions(const sim_source *source, const sim_directive *directive)
{
    for (int i = directive->first; i < directive->last; i++)
        if (sim_token_is(source, &source->lines.at[i], "__CUDA_ARCH__"))
            return true;
    return false;
}

static void replace(sim_source *source, const sim_token *token)
{
    if (sim_token_is(source, token, "__CUDA_ARCH__"))
        sim_edit_replace(source, token->start, token->end, "SIM_CUDA_ARCH");
}

// Index of the #endif of the #if at `index`; the number of directives when there is none.
static int find_endif(const sim_source *source, int index)
{
    int depth = 0;
    for (int i = index; i < source->directive_count; i++) {
        sim_directive_kind kind = source->directives[i].kind;
        depth += kind == SIM_DIRECTIVE_IF ? 1 : kind == SIM_DIRECTIVE_ENDIF ? -1 : 0;
        if (depth == 0)
            return i;
    }
    return source->directive_count;
}

static bool is_device(unsigned side)
{
    return side & (SIM_SIDE_DEVICE | SIM_SIDE_GLOBAL);
}

// Whether code tokens [first, last), at file or class scope, hold no function that only the host calls, and something
// of the device's or nothing at all.
static bool holds_device_code(const sim_source *source, const sim_qualifiers *known, int first, int last)
{
    bool device = first == last;
    for (int i = first; i < last; i++) {
        const sim_token *token = &source->code.at[i];
        unsigned side = sim_qualifier_side(known, source, token);
        device |= is_device(side) || (side & SIM_SIDE_VARIABLE);
        const sim_scope *scope = sim_scope_of(source, token);
        if (scope->kind == SIM_SCOPE_FUNCTION && !is_device(scope->side) && scope->open >= first)
            return false;
    }
    return device;
}

void sim_edit_conditionals(const sim_unit *unit, sim_source *source)
{
    const sim_tokens *code = &source->code;
    for (int i = 0; i < source->directive_count; i++) {
        const sim_directive *directive = &source->directives[i];
        if (directive->kind == SIM_DIRECTIVE_DEFINE)
            for (int t = directive->first + 1; t < directive->last; t++)
                replace(source, &source->lines.at[t]);
        if (directive->kind != SIM_DIRECTIVE_IF)
            continue;
        int end = find_endif(source, i), depth = 0;
        int last = end < source->directive_count ? source->directives[end].code : code->count;
        const sim_scope *scope = sim_scope_of(source, sim_token_at(code, directive->code));
        bool device =
            scope->kind == SIM_SCOPE_FUNCTION
                ? is_device(scope->side)
                : mentions(source, directive) && holds_device_code(source, &unit->qualifiers, directive->code, last);
        for (int d = i; device && d < end; d++) {
            sim_directive_kind kind = source->directives[d].kind;
            depth += kind == SIM_DIRECTIVE_IF ? 1 : kind == SIM_DIRECTIVE_ENDIF ? -1 : 0;
            if (depth == 1 && (kind == SIM_DIRECTIVE_IF || kind == SIM_DIRECTIVE_ELIF))
                for (int t = source->directives[d].first; t < source->directives[d].last; t++)
                    replace(source, &source->lines.at[t]);
        }
    }
    for (int i = 0; i < code->count; i++) {
        const sim_scope *scope = sim_scope_of(source, &code->at[i]);
        if (scope->kind == SIM_SCOPE_FUNCTION && is_device(scope->side))
            replace(source, &code->at[i]);
    }
}
