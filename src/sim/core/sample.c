// Which blocks of a launch are watched: all of them, until the run has spent its budget of watched accesses. A launch
// that would take more than half of what is left watches its first blocks, its last, and others that are drawn; the
// rest run with checks of their addresses alone. How many are drawn follows from what the blocks before have accessed.
// So that this does not depend on which worker was faster, blocks start in windows: before a window opens, all blocks
// of the windows before have ended, or can only wait for others.
#include <pthread.h>

#include "core/launch.h"
#include "core/order.h"
#include "core/scheduler.h"
#include "machine/options.h"

enum { FIRST_WINDOW = 16 }; // blocks, all of them watched; each window is as large as all before it

static const double all_of_them = 1;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    double spent;        // watched accesses of the launches before
    double allowed;      // watched accesses of this launch
    bool limited;        // this launch may have to leave blocks out
    uint64_t blocks;     // in the grid
    uint64_t number;     // of the launch
    uint64_t end;        // of the window: the first position that has to wait (atomic access)
    uint64_t watched;    // blocks so far (atomic access)
    uint64_t left_out;   // blocks so far (atomic access)
    double share;        // of the blocks of the window that are watched
    int workers, at_end; // that take blocks; those of them that wait for the next window
} sample = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

// Where blocks order each other's accesses, one that is left out would be missing between two that are watched.
static bool can_leave_out(const sim_launch_state *launch)
{
    return sim_watching && !launch->config.cooperative && !(launch->uses & (SIM_USES_FENCES | SIM_USES_LAUNCHES)) &&
           launch->blocks > FIRST_WINDOW;
}

bool sim_sample_repeats(sim_launch_state *launch)
{
    enum { BEGUN = 16 };           // this part of the budget: the counters of small programs are of every launch
    const double nearly_all = 0.9; // each launch takes half of what is left
    const sim_options *options = sim_options_get();
    return options->budget > 0 && sample.spent >= options->budget / BEGUN && !options->values &&
           sim_watch_repeats(launch, sample.spent >= nearly_all * options->budget);
}

void sim_sample_begin(const sim_launch_state *launch)
{
    const double budget = sim_options_get()->budget;
    sample.limited = budget > 0 && can_leave_out(launch);
    sample.allowed = budget > sample.spent ? (budget - sample.spent) / 2 : 0;
    sample.blocks = launch->blocks;
    sample.number = launch->number;
    sample.end = FIRST_WINDOW;
    sample.watched = sample.left_out = 0;
    sample.share = all_of_them;
    sample.workers = sim_workers_taking_part;
    sample.at_end = 0;
}

void sim_sample_end(sim_launch_state *launch)
{
    if (!sim_watching)
        return;
    sample.spent += (double)sim_watch_accesses();
    launch->watched = sample.blocks - sample.left_out; // a fault ends a launch before all its blocks have run
}

// The lock is held, and no block runs.
static void open_next(void)
{
    const double spent = (double)sim_watch_accesses(), left = sample.allowed > spent ? sample.allowed - spent : 0;
    const double needed = spent / (double)sample.watched * (double)(sample.blocks - sample.end);
    sample.share = needed <= left ? all_of_them : left / needed;
    sample.at_end = 0;
    __atomic_store_n(&sample.end, 2 * sample.end, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&sample.opened);
}

void sim_sample_wait(uint64_t position)
{
    if (!sample.limited || position < __atomic_load_n(&sample.end, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&sample.lock);
    while (position >= sample.end) {
        const uint64_t end = sample.end;
        if (++sample.at_end == sample.workers)
            open_next();
        while (sample.end == end)
            pthread_cond_wait(&sample.opened, &sample.lock);
    }
    pthread_mutex_unlock(&sample.lock);
}

void sim_sample_leave(void)
{
    if (!sample.limited)
        return;
    pthread_mutex_lock(&sample.lock);
    if (--sample.workers > 0 && sample.at_end == sample.workers)
        open_next();
    pthread_mutex_unlock(&sample.lock);
}

bool sim_sample_watches(uint64_t position, uint64_t block)
{
    const bool watched = !sample.limited || position < FIRST_WINDOW || block == 0 || block == sample.blocks - 1 ||
                         sim_order_share(sim_options_get()->seed, sample.number, block) < sample.share;
    __atomic_fetch_add(watched ? &sample.watched : &sample.left_out, 1, __ATOMIC_RELAXED);
    return watched;
}
