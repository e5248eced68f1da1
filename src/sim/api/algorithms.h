// Functions of the program that Thrust and CUB call inside their algorithms.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Host code is about to use memory of the card. True: it does so in an algorithm of the device, and has been judged as
// what a kernel does.
bool sim_library_accessed(uintptr_t address, size_t bytes, bool write, uintptr_t pc);
