// The executions of a warp, found by where its lanes are, and their sums over the program.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "watch/branches.h"
#include "watch/internal.h"

// Those that some lanes of a warp have made and others may still make. A warp that has more is counted in pieces, which
// the report says.
enum { FIRST_ROOM = 64, MOST_EXECUTIONS = 1 << 21 };

// --- a warp ----------------------------------------------------------------------------------------------------------

sim_branch_warp *sim_branch_warp_here(sim_worker *worker)
{
    sim_block *block = worker->block;
    if (!block->branches)
        block->branches = calloc(1, sizeof *block->branches);
    if (!block->branches)
        return NULL;
    sim_branch_warp **warp = &block->branches->warps[worker->warp];
    if (!*warp)
        *warp = calloc(1, sizeof **warp);
    return *warp;
}

// Where the key's number stands in the table, or would.
static uint32_t *slot_of(const sim_branch_warp *warp, uint64_t key)
{
    uint32_t mask = 2 * warp->room - 1, at = (uint32_t)key & mask;
    while (warp->table[at] && warp->executions[warp->table[at] - 1].key != key)
        at = (at + 1) & mask;
    return &warp->table[at];
}

static bool grow(sim_branch_warp *warp)
{
    uint32_t room = warp->room ? 2 * warp->room : FIRST_ROOM;
    sim_execution *executions = realloc(warp->executions, room * sizeof *executions);
    if (executions)
        warp->executions = executions;
    uint32_t *table = executions ? calloc(2 * (size_t)room, sizeof *table) : NULL;
    if (!table)
        return false;
    free(warp->table);
    warp->table = table;
    warp->room = room;
    for (uint32_t i = 0; i < warp->count; i++)
        *slot_of(warp, warp->executions[i].key) = i + 1;
    return true;
}

static bool counted_in_pieces;
static void settle(const sim_launch_state *launch, sim_branch_warp *warp, uint32_t lanes);

sim_execution *sim_branch_find(sim_worker *worker, sim_branch_warp *warp, sim_branch_lane *lane, uint64_t key)
{
    if (lane->next < warp->count && warp->executions[lane->next].key == key)
        return &warp->executions[lane->next++];
    if (warp->count == MOST_EXECUTIONS) {
        __atomic_store_n(&counted_in_pieces, true, __ATOMIC_RELAXED);
        settle(worker->launch, warp, 0);
    }
    if (warp->count == warp->room && !grow(warp))
        return NULL;
    uint32_t *slot = slot_of(warp, key);
    if (!*slot) {
        warp->executions[warp->count++] = (sim_execution){.key = key};
        *slot = warp->count;
    }
    lane->next = *slot;
    return &warp->executions[*slot - 1];
}

// --- the program -----------------------------------------------------------------------------------------------------

typedef struct total {
    uint64_t place;
    sim_branch_count count;
    struct total *next;
} total;

static total *totals;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static total *total_of(const char *kernel, const sim_execution *execution)
{
    total **at = &totals;
    for (; *at; at = &(*at)->next)
        if ((*at)->place == execution->place && strcmp((*at)->count.kernel, kernel) == 0)
            return *at;
    total *made = calloc(1, sizeof *made);
    if (made)
        *made = (total){.place = execution->place, .count = {.pc = execution->pc, .kernel = kernel}};
    return *at = made;
}

// Counts what all of these lanes have executed, and keeps the rest.
static void settle(const sim_launch_state *launch, sim_branch_warp *warp, uint32_t lanes)
{
    uint32_t kept = 0;
    total *of = NULL;
    if (warp->count == 0)
        return;
    memset(warp->table, 0, 2 * (size_t)warp->room * sizeof *warp->table);
    pthread_mutex_lock(&adding);
    for (uint32_t i = 0; i < warp->count; i++) {
        const sim_execution *one = &warp->executions[i];
        if ((one->lanes & lanes) != lanes) {
            warp->executions[kept++] = *one;
            continue;
        }
        if (!of || of->place != one->place)
            of = total_of(launch->kernel->name, one);
        if (!of)
            break;
        of->count.executions++;
        of->count.divergent += one->diverges;
    }
    pthread_mutex_unlock(&adding);
    warp->count = warp->kept = kept;
    for (uint32_t i = 0; i < kept; i++)
        *slot_of(warp, warp->executions[i].key) = i + 1;
    for (int lane = 0; lane < SIM_LANES; lane++)
        warp->lanes[lane].next = warp->lanes[lane].made = 0;
}

void sim_branches_warp_stopped(sim_worker *worker, uint32_t lanes)
{
    struct sim_block_branches *branches = worker->block->branches;
    sim_branch_warp *warp = branches ? branches->warps[worker->warp] : NULL;
    if (warp && lanes && warp->count >= 2 * warp->kept + SIM_BRANCH_TURN)
        settle(worker->launch, warp, lanes);
}

void sim_branches_settle(sim_worker *worker)
{
    struct sim_block_branches *branches = worker->block->branches;
    for (int i = 0; branches && i < worker->launch->warps; i++)
        if (branches->warps[i])
            settle(worker->launch, branches->warps[i], 0);
}

void sim_branches_block_end(sim_worker *worker)
{
    struct sim_block_branches *branches = worker->block->branches;
    sim_branches_settle(worker);
    for (int i = 0; branches && i < worker->launch->warps; i++) {
        sim_branch_warp *warp = branches->warps[i];
        for (int lane = 0; warp && lane < SIM_LANES; lane++)
            free(warp->lanes[lane].frames);
        if (warp) {
            free(warp->executions);
            free(warp->table);
        }
        free(warp);
    }
    free(branches);
    worker->block->branches = NULL;
}

void sim_branch_counts_each(void (*visit)(const sim_branch_count *count, void *context), void *context)
{
    for (const total *one = totals; one; one = one->next)
        visit(&one->count, context);
}

bool sim_branch_counts_in_pieces(void)
{
    return __atomic_load_n(&counted_in_pieces, __ATOMIC_RELAXED);
}
