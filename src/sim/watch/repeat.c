// Loops that touch memory and go round for ever. When nothing has come nearer its end for long (the watchdog sets
// worker->trace), the state of one thread is looked at each time its log is full: its registers and its stack. A state
// that comes again may be the begin of a round. In one more round the words that the thread writes are gathered, and
// after another they are compared: where they are as they were, and the thread has done nothing but plain reads and
// writes, every round to come is the same. Others might still change what it reads, but nothing would order that.
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>

#include "core/scheduler.h"
#include "machine/errors.h"
#include "memory/reserve.h"
#include "race/race.h"
#include "watch/internal.h"

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
    uint64_t launch, block, acts, progress;
    int thread, phase;
    unsigned looks, seen_at, state_count, word_count; // looks: of any thread; seen_at: how many when it was this one
    uint64_t state[MOST_STATES], round;               // round: the state that it begins in
    written word[MOST_WORDS];
};

// sim_log_full itself: saves the registers that a caller may keep its variables in, and passes their address.
#if defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_log_full\n"
        ".hidden sim_log_full\n"
        ".type sim_log_full, %function\n"
        "sim_log_full:\n"
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x1, sp\n"
        "    bl sim_log_full_from\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        ".size sim_log_full, .-sim_log_full\n");
#elif defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_log_full\n"
        ".hidden sim_log_full\n"
        ".type sim_log_full, @function\n"
        "sim_log_full:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, %rsi\n"
        "    sub $8, %rsp\n"
        "    call sim_log_full_from\n"
        "    add $56, %rsp\n"
        "    ret\n"
        ".size sim_log_full, .-sim_log_full\n");
#else
void sim_log_full_from(sim_worker *worker, const uint64_t *state);
void sim_log_full(sim_worker *worker)
{
    sim_log_full_from(worker, NULL);
}
#endif

// Called from assembly only.
void sim_log_full_from(sim_worker *worker, const uint64_t *state) __attribute__((visibility("hidden"), used));

struct sim_repeat *sim_repeat_make(void)
{
    return sim_reserve(sizeof(struct sim_repeat));
}

static void start(struct sim_repeat *repeat, sim_worker *worker)
{
    repeat->launch = worker->launch->number;
    repeat->block = worker->block->number;
    repeat->thread = worker->thread;
    repeat->acts = worker->acts;
    repeat->progress = sim_progress_of_all();
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
static bool gather(struct sim_repeat *repeat, const sim_worker *worker)
{
    for (const uint64_t *entry = worker->watch->log[worker->lane]; entry < worker->log_next; entry++) {
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

static void report(sim_worker *worker)
{
    sim_finding finding = sim_finding_of(worker, SIM_SPIN, SIM_ERROR);
    finding.place[0] =
        sim_place_of(worker, worker->thread, sim_sites[worker->log_next[-1] >> SIM_ENTRY_SHIFT].pc, "loop");
    snprintf(finding.message, sizeof finding.message, "%s", SIM_GOES_ROUND);
    sim_report(&finding);
    sim_thread_fail(SIM_ERROR_TIMEOUT);
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

static void look(struct sim_repeat *repeat, sim_worker *worker, uint64_t state)
{
    if (repeat->phase == SEEK) {
        if (was_seen(repeat, state))
            begin_round(repeat, GATHER, state);
        repeat->state[repeat->state_count++ % MOST_STATES] = state;
        return;
    }
    if (!gather(repeat, worker)) {
        start(repeat, worker);
        return;
    }
    if (state != repeat->round)
        return;
    if (repeat->phase == COMPARE && same_values(repeat))
        report(worker);
    begin_round(repeat, COMPARE, state);
}

void sim_log_full_from(sim_worker *worker, const uint64_t *state)
{
    struct sim_repeat *repeat = worker->watch ? worker->watch->repeat : NULL;
    if (worker->trace && state && repeat) {
        unsigned looks = repeat->looks++;
        if (!is_traced(repeat, worker) && (looks == 0 || looks - repeat->seen_at > MOST_AWAY))
            start(repeat, worker);
        if (is_traced(repeat, worker)) {
            if (repeat->acts != worker->acts || repeat->progress != sim_progress_of_all())
                start(repeat, worker);
            repeat->seen_at = looks;
            const uint64_t *top = (const uint64_t *)sim_thread_stack_top(worker);
            look(repeat, worker, sim_spin_hash_all(0, state, top));
        }
        if (repeat->looks > MOST_LOOKS) {
            worker->trace = false;
            repeat->looks = 0;
        }
    }
    sim_thread_log_full(worker);
}
