// Uniting findings of several runs, ranking and counting them.

#include "check/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- life ------------------------------------------------------------------------------------------------------------

heddle_status heddle_check_result_create(heddle_check_result **result)
{
    *result = NULL;
    heddle_check_result *made = calloc(1, sizeof *made);
    if (made) {
        made->arena = heddle_arena_create();
        made->sources = heddle_check_sources_create();
    }
    if (!made || !made->arena || !made->sources) {
        heddle_check_result_free(made);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    }
    *result = made;
    return HEDDLE_OK;
}

void heddle_check_result_free(heddle_check_result *result)
{
    if (!result)
        return;
    for (int i = 0; i < result->run_count; i++)
        heddle_check_report_free(result->runs[i]);
    heddle_check_sources_free(result->sources);
    heddle_arena_destroy(result->arena);
    free(result->findings);
    free((void *)result->notes);
    free(result);
}

// One more place in an array of pointers.
static heddle_status make_room(void **array, int count, int *room)
{
    if (count < *room)
        return HEDDLE_OK;
    int more = *room ? 2 * *room : 16;
    void *moved = realloc(*array, (size_t)more * sizeof(void *));
    if (!moved)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    *array = moved;
    *room = more;
    return HEDDLE_OK;
}

static const char *format_text(heddle_check_result *result, const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    return copy ? copy : "";
}

// --- sameness --------------------------------------------------------------------------------------------------------

