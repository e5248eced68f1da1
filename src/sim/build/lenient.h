// What nvcc accepts and the host's compiler refuses: a file that asks for it is compiled once more with leniency.
#pragma once

enum {
    SIM_LENIENT_SHARED = 1,  // a __shared__ variable whose type has an empty constructor
    SIM_LENIENT_INLINE = 2,  // __forceinline__ on functions that call each other: a hint, no order
    SIM_LENIENT_MEANING = 4, // a member with the name of its own type: using X = X<int>
};

// The leniency that would make the compiler accept what it says it refuses: a set of the above; 0: none would.
unsigned sim_lenient_asked(const char *said);
// What is written above the first line of a source; "": nothing.
const char *sim_lenient_preamble(unsigned lenient);
// gcc's option for it; NULL: none.
const char *sim_lenient_option(unsigned lenient);
