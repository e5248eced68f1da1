// The grammar of --args, and its expressions. Sizes may name numbers that come later in the line, so entries are first
// read, and numbers and sizes then computed when they are asked for.

#include "check/extension_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const int64_t most_elements = (int64_t)1 << 31;

static const char *name_at(const heddle_line *in, int token)
{
    const sim_token *at = sim_token_at(&in->source.code, token);
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)(at->end - at->start), in->source.text + at->start);
    return heddle_arena_copy_text(in->arguments->arena, text);
}

// --- entries ---------------------------------------------------------------------------------------------------------

static int end_of_entry(const heddle_line *in, int first)
{
    for (int i = first; i < in->last; i++) {
        const sim_token *token = &in->source.code.at[i];
        if ((heddle_line_is(in, i, "(") || heddle_line_is(in, i, "[")) && token->match > i)
            i = token->match;
        else if (heddle_line_is(in, i, ",") || heddle_line_is(in, i, ";"))
            return i;
    }
    return in->last;
}

static void read_role(heddle_line *in, heddle_check_argument *one)
{
    if (heddle_line_is(in, in->at, "in")) {
        in->at++;
        one->role = HEDDLE_CHECK_IN;
        in->at += heddle_line_is(in, in->at, "out") && (one->role = HEDDLE_CHECK_INOUT);
    } else if (heddle_line_is(in, in->at, "out") || heddle_line_is(in, in->at, "inout")) {
        one->role = heddle_line_is(in, in->at, "out") ? HEDDLE_CHECK_OUT : HEDDLE_CHECK_INOUT;
        in->at++;
    }
}

static heddle_status read_type(heddle_line *in, int end, heddle_check_argument *one, heddle_line_pieces *found)
{
    char shown[80];
    in->at++; // :
    read_role(in, one);
    if (heddle_line_is(in, in->at, "const"))
        in->at++;
    HEDDLE_TRY(heddle_line_type(in, &one->type));
    one->has_type = true;
    if (heddle_line_is(in, in->at, "*"))
        return heddle_line_wrong(in, in->at, "a tensor is written with its sizes: %s: float[rows, 1024]", one->name);
    if (heddle_line_is(in, in->at, "[")) {
        int close = in->source.code.at[in->at].match;
        if (close <= in->at)
            return heddle_line_wrong(in, in->at, "this [ is not closed");
        found->has_size = true;
        found->size_first = in->at + 1;
        found->size_last = close;
        in->at = close + 1;
    }
    if (in->at < end && !heddle_line_is(in, in->at, "="))
        return heddle_line_wrong(in, in->at,
                                 "%s is not expected here; an entry is NAME: [in|out|inout] TYPE[SIZES] = VALUE",
                                 heddle_line_word(in, in->at, shown, sizeof shown));
    return HEDDLE_OK;
}

static heddle_status read_entry(heddle_line *in, int end)
{
    char shown[80];
    heddle_check_arguments *all = in->arguments;
    const sim_token *token = sim_token_at(&in->source.code, in->at);
    if (token->kind != SIM_TOKEN_NAME || in->at >= end)
        return heddle_line_wrong(in, in->at, "%s is not a name; an entry is NAME: [in|out|inout] TYPE[SIZES] = VALUE",
                                 heddle_line_word(in, in->at, shown, sizeof shown));
    if (all->count == HEDDLE_CHECK_MOST_ARGUMENTS)
        return heddle_line_wrong(in, in->at, "more than %d arguments", HEDDLE_CHECK_MOST_ARGUMENTS);
    if (heddle_line_entry(in, in->at) >= 0)
        return heddle_line_wrong(in, in->at, "%s is described twice",
                                 heddle_line_word(in, in->at, shown, sizeof shown));
    heddle_check_argument *one = &all->at[all->count];
    heddle_line_pieces *found = &in->pieces[all->count];
    *one = (heddle_check_argument){.name = name_at(in, in->at), .column = heddle_line_column(in, in->at)};
    in->at++;
    if (heddle_line_is(in, in->at, ":"))
        HEDDLE_TRY(read_type(in, end, one, found));
    if (heddle_line_is(in, in->at, "=") && in->at < end) {
        found->has_value = true;
        found->value_first = in->at + 1;
        found->value_last = end;
        if (found->value_first >= end)
            return heddle_line_wrong(in, in->at, "a value is missing behind =");
    } else if (in->at < end) {
        return heddle_line_wrong(in, in->at,
                                 "%s is not expected here; an entry is NAME: [in|out|inout] TYPE[SIZES] = VALUE",
                                 heddle_line_word(in, in->at, shown, sizeof shown));
    }
    if (!found->has_value && !one->has_type)
        return heddle_line_wrong(in, in->at - 1,
                                 "'%s' has neither a type nor a value: write %s: float[1024] or %s = 1024", one->name,
                                 one->name, one->name);
    all->count++;
    return HEDDLE_OK;
}

