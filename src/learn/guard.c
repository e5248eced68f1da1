// The guard of a kernel against an index past the end: which there is, and what is wrong with it.

#include <string.h>

#include "learn/judging.h"

// A comparison such as `i + 1 < n` or, before a return, `i >= n`, and what stands on its left.
typedef struct guard {
    const char *text, *left, *right; // text: NULL: there is none
    int line;
} guard;

// The parameters of a kernel, as far as the learner's file shows them: tokens *first to *end. False: it does not.
static bool find_parameters(const heddle_learn_judging *judging, const char *kernel, int *first, int *end)
{
    size_t length = 0;
    const char *name = heddle_check_own_name(kernel, &length);
    const heddle_learn_code *code = judging->code;
    const char *word = heddle_learn_format(judging->verdict->arena, "%.*s", (int)length, name);
    int at = 0, count = code && word ? code->tokens.count : 0;
    while (at < count && !(heddle_learn_code_is(code, at, word) && heddle_learn_code_is(code, at + 1, "(")))
        at++;
    *first = *end = at;
    while (*end < count && !heddle_learn_code_is(code, *end, ")"))
        ++*end;
    return at < count;
}

static bool is_parameter(const heddle_learn_code *code, const sim_token *token, int first, int end)
{
    for (int i = first; i < end; i++)
        if (token->kind == SIM_TOKEN_NAME && sim_tokens_equal(&code->source, &code->tokens.at[i], &code->source, token))
            return true;
    return false;
}

// What compares with a parameter of the kernel by <=, such as "i <= n"; NULL: nothing does.
static const char *find_loose_guard(const heddle_learn_judging *judging, const char *kernel)
{
    const heddle_learn_code *code = judging->code;
    int first, end;
    if (!find_parameters(judging, kernel, &first, &end))
        return NULL;
    for (int i = end + 1; i + 2 < code->tokens.count && !heddle_learn_code_is(code, i, "__global__"); i++) {
        bool whole = heddle_learn_code_is(code, i, "<=");
        bool halves = heddle_learn_code_is(code, i, "<") && heddle_learn_code_is(code, i + 1, "=");
        const sim_token *left = &code->tokens.at[i - 1], *right = &code->tokens.at[i + (halves ? 2 : 1)];
        if ((whole || halves) && is_parameter(code, right, first, end) && left->line == right->line)
            return heddle_learn_format(judging->verdict->arena, "%.*s", (int)(right->end - left->start),
                                       code->source.text + left->start);
    }
    return NULL;
}

// --- any guard -------------------------------------------------------------------------------------------------------

static const char *text_between(const heddle_learn_judging *judging, int first, int end)
{
    const heddle_learn_code *code = judging->code;
    const sim_token *begin = &code->tokens.at[first], *last = &code->tokens.at[end - 1];
    return heddle_learn_format(judging->verdict->arena, "%.*s", (int)(last->end - begin->start),
                               code->source.text + begin->start);
}

static bool is_any_of(const heddle_learn_code *code, int index, const char *const *texts)
{
    return sim_token_is_any(&code->source, sim_token_at(&code->tokens, index), texts);
}

// The side of a comparison that begins or ends beside token `at`; returns where it ends in that direction.
static int end_of_side(const heddle_learn_code *code, int at, int step)
{
    static const char *const ends[] = {";", "{", "}", "?",  ":",     "&",      "|", "=",
                                       ",", "<", ">", "if", "while", "return", NULL};
    const char *in = step < 0 ? ")" : "(", *out = step < 0 ? "(" : ")";
    int depth = 0;
    for (; at >= 0 && at < code->tokens.count; at += step) {
        depth += heddle_learn_code_is(code, at, in) - heddle_learn_code_is(code, at, out);
        if (depth < 0 || (depth == 0 && is_any_of(code, at, ends)))
            break;
    }
    return at;
}

