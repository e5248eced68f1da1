// Findings for a program that asks while it runs, as a library does that has the simulated GPU as one of its devices:
// what has been found since it last asked, in one line. Nothing goes to stderr at the end then.
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "machine/options.h"
#include "race/race.h"
#include "report/internal.h"

enum { MOST_AT_ONCE = 64 }; // in one call; the rest waits for the next

static atomic_bool embedded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // lines.c keeps tables of its own

void sim_report_embedded(void)
{
    atomic_store(&embedded, true);
}

bool sim_report_is_embedded(void)
{
    return atomic_load(&embedded);
}

// What an API call has already answered with its error code, or what can still be corrected, is left out.
static bool is_reported(const sim_finding *finding)
{
    switch (finding->kind) {
    case SIM_LEAK:
    case SIM_BAD_CALL:
    case SIM_BAD_LAUNCH:
    case SIM_UNCHECKED_ERROR: return false;
    default: return finding->tier == SIM_ERROR || sim_options_get()->strict;
    }
}

static void place_in_source(sim_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < SIM_PLACES; p++)
            sim_lines_want(records[i].finding.place[p].pc);
    if (count > 0)
        sim_lines_resolve();
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < SIM_PLACES; p++)
            records[i].where[p] = sim_lines_of(records[i].finding.place[p].pc);
}

// "race in add: write and read of ... at add.cu:12 by thread ... and at add.cu:13 by thread ...: same block, ..."
static void write_line(const sim_record *record, size_t others, char *text, size_t bytes)
{
    const sim_finding *finding = &record->finding;
    char places[SIM_PLACES][2 * SIM_PLACE_BYTES] = {"", ""}, where[SIM_PLACE_BYTES], thread[SIM_PLACE_BYTES];
    for (int p = 0; p < SIM_PLACES; p++)
        if (record->where[p])
            snprintf(places[p], sizeof places[p], "%s%s", sim_frame_text(&record->where[p]->frames[0], where),
                     sim_thread_text(&finding->place[p], thread));
    char more[48] = "";
    if (others > 0)
        snprintf(more, sizeof more, " (and %zu more)", others);
    snprintf(text, bytes, "%s%s%s: %s%s%s%s%s%s%s%s", sim_kind_name(finding->kind), finding->kernel ? " in " : "",
             finding->kernel ? finding->kernel : "", finding->message, places[0][0] ? ", at " : "", places[0],
             places[1][0] ? " and at " : "", places[1], finding->note[0] ? ": " : "", finding->note, more);
}

void sim_report_part(const char *name)
{
    sim_race_finish();
    sim_findings_begin_part(name);
}

bool sim_report_next(char *text, size_t bytes)
{
    static sim_record records[MOST_AT_ONCE];
    sim_race_finish();
    pthread_mutex_lock(&lock);
    size_t count = sim_findings_new(is_reported, records, MOST_AT_ONCE), kept = 0;
    place_in_source(records, count);
    const sim_record *gravest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (sim_is_one_barrier(&records[i]) || sim_suppressed(&records[i]))
            continue;
        kept++;
        if (!gravest || sim_kind_rank(records[i].finding.kind) < sim_kind_rank(gravest->finding.kind))
            gravest = &records[i];
    }
    if (gravest)
        write_line(gravest, kept - 1, text, bytes);
    pthread_mutex_unlock(&lock);
    return gravest != NULL;
}