// --- values ----------------------------------------------------------------------------------------------------------

// The text of a value that names a .npy file; NULL: it does not.
static const char *file_name(const heddle_line *in, const heddle_line_pieces *found)
{
    const sim_token *first = &in->source.code.at[found->value_first],
                    *last = &in->source.code.at[found->value_last - 1];
    uint32_t start = first->start, end = last->end;
    bool quoted = first == last && first->kind == SIM_TOKEN_STRING && end - start > 2;
    char text[4096];
    snprintf(text, sizeof text, "%.*s", (int)(end - start - 2 * quoted), in->source.text + start + quoted);
    return quoted || heddle_text_ends(text, ".npy") ? heddle_arena_copy_text(in->arguments->arena, text) : NULL;
}

typedef struct fill_name {
    const char *name;
    heddle_check_fill fill;
    double low, high;
    int most; // numbers it takes
} fill_name;

static const fill_name fills[] = {
    {"zeros", HEDDLE_CHECK_FILL_CONST, 0, 0, 0},      {"ones", HEDDLE_CHECK_FILL_CONST, 1, 0, 0},
    {"const", HEDDLE_CHECK_FILL_CONST, 0, 0, 1},      {"full", HEDDLE_CHECK_FILL_CONST, 0, 0, 1},
    {"arange", HEDDLE_CHECK_FILL_ARANGE, 0, 1, 2},    {"uniform", HEDDLE_CHECK_FILL_UNIFORM, 0, 1, 2},
    {"normal", HEDDLE_CHECK_FILL_NORMAL, 0, 1, 2},    {"randn", HEDDLE_CHECK_FILL_NORMAL, 0, 1, 2},
    {"randint", HEDDLE_CHECK_FILL_RANDINT, 0, 10, 2},
};
enum { FILLS = sizeof fills / sizeof *fills };

static heddle_status read_fill_numbers(heddle_line *in, const fill_name *fill, heddle_check_argument *one)
{
    int count = 0, name = in->at - 1;
    if (!heddle_line_is(in, in->at, "("))
        return HEDDLE_OK;
    for (in->at++; in->at < in->last && !heddle_line_is(in, in->at, ")");) {
        heddle_line_number value = heddle_line_whole(0);
        if (heddle_line_is(in, in->at, "seed") && heddle_line_is(in, in->at + 1, "=")) {
            in->at += 2;
            HEDDLE_TRY(heddle_line_expression(in, &value));
            if (!value.is_whole || value.whole < 0)
                return heddle_line_wrong(in, in->at - 1, "a seed is a whole number, 0 or more");
            one->seed = (uint64_t)value.whole;
        } else {
            HEDDLE_TRY(heddle_line_expression(in, &value));
            if (count == fill->most)
                return heddle_line_wrong(in, in->at - 1, "%s takes %d number%s%s", fill->name, fill->most,
                                         fill->most == 1 ? "" : "s",
                                         fill->fill >= HEDDLE_CHECK_FILL_UNIFORM ? " and seed=N" : "");
            *(count++ == 0 ? &one->low : &one->high) = value.value;
        }
        if (heddle_line_is(in, in->at, ","))
            in->at++;
        else if (!heddle_line_is(in, in->at, ")"))
            return heddle_line_wrong(in, in->at, "a ) is missing");
    }
    if (!heddle_line_is(in, in->at, ")"))
        return heddle_line_wrong(in, in->at, "a ) is missing");
    in->at++;
    if (fill->fill == HEDDLE_CHECK_FILL_RANDINT && count == 1) {
        one->high = one->low;
        one->low = 0;
    }
    if ((fill->fill == HEDDLE_CHECK_FILL_RANDINT || fill->fill == HEDDLE_CHECK_FILL_UNIFORM) && !(one->low < one->high))
        return heddle_line_wrong(in, name, "%s: the second number must be above the first", fill->name);
    return HEDDLE_OK;
}

