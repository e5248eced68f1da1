// What one run of a simulated program reported (sim/report/format.md), read into structs. Strings and arrays live in
// the report's arena.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "check/kinds.h"
#include "heddle/status.h"

struct cJSON;

enum {
    HEDDLE_CHECK_LANES = 32,
    HEDDLE_CHECK_FRAMES = 8, // of one place: inlined callers beyond these are left out
};

typedef enum heddle_check_tier { HEDDLE_CHECK_ERROR, HEDDLE_CHECK_WARNING } heddle_check_tier;

// What would order the two accesses of a race.
typedef enum heddle_check_order {
    HEDDLE_CHECK_ORDER_BARRIER,
    HEDDLE_CHECK_ORDER_BLOCKS, // the threads are of different blocks
    HEDDLE_CHECK_ORDER_COPY,   // one access is an asynchronous copy's that nothing waits for in between
    HEDDLE_CHECK_ORDER_FENCE,  // an atomic goes from one to the other, without fences
    HEDDLE_CHECK_ORDER_ACQUIRE,
    HEDDLE_CHECK_ORDER_ACQUIRE_IN_BLOCK,
    HEDDLE_CHECK_ORDER_GUARD, // the read decides whether an atomic follows that would give the same in every order
    HEDDLE_CHECK_ORDER_CHILD  // a kernel launched the other, or both
} heddle_check_order;

// Why threads that have ended never reached a barrier, as far as the source shows it.
typedef enum heddle_check_reach {
    HEDDLE_CHECK_REACH_UNKNOWN,
    HEDDLE_CHECK_REACH_RETURN, // they returned before it
    HEDDLE_CHECK_REACH_BRANCH, // it stands in a branch or loop
    HEDDLE_CHECK_REACH_PASSED  // so, too, and they went on behind it
} heddle_check_reach;

typedef struct heddle_check_frame {
    const char *file; // absolute; "": not known
    int line;
    int column; // in bytes, from 1, as the compiler has it; 0: not known
    const char *function;
} heddle_check_frame;

typedef struct heddle_check_place {
    const char *role; // "read", "write", "barrier", ...
    heddle_check_frame frame[HEDDLE_CHECK_FRAMES];
    int frames;        // 0: no place in the source; frame[0] is the innermost
    int column, width; // of what is meant in its line, in bytes, from 1; 0: not known
    bool has_thread;
    int thread[3], block[3];
    long long offset;   // of the instruction behind it in the program; 0: not known
    const char *within; // the header of the simulator's that it is in, in truth; "": none
} heddle_check_place;

typedef struct heddle_check_memory {
    const char *space; // "global", "shared", "device variable", ...
    const char *name;  // of the variable; "": not known
    long long bytes, offset, size;
    bool live;
    bool is_dynamic;                          // extern __shared__
    heddle_check_frame allocated, freed;      // function: the call, "cudaMalloc"
    long long allocated_offset, freed_offset; // as of a place
} heddle_check_memory;

typedef struct heddle_check_finding {
    heddle_check_kind kind;
    heddle_check_tier tier;
    long long count;
    const char *kernel; // NULL in host code
    const char *message, *note;
    const char *program;      // that it is about, where there are several; NULL: there is one
    const char *part;         // of the program, by its own name for it; "" or NULL: it has none
    const char *cause, *cure; // in words; NULL: not set yet (words.h)
    heddle_check_order order; // of a race
    bool partly;              // of an uninitialised read: some bytes were written, as of a structure with padding
    bool parts_warp;          // of a barrier: some threads of a warp are at it, the others have ended
    heddle_check_reach reach; // of a barrier that threads never reach
    heddle_check_place *places;
    int place_count;
    heddle_check_memory *memory; // NULL: not about memory
    const char *array;           // whose index is wrong, where memory is not known: "shared memory s"; NULL: not known
    const char *parameter;       // what the kernel calls it; "": not known; NULL: it has no other name
    long long *values;           // offsets to ask for with SIM_VALUES: what they store decides the tier
    int value_count;
    long long *settled; // offsets whose part in it was found to be harmless
    int settled_count;
    uint64_t schedules;                     // bit n: seen in run n
    const struct heddle_check_wrong *wrong; // elements of a wrong result (wrong.h); NULL: it is not about one
} heddle_check_finding;

