// Reads one function: the index of the access, the conditions around it, and what its names were set to. Nothing is
// evaluated: where names are set in several places, the last before the access counts.

#include "check/index.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/source/statement.h"

enum { DEEPEST_NAME = 4, TEXT_SIZE = 80, SENTENCE = 400 };

typedef struct range {
    int first, last; // tokens, the last not included
} range;

typedef struct reading {
    const sim_source *source;
    sim_statements statements;
    int open;  // brace of the function
    int token; // where the access begins
    range index;
} reading;

static const sim_token *token_at(const reading *in, int token)
{
    return sim_token_at(&in->source->code, token);
}

static bool is(const reading *in, int token, const char *text)
{
    return sim_token_is(in->source, token_at(in, token), text);
}

// A bracket that opens inside of the range leads to the one that closes it.
static int behind(const reading *in, int token)
{
    int match = token_at(in, token)->match;
    return match > token ? match + 1 : token + 1;
}

static const char *text_of(const reading *in, range part, char text[TEXT_SIZE])
{
    uint32_t start = token_at(in, part.first)->start, end = token_at(in, part.last - 1)->end;
    snprintf(text, TEXT_SIZE, "%.*s", (int)(end - start), in->source->text + start);
    return end - start < TEXT_SIZE && !strchr(text, '\n') ? text : NULL;
}

static bool same_text(const reading *in, range one, range other)
{
    bool same = one.last - one.first == other.last - other.first;
    for (int i = 0; same && i < one.last - one.first; i++)
        same = sim_tokens_equal(in->source, token_at(in, one.first + i), in->source, token_at(in, other.first + i));
    return same;
}

static bool is_variable(const reading *in, int token)
{
    return token_at(in, token)->kind == SIM_TOKEN_NAME && !is(in, token - 1, ".") && !is(in, token + 1, "(");
}

static bool has(const reading *in, range part, const char *text)
{
    for (int i = part.first; i < part.last; i++)
        if (is(in, i, text))
            return true;
    return false;
}

static bool shares_name(const reading *in, range one, range other)
{
    for (int i = one.first; i < one.last; i++)
        for (int k = other.first; is_variable(in, i) && k < other.last; k++)
            if (is_variable(in, k) && sim_tokens_equal(in->source, token_at(in, i), in->source, token_at(in, k)))
                return true;
    return false;
}

// --- the index -------------------------------------------------------------------------------------------------------

// x[i], but not x[i][j], of which either may be wrong.
static bool find_index(reading *in, const heddle_check_place *place)
{
    const heddle_check_frame *frame = &place->frame[0];
    int count = 0;
    in->token = place->column > 0 ? sim_token_at_column(in->source, frame->line, place->column) : -1;
    if (in->token < 0)
        return false;
    uint32_t end = token_at(in, in->token)->start + (uint32_t)place->width;
    for (int i = in->token; i < in->source->code.count && token_at(in, i)->start < end; i = behind(in, i)) {
        if (!is(in, i, "[") || token_at(in, i)->match < 0)
            continue;
        in->index = (range){i + 1, token_at(in, i)->match};
        count++;
    }
    return count == 1 && in->index.first < in->index.last;
}

// --- guards ----------------------------------------------------------------------------------------------------------

typedef struct guard {
    int line;       // 0: none was found
    bool is_exact;  // it compares the index itself
    bool reaches;   // the bound itself is allowed
    bool is_exit;   // it leaves where it holds: if (i >= n) return
    range compared; // with the bound
    range bound;
    range whole; // the comparison
    bool behind; // it comes after the access
} guard;

static bool is_simple(const guard *found) // the bound is one name or number
{
    return found->bound.last - found->bound.first == 1;
}

static bool joins(const reading *in, int token)
{
    return (is(in, token, "&") && is(in, token + 1, "&")) || (is(in, token, "|") && is(in, token + 1, "|"));
}

