// The numbers of --args and of --grid: messages with their column, expressions, names of types.

#include "check/extension_line.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { DEEPEST = 32, MESSAGE_SIZE = 512 };

// --- messages --------------------------------------------------------------------------------------------------------

int heddle_line_column(const heddle_line *in, int token)
{
    const sim_token *at = &in->source.code.at[token];
    return token < in->source.code.count ? (int)at->start + 1 : (int)in->source.bytes + 1;
}

heddle_status heddle_line_wrong(const heddle_line *in, int token, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    heddle_text_one_line(message);
    return heddle_fail(HEDDLE_INVALID, "%s, column %d: %s", in->option, heddle_line_column(in, token), message);
}

bool heddle_line_is(const heddle_line *in, int token, const char *text)
{
    return token < in->last && sim_token_is(&in->source, sim_token_at(&in->source.code, token), text);
}

const char *heddle_line_word(const heddle_line *in, int token, char *text, size_t size)
{
    const sim_token *at = sim_token_at(&in->source.code, token);
    if (token >= in->last || token >= in->source.code.count)
        snprintf(text, size, "the end");
    else
        snprintf(text, size, "'%.*s'", (int)(at->end - at->start), in->source.text + at->start);
    return text;
}

heddle_status heddle_line_open(heddle_line *in, const char *option, const char *line, heddle_check_arguments *arguments)
{
    sim_qualifiers none = {0};
    size_t bytes = strlen(line);
    char *copy = strdup(line);
    *in = (heddle_line){.option = option, .arguments = arguments};
    if (!copy)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read %s", option);
    for (char *c = copy; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    sim_source_open(&in->source, option, copy, bytes);
    sim_scopes_find(&in->source, &none);
    in->last = in->source.code.count;
    return HEDDLE_OK;
}

// --- expressions -----------------------------------------------------------------------------------------------------

static heddle_status literal(heddle_line *in, heddle_line_number *value)
{
    const sim_token *token = &in->source.code.at[in->at];
    char text[64], *end = NULL, shown[80];
    size_t length = token->end - token->start;
    if (length >= sizeof text)
        return heddle_line_wrong(in, in->at, "%s is not a number", heddle_line_word(in, in->at, shown, sizeof shown));
    memcpy(text, in->source.text + token->start, length);
    text[length] = '\0';
    bool hexadecimal = strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0;
    bool point = !hexadecimal && strpbrk(text, ".eE");
    errno = 0;
    *value = point ? (heddle_line_number){false, 0, strtod(text, &end)} : heddle_line_whole(strtoll(text, &end, 0));
    if (point && *end == 'f')
        end++;
    if (errno || *end)
        return heddle_line_wrong(in, in->at, "%s is not a number", heddle_line_word(in, in->at, shown, sizeof shown));
    in->at++;
    return HEDDLE_OK;
}

int heddle_line_entry(const heddle_line *in, int token)
{
    for (int i = 0; i < in->arguments->count; i++)
        if (sim_token_is(&in->source, &in->source.code.at[token], in->arguments->at[i].name))
            return i;
    return -1;
}

static heddle_status unknown_name(const heddle_line *in, int token)
{
    char shown[80], text[80];
    const char *names[HEDDLE_CHECK_MOST_ARGUMENTS];
    for (int i = 0; i < in->arguments->count; i++)
        names[i] = in->arguments->at[i].name;
    heddle_line_word(in, token, shown, sizeof shown);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(shown + 1, "'"), shown + 1);
    const char *nearest = heddle_text_nearest(text, names, in->arguments->count);
    return heddle_line_wrong(in, token, "%s is not a number of --args%s%s%s", shown, nearest ? "; did you mean " : "",
                             nearest ? nearest : "", nearest ? "?" : "");
}

