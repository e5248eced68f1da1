// How far the current launch has come, in a file (SIM_PROGRESS) that the program shares with whoever shows it. The
// program may write anything there: a reader trusts none of it.
#pragma once

#include <stdint.h>

enum { SIM_SHOWN_NAME = 96 };

typedef struct sim_shown {
    uint64_t launches;      // so far; odd while what follows changes
    uint64_t blocks, ended; // blocks: 0 between launches
    uint64_t drawn;         // set by who shows it: there is a line on the terminal, to be cleared at the launch's end
    char kernel[SIM_SHOWN_NAME];
} sim_shown;
