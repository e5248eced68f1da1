// Collecting findings while the program runs: equal ones are counted together, each kind of mistake with one example.
// What the example's address belongs to is looked up at once, for it may be gone by the end (memory.c).
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "report/internal.h"

enum { BUCKETS = 1024 };        // a power of two
enum { MOST_FINDINGS = 10000 }; // distinct ones; more are of no use

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sim_record *buckets[BUCKETS];
static sim_record *first, **last = &first;
static uint64_t kept, lost;
static bool closed;
static char part[SIM_PART_BYTES]; // of the program, that runs now

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_finding(const sim_finding *a, const sim_finding *b)
{
    if (a->kind != b->kind || !same_text(a->kernel, b->kernel))
        return false;
    return (a->place[0].pc == b->place[0].pc && a->place[1].pc == b->place[1].pc) ||
           (a->place[0].pc == b->place[1].pc && a->place[1].pc == b->place[0].pc);
}

static size_t bucket_of(const sim_finding *finding)
{
    uint64_t both = (uint64_t)finding->place[0].pc + finding->place[1].pc; // the order does not matter
    uint64_t mixed = (both * 31 + finding->kind) * 0x9e3779b97f4a7c15u;
    return mixed >> 32 & (BUCKETS - 1);
}

static int compare_index(const unsigned a[3], const unsigned b[3])
{
    for (int i = 2; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

int sim_findings_compare(const sim_finding *a, const sim_finding *b)
{
    for (int i = 0; i < SIM_PLACES; i++) {
        int order = compare_index(a->place[i].block, b->place[i].block);
        if (order == 0)
            order = compare_index(a->place[i].thread, b->place[i].thread);
        if (order != 0)
            return order;
    }
    return (a->place[0].pc > b->place[0].pc) - (a->place[0].pc < b->place[0].pc);
}

static void keep(sim_record *record, const sim_finding *finding)
{
    record->finding = *finding;
    memcpy(record->part, part, sizeof part);
    sim_describe(finding, &record->memory);
}

static void add(const sim_finding *finding, uint64_t times, size_t bucket)
{
    sim_record *record = kept < MOST_FINDINGS ? sim_arena_take(sizeof *record) : NULL;
    if (!record) {
        lost++;
        return;
    }
    kept++;
    keep(record, finding);
    record->count = times;
    record->next_in_bucket = buckets[bucket];
    buckets[bucket] = record;
    *last = record;
    last = &record->next;
}

static void count(const sim_finding *finding, uint64_t times)
{
    size_t bucket = bucket_of(finding);
    for (sim_record *record = buckets[bucket]; record; record = record->next_in_bucket) {
        if (!same_finding(&record->finding, finding))
            continue;
        bool parts_warp = record->finding.parts_warp || finding->parts_warp;
        record->count += times;
        // One error among warnings makes it an error. The example is of the first part that has one.
        if (finding->tier < record->finding.tier ||
            (finding->tier == record->finding.tier && strcmp(record->part, part) == 0 &&
             sim_findings_compare(finding, &record->finding) < 0))
            keep(record, finding);
        record->finding.parts_warp = parts_warp;
        return;
    }
    add(finding, times, bucket);
}

// A thread that crashed while it held the lock will not give it back.
static bool lock_unless_crashing(void)
{
    return sim_report_crashing ? pthread_mutex_trylock(&lock) == 0 : pthread_mutex_lock(&lock) == 0;
}

void sim_findings_take(const sim_finding *finding, uint64_t times)
{
    if (!lock_unless_crashing())
        return;
    if (!closed)
        count(finding, times);
    pthread_mutex_unlock(&lock);
}

void sim_findings_begin_part(const char *name)
{
    pthread_mutex_lock(&lock);
    snprintf(part, sizeof part, "%s", name);
    pthread_mutex_unlock(&lock);
}

size_t sim_findings_new(bool (*wanted)(const sim_finding *finding), sim_record *records, size_t room)
{
    size_t used = 0;
    pthread_mutex_lock(&lock);
    for (sim_record *record = first; record && used < room; record = record->next) {
        if (record->count == record->handed_out || !wanted(&record->finding))
            continue;
        record->handed_out = record->count;
        records[used++] = *record;
    }
    pthread_mutex_unlock(&lock);
    return used;
}

sim_record *sim_findings_close(void)
{
    bool locked = lock_unless_crashing();
    closed = true;
    if (locked)
        pthread_mutex_unlock(&lock);
    return first;
}

uint64_t sim_findings_lost(void)
{
    return lost;
}