static heddle_status read_fill(heddle_line *in, heddle_check_argument *one)
{
    char shown[80];
    for (int i = 0; i < FILLS; i++) {
        if (!heddle_line_is(in, in->at, fills[i].name))
            continue;
        one->fill = fills[i].fill;
        one->low = fills[i].low;
        one->high = fills[i].high;
        in->at++;
        return read_fill_numbers(in, &fills[i], one);
    }
    bool number_given =
        sim_token_at(&in->source.code, in->at)->kind == SIM_TOKEN_NUMBER || heddle_line_is(in, in->at, "-");
    if (number_given)
        return heddle_line_wrong(in, in->at, "a tensor of one number is const(...)");
    return heddle_line_wrong(in, in->at,
                             "%s: values are zeros, ones, const(3), arange, uniform(-1, 1), normal(seed=1), randint(0, "
                             "10), or a .npy file",
                             heddle_line_word(in, in->at, shown, sizeof shown));
}

static heddle_status read_sizes(heddle_line *in, const heddle_line_pieces *found, heddle_check_argument *one)
{
    int last = in->last;
    one->count = 1;
    in->last = found->size_last;
    for (in->at = found->size_first; in->at < found->size_last;) {
        heddle_line_number size = heddle_line_whole(0);
        int first = in->at;
        if (one->rank == HEDDLE_CHECK_MOST_RANK)
            return heddle_line_wrong(in, in->at, "more than %d sizes", HEDDLE_CHECK_MOST_RANK);
        HEDDLE_TRY(heddle_line_expression(in, &size));
        if (!size.is_whole || size.whole < 0)
            return heddle_line_wrong(in, first, "a size is a whole number, 0 or more");
        if (size.whole > most_elements || __builtin_mul_overflow(one->count, size.whole, &one->count) ||
            one->count > most_elements)
            return heddle_line_wrong(in, first, "'%s' has too many elements", one->name);
        one->dims[one->rank++] = size.whole;
        if (in->at < found->size_last && !heddle_line_is(in, in->at, ","))
            return heddle_line_wrong(in, in->at, "a comma is missing between two sizes");
        in->at += heddle_line_is(in, in->at, ",");
    }
    in->last = last;
    if (one->rank == 0)
        return heddle_line_wrong(in, found->size_first, "sizes are missing: %s[1024]", one->name);
    return HEDDLE_OK;
}

// Sizes and type that are not written are the file's.
static heddle_status read_file(heddle_line *in, const heddle_line_pieces *found, heddle_check_argument *one)
{
    heddle_npy array;
    heddle_status status = heddle_npy_read(one->path, &array);
    if (status != HEDDLE_OK)
        return status == HEDDLE_OUT_OF_MEMORY ? status
                                              : heddle_line_wrong(in, found->value_first, "%s", heddle_last_error());
    bool whole = !heddle_npy_is_float(array.type);
    if (!one->has_type)
        one->type = array.type;
    if (!found->has_size) {
        one->rank = array.rank;
        memcpy(one->dims, array.dims, sizeof one->dims);
        one->count = array.count;
    }
    bool same = one->rank == array.rank && memcmp(one->dims, array.dims, (size_t)array.rank * sizeof *one->dims) == 0;
    heddle_npy_type type = array.type;
    heddle_npy_free(&array);
    if (!same)
        return heddle_line_wrong(in, found->value_first, "%s has other sizes than '%s'", one->path, one->name);
    if (!whole && !heddle_npy_is_float(one->type))
        return heddle_line_wrong(in, found->value_first, "%s has numbers of type %s, which %s would cut off", one->path,
                                 heddle_npy_name(type), heddle_npy_name(one->type));
    return HEDDLE_OK;
}

