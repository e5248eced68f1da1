// The command line of simcc, which is nvcc's as far as it makes sense here.
#pragma once

#include "build/build.h"

typedef struct sim_command {
    sim_build_options options; // its lists belong to the command
    bool rewrite;              // --rewrite: print the rewritten file
    bool help, version, quiet;
    struct sim_list {
        const char **at;
        int count, room;
    } files, include, compile, link;
    char **owned; // strings made by the parser
    int owned_count, owned_room;
} sim_command;

// Options that mean nothing here are ignored, unknown ones with a warning in result. False: wrong usage, said in
// result.
bool sim_command_parse(sim_command *command, int argc, char **argv, sim_build_result *result);
void sim_command_free(sim_command *command);
