// How the files themselves launch a kernel, and what its body tells about a launch: what a suggestion is made of. A
// launch is read as text in which constants and variables of the host's code stand for their values.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/extension_kernels.h"
#include "sim/source/launch.h"
#include "sim/source/scope.h"

enum { EXTENT_SIZE = 512, MOST_DEPTH = 4 };

typedef struct reader {
    heddle_arena *arena;
    const heddle_check_own_files *files;
    const heddle_check_global *kernel;
} reader;

typedef struct extent {
    char text[EXTENT_SIZE];
    size_t used;
    bool unknown; // needs more than numbers and parameters
} extent;

static void put(extent *to, const char *text, size_t length)
{
    if (to->used + length + 1 > sizeof to->text) {
        to->unknown = true;
        return;
    }
    memcpy(to->text + to->used, text, length);
    to->used += length;
    to->text[to->used] = '\0';
}

static bool is_parameter(const heddle_check_global *kernel, const sim_source *source, const sim_token *token)
{
    for (int i = 0; i < kernel->count; i++)
        if (kernel->parameters[i].kind == HEDDLE_CHECK_BY_VALUE &&
            sim_token_is(source, token, kernel->parameters[i].name))
            return true;
    return false;
}

// `inside`: of a larger expression.
static void put_tokens(const reader *in, const sim_source *source, int first, int last, int depth, bool inside,
                       extent *to);

// The value of `name` where a file says NAME = VALUE or dim3 NAME(X, Y): the last before token `before` of its own
// file, or the first of another.
static bool put_variable(const reader *in, const sim_source *from, int name, int depth, bool inside, extent *to)
{
    const sim_token *token = &from->code.at[name];
    for (int f = -1; f < in->files->count; f++) {
        const sim_source *source = f < 0 ? from : in->files->at[f];
        for (int i = (f < 0 ? name : source->code.count) - 1; i > 0; i--) {
            if (!sim_tokens_equal(from, token, source, &source->code.at[i]))
                continue;
            const sim_token *sign = sim_token_at(&source->code, i + 1);
            int start = sim_statement_start(source, &source->code, i);
            bool is_dim3 = false;
            for (int k = start; k < i; k++)
                is_dim3 |= sim_token_is(source, &source->code.at[k], "dim3");
            if (sim_token_is(source, sign, "=") && !sim_token_is(source, sign + 1, "=") && i > start) {
                int end = i + 2;
                while (end < source->code.count && !sim_token_is(source, &source->code.at[end], ";"))
                    end++;
                end = heddle_check_item_end(source, i + 2, end);
                put_tokens(in, source, i + 2, end, depth + 1, inside, to);
                return true;
            }
            if (is_dim3 && (sim_token_is(source, sign, "(") || sim_token_is(source, sign, "{")) &&
                sign->match > i + 1) {
                put_tokens(in, source, i + 2, sign->match, depth + 1, false, to);
                return true;
            }
        }
    }
    return false;
}

static bool put_macro(const reader *in, const sim_source *from, int name, extent *to)
{
    for (int f = 0; f < in->files->count; f++)
        for (int d = 0; d < in->files->at[f]->directive_count; d++) {
            const sim_source *source = in->files->at[f];
            const sim_directive *macro = &source->directives[d];
            const sim_token *value = &source->lines.at[macro->first + 1];
            if (macro->kind == SIM_DIRECTIVE_DEFINE && macro->last - macro->first == 2 &&
                value->kind == SIM_TOKEN_NUMBER &&
                sim_tokens_equal(from, &from->code.at[name], source, &source->lines.at[macro->first])) {
                put(to, source->text + value->start, value->end - value->start);
                return true;
            }
        }
    return false;
}

// Template parameters of the launching code, and types of a dispatch, are float in what heddle suggests.
static bool put_type(const reader *in, const sim_source *source, const sim_token *token, extent *to)
{
    static const char *const types[] = {"float", "double", "int", "int64_t", "half", "bool", NULL};
    const heddle_check_global *kernel = in->kernel;
    bool dispatched = sim_token_is(source, token, "scalar_t") || sim_token_is(source, token, "T");
    for (int i = 0; i < kernel->template_count && !dispatched; i++)
        dispatched = kernel->template_is_type[i] && sim_token_is(source, token, kernel->template_names[i]);
    if (!dispatched && !sim_token_is_any(source, token, types))
        return false;
    put(to, dispatched ? "float" : source->text + token->start,
        dispatched ? strlen("float") : token->end - token->start);
    return true;
}

