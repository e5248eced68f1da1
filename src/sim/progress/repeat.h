// Loops that touch memory and never end.
#pragma once

#include "machine/worker.h"

bool sim_repeat_start(sim_worker *worker); // once for each worker; false: no address space
// The current thread's log, which starts at `log`, is full, and the watchdog asks for a closer look (worker->trace).
// state, top: its registers and its stack. True: it loops forever.
bool sim_repeat_look(sim_worker *worker, const uint64_t *log, const uint64_t *state, const uint64_t *top);
