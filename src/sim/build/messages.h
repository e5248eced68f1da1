// The compiler's messages, brought back to the user's files.
#pragma once

#include "build/build.h"
#include "build/home.h"
#include "build/keeper.h"
#include "rewrite/rewrite.h"

// Adds what a compiler said. rewritten: gives columns their old meaning; NULL: nothing was rewritten.
void sim_messages_compiler(sim_build_result *result, const char *said, const sim_rewritten *rewritten,
                           const sim_home *home);
// Says that a limit ended the compiling of a file, or the linking; status: as of sim_process_end.
void sim_messages_stopped(sim_build_result *result, const char *what, int status, const sim_limits *limits);
// Adds what a linker said. files: what the user gave, ending in NULL; object files of ours must have their names by
// now.
void sim_messages_linker(sim_build_result *result, const char *said, const char *const *files);
