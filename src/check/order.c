// Another result in another order: unless the program gives another one every time, the order is what changes it. Two
// further runs, one in each order, compare the bytes of the copy in question and find who wrote the first that differs.

#include "check/order.h"

#include <stdio.h>

enum { COPY_SIZE = 1200 };

static heddle_status tell_unrepeatable(heddle_check_result *result)
{
    result->unrepeatable = true;
    if (result->suspected > 0)
        return heddle_check_result_add(result, HEDDLE_CHECK_UNINITIALISED, HEDDLE_CHECK_WARNING,
                                       "Two runs in the same order gave different results, and the compiler suspects a "
                                       "local variable that is not set on every path; the note names it.");
    return heddle_check_result_note(
        result, "two runs in the same order gave different results (numbers from the "
                "clock, or a local variable that was never set?), so results were not compared between orders");
}

// The element, its allocation and the store that made it, as the run found them that compared the bytes.
static heddle_status tell_element(heddle_check_result *result, const heddle_check_report *compared, const char *message,
                                  bool *told)
{
    for (int i = 0; compared && i < compared->finding_count; i++) {
        heddle_check_finding finding = compared->findings[i];
        if (finding.kind != HEDDLE_CHECK_ORDER_DEPENDENT)
            continue;
        char text[COPY_SIZE];
        snprintf(text, sizeof text, "%s: %s.", message, finding.message);
        finding.message = heddle_arena_copy_text(result->arena, text);
        if (!finding.message)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
        *told = true;
        return heddle_check_result_add_finding(result, &finding);
    }
    return HEDDLE_OK;
}

static heddle_status tell_copy(heddle_check_result *result, const heddle_check_report *report, int copy,
                               const heddle_check_report *compared)
{
    char message[160];
    const heddle_check_report *first = result->runs[0];
    bool told = false;
    snprintf(message, sizeof message, "Copy number %d to the host differs between schedule %d and schedule %d",
             copy + 1, first->schedule, report->schedule);
    HEDDLE_TRY(tell_element(result, compared, message, &told));
    if (told)
        return HEDDLE_OK;
    return heddle_check_result_add(result, HEDDLE_CHECK_ORDER_DEPENDENT, HEDDLE_CHECK_WARNING, "%s.", message);
}

static bool has_order_dependent(const heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (result->findings[i]->kind == HEDDLE_CHECK_ORDER_DEPENDENT)
            return true;
    return false;
}

heddle_status heddle_check_order_compare(heddle_check_result *result, const heddle_check_report *report,
                                         const char *path, heddle_check_rerun rerun, void *context)
{
    const heddle_check_report *first = result->runs[0];
    int copy = heddle_check_first_difference(first, report);
    if (copy < 0 || result->unrepeatable || heddle_check_result_explains_difference(result) ||
        has_order_dependent(result))
        return HEDDLE_OK;
    char asked[COPY_SIZE] = "";
    bool in_any_order = first->copies_in_any_order || report->copies_in_any_order;
    if (!in_any_order && copy < first->copy_count && first->copies[copy].by[0])
        snprintf(asked, sizeof asked, "%s:%s", first->copies[copy].by, path);
    heddle_check_report *again = NULL, *compared = NULL;
    HEDDLE_TRY(rerun(context, first, asked[0] ? asked : NULL, &again));
    bool repeatable = again && heddle_check_first_difference(first, again) < 0;
    heddle_check_report_free(again);
    if (!repeatable)
        return tell_unrepeatable(result);
    if (first->copies_in_any_order)
        return heddle_check_result_add(result, HEDDLE_CHECK_ORDER_DEPENDENT, HEDDLE_CHECK_WARNING,
                                       "A copy to the host, of those that several threads of the host make, differs "
                                       "between schedule %d and schedule %d.",
                                       first->schedule, report->schedule);
    if (asked[0])
        HEDDLE_TRY(rerun(context, report, asked, &compared));
    result->compared = compared;
    return tell_copy(result, report, copy, compared);
}
