// Launches that repeat an earlier one. A kernel with the same arguments, on memory that nothing has changed since,
// would write what is there already: benchmarks launch one a thousand times. Once a run has spent some of its budget,
// such a launch is not run again. The race detector then takes the earlier launch for the later one.
//
// A launch counts as repeatable if all it has used is known, by allocation, and none of it was both read and written.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "race/launches.h"
#include "race/stream_order.h"
#include "watch/internal.h"

// What is known of an allocation.
typedef struct memory_state {
    uintptr_t start;  // 0: of none
    uint64_t version; // another one whenever something is written there
    uint64_t last;    // the last operation that used it
    bool beside;      // operations have used it that did not wait for each other
    struct {          // the last that set bytes of it to one value
        uintptr_t to;
        size_t bytes;
        unsigned value, element;
        uint64_t version, epoch; // when it had ended
    } filled;
} memory_state;

typedef struct memory_use {
    uintptr_t start;
    uint64_t version; // when the launch had ended
} memory_use;

typedef struct past_launch {
    const void *function; // NULL: none
    void (*run)(void *closure);
    sim_config config;
    void *closure; // a copy
    size_t closure_bytes;
    uint32_t serial; // of its first block
    uint64_t number; // of the launch, or of the last that repeated it
    bool whole;      // all blocks were watched
    uint64_t epoch;
    unsigned count;
    memory_use used[SIM_USED];
} past_launch;

// Two allocations that share an entry take turns in it, which costs a repetition.
enum { STATES = 1 << 12, PAST = 64 };
static memory_state states[STATES];
static past_launch past[PAST];
static size_t next_past;
static uint64_t last_version, epoch;
static bool never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // allocations come and go while kernels run

static memory_state *state_of(uintptr_t start)
{
    return &states[(start / SIM_MEMORY_GAP * 0x9e3779b97f4a7c15u >> 32) % STATES];
}

// A known entry with the same start, or one made now: of what used it before nothing is known.
static memory_state *state_for(uintptr_t start, uint64_t number)
{
    memory_state *state = state_of(start);
    if (state->start != start)
        *state = (memory_state){.start = start, .version = ++last_version, .last = number, .beside = true};
    return state;
}

static void use(uintptr_t start, bool written, uint64_t number)
{
    memory_state *state = state_for(start, number);
    if (sim_ordered_below(number) == number) // all that was before has been waited for
        state->beside = false;
    else if (state->last != number && !sim_ordered(state->last, number))
        state->beside = true;
    state->last = number;
    if (written)
        state->version = ++last_version;
}

// --- what is not a kernel -------------------------------------------------------------------------------------------

void sim_repeated_use(uintptr_t address, bool written, uint64_t number)
{
    sim_allocation found;
    if (!sim_memory_find(address, &found))
        return;
    pthread_mutex_lock(&lock);
    use(found.start, written, number);
    pthread_mutex_unlock(&lock);
}

void sim_repeated_changed(uintptr_t start)
{
    pthread_mutex_lock(&lock);
    memory_state *state = state_of(start);
    if (state->start == start)
        state->version = ++last_version;
    pthread_mutex_unlock(&lock);
}

// What the host can see, it may change unseen.
static bool is_of_device(const sim_allocation *allocation)
{
    return allocation->kind == SIM_MEMORY_DEVICE || allocation->kind == SIM_MEMORY_VIRTUAL ||
           allocation->kind == SIM_MEMORY_GRAPH;
}

static bool device_memory(uintptr_t address, sim_allocation *found)
{
    return sim_memory_find(address, found) && is_of_device(found);
}

bool sim_repeated_fill_is(uintptr_t to, size_t bytes, unsigned value, unsigned element)
{
    sim_allocation found;
    if (__atomic_load_n(&never, __ATOMIC_RELAXED) || !device_memory(to, &found))
        return false;
    pthread_mutex_lock(&lock);
    const memory_state *state = state_of(found.start);
    bool same = state->start == found.start && state->filled.version == state->version &&
                state->filled.epoch == epoch && state->filled.to == to && state->filled.bytes == bytes &&
                state->filled.value == value && state->filled.element == element;
    pthread_mutex_unlock(&lock);
    return same;
}

void sim_repeated_fill_end(uintptr_t to, size_t bytes, unsigned value, unsigned element)
{
    sim_allocation found;
    if (!device_memory(to, &found))
        return;
    pthread_mutex_lock(&lock);
    memory_state *state = state_of(found.start);
    if (state->start == found.start) {
        state->filled.to = to;
        state->filled.bytes = bytes;
        state->filled.value = value;
        state->filled.element = element;
        state->filled.version = state->version;
        state->filled.epoch = epoch;
    }
    pthread_mutex_unlock(&lock);
}

void sim_repeated_forget(void)
{
    __atomic_add_fetch(&epoch, 1, __ATOMIC_RELAXED);
}

void sim_repeated_never(void)
{
    __atomic_store_n(&never, true, __ATOMIC_RELAXED);
}

// --- what a launch uses ---------------------------------------------------------------------------------------------

void sim_repeated_once(sim_worker *worker)
{
    if (worker->watch)
        worker->watch->used.once = true;
}

void sim_repeated_variable(sim_worker *worker, bool managed, unsigned kind)
{
    const bool written = kind != SIM_READ && kind != SIM_VOLATILE_READ;
    worker->watch->used.once |= managed || written;
    worker->watch->used.unknown |= written;
}

