// Contains a program that may do harm: it writes only below given folders, opens no network connections, and signals no
// process but its own. Landlock and seccomp do this, without any rights of ours; where the kernel has no Landlock,
// bubblewrap does, if it is installed. If there is none of them, nothing is contained, and heddle_sandbox_name says so.
#pragma once

#include <stdbool.h>

#include "heddle/status.h"

typedef struct heddle_sandbox {
    int rules;       // Landlock's; -1: none
    bool filters;    // system calls, by seccomp
    char **wrapper;  // bubblewrap's words, before those of the command; NULL: none
    int filter_file; // the filters, for the wrapper; -1: none
} heddle_sandbox;

// What this machine has: "Landlock and seccomp", "Landlock", "bubblewrap and seccomp", "bubblewrap", "seccomp, for
// sockets alone", "none".
const char *heddle_sandbox_name(void);
// Whether it limits where a program can write.
bool heddle_sandbox_contains(void);

// folders: where the program may write, ended with NULL. files: descriptors of what else it may write to, ended with
// -1; a descriptor may be named twice.
heddle_status heddle_sandbox_open(heddle_sandbox *sandbox, const char *const *folders, const int *files);
void heddle_sandbox_close(heddle_sandbox *sandbox);

// Contains this process and all that it starts, for good. Only what is safe after a fork. False: errno says why.
bool heddle_sandbox_enter(const heddle_sandbox *sandbox);
