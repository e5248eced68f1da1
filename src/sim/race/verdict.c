// The races found so far, one entry for each pair of places, held until the program ends: only then is it known whether
// the racing stores ever disagreed, and whether a plain read was a guess that an atomic confirmed.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/handed.h"
#include "race/launches.h"
#include "race/race.h"
#include "race/read_only.h"
#include "race/site.h"
#include "race/stream_order.h"
#include "race/unfenced.h"
#include "race/unwritten.h"
#include "race/values.h"
#include "race/view.h"

enum { MOST_LOOKS = 2 }; // from before a loop and from within it

typedef struct race {
    unsigned site[2], kind[2]; // the earlier access, the later one
    bool shared, same_warp;
    bool open;  // something else than the word's own order would have to order them
    bool blind; // of two volatile writes the later was once made without a look at the word since the earlier
    unsigned look[MOST_LOOKS]; // else: from where it looked
    int apart;                 // of the example
    bool unnamed;              // of the example's two threads the earlier is not known
    bool unwritten;            // the read was once made before anything had written the word
    sim_finding finding;
    uint64_t count;
    struct race *next;
} race;

enum { BUCKETS = 256 };
static race *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void (*observer)(uintptr_t address, size_t bytes, void *context);
static void *observer_context;

void sim_race_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context)
{
    observer = callback;
    observer_context = context;
}

static bool same_race(const race *one, const sim_earlier *earlier, const sim_view *view)
{
    bool forward = one->site[0] == earlier->site && one->site[1] == view->site;
    bool backward = one->site[1] == earlier->site && one->site[0] == view->site;
    return (forward || backward) && one->shared == view->shared &&
           strcmp(one->finding.kernel, view->worker->launch->kernel->name) == 0;
}

// Of several readers one is remembered by name. Where that is the writer itself, it is another one that races.
static bool is_self(const sim_view *view, int thread, const sim_earlier *earlier)
{
    bool same_block = view->shared || sim_clock_block_of(earlier->stamp) == view->clock->serial;
    return same_block && earlier->thread == (unsigned)thread;
}

// How far apart the two threads are. The widest that is seen says what it takes to order them.
enum { WITHIN_WARP, WITHIN_BLOCK, BETWEEN_BLOCKS, BETWEEN_LAUNCHES };

static int distance(const sim_view *view, int thread, const sim_earlier *earlier)
{
    uint32_t serial = sim_clock_block_of(earlier->stamp), mine = view->clock->serial;
    if (serial != mine && !view->shared)
        return sim_launches_find(serial) != sim_launches_find(mine) ? BETWEEN_LAUNCHES : BETWEEN_BLOCKS;
    return earlier->thread / SIM_LANES == (unsigned)thread / SIM_LANES && !is_self(view, thread, earlier)
               ? WITHIN_WARP
               : WITHIN_BLOCK;
}

static const char *long_role_at(unsigned site, unsigned kind)
{
    return kind == SIM_WRITE && sim_sites[site].copy != SIM_NO_COPY ? "asynchronous copy" : sim_role(kind);
}

static const char *const relations[] = {
    "same warp, no __syncwarp between them",
    "same block, no __syncthreads between them",
    "different blocks: within one launch only a fence with an atomic orders them",
    "",
};

static bool is_volatile(unsigned kind)
{
    return kind == SIM_VOLATILE_READ || kind == SIM_VOLATILE_WRITE;
}

static sim_order order_of(const sim_view *view, int thread, const sim_earlier *earlier, int apart, uintptr_t address)
{
    // Data of a block in volatile shared memory: its words look like flags to one another, but want a barrier.
    if (view->shared && is_volatile(view->kind) && is_volatile(earlier->kind))
        return SIM_ORDER_BARRIER;
    if (sim_handed_between(earlier->stamp, earlier->thread, view->clock->stamp, (unsigned)thread, address))
        return SIM_ORDER_FENCE;
    return apart == BETWEEN_BLOCKS ? SIM_ORDER_BLOCKS : SIM_ORDER_BARRIER;
}

static bool is_read(unsigned kind)
{
    return kind == SIM_READ || kind == SIM_VOLATILE_READ;
}

