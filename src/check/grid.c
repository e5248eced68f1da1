// Claims something only where the source shows the numbers, the run confirms the grid, the kernel gets or uses n, does
// not loop over the grid, and nothing near the launch looks at the rest (n % 256).

#include "check/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/own.h"
#include "sim/source/launch.h"
#include "sim/source/scope.h"
#include "sim/source/statement.h"

enum { DEEPEST_NAME = 6, MOST_PARTS = 3 };

typedef struct range {
    int first, last; // tokens, the last not included
} range;

typedef struct reading {
    const heddle_check_own_files *files;
    const sim_source *source;
    int open; // brace of the function with the launch
} reading;

static bool is(const sim_source *source, const sim_tokens *tokens, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(tokens, token), text);
}

static bool is_code(const reading *in, int token, const char *text)
{
    return is(in->source, &in->source->code, token, text);
}

static bool is_called(const reading *in, const sim_token *name, int token)
{
    return sim_tokens_equal(in->source, name, in->source, sim_token_at(&in->source->code, token));
}

static bool mentions(const sim_source *file, range part, const sim_source *source, const sim_token *name)
{
    for (int i = part.first; i < part.last; i++)
        if (sim_tokens_equal(source, name, file, &file->code.at[i]))
            return true;
    return false;
}

// --- constants -------------------------------------------------------------------------------------------------------

// A product or quotient of numbers and names, of the code or of a preprocessor line.
typedef struct expression {
    const reading *in;
    const sim_source *source;
    const sim_tokens *tokens;
    int at, last, depth;
} expression;

static bool value_of(const reading *in, const sim_source *source, const sim_token *name, int depth, long long *value);
static bool evaluate(expression *from, long long *value);

static bool read_number(const sim_source *source, const sim_token *token, long long *value)
{
    const char *text = source->text + token->start;
    char *end;
    *value = strtoll(text, &end, 0);
    while (end < source->text + token->end && strchr("uUlL", *end))
        end++;
    return end == source->text + token->end;
}

static bool read_factor(expression *from, long long *value)
{
    const sim_token *token = sim_token_at(from->tokens, from->at++);
    if (from->at > from->last)
        return false;
    if (token->kind == SIM_TOKEN_NUMBER)
        return read_number(from->source, token, value);
    if (token->kind == SIM_TOKEN_NAME)
        return value_of(from->in, from->source, token, from->depth + 1, value);
    if (!sim_token_is(from->source, token, "(") || !evaluate(from, value))
        return false;
    return is(from->source, from->tokens, from->at++, ")") && from->at <= from->last;
}

static bool read_product(expression *from, long long *value)
{
    bool known = read_factor(from, value);
    while (known && from->at < from->last) {
        bool times = is(from->source, from->tokens, from->at, "*"),
             over = is(from->source, from->tokens, from->at, "/");
        bool shifts =
            is(from->source, from->tokens, from->at, "<") && is(from->source, from->tokens, from->at + 1, "<");
        long long other = 0;
        if (!times && !over && !shifts)
            break;
        from->at += shifts ? 2 : 1;
        known = read_factor(from, &other) && (!over || other > 0) && (!shifts || (other >= 0 && other < 32)) &&
                llabs(*value) < 1LL << 31 && llabs(other) < 1LL << 31;
        *value = !known ? 0 : times ? *value * other : over ? *value / other : *value << other;
    }
    return known;
}

static bool evaluate(expression *from, long long *value)
{
    bool known = read_product(from, value);
    while (known && from->at < from->last) {
        bool plus = is(from->source, from->tokens, from->at, "+"),
             minus = is(from->source, from->tokens, from->at, "-");
        long long other = 0;
        if (!plus && !minus)
            break;
        from->at++;
        known = read_product(from, &other);
        *value = plus ? *value + other : *value - other;
    }
    return known;
}

// Whether something else than its definition may change a variable: n++, n += 1, &n, >> n.
static bool may_change(const reading *in, int token)
{
    static const char *const changes[] = {"+", "-", "*", "/", "%", "&", "|", "^", NULL};
    const sim_source *source = in->source;
    const sim_token *next = sim_token_at(&source->code, token + 1), *before = sim_token_at(&source->code, token - 2);
    bool counted = (is_code(in, token + 1, "+") && is_code(in, token + 2, "+")) ||
                   (is_code(in, token + 1, "-") && is_code(in, token + 2, "-")) ||
                   (is_code(in, token - 1, "+") && is_code(in, token - 2, "+")) ||
                   (is_code(in, token - 1, "-") && is_code(in, token - 2, "-"));
    bool updated = sim_token_is_any(source, next, changes) && is_code(in, token + 2, "=");
    bool addressed = is_code(in, token - 1, "&") && before->kind != SIM_TOKEN_NAME && before->kind != SIM_TOKEN_NUMBER;
    bool read = is_code(in, token - 1, ">") && is_code(in, token - 2, ">");
    return counted || updated || addressed || read;
}

