// What is known of a kernel by its address: attributes that the program set, and how many of its blocks fit on a
// multiprocessor of the simulated card.
#pragma once

#include <stddef.h>

#include "sim/runtime_api.h"

// The compiler that counts registers is not there: every kernel is taken to use this many a thread.
enum { SIM_ASSUMED_REGISTERS = 32 };

typedef struct sim_function {
    const void *address;
    const char *name;      // as it was launched; may be NULL
    size_t dynamic_shared; // what a launch may ask for
    int carveout;
    unsigned most_threads; // of a block, by __launch_bounds__; 0: not bounded
} sim_function;

sim_function *sim_function_of(const void *address); // NULL: no memory
size_t sim_function_shared_limit(const void *address);
unsigned sim_function_most_threads(const void *address);
// Blocks of this size that a multiprocessor holds at once; 0: not even one.
int sim_occupancy(int threads, size_t shared);
// Whether a launch asks for clusters of several blocks, which are not simulated.
bool sim_wants_clusters(const cudaLaunchConfig_t *config);