// Of two kernels of which one launched the other, or that one kernel launched.
static void describe_family(const sim_view *view, const sim_earlier *earlier, bool parent, sim_finding *finding)
{
    finding->order = SIM_ORDER_CHILD;
    snprintf(finding->message, sizeof finding->message,
             "%s use the same memory (%s, %s) with no synchronisation between them",
             parent ? "a kernel and a kernel that it launched" : "two kernels that a kernel launched",
             sim_role(earlier->kind), sim_role(view->kind));
    snprintf(finding->note, sizeof finding->note, "%s",
             parent ? "a child is ordered only after what its launching thread did, or synchronised with at a barrier, "
                      "before the launch"
                    : "only launches by one block into one stream run one after the other");
}

// Why the later of two kernels in one stream may run beside the earlier.
static const char *why_beside(const sim_launch_record *earlier, const sim_launch_record *later, bool triggers)
{
    if (earlier && later && earlier->first_serial != later->beside)
        return "a kernel between the two may begin early and does not wait itself: to wait for its end is not enough";
    return triggers ? "launched with programmatic stream serialization, the kernel begins once every block of the one "
                      "before has called cudaTriggerProgrammaticLaunchCompletion or ended"
                    : "launched with programmatic stream serialization, the kernel may begin early; the one before "
                      "never calls cudaTriggerProgrammaticLaunchCompletion, so it begins when those blocks have ended";
}

// Of two kernels in order, of which the later may begin before the earlier has ended. Without a trigger the earlier one
// has as good as ended: only what it wrote may be on its way.
static void describe_dependent(const sim_view *view, const sim_earlier *earlier, sim_finding *finding)
{
    const sim_launch_record *other = sim_launches_find(sim_clock_block_of(earlier->stamp));
    const bool triggers = other && __atomic_load_n(&other->triggers, __ATOMIC_RELAXED);
    finding->kind = SIM_MISSING_WAIT;
    finding->tier = triggers ? SIM_ERROR : SIM_WARNING;
    snprintf(finding->message, sizeof finding->message,
             "%s of memory that a kernel before it in the stream uses (%s), before cudaGridDependencySynchronize has "
             "waited for that kernel",
             sim_role(view->kind), sim_role(earlier->kind));
    snprintf(finding->note, sizeof finding->note, "%s",
             why_beside(other, sim_launches_find(view->clock->serial), triggers));
}

static void note_overwrite(const sim_view *view, const sim_earlier *earlier, sim_finding *finding)
{
    const sim_launch_record *other = sim_launches_find(sim_clock_block_of(earlier->stamp));
    const uint64_t number = view->worker->launch->number;
    if (other && is_read(earlier->kind) != is_read(view->kind))
        snprintf(finding->note, sizeof finding->note, "%s",
                 is_read(view->kind) ? sim_order_overwrite_note(number, other->number)
                                     : sim_order_overwrite_note(other->number, number));
}

static void describe(const sim_view *view, int thread, const sim_earlier *earlier, int apart, uintptr_t address,
                     sim_finding *finding)
{
    *finding = sim_finding_of(view->worker, SIM_RACE, SIM_ERROR);
    finding->address = address;
    finding->bytes = sim_sites[view->site].bytes;
    snprintf(finding->message, sizeof finding->message,
             "%s and %s of the same %s memory with no synchronisation between them",
             long_role_at(earlier->site, earlier->kind), long_role_at(view->site, view->kind),
             view->shared ? "shared" : "global");
    finding->order = order_of(view, thread, earlier, apart, address);
    snprintf(finding->note, sizeof finding->note, "%s",
             finding->order == SIM_ORDER_FENCE ? "an atomic links the two threads, but no fence reaches both"
                                               : relations[apart]);
    bool parent;
    const uint32_t other = sim_clock_block_of(earlier->stamp);
    if (apart == BETWEEN_LAUNCHES && sim_launches_related(other, view->clock->serial, &parent)) {
        describe_family(view, earlier, parent, finding);
    } else if (apart == BETWEEN_LAUNCHES && sim_launches_ordered(other, view->clock->serial)) {
        describe_dependent(view, earlier, finding);
    } else if (apart == BETWEEN_LAUNCHES) {
        finding->kind = SIM_MISSING_WAIT;
        snprintf(finding->message, sizeof finding->message,
                 "two kernels use the same memory (%s, %s) in streams that do not wait for each other",
                 sim_role(earlier->kind), sim_role(view->kind));
        note_overwrite(view, earlier, finding);
    }
    finding->place[0] = sim_race_place(earlier);
    if (is_self(view, thread, earlier)) {
        finding->place[0].has_thread = false;
        snprintf(finding->note, sizeof finding->note,
                 "several threads had read it, and nothing orders the others before this write");
    }
    finding->place[1] =
        sim_place_of(view->worker, thread, sim_sites[view->site].pc, sim_role_at(view->site, view->kind));
}

