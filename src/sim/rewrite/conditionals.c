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

static void replace(sim_file *file, const sim_token *token)
{
    const sim_source *source = &file->source;
    if (sim_token_is(source, token, "__CUDA_ARCH__"))
        sim_edit_replace(file, token->start, token->end, "SIM_CUDA_ARCH");
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

// --- functions of both sides
// ------------------------------------------------------------------------------------------

typedef struct both_chain {
    int first, other, last; // directives: #if, #else (-1: none), #endif
    bool negated;           // #ifndef
} both_chain;

// #ifdef __CUDA_ARCH__ and its like, with an #else at most.
static bool read_chain(const sim_source *source, int index, int end, both_chain *chain)
{
    const sim_directive *directive = &source->directives[index];
    const sim_token *first = sim_token_at(&source->lines, directive->first);
    const sim_token *name = sim_token_at(&source->lines, directive->first - 1);
    int count = directive->last - directive->first, depth = 0;
    bool negated = sim_token_is(source, name, "ifndef") || (sim_token_is(source, first, "!") && count > 1);
    int start = directive->first + (sim_token_is(source, first, "!") ? 1 : 0);
    for (int i = start; i < directive->last; i++) {
        static const char *const simple[] = {"defined", "(", ")", "__CUDA_ARCH__", NULL};
        if (!sim_token_is_any(source, &source->lines.at[i], simple))
            return false;
    }
    *chain = (both_chain){.first = index, .other = -1, .last = end, .negated = negated};
    for (int i = index; i < end; i++) {
        sim_directive_kind kind = source->directives[i].kind;
        depth += kind == SIM_DIRECTIVE_IF ? 1 : kind == SIM_DIRECTIVE_ENDIF ? -1 : 0;
        if (depth == 1 && kind == SIM_DIRECTIVE_ELIF)
            return false;
        if (depth == 1 && kind == SIM_DIRECTIVE_ELSE)
            chain->other = i;
    }
    return end < source->directive_count;
}

// A statement that names something for the statements after it would lose its name in braces.
static bool declares(const sim_source *source, const sim_tokens *code, int start, int end)
{
    static const char *const no_types[] = {"return", "if",     "else", "for",   "while",   "do",  "switch", "case",
                                           "goto",   "delete", "new",  "throw", "default", "asm", "break",  NULL};
    const sim_token *first = sim_token_at(code, start);
    if (first->kind != SIM_TOKEN_NAME || sim_token_is_any(source, first, no_types))
        return false;
    for (int i = start + 1; i < end; i++) {
        const sim_token *token = &code->at[i];
        static const char *const in_types[] = {"*", "&", "::", "<", ">", ",", NULL};
        if (token->kind == SIM_TOKEN_NAME && code->at[i - 1].kind != SIM_TOKEN_SIGN)
            return true; // float x
        if (token->kind == SIM_TOKEN_NAME && !sim_token_is(source, &code->at[i - 1], "::"))
            return !sim_token_is(source, &code->at[i - 1], "<") && !sim_token_is(source, &code->at[i - 1], ",");
        if (token->kind != SIM_TOKEN_NAME && token->kind != SIM_TOKEN_NUMBER &&
            !sim_token_is_any(source, token, in_types))
            return false;
    }
    return false;
}

// Whether code tokens [first, last) are whole statements, none of which declares anything.
static bool is_whole(const sim_source *source, int first, int last)
{
    const sim_tokens *code = &source->code;
    int start = first;
    for (int i = first; i < last; i++) {
        const sim_token *token = &code->at[i];
        bool opens =
            sim_token_is(source, token, "(") || sim_token_is(source, token, "{") || sim_token_is(source, token, "[");
        bool closes =
            sim_token_is(source, token, ")") || sim_token_is(source, token, "}") || sim_token_is(source, token, "]");
        if (closes || (opens && (token->match < i || token->match >= last)))
            return false;
        if (i == start && declares(source, code, start, last))
            return false;
        if (opens)
            i = token->match;
        if (sim_token_is(source, token, ";") || (opens && sim_token_is(source, token, "{")))
            start = i + 1;
    }
    return start == last;
}

static bool starts_statement(const sim_source *source, int index)
{
    static const char *const ends[] = {";", "{", "}", NULL};
    return sim_token_is_any(source, sim_token_at(&source->code, index - 1), ends);
}

// False: it has to be decided when compiling.
static bool edit_both_sides(sim_file *file, int index, int end)
{
    const sim_source *source = &file->source;
    both_chain chain;
    if (!read_chain(source, index, end, &chain) || !mentions(source, &source->directives[index]))
        return false;
    const sim_directive *first = &source->directives[chain.first], *last = &source->directives[chain.last];
    const sim_directive *other = chain.other >= 0 ? &source->directives[chain.other] : NULL;
    int middle = other ? other->code : last->code;
    const sim_scope *scope = sim_scope_of(source, sim_token_at(&source->code, first->code));
    bool constant = false; // constexpr: it may run in the compiler
    for (int i = sim_statement_start(source, &source->code, scope->open); i < scope->open; i++)
        constant |= sim_token_is(source, sim_token_at(&source->code, i), "constexpr");
    if (constant || !starts_statement(source, first->code) || !is_whole(source, first->code, middle) ||
        !is_whole(source, middle, last->code))
        return false;
    sim_edit_replace(file, first->start, first->end,
                     chain.negated ? "if (!sim_in_kernel()) {" : "if (sim_in_kernel()) {");
    if (other)
        sim_edit_replace(file, other->start, other->end, "} else {");
    sim_edit_replace(file, last->start, last->end, "}");
    return true;
}

// The host will run the device's path: what it finds there is not held against the program.
static void mark_one_side(sim_file *file, const sim_scope *scope)
{
    const sim_source *source = &file->source;
    while (scope->parent >= 0 && source->scopes[scope->parent].kind == SIM_SCOPE_FUNCTION)
        scope = &source->scopes[scope->parent];
    for (int i = sim_statement_start(source, &source->code, scope->open); i < scope->open; i++)
        if (sim_token_is(source, sim_token_at(&source->code, i), "constexpr"))
            return;
    sim_edit_insert(file, source->code.at[scope->open].end, "sim_one_side();");
}

void sim_edit_conditionals(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    for (int i = 0; i < source->directive_count; i++) {
        const sim_directive *directive = &source->directives[i];
        if (directive->kind == SIM_DIRECTIVE_DEFINE)
            for (int t = directive->first + 1; t < directive->last; t++)
                replace(file, &source->lines.at[t]);
        if (directive->kind != SIM_DIRECTIVE_IF)
            continue;
        int end = find_endif(source, i), depth = 0;
        int last = end < source->directive_count ? source->directives[end].code : code->count;
        const sim_scope *scope = sim_scope_of(source, sim_token_at(code, directive->code));
        bool device =
            scope->kind == SIM_SCOPE_FUNCTION
                ? is_device(scope->side)
                : mentions(source, directive) && holds_device_code(source, &unit->qualifiers, directive->code, last);
        bool both = scope->kind == SIM_SCOPE_FUNCTION && device && (scope->side & SIM_SIDE_HOST);
        if (both && edit_both_sides(file, i, end))
            continue;
        if (both && mentions(source, directive))
            mark_one_side(file, scope);
        for (int d = i; device && d < end; d++) {
            sim_directive_kind kind = source->directives[d].kind;
            depth += kind == SIM_DIRECTIVE_IF ? 1 : kind == SIM_DIRECTIVE_ENDIF ? -1 : 0;
            if (depth == 1 && (kind == SIM_DIRECTIVE_IF || kind == SIM_DIRECTIVE_ELIF))
                for (int t = source->directives[d].first; t < source->directives[d].last; t++)
                    replace(file, &source->lines.at[t]);
        }
    }
    for (int i = 0; i < code->count; i++) {
        const sim_scope *scope = sim_scope_of(source, &code->at[i]);
        if (scope->kind == SIM_SCOPE_FUNCTION && is_device(scope->side))
            replace(file, &code->at[i]);
    }
}
