// What a compiler made of CUDA source, function by function: the instructions of PTX or machine code (SASS) with the
// source line of each, and the registers and memory that a kernel takes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

typedef struct heddle_listing_line {
    const char *file; // NULL: not known
    int number;       // of the source line
    bool label;       // a place to jump to, not an instruction
    const char *text;
} heddle_listing_line;

typedef struct heddle_listing_function {
    const char *symbol;
    const char *name; // of the source, with template arguments if they are known
    bool kernel;      // not a device function that was not inlined
    bool has_usage;   // the next five are known
    int registers, shared_bytes, stack_bytes, spill_stores, spill_loads;
    int count, instructions;
    heddle_listing_line *line;
} heddle_listing_function;

typedef struct heddle_listing {
    int count;
    heddle_listing_function *function;
} heddle_listing;

// Each returns a listing to free with heddle_listing_free; NULL: no memory.
heddle_listing *heddle_listing_of_ptx(const char *text);
heddle_listing *heddle_listing_of_sass(const char *text); // as nvdisasm -c -g prints it
void heddle_listing_free(heddle_listing *listing);
// What `ptxas -v` said of the kernels.
void heddle_listing_add_usage(heddle_listing *listing, const char *said);
// `names`: one per line, in the order of the functions, as a demangler prints them.
void heddle_listing_add_names(heddle_listing *listing, const char *names);