static heddle_status number_of(heddle_line *in, int token, heddle_line_number *value)
{
    int entry = heddle_line_entry(in, token);
    if (entry < 0)
        return unknown_name(in, token);
    HEDDLE_TRY(heddle_line_compute(in, entry));
    const heddle_check_argument *one = &in->arguments->at[entry];
    if (one->role != HEDDLE_CHECK_NUMBER)
        return heddle_line_wrong(in, token, "'%s' is a tensor; size(%s, 0) and numel(%s) are its sizes", one->name,
                                 one->name, one->name);
    *value = (heddle_line_number){one->is_whole, one->whole, one->number};
    return HEDDLE_OK;
}

// numel(x), size(x, 1), sizeof(float), cdiv(a, b), min(a, b), max(a, b), sqrt(a)
static heddle_status function(heddle_line *in, heddle_line_number *value)
{
    int name = in->at;
    heddle_line_number a = heddle_line_whole(0), b = heddle_line_whole(0);
    char shown[80];
    in->at += 2;
    if (heddle_line_is(in, name, "sizeof")) {
        heddle_npy_type type;
        HEDDLE_TRY(heddle_line_type(in, &type));
        *value = heddle_line_whole((long long)heddle_npy_size(type));
    } else if (heddle_line_is(in, name, "numel") || heddle_line_is(in, name, "size")) {
        int tensor = in->at, entry = in->at < in->last ? heddle_line_entry(in, in->at) : -1;
        if (entry < 0)
            return unknown_name(in, in->at);
        in->at++;
        HEDDLE_TRY(heddle_line_compute(in, entry));
        const heddle_check_argument *one = &in->arguments->at[entry];
        if (one->role == HEDDLE_CHECK_NUMBER || one->role == HEDDLE_CHECK_NULL)
            return heddle_line_wrong(in, tensor, "'%s' is not a tensor", one->name);
        *value = heddle_line_whole(one->count);
        if (heddle_line_is(in, name, "size")) {
            if (!heddle_line_is(in, in->at, ","))
                return heddle_line_wrong(in, in->at, "size takes a tensor and a dimension: size(%s, 0)", one->name);
            in->at++;
            HEDDLE_TRY(heddle_line_expression(in, &a));
            if (!a.is_whole || a.whole < 0 || a.whole >= one->rank)
                return heddle_line_wrong(in, in->at - 1, "'%s' has dimensions 0 to %d", one->name, one->rank - 1);
            *value = heddle_line_whole(one->dims[a.whole]);
        }
    } else {
        bool single = heddle_line_is(in, name, "sqrt");
        if (!single && !heddle_line_is(in, name, "cdiv") && !heddle_line_is(in, name, "min") &&
            !heddle_line_is(in, name, "max"))
            return heddle_line_wrong(in, name, "no function %s; there are cdiv, min, max, sqrt, numel, size and sizeof",
                                     heddle_line_word(in, name, shown, sizeof shown));
        HEDDLE_TRY(heddle_line_expression(in, &a));
        if (!single && !heddle_line_is(in, in->at, ","))
            return heddle_line_wrong(in, in->at, "a comma and a second number are missing");
        in->at += !single;
        if (!single)
            HEDDLE_TRY(heddle_line_expression(in, &b));
        if (single)
            *value = (heddle_line_number){false, 0, sqrt(a.value)};
        else if (heddle_line_is(in, name, "cdiv") && (!a.is_whole || !b.is_whole || b.whole <= 0 || a.whole < 0))
            return heddle_line_wrong(in, name, "cdiv takes two whole numbers, the second above 0");
        else if (heddle_line_is(in, name, "cdiv"))
            *value = heddle_line_whole(a.whole / b.whole + (a.whole % b.whole != 0));
        else
            *value = (a.value < b.value) == heddle_line_is(in, name, "min") ? a : b;
    }
    if (!heddle_line_is(in, in->at, ")"))
        return heddle_line_wrong(in, in->at, "a ) is missing");
    in->at++;
    return HEDDLE_OK;
}

static heddle_status atom(heddle_line *in, heddle_line_number *value);