// Set once, in this function or outside of all functions, and not by a parameter of this one.
static bool variable_value(const reading *in, const sim_token *name, int depth, long long *value)
{
    const sim_source *source = in->source;
    int found = -1, close = in->open - 1;
    for (int i = 0; i < source->code.count; i++) {
        if (!is_called(in, name, i))
            continue;
        int function = sim_function_around(source, i);
        if (function >= 0 && function != in->open)
            continue;
        if (may_change(in, i) || (is_code(in, i + 1, "=") && !is_code(in, i + 2, "=") && found >= 0))
            return false;
        if (is_code(in, i + 1, "=") && !is_code(in, i + 2, "="))
            found = i + 2;
    }
    int open = is_code(in, close, ")") ? source->code.at[close].match : -1;
    if (found < 0 || open < 0 || mentions(source, (range){open, close}, source, name))
        return false;
    int last = found;
    while (last < source->code.count && !is_code(in, last, ";") && !is_code(in, last, ","))
        last = source->code.at[last].match > last ? source->code.at[last].match + 1 : last + 1;
    expression from = {in, source, &source->code, found, last, depth};
    return evaluate(&from, value) && from.at == last;
}

static bool value_of(const reading *in, const sim_source *source, const sim_token *name, int depth, long long *value)
{
    if (depth > DEEPEST_NAME)
        return false;
    const sim_directive *macro = NULL;
    const sim_source *of = NULL;
    for (int f = 0; f < in->files->count; f++)
        for (int i = 0; i < in->files->at[f]->directive_count; i++) {
            const sim_directive *line = &in->files->at[f]->directives[i];
            if (line->kind != SIM_DIRECTIVE_DEFINE || line->first >= line->last ||
                !sim_tokens_equal(source, name, in->files->at[f], &in->files->at[f]->lines.at[line->first]))
                continue;
            if (macro)
                return false;
            macro = line;
            of = in->files->at[f];
        }
    if (!macro)
        return source == in->source && variable_value(in, name, depth, value);
    expression from = {in, of, &of->lines, macro->first + 1, macro->last, depth};
    return evaluate(&from, value) && from.at == macro->last;
}

// --- grids -----------------------------------------------------------------------------------------------------------

// The parts of a list between commas; returns how many.
static int split(const reading *in, range list, range parts[MOST_PARTS])
{
    int count = 0, start = list.first;
    for (int i = list.first; i <= list.last && count < MOST_PARTS; i++) {
        if (i < list.last && in->source->code.at[i].match > i)
            i = in->source->code.at[i].match;
        else if (i == list.last || is_code(in, i, ",")) {
            parts[count++] = (range){start, i};
            start = i + 1;
        }
    }
    return count;
}

// What stands for the grid: itself, the arguments of dim3(...), or what a variable of this function was made with.
static range grid_of(const reading *in, range given)
{
    const sim_token *tokens = in->source->code.at;
    if (given.last - given.first > 2 && is_code(in, given.first, "dim3"))
        return (range){given.first + 2, given.last - 1};
    if (given.last - given.first != 1 || tokens[given.first].kind != SIM_TOKEN_NAME)
        return given;
    for (int i = given.first - 1; i > in->open; i--) {
        bool opens = is_code(in, i + 1, "(") || is_code(in, i + 1, "{");
        if (!is_called(in, &tokens[given.first], i))
            continue;
        if (opens && is_code(in, i - 1, "dim3"))
            return (range){i + 2, tokens[i + 1].match};
        int end = i + 2;
        while (is_code(in, i + 1, "=") && end < given.first && !is_code(in, end, ";") && !is_code(in, end, ","))
            end = tokens[end].match > end ? tokens[end].match + 1 : end + 1;
        if (is_code(in, i + 1, "="))
            return is_code(in, i + 2, "dim3") ? (range){i + 4, end - 1} : (range){i + 2, end};
    }
    return given;
}

// The body of the kernel of this name; empty: it is not shown, or there are several.
static range find_body(const reading *in, const sim_token *name, const sim_source **source)
{
    range body = {0, 0};
    for (int f = 0; f < in->files->count; f++) {
        const sim_source *file = in->files->at[f];
        for (int i = 0; i < file->code.count; i++) {
            const sim_token *open = sim_token_at(&file->code, i + 1);
            bool named = sim_tokens_equal(in->source, name, file, &file->code.at[i]) && sim_token_is(file, open, "(") &&
                         sim_scope_of(file, &file->code.at[i])->kind == SIM_SCOPE_FILE && open->match > 0;
            if (!named || !is(file, &file->code, open->match + 1, "{"))
                continue;
            if (body.last > 0)
                return (range){0, 0};
            body = (range){open->match + 1, file->code.at[open->match + 1].match};
            *source = file;
        }
    }
    return body;
}

// Whether a token stands in the head of a for or while.
static bool in_head(const sim_source *file, range body, int token)
{
    for (int i = body.first; i < token; i++) {
        bool loop = is(file, &file->code, i, "for") || is(file, &file->code, i, "while");
        if (loop && is(file, &file->code, i + 1, "(") && file->code.at[i + 1].match > token)
            return true;
    }
    return false;
}

