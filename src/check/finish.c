// From findings as the runs united them to findings as a person reads them.

#include "check/finish.h"

#include <string.h>

#include "check/failures.h"
#include "check/fold.h"
#include "check/lines.h"
#include "check/marks.h"
#include "check/words.h"

// --- ranking ---------------------------------------------------------------------------------------------------------

// One that may be a consequence of another comes after it.
static bool is_after(const heddle_check_finding *finding)
{
    static const char start[] = "after a fault";
    return strncmp(finding->note, start, sizeof start - 1) == 0;
}

// By tier, then by kind; among equals the one seen more often.
static int compare_weight(const heddle_check_finding *a, const heddle_check_finding *b)
{
    if (a->tier != b->tier)
        return a->tier == HEDDLE_CHECK_ERROR ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (is_after(a) != is_after(b))
        return is_after(a) ? 1 : -1;
    return (a->count < b->count) - (a->count > b->count);
}

// Findings of one kernel stand together, where its weightiest would stand. qsort is not stable; these sorts keep what
// was found first before its equals.
static void insert_sorted(heddle_check_finding **findings, int count)
{
    for (int i = 1; i < count; i++) {
        heddle_check_finding *moving = findings[i];
        int place = i;
        for (; place > 0 && compare_weight(moving, findings[place - 1]) < 0; place--)
            findings[place] = findings[place - 1];
        findings[place] = moving;
    }
}

static void gather_kernels(heddle_check_finding **findings, int count)
{
    int done = 0;
    while (done < count) {
        const char *kernel = findings[done]->kernel;
        int place = done + 1;
        for (int i = done + 1; kernel && i < count; i++) {
            if (!findings[i]->kernel || strcmp(findings[i]->kernel, kernel) != 0)
                continue;
            heddle_check_finding *moving = findings[i];
            memmove(&findings[place + 1], &findings[place], (size_t)(i - place) * sizeof(heddle_check_finding *));
            findings[place++] = moving;
        }
        done = place;
    }
}

static void drop_suppressed(heddle_check_result *result, const heddle_check_suppressions *suppressions)
{
    int kept = 0;
    for (int i = 0; i < result->run_count; i++)
        if (result->runs[i]->suppressed > result->suppressed)
            result->suppressed = result->runs[i]->suppressed;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        if (heddle_check_suppressed(suppressions, result->graded ? NULL : result->sources, finding))
            result->suppressed++;
        else
            result->findings[kept++] = finding;
    }
    result->finding_count = kept;
}

void heddle_check_finish(heddle_check_result *result, const heddle_check_suppressions *suppressions, bool strict)
{
    drop_suppressed(result, suppressions);
    heddle_check_failures_settle(result); // of those that are left: an error that is not shown cannot tell of another
    heddle_check_lines_settle(result);
    drop_suppressed(result, suppressions); // by the lines that are shown, too
    heddle_check_fold(result);
    heddle_check_marks_settle(result);
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        heddle_check_words_settle(finding, result->sources, result->arena);
        if (strict)
            finding->tier = HEDDLE_CHECK_ERROR;
        result->errors += finding->tier == HEDDLE_CHECK_ERROR;
        result->warnings += finding->tier == HEDDLE_CHECK_WARNING;
    }
    insert_sorted(result->findings, result->finding_count);
    gather_kernels(result->findings, result->finding_count);
}
