// What is done to clang's intermediate text before it is optimised: copies of structures stay as wide as their type.
#pragma once

#include "rewrite/text.h"

// What is known of a value of the function that is being read: part of something larger, somewhere in a local variable.
enum { SIM_VALUE_PART = 1, SIM_VALUE_LOCAL = 2 };

typedef struct sim_copies {
    unsigned count;  // of lines that were changed: for the names of what is put in their place
    sim_text values; // a byte for each numbered value of the function
} sim_copies;

// Adds a line of LLVM's assembly to `out`; a copy of a small structure becomes loads and stores as wide as its
// alignment. clang would take a float4 apart into four loads of four bytes, and none of them would be misaligned.
void sim_copy_line(sim_copies *copies, const char *line, size_t bytes, sim_text *out);