static void put_number(const sim_source *source, const sim_token *token, extent *to)
{
    size_t length = token->end - token->start;
    while (length > 1 && strchr("uUlL", source->text[token->start + length - 1]))
        length--; // --grid takes numbers without the suffix
    put(to, source->text + token->start, length);
}

static void put_tokens(const reader *in, const sim_source *source, int first, int last, int depth, bool inside,
                       extent *to)
{
    static const char *const kept[] = {"dim3", "sizeof", "min", "max", NULL};
    static const char *const casts[] = {"int", "unsigned", "int64_t", "size_t", "uint32_t", "long", NULL};
    if (depth > MOST_DEPTH || first >= last)
        to->unknown = true;
    bool brackets = inside && last - first > 1;
    put(to, "(", brackets);
    for (int i = first; i < last && !to->unknown; i++) {
        const sim_token *token = &source->code.at[i];
        bool qualifies = sim_token_is(source, sim_token_at(&source->code, i + 1), "::");
        bool whole = i + 1 == last && (i == first || sim_token_is(source, token - 1, "::"));
        bool cast = sim_token_is(source, token, "(") && token->match == i + 2 && i + 3 < last &&
                    sim_token_is_any(source, token + 1, casts);
        if (cast)
            i += 2;
        else if (qualifies)
            i++;
        else if (token->kind == SIM_TOKEN_NUMBER)
            put_number(source, token, to);
        else if (token->kind == SIM_TOKEN_SIGN && token->end - token->start == 1 &&
                 strchr("()", source->text[token->start]))
            put(to, source->text + token->start, 1);
        else if (token->kind == SIM_TOKEN_SIGN && token->end - token->start == 1 &&
                 strchr("+-*/%", source->text[token->start]))
            put(to, (char[]){' ', source->text[token->start], ' '}, 3);
        else if (sim_token_is(source, token, ","))
            put(to, ", ", 2);
        else if (token->kind != SIM_TOKEN_NAME)
            to->unknown = true;
        else if (sim_token_is_any(source, token, kept) || is_parameter(in->kernel, source, token))
            put(to, source->text + token->start, token->end - token->start);
        else if (!put_type(in, source, token, to) && !put_macro(in, source, i, to) &&
                 !put_variable(in, source, i, depth, last - first > 1 && !whole, to))
            to->unknown = true;
    }
    put(to, ")", brackets);
}

// Tokens [first, last) with everything put in; "" where that takes more than is known.
static const char *extent_of(const reader *in, const sim_source *source, int first, int last)
{
    extent to = {.used = 0};
    put_tokens(in, source, first, last, 0, false, &to);
    return to.unknown ? "" : heddle_arena_copy_text(in->arena, to.text);
}

// Items that are not known stay as they are written: the caller takes what it can use.
static const char *templates_of(const reader *in, const sim_source *source, int first, int last)
{
    extent all = {.used = 0};
    for (int i = first; i < last;) {
        int end = heddle_check_item_end(source, i, last);
        const char *text = extent_of(in, source, i, end);
        bool type = source->code.at[i].kind == SIM_TOKEN_NAME && strcmp(text, "float") == 0;
        if (!text[0] || type)
            text = heddle_check_tokens_text(in->arena, source, i, end);
        put(&all, ", ", i > first ? 2 : 0);
        put(&all, text, strlen(text));
        i = end + 1;
    }
    return heddle_arena_copy_text(in->arena, all.text);
}