static bool same_place(const heddle_check_place *a, const heddle_check_place *b)
{
    if (strcmp(a->role, b->role) != 0 || !a->frames != !b->frames)
        return false;
    return a->frames == 0 || (a->frame[0].line == b->frame[0].line && strcmp(a->frame[0].file, b->frame[0].file) == 0);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Several allocations may stand in one line, and each of them has to be freed.
static bool same_leak(const heddle_check_finding *a, const heddle_check_finding *b)
{
    return a->memory && b->memory ? same_text(a->memory->name, b->memory->name) : a->memory == b->memory;
}

// Two threads may be seen in either order, so two places may be the other way round.
static bool same_finding(const heddle_check_finding *a, const heddle_check_finding *b)
{
    if (a->kind != b->kind || a->place_count != b->place_count)
        return false;
    if (a->kind == HEDDLE_CHECK_LEAK && !same_leak(a, b))
        return false;
    if (a->place_count == 0 || a->kind == HEDDLE_CHECK_OTHER)
        return same_text(a->message, b->message) && same_text(a->kernel, b->kernel);
    if (a->place_count == 1 || a->place_count > 2) {
        for (int i = 0; i < a->place_count; i++)
            if (!same_place(&a->places[i], &b->places[i]))
                return false;
        return true;
    }
    return (same_place(&a->places[0], &b->places[0]) && same_place(&a->places[1], &b->places[1])) ||
           (same_place(&a->places[0], &b->places[1]) && same_place(&a->places[1], &b->places[0]));
}

static heddle_check_finding *find_same(const heddle_check_result *result, const heddle_check_finding *finding)
{
    for (int i = 0; i < result->finding_count; i++)
        if (same_finding(result->findings[i], finding))
            return result->findings[i];
    return NULL;
}

// --- adding ----------------------------------------------------------------------------------------------------------

static void unite(heddle_check_finding *known, const heddle_check_finding *again)
{
    known->schedules |= again->schedules;
    if (again->count > known->count)
        known->count = again->count;
    if (known->value_count > 0 && again->value_count == 0) {
        known->tier = again->tier;
        known->note = again->note[0] ? again->note : known->note;
        known->value_count = 0;
    } else if (again->value_count > 0 && known->value_count > 0) {
        // Those known are asked about already; these may be other stores of the same line.
        known->values = again->values;
        known->value_count = again->value_count;
    } else if (again->tier == HEDDLE_CHECK_ERROR && again->value_count == 0) {
        if (known->tier != HEDDLE_CHECK_ERROR)
            known->note = again->note; // what was said for a warning does not hold
        known->tier = HEDDLE_CHECK_ERROR;
    }
}

heddle_status heddle_check_result_add_finding(heddle_check_result *result, const heddle_check_finding *finding)
{
    heddle_check_finding *known = find_same(result, finding);
    if (known) {
        unite(known, finding);
        return HEDDLE_OK;
    }
    void *array = result->findings;
    HEDDLE_TRY(make_room(&array, result->finding_count, &result->finding_room));
    result->findings = array;
    heddle_check_finding *copy = heddle_arena_alloc(result->arena, sizeof *copy);
    heddle_check_place *places = heddle_arena_alloc(result->arena, ((size_t)finding->place_count + 1) * sizeof *places);
    if (!copy || !places)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    *copy = *finding;
    if (finding->place_count)
        memcpy(places, finding->places, (size_t)finding->place_count * sizeof *places);
    copy->places = places;
    result->findings[result->finding_count++] = copy;
    return HEDDLE_OK;
}

heddle_status heddle_check_result_add_run(heddle_check_result *result, heddle_check_report *report)
{
    if (result->run_count == HEDDLE_CHECK_MOST_RUNS) {
        heddle_check_report_free(report);
        return heddle_fail(HEDDLE_INVALID, "more than %d runs", HEDDLE_CHECK_MOST_RUNS);
    }
    int run = result->run_count++;
    result->runs[run] = report;
    for (int i = 0; i < report->finding_count; i++) {
        report->findings[i].schedules = UINT64_C(1) << run;
        HEDDLE_TRY(heddle_check_result_add_finding(result, &report->findings[i]));
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_result_add(heddle_check_result *result, heddle_check_kind kind, heddle_check_tier tier,
                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    heddle_check_finding finding = {
        .kind = kind, .tier = tier, .count = 1, .message = format_text(result, format, arguments), .note = ""};
    va_end(arguments);
    return heddle_check_result_add_finding(result, &finding);
}

heddle_status heddle_check_result_note(heddle_check_result *result, const char *format, ...)
{
    void *array = (void *)result->notes;
    HEDDLE_TRY(make_room(&array, result->note_count, &result->note_room));
    result->notes = array;
    va_list arguments;
    va_start(arguments, format);
    result->notes[result->note_count++] = format_text(result, format, arguments);
    va_end(arguments);
    return HEDDLE_OK;
}

// --- comparing runs --------------------------------------------------------------------------------------------------

bool heddle_check_result_explains_difference(const heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *finding = result->findings[i];
        bool can_change_results = finding->kind != HEDDLE_CHECK_LEAK && finding->kind != HEDDLE_CHECK_UNCHECKED_ERROR;
        if (finding->tier == HEDDLE_CHECK_ERROR && can_change_results)
            return true;
    }
    return false;
}

// Whether the numbers are the same but for rounding, read as float or as double.
static bool same_but_rounded(const heddle_check_copy *a, const heddle_check_copy *b)
{
    // Far above what another order of a long float sum changes, far below what one wrong element in a thousand does.
    static const double tolerance[] = {1e-4, 1e-9};
    for (int type = 0; type < 2; type++)
        if (a->sums[type].magnitude >= 0 && b->sums[type].magnitude >= 0 &&
            fabs(a->sums[type].sum - b->sums[type].sum) <=
                tolerance[type] * fmax(a->sums[type].magnitude, b->sums[type].magnitude))
            return true;
    return false;
}

static int compare_by_hash(const void *left, const void *right)
{
    const heddle_check_copy *a = *(const heddle_check_copy *const *)left, *b = *(const heddle_check_copy *const *)right;
    return a->site != b->site ? (a->site > b->site) - (a->site < b->site) : strcmp(a->hash, b->hash);
}

static int compare_by_sum(const void *left, const void *right)
{
    const heddle_check_copy *a = *(const heddle_check_copy *const *)left, *b = *(const heddle_check_copy *const *)right;
    if (a->site != b->site)
        return (a->site > b->site) - (a->site < b->site);
    for (int type = 0; type < 2; type++)
        if (a->sums[type].sum != b->sums[type].sum)
            return (a->sums[type].sum > b->sums[type].sum) - (a->sums[type].sum < b->sums[type].sum);
    return strcmp(a->hash, b->hash);
}

static const heddle_check_copy **sorted_copies(const heddle_check_report *report)
{
    const heddle_check_copy **list = calloc((size_t)report->copy_count + 1, sizeof *list);
    for (int i = 0; list && i < report->copy_count; i++)
        list[i] = &report->copies[i];
    if (list)
        qsort(list, (size_t)report->copy_count, sizeof *list, compare_by_hash);
    return list;
}

// Takes out of two sorted lists what is in both, and says how many stay in each.
static void drop_equal(const heddle_check_copy **a, int *a_count, const heddle_check_copy **b, int *b_count)
{
    int kept_a = 0, kept_b = 0, i = 0, j = 0;
    while (i < *a_count && j < *b_count) {
        int order = compare_by_hash(&a[i], &b[j]);
        if (order < 0) {
            a[kept_a++] = a[i++];
        } else if (order > 0) {
            b[kept_b++] = b[j++];
        } else {
            i++;
            j++;
        }
    }
    while (i < *a_count)
        a[kept_a++] = a[i++];
    while (j < *b_count)
        b[kept_b++] = b[j++];
    *a_count = kept_a;
    *b_count = kept_b;
}

// Threads of the host may copy in any order: what each call brought is held against all that it brought the other time.
static int difference_in_any_order(const heddle_check_report *a, const heddle_check_report *b)
{
    const heddle_check_copy **of_a = sorted_copies(a), **of_b = sorted_copies(b);
    int a_count = a->copy_count, b_count = b->copy_count, found = -1;
    if (of_a && of_b) {
        drop_equal(of_a, &a_count, of_b, &b_count);
        // What is left may be the same but for rounding, and then its sums are in the same order.
        qsort(of_a, (size_t)a_count, sizeof *of_a, compare_by_sum);
        qsort(of_b, (size_t)b_count, sizeof *of_b, compare_by_sum);
        if (a_count != b_count)
            found = 0;
        for (int i = 0; found < 0 && i < a_count; i++)
            if (of_a[i]->site != of_b[i]->site || !same_but_rounded(of_a[i], of_b[i]))
                found = (int)(of_a[i] - a->copies);
    }
    free(of_a);
    free(of_b);
    return found;
}

int heddle_check_first_difference(const heddle_check_report *a, const heddle_check_report *b)
{
    if (a->copies_in_any_order || b->copies_in_any_order)
        return difference_in_any_order(a, b);
    int common = a->copy_count < b->copy_count ? a->copy_count : b->copy_count;
    for (int i = 0; i < common; i++)
        if (strcmp(a->copies[i].hash, b->copies[i].hash) != 0 && !same_but_rounded(&a->copies[i], &b->copies[i]))
            return i;
    return a->copy_count == b->copy_count ? -1 : common;
}

// --- ranking ---------------------------------------------------------------------------------------------------------

// By tier, then by kind; among equals the one seen more often.
static int compare_weight(const heddle_check_finding *a, const heddle_check_finding *b)
{
    if (a->tier != b->tier)
        return a->tier == HEDDLE_CHECK_ERROR ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
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
            if (!same_text(findings[i]->kernel, kernel))
                continue;
            heddle_check_finding *moving = findings[i];
            memmove(&findings[place + 1], &findings[place], (size_t)(i - place) * sizeof(heddle_check_finding *));
            findings[place++] = moving;
        }
        done = place;
    }
}

