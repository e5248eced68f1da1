#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Called wherever work is submitted or memory allocated, so that this file is in every program that does.
void sim_host_access_start(void);
// Host code uses memory of the card. `plain`: neither volatile nor atomic, so no way to talk with a kernel that runs.
void sim_host_touched(uintptr_t address, size_t bytes, bool write, bool plain, uintptr_t pc);
