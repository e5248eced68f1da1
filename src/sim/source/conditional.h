// What the preprocessor has left out of a text, as far as one place that was compiled tells.
#pragma once

#include "source/lexer.h"

typedef enum sim_presence {
    SIM_PRESENT,  // outside of #if, or in the same branches as the place
    SIM_POSSIBLE, // in a branch of another #if, which may have been taken or not
    SIM_LEFT_OUT, // in another branch of an #if around the place
} sim_presence;

// `compiled` and `token`: of source->code.
sim_presence sim_presence_of(const sim_source *source, int compiled, int token);
