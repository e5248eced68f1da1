// A learner's source as tokens, to look at without compiling it.
#pragma once

#include "heddle/status.h"
#include "sim/source/lexer.h"

// Code and preprocessor lines in the order of the text, without comments and without what #if 0 leaves out.
typedef struct heddle_learn_code {
    sim_source source;
    sim_tokens tokens;
} heddle_learn_code;

heddle_status heddle_learn_code_read(const char *text, heddle_learn_code *code);
void heddle_learn_code_free(heddle_learn_code *code);

bool heddle_learn_code_is(const heddle_learn_code *code, int index, const char *text);
// The first token of the first place where the tokens of `words` stand one behind the other; -1: nowhere. White space
// does not count, numbers are compared by value, and nothing is found inside a string. *count: how many tokens.
int heddle_learn_code_find(const heddle_learn_code *code, const heddle_learn_code *words, int *count);
