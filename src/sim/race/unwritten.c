// Uninitialised reads, by the place that reads, until it is known who wrote there after all.

#include "race/unwritten.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "race/clock.h"
#include "race/race.h"
#include "race/site.h"

// Reads that are remembered one by one. One is enough to tell of; more are kept because a write may explain some.
enum { MOST_OPEN = 256 };

typedef struct read {
    uintptr_t address;
    uint32_t block;
    bool first; // the thread had not been at the site before, since the last barrier
    sim_place place;
} read;

typedef struct unwritten {
    unsigned site;
    const char *kernel;
    _Atomic bool partly;
    sim_finding finding; // the first
    bool in_vain;        // a thread wrote such a word when it had read there itself, with no barrier between
    _Atomic uint64_t count;
    _Atomic size_t open_count;
    read open[MOST_OPEN]; // no write has raced with these
    struct unwritten *next;
} unwritten;

static unwritten *_Atomic reads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const sim_ran *ran_of(const sim_worker *worker, unsigned site, int thread)
{
    return &worker->race->ran[(size_t)site * SIM_WARPS + (unsigned)thread / SIM_LANES];
}

static unwritten *find(const sim_worker *worker, unsigned site)
{
    unwritten *one = reads;
    while (one && (one->site != site || strcmp(one->kernel, worker->launch->kernel->name) != 0))
        one = one->next;
    return one;
}

// Starts an entry, or starts it again when a whole word was read where only a part was unwritten before.
static void begin(unwritten *one, const sim_worker *worker, const sim_place *place, uintptr_t address, bool partly)
{
    const sim_site *about = &sim_sites[one->site];
    sim_finding *finding = &one->finding;
    *finding = sim_finding_of(worker, SIM_UNINITIALISED, SIM_ERROR);
    finding->partly = partly;
    finding->address = address;
    finding->bytes = about->bytes;
    finding->place[0] = *place;
    snprintf(finding->message, sizeof finding->message, "uninitialised read of %s%u byte%s", partly ? "some of " : "",
             about->bytes, about->bytes == 1 ? "" : "s");
    one->partly = partly;
    one->count = one->open_count = 0;
}

static void tell(const sim_worker *worker, unsigned site, int thread, uintptr_t address, bool partly)
{
    // Millions of threads may do the same: what is only counted takes no lock. Entries never go away.
    unwritten *one = find(worker, site);
    if (one && one->open_count == MOST_OPEN && one->partly == partly) {
        one->count++;
        return;
    }
    pthread_mutex_lock(&lock);
    one = find(worker, site);
    bool is_new = !one && (one = calloc(1, sizeof *one)), replaced = one && one->finding.partly && !partly;
    if (one && (is_new || one->finding.partly == partly || replaced)) {
        if (is_new || replaced || one->open_count < MOST_OPEN) {
            const sim_site *about = &sim_sites[site];
            bool first = !(ran_of(worker, site, thread)->again >> thread % SIM_LANES & 1);
            sim_place place = sim_place_of(worker, thread, about->pc, about->kind == SIM_ATOMIC ? "atomic" : "read");
            one->site = site;
            one->kernel = worker->launch->kernel->name;
            if (is_new || replaced)
                begin(one, worker, &place, address, partly);
            one->open[one->open_count++] = (read){address, worker->block->clock->serial, first, place};
        }
        one->count++;
    }
    if (is_new) {
        one->next = reads;
        reads = one;
    }
    pthread_mutex_unlock(&lock);
}

void sim_unwritten_read(const sim_worker *worker, unsigned site, int thread, uintptr_t address)
{
    tell(worker, site, thread, address, false);
}

void sim_unwritten_part_read(const sim_worker *worker, unsigned site, int thread, uintptr_t address)
{
    if (!__atomic_exchange_n(&sim_sites[site].partly, true, __ATOMIC_RELAXED))
        tell(worker, site, thread, address, true);
}

// Takes out the reads of the word that `address` lies in; returns whether there were any, and *first, whether one was
// the reader's first there.
static bool explain(unwritten *one, const sim_view *view, uintptr_t address, bool *first)
{
    size_t kept = 0, before = one->open_count;
    for (size_t i = 0; i < before; i++) {
        const read *open = &one->open[i];
        bool here = address - open->address < one->finding.bytes || open->address - address < sizeof(uint32_t);
        if (!here || (view->shared && open->block != view->clock->serial))
            one->open[kept++] = *open;
        else
            *first |= open->first;
    }
    one->open_count = kept;
    return kept < before;
}

bool sim_has_read(const sim_view *view, int thread, unsigned site)
{
    const sim_ran *ran = ran_of(view->worker, site, thread);
    return ran->stamp == view->clock->stamp && (ran->lanes >> thread % SIM_LANES & 1);
}

bool sim_unwritten_raced(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address)
{
    if (!reads || view->kind == SIM_READ || view->kind == SIM_VOLATILE_READ)
        return false;
    bool unwritten_then = false;
    pthread_mutex_lock(&lock);
    for (unwritten *one = reads; one; one = one->next) {
        bool first = false;
        if (!explain(one, view, address, &first))
            continue;
        unwritten_then |= one->site == earlier->site && !one->finding.partly;
        one->in_vain |= first && sim_has_read(view, thread, one->site);
    }
    pthread_mutex_unlock(&lock);
    return unwritten_then;
}

void sim_unwritten_explained(const sim_view *view, uintptr_t address)
{
    bool first = false;
    pthread_mutex_lock(&lock);
    for (unwritten *one = reads; one; one = one->next)
        explain(one, view, address, &first);
    pthread_mutex_unlock(&lock);
}

static void report(unwritten *one)
{
    sim_finding *finding = &one->finding;
    if (finding->partly && (one->open_count == 0 || !sim_options_get()->report))
        return; // without a report nobody looks into the source
    if (one->open_count > 0) {
        finding->address = one->open[0].address;
        finding->place[0] = one->open[0].place;
    } else if (one->in_vain) {
        snprintf(finding->note, sizeof finding->note,
                 "threads write there only after they have read, so a barrier between the two would not help");
    } else {
        return;
    }
    sim_report_many(finding, one->count);
}

void sim_unwritten_report(void)
{
    pthread_mutex_lock(&lock);
    for (unwritten *one = reads; one; one = one->next)
        report(one);
    reads = NULL;
    pthread_mutex_unlock(&lock);
}
