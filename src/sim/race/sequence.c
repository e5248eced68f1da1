// What threads did between two looks at a word, and between two stores of it. Who polls one word looks at it from one
// line; the two looks of a sequence lock stand in two. Programs with atomics run on one worker.

#include "race/sequence.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "findings/finding.h"
#include "program/lines.h"
#include "race/clock.h"
#include "race/site.h"

enum { STEPS = 16, THREADS = 2048, PAIRS = 512, PROBES = 8, KEPT = 64, SIDES = 2, READER = 0, WRITER = 1 };

typedef struct step {
    uintptr_t address;
    uint16_t site;
    uint32_t fences; // of the thread before it
} step;

// The last steps of a thread, as a reader and as a writer. Of two threads that share a place the later one has it.
static struct steps {
    uint32_t block, thread;
    uint32_t fences, count[SIDES];
    step at[SIDES][STEPS];
} steps_of_threads[THREADS];

// A word and data that one thread has used between two uses of that word, from two places.
typedef struct use {
    uint32_t block, thread;
    uint16_t first, second; // uses of the word
    bool known, unfenced;   // before the data, or behind them
    sim_place place;        // of the use of the data
    const char *kernel;
} use;
static struct pair {
    uintptr_t word, data; // 0: free
    use side[SIDES];
} pairs[PAIRS]; // of the launch that runs
static bool any_pairs;
static struct pair kept[KEPT]; // of all launches, those to be reported
static size_t kept_count;
static bool any; // there has been an atomic that only reads, or only stores

static struct steps *steps_of(const sim_worker *worker)
{
    const uint32_t block = worker->block->clock->serial, thread = (uint32_t)worker->thread;
    struct steps *own = &steps_of_threads[(block * 31 + thread) % THREADS];
    if (own->block != block || own->thread != thread)
        *own = (struct steps){.block = block, .thread = thread};
    return own;
}

// NULL: there is no room.
static struct pair *pair_of(uintptr_t word, uintptr_t data)
{
    const size_t start = ((word >> 2) * 31 + (data >> 2)) % PAIRS;
    any_pairs = true;
    for (size_t i = 0; i < PROBES; i++) {
        struct pair *one = &pairs[(start + i) % PAIRS];
        if (one->word == 0)
            *one = (struct pair){.word = word, .data = data};
        if (one->word == word && one->data == data)
            return one;
    }
    return NULL;
}

// Whether the order of the three is kept: the reader's by an acquire at the first look and a fence before the second,
// the writer's by a fence behind the first store and a release at the second. A fence does for either.
static bool is_unfenced(int side, const step *first, const step *data, const step *second)
{
    const unsigned orders = side == READER ? SIM_ATOMIC_ACQUIRE : SIM_ATOMIC_RELEASE;
    const step *before = side == READER ? first : data, *behind = side == READER ? data : second;
    const bool kept_before = first->fences != data->fences || (sim_sites[before->site].what & orders);
    const bool kept_behind = data->fences != second->fences || (sim_sites[behind->site].what & orders);
    return !kept_before || !kept_behind;
}

static void found(const sim_worker *worker, int side, const step *first, const step *data, const step *second)
{
    const bool unfenced = is_unfenced(side, first, data, second);
    struct pair *pair = pair_of(second->address, data->address);
    if (!pair || (pair->side[side].known && (!unfenced || pair->side[side].unfenced)))
        return;
    pair->side[side] = (use){
        .block = worker->block->clock->serial,
        .thread = (uint32_t)worker->thread,
        .first = first->site,
        .second = second->site,
        .known = true,
        .unfenced = unfenced,
        .place = sim_place_of(worker, worker->thread, sim_sites[data->site].pc, side == READER ? "read" : "write"),
        .kernel = worker->launch->kernel->name};
}

static void take_step(const sim_worker *worker, int side, const step *next)
{
    struct steps *own = steps_of(worker);
    uint32_t *count = &own->count[side];
    step *last = *count > 0 ? &own->at[side][(*count - 1) % STEPS] : NULL;
    if (last && last->address == next->address && last->site == next->site) {
        *last = *next; // it polls
        return;
    }
    uint32_t back = 1;
    while (back <= *count && back <= STEPS && own->at[side][(*count - back) % STEPS].address != next->address)
        back++;
    const step *first = back <= *count && back <= STEPS ? &own->at[side][(*count - back) % STEPS] : NULL;
    for (uint32_t between = 1; first && first->site != next->site && between < back; between++)
        found(worker, side, first, &own->at[side][(*count - between) % STEPS], next);
    own->at[side][(*count)++ % STEPS] = *next;
}