// The comparison at token `sign`, if a parameter of the kernel is on its right.
static bool read_guard(const heddle_learn_judging *judging, int sign, int first, int end, guard *found)
{
    const heddle_learn_code *code = judging->code;
    bool below = heddle_learn_code_is(code, sign, "<");
    bool reached = heddle_learn_code_is(code, sign, ">") && heddle_learn_code_is(code, sign + 1, "=");
    int right = sign + (reached ? 2 : 1);
    if ((!below && !reached) || heddle_learn_code_is(code, sign - 1, "<") || heddle_learn_code_is(code, sign + 1, "<"))
        return false;
    int from = end_of_side(code, sign - 1, -1) + 1, to = end_of_side(code, right, 1);
    bool bounded = false;
    for (int i = right; i < to; i++)
        bounded |= is_parameter(code, &code->tokens.at[i], first, end);
    if (!bounded || from >= sign || right >= to)
        return false;
    *found = (guard){text_between(judging, from, to), text_between(judging, from, sign),
                     text_between(judging, right, to), code->tokens.at[sign].line};
    return found->text && found->left && found->right;
}

// The guard of the kernel that comes last before this line or on it, else the first one behind it.
static guard find_guard(const heddle_learn_judging *judging, const char *kernel, int line)
{
    guard found = {0}, next;
    int first, end;
    if (!find_parameters(judging, kernel, &first, &end))
        return found;
    for (int i = end + 1; i < judging->code->tokens.count; i++) {
        if (heddle_learn_code_is(judging->code, i, "__global__"))
            break;
        if (read_guard(judging, i, first, end, &next) && (!found.text || next.line <= line))
            found = next;
    }
    return found;
}

// What stands between the last brackets of the access; NULL: not known.
static const char *index_of(const heddle_learn_judging *judging, const heddle_check_place *place)
{
    const char *line = place->frames > 0 && place->column > 0 && place->width > 0
                           ? heddle_check_sources_line(judging->sources, place->frame[0].file, place->frame[0].line)
                           : NULL;
    if (!line || (int)strlen(line) < place->column - 1 + place->width)
        return NULL;
    const char *begin = line + place->column - 1, *end = begin + place->width, *open = end;
    int depth = 0;
    do {
        open--;
        depth += (*open == ']') - (*open == '[');
    } while (depth > 0 && open > begin);
    return *open == '[' ? heddle_learn_format(judging->verdict->arena, "%.*s", (int)(end - open) - 2, open + 1) : NULL;
}

// What the kernel computes a variable from, in the last line up to this one that sets it; NULL: not known.
static const char *definition_of(const heddle_learn_judging *judging, const char *kernel, const char *name, int line)
{
    static const char *const ends[] = {";", ",", NULL};
    const heddle_learn_code *code = judging->code;
    int first, end, from = 0, depth = 0;
    if (!find_parameters(judging, kernel, &first, &end))
        return NULL;
    for (int i = end + 1; i + 1 < code->tokens.count && code->tokens.at[i].line <= line; i++)
        if (heddle_learn_code_is(code, i, name) && heddle_learn_code_is(code, i + 1, "="))
            from = i + 2;
    int to = from;
    for (; from > 0 && to < code->tokens.count && (depth > 0 || !is_any_of(code, to, ends)); to++)
        depth += heddle_learn_code_is(code, to, "(") - heddle_learn_code_is(code, to, ")");
    return to > from ? text_between(judging, from, to) : NULL;
}

// Of a row and a column, not of a block and a thread.
static bool is_of_two(const char *index)
{
    return strchr(index, '*') && !strstr(index, "blockIdx");
}

// Whether some index on the line is of a row and a column: for accesses whose place in the line is not known.
static bool has_index_of_two(const heddle_learn_judging *judging, const heddle_check_place *place)
{
    const char *line = place->frames > 0
                           ? heddle_check_sources_line(judging->sources, place->frame[0].file, place->frame[0].line)
                           : NULL;
    for (const char *open = line ? strchr(line, '[') : NULL; open; open = strchr(open + 1, '[')) {
        const char *index = heddle_learn_format(judging->verdict->arena, "%.*s", (int)strcspn(open, "]"), open);
        if (index && is_of_two(index))
            return true;
    }
    return false;
}

