// The temporary folder of a build, and its child processes: all that must not be left behind.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct sim_temporary {
    char folder[512];
    int slot; // in the table that a signal handler reads
} sim_temporary;

// base: the folder to make it in; NULL: $TMPDIR, or in memory where there is room for it. keep: it is to outlive the
// build. False: errno says why.
bool sim_temporary_open(sim_temporary *temporary, const char *base, bool keep);
// Removes the folder with all that is in it.
void sim_temporary_close(sim_temporary *temporary, bool keep);

// A single file that is to be removed when the build is interrupted; the slot to forget it by, -1: none was free.
int sim_temporary_watch(const char *path);
void sim_temporary_forget(int slot);
// Removes a folder and the files in it. Async-signal-safe.
void sim_folder_remove(const char *folder);

// Keepers of compilers that are to be ended when the build is interrupted.
void sim_children_add(pid_t child);
void sim_children_remove(pid_t child);
