// The last word on what was found: source lines are looked up, what turns out not to be a mistake is dropped, what is
// the same in the source is counted together, what the user allowed is left out, and the rest is ranked.
#include <stdio.h>
#include <string.h>

#include "machine/barrier_line.h"
#include "machine/options.h"
#include "report/internal.h"
#include "report/stopped.h"

uintptr_t sim_crashed_at;
static sim_conclusion conclusion;

static void want_lines(sim_record *record)
{
    for (; record; record = record->next) {
        for (int i = 0; i < SIM_PLACES; i++)
            sim_lines_want(record->finding.place[i].pc);
        sim_lines_want(record->memory.allocated_at);
        sim_lines_want(record->memory.freed_at);
        sim_lines_want(record->finding.after);
    }
}

static const char *role_of(const sim_finding *finding, int place)
{
    return finding->place[place].role ? finding->place[place].role : "";
}

// What a thread read from nowhere may be the index with which its block goes wrong again.
static void note_after(sim_record *record)
{
    sim_finding *finding = &record->finding;
    const sim_stack *after = finding->after ? sim_lines_of(finding->after) : NULL;
    const sim_frame *there = after ? &after->frames[0] : NULL,
                    *here = record->where[0] ? record->where[0]->frames : NULL;
    if (there && there->line && (!here || sim_frame_compare(there, here) != 0) && !finding->note[0])
        snprintf(finding->note, sizeof finding->note,
                 "after a fault at line %u, in the same block: it may be a consequence of that one", there->line);
}

static void place_in_source(sim_record *record)
{
    for (; record; record = record->next) {
        for (int i = 0; i < SIM_PLACES; i++)
            record->where[i] = sim_lines_of(record->finding.place[i].pc);
        note_after(record);
        if (sim_options_get()->strict)
            record->finding.tier = SIM_ERROR;
    }
}

static int compare_place(const sim_stack *a, const sim_stack *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return sim_frame_compare(&a->frames[0], &b->frames[0]);
}

