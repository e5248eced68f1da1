// Advice about a guard against an index past the end: what is wrong with the one that is there, or that there is none.

#include <string.h>

#include "check/index.h"
#include "learn/judging.h"

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

static heddle_check_guard guard_of(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    return heddle_check_guard_find(&finding->places[0], judging->sources, judging->verdict->arena);
}

// Of a kernel that has a guard: it tests another index, stands elsewhere, or the array is smaller than it says.
static const char *advise_present(const heddle_learn_judging *judging, const heddle_check_finding *finding,
                                  const heddle_check_guard *present)
{
    const char *index = present->index, *from = present->value;
    heddle_arena *arena = judging->verdict->arena;
    if (present->is_behind)
        return heddle_learn_format(arena, "The condition `%s` comes after this access and does not protect it.",
                                   present->text);
    if (index && is_of_two(from ? from : index))
        return heddle_learn_format(
            arena,
            "The condition `%s` does not stop this index, `%s%s%s`. Is it computed as this array "
            "needs it? If so, which part of it is not tested?",
            present->text, index, from ? " = " : "", from ? from : "");
    if (!index && has_index_of_two(judging, &finding->places[0]))
        return heddle_learn_format(arena,
                                   "The condition `%s` does not stop the index of this access. Is it computed as this "
                                   "array needs it? If so, which part of it is not tested?",
                                   present->text);
    if (index && !present->is_exact)
        return heddle_learn_format(
            arena, "The condition `%s` tests `%s`, but this access uses `%s`: test the index that is used.",
            present->text, present->tested, index);
    if (heddle_learn_is_learners(judging, finding->memory->allocated.file))
        return heddle_learn_format(arena,
                                   "Does the condition `%s` enclose this line? If it does, the array is too small: an "
                                   "allocation counts bytes, not elements.",
                                   present->text);
    return heddle_learn_format(
        arena, "Does the condition `%s` enclose this line, and has the array `%s` elements of this size?",
        present->text, present->bound);
}

const char *heddle_learn_advise_below(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const char *index = guard_of(judging, finding).index;
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
    heddle_arena *arena = judging->verdict->arena;
    const heddle_check_guard present = guard_of(judging, finding);
    if (present.text && present.reaches && !present.is_behind && memory->offset == memory->bytes)
        return heddle_learn_format(arena,
                                   "The guard `%s` also lets `%s == %s` through. Elements are counted from 0, so the "
                                   "last one is one less: compare with `%s`.",
                                   present.text, present.tested, present.bound, present.is_exit ? ">=" : "<");
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
