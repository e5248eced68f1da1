// The steps of a warp-synchronous reduction race with each other and with themselves, two findings per line: they are
// folded into the first. Of races around one place without a barrier, the innermost is kept: its cure is theirs, too.

#include "check/fold.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_FOLDED = 3 }; // fewer are shown as they are, each with its own cure

// --- lanes in step ---------------------------------------------------------------------------------------------------

static bool is_within_warp(const heddle_check_finding *finding)
{
    return finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BARRIER && finding->kernel &&
           finding->memory && finding->place_count == 2 && finding->places[0].frames > 0 &&
           finding->places[1].frames > 0 && strstr(finding->note, "same warp");
}

static bool same_function(const heddle_check_place *a, const heddle_check_place *b)
{
    return strcmp(a->frame[0].file, b->frame[0].file) == 0 && strcmp(a->frame[0].function, b->frame[0].function) == 0;
}

static bool is_one_mistake(const heddle_check_finding *a, const heddle_check_finding *b)
{
    return is_within_warp(a) && is_within_warp(b) && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->memory->name, b->memory->name) == 0 && a->memory->bytes == b->memory->bytes &&
           same_function(&a->places[0], &b->places[0]) && same_function(&a->places[1], &b->places[1]);
}

// What is known of one mistake while its findings are gathered.
typedef struct folded {
    int count, first_line, last_line;
    long long seen;
    bool is_error;
} folded;

static void gather(folded *all, const heddle_check_finding *finding)
{
    for (int p = 0; p < finding->place_count; p++) {
        int line = finding->places[p].frame[0].line;
        all->first_line = all->first_line == 0 || line < all->first_line ? line : all->first_line;
        all->last_line = line > all->last_line ? line : all->last_line;
    }
    all->count++;
    all->seen += finding->count;
    all->is_error |= finding->tier == HEDDLE_CHECK_ERROR;
}

static bool comes_before(const heddle_check_finding *a, const heddle_check_finding *b)
{
    int one = a->places[0].frame[0].line + a->places[1].frame[0].line;
    return one < b->places[0].frame[0].line + b->places[1].frame[0].line;
}

static void say(heddle_check_result *result, heddle_check_finding *finding, const folded *all)
{
    char note[512], cure[512];
    snprintf(note, sizeof note, "%s; the same in %d more pairs of lines from %d to %d", finding->note, all->count - 1,
             all->first_line, all->last_line);
    snprintf(
        cure, sizeof cure,
        "In lines %d to %d, read into a variable, call __syncwarp(), write, and call __syncwarp() again before the "
        "next step; or use __shfl_down_sync(), which needs neither barriers nor shared memory.",
        all->first_line, all->last_line);
    const char *kept_note = heddle_arena_copy_text(result->arena, note);
    finding->note = kept_note ? kept_note : finding->note;
    finding->cause =
        "The lanes of a warp do not run in step: a lane may read an element before another has written it, "
        "or after it was overwritten.";
    finding->cure = heddle_arena_copy_text(result->arena, cure);
    finding->tier = all->is_error ? HEDDLE_CHECK_ERROR : HEDDLE_CHECK_WARNING;
    finding->count = all->seen;
}

// Puts the first by line into the place of findings[at]; the others are left out.
static void fold_into(heddle_check_result *result, int at)
{
    heddle_check_finding *first = result->findings[at];
    folded all = {.count = 0};
    for (int i = at; i < result->finding_count; i++)
        if (is_one_mistake(result->findings[at], result->findings[i])) {
            gather(&all, result->findings[i]);
            first = comes_before(result->findings[i], first) ? result->findings[i] : first;
        }
    if (all.count < LEAST_FOLDED)
        return;
    const heddle_check_finding *mistake = result->findings[at];
    int kept = at + 1;
    for (int i = at + 1; i < result->finding_count; i++)
        if (!is_one_mistake(mistake, result->findings[i]))
            result->findings[kept++] = result->findings[i];
    result->finding_count = kept;
    result->findings[at] = first;
    say(result, first, &all);
}

// --- a barrier between two lines is one between all that stand around them -------------------------------------------

static bool is_within_block(const heddle_check_finding *finding)
{
    return finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BARRIER && finding->kernel &&
           finding->memory && finding->place_count == 2 && finding->places[0].frames > 0 &&
           finding->places[1].frames > 0 && same_function(&finding->places[0], &finding->places[1]);
}

static int line_of(const heddle_check_finding *finding, bool last)
{
    int one = finding->places[0].frame[0].line, other = finding->places[1].frame[0].line;
    return (one > other) == last ? one : other;
}

// Whether the barrier that `inner` lacks also orders `outer`: its lines lie between the other's.
static bool orders(const heddle_check_finding *inner, const heddle_check_finding *outer)
{
    int first = line_of(inner, false), last = line_of(inner, true);
    int from = line_of(outer, false), to = line_of(outer, true);
    return strcmp(inner->kernel, outer->kernel) == 0 && strcmp(inner->memory->name, outer->memory->name) == 0 &&
           same_function(&inner->places[0], &outer->places[0]) && inner->tier <= outer->tier && first < last &&
           from <= first && last <= to && (from < first || last < to);
}

static void drop_ordered(heddle_check_result *result)
{
    int kept = 0;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *outer = result->findings[i];
        bool ordered = false;
        for (int k = 0; k < result->finding_count && !ordered; k++) // those before `kept` were moved, none is lost
            ordered =
                is_within_block(outer) && is_within_block(result->findings[k]) && orders(result->findings[k], outer);
        if (!ordered)
            result->findings[kept++] = outer;
    }
    result->finding_count = kept;
}

void heddle_check_fold(heddle_check_result *result)
{
    drop_ordered(result);
    for (int i = 0; i < result->finding_count; i++)
        if (is_within_warp(result->findings[i]))
            fold_into(result, i);
}