static heddle_status plain_atom(heddle_line *in, heddle_line_number *value)
{
    char shown[80];
    const sim_token *token = sim_token_at(&in->source.code, in->at);
    if (in->at >= in->last)
        return heddle_line_wrong(in, in->at, "a number is missing");
    if (heddle_line_is(in, in->at, "-")) {
        in->at++;
        HEDDLE_TRY(atom(in, value));
        *value = (heddle_line_number){value->is_whole, -value->whole, -value->value};
        return HEDDLE_OK;
    }
    if (token->kind == SIM_TOKEN_NUMBER)
        return literal(in, value);
    if (heddle_line_is(in, in->at, "true") || heddle_line_is(in, in->at, "false")) {
        *value = heddle_line_whole(heddle_line_is(in, in->at, "true"));
        in->at++;
        return HEDDLE_OK;
    }
    if (heddle_line_is(in, in->at, "inf")) {
        *value = (heddle_line_number){false, 0, INFINITY};
        in->at++;
        return HEDDLE_OK;
    }
    if (token->kind == SIM_TOKEN_NAME)
        return heddle_line_is(in, in->at + 1, "(") ? function(in, value) : number_of(in, in->at++, value);
    if (!heddle_line_is(in, in->at, "("))
        return heddle_line_wrong(in, in->at, "%s is not a number", heddle_line_word(in, in->at, shown, sizeof shown));
    in->at++;
    HEDDLE_TRY(heddle_line_expression(in, value));
    if (!heddle_line_is(in, in->at, ")"))
        return heddle_line_wrong(in, in->at, "a ) is missing");
    in->at++;
    return HEDDLE_OK;
}

static heddle_status atom(heddle_line *in, heddle_line_number *value)
{
    if (in->depth == DEEPEST)
        return heddle_line_wrong(in, in->at, "too many brackets and signs inside each other");
    in->depth++;
    HEDDLE_TRY(plain_atom(in, value));
    in->depth--;
    return HEDDLE_OK;
}

static heddle_status combine(const heddle_line *in, int sign, heddle_line_number *value, heddle_line_number other)
{
    if (!value->is_whole || !other.is_whole) {
        double result = heddle_line_is(in, sign, "+")   ? value->value + other.value
                        : heddle_line_is(in, sign, "-") ? value->value - other.value
                        : heddle_line_is(in, sign, "*") ? value->value * other.value
                        : heddle_line_is(in, sign, "/") ? value->value / other.value
                                                        : fmod(value->value, other.value);
        *value = (heddle_line_number){false, 0, result};
        return HEDDLE_OK;
    }
    bool overflow = false, divides = heddle_line_is(in, sign, "/") || heddle_line_is(in, sign, "%");
    long long result = 0;
    if (divides && other.whole == 0)
        return heddle_line_wrong(in, sign, "division by zero");
    if (heddle_line_is(in, sign, "+"))
        overflow = __builtin_add_overflow(value->whole, other.whole, &result);
    else if (heddle_line_is(in, sign, "-"))
        overflow = __builtin_sub_overflow(value->whole, other.whole, &result);
    else if (heddle_line_is(in, sign, "*") || (divides && other.whole == -1))
        overflow = __builtin_mul_overflow(value->whole, heddle_line_is(in, sign, "%") ? 0 : other.whole, &result);
    else if (other.whole != 0)
        result = heddle_line_is(in, sign, "/") ? value->whole / other.whole : value->whole % other.whole;
    *value = heddle_line_whole(result);
    return overflow ? heddle_line_wrong(in, sign, "the number is too large") : HEDDLE_OK;
}

static heddle_status product(heddle_line *in, heddle_line_number *value)
{
    HEDDLE_TRY(atom(in, value));
    while (heddle_line_is(in, in->at, "*") || heddle_line_is(in, in->at, "/") || heddle_line_is(in, in->at, "%")) {
        heddle_line_number other = heddle_line_whole(0);
        int sign = in->at++;
        HEDDLE_TRY(atom(in, &other));
        HEDDLE_TRY(combine(in, sign, value, other));
    }
    return HEDDLE_OK;
}

