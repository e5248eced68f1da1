// Signals: a wrong access that only the hardware caught, and the watchdog's.
#pragma once

#include <stdint.h>

// What a worker keeps of the signal that ended a thread.
typedef struct sim_fault_state {
    int signal;
    uintptr_t pc, address;
} sim_fault_state;

void sim_fault_install(void);         // once for the process
void sim_fault_alternate_stack(void); // once for each OS thread
