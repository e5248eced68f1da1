// The cards that the simulator can be: the figures that launches, occupancy and device properties depend on.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct sim_chip {
    const char *key;  // for SIM_GPU
    const char *name; // as the program sees it
    int major, minor; // compute capability
    int multiprocessors;
    size_t memory;                // bytes
    size_t shared_block;          // bytes of shared memory a block may have ...
    size_t shared_block_optin;    // ... and with cudaFuncSetAttribute
    size_t shared_multiprocessor; // of a multiprocessor
    size_t shared_reserved;       // of each block, by the system
    int registers_multiprocessor;
    int threads_multiprocessor, blocks_multiprocessor;
    size_t l2;
    int clock_khz, memory_clock_khz, bus_bits;
    int fp64_ratio; // single-precision throughput over double
    int integrated;
} sim_chip;

// All cards; the first is the default.
extern const sim_chip sim_chips[];
extern const int sim_chip_count;

// The card that SIM_GPU names; the first of the table without it, or where there is no such card.
const sim_chip *sim_chip_get(void);
// False: SIM_GPU names no card; `why` says so, with a list of the names.
enum { SIM_CHIP_REFUSAL = 512 };
bool sim_chip_known(char why[SIM_CHIP_REFUSAL]);
