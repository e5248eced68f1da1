// Launches that repeat an earlier one. A kernel with the same arguments, on memory that nothing has changed since,
// would write what is there already: benchmarks launch one a thousand times. Once a run has spent some of its budget,
// such a launch is not run again. The race detector then takes the earlier launch for the later one.
//
// A launch counts as repeatable if all it has used is known, by allocation. Memory that it writes and that something
// has changed since, or that it both reads and writes, must hold what it held before the earlier launch; it then gets
// what that one left there (contents_kept.c).

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "race/launches.h"
#include "race/stream_order.h"
#include "watch/contents_kept.h"
#include "watch/internal.h"

// What is known of an allocation.
typedef struct memory_state {
    uintptr_t start;  // 0: of none
    uint64_t version; // another one whenever something is written there
    uint64_t born;    // of the version that it was allocated with
    uint64_t last;    // the last operation that used it
    uint32_t writer;  // the last launch that ran and wrote there; 0: not known
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
    uint64_t born;
    bool read, written;
    sim_contents contents; // if it is written
} memory_use;

typedef struct past_launch {
    void (*run)(void *closure); // NULL: none
    const void *function;       // NULL: not known, as of a template whose arguments are deduced
    sim_config config;
    void *closure; // a copy
    size_t closure_bytes;
    uint32_t serial; // of its first block
    uint64_t number; // of the launch, or of the last that repeated it
    bool whole;      // all blocks were watched
    uint64_t epoch;
    unsigned differed; // so many launches in a row have met other contents
    unsigned count;
    memory_use used[SIM_USED];
} past_launch;

// Two allocations that share an entry take turns in it, which costs a repetition.
enum { STATES = 1 << 12, PAST = 64 };
// Copying so many bytes takes as long as running a thread. A kernel whose memory changes from launch to launch is not
// tried for ever.
enum { BYTES_PER_THREAD = 16, MOST_DIFFERED = 2 };
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
        *state = (memory_state){
            .start = start, .version = ++last_version, .born = last_version, .last = number, .beside = true};
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

void sim_repeated_use(uintptr_t address, bool written, bool whole, uint64_t number)
{
    sim_allocation found;
    if (!sim_memory_find(address, &found))
        return;
    pthread_mutex_lock(&lock);
    use(found.start, written, number);
    if (written && !whole)
        state_of(found.start)->writer = 0;
    pthread_mutex_unlock(&lock);
}