// The worst request of a warp at one line.
typedef struct heddle_check_request {
    int units;
    uint32_t mask;
    long long lowest;
    long long offsets[HEDDLE_CHECK_LANES]; // from `lowest`; of lanes in the mask
    int block[3], warp;
} heddle_check_request;

typedef struct heddle_check_line {
    const char *file;
    int line;
    const char *access; // "load", "store", "atomic"
    const char *space;
    int size; // bytes a lane
    double requests, lanes;
    double units, ideal;               // sectors, or wavefronts in shared memory
    const heddle_check_request *worst; // NULL: not known
} heddle_check_line;

// The branches of one line: how often warps executed them, and how often their lanes went different ways.
typedef struct heddle_check_branch {
    const char *file;
    int line;
    double executions, divergent;
} heddle_check_branch;

typedef struct heddle_check_kernel {
    const char *name;
    int grid[3], block[3];
    double shared, launches, accesses, barriers, threads;
    double repeated;               // of the launches: not run, because they repeat an earlier one on unchanged memory
    double blocks, watched_blocks; // of all launches that were run; those in which every access was watched
    heddle_check_line *lines;
    int line_count;
    heddle_check_branch *branches; // in a run that counts them
    int branch_count;
} heddle_check_kernel;

typedef enum heddle_check_copied {
    HEDDLE_CHECK_COPY_ARRAY,
    HEDDLE_CHECK_COPY_NUMBER, // no larger than a number, and not 0
    HEDDLE_CHECK_COPY_ZERO    // no larger than a number, and 0
} heddle_check_copied;

// What one copy to the host carried: a hash of its bytes, and weighted sums of them as float and as double.
typedef struct heddle_check_copy {
    const char *hash;
    struct {
        double sum, magnitude; // negative magnitude: not numbers of that type
    } sums[2];
    const char *by;          // the operation that made it and which of its copies it is, for SIM_COPY; "": not known
    long long site;          // of the call; 0: not known
    unsigned long long into; // host memory that it was copied to, of this run; 0: not known
    heddle_check_copied what;
} heddle_check_copy;

typedef struct heddle_check_report {
    heddle_arena *arena;
    const char *status;          // "finished", "crashed: ...", "stopped: ..."
    int exit_status;             // that it was about to end with; -1: not known
    heddle_check_place *crashed; // where host code crashed; NULL: it did not, or that is not known
    const char *unchecked;       // a sentence about what the run did not come to; "": it came to its end
    const char *gpu;
    int schedule;
    heddle_check_finding *findings;
    int finding_count;
    heddle_check_kernel *kernels;
    int kernel_count;
    heddle_check_copy *copies; // to the host, in order
    int copy_count;
    bool copies_in_any_order; // several threads of the host made them
    double accesses, launches, seconds;
    double algorithms;       // of Thrust, that are no launches
    bool branches_in_pieces; // a warp executed too many to be brought together: executions are too many
    int suppressed;          // by comments in the source
} heddle_check_report;

// Parses what the program that is checked could have written: one with more values than the simulator writes is refused
// before it fills the memory.
heddle_status heddle_check_json_parse(const char *what, const char *content, size_t size, struct cJSON **json);
heddle_status heddle_check_beyond(const char *what); // the error that says so

// `what` names the text in errors. *report is freed by heddle_check_report_free.
heddle_status heddle_check_report_parse(const char *what, const char *content, size_t size,
                                        heddle_check_report **report);
heddle_status heddle_check_report_read(const char *path, heddle_check_report **report);
void heddle_check_report_free(heddle_check_report *report); // NULL is fine

bool heddle_check_is_shared(const char *space);
// The last part of a function's name without template arguments: "add" of "space::add<float>".
const char *heddle_check_own_name(const char *function, size_t *length);
bool heddle_check_same_function(const char *one, const char *other); // by that part
