// Kernel launches in a list of tokens.
#pragma once

#include "source/lexer.h"

enum { SIM_LAUNCH_ARROWS = 3 }; // tokens of <<< and >>>

typedef struct sim_launch {
    int callee, name; // first token of the callee; its last name, -1: none
    int open, close;  // first tokens of <<< and >>>
} sim_launch;

// Whether a launch's <<< begins at token `index`.
bool sim_launch_at(const sim_source *source, const sim_tokens *tokens, int index, sim_launch *launch);

// Whether nothing stands between a token and the next.
bool sim_tokens_are_adjacent(const sim_tokens *tokens, int index);
