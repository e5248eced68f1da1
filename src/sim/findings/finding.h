// Findings: what the simulator says is wrong. Any layer makes one and hands it over here; the report, which is above
// most of them, takes it: counts equal ones together, and at the end gives them source lines and writes them out.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/worker.h"
#include "program/lines.h"

typedef enum sim_finding_kind {
    SIM_RACE,
    SIM_OUT_OF_BOUNDS,
    SIM_MISALIGNED,
    SIM_USE_AFTER_FREE,
    SIM_INVALID_FREE, // twice, or never allocated, or with the wrong function
    SIM_LEAK,
    SIM_UNINITIALISED,
    SIM_BARRIER_DIVERGENT,
    SIM_BARRIER_EXITED,
    SIM_DEADLOCK,
    SIM_SPIN,           // a thread waits forever in a loop
    SIM_WARP_MASK,      // a warp collective's mask is wrong
    SIM_WARP_MISMATCH,  // lanes of one warp in different collectives
    SIM_HOST_POINTER,   // a kernel uses a host pointer
    SIM_DEVICE_POINTER, // host code uses a device pointer
    SIM_MISSING_WAIT,   // host or another stream uses data that a stream has not finished with
    SIM_UNCHECKED_ERROR,
    SIM_BAD_CALL, // an API call that fails: its arguments are wrong
    SIM_BAD_LAUNCH,
    SIM_ASSERT,
    SIM_TRAP,
    SIM_STACK_OVERFLOW,
    SIM_FAULT, // a wild address that only the hardware caught
    SIM_DIVISION_BY_ZERO,
    SIM_UNSUPPORTED,
    SIM_ORDER_DEPENDENT, // a copy to the host brings something else than in another run (SIM_COPY)
    SIM_FINDING_KINDS
} sim_finding_kind;

// An error is wrong by CUDA's rules and able to change a result; a warning is formal.
typedef enum sim_tier { SIM_ERROR, SIM_WARNING } sim_tier;

// What would order the two sides of a race: it decides what fixes it.
typedef enum sim_order {
    SIM_ORDER_BARRIER,
    SIM_ORDER_BLOCKS,           // the threads are of different blocks
    SIM_ORDER_COPY,             // one is an asynchronous copy that nothing waits for in between
    SIM_ORDER_FENCE,            // an atomic on another word goes from one to the other, but no fence
    SIM_ORDER_ACQUIRE,          // a fence before it, but none behind it: the first place is that atomic
    SIM_ORDER_ACQUIRE_IN_BLOCK, // so, too, and all who wrote are of the reader's block
    SIM_ORDER_GUARD,            // the read decides whether an atomic follows that would give the same in every order
    SIM_ORDER_CHILD             // a kernel launched the other, or both
} sim_order;

typedef struct sim_place {
    uintptr_t pc;     // a return address inside the program; 0: no place
    const char *role; // "read", "write", "atomic", "barrier", "call", "launch", "freed", ...; a literal
    bool has_thread;
    unsigned thread[3], block[3];
} sim_place;

enum { SIM_PLACES = 2 };

typedef struct sim_finding {
    sim_finding_kind kind;
    sim_tier tier;
    const char *kernel; // NULL in host code
    char message[400];  // one sentence without source places: those are in place[]
    char note[320];     // what decides here, e.g. "same warp, no __syncwarp between"; may be empty
    sim_place place[SIM_PLACES];
    bool fault;        // a wrong access: one of a line stands for all
    bool tainted;      // its block has gone on after a wrong access
    uintptr_t after;   // place of a read among these, which may be its cause; 0: none
    unsigned column;   // of the first place, in the rewritten text; 0: not known
    uintptr_t address; // 0: not about memory
    size_t bytes;
    sim_order order; // of a race
    bool parts_warp; // some threads of a warp are at that barrier, the others have ended
    bool partly;     // an uninitialised read of bytes of which some were written: none if they are a structure's
    bool ask_values; // racing writes whose values are not known: the JSON lists their offsets under "values"
} sim_finding;

// Hands *finding over: it is copied, and what its address belongs to (an allocation, this thread's shared memory) is
// looked up, so call it with no lock of memory/ held. Safe from any thread, not from a signal handler. Findings of one
// kind with the same two places are one: counted, and the first kept, or the one with the smaller (block, thread) so
// that the order of workers does not show.
void sim_report(const sim_finding *finding);
void sim_report_many(const sim_finding *finding, uint64_t times); // seen so many times
uint64_t sim_findings_count(void);                                // reported so far
// Who takes them: the report, before everything else.
void sim_findings_go_to(void (*take)(const sim_finding *finding, uint64_t times));

// The beginning of a finding about the worker's launch.
sim_finding sim_finding_of(const sim_worker *worker, sim_finding_kind kind, sim_tier tier);
// A thread of the worker's block, at `pc`.
sim_place sim_place_of(const sim_worker *worker, int thread, uintptr_t pc, const char *role);

// " by thread (1,0,0) of block (0,0,0)", or "" where no thread is known; returns `text`.
const char *sim_thread_text(const sim_place *place, char text[SIM_PLACE_BYTES]);
