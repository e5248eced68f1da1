// Blocks that have started and not ended. Only one at a time can be in place on a worker, because __shared__ variables
// are the worker's own; when another has to run first, the variables' contents are put away with the block.
#include <stdlib.h>
#include <string.h>

#include "core/resident.h"
#include "core/scheduler.h"
#include "machine/index.h"
#include "program/program.h"
#include "progress/spin.h"

// What of the thread-local segment belongs to a block: the same for all workers, found when first needed.
static struct {
    pthread_once_t once;
    struct {
        size_t offset, bytes;
    } * part;
    size_t parts, bytes;
} statics = {.once = PTHREAD_ONCE_INIT};

static void find_statics(void)
{
    size_t count;
    const sim_shared_variable *variable = sim_shared_variables(&count);
    size_t dynamic = (uintptr_t)sim_dynamic_buffer - sim_module_tls();
    statics.part = calloc(count ? count : 1, sizeof *statics.part);
    if (!statics.part)
        return;
    for (size_t i = 0; i < count; i++) {
        if (variable[i].offset - dynamic < SIM_DYNAMIC_BYTES)
            continue;
        statics.part[statics.parts].offset = variable[i].offset;
        statics.part[statics.parts++].bytes = variable[i].bytes;
        statics.bytes += variable[i].bytes;
    }
}

sim_resident *sim_resident_new(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = runner->blocks.spare;
    if (resident)
        runner->blocks.spare = resident->next;
    else
        resident = calloc(1, sizeof *resident);
    if (!resident)
        return NULL;
    resident->block.progress = &resident->progress;
    resident->next = NULL;
    resident->away = false;
    runner->blocks.count++;
    return resident;
}

void sim_resident_begin(sim_worker *worker, sim_resident *resident, uint64_t number)
{
    sim_launch_state *launch = worker->launch;
    sim_block *block = &resident->block;
    sim_dim grid = launch->config.grid;
    block->launch = launch;
    block->number = number;
    block->index[0] = (unsigned)(number % grid.x);
    block->index[1] = (unsigned)(number / grid.x % grid.y);
    block->index[2] = (unsigned)(number / grid.x / grid.y);
    block->ended = block->waiting = 0;
    memset(block->state, SIM_RUNNABLE, (size_t)launch->threads);
    for (int warp = 0; warp < launch->warps; warp++) {
        int lanes = launch->threads - warp * SIM_LANES;
        uint32_t all = lanes >= SIM_LANES ? UINT32_MAX : (1u << lanes) - 1;
        block->live[warp] = block->ready[warp] = all;
        block->started[warp] = block->full_log[warp] = 0;
    }
    resident->threads.warps_ready = launch->warps == SIM_WARPS ? UINT32_MAX : (1u << launch->warps) - 1;
    sim_collectives_begin(&resident->collectives, launch->warps);
    sim_shuffles_begin(&resident->shuffles, launch->warps);
    sim_barrier_begins(&resident->barrier, launch->warps);
    sim_spin_block_begins(&resident->progress, launch->threads, launch->warps);
    resident->at_grid = 0;
    resident->named.used = resident->waited = resident->stopped = false;
}

void sim_resident_free(sim_worker *worker, sim_resident *resident)
{
    sim_runner *runner = sim_runner_of(worker);
    if (runner->blocks.here == resident)
        runner->blocks.here = NULL;
    free(resident->shared);
    resident->shared = NULL;
    free(resident->block.launch_errors);
    resident->block.launch_errors = NULL;
    resident->next = runner->blocks.spare;
    runner->blocks.spare = resident;
    runner->blocks.count--;
}

bool sim_resident_put_away(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = runner->blocks.here;
    size_t dynamic = worker->launch->config.shared;
    pthread_once(&statics.once, find_statics);
    if (!resident->shared)
        resident->shared = malloc(statics.bytes + dynamic + 1);
    if (!resident->shared)
        return false;
    if (sim_watching)
        sim_watch_block_park(worker);
    char *to = resident->shared;
    for (size_t i = 0; i < statics.parts; to += statics.part[i++].bytes)
        memcpy(to, (const char *)(worker->thread_local_lo + statics.part[i].offset), statics.part[i].bytes);
    memcpy(to, sim_dynamic_buffer, dynamic);
    resident->away = true;
    runner->blocks.here = NULL;
    return true;
}

static void fetch(sim_worker *worker, sim_resident *resident)
{
    const char *from = resident->shared;
    for (size_t i = 0; i < statics.parts; from += statics.part[i++].bytes)
        memcpy((char *)(worker->thread_local_lo + statics.part[i].offset), from, statics.part[i].bytes);
    memcpy(sim_dynamic_buffer, from, worker->launch->config.shared);
    resident->away = false;
    if (sim_watching)
        sim_watch_block_resume(worker);
}

bool sim_resident_bring(sim_worker *worker, sim_resident *resident)
{
    sim_runner *runner = sim_runner_of(worker);
    if (runner->blocks.here == resident)
        return true;
    if (runner->blocks.here && !sim_resident_put_away(worker))
        return false;
    const unsigned *index = resident->block.index;
    worker->block = &resident->block;
    sim_block_index_variable = (sim_dim){index[0], index[1], index[2]};
    if (resident->away)
        fetch(worker, resident);
    runner->blocks.here = resident;
    return true;
}
