// Uniting findings of several runs.

#include "check/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { MOST_TEXT = 1024 }; // of a message, with its end

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
    heddle_check_result_free(result->joined);
    heddle_check_report_free(result->compared);
    heddle_check_report_free(result->unset);
    heddle_check_report_free(result->branches);
    heddle_check_sources_free(result->sources);
    cJSON_Delete(result->trace);
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
    char text[MOST_TEXT];
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

// One line may store to several variables, and what is stored to one says nothing of another.
static bool same_variable(const heddle_check_finding *a, const heddle_check_finding *b)
{
    const char *one = a->memory ? a->memory->name : "", *other = b->memory ? b->memory->name : "";
    return !one[0] || !other[0] || strcmp(one, other) == 0;
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
    if (a->kind == HEDDLE_CHECK_RACE)
        return same_variable(a, b) && same_two_places(a, b, same_line);
    return same_two_places(a, b, same_place);
}

static heddle_check_finding *find_same(const heddle_check_result *result, const heddle_check_finding *finding)
{
    for (int i = 0; i < result->finding_count; i++)
        if (same_finding(result->findings[i], finding))
            return result->findings[i];
    return NULL;
}

// --- adding ----------------------------------------------------------------------------------------------------------

// Nothing that another run may show makes it a warning.
static bool is_certain(const heddle_check_finding *finding)
{
    return finding->tier == HEDDLE_CHECK_ERROR && finding->value_count == 0;
}

static void add_note(heddle_check_result *result, heddle_check_finding *finding, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", finding->note, finding->note[0] ? "; " : "", more);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    finding->note = copy ? copy : finding->note;
}

// Two lines were seen to race in another way than before: of one way a few words are enough.
static void note_other_roles(heddle_check_result *result, heddle_check_finding *shown,
                             const heddle_check_place other[2])
{
    char way[128];
    if (other[0].frames && other[1].frames && other[0].frame[0].line != other[1].frame[0].line)
        snprintf(way, sizeof way, "also seen as %s in line %d and %s in line %d", other[0].role, other[0].frame[0].line,
                 other[1].role, other[1].frame[0].line);
    else
        snprintf(way, sizeof way, "also seen as %s and %s", other[0].role, other[1].role);
    if (!strstr(shown->note, "also seen as"))
        add_note(result, shown, way);
}

static bool is_among(const long long *list, int count, long long offset)
{
    for (int i = 0; i < count; i++)
        if (list[i] == offset)
            return true;
    return false;
}

// What either still asks for, without what has been settled: a store is answered for by no other store of its line.
static void unite_values(heddle_check_result *result, heddle_check_finding *known, const heddle_check_finding *again)
{
    long long *open =
        heddle_arena_alloc(result->arena, (size_t)(known->value_count + again->value_count + 1) * sizeof *open);
    int count = 0;
    if (!open)
        return; // it stays an error, which is the careful answer
    for (int i = 0; i < known->value_count; i++)
        if (!is_among(again->settled, again->settled_count, known->values[i]) ||
            is_among(again->values, again->value_count, known->values[i]))
            open[count++] = known->values[i];
    for (int i = 0; i < again->value_count; i++)
        if (!is_among(open, count, again->values[i]))
            open[count++] = again->values[i];
    known->values = open;
    known->value_count = count;
}

// Places are kept where they are, for the finding's own room holds them.
static void take_over(heddle_check_finding *known, const heddle_check_finding *again)
{
    heddle_check_finding was = *known;
    *known = *again;
    known->places = was.places;
    if (again->place_count > 0)
        memcpy(known->places, again->places, (size_t)again->place_count * sizeof *known->places);
    known->schedules = was.schedules;
    known->count = was.count;
}

// The graver of the two is shown in full.
static void unite_race(heddle_check_result *result, heddle_check_finding *known, const heddle_check_finding *again)
{
    bool one_way = again->place_count != 2 || same_two_places(known, again, same_place);
    bool certain = is_certain(known);
    bool graver = !certain && (is_certain(again) || (known->tier != HEDDLE_CHECK_ERROR && again->value_count > 0));
    heddle_check_place other[2] = {0};
    if (!one_way)
        memcpy(other, graver ? known->places : again->places, sizeof other);
    if (graver) {
        take_over(known, again);
    } else if (!certain && known->value_count > 0) {
        unite_values(result, known, again);
        if (known->value_count == 0) {
            known->tier = HEDDLE_CHECK_WARNING;
            known->note = again->note[0] ? again->note : known->note;
        }
    }
    if (!one_way)
        note_other_roles(result, known, other);
}

static void unite(heddle_check_result *result, heddle_check_finding *known, const heddle_check_finding *again)
{
    known->schedules |= again->schedules;
    if (again->count > known->count)
        known->count = again->count;
    if (known->kind == HEDDLE_CHECK_RACE) {
        unite_race(result, known, again);
    } else if (again->tier == HEDDLE_CHECK_ERROR && known->tier != HEDDLE_CHECK_ERROR) {
        take_over(known, again); // what was said for a warning does not hold
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

heddle_status heddle_check_result_add_at(heddle_check_result *result, heddle_check_kind kind, heddle_check_tier tier,
                                         heddle_check_place *place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    heddle_check_finding finding = {.kind = kind,
                                    .tier = tier,
                                    .count = 1,
                                    .message = format_text(result, format, arguments),
                                    .note = "",
                                    .places = place,
                                    .place_count = place != NULL};
    va_end(arguments);
    return heddle_check_result_add_finding(result, &finding);
}

const char *heddle_check_result_text(heddle_check_result *result, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return heddle_arena_copy_text(result->arena, text);
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

bool heddle_check_result_has_errors(const heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (result->findings[i]->tier == HEDDLE_CHECK_ERROR)
            return true;
    return false;
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