// The sign of a comparison, alone in its range; -1: none.
static int find_sign(const reading *in, range part)
{
    for (int i = part.first; i < part.last; i = behind(in, i)) {
        bool less = is(in, i, "<"), more = is(in, i, ">");
        if ((less && is(in, i + 1, "<")) || (more && (is(in, i + 1, ">") || is(in, i - 1, "-"))))
            i++; // a shift or an arrow
        else if (less || more)
            return i;
    }
    return -1;
}

// What a name was last set to before the access, in the same function; empty: it is not shown.
static range find_value(const reading *in, int name)
{
    range value = {0, 0};
    for (int i = in->open + 1; i < in->token; i++) {
        if (!sim_tokens_equal(in->source, token_at(in, name), in->source, token_at(in, i)) || !is_variable(in, i) ||
            !is(in, i + 1, "=") || is(in, i + 2, "="))
            continue;
        int end = i + 2;
        while (end < in->source->code.count && !is(in, end, ";") && !is(in, end, ",") && !is(in, end, ")"))
            end = behind(in, end);
        value = (range){i + 2, end};
    }
    return value;
}

static bool has_parameter(const reading *in, range part)
{
    int close = in->open - 1;
    while (close > 0 && !is(in, close, ")"))
        close--;
    return shares_name(in, part, (range){token_at(in, close)->match, close});
}

// Whether a comparison of `side` with `bound` may be meant for the index, though it tests something else.
static bool is_related(const reading *in, range side, range bound)
{
    bool named = in->index.last - in->index.first == 1;
    if (has(in, side, "["))
        return false;
    if (shares_name(in, side, in->index))
        return true;
    bool unknown = in->index.first == in->index.last;
    return (unknown || (named && shares_name(in, side, find_value(in, in->index.first)))) && has_parameter(in, bound);
}

static void compare(const reading *in, range part, bool is_exit, guard *found)
{
    int sign = find_sign(in, part);
    if (sign <= part.first)
        return;
    bool or_equal = is(in, sign + 1, "=");
    range sides[2] = {{part.first, sign}, {sign + 1 + or_equal, part.last}};
    for (int side = 0; side < 2; side++) {
        // i < n, n > i; where it leaves: i >= n, n <= i.
        bool bounds_above = (is(in, sign, "<") == (side == 0)) != is_exit;
        bool is_exact = same_text(in, sides[side], in->index);
        if (!bounds_above || found->is_exact || (!is_exact && !is_related(in, sides[side], sides[!side])))
            continue;
        *found = (guard){.line = token_at(in, part.first)->line,
                         .is_exact = is_exact,
                         .reaches = or_equal != is_exit,
                         .is_exit = is_exit,
                         .compared = sides[side],
                         .bound = sides[!side],
                         .whole = part,
                         .behind = part.first > in->token};
    }
}

static void look_at_condition(const reading *in, range part, bool is_exit, guard *found)
{
    while (is(in, part.first, "(") && token_at(in, part.first)->match == part.last - 1)
        part = (range){part.first + 1, part.last - 1};
    int start = part.first;
    for (int i = part.first; i < part.last; i = behind(in, i)) {
        if (!joins(in, i))
            continue;
        look_at_condition(in, (range){start, i}, is_exit, found);
        start = i + 2;
        i++;
    }
    if (start == part.first)
        compare(in, part, is_exit, found);
    else
        look_at_condition(in, (range){start, part.last}, is_exit, found);
}

// The condition of an if or while, or the middle part of a for.
static range condition_of(const reading *in, const sim_statement *statement)
{
    int open = statement->first + 1;
    while (open < statement->last && !is(in, open, "("))
        open++;
    range part = {open + 1, token_at(in, open)->match};
    if (statement->kind != SIM_STATEMENT_FOR)
        return part;
    for (int i = part.first, semicolons = 0; i < part.last; i = behind(in, i))
        if (is(in, i, ";") && semicolons++ == 0)
            part.first = i + 1;
        else if (is(in, i, ";"))
            part.last = i;
    return part;
}

