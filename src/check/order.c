// Another result in another order: unless the program gives another one every time, the order is what changes it. Two
// further runs, one in each order, compare the bytes of the copy in question and find who wrote the first that differs.

#include "check/order.h"

#include <stdio.h>
#include <string.h>

#include "check/copies.h"

enum { COPY_SIZE = 1200 };

static const char unrepeatable[] = "two runs in the same order gave different results";

static bool is_noted(const char *note)
{
    return strncmp(note, unrepeatable, sizeof unrepeatable - 1) == 0;
}

static bool noted(const heddle_check_result *result)
{
    for (int i = 0; i < result->note_count; i++)
        if (is_noted(result->notes[i]))
            return true;
    return false;
}

static bool on_one_line(const heddle_check_place *a, const heddle_check_place *b)
{
    return a->frames && b->frames && a->frame[0].line == b->frame[0].line && a->frame[0].file && b->frame[0].file &&
           strcmp(a->frame[0].file, b->frame[0].file) == 0;
}

void heddle_check_order_explained(heddle_check_result *result, const heddle_check_finding *reason)
{
    int kept = 0;
    for (int i = 0; i < result->note_count; i++)
        if (!is_noted(result->notes[i]))
            result->notes[kept++] = result->notes[i];
    result->note_count = kept;
    if (!reason)
        return;
    kept = 0;
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *finding = result->findings[i];
        if (finding->kind != HEDDLE_CHECK_ORDER_DEPENDENT || finding->place_count != 2 ||
            !on_one_line(&finding->places[1], &reason->places[1]))
            result->findings[kept++] = result->findings[i];
    }
    result->finding_count = kept;
}

heddle_status heddle_check_order_suspect(heddle_check_result *result)
{
    return heddle_check_result_add(result, HEDDLE_CHECK_UNINITIALISED, HEDDLE_CHECK_WARNING,
                                   "Two runs in the same order gave different results, and the compiler suspects a "
                                   "local variable that is not set on every path; the note names it.");
}

static heddle_status report_unrepeatable(heddle_check_result *result, int copy)
{
    char which[48] = "";
    result->unrepeatable = copy < 0;
    if (result->suspected > 0 && copy < 0)
        return heddle_check_order_suspect(result);
    if (noted(result))
        return HEDDLE_OK;
    result->changing = copy + 1;
    if (copy >= 0)
        snprintf(which, sizeof which, " in copy number %d to the host", copy + 1);
    return heddle_check_result_note(
        result, "%s%s (does it use the clock, or an uninitialised local variable?), so %s not compared between orders",
        unrepeatable, which, copy < 0 ? "results were" : "it was");
}

// The element, its allocation and the store that made it, as the run found them that compared the bytes.
static heddle_status report_element(heddle_check_result *result, const heddle_check_report *compared,
                                    const char *message, bool *reported)
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
        *reported = true;
        return heddle_check_result_add_finding(result, &finding);
    }
    return HEDDLE_OK;
}

