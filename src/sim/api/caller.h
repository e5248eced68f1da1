// Whose line an API call is told at.
#pragma once

#include <stdint.h>

// The return address in the program's own code that a call with this return address comes from: where Thrust or CUB
// made the call in a function of theirs, the place that called them; else `pc` itself.
uintptr_t sim_caller_outside(uintptr_t pc);