// Whether a thread may come to further elements: by the size of the grid, or in a loop with a stride.
static bool loops_over_grid(const sim_source *file, range body)
{
    static const char *const words[] = {"gridDim", "this_grid", "num_blocks", NULL};
    for (int i = body.first; i < body.last; i++) {
        const sim_token *token = &file->code.at[i];
        bool strides = is(file, &file->code, i, "+") && is(file, &file->code, i + 1, "=") && in_head(file, body, i);
        if (strides || sim_token_is_any(file, token, words))
            return true;
    }
    return false;
}

// n % 256 in the same function: somebody thinks of the rest.
static bool handles_rest(const reading *in)
{
    for (int i = in->open; i < in->source->code.at[in->open].match; i++)
        if (is_code(in, i, "%"))
            return true;
    return false;
}

static bool ran_with(const reading *in, const heddle_check_result *result, const sim_token *name, int dimension,
                     long long blocks)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(name->end - name->start), in->source->text + name->start);
    const heddle_check_report *run = result->run_count > 0 ? result->runs[0] : NULL;
    for (int k = 0; run && k < run->kernel_count; k++)
        if (heddle_check_same_function(run->kernels[k].name, text) && run->kernels[k].grid[dimension] == blocks)
            return true;
    return false;
}

static heddle_status add_finding(const reading *in, const sim_launch *launch, range part, const long long sizes[2],
                                 heddle_check_result *result)
{
    const sim_token *tokens = in->source->code.at, *name = &tokens[launch->name];
    const char *file = heddle_arena_copy_text(result->arena, in->source->path);
    heddle_check_place place = {.role = "launch", .frames = 1};
    place.frame[0] = (heddle_check_frame){.file = file ? file : "", .line = name->line, .function = ""};
    long long blocks = sizes[0] / sizes[1], covered = blocks * sizes[1];
    return heddle_check_result_add_at(result, HEDDLE_CHECK_TRUNCATED_GRID, HEDDLE_CHECK_WARNING, &place,
                                      "kernel %.*s is launched with %.*s = %lld blocks: %lld * %lld = %lld of %lld "
                                      "elements; the last %lld are left out",
                                      (int)(name->end - name->start), in->source->text + name->start,
                                      (int)(tokens[part.last - 1].end - tokens[part.first].start),
                                      in->source->text + tokens[part.first].start, blocks, blocks, sizes[1], covered,
                                      sizes[0], sizes[0] - covered);
}

// Whether a kernel uses the number by its name, which is not that of a parameter of its own.
static bool uses_constant(const reading *in, const sim_source *file, range body, const sim_token *name)
{
    int close = body.first - 1, open = file->code.at[close].match;
    return mentions(file, body, in->source, name) && !mentions(file, (range){open, close}, in->source, name);
}

static heddle_status look_at_launch(const reading *in, const sim_launch *launch, heddle_check_result *result)
{
    const sim_tokens *code = &in->source->code;
    range parts[MOST_PARTS], arguments = {launch->close + SIM_LAUNCH_ARROWS + 1, 0};
    const sim_source *file = NULL;
    const sim_token *name = sim_token_at(code, launch->name);
    range body = find_body(in, name, &file);
    if (body.last <= body.first || loops_over_grid(file, body) || handles_rest(in) ||
        split(in, (range){launch->open + SIM_LAUNCH_ARROWS, launch->close}, parts) == 0)
        return HEDDLE_OK;
    arguments.last = sim_token_at(code, arguments.first - 1)->match;
    int count = split(in, grid_of(in, parts[0]), parts);
    for (int i = 0; i < count; i++) {
        const sim_token *size = sim_token_at(code, parts[i].first);
        long long sizes[2] = {0, 0};
        bool quotient = parts[i].last - parts[i].first == 3 && is_code(in, parts[i].first + 1, "/");
        expression by = {in, in->source, code, parts[i].first + 2, parts[i].last, 0};
        if (!quotient || size->kind != SIM_TOKEN_NAME || !value_of(in, in->source, size, 0, &sizes[0]) ||
            !evaluate(&by, &sizes[1]) || sizes[1] < 2 || sizes[0] % sizes[1] == 0)
            continue;
        bool used = mentions(in->source, arguments, in->source, size) || uses_constant(in, file, body, size);
        if (used && ran_with(in, result, name, i, sizes[0] / sizes[1]))
            HEDDLE_TRY(add_finding(in, launch, parts[i], sizes, result));
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_grids_find(heddle_check_result *result, const char *const *sources)
{
    const heddle_check_own_files files = heddle_check_own_files_read(result->sources, sources);
    for (int f = 0; f < files.count; f++)
        for (int i = 0; i < files.at[f]->code.count; i++) {
            sim_launch launch;
            reading in = {&files, files.at[f], sim_function_around(files.at[f], i)};
            if (in.open > 0 && sim_launch_at(in.source, &in.source->code, i, &launch) && launch.name >= 0)
                HEDDLE_TRY(look_at_launch(&in, &launch, result));
        }
    return HEDDLE_OK;
}
