// What may end a thread in the middle of a function without a `return` that is written there.
#ifndef SIM_REPORT_LEAVING_H
#define SIM_REPORT_LEAVING_H

#include <stdbool.h>
#include <stddef.h>

// A source file with those of its own that it includes: what they define, and what their PTX does.
typedef struct sim_program sim_program;

// NULL: there is no memory for it.
const sim_program *sim_program_of(const char *path);

// Whether it has PTX that ends a thread, asm("exit;"), which a function may do for its caller.
bool sim_program_exits(const sim_program *program);

// Whether a word of the source, from `word` to `behind`, leaves the function, by a goto too, or is a macro that does or
// may: one that the program does not define, but looks like a macro's call. `end`: of the text that the word is in.
bool sim_word_leaves(const sim_program *program, const char *word, const char *behind, const char *end);

#endif