static void read_launch(heddle_check_globals *globals, const heddle_check_own_files *files, const sim_source *source,
                        const sim_launch *launch)
{
    for (int i = 0; i < globals->count && launch->name >= 0; i++) {
        heddle_check_global *kernel = globals->at[i];
        reader in = {globals->arena, files, kernel};
        if (kernel->is_launched || !sim_token_is(source, &source->code.at[launch->name], kernel->name))
            continue;
        kernel->is_launched = true;
        int first = launch->open + SIM_LAUNCH_ARROWS, end = heddle_check_item_end(source, first, launch->close);
        kernel->grid = extent_of(&in, source, first, end);
        int second = heddle_check_item_end(source, end + 1, launch->close);
        kernel->block = extent_of(&in, source, end + 1, second);
        if (second < launch->close) {
            int third = heddle_check_item_end(source, second + 1, launch->close);
            kernel->shared = extent_of(&in, source, second + 1, third);
            if (!kernel->shared[0])
                kernel->shared = "?";
        }
        const sim_token *angle = sim_token_at(&source->code, launch->name + 1);
        int behind = sim_token_is(source, angle, "<") && launch->name + 1 < launch->open
                         ? sim_behind_angles(source, &source->code, launch->name + 1)
                         : -1;
        if (behind > 0)
            kernel->launch_templates = templates_of(&in, source, launch->name + 2, behind - 1);
    }
}

// --- types of the files' own -----------------------------------------------------------------------------------------

static bool names_type(const char *type, const sim_source *source, const sim_token *token)
{
    size_t length = token->end - token->start;
    for (const char *at = type; *at && token->kind == SIM_TOKEN_NAME; at++)
        if ((at == type || !sim_is_name(at[-1])) && strncmp(at, source->text + token->start, length) == 0 &&
            !sim_is_name(at[length]))
            return true;
    return false;
}

// using NAME = TYPE; and typedef TYPE NAME;
static void read_alias(const reader *in, const sim_source *source, int at, heddle_check_parameter *parameter)
{
    int end = at;
    while (end < source->code.count && !sim_token_is(source, &source->code.at[end], ";"))
        end++;
    bool is_using = sim_token_is(source, &source->code.at[at], "using") &&
                    sim_token_is(source, sim_token_at(&source->code, at + 2), "=");
    bool is_typedef = sim_token_is(source, &source->code.at[at], "typedef") && end > at + 2;
    int name = is_using ? at + 1 : end - 1;
    if ((!is_using && !is_typedef) || !names_type(parameter->type, source, &source->code.at[name]))
        return;
    int first = is_using ? at + 3 : at + 1, last = is_using ? end : end - 1;
    parameter->alias = heddle_check_tokens_text(in->arena, source, first, last);
    for (int i = first; i < last; i++)
        if (strstr(parameter->alias, "TensorAccessor") && sim_token_is(source, &source->code.at[i], "<")) {
            const sim_token *rank = sim_token_at(&source->code, heddle_check_item_end(source, i + 1, last) + 1);
            parameter->kind = HEDDLE_CHECK_ACCESSOR;
            parameter->dimensions = rank->kind == SIM_TOKEN_NUMBER ? source->text[rank->start] - '0' : 0;
            return;
        }
}

// A text of the kernel's own with everything put in; a template's argument stays; "" where it is not known.
static const char *known_text(const reader *in, const char *text)
{
    sim_source one = {0};
    char *copy = strdup(text);
    for (int i = 0; i < in->kernel->template_count; i++)
        if (strcmp(text, in->kernel->template_names[i]) == 0) {
            free(copy);
            return text;
        }
    if (!copy || !text[0]) {
        free(copy);
        return "";
    }
    sim_source_open(&one, "", copy, strlen(text));
    sim_scopes_find(&one, &(sim_qualifiers){.count = 0});
    const char *known = extent_of(in, &one, 0, one.code.count);
    sim_source_close(&one);
    return known;
}

void heddle_check_launches_read(heddle_check_globals *globals, const heddle_check_own_files *files)
{
    for (int f = 0; f < files->count; f++)
        for (int t = 0; t < files->at[f]->code.count; t++) {
            const sim_source *source = files->at[f];
            bool alias = sim_token_is(source, &source->code.at[t], "using") ||
                         sim_token_is(source, &source->code.at[t], "typedef");
            sim_launch launch;
            for (int k = 0; k < globals->count && alias; k++)
                for (int p = 0; p < globals->at[k]->count; p++)
                    if (globals->at[k]->parameters[p].kind == HEDDLE_CHECK_BY_VALUE)
                        read_alias(&(reader){globals->arena, files, globals->at[k]}, source, t,
                                   &globals->at[k]->parameters[p]);
            if (sim_launch_at(source, &source->code, t, &launch))
                read_launch(globals, files, source, &launch);
        }
    for (int k = 0; k < globals->count; k++) {
        heddle_check_global *kernel = globals->at[k];
        reader in = {globals->arena, files, kernel};
        kernel->bounds = known_text(&in, kernel->bounds);
        kernel->tile[0] = known_text(&in, kernel->tile[0]);
        kernel->tile[1] = known_text(&in, kernel->tile[1]);
    }
}

