// What the files of watch/ share with one another and with race/.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "race/race.h"
#include "race/shadow.h"
#include "race/site.h"
#include "watch/published.h"
#include "watch/ranges.h"
#include "watch/scheduler.h"
#include "watch/watch.h"

// The range of addresses that an access at this place was last found good for, in a table by the place's address. Two
// places that share an entry take turns in it.
typedef struct sim_slot {
    uintptr_t pc; // whose entry it is
    uintptr_t lo;
    size_t span;  // of good first bytes; 0: look it up
    uint64_t tag; // the site, where a log entry has it
} sim_slot;

enum { SIM_SLOTS = 1 << 13 };

// An allocation that the current launch has used. They are found by their addresses, as cache lines are.
typedef struct sim_known {
    sim_extent memory;
    unsigned releases; // of memory, when it was found
    unsigned kinds;    // of accesses that repeated.c knows of: 1 << SIM_READ, ...
} sim_known;

enum { SIM_KNOWN = 64 };

static inline size_t sim_slot_of(uintptr_t pc)
{
    return (pc >> SIM_CODE_SHIFT) & (SIM_SLOTS - 1);
}

void sim_slot_keep(sim_worker *worker, sim_slot *slot, sim_slot good);

enum { SIM_SPACE_GLOBAL, SIM_SPACE_SHARED, SIM_SPACE_VARIABLE, SIM_SPACES };

typedef struct sim_counter {
    uint64_t requests, lanes, units, ideal;
    uint32_t worst_units, worst_mask;
    uint32_t worst_offset[32], worst_lowest;
    unsigned worst_block[3], worst_warp;
} sim_counter;

// What a worker's blocks of a launch use (repeated.c).
enum { SIM_USED = 24 };
struct sim_used {
    struct sim_used_memory {
        uintptr_t start; // of an allocation
        bool read, written;
    } at[SIM_USED];
    unsigned count;
    bool once;    // the launch cannot be compared with another one
    bool unknown; // and has written what is not listed
};

struct sim_watch {
    uint64_t log[SIM_LANES][SIM_LOG_STRIDE];
    uint32_t head[SIM_LANES], tail[SIM_LANES]; // entries not yet merged
    uint32_t raced[SIM_LANES];                 // entries before this index are known to the race detector already
    struct sim_race race;
    sim_counter *counters;            // [site * SIM_SPACES + space]
    uint32_t *touched, touched_count; // counters in use
    uint64_t accesses, barriers;      // since the launch began
    bool discard;                     // the next atomic's result is not used
    sim_ranges ranges;
    bool publishes; // the block has shared memory, to which it may store a pointer (published.h)
    struct sim_published published;
    unsigned passed;      // logs of lanes of unwatched blocks that have been full
    struct sim_used used; // since the launch began
    sim_known known[SIM_KNOWN];
    uint16_t slots_used[SIM_SLOTS], slot_count; // of worker->slots, those that hold something
    bool single;                                // a hook for one access is at work, not one for many bytes
    struct {
        uintptr_t address;
        uint64_t launch, block;
        int thread;
    } fault; // the last that was survived
};

bool sim_watch_ready(void); // starts the watch on first use; false: not watching

// access.c: everything the fast path of a hook does not do. Logs the access, or reports it.
void sim_access_slow(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc);
// The same for a hook that has a range, of the current block or of host code.
void sim_access_ranged(uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc, sim_range *range);
// watch.c: what the current block has done is judged; from now on only its addresses are.
void sim_watch_forsake(sim_worker *worker);
// survive.c: reports a wrong access. Returns where the thread can go on: what follows the hook changes nothing that
// anybody has. `harmless`: the caller knows that; not by itself enough.
void sim_fault_at(sim_worker *worker, const sim_finding *finding, int error, bool harmless);

void sim_fail_misaligned(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc);
// Bounds, alignment; on success fills the slot. After a fault that the launch survives, or where nobody needs to know:
// false.
bool sim_access_check(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, unsigned kind,
                      uintptr_t pc);
// An access at a place for which no number was left: only that it wrote is noted. False: the site has a number.
bool sim_access_unnumbered(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, bool write);
void sim_slots_forget(sim_worker *worker);
void sim_access_host(uintptr_t address, size_t bytes, unsigned kind, uintptr_t pc); // atomics of host code: as volatile
void sim_access_range(uintptr_t address, size_t bytes, bool write, uintptr_t pc);

// atomic_access.c: an atomic access is about to be made.
void sim_access_atomic(uintptr_t address, unsigned bytes, int scope, int what, uintptr_t pc);

// log.c. Full: the log of the current thread has no room; others run, and it goes on when it has.
void sim_log_add(sim_worker *worker, unsigned site, uintptr_t address);
void sim_log_full(sim_worker *worker);
// unwatched.c: a thread of an unwatched block is about to write to global memory, or to any memory.
void sim_unwatched_write(uintptr_t address, unsigned bytes);
void sim_unwatched_mark(uintptr_t address, size_t bytes);
// Of the logs of an unwatched block only what was written counts.
void sim_log_pass(sim_worker *worker);
// The same for the current lane, whose log is full. False: others should have their turn.
bool sim_log_pass_full(sim_worker *worker);
// merge.c
void sim_merge(sim_worker *worker, uint32_t unfinished);
// Tells the race detector of all that these lanes have logged; the entries stay for the counters.
void sim_merge_lanes(sim_worker *worker, uint32_t lanes);

// async_access.c: an access of a copy by the current thread, in the largest pieces that its size and address allow.
// copy: SIM_COPY_...; pc: its place. `issued`: of a landing, where the copy was asked for, because values stored are
// noted as that place's.
void sim_async_note(uintptr_t address, size_t bytes, unsigned copy, uintptr_t pc, uintptr_t issued);
// async_copy.c, in programs that have it: tells sim_under_way_left of each copy of the block that nobody has waited
// for.
extern void (*sim_async_left)(sim_worker *worker);

// copy.c. Whether the access meets a copy beside this launch, which is reported, or one is all around it. If not,
// *alone shrinks to what around the address no such copy touches.
void sim_copies_launch_begin(uint64_t number);
bool sim_copies_meet(sim_worker *worker, uintptr_t address, unsigned bytes, bool write, uintptr_t pc,
                     sim_extent *alone);

// repeated.c: the current thread uses an allocation, or a variable of the program (managed: one that the host sees).
void sim_repeated_note(sim_worker *worker, const sim_allocation *allocation, unsigned kind);
void sim_repeated_variable(sim_worker *worker, bool managed, unsigned kind);
// An operation that is not a kernel uses the allocation at `address`. whole: what it writes comes from the host.
void sim_repeated_use(uintptr_t address, bool written, bool whole, uint64_t number);
void sim_repeated_changed(uintptr_t start); // an allocation is new or gone
void sim_repeated_begin(sim_launch_state *launch);
void sim_repeated_end(const sim_launch_state *launch);
// Whether it repeats an earlier one, which from now on counts as this. spent: even if some blocks were not watched
// then.
bool sim_repeated_is(const sim_launch_state *launch, bool spent);

// counters.c
void sim_counters_row(sim_worker *worker, const sim_row *row);
void sim_counters_collect(sim_launch_state *launch);
void sim_counters_repeated(const sim_launch_state *launch); // which is not run

// volatile.c: the current thread is about to access a word through volatile.
void sim_access_volatile(sim_worker *worker, unsigned site, uintptr_t address);
// What came before an atomic or volatile access is judged, where that access may order threads.
void sim_access_orders(sim_worker *worker, unsigned site, uintptr_t address);
