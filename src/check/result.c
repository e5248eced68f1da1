// Uniting findings of several runs, ranking and counting them.

#include "check/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/failures.h"
#include "check/lines.h"

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
    heddle_check_report_free(result->compared);
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

static bool same_line(const heddle_check_place *a, const heddle_check_place *b)
{
    if (!a->frames != !b->frames)
        return false;
    return a->frames == 0 || (a->frame[0].line == b->frame[0].line && strcmp(a->frame[0].file, b->frame[0].file) == 0);
}

static bool same_place(const heddle_check_place *a, const heddle_check_place *b)
{
    return strcmp(a->role, b->role) == 0 && same_line(a, b);
}

// Two threads may be seen in either order, so two places may be the other way round.
static bool same_two_places(const heddle_check_finding *a, const heddle_check_finding *b,
                            bool (*same)(const heddle_check_place *a, const heddle_check_place *b))
{
    return (same(&a->places[0], &b->places[0]) && same(&a->places[1], &b->places[1])) ||
           (same(&a->places[0], &b->places[1]) && same(&a->places[1], &b->places[0]));
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

// Its message begins with its name.
bool heddle_check_same_call(const heddle_check_finding *a, const heddle_check_finding *b)
{
    static const char end[] = " :";
    size_t length = strcspn(a->message, end);
    bool calls = a->place_count > 0 && b->place_count > 0 && strcmp(a->places[0].role, "call") == 0 &&
                 strcmp(b->places[0].role, "call") == 0;
    return !calls || (length == strcspn(b->message, end) && memcmp(a->message, b->message, length) == 0);
}

// Two lines that race do so in whatever way another order of the threads shows: one is a read here, a write there.
static bool same_finding(const heddle_check_finding *a, const heddle_check_finding *b)
{
    if (a->kind != b->kind || a->place_count != b->place_count)
        return false;
    if ((a->kind == HEDDLE_CHECK_LEAK && !same_leak(a, b)) || !heddle_check_same_call(a, b))
        return false;
    if (a->place_count == 0 || a->kind == HEDDLE_CHECK_OTHER)
        return same_text(a->message, b->message) && same_text(a->kernel, b->kernel);
    if (a->place_count == 1 || a->place_count > 2) {
        for (int i = 0; i < a->place_count; i++)
            if (!same_place(&a->places[i], &b->places[i]))
                return false;
        return true;
    }
    return same_two_places(a, b, a->kind == HEDDLE_CHECK_RACE ? same_line : same_place);
}

static heddle_check_finding *find_same(const heddle_check_result *result, const heddle_check_finding *finding)
{
    for (int i = 0; i < result->finding_count; i++)
        if (same_finding(result->findings[i], finding))
            return result->findings[i];
    return NULL;
}

// --- adding ----------------------------------------------------------------------------------------------------------

// Two lines were seen to race in another way than before. The graver one is told in full, the other in a few words.
static void unite_ways(heddle_check_result *result, heddle_check_finding *known, const heddle_check_finding *again)
{
    bool graver = again->tier == HEDDLE_CHECK_ERROR &&
                  (known->tier != HEDDLE_CHECK_ERROR || (known->value_count > 0 && again->value_count == 0));
    const heddle_check_place *other = graver ? known->places : again->places;
    char way[128], text[1024];
    if (other[0].frames && other[1].frames && other[0].frame[0].line != other[1].frame[0].line)
        snprintf(way, sizeof way, "also seen as %s in line %d and %s in line %d", other[0].role, other[0].frame[0].line,
                 other[1].role, other[1].frame[0].line);
    else
        snprintf(way, sizeof way, "also seen as %s and %s", other[0].role, other[1].role);
    if (graver) {
        heddle_check_finding was = *known;
        *known = *again;
        known->places = was.places;
        memcpy(known->places, again->places, (size_t)again->place_count * sizeof *known->places);
        known->schedules = was.schedules;
        known->count = was.count;
    }
    if (strstr(known->note, "also seen as"))
        return;
    snprintf(text, sizeof text, "%s%s%s", known->note, known->note[0] ? "; " : "", way);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    known->note = copy ? copy : known->note;
}

static void unite(heddle_check_result *result, heddle_check_finding *known, const heddle_check_finding *again)
{
    known->schedules |= again->schedules;
    if (again->count > known->count)
        known->count = again->count;
    bool one_way =
        known->kind != HEDDLE_CHECK_RACE || again->place_count != 2 || same_two_places(known, again, same_place);
    if (!one_way) {
        unite_ways(result, known, again);
    } else if (known->value_count > 0 && again->value_count == 0) {
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
        unite(result, known, finding);
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
    heddle_check_failures_settle(result); // of those that are left: an error that is not shown cannot tell of another
    heddle_check_lines_settle(result);
    drop_suppressed(result, suppressions); // by the lines that are shown, too
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