// --- the kernel's own text -------------------------------------------------------------------------------------------

static bool is_index(const sim_source *source, int token, const char *name, const char *axis)
{
    return sim_token_is(source, &source->code.at[token], name) &&
           sim_token_is(source, sim_token_at(&source->code, token + 2), axis);
}

// n * n or x % n: the number is a side of a matrix, and arrays are larger than it.
static bool is_side(const heddle_check_global *kernel, const sim_source *source, int token)
{
    const sim_token *one = &source->code.at[token], *sign = sim_token_at(&source->code, token - 1);
    if (!is_parameter(kernel, source, one))
        return false;
    const sim_token *factor = sim_token_at(&source->code, token - 2);
    return sim_token_is(source, sign, "%") ||
           (sim_token_is(source, sign, "*") && sim_tokens_equal(source, one, source, factor));
}

static void read_tile(heddle_arena *arena, const sim_source *source, int shared, heddle_check_global *kernel)
{
    int i = shared;
    while (i < source->code.count && !sim_token_is(source, &source->code.at[i], "[") &&
           !sim_token_is(source, &source->code.at[i], ";"))
        i++;
    int close = source->code.at[i].match, second = close + 1;
    if (close <= i || !sim_token_is(source, sim_token_at(&source->code, second), "[") || kernel->tile[0][0])
        return;
    // Columns may have one more against bank conflicts: tile[32][32 + 1].
    int last = source->code.at[second].match;
    if (last - second == 4 && sim_token_is(source, &source->code.at[second + 2], "+"))
        last = second + 2;
    kernel->tile[0] = heddle_check_tokens_text(arena, source, i + 1, close);
    kernel->tile[1] = heddle_check_tokens_text(arena, source, second + 1, last);
}

static void read_bounds(heddle_arena *arena, const sim_source *source, int open, heddle_check_global *kernel)
{
    for (int i = sim_statement_start(source, &source->code, open - 1); i < open; i++) {
        const sim_token *token = &source->code.at[i], *bracket = token + 1;
        bool bounds = sim_token_is(source, token, "__launch_bounds__") ||
                      (token->kind == SIM_TOKEN_NAME && token->end - token->start > 17 &&
                       memcmp(source->text + token->start, "C10_LAUNCH_BOUNDS", 17) == 0);
        if (bounds && sim_token_is(source, bracket, "(") && bracket->match > i + 1)
            kernel->bounds =
                heddle_check_tokens_text(arena, source, i + 2, heddle_check_item_end(source, i + 2, bracket->match));
    }
}

void heddle_check_body_read(heddle_arena *arena, const sim_source *source, int open, heddle_check_global *kernel)
{
    read_bounds(arena, source, open, kernel);
    for (int i = open; i < source->code.at[open].match; i++) {
        kernel->uses_thread_y |= is_index(source, i, "threadIdx", "y");
        kernel->uses_blocks |= sim_token_is(source, &source->code.at[i], "blockIdx") ||
                               sim_token_is(source, &source->code.at[i], "this_grid") ||
                               sim_token_is(source, &source->code.at[i], "KERNEL_LOOP") ||
                               sim_token_is(source, &source->code.at[i], "CUDA_KERNEL_LOOP");
        kernel->uses_block_y |= is_index(source, i, "blockIdx", "y");
        kernel->uses_block_z |= is_index(source, i, "blockIdx", "z");
        kernel->has_square |= is_side(kernel, source, i);
        if (sim_token_is(source, &source->code.at[i], "__shared__"))
            read_tile(arena, source, i, kernel);
        kernel->has_dynamic_shared |= sim_token_is(source, &source->code.at[i], "SharedMemory") ||
                                      (sim_token_is(source, &source->code.at[i], "extern") &&
                                       sim_token_is(source, &source->code.at[i + 1], "__shared__"));
    }
}