static void note_look(race *one, unsigned site)
{
    int i = 0;
    while (i < MOST_LOOKS && one->look[i] != site && one->look[i] != 0)
        i++;
    if (i < MOST_LOOKS && site != 0)
        one->look[i] = site;
    else
        one->blind = true;
}

// A volatile read before the wait for the kernel before, of what that one may write: a guess, which the program says
// may change, or a flag for which it polls.
static bool looks_ahead(const sim_view *view, const sim_earlier *earlier)
{
    return view->kind == SIM_VOLATILE_READ && !view->shared && view->clock->awaits != 0 &&
           sim_launches_ordered(sim_clock_block_of(earlier->stamp), view->clock->serial);
}

void sim_race_found(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address)
{
    if (observer)
        observer(address, sim_sites[view->site].bytes, observer_context);
    if (looks_ahead(view, earlier))
        return;
    unsigned low = earlier->site < view->site ? earlier->site : view->site;
    unsigned high = earlier->site < view->site ? view->site : earlier->site;
    race **bucket = &buckets[(low * 31 + high) % BUCKETS];
    bool unwritten = sim_unwritten_raced(view, thread, earlier, address);
    pthread_mutex_lock(&lock);
    race *one = *bucket;
    while (one && !same_race(one, earlier, view))
        one = one->next;
    int apart = distance(view, thread, earlier);
    bool first = !one;
    if (first && (one = calloc(1, sizeof *one))) {
        one->shared = view->shared;
        one->next = *bucket;
        *bucket = one;
    }
    if (one) {
        bool unnamed = is_self(view, thread, earlier);
        if (first || (one->unnamed && !unnamed) || (apart > one->apart && one->unnamed >= unnamed)) {
            one->unnamed = unnamed;
            one->site[0] = earlier->site, one->site[1] = view->site;
            one->kind[0] = earlier->kind, one->kind[1] = view->kind;
            one->apart = apart;
            describe(view, thread, earlier, apart, address, &one->finding);
        }
        one->count++;
        one->same_warp |= apart == WITHIN_WARP;
        one->open |= !earlier->confirmed;
        one->unwritten |= unwritten;
        if (earlier->kind == SIM_VOLATILE_WRITE && view->kind == SIM_VOLATILE_WRITE)
            note_look(one, earlier->looked);
    }
    pthread_mutex_unlock(&lock);
}

static bool is_write(unsigned kind)
{
    return kind == SIM_WRITE || kind == SIM_VOLATILE_WRITE;
}

// Whether two volatile writes take turns: whoever stores has waited, by a look at the word, for what the other stored.
static bool takes_turns(const race *one)
{
    bool polls = one->look[0] != 0 && !one->blind && !(one->shared && one->same_warp);
    for (int i = 0; polls && i < MOST_LOOKS && one->look[i]; i++)
        polls = sim_polls_at(one->look[i]);
    return polls;
}

// Both store: harmless where they store the same, or take turns. Whether they do shows in a run that asks about them,
// in which the stores let others go first: who only looked whether nobody else was there is overtaken then.
static void judge_writes(race *one)
{
    sim_finding *finding = &one->finding;
    if (sim_sites[one->site[0]].copy != sim_sites[one->site[1]].copy)
        return; // a copy's value comes later than its issue: it cannot be held against a store's
    bool asked = sim_sites[one->site[0]].values && sim_sites[one->site[1]].values;
    finding->ask_values = !asked;
    if (asked && sim_values_equal(one->site[0], one->site[1])) {
        finding->tier = SIM_WARNING;
        snprintf(finding->note, sizeof finding->note, "every thread stored the same value");
    } else if (asked && takes_turns(one)) {
        finding->tier = SIM_WARNING;
        snprintf(finding->note, sizeof finding->note,
                 "the threads take turns by polling the word before they store, which does not order other accesses");
    }
}

