// An x86-64 instruction as compilers write it: where it ends, and what it refers to.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_instruction {
    unsigned bytes;
    bool branches; // to `target`: a call or jump by a distance
    bool refers;   // to memory at `target`, named by its distance
    // A call of an address in a register, or in memory that is not named by its distance. A jump to one is a switch's:
    // programs are compiled without tail calls.
    bool indirect;
    uintptr_t target;
} sim_instruction;

// Reads the instruction at `at`, which ends at `end` or before. False: it is none that is known.
bool sim_instruction_read(uintptr_t at, uintptr_t end, sim_instruction *instruction);
