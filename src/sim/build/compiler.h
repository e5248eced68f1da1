// The host's C++ compiler: which one, and how it is called.
#pragma once

#include <stdbool.h>

typedef struct sim_compiler {
    char path[4096];
    bool clang;
    int version; // major
} sim_compiler;

// The options of a call, ended with NULL. Strings are not copied.
typedef struct sim_arguments {
    const char **at;
    int count, room;
    bool failed;
} sim_arguments;

void sim_arguments_add(sim_arguments *arguments, const char *argument);
void sim_arguments_add_list(sim_arguments *arguments, const char *const *list); // ended with NULL; NULL: none
void sim_arguments_free(sim_arguments *arguments);

// wanted: gcc, clang, a name or a path; NULL: gcc, else clang. False: there is none.
bool sim_compiler_find(sim_compiler *compiler, const char *wanted);
// The option for a linker that takes two thirds of the time of the default one; NULL: none is installed.
const char *sim_compiler_linker(void);
// How code is generated. The same for precompiled headers and for what uses them.
void sim_compiler_flags(const sim_compiler *compiler, bool watched, bool shared, sim_arguments *arguments);
// Takes back most of the optimisation that they ask for.
void sim_compiler_flags_quick(const sim_compiler *compiler, sim_arguments *arguments);
