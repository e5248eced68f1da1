// The stand-in header, compiled once and kept, because reading it takes longer than most programs.
#pragma once

#include "build/compiler.h"
#include "build/home.h"
#include "build/keeper.h"

// Headers of the standard library that take longest to read. A program that includes one of them gets all of them
// precompiled; should that make a name mean something else, the caller compiles again without.
extern const char *const sim_slow_headers[]; // ended with NULL

// What a precompiled header depends on.
typedef struct sim_precompiled {
    const sim_compiler *compiler;
    const sim_home *home;
    const sim_arguments *flags;
    const sim_limits *limits;
    bool slow; // with the slow headers
} sim_precompiled;

// Adds the options that include the stand-in header: precompiled if that is possible, else as it is.
// storage: for the path, as long as the options are used. Returns whether it is precompiled.
bool sim_precompiled_include(const sim_precompiled *wanted, sim_arguments *arguments, char *storage, size_t room);

// Whether that is what a compiler says of a precompiled header that it cannot use.
bool sim_precompiled_is_refused(const char *said);
// Whether a compiler misses names that a precompiled header leaves out and the stand-in header itself has.
bool sim_precompiled_lacks(const char *said);
// So that the next build makes it again. path: what sim_precompiled_include has stored.
void sim_precompiled_remove(const char *path);