static void add_use(struct sim_used *used, uintptr_t start, bool read, bool written)
{
    unsigned i = 0;
    while (i < used->count && used->at[i].start != start)
        i++;
    if (i == SIM_USED) {
        used->once = used->unknown = true;
        return;
    }
    used->count += i == used->count;
    used->at[i].start = start;
    used->at[i].read |= read;
    used->at[i].written |= written;
}

void sim_repeated_note(sim_worker *worker, const sim_allocation *allocation, unsigned kind)
{
    struct sim_used *used = &worker->watch->used;
    if (is_of_device(allocation))
        add_use(used, allocation->start, kind != SIM_WRITE, kind != SIM_READ);
    else
        used->once = true; // the host may change it unseen
}

// By all workers.
static struct sim_used all_used(void)
{
    struct sim_used all = {0};
    for (int w = 0; w < sim_workers; w++) {
        const sim_worker *worker = sim_worker_at(w);
        if (!worker || !worker->watch)
            continue;
        const struct sim_used *used = &worker->watch->used;
        all.once |= used->once;
        all.unknown |= used->unknown;
        for (unsigned i = 0; i < used->count; i++)
            add_use(&all, used->at[i].start, used->at[i].read, used->at[i].written);
    }
    return all;
}

// --- launches -------------------------------------------------------------------------------------------------------

static bool is_repeatable(const sim_launch_state *launch, const struct sim_used *used)
{
    const unsigned meet = SIM_USES_ATOMICS | SIM_USES_FENCES | SIM_USES_PRINTF | SIM_USES_HEAP;
    bool writes = false, apart = true;
    for (unsigned i = 0; i < used->count; i++) {
        writes |= used->at[i].written;
        apart &= !(used->at[i].read && used->at[i].written);
    }
    return writes && apart && !used->once && !launch->error && !launch->origin && !launch->config.cooperative &&
           !(launch->uses & meet) && sim_findings_count() == launch->findings_before;
}

static bool is_same(const past_launch *one, const sim_launch_state *launch)
{
    const sim_kernel *kernel = launch->kernel;
    const sim_config *config = &launch->config;
    return one->function == kernel->function && one->run == kernel->run && one->epoch == epoch &&
           one->closure_bytes == kernel->closure_bytes &&
           memcmp(&one->config.grid, &config->grid, sizeof config->grid) == 0 &&
           memcmp(&one->config.block, &config->block, sizeof config->block) == 0 &&
           one->config.shared == config->shared && !config->cooperative &&
           memcmp(one->closure, kernel->closure, one->closure_bytes) == 0;
}

static past_launch *find(const sim_launch_state *launch)
{
    for (int i = 0; i < PAST; i++)
        if (past[i].function && is_same(&past[i], launch))
            return &past[i];
    return NULL;
}

static void keep(const sim_launch_state *launch, const struct sim_used *used)
{
    past_launch *one = find(launch);
    if (!one)
        one = &past[next_past++ % PAST];
    void *closure = malloc(launch->kernel->closure_bytes);
    if (!closure)
        return;
    free(one->closure);
    memcpy(closure, launch->kernel->closure, launch->kernel->closure_bytes);
    *one = (past_launch){.function = launch->kernel->function,
                         .run = launch->kernel->run,
                         .config = launch->config,
                         .closure = closure,
                         .closure_bytes = launch->kernel->closure_bytes,
                         .serial = launch->first_serial,
                         .number = launch->number,
                         .whole = launch->watched == launch->blocks,
                         .epoch = epoch,
                         .count = used->count};
    for (unsigned i = 0; i < used->count; i++)
        one->used[i] = (memory_use){used->at[i].start, state_of(used->at[i].start)->version};
}

void sim_repeated_begin(sim_launch_state *launch)
{
    launch->findings_before = sim_findings_count();
    for (int i = 0; i < sim_workers; i++)
        if (sim_worker_at(i) && sim_worker_at(i)->watch)
            sim_worker_at(i)->watch->used = (struct sim_used){0};
}

void sim_repeated_end(const sim_launch_state *launch)
{
    const struct sim_used used = all_used();
    pthread_mutex_lock(&lock);
    // A call of a library has no hooks: some of its writes may be unknown here.
    if (used.unknown || used.count == 0)
        sim_repeated_forget();
    for (unsigned i = 0; i < used.count; i++)
        use(used.at[i].start, used.at[i].written, launch->number);
    if (is_repeatable(launch, &used))
        keep(launch, &used);
    pthread_mutex_unlock(&lock);
}

// An operation of another stream may come later that has not waited for this launch. It is known by the accesses of the
// earlier one, if those are the last to the memory.
static bool is_unchanged(const past_launch *one, const memory_use *used, uint64_t number)
{
    const memory_state *state = state_of(used->start);
    return state->start == used->start && state->version == used->version && !state->beside &&
           sim_ordered(state->last, number) && (state->last == one->number || sim_chain_single());
}

bool sim_repeated_is(const sim_launch_state *launch, bool spent)
{
    if (launch->origin || __atomic_load_n(&never, __ATOMIC_RELAXED))
        return false;
    pthread_mutex_lock(&lock);
    past_launch *one = find(launch);
    bool same = one != NULL && (one->whole || spent);
    for (unsigned i = 0; same && i < one->count; i++)
        same = is_unchanged(one, &one->used[i], launch->number);
    same = same && sim_launches_renew(one->serial, launch->number);
    for (unsigned i = 0; same && i < one->count; i++)
        state_of(one->used[i].start)->last = launch->number;
    if (same)
        one->number = launch->number;
    pthread_mutex_unlock(&lock);
    return same;
}
