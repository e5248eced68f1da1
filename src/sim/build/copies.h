// What is done to clang's intermediate text before it is optimised: copies of structures stay as wide as their type.
#ifndef SIM_BUILD_COPIES_H
#define SIM_BUILD_COPIES_H

#include "rewrite/text.h"

// Adds a line of LLVM's assembly to `out`; a copy of a small structure becomes loads and stores as wide as its
// alignment. clang would take a float4 apart into four loads of four bytes, and none of them would be misaligned.
// *copies counts the lines that were changed, for the names of what is put in their place.
void sim_copy_line(const char *line, size_t bytes, unsigned *copies, sim_text *out);

#endif