static bool leaves(const reading *in, const sim_statement *statement)
{
    for (int i = statement->first; i <= statement->last; i++)
        if (is(in, i, "return") || is(in, i, "continue") || is(in, i, "break"))
            return true;
    return false;
}

static bool is_in_else(const reading *in, int statement)
{
    for (int i = statement + 1; i < in->statements.count; i++) {
        const sim_statement *one = &in->statements.at[i];
        if (one->parent == statement && one->kind == SIM_STATEMENT_ELSE && one->first <= in->token &&
            in->token <= one->last)
            return true;
    }
    return false;
}

// i < n ? x[i] : 0
static void look_at_choice(const reading *in, guard *found)
{
    static const char *const begins[] = {"=", "(", ",", ";", "{", "}", "return", NULL};
    int sign = in->token - 1;
    while (sign > in->open && !is(in, sign, "?") && !is(in, sign, ";") && !is(in, sign, ":"))
        sign--;
    if (!is(in, sign, "?"))
        return;
    int first = sign;
    while (first > in->open && (!sim_token_is_any(in->source, token_at(in, first - 1), begins) ||
                                (is(in, first - 1, "=") && (is(in, first - 2, "<") || is(in, first - 2, ">")))))
        first = is(in, first - 1, ")") ? token_at(in, first - 1)->match : first - 1;
    if (first > in->open)
        look_at_condition(in, (range){first, sign}, false, found);
}

// An if, while or for around the access, or an if before it, in a block around it, that leaves.
static guard find_guard(const reading *in)
{
    guard found = {.line = 0};
    for (int i = 0; i < in->statements.count && !found.is_exact; i++) {
        const sim_statement *one = &in->statements.at[i];
        bool around = one->first <= in->token && in->token <= one->last;
        bool tests =
            one->kind == SIM_STATEMENT_IF || one->kind == SIM_STATEMENT_WHILE || one->kind == SIM_STATEMENT_FOR;
        int parent = one->parent;
        bool before = one->last < in->token && parent >= 0 && in->statements.at[parent].last >= in->token;
        bool exits = one->kind == SIM_STATEMENT_IF && before && leaves(in, one);
        if (tests && ((around && !is_in_else(in, i)) || exits))
            look_at_condition(in, condition_of(in, one), exits && !around, &found);
    }
    if (!found.is_exact)
        look_at_choice(in, &found);
    return found;
}

// An if that comes after the access, where none protects it.
static guard find_late_guard(const reading *in)
{
    guard found = {.line = 0};
    for (int i = 0; i < in->statements.count && found.line == 0; i++) {
        const sim_statement *one = &in->statements.at[i];
        if (one->kind == SIM_STATEMENT_IF && one->first > in->token)
            look_at_condition(in, condition_of(in, one), leaves(in, one), &found);
    }
    return found;
}

// --- the formula -----------------------------------------------------------------------------------------------------

// blockIdx.x * gridDim.x, which numbers nothing: a block has blockDim.x threads. Returns its first token; -1: none.
static int find_wrong_product(const reading *in, range part, int depth)
{
    static const char *const others[] = {"gridDim", "threadIdx", NULL};
    const sim_source *source = in->source;
    for (int i = part.first; i < part.last; i++) {
        bool product = is(in, i + 1, ".") && is(in, i + 3, "*") && is(in, i + 5, ".") && i + 6 < part.last;
        bool of_blocks = is(in, i, "blockIdx") && sim_token_is_any(source, token_at(in, i + 4), others);
        bool other_way = sim_token_is_any(source, token_at(in, i), others) && is(in, i + 4, "blockIdx");
        if (product && (of_blocks || other_way) &&
            sim_tokens_equal(source, token_at(in, i + 2), source, token_at(in, i + 6)))
            return i;
    }
    for (int i = part.first; depth < DEEPEST_NAME && i < part.last; i++) {
        range value = is_variable(in, i) ? find_value(in, i) : (range){0, 0};
        int found = value.first < value.last ? find_wrong_product(in, value, depth + 1) : -1;
        if (found >= 0)
            return found;
    }
    return -1;
}

