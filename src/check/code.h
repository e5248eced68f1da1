// What of a line of source is code.
#ifndef HEDDLE_CHECK_CODE_H
#define HEDDLE_CHECK_CODE_H

#include <stdbool.h>
#include <stddef.h>

// Copies the line with blanks for comments, literals and tabs; what is longer than `size` is left out. *comment:
// whether the line begins within a comment of several lines; becomes the same of the next line.
void heddle_check_code_of(const char *line, bool *comment, char *code, size_t size);

// Whether it can be part of a name.
bool heddle_check_is_word(char c);
// How many characters of a name stand at `at`; 0: none begins or goes on there.
size_t heddle_check_word_length(const char *at);
// Whether the `length` characters at `at` are that word.
bool heddle_check_word_is(const char *at, size_t length, const char *word);
// The next place in `text`, from `at` on, where `word` stands by itself; NULL: none, as of an empty word.
const char *heddle_check_find_word(const char *text, const char *at, const char *word);
// Whether a line of code calls the function: cudaMemcpy(, barrier.wait<1>(, for (.
bool heddle_check_has_call(const char *code, const char *function);

#endif