static heddle_status compute_tensor(heddle_line *in, const heddle_line_pieces *found, heddle_check_argument *one)
{
    if (one->role == HEDDLE_CHECK_NUMBER)
        one->role = HEDDLE_CHECK_IN;
    if (found->has_size)
        HEDDLE_TRY(read_sizes(in, found, one));
    if (one->role == HEDDLE_CHECK_OUT && found->has_value)
        return heddle_line_wrong(in, found->value_first,
                                 "'%s' is out, so it has no values before the launch; write inout", one->name);
    if (found->has_value) {
        one->path = file_name(in, found);
        in->at = found->value_first;
        if (one->path) {
            one->fill = HEDDLE_CHECK_FILL_FILE;
            return read_file(in, found, one);
        }
        HEDDLE_TRY(read_fill(in, one));
        if (in->at != found->value_last)
            return heddle_line_wrong(in, in->at, "the value ends before this");
        if (!heddle_npy_holds(one->type, one->low))
            return heddle_line_wrong(in, found->value_first, "%s cannot hold %g", heddle_npy_name(one->type), one->low);
        return HEDDLE_OK;
    }
    if (one->role == HEDDLE_CHECK_OUT)
        return HEDDLE_OK;
    if (!heddle_npy_is_float(one->type))
        return heddle_line_wrong(in, found->size_first,
                                 "'%s' has whole numbers: say which, = arange, zeros, randint(0, 10), const(3) "
                                 "or a .npy file",
                                 one->name);
    one->fill = HEDDLE_CHECK_FILL_NORMAL;
    one->high = 1;
    return HEDDLE_OK;
}

static heddle_status compute_number(heddle_line *in, const heddle_line_pieces *found, heddle_check_argument *one)
{
    heddle_line_number value = heddle_line_whole(0);
    if (one->role != HEDDLE_CHECK_NUMBER)
        return heddle_line_wrong(in, in->at, "'%s' is %s and has no sizes: write %s: out float[1024]", one->name,
                                 one->role == HEDDLE_CHECK_IN ? "in" : "out", one->name);
    if (!found->has_value)
        return heddle_line_wrong(in, found->size_first,
                                 "'%s' has no value: write %s = 1024, or the sizes of a tensor, %s: "
                                 "float[1024]",
                                 one->name, one->name, one->name);
    in->at = found->value_first;
    HEDDLE_TRY(heddle_line_expression(in, &value));
    if (in->at != found->value_last)
        return heddle_line_wrong(in, in->at, "the number ends before this");
    one->is_whole = value.is_whole;
    one->whole = value.whole;
    one->number = value.value;
    if (one->has_type && !heddle_npy_is_float(one->type) &&
        (!value.is_whole || !heddle_npy_holds(one->type, value.value)))
        return heddle_line_wrong(in, found->value_first, "%s cannot hold this number", heddle_npy_name(one->type));
    return HEDDLE_OK;
}

static bool names_fill(const heddle_line *in, const heddle_line_pieces *found)
{
    for (int i = 0; i < FILLS; i++)
        if (heddle_line_is(in, found->value_first, fills[i].name))
            return true;
    return false;
}

