// Where the simulator's own files lie.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct sim_home {
    char headers[4096]; // folder that holds sim/standin.h
    char runtime[4096]; // libsim.a
} sim_home;

// $SIM_HOME, else beside the installed program, else the build tree it came from. False: nowhere.
bool sim_home_find(sim_home *home);

// Whether the headers are there, in the tree that this code was built from, but the runtime is not built yet.
bool sim_home_is_unbuilt(void);

// A folder for what can be made again, created if need be: $SIM_CACHE, else below $XDG_CACHE_HOME or ~/.cache. False:
// there is none.
bool sim_home_cache(char *folder, size_t room);
