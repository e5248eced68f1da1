// The command line of simcc, which is nvcc's as far as it makes sense here.
#pragma once

#include "build/build.h"

typedef struct sim_command {
    sim_build_options options; // its lists belong to the command
    bool rewrite;              // --rewrite: print the rewritten file
    bool translate;            // -cuda: write it to FILE.cu.cpp.ii, where nvcc writes its own
    bool help, version, quiet;
    bool verbose, dry_run; // -v, --dryrun: nvcc prints its commands
    bool run;              // -run: runs the program that it has built
    bool list_depends;     // -M: prints the dependencies and compiles nothing
    bool list_code;        // --list-gpu-arch, --list-gpu-code
    const char *refused;   // an option for what a simulator cannot make, such as -ptx; NULL: none
    const char *standard;  // -std, as given; NULL: not given
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

typedef enum sim_option_use {
    SIM_OPTION_UNKNOWN,    // nvcc has no such option
    SIM_OPTION_INCOMPLETE, // its value is missing
    SIM_OPTION_IGNORED,    // it says nothing to a simulator
    SIM_OPTION_OUTPUT,     // what the build writes, and where
    SIM_OPTION_SOURCE,     // how the source is read and what it is linked with
} sim_option_use;

// Reads nvcc's option at argv[*at]; *at is then the last word that it took. The command begins as {0}.
sim_option_use sim_command_option(sim_command *command, int argc, char *const *argv, int *at);
void sim_command_free(sim_command *command);
