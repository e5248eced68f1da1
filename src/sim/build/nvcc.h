// simcc in the place of nvcc, in the builds of other people: what their build tools ask nvcc about itself, and a list
// of what was compiled, for those who started the build.
#pragma once

#include <stdbool.h>

#include "build/command.h"

// The version that nvcc would print: build tools read the release from it.
void sim_nvcc_print_version(void);
// The GPUs that it could compile for.
void sim_nvcc_print_code(void);
// What nvcc -v prints, as far as CMake reads it: where the toolkit is, and how a program is linked.
void sim_nvcc_print_commands(const sim_command *command, const char *toolkit);
// Adds what was compiled to the file that SIM_BUILT names: strings that end with a 0 byte, the first letter says what
// each is. s: a source file, i: a folder of headers; both whole paths.
void sim_nvcc_record(const sim_command *command);