heddle_status heddle_line_expression(heddle_line *in, heddle_line_number *value)
{
    HEDDLE_TRY(product(in, value));
    while (heddle_line_is(in, in->at, "+") || heddle_line_is(in, in->at, "-")) {
        heddle_line_number other = heddle_line_whole(0);
        int sign = in->at++;
        HEDDLE_TRY(product(in, &other));
        HEDDLE_TRY(combine(in, sign, value, other));
    }
    return HEDDLE_OK;
}

// --- types -----------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    heddle_npy_type type;
} type_names[] = {
    {"float", HEDDLE_NPY_F32},  {"float32", HEDDLE_NPY_F32},   {"f32", HEDDLE_NPY_F32},
    {"double", HEDDLE_NPY_F64}, {"float64", HEDDLE_NPY_F64},   {"f64", HEDDLE_NPY_F64},
    {"half", HEDDLE_NPY_F16},   {"float16", HEDDLE_NPY_F16},   {"f16", HEDDLE_NPY_F16},
    {"Half", HEDDLE_NPY_F16},   {"__half", HEDDLE_NPY_F16},    {"bfloat16", HEDDLE_NPY_BF16},
    {"bf16", HEDDLE_NPY_BF16},  {"BFloat16", HEDDLE_NPY_BF16}, {"__nv_bfloat16", HEDDLE_NPY_BF16},
    {"int8", HEDDLE_NPY_I8},    {"int8_t", HEDDLE_NPY_I8},     {"char", HEDDLE_NPY_I8},
    {"uint8", HEDDLE_NPY_U8},   {"uint8_t", HEDDLE_NPY_U8},    {"byte", HEDDLE_NPY_U8},
    {"int16", HEDDLE_NPY_I16},  {"int16_t", HEDDLE_NPY_I16},   {"short", HEDDLE_NPY_I16},
    {"uint16", HEDDLE_NPY_U16}, {"uint16_t", HEDDLE_NPY_U16},  {"int", HEDDLE_NPY_I32},
    {"int32", HEDDLE_NPY_I32},  {"int32_t", HEDDLE_NPY_I32},   {"i32", HEDDLE_NPY_I32},
    {"uint32", HEDDLE_NPY_U32}, {"uint32_t", HEDDLE_NPY_U32},  {"unsigned", HEDDLE_NPY_U32},
    {"int64", HEDDLE_NPY_I64},  {"int64_t", HEDDLE_NPY_I64},   {"long", HEDDLE_NPY_I64},
    {"i64", HEDDLE_NPY_I64},    {"uint64", HEDDLE_NPY_U64},    {"uint64_t", HEDDLE_NPY_U64},
    {"size_t", HEDDLE_NPY_U64}, {"bool", HEDDLE_NPY_BOOL},
};
enum { TYPE_NAMES = sizeof type_names / sizeof *type_names };

// float, at::Half
heddle_status heddle_line_type(heddle_line *in, heddle_npy_type *type)
{
    char shown[80], text[80];
    while (heddle_line_is(in, in->at + 1, "::"))
        in->at += 2;
    for (int i = 0; i < TYPE_NAMES; i++)
        if (heddle_line_is(in, in->at, type_names[i].name)) {
            *type = type_names[i].type;
            in->at++;
            in->at += heddle_line_is(in, in->at, "long") ||
                      (heddle_line_is(in, in->at, "int") && i > 0); // long long, unsigned int
            return HEDDLE_OK;
        }
    const char *names[TYPE_NAMES];
    for (int i = 0; i < TYPE_NAMES; i++)
        names[i] = type_names[i].name;
    heddle_line_word(in, in->at, shown, sizeof shown);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(shown + 1, "'"), shown + 1);
    const char *nearest = heddle_text_nearest(text, names, TYPE_NAMES);
    return heddle_line_wrong(in, in->at,
                             "%s is not a type%s%s; there are float, double, half, bfloat16, int8, uint8, int16, int, "
                             "int64, bool, ...",
                             shown, nearest ? "; did you mean " : "", nearest ? nearest : "");
}
