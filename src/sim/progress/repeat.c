// Loops that touch memory and never end. When nothing has come nearer its end for long (the watchdog sets
// worker->trace), the state of one thread is looked at each time its log is full: its registers and its stack. A state
// that comes again may be the begin of a round. In one more round the words that the thread writes are gathered, and
// after another they are compared: where they are as they were, and the thread has done nothing but plain reads and
// writes, every round to come is the same. Others might still change what it reads, but nothing would order that.
#include "progress/repeat.h"

#include <string.h>

#include "memory/reserve.h"
#include "progress/spin.h"
#include "race/site.h"

enum {
    MOST_STATES = 256,  // looked at before the first must come again
    MOST_WORDS = 1024,  // written in a round
    MOST_AWAY = 4096,   // looks at other threads, before another one is chosen
    MOST_LOOKS = 65536, // then it is left for a while
};

typedef struct written {
    uintptr_t address;
    unsigned bytes;
    uint64_t value[2]; // when the last round began
} written;

enum { SEEK, GATHER, COMPARE };

struct sim_repeat {
    uint64_t launch, block, acts, steps;
    int thread, phase;
    unsigned looks, seen_at, state_count, word_count; // looks: of any thread; seen_at: how many when it was this one
    uint64_t state[MOST_STATES], round;               // round: the state that it begins in
    written word[MOST_WORDS];
};

bool sim_repeat_start(sim_worker *worker)
{
    worker->progress->repeat = sim_reserve(sizeof(struct sim_repeat));
    return worker->progress->repeat != NULL;
}

static void start(struct sim_repeat *repeat, sim_worker *worker)
{
    repeat->launch = worker->launch->number;
    repeat->block = worker->block->number;
    repeat->thread = worker->thread;
    repeat->acts = worker->acts;
    repeat->steps = sim_progress_of_all();
    repeat->phase = SEEK;
    repeat->state_count = repeat->word_count = 0;
}

static bool is_traced(const struct sim_repeat *repeat, const sim_worker *worker)
{
    return repeat->launch == worker->launch->number && repeat->block == worker->block->number &&
           repeat->thread == worker->thread;
}

static bool was_seen(const struct sim_repeat *repeat, uint64_t state)
{
    for (unsigned i = 0; i < repeat->state_count && i < MOST_STATES; i++)
        if (repeat->state[i] == state)
            return true;
    return false;
}

static written *find_word(struct sim_repeat *repeat, uintptr_t address, unsigned bytes)
{
    for (unsigned i = 0; i < repeat->word_count; i++)
        if (repeat->word[i].address == address && repeat->word[i].bytes == bytes)
            return &repeat->word[i];
    return NULL;
}

// What the log tells of since it was last full, and a little of before. False: more than plain reads and writes, or
// more words than there is room for; or, once they have been gathered, another.
static bool gather(struct sim_repeat *repeat, const uint64_t *log, const uint64_t *log_end)
{
    for (const uint64_t *entry = log; entry < log_end; entry++) {
        const sim_site *about = &sim_sites[*entry >> SIM_ENTRY_SHIFT];
        uintptr_t address = *entry & SIM_ENTRY_ADDRESS;
        if (about->kind != SIM_READ && about->kind != SIM_WRITE)
            return false;
        if (about->kind == SIM_READ || find_word(repeat, address, about->bytes))
            continue;
        if (repeat->phase == COMPARE || repeat->word_count == MOST_WORDS)
            return false;
        repeat->word[repeat->word_count++] = (written){.address = address, .bytes = about->bytes};
    }
    return true;
}

static void keep_values(struct sim_repeat *repeat)
{
    for (unsigned i = 0; i < repeat->word_count; i++)
        memcpy(repeat->word[i].value, (const void *)repeat->word[i].address, repeat->word[i].bytes);
}

static bool same_values(const struct sim_repeat *repeat)
{
    for (unsigned i = 0; i < repeat->word_count; i++)
        if (memcmp(repeat->word[i].value, (const void *)repeat->word[i].address, repeat->word[i].bytes) != 0)
            return false;
    return true;
}

static void begin_round(struct sim_repeat *repeat, int phase, uint64_t state)
{
    repeat->phase = phase;
    repeat->round = state;
    if (phase == GATHER)
        repeat->word_count = 0;
    else
        keep_values(repeat);
}

// True: every round to come is the same.
static bool look(struct sim_repeat *repeat, sim_worker *worker, const uint64_t *log, uint64_t state)
{
    if (repeat->phase == SEEK) {
        if (was_seen(repeat, state))
            begin_round(repeat, GATHER, state);
        repeat->state[repeat->state_count++ % MOST_STATES] = state;
        return false;
    }
    if (!gather(repeat, log, worker->log_next)) {
        start(repeat, worker);
        return false;
    }
    if (state != repeat->round)
        return false;
    if (repeat->phase == COMPARE && same_values(repeat))
        return true;
    begin_round(repeat, COMPARE, state);
    return false;
}

bool sim_repeat_look(sim_worker *worker, const uint64_t *log, const uint64_t *state, const uint64_t *top)
{
    struct sim_repeat *repeat = worker->progress->repeat;
    bool repeats = false;
    unsigned looks = repeat->looks++;
    if (!is_traced(repeat, worker) && (looks == 0 || looks - repeat->seen_at > MOST_AWAY))
        start(repeat, worker);
    if (is_traced(repeat, worker)) {
        if (repeat->acts != worker->acts || repeat->steps != sim_progress_of_all())
            start(repeat, worker);
        repeat->seen_at = looks;
        repeats = look(repeat, worker, log, sim_spin_hash_all(0, state, top));
    }
    if (repeat->looks > MOST_LOOKS) {
        worker->trace = false;
        repeat->looks = 0;
    }
    return repeats;
}
