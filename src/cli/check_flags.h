// nvcc's flags on the command line of `heddle check`, as a Makefile has them. Those that say how the source is read are
// used; the others are listed, for one note.
#pragma once

#include "cli/options.h"
#include "sim/build/command.h"

typedef struct heddle_check_flags {
    char **own; // the other words before "--": heddle's own options and the files. NULL-terminated
    int own_count;
    char *ignored;        // flags that change nothing here, separated by blanks; NULL: none
    sim_command nvcc;     // what the others say
    const char **include; // lists of a check's options: what heddle's own options and nvcc's flags ask for
    const char **compile, **link;
} heddle_check_flags;

// Splits argv; the strings stay argv's. HEDDLE_INVALID: a flag lacks its value. Free it in every case.
heddle_status heddle_check_flags_read(const heddle_cli_command *command, int argc, char **argv,
                                      heddle_check_flags *flags);
// Makes the lists. `include`: of heddle's own options.
heddle_status heddle_check_flags_lists(heddle_check_flags *flags, const heddle_cli_list *include);
void heddle_check_flags_free(heddle_check_flags *flags);