void sim_sequence_note(const sim_worker *worker, unsigned site, uintptr_t address)
{
    const sim_site *about = &sim_sites[site];
    const unsigned does = about->what & SIM_ATOMIC_UPDATE;
    any |= does != SIM_ATOMIC_UPDATE;
    if (!any || site == 0) // counters and locks by CUDA's own atomics alone cost nothing
        return;
    const step next = {address, (uint16_t)site, steps_of(worker)->fences};
    take_step(worker, does == SIM_ATOMIC_LOAD ? READER : WRITER, &next);
}

void sim_sequence_fence(const sim_worker *worker)
{
    if (any)
        steps_of(worker)->fences++;
}

static bool is_open(const struct pair *pair)
{
    const use *reader = &pair->side[READER], *writer = &pair->side[WRITER];
    return reader->known && writer->known && (reader->unfenced || writer->unfenced) &&
           (reader->block != writer->block || reader->thread != writer->thread);
}

static bool same_places(const struct pair *a, const struct pair *b)
{
    bool same = true;
    for (int side = 0; side < SIDES; side++)
        same &= a->side[side].first == b->side[side].first && a->side[side].second == b->side[side].second &&
                a->side[side].place.pc == b->side[side].place.pc;
    return same;
}

static void keep(const struct pair *pair)
{
    for (size_t i = 0; i < kept_count; i++)
        if (same_places(&kept[i], pair))
            return;
    if (kept_count < KEPT)
        kept[kept_count++] = *pair;
}

// What another launch reads or writes, this one does not read or write at the same time.
void sim_sequence_launch_begin(void)
{
    if (!any_pairs)
        return;
    for (size_t i = 0; i < PAIRS; i++)
        if (is_open(&pairs[i]))
            keep(&pairs[i]);
    memset(pairs, 0, sizeof pairs);
    any_pairs = false;
}

// --- at the end ------------------------------------------------------------------------------------------------------

static unsigned line_of(unsigned site)
{
    const sim_stack *stack = sim_lines_of(sim_sites[site].pc);
    return stack ? stack->frames[0].line : 0;
}

static bool at_two_lines(const use *one)
{
    return line_of(one->first) != line_of(one->second) && line_of(one->first) && line_of(one->second);
}

static void report_pair(const struct pair *pair)
{
    const use *reader = &pair->side[READER], *writer = &pair->side[WRITER];
    if (!at_two_lines(reader) || !at_two_lines(writer))
        return;
    sim_finding finding = {.kind = SIM_RACE,
                           .tier = SIM_WARNING,
                           .kernel = reader->kernel,
                           .address = pair->data,
                           .bytes = sizeof(uint32_t),
                           .order = SIM_ORDER_FENCE,
                           .place = {reader->place, writer->place}};
    snprintf(finding.message, sizeof finding.message,
             "data are read between two looks at a word (lines %u and %u), and written between two writes of it (lines "
             "%u and %u), without the fences that keep this order",
             line_of(reader->first), line_of(reader->second), line_of(writer->first), line_of(writer->second));
    snprintf(finding.note, sizeof finding.note, "%s",
             !reader->unfenced
                 ? "the writer lacks one: a fence behind the first write, a fence or a release at the second"
             : !writer->unfenced
                 ? "the reader lacks one: an acquire at the first look or a fence behind it, a fence before the second"
                 : "the reader lacks one before or behind the data, and so does the writer");
    sim_report(&finding);
}

void sim_sequence_report(void)
{
    sim_sequence_launch_begin();
    for (size_t i = 0; i < kept_count; i++)
        for (int side = 0; side < SIDES; side++) {
            sim_lines_want(sim_sites[kept[i].side[side].first].pc);
            sim_lines_want(sim_sites[kept[i].side[side].second].pc);
        }
    if (kept_count > 0)
        sim_lines_resolve();
    for (size_t i = 0; i < kept_count; i++)
        report_pair(&kept[i]);
    kept_count = 0;
}