// A volatile read against a store: harmless where it waits for the store. Whether it does may show only when the stores
// let others go first, which they do in a run that asks about them.
static void judge_volatile(race *one, int reader)
{
    sim_finding *finding = &one->finding;
    bool store_volatile = one->kind[!reader] == SIM_VOLATILE_WRITE;
    bool lanes = one->shared && one->same_warp && store_volatile; // who talk through shared memory need __syncwarp
    if (!lanes && sim_polls_at(one->site[reader])) {
        finding->tier = SIM_WARNING;
        snprintf(finding->note, sizeof finding->note, "%s",
                 store_volatile
                     ? "a volatile read polls what a volatile write sets, which does not order other accesses"
                     : "a volatile read polls what a plain write sets");
        return;
    }
    finding->ask_values = !sim_sites[one->site[!reader]].values;
    if (finding->order != SIM_ORDER_FENCE)
        snprintf(finding->note + strlen(finding->note), sizeof finding->note - strlen(finding->note),
                 "; volatile does not synchronise, and the read does not wait for the write");
}

static void judge_guess(race *one)
{
    unsigned a = one->kind[0], b = one->kind[1];
    bool guess = (a == SIM_READ && b == SIM_ATOMIC && sim_sites[one->site[0]].optimistic) ||
                 (b == SIM_READ && a == SIM_ATOMIC && sim_sites[one->site[1]].optimistic);
    if (!guess)
        return;
    one->finding.tier = SIM_WARNING;
    if (sim_sites[one->site[b == SIM_ATOMIC]].what & SIM_ATOMIC_COMMUTES)
        one->finding.order = SIM_ORDER_GUARD;
    snprintf(one->finding.note, sizeof one->finding.note,
             "an atomic of the same thread confirms the value that was read");
}

// A volatile write against an atomic: unless the atomic's scope is too narrow, only the second half of a `word += x` is
// held against it (exact.c), and only on one line are the two certain to be halves. A thread that waits for a count and
// then resets it does so in two.
static void judge_update(race *one, int store)
{
    const unsigned site = one->site[store];
    if (sim_sites[one->site[!store]].scope == SIM_SCOPE_BLOCK && one->apart >= BETWEEN_BLOCKS)
        return;
    one->open &= sim_on_one_line(site, sim_sites[site].reads_at);
    snprintf(one->finding.note, sizeof one->finding.note,
             "the volatile access reads and then writes: an atomic between the two is lost");
}

// What keeps a race from being able to change a result.
static void judge(race *one)
{
    unsigned a = one->kind[0], b = one->kind[1];
    if (one->finding.kind != SIM_RACE)
        return;
    if (is_write(a) && is_write(b))
        judge_writes(one);
    else if ((a == SIM_VOLATILE_READ && is_write(b)) || (b == SIM_VOLATILE_READ && is_write(a)))
        judge_volatile(one, is_read(b));
    else if ((a == SIM_VOLATILE_WRITE && b == SIM_ATOMIC) || (b == SIM_VOLATILE_WRITE && a == SIM_ATOMIC))
        judge_update(one, b == SIM_VOLATILE_WRITE);
    else
        judge_guess(one);
    size_t used = strlen(one->finding.note);
    if (one->unwritten && one->finding.tier == SIM_ERROR)
        snprintf(one->finding.note + used, sizeof one->finding.note - used,
                 "; this is the first write, so the read may see uninitialised memory");
}

// Of several readers the one that is remembered may be the writer itself, from another place than those that race.
// Where one of those was seen with the same write, it is the one to tell of.
static race *better_told(const race *one)
{
    for (int i = 0; one->unnamed && i < BUCKETS; i++)
        for (race *other = buckets[i]; other; other = other->next)
            if (!other->unnamed && other->open && other->shared == one->shared &&
                strcmp(other->finding.kernel, one->finding.kernel) == 0 &&
                ((other->site[0] == one->site[1] && is_read(other->kind[1])) ||
                 (other->site[1] == one->site[1] && is_read(other->kind[0]))))
                return other;
    return NULL;
}

static void drop_worse_told(void)
{
    for (int i = 0; i < BUCKETS; i++)
        for (race *one = buckets[i]; one; one = one->next) {
            race *better = one->open ? better_told(one) : NULL;
            if (!better)
                continue;
            better->count += one->count;
            one->open = false;
        }
}

void sim_race_report(void)
{
    pthread_mutex_lock(&lock);
    drop_worse_told();
    for (int i = 0; i < BUCKETS; i++)
        for (race *one = buckets[i]; one; one = one->next) {
            judge(one);
            if (one->open)
                sim_report_many(&one->finding, one->count);
            one->count = 0;
        }
    memset(buckets, 0, sizeof buckets);
    pthread_mutex_unlock(&lock);
}