// Everything about one entry, once; others may ask for it first.
heddle_status heddle_line_compute(heddle_line *in, int entry)
{
    heddle_check_argument *one = &in->arguments->at[entry];
    heddle_line_pieces *found = in->pieces ? &in->pieces[entry] : NULL;
    if (!found || found->computed)
        return HEDDLE_OK;
    int at = in->at, last = in->last;
    if (found->visiting)
        return heddle_line_wrong(in, at > 0 ? at - 1 : at, "'%s' is computed from itself", one->name);
    found->visiting = true;
    in->last = in->source.code.count;
    one->seed = in->seed + (uint64_t)entry;
    if (found->has_value &&
        (heddle_line_is(in, found->value_first, "null") || heddle_line_is(in, found->value_first, "nullptr") ||
         heddle_line_is(in, found->value_first, "None")))
        one->role = HEDDLE_CHECK_NULL;
    else if (found->has_size || (found->has_value && file_name(in, found)))
        HEDDLE_TRY(compute_tensor(in, found, one));
    else if (found->has_value && names_fill(in, found))
        return heddle_line_wrong(in, found->value_first,
                                 "'%s' is a tensor and needs its sizes: write %s: float[1024] = ...", one->name,
                                 one->name);
    else
        HEDDLE_TRY(compute_number(in, found, one));
    in->at = at;
    in->last = last;
    found->visiting = false;
    found->computed = true;
    return HEDDLE_OK;
}

static heddle_status read_all(heddle_line *in)
{
    for (in->at = 0; in->at < in->last;) {
        int end = end_of_entry(in, in->at);
        HEDDLE_TRY(read_entry(in, end));
        in->at = end + 1;
    }
    for (int i = 0; i < in->arguments->count; i++)
        HEDDLE_TRY(heddle_line_compute(in, i));
    return HEDDLE_OK;
}

heddle_status heddle_check_arguments_read(const char *line, uint64_t seed, heddle_arena *arena,
                                          heddle_check_arguments *arguments)
{
    heddle_line in;
    *arguments = (heddle_check_arguments){.arena = arena};
    HEDDLE_TRY(heddle_line_open(&in, "--args", line, arguments));
    in.seed = seed;
    in.pieces = calloc(HEDDLE_CHECK_MOST_ARGUMENTS, sizeof *in.pieces);
    heddle_status status = in.pieces ? read_all(&in) : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read --args");
    free(in.pieces);
    sim_source_close(&in.source);
    return status;
}

static heddle_status read_extent(heddle_line *in, int64_t size[3])
{
    bool wrapped =
        heddle_line_is(in, 0, "dim3") && heddle_line_is(in, 1, "(") && in->source.code.at[1].match == in->last - 1;
    in->at = wrapped ? 2 : 0;
    in->last -= wrapped;
    for (int i = 0; i < 3; i++) {
        heddle_line_number value = heddle_line_whole(0);
        int first = in->at;
        HEDDLE_TRY(heddle_line_expression(in, &value));
        if (!value.is_whole || value.whole < 0 || value.whole > INT32_MAX)
            return heddle_line_wrong(in, first, "a size is a whole number from 0 to %d", INT32_MAX);
        size[i] = value.whole;
        if (in->at >= in->last)
            return HEDDLE_OK;
        if (!heddle_line_is(in, in->at, ","))
            return heddle_line_wrong(in, in->at, "a comma is missing between two sizes");
        in->at++;
    }
    return heddle_line_wrong(in, in->at, "more than three sizes");
}

heddle_status heddle_check_arguments_extent(const heddle_check_arguments *arguments, const char *option,
                                            const char *text, int64_t size[3])
{
    heddle_line in;
    size[0] = size[1] = size[2] = 1;
    HEDDLE_TRY(heddle_line_open(&in, option, text, (heddle_check_arguments *)arguments));
    heddle_status status = read_extent(&in, size);
    sim_source_close(&in.source);
    return status;
}

const heddle_check_argument *heddle_check_arguments_find(const heddle_check_arguments *arguments, const char *name)
{
    for (int i = 0; i < arguments->count; i++)
        if (strcmp(arguments->at[i].name, name) == 0)
            return &arguments->at[i];
    return NULL;
}