static bool depends_on_thread(const reading *in, range part, int depth)
{
    bool depends = has(in, part, "threadIdx");
    for (int i = part.first; depth < DEEPEST_NAME && !depends && i < part.last; i++) {
        range value = is_variable(in, i) ? find_value(in, i) : (range){0, 0};
        depends = value.first < value.last && depends_on_thread(in, value, depth + 1);
    }
    return depends;
}

// x[threadIdx.x], in a launch of several blocks and a function that does not ask which block it is in.
static bool lacks_block(const reading *in)
{
    range body = {in->open, token_at(in, in->open)->match};
    return depends_on_thread(in, in->index, 0) && !has(in, body, "blockIdx") && !has(in, body, "this_grid") &&
           !has(in, body, "this_thread_block");
}

// --- words -----------------------------------------------------------------------------------------------------------

static const char *format(heddle_arena *arena, const char *words, ...) HEDDLE_PRINTF(2, 3);

static const char *format(heddle_arena *arena, const char *words, ...)
{
    char text[SENTENCE];
    va_list arguments;
    va_start(arguments, words);
    vsnprintf(text, sizeof text, words, arguments);
    va_end(arguments);
    return heddle_arena_copy_text(arena, text);
}

static void say_formula(const reading *in, int at, heddle_check_finding *finding, heddle_arena *arena)
{
    char product[TEXT_SIZE];
    const sim_token *size = token_at(in, at + 2);
    char letter = in->source->text[size->start];
    finding->cause =
        format(arena, "The index in line %d is computed with %s: that is not where a block's elements begin.",
               token_at(in, at)->line, text_of(in, (range){at, at + 7}, product));
    finding->cure = format(arena, "Write blockIdx.%c * blockDim.%c + threadIdx.%c: a block has blockDim.%c threads.",
                           letter, letter, letter, letter);
}

static void say_exact(const guard *found, const heddle_check_finding *of, const char **cause, const char **cure,
                      heddle_arena *arena)
{
    if (found->reaches && is_simple(found)) {
        *cause = format(arena, "The guard in line %d lets the index reach its bound: the last of n elements is n - 1.",
                        found->line);
        *cure = found->is_exit ? format(arena, "Write >= instead of > in line %d.", found->line)
                               : format(arena, "Write < instead of <= in line %d.", found->line);
        return;
    }
    const heddle_check_memory *memory = of->memory;
    bool counted = memory && memory->size > 0 && memory->bytes > 0;
    *cause =
        counted
            ? format(arena, "The guard in line %d tests this index, but allows more than the %lld elements there are.",
                     found->line, memory->bytes / memory->size)
            : format(arena, "The guard in line %d tests this index, but allows more elements than there are.",
                     found->line);
    *cure = "Correct the bound, or allocate more: cudaMalloc counts bytes, not elements.";
}

static void say_other(const reading *in, const guard *found, const char **cause, const char **cure, heddle_arena *arena)
{
    char tested[TEXT_SIZE], used[TEXT_SIZE];
    if (!text_of(in, found->compared, tested) || !text_of(in, in->index, used))
        return;
    *cause = format(arena, "The guard in line %d tests `%s`, but the access uses the index `%s`.", found->line, tested,
                    used);
    *cure = has(in, in->index, "*")
                ? "If the guard is right, the index formula is wrong: element (row, column) of a row-major array is "
                  "row * width + column. Otherwise test the index that is used."
                : format(arena, "Test the index that is used: `%s` must be less than the number of elements.", used);
}

