// A pointer that is cast from a __shared__, __device__ or __constant__ variable is hidden from the compiler
// (sim/hidden.h). gcc knows such a variable's address, and where the type it is cast to would be misaligned there, it
// calls the hook of a structure of bytes: the mistake would be a load like any other.

#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"

typedef struct names {
    const sim_token **at;
    int count, room;
} names;

static bool is_known(const sim_source *source, const names *known, const sim_token *token)
{
    for (int i = 0; token->kind == SIM_TOKEN_NAME && i < known->count; i++)
        if (sim_tokens_equal(source, known->at[i], source, token))
            return true;
    return false;
}

static bool mentions(const sim_source *source, const names *known, int first, int last)
{
    for (int i = first; i < last; i++)
        if (is_known(source, known, &source->code.at[i]))
            return true;
    return false;
}

static void add_name(sim_file *file, names *known, const sim_token *token)
{
    const sim_source *source = &file->source;
    if (token->kind != SIM_TOKEN_NAME || is_known(source, known, token))
        return;
    if (sim_array_grow(&known->at, known->count, &known->room, sizeof(const sim_token *)))
        known->at[known->count++] = token;
    else
        file->failed = true;
}

// The names that a declaration gives, from its qualifier on: those before [ = , { and ;. Returns where it ends.
static int learn_declared(sim_file *file, names *known, int index)
{
    const sim_source *source = &file->source;
    static const char *const behind[] = {"[", "=", ",", "{", ";", NULL};
    const sim_tokens *code = &source->code;
    bool initialiser = false;
    for (int i = index + 1; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (!initialiser && sim_token_is_any(source, sim_token_at(code, i + 1), behind))
            add_name(file, known, token);
        if (sim_token_is(source, token, ";") || sim_token_is(source, token, "}") || sim_token_is(source, token, ")"))
            return i;
        if (sim_token_is(source, token, "=") || sim_token_is(source, token, ","))
            initialiser = sim_token_is(source, token, "=");
        if (sim_token_is(source, token, "{") && !initialiser && !sim_token_is(source, &code->at[i - 1], "]") &&
            sim_token_is(source, &code->at[i - 1], ")"))
            return i; // the body of a function
        if (token->match > i)
            i = token->match;
    }
    return code->count;
}

// float *p = &s[1]; the address is known through p as well.
static void learn_pointer(sim_file *file, names *known, int index)
{
    const sim_source *source = &file->source;
    static const char *const before[] = {"*", "&", "auto", "__restrict__", "__restrict", "const", NULL};
    const sim_tokens *code = &source->code;
    if (!sim_token_is(source, sim_token_at(code, index + 1), "=") ||
        !sim_token_is_any(source, sim_token_at(code, index - 1), before))
        return;
    int end = index + 2;
    while (end < code->count && !sim_token_is(source, &code->at[end], ";") &&
           !sim_token_is(source, &code->at[end], ","))
        end = code->at[end].match > end ? code->at[end].match + 1 : end + 1;
    if (mentions(source, known, index + 2, end < code->count ? end : code->count))
        add_name(file, known, &code->at[index]);
}

static void learn(const sim_unit *unit, sim_file *file, names *known)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    for (int i = 0; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (token->kind != SIM_TOKEN_NAME)
            continue;
        bool outside = sim_scope_of(source, token)->kind == SIM_SCOPE_FILE;
        unsigned side = outside ? sim_qualifier_side(&unit->qualifiers, source, token) : 0;
        bool variable = (side & (SIM_SIDE_DEVICE | SIM_SIDE_VARIABLE)) && !(side & SIM_SIDE_GLOBAL);
        if (variable || sim_token_is(source, token, "__shared__"))
            i = learn_declared(file, known, i);
        else if (known->count > 0 && sim_scope_is_device(sim_scope_of(source, token)))
            learn_pointer(file, known, i);
    }
}

// Whether what a cast in C's form is applied to, from `index` on, comes from one of these variables: (char *)x + 1 in
// brackets, &s[1], buffer.
static bool operand_mentions(const sim_source *source, const names *known, int index)
{
    static const char *const prefixes[] = {"&", "*", "this", NULL};
    const sim_tokens *code = &source->code;
    for (int i = index; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (sim_token_is(source, token, "(")) {
            if (mentions(source, known, i, token->match))
                return true;
            i = token->match > i ? token->match : i;
        } else if (token->kind == SIM_TOKEN_NAME) {
            return is_known(source, known, token);
        } else if (!sim_token_is_any(source, token, prefixes)) {
            return false;
        }
    }
    return false;
}

// (float4 *), (const int *__restrict__): a bracket with the name of a pointer's type and nothing else in it.
static bool is_pointer_type(const sim_source *source, const sim_tokens *code, int open)
{
    static const char *const ends[] = {"const", "volatile", "__restrict__", "__restrict", NULL};
    static const char *const others[] = {"::", "<", ">", ",", "*", NULL};
    int last = code->at[open].match - 1;
    while (last > open && sim_token_is_any(source, &code->at[last], ends))
        last--;
    if (last < open + 2 || !sim_token_is(source, &code->at[last], "*") || code->at[open + 1].kind != SIM_TOKEN_NAME)
        return false;
    for (int i = open + 1; i < last; i++)
        if (code->at[i].kind != SIM_TOKEN_NAME && code->at[i].kind != SIM_TOKEN_NUMBER &&
            !sim_token_is_any(source, &code->at[i], others))
            return false;
    return true;
}

static void edit_c_cast(sim_file *file, const names *known, int open)
{
    const sim_source *source = &file->source;
    static const char *const words[] = {"return", "else", "do", "case", NULL};
    static const char *const never[] = {")", "]", ">", NULL};
    const sim_tokens *code = &source->code;
    const sim_token *before = sim_token_at(code, open - 1);
    bool called = before->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, before, words);
    int close = code->at[open].match;
    if (called || close < open || sim_token_is_any(source, before, never) || !is_pointer_type(source, code, open) ||
        !operand_mentions(source, known, close + 1))
        return;
    sim_edit_insert(file, code->at[open].start, "~");
    sim_edit_insert(file, code->at[open].end, "sim::hidden<");
    sim_edit_insert(file, code->at[close].start, ">");
}

static void edit_reinterpret_cast(sim_file *file, const names *known, int index)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    int open = index + 1;
    while (open < code->count && !sim_token_is(source, &code->at[open], "(") &&
           !sim_token_is(source, &code->at[open], ";"))
        open++;
    int close = sim_token_at(code, open)->match;
    if (close < open || !sim_token_is(source, sim_token_at(code, open - 1), ">") ||
        !mentions(source, known, open, close))
        return;
    sim_edit_insert(file, code->at[index].start, "sim::hide(");
    sim_edit_insert(file, code->at[close].end, ")");
}

void sim_edit_casts(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    names known = {0};
    learn(unit, file, &known);
    for (int i = 0; known.count > 0 && i < source->code.count; i++) {
        const sim_token *token = &source->code.at[i];
        if (!sim_scope_is_device(sim_scope_of(source, token)))
            continue;
        if (sim_token_is(source, token, "("))
            edit_c_cast(file, &known, i);
        else if (sim_token_is(source, token, "reinterpret_cast"))
            edit_reinterpret_cast(file, &known, i);
    }
    free(known.at);
}