void sim_repeated_changed(uintptr_t start)
{
    pthread_mutex_lock(&lock);
    memory_state *state = state_of(start);
    if (state->start == start)
        state->version = state->born = ++last_version;
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

// --- launches that have run
// ---------------------------------------------------------------------------------------------

static bool is_repeatable(const sim_launch_state *launch, const struct sim_used *used)
{
    const unsigned meet = SIM_USES_FENCES | SIM_USES_PRINTF | SIM_USES_HEAP;
    bool writes = false;
    for (unsigned i = 0; i < used->count; i++)
        writes |= used->at[i].written;
    return writes && !used->once && !launch->error && !launch->origin && !launch->config.cooperative &&
           !launch->config.dependent && !(launch->uses & meet) && sim_findings_count() == launch->findings_before;
}

static bool is_of(const past_launch *one, const sim_kernel *kernel)
{
    return one->run == kernel->run && one->function == kernel->function;
}

static bool is_same(const past_launch *one, const sim_launch_state *launch)
{
    const sim_kernel *kernel = launch->kernel;
    const sim_config *config = &launch->config;
    return is_of(one, kernel) && one->epoch == epoch && one->closure_bytes == kernel->closure_bytes &&
           memcmp(&one->config.grid, &config->grid, sizeof config->grid) == 0 &&
           memcmp(&one->config.block, &config->block, sizeof config->block) == 0 &&
           one->config.shared == config->shared && !config->cooperative && !config->dependent &&
           memcmp(one->closure, kernel->closure, one->closure_bytes) == 0;
}

static past_launch *find(const sim_launch_state *launch)
{
    for (int i = 0; i < PAST; i++)
        if (is_same(&past[i], launch))
            return &past[i];
    return NULL;
}

static void forget_contents(past_launch *one)
{
    for (unsigned i = 0; i < SIM_USED; i++)
        sim_contents_free(&one->used[i].contents);
}

// --- what memory holds when a launch begins -------------------------------------------------------------------------

// Of the allocations that the arguments of the current launch point to.
static struct begun {
    uintptr_t start;
    sim_contents contents;
} begun[SIM_USED];
static unsigned begun_count;

static struct begun *find_begun(uintptr_t start)
{
    for (unsigned i = 0; i < begun_count; i++)
        if (begun[i].start == start)
            return &begun[i];
    return NULL;
}

// They belong to the caller then.
static sim_contents take_begun(uintptr_t start)
{
    struct begun *one = find_begun(start);
    if (!one)
        return (sim_contents){0};
    const sim_contents contents = one->contents;
    one->contents = (sim_contents){0};
    return contents;
}

static void forget_begun(void)
{
    for (unsigned i = 0; i < begun_count; i++)
        sim_contents_free(&begun[i].contents);
    begun_count = 0;
}

// A kernel that is launched for the first time, or again with the same arguments, may be launched so many times. One
// that has met other contents each time is not tried again.
static bool may_be_repeated(const sim_launch_state *launch)
{
    const past_launch *one = find(launch);
    if (one)
        return one->differed < MOST_DIFFERED;
    for (int i = 0; i < PAST; i++)
        if (is_of(&past[i], launch->kernel))
            return false;
    return true;
}

static void keep_begun(const sim_launch_state *launch)
{
    const sim_kernel *kernel = launch->kernel;
    const sim_dim block = launch->config.block;
    size_t left = (size_t)launch->blocks * block.x * block.y * block.z * BYTES_PER_THREAD;
    for (size_t at = 0; at + sizeof(uintptr_t) <= kernel->closure_bytes && begun_count < SIM_USED;
         at += sizeof(uintptr_t)) {
        uintptr_t argument;
        sim_allocation found;
        memcpy(&argument, (const char *)kernel->closure + at, sizeof argument);
        if (!device_memory(argument, &found) || found.bytes > left || find_begun(found.start))
            continue;
        struct begun *one = &begun[begun_count++];
        *one = (struct begun){.start = found.start};
        sim_contents_before(&one->contents, found.start, found.bytes);
        left -= found.bytes;
    }
}

// --- launches -------------------------------------------------------------------------------------------------------

static void keep(const sim_launch_state *launch, const struct sim_used *used)
{
    void *closure = malloc(launch->kernel->closure_bytes);
    if (!closure)
        return;
    past_launch *one = find(launch);
    const unsigned differed = one ? one->differed : 0;
    if (!one)
        one = &past[next_past++ % PAST];
    forget_contents(one);
    free(one->closure);
    memcpy(closure, launch->kernel->closure, launch->kernel->closure_bytes);
    *one = (past_launch){.run = launch->kernel->run,
                         .function = launch->kernel->function,
                         .config = launch->config,
                         .closure = closure,
                         .closure_bytes = launch->kernel->closure_bytes,
                         .serial = launch->first_serial,
                         .number = launch->number,
                         .whole = launch->watched == launch->blocks,
                         .epoch = epoch,
                         .differed = differed,
                         .count = used->count};
    for (unsigned i = 0; i < used->count; i++) {
        const struct sim_used_memory *at = &used->at[i];
        const memory_state *state = state_of(at->start);
        one->used[i] = (memory_use){.start = at->start,
                                    .version = state->version,
                                    .born = state->born,
                                    .read = at->read,
                                    .written = at->written,
                                    .contents = at->written ? take_begun(at->start) : (sim_contents){0}};
        sim_contents_after(&one->used[i].contents, at->start);
    }
}

void sim_repeated_begin(sim_launch_state *launch)
{
    launch->findings_before = sim_findings_count();
    for (int i = 0; i < sim_workers; i++)
        if (sim_worker_at(i) && sim_worker_at(i)->watch)
            sim_worker_at(i)->watch->used = (struct sim_used){0};
    if (launch->origin)
        return;
    pthread_mutex_lock(&lock);
    forget_begun();
    if (sim_chain_single() && may_be_repeated(launch))
        keep_begun(launch);
    pthread_mutex_unlock(&lock);
}

void sim_repeated_end(const sim_launch_state *launch)
{
    const struct sim_used used = all_used();
    pthread_mutex_lock(&lock);
    // A call of a library has no hooks: some of its writes may be unknown here.
    if (used.unknown || used.count == 0)
        sim_repeated_forget();
    for (unsigned i = 0; i < used.count; i++) {
        use(used.at[i].start, used.at[i].written, launch->number);
        if (used.at[i].written)
            state_of(used.at[i].start)->writer = launch->first_serial;
    }
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

// Whether it is again what it was before the launch. Only the host may have reset it: the race detector would take a
// kernel in between for the last that wrote there, and a copy on the device may bring uninitialised bytes.
static bool is_as_before(const past_launch *one, const memory_use *used, uint64_t number)
{
    const memory_state *state = state_of(used->start);
    sim_allocation found;
    return used->written && sim_chain_single() && state->start == used->start && state->born == used->born &&
           state->writer == one->serial && !state->beside && sim_ordered(state->last, number) &&
           device_memory(used->start, &found) && sim_contents_are_before(&used->contents, found.start, found.bytes);
}

// Whether each allocation is as it was, and in `restored`, which of them get their contents of after the launch.
static bool finds_the_same(past_launch *one, uint64_t number, bool restored[SIM_USED])
{
    bool same = true;
    for (unsigned i = 0; same && i < one->count; i++) {
        const memory_use *used = &one->used[i];
        const bool done = !(used->read && used->written) && is_unchanged(one, used, number);
        restored[i] = !done;
        same = done || is_as_before(one, used, number);
    }
    one->differed = same ? 0 : one->differed + 1;
    if (one->differed >= MOST_DIFFERED)
        forget_contents(one);
    return same;
}

bool sim_repeated_is(const sim_launch_state *launch, bool spent)
{
    if (launch->origin || __atomic_load_n(&never, __ATOMIC_RELAXED))
        return false;
    bool restored[SIM_USED] = {false};
    pthread_mutex_lock(&lock);
    past_launch *one = find(launch);
    bool same = one && (one->whole || spent) && finds_the_same(one, launch->number, restored) &&
                sim_launches_renew(one->serial, launch->number);
    for (unsigned i = 0; same && i < one->count; i++) {
        memory_state *state = state_of(one->used[i].start);
        state->last = launch->number;
        state->version = one->used[i].version;
        if (restored[i])
            sim_contents_restore(&one->used[i].contents, one->used[i].start);
    }
    if (same)
        one->number = launch->number;
    pthread_mutex_unlock(&lock);
    return same;
}
