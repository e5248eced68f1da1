// Several barriers on one source line (sim/barriers.h: sim_syncthreads_at).
#pragma once

#include <stdbool.h>
#include <stdint.h>

void sim_barrier_on_line_note(uintptr_t pc, int number);
int sim_barrier_on_line_number(uintptr_t pc); // from 1; of a barrier that a thread has come to