// The call that failed, told as an error of its own: that nobody looked at what it returned goes with it.
static heddle_check_finding *told_error(const heddle_check_result *result, const heddle_check_finding *unchecked)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *other = result->findings[i];
        bool in_host_code = other->tier == HEDDLE_CHECK_ERROR && other->place_count > 0 && unchecked->place_count > 0 &&
                            other->places[0].frames > 0 && unchecked->places[0].frames > 0 &&
                            !other->places[0].has_thread;
        if (in_host_code && other->kind != HEDDLE_CHECK_UNCHECKED_ERROR &&
            other->places[0].frame[0].line == unchecked->places[0].frame[0].line &&
            strcmp(other->places[0].frame[0].file, unchecked->places[0].frame[0].file) == 0)
            return other;
    }
    return NULL;
}

static const char *with_unread(heddle_check_result *result, const char *message)
{
    static const char unread[] = ", and the program never looks at the error";
    char text[1024];
    if (strstr(message, unread))
        return message;
    snprintf(text, sizeof text, "%s%s", message, unread);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    return copy ? copy : message;
}

static void tell_failures_once(heddle_check_result *result)
{
    int kept = 0;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        heddle_check_finding *told = finding->kind == HEDDLE_CHECK_UNCHECKED_ERROR ? told_error(result, finding) : NULL;
        if (told)
            told->message = with_unread(result, told->message);
        result->findings[kept] = finding;
        kept += told == NULL;
    }
    result->finding_count = kept;
}

static void drop_suppressed(heddle_check_result *result, const heddle_check_suppressions *suppressions)
{
    int kept = 0;
    for (int i = 0; i < result->run_count; i++)
        if (result->runs[i]->suppressed > result->suppressed)
            result->suppressed = result->runs[i]->suppressed;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        if (heddle_check_suppressed(suppressions, result->sources, finding))
            result->suppressed++;
        else
            result->findings[kept++] = finding;
    }
    result->finding_count = kept;
}

void heddle_check_result_finish(heddle_check_result *result, const heddle_check_suppressions *suppressions, bool strict)
{
    drop_suppressed(result, suppressions);
    tell_failures_once(result); // of those that are left: an error that is not shown cannot tell of another
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        if (strict)
            finding->tier = HEDDLE_CHECK_ERROR;
        result->errors += finding->tier == HEDDLE_CHECK_ERROR;
        result->warnings += finding->tier == HEDDLE_CHECK_WARNING;
    }
    insert_sorted(result->findings, result->finding_count);
    gather_kernels(result->findings, result->finding_count);
}
