// Findings: what the simulator says is wrong. Any part of the runtime reports one; equal ones are counted together;
// at the end they are given source lines and written out (as JSON for `check`, as text for a person).
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    SIM_SPIN,           // a thread waits for ever in a loop
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
    SIM_UNSUPPORTED,
    SIM_ORDER_DEPENDENT, // a copy to the host brings something else than in another run (SIM_COPY)
    SIM_FINDING_KINDS
} sim_finding_kind;

// An error is wrong by CUDA's rules and able to change a result; a warning is formal.
typedef enum sim_tier { SIM_ERROR, SIM_WARNING } sim_tier;

// What would order the two sides of a race: it decides what cure is told.
typedef enum sim_order {
    SIM_ORDER_BARRIER,
    SIM_ORDER_BLOCKS,          // the threads are of different blocks
    SIM_ORDER_COPY,            // one is an asynchronous copy that nothing waits for in between
    SIM_ORDER_FENCE,           // an atomic on another word goes from one to the other, but no fence
    SIM_ORDER_ACQUIRE,         // a fence before it, but none behind it: the first place is that atomic
    SIM_ORDER_ACQUIRE_IN_BLOCK // so, too, and all who wrote are of the reader's block
} sim_order;

// Why threads never come to a barrier, as far as the source tells; found out at the end.
typedef enum sim_reach { SIM_REACH_UNKNOWN, SIM_REACH_RETURN, SIM_REACH_BRANCH, SIM_REACH_PASSED } sim_reach;

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
    unsigned column;   // of the first place, as the compiler gives it; 0: not known
    uintptr_t address; // 0: not about memory
    size_t bytes;
    sim_order order; // of a race
    sim_reach reach; // of a barrier that threads which have ended never reach
    bool parts_warp; // some threads of a warp are at that barrier, the others have ended
    bool ask_values; // racing writes whose values are not known: the JSON lists both places' offsets under "values"
} sim_finding;

// Copies *finding, and looks up what its address belongs to (memory/, this thread's shared memory): call it with no
// lock of memory/ held. Safe from any thread, not from a signal handler. Findings of one kind with the same two places
// are one: counted, and the first kept, or the one with the smaller (block, thread) so that the order of workers does
// not show.
void sim_report(const sim_finding *finding);
void sim_report_many(const sim_finding *finding, uint64_t times); // seen so many times
bool sim_report_any(void);

// The demanding form of the last step: writes everything once. Called at exit, and by the fault handler of host code.
// `status`: "finished", "crashed: ...", "killed: ...".
// Calls sim_watch_finish first: the race detector holds its findings back until it knows their tier.
void sim_report_write(const char *status);

// Runs by itself before main. At exit, after the destructors of the program's objects, sim_api_finish() is called (what
// streams still hold runs, leaks are found) and then the report is written.
void sim_report_start(void);
void sim_watch_finish(void);
// For the fault handler of host code: adds the crash itself as a finding, and writes.
void sim_report_crash(const sim_finding *finding, const char *status);

// --- for a program that asks while it runs (report/told.c) ---------------------------------------------------------

// The program tells what was found by itself: nothing goes to stderr at the end. SIM_REPORT still gets its file.
void sim_report_embedded(void);
bool sim_report_is_embedded(void);
// The gravest error that threads or memory gave rise to since this was last asked, as one line with its places; false:
// none. What an API call has answered with an error code is left out. Call it when nothing runs on the device.
bool sim_report_next(char *text, size_t bytes);

// --- symbols (report/symbols.c) ------------------------------------------------------------------------------------

// A variable of the program that lies at `address`: a __shared__ one in this thread's block, or a __device__,
// __constant__ or __managed__ one. offset: from its start.
typedef struct sim_symbol {
    char name[128]; // demangled, without scope
    uintptr_t start;
    size_t bytes;
    bool shared;
    bool merged; // of a template or an inline variable: it has no section of its own
} sim_symbol;
bool sim_symbol_at(uintptr_t address, sim_symbol *symbol);
// Whether the program has a variable of this name, without scope.
bool sim_symbol_is_variable(const char *name);

// Every __shared__ variable of the program, as offset in the thread-local segment of the module and size; sorted.
typedef struct sim_shared_variable {
    size_t offset, bytes;
    char name[128];
} sim_shared_variable;
const sim_shared_variable *sim_shared_variables(size_t *count);

// The loaded module that this runtime is linked into (program or shared object).
// The function that starts at `address`, as a person writes it: "mm<1>". NULL: none.
const char *sim_symbol_function_called(uintptr_t address);
// The function at `pc` (mangled) and how far in it pc lies; NULL: none.
const char *sim_symbol_function(uintptr_t pc, size_t *offset);

typedef struct sim_module {
    uintptr_t base, text_lo, text_hi; // executable segment
    uintptr_t data_lo, data_hi;       // writable segment: __device__ variables live here
    uintptr_t tables_lo, tables_hi;   // part of that: constants with addresses in them, read-only once it runs
    uintptr_t image_lo, image_hi;     // all of it: constants and literals too
    size_t tls_bytes;                 // of one thread's segment
    bool is_program;                  // no shared object
    char path[512];
} sim_module;
const sim_module *sim_module_self(void);
uintptr_t sim_module_tls(void); // this thread's thread-local segment of the module

#endif
