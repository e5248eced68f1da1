// What the rewriter makes of a text.
#ifndef HEDDLE_TESTS_SIM_REWRITTEN_H
#define HEDDLE_TESTS_SIM_REWRITTEN_H

char *rewritten(const char *text); // to be freed
void becomes(const char *text, const char *expected);
void stays(const char *text);

#endif
