// The watch starts: once for the program, and once for each worker.

#include <pthread.h>
#include <stdio.h>

#include "machine/options.h"
#include "memory/memory.h"
#include "memory/reserve.h"
#include "program/program.h"
#include "progress/repeat.h"
#include "race/clock.h"
#include "race/unwritten.h"
#include "race/word.h"
#include "watch/internal.h"

const sim_scheduler_calls *sim_scheduler;

static void warn_unwatched(void)
{
    fprintf(stderr, "sim: too little address space: nothing is checked or counted (raise `ulimit -v`)\n");
}

static void get_ready(void)
{
    if (!sim_options_get()->watch || !(sim_program_uses & SIM_USES_HOOKS))
        return;
    sim_sites_start();
    const sim_module *module = sim_module_self();
    bool made = sim_clock_start() &&
                sim_region_make(&sim_global_region, sim_memory_base, sim_memory_span, true, false) &&
                sim_region_make(&sim_data_region, module->data_lo, module->data_hi - module->data_lo, false, false);
    sim_watching = made && sim_code_bytes > 0;
    if (!sim_watching)
        warn_unwatched();
}

bool sim_watch_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, get_ready);
    return sim_watching;
}

static struct sim_watch *make_watch(sim_worker *worker)
{
    struct sim_watch *watch = sim_reserve(sizeof *watch);
    sim_slot *slots = sim_reserve(SIM_SLOTS * sizeof *slots);
    if (!watch || !slots)
        return NULL;
    watch->counters = sim_reserve((size_t)SIM_SITES * SIM_SPACES * sizeof(sim_counter));
    watch->touched = sim_reserve((size_t)SIM_SITES * SIM_SPACES * sizeof(uint32_t));
    watch->race.ran = sim_reserve((size_t)SIM_SITES * SIM_WARPS * sizeof *watch->race.ran);
    bool made = watch->counters && watch->touched && watch->race.ran && sim_repeat_start(worker) &&
                sim_ranges_start(&watch->ranges) &&
                sim_region_make(&watch->race.shared, worker->thread_local_lo,
                                worker->thread_local_hi - worker->thread_local_lo, true, true);
    worker->slots = made ? slots : worker->slots;
    return made ? watch : NULL;
}

void sim_watch_start(sim_worker *worker)
{
    static sim_slot no_slots[SIM_SLOTS]; // the hooks look at them whether anything is watched or not
    worker->slots = no_slots;
    if (!sim_watch_ready())
        return;
    struct sim_watch *watch = make_watch(worker);
    if (!watch) {
        sim_watching = false;
        warn_unwatched();
        return;
    }
    worker->watch = watch;
    worker->race = &watch->race;
    worker->logs = watch->log;
    worker->log_tails = watch->tail;
    worker->log_next = watch->log[0];
    worker->log_end = watch->log[0] + SIM_LOG_ENTRIES;
}