// --- advice ----------------------------------------------------------------------------------------------------------

// Of a kernel that has a guard: it tests another index, stands elsewhere, or the array is smaller than it says.
static const char *advise_present(const heddle_learn_judging *judging, const heddle_check_finding *finding,
                                  const guard *present)
{
    const heddle_check_place *place = &finding->places[0];
    const char *index = index_of(judging, place);
    heddle_arena *arena = judging->verdict->arena;
    if (place->frames > 0 && present->line > place->frame[0].line)
        return heddle_learn_format(arena, "The condition `%s` comes after this access and does not protect it.",
                                   present->text);
    const char *from = index ? definition_of(judging, finding->kernel, index, place->frame[0].line) : NULL;
    if (index && is_of_two(from ? from : index))
        return heddle_learn_format(
            arena,
            "The condition `%s` does not stop this index, `%s%s%s`. Is it computed as this array "
            "needs it? If so, which part of it is not tested?",
            present->text, index, from ? " = " : "", from ? from : "");
    if (!index && has_index_of_two(judging, place))
        return heddle_learn_format(arena,
                                   "The condition `%s` does not stop the index of this access. Is it computed as this "
                                   "array needs it? If so, which part of it is not tested?",
                                   present->text);
    if (index && strcmp(index, present->left) != 0)
        return heddle_learn_format(
            arena, "The condition `%s` tests `%s`, but this access uses `%s`: test the index that is used.",
            present->text, present->left, index);
    if (heddle_learn_is_learners(judging, finding->memory->allocated.file))
        return heddle_learn_format(arena,
                                   "Does the condition `%s` enclose this line? If it does, the array is too small: an "
                                   "allocation counts bytes, not elements.",
                                   present->text);
    return heddle_learn_format(
        arena, "Does the condition `%s` enclose this line, and has the array `%s` elements of this size?",
        present->text, present->right);
}

const char *heddle_learn_advise_below(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const char *index = index_of(judging, &finding->places[0]);
    heddle_arena *arena = judging->verdict->arena;
    if (!index)
        return finding->cure;
    return finding->memory && finding->memory->offset < 0
               ? heddle_learn_format(arena,
                                     "`%s` is below 0 in this thread. Is it the element that you mean? If so, test the "
                                     "index before the access: `%s >= 0`.",
                                     index, index)
               : heddle_learn_format(
                     arena,
                     "`%s` is below 0 in this thread. Is it the element that you mean? If so, compare "
                     "before you subtract: the index is unsigned, as threadIdx.x is, so `>= 0` is always "
                     "true.",
                     index);
}

// Of a kernel that has none. One that is one too generous is not missing.
const char *heddle_learn_advise_guard(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    const heddle_check_place *place = &finding->places[0];
    heddle_arena *arena = judging->verdict->arena;
    const char *loose = memory->offset == memory->bytes ? find_loose_guard(judging, finding->kernel) : NULL;
    const char *sign = loose ? strstr(loose, "<=") : NULL;
    if (sign)
        return heddle_learn_format(arena,
                                   "The guard `%s` also lets `%.*s==%s` through. Elements are counted from 0, so the "
                                   "last one is one less: compare with `<`.",
                                   loose, (int)(sign - loose), loose, sign + strlen("<="));
    guard present = find_guard(judging, finding->kernel, place->frames > 0 ? place->frame[0].line : 0);
    if (present.text)
        return advise_present(judging, finding, &present);
    int at, end;
    bool known = find_parameters(judging, finding->kernel, &at, &end);
    while (known && at < end && !heddle_learn_code_is(judging->code, at, "n"))
        at++;
    return heddle_learn_format(arena, "Is this the element that this thread should have?%s%s",
                               known && at < end ? " A thread that has none needs a guard (`if (i < n)`)." : "",
                               heddle_learn_is_learners(judging, memory->allocated.file)
                                   ? " Check, too, that the allocation counts bytes, not elements."
                                   : "");
}
