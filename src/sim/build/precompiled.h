// The stand-in header, compiled once and kept, because reading it takes longer than most programs.
#pragma once

#include "build/compiler.h"
#include "build/home.h"
#include "build/keeper.h"

// Headers of the standard library that take long to read. A program that includes one of a list gets all of it
// precompiled, and with the slow ones those for vectors too; should that make a name mean something else, the caller
// compiles again without. A precompiled header takes as long to load as it is large, so that one with both lists would
// double the time of a program that only has vectors.
extern const char *const sim_vector_headers[], *const sim_slow_headers[]; // ended with NULL

// The stand-in header as it is; precompiled; precompiled with those headers.
typedef enum sim_standin_kind {
    SIM_STANDIN_PLAIN,
    SIM_STANDIN_FAST,
    SIM_STANDIN_VECTOR,
    SIM_STANDIN_SLOW,
    SIM_STANDIN_KINDS
} sim_standin_kind;

// What a precompiled header depends on.
typedef struct sim_precompiled {
    const sim_compiler *compiler;
    const sim_home *home;
    const sim_arguments *flags;
    const sim_limits *limits;
    sim_standin_kind kind;
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
