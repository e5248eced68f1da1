// Looks for threads that compute forever without waiting or touching memory.
#pragma once

#include "machine/worker.h"

void sim_watchdog_start(void); // when all workers run
// Reports the current thread at `pc`. repeats: it is proved to loop forever; else its time is up.
void sim_watchdog_report(sim_worker *worker, uintptr_t pc, bool repeats);
