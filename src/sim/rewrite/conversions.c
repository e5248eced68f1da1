// Conversions to integers in device code say so to sim/conversion.h, because a number out of range gives on a GPU what
// it does not on every host: (int)x, int(x), static_cast<int>(x), and int i = x. Others that nobody wrote down (an
// assignment, an argument, a returned value) are not seen here.

#include <string.h>

#include "rewrite/unit.h"

static const char *const integer_words[] = {
    "int",     "unsigned", "signed",  "long",     "short",    "char",     "size_t",   "ptrdiff_t", "int8_t", "int16_t",
    "int32_t", "int64_t",  "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "uint",   NULL};
static const char *const other_words[] = {"float", "double", "void", "bool", "auto", "const", NULL};

// The token behind an integer's type that begins at `index`; `index`: none does.
static int behind_type(const sim_source *source, const sim_tokens *code, int index)
{
    if (sim_token_is(source, sim_token_at(code, index), "std") &&
        sim_token_is(source, sim_token_at(code, index + 1), "::") &&
        sim_token_is_any(source, sim_token_at(code, index + 2), integer_words))
        return index + 3;
    while (sim_token_is_any(source, sim_token_at(code, index), integer_words))
        index++;
    return index;
}

static bool begins_operand(const sim_source *source, const sim_token *token)
{
    static const char *const signs[] = {"(", "-", "+", "*", "~", "!", "::", NULL};
    static const char *const not_operands[] = {"const",   "noexcept", "override",      "final", "volatile",
                                               "mutable", "throw",    "__attribute__", "asm",   NULL};
    return (token->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, token, not_operands)) ||
           sim_token_is_any(source, token, signs);
}

// Whether an expression may begin behind this token.
static bool comes_before_expression(const sim_source *source, const sim_token *token)
{
    static const char *const words[] = {"return", "else", "do", "case", NULL};
    return token->kind == SIM_TOKEN_SIGN ? !sim_token_is(source, token, "]") && !sim_token_is(source, token, "}")
                                         : sim_token_is_any(source, token, words);
}

static void edit_c_cast(sim_file *file, int open)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    int close = code->at[open].match;
    if (close < open + 2 || behind_type(source, code, open + 1) != close ||
        !comes_before_expression(source, sim_token_at(code, open - 1)) ||
        !begins_operand(source, sim_token_at(code, close + 1)))
        return;
    sim_edit_insert(file, code->at[open].start, "~");
    sim_edit_insert(file, code->at[open].end, "sim::cast<");
    sim_edit_insert(file, code->at[close].start, ">");
}

static void edit_static_cast(sim_file *file, int index)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    int close = behind_type(source, code, index + 2);
    if (sim_token_is(source, sim_token_at(code, index + 1), "<") && close > index + 2 &&
        sim_token_is(source, sim_token_at(code, close), ">"))
        sim_edit_replace(file, code->at[index].start, code->at[index].end, "sim::converted");
}

// int(x), std::uint8_t(x): a type of one word, up to token `behind`.
static void edit_named_cast(sim_file *file, int index, int behind)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    static const char *const declares[] = {";", "{", ")", NULL};
    const sim_token *before = sim_token_at(code, index - 1), *first = sim_token_at(code, behind + 1);
    bool one_word = behind == index + 1 || sim_token_is(source, &code->at[index], "std");
    if (!one_word || !sim_token_is(source, sim_token_at(code, behind), "(") ||
        sim_token_is_any(source, before, declares) || !comes_before_expression(source, before) ||
        sim_token_is_any(source, first, integer_words) || sim_token_is_any(source, first, other_words) ||
        sim_token_is(source, first, "*") || !begins_operand(source, first))
        return;
    sim_edit_insert(file, code->at[index].start, "sim::converted<");
    sim_edit_insert(file, code->at[behind - 1].end, ">");
}

// Whether a token of an initialiser is an integer for certain, or computes with such.
static bool is_plain(const sim_source *source, const sim_tokens *code, int index)
{
    static const char *const integers[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", NULL};
    static const char *const members[] = {"x", "y", "z", NULL};
    static const char *const signs[] = {".", "+", "-", "*", "/", "%", "(", ")", "&", "|", "<", ">", NULL};
    const sim_token *token = &code->at[index];
    if (token->kind == SIM_TOKEN_NUMBER)
        return !memchr(source->text + token->start, '.', token->end - token->start);
    return sim_token_is_any(source, token, integers) || sim_token_is_any(source, token, signs) ||
           (sim_token_is_any(source, token, members) && sim_token_is(source, sim_token_at(code, index - 1), "."));
}

// Where the initialiser that begins at `index` ends: its comma or semicolon.
static int initialiser_end(const sim_source *source, const sim_tokens *code, int index, bool *plain)
{
    int nested = index; // brackets are open up to here
    for (*plain = true; index < code->count; index++) {
        const sim_token *token = &code->at[index];
        if (index >= nested && (sim_token_is(source, token, ",") || sim_token_is(source, token, ";")))
            break;
        nested = token->match > nested ? token->match : nested;
        *plain &= is_plain(source, code, index);
    }
    return index;
}

// int a = x, b = y; from the type on.
static void edit_declaration(sim_file *file, int index, int behind)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    static const char *const before[] = {";", "{", "}", "(", ":", "else", NULL};
    int start = sim_token_is(source, sim_token_at(code, index - 1), "const") ? index - 1 : index;
    if (!sim_token_is_any(source, sim_token_at(code, start - 1), before))
        return;
    for (int name = behind; sim_token_at(code, name)->kind == SIM_TOKEN_NAME;) {
        const sim_token *sign = sim_token_at(code, name + 1), *first = sim_token_at(code, name + 2);
        if (!sim_token_is(source, sign, "=") || sim_token_is(source, first, "=") || sim_token_is(source, first, "{"))
            break;
        bool plain;
        int end = initialiser_end(source, code, name + 2, &plain);
        if (!plain) {
            const sim_token *type = &code->at[index], *last = &code->at[behind - 1];
            sim_text mark = {0};
            sim_text_print(&mark, " sim::to<%.*s>() =", (int)(last->end - type->start), source->text + type->start);
            if (mark.failed)
                file->failed = true;
            else
                sim_edit_insert(file, sign->end, mark.at);
            sim_text_free(&mark);
        }
        if (!sim_token_is(source, sim_token_at(code, end), ","))
            break;
        name = end + 1;
    }
}

void sim_edit_conversions(sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    for (int i = 1; i + 1 < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (!sim_scope_is_device(sim_scope_of(source, token)))
            continue;
        if (sim_token_is(source, token, "(")) {
            edit_c_cast(file, i);
        } else if (sim_token_is(source, token, "static_cast")) {
            edit_static_cast(file, i);
        } else {
            int behind = behind_type(source, code, i);
            if (behind == i)
                continue;
            edit_named_cast(file, i, behind);
            edit_declaration(file, i, behind);
            i = behind - 1;
        }
    }
}