static bool say_guard(const reading *in, heddle_check_finding *finding, heddle_arena *arena)
{
    guard found = find_guard(in);
    const char *cause = NULL, *cure = NULL;
    if (found.line == 0)
        return false;
    if (found.is_exact)
        say_exact(&found, finding, &cause, &cure, arena);
    else
        say_other(in, &found, &cause, &cure, arena);
    if (!cause || !cure)
        return false;
    finding->cause = cause;
    finding->cure = cure;
    return true;
}

static bool say(const reading *in, heddle_check_finding *finding, heddle_arena *arena)
{
    int product = find_wrong_product(in, in->index, 0);
    if (product >= 0) {
        say_formula(in, product, finding, arena);
        return finding->cause && finding->cure;
    }
    bool past_the_end = finding->memory && finding->memory->offset >= finding->memory->bytes;
    if (finding->kind == HEDDLE_CHECK_OUT_OF_BOUNDS)
        return past_the_end && say_guard(in, finding, arena);
    if (!lacks_block(in))
        return false;
    finding->cause = "The index does not depend on blockIdx: all blocks use the same elements.";
    finding->cure =
        "Use blockIdx.x * blockDim.x + threadIdx.x as the index. If blocks are meant to share the elements, "
        "use atomics.";
    return true;
}

// The function around a token: false: there is none. The caller frees the statements.
static bool read_function(reading *in)
{
    in->open = sim_function_around(in->source, in->token);
    return in->open >= 0 && token_at(in, in->open)->match > 0 &&
           sim_statements_read(in->source, in->open, &in->statements);
}

bool heddle_check_index_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    bool between_blocks = finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BLOCKS;
    if ((!between_blocks && finding->kind != HEDDLE_CHECK_OUT_OF_BOUNDS) || finding->place_count == 0 ||
        finding->places[0].frames == 0 || !finding->places[0].has_thread)
        return false;
    reading in = {.source = heddle_check_sources_code(sources, finding->places[0].frame[0].file)};
    if (!in.source || !find_index(&in, &finding->places[0]))
        return false;
    bool said = read_function(&in) && say(&in, finding, arena);
    sim_statements_free(&in.statements);
    return said;
}

static const char *copy_of(const reading *in, range part, heddle_arena *arena)
{
    char text[TEXT_SIZE];
    return part.first < part.last && text_of(in, part, text) ? heddle_arena_copy_text(arena, text) : NULL;
}

static int first_in_line(const sim_source *source, int line)
{
    int token = 0;
    while (token < source->code.count && source->code.at[token].line < line)
        token++;
    return token;
}

heddle_check_guard heddle_check_guard_find(const heddle_check_place *place, heddle_check_sources *sources,
                                           heddle_arena *arena)
{
    heddle_check_guard told = {.index = NULL};
    reading in = {.source = place->frames > 0 ? heddle_check_sources_code(sources, place->frame[0].file) : NULL};
    if (!in.source)
        return told;
    if (!find_index(&in, place)) {
        in.index = (range){0, 0};
        in.token = first_in_line(in.source, place->frame[0].line);
    }
    if (in.token < in.source->code.count && read_function(&in)) {
        guard found = find_guard(&in);
        if (found.line == 0)
            found = find_late_guard(&in);
        bool named = in.index.last - in.index.first == 1;
        told = (heddle_check_guard){.index = copy_of(&in, in.index, arena),
                                    .value = named ? copy_of(&in, find_value(&in, in.index.first), arena) : NULL,
                                    .text = copy_of(&in, found.whole, arena),
                                    .tested = copy_of(&in, found.compared, arena),
                                    .bound = copy_of(&in, found.bound, arena),
                                    .is_exact = found.is_exact,
                                    .reaches = found.reaches,
                                    .is_exit = found.is_exit,
                                    .is_behind = found.behind};
        if (!told.tested || !told.bound)
            told.text = NULL;
    }
    sim_statements_free(&in.statements);
    return told;
}