static bool same_stack(const sim_stack *a, const sim_stack *b)
{
    if (!a || !b || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (sim_frame_compare(&a->frames[i], &b->frames[i]) != 0)
            return false;
    return true;
}

// The compiler may copy a barrier (unrolled loops, template instances): in the source it is still one.
bool sim_is_one_barrier(const sim_record *record)
{
    const sim_place *place = record->finding.place;
    return record->finding.kind == SIM_BARRIER_DIVERGENT && record->where[0] && record->where[0]->frames[0].line &&
           same_stack(record->where[0], record->where[1]) &&
           sim_barrier_on_line_number(place[0].pc) == sim_barrier_on_line_number(place[1].pc);
}

// Several calls may stand in one line: what is said of each begins with its name.
static bool same_call(const sim_finding *a, const sim_finding *b)
{
    static const char call[] = "call", end[] = " :";
    bool calls = strcmp(role_of(a, 0), call) == 0 && strcmp(role_of(b, 0), call) == 0;
    size_t length = strcspn(a->message, end);
    return !calls || (length == strcspn(b->message, end) && memcmp(a->message, b->message, length) == 0);
}

// An index that is wrong is often wrong for several arrays of its line: one finding is enough.
static bool same_fault(const sim_record *a, const sim_record *b)
{
    return a->finding.fault && b->finding.fault && a->finding.kind == b->finding.kind &&
           a->finding.kernel == b->finding.kernel && a->where[0] && a->where[0]->frames[0].line &&
           same_stack(a->where[0], b->where[0]);
}

static bool same_in_source(const sim_record *a, const sim_record *b)
{
    if (same_fault(a, b))
        return true;
    if (a->finding.kind != b->finding.kind || strcmp(a->memory.name, b->memory.name) != 0 ||
        a->memory.allocated_at != b->memory.allocated_at || !same_call(&a->finding, &b->finding))
        return false;
    return (compare_place(a->where[0], b->where[0]) == 0 && compare_place(a->where[1], b->where[1]) == 0) ||
           (compare_place(a->where[0], b->where[1]) == 0 && compare_place(a->where[1], b->where[0]) == 0);
}

// The earlier (0) or later (1) place of two; which of them did what does not matter.
static const sim_stack *place_by_line(const sim_record *record, int which)
{
    bool swapped = record->where[1] && compare_place(record->where[0], record->where[1]) > 0;
    return record->where[swapped ? !which : which];
}

// Errors first, then the graver kind, then by line; what follows only makes the order the same each time.
static int compare_rank(const void *left, const void *right)
{
    const sim_record *a = left, *b = right;
    if (a->finding.tier != b->finding.tier)
        return a->finding.tier < b->finding.tier ? -1 : 1;
    if (a->finding.kind != b->finding.kind)
        return sim_kind_rank(a->finding.kind) - sim_kind_rank(b->finding.kind);
    int order = 0;
    for (int i = 0; order == 0 && i < SIM_PLACES; i++)
        order = compare_place(place_by_line(a, i), place_by_line(b, i));
    if (order == 0)
        order = sim_findings_compare(&a->finding, &b->finding);
    if (order == 0)
        order = strcmp(a->finding.kernel ? a->finding.kernel : "", b->finding.kernel ? b->finding.kernel : "");
    return order ? order : strcmp(a->finding.message, b->finding.message);
}

static bool same_roles(const sim_finding *a, const sim_finding *b)
{
    return (strcmp(role_of(a, 0), role_of(b, 0)) == 0 && strcmp(role_of(a, 1), role_of(b, 1)) == 0) ||
           (strcmp(role_of(a, 0), role_of(b, 1)) == 0 && strcmp(role_of(a, 1), role_of(b, 0)) == 0);
}

// Two lines may race in several ways; one is shown, another mentioned in a few words.
static void note_other_roles(sim_finding *shown, const sim_finding *other)
{
    static const char seen[] = "also seen as";
    size_t used = strlen(shown->note);
    if (shown->kind == SIM_RACE && !same_roles(shown, other) && !strstr(shown->note, seen))
        snprintf(shown->note + used, sizeof shown->note - used, "%s%s %s and %s", used ? "; " : "", seen,
                 role_of(other, 0), role_of(other, 1));
}

static void add(sim_record *record)
{
    for (size_t i = conclusion.count; i-- > 0;) {
        sim_record *other = conclusion.findings[i];
        if (same_in_source(other, record)) {
            other->count += record->count;
            note_other_roles(&other->finding, &record->finding);
            record->merged = other->merged;
            other->merged = record;
            return;
        }
    }
    conclusion.findings[conclusion.count++] = record;
    conclusion.errors += record->finding.tier == SIM_ERROR;
    conclusion.warnings += record->finding.tier == SIM_WARNING;
}

const sim_stack *sim_crash_place(sim_place *place)
{
    *place = (sim_place){.pc = sim_crashed_at, .role = "crash"};
    return place->pc ? sim_lines_of(place->pc) : NULL;
}

const sim_conclusion *sim_conclude(void)
{
    sim_record *all = sim_findings_close();
    want_lines(all);
    sim_counters_want();
    sim_lines_want(sim_crashed_at);
    sim_lines_resolve();
    place_in_source(all);
    size_t count = 0;
    for (sim_record *record = all; record; record = record->next)
        count++;
    const void **ranked = sim_arena_take((count + 1) * sizeof *ranked);
    conclusion.findings = sim_arena_take((count + 1) * sizeof *conclusion.findings);
    if (!ranked || !conclusion.findings)
        return &conclusion;
    size_t used = 0;
    for (sim_record *record = all; record; record = record->next)
        if (!sim_is_one_barrier(record))
            ranked[used++] = record;
    sim_sort(ranked, used, compare_rank);
    for (size_t i = 0; i < used; i++) {
        sim_record *record = (sim_record *)ranked[i];
        if (sim_suppressed(record))
            conclusion.suppressed[record->finding.kind]++;
        else
            add(record);
    }
    for (size_t i = 0; i < conclusion.count; i++)
        if (sim_was_stopped(conclusion.findings[i]->finding.kernel))
            conclusion.findings[i]->count = 1;
    return &conclusion;
}