static heddle_status report_copy(heddle_check_result *result, const heddle_check_report *report, int copy,
                                 const heddle_check_report *compared)
{
    char message[160];
    const heddle_check_report *first = result->runs[0];
    bool reported = false;
    snprintf(message, sizeof message, "Copy number %d to the host differs between schedule %d and schedule %d",
             copy + 1, first->schedule, report->schedule);
    HEDDLE_TRY(report_element(result, compared, message, &reported));
    if (reported)
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

// For SIM_COPY, in a run like the one that left the report.
static const char *asked_of(const heddle_check_report *report, int copy, const char *path, char text[COPY_SIZE])
{
    bool known = !report->copies_in_any_order && copy >= 0 && copy < report->copy_count && report->copies[copy].by[0];
    if (!known)
        return NULL;
    snprintf(text, COPY_SIZE, "%s:%s", report->copies[copy].by, path);
    return text;
}

// The first run once more, with a clock that goes otherwise: what is the same then is no matter of time or of chance.
// *found moves on to the first copy that is. *reported: there is none, or several threads of the host copied.
static heddle_status repeat_first(heddle_check_result *result, const heddle_check_report *report, const char *path,
                                  heddle_check_rerun rerun, void *context, heddle_check_difference *found,
                                  bool *reported)
{
    const heddle_check_report *first = result->runs[0];
    char text[COPY_SIZE];
    heddle_check_report *again = NULL;
    heddle_check_difference changed, next = *found;
    remove(path); // of an order before this one
    HEDDLE_TRY(rerun(context, first, asked_of(first, found->first, path, text), &again));
    bool differs = !again || heddle_check_copies_differ(first, again, NULL, &changed);
    bool in_order = again && !first->copies_in_any_order && again->copy_count == first->copy_count;
    if (differs)
        *reported = !in_order || !heddle_check_copies_differ(first, report, again, &next);
    heddle_check_report_free(again);
    if (*reported)
        return report_unrepeatable(result, in_order ? changed.first : -1);
    if (next.first == found->first)
        return HEDDLE_OK;
    *found = next;
    remove(path); // what was kept there is another copy
    HEDDLE_TRY(rerun(context, first, asked_of(first, next.first, path, text), &again));
    heddle_check_report_free(again);
    return HEDDLE_OK;
}

// Whether the read of this guard also races with an atomic of another kind, such as a swap that takes an empty place:
// then what stands there may depend on the order for that reason alone.
static bool beside_a_swap(const heddle_check_result *result, const heddle_check_finding *guard)
{
    const int read = strcmp(guard->places[0].role, "read") == 0 ? 0 : 1;
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *other = result->findings[i];
        if (other->kind != HEDDLE_CHECK_RACE || other->order == HEDDLE_CHECK_ORDER_GUARD || other->place_count != 2)
            continue;
        for (int j = 0; j < 2; j++)
            if (on_one_line(&other->places[j], &guard->places[read]) && strcmp(other->places[!j].role, "atomic") == 0)
                return true;
    }
    return false;
}

// An atomic minimum or the like gives the same in every order, and a comparison that only spares some of them changes
// nothing. Where what it made last is different in another order, the comparison has left out one that was needed.
static void raise_guards(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        for (int j = 0; result->findings[i]->kind == HEDDLE_CHECK_ORDER_DEPENDENT && j < result->finding_count; j++) {
            const heddle_check_finding *differs = result->findings[i];
            heddle_check_finding *race = result->findings[j];
            bool guards = race->kind == HEDDLE_CHECK_RACE && race->order == HEDDLE_CHECK_ORDER_GUARD &&
                          race->place_count == 2 && differs->place_count == 2;
            if (!guards ||
                (!on_one_line(&differs->places[1], &race->places[0]) &&
                 !on_one_line(&differs->places[1], &race->places[1])) ||
                beside_a_swap(result, race))
                continue;
            race->tier = HEDDLE_CHECK_ERROR;
            race->note = "in another order the value here is different: the read has skipped an atomic that was needed";
        }
}

heddle_status heddle_check_order_compare(heddle_check_result *result, const heddle_check_report *report,
                                         const char *path, heddle_check_rerun rerun, void *context)
{
    const heddle_check_report *first = result->runs[0];
    heddle_check_difference found;
    if (result->unrepeatable || heddle_check_result_explains_difference(result) || has_order_dependent(result) ||
        !heddle_check_copies_differ(first, report, NULL, &found))
        return HEDDLE_OK;
    bool reported = false;
    HEDDLE_TRY(repeat_first(result, report, path, rerun, context, &found, &reported));
    if (reported)
        return HEDDLE_OK;
    if (first->copies_in_any_order)
        return heddle_check_result_add(result, HEDDLE_CHECK_ORDER_DEPENDENT, HEDDLE_CHECK_WARNING,
                                       "A copy to the host, where several host threads make copies, differs between "
                                       "schedule %d and schedule %d.",
                                       first->schedule, report->schedule);
    char text[COPY_SIZE];
    heddle_check_report *compared = NULL;
    const char *asked = asked_of(report, found.other, path, text);
    if (asked && found.first < first->copy_count)
        HEDDLE_TRY(rerun(context, report, asked, &compared));
    result->compared = compared;
    HEDDLE_TRY(report_copy(result, report, found.first, compared));
    raise_guards(result);
    return HEDDLE_OK;
}
