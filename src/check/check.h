// The check of a CUDA program on the simulated GPU: builds it watched, runs it in several legal orders under
// supervision, and unites what was found.
#pragma once

#include "check/result.h"

typedef enum heddle_check_nvcc {
    HEDDLE_CHECK_NVCC_IF_INSTALLED,
    HEDDLE_CHECK_NVCC_NEVER,
    HEDDLE_CHECK_NVCC_ALWAYS, // a machine without it is an error
} heddle_check_nvcc;

// How far the current launch of a run has come.
typedef struct heddle_check_progress {
    const char *kernel;
    uint64_t launch;      // of the run, from 1
    double blocks, ended; // in the grid
    double launch_seconds, run_seconds;
} heddle_check_progress;

// Lists end with NULL; a NULL list is an empty one.
typedef struct heddle_check_options {
    const char *const *sources;   // NULL: a project is checked, by its command or its folder
    const char *const *command;   // that builds a project and runs its programs; NULL: none
    const char *cmake;            // folder of a CMake project, every program of which is built and run; NULL: none
    const char *const *arguments; // of the program
    const char *folder;           // to run the program in; NULL: ours
    const char *op;               // the operator that a file without main computes; NULL: none
    const char *const *shapes;    // to run it on; NULL: its test shapes
    // A kernel of a file without main, and what it is launched on (extension.h).
    const char *kernel, *args, *grid, *block, *shared; // NULL: not given
    const char *driver;         // file with a main that launches kernels of the sources; NULL: none
    const char *reference;      // FILE.npy or FILE.py:FUNCTION; NULL: none
    const char *const *expects; // NAME=FILE.npy, for outputs
    double tolerance;           // relative and absolute; negative: by type
    const char *const *include, *const *define, *const *library;
    const char *const *compile; // more options for the compiler: -DNAME, -UNAME, -include FILE, -fopenmp
    const char *const *link;    // and for the linker: -LDIR, -lNAME, an object
    const char *ignored;        // flags that were given and change nothing, for a note; NULL: none
    bool all_cuda;              // -x cu: every source is CUDA
    bool separate;              // -rdc=true: device code of all files is linked together
    const char *compiler;       // NULL: found
    const char *standard;       // of C++: "c++20"; NULL: C++17, as nvcc has it
    const char *gpu;            // NULL: the simulator's own choice
    const char *suppress;       // file; NULL: none
    bool any_status;            // the program's own exit status does not count
    bool no_input;              // the program's standard input is empty, not ours
    int schedules;              // runs in different orders
    double seconds;             // a run may take; 0: no limit
    double budget;              // millions of accesses that a run watches in full; 0: no limit
    double build_seconds;       // a compiler may take; 0: minutes
    uint64_t memory;            // bytes; 0: heddle_child_usual_memory
    uint64_t seed;              // of an operator's inputs, and of the choice of blocks
    heddle_check_nvcc nvcc;
    bool strict, unwatched, keep;
    bool grade;         // strict, and a program without a launch is an error
    bool divergence;    // counts divergent branches, in a further run of a program that is built for it
    bool trace;         // the first run records one (trace.h)
    bool sandbox;       // the program is contained where the kernel can do so
    bool doubts;        // the compiler's messages include local variables that may be read before they are set
    bool carry;         // its output passes through our hands, so that how it ended is known
    const char *expect; // file with the output it should have, if it is carried; NULL: any
    // Told many times a second; returns whether it shows something now. NULL: it is to be gone. May be NULL itself.
    bool (*progress)(const heddle_check_progress *now);
    int output, errors; // where the program's own output goes, as file descriptors; -1: nowhere
} heddle_check_options;

// HEDDLE_OK: the check was made, and what it found, be it that the source does not compile, is in *result. Otherwise it
// could not be made: HEDDLE_INVALID wrong usage, HEDDLE_MISSING no host compiler, HEDDLE_INTERRUPTED.
heddle_status heddle_check_run(const heddle_check_options *options, heddle_check_result **result);

// Ends a check that runs or is about to, soon and cleanly. Safe in a signal handler.
void heddle_check_interrupt(void);
// From now on there may be another check.
void heddle_check_resume(void);
