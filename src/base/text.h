// Small text helpers: nearest name for "did you mean", sizes and durations for people, clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The candidate nearest to `name` by edit distance (transpositions count 1), or NULL if none is near enough to suggest.
const char *heddle_text_nearest(const char *name, const char *const *candidates, int count);
bool heddle_text_ends(const char *text, const char *end);
// "1.5 MiB", "830 bytes"; returns `text`.
const char *heddle_text_bytes(double bytes, char *text, size_t size);
// "850 µs", "2.3 s", "1 min 20 s"; returns `text`.
const char *heddle_text_seconds(double seconds, char *text, size_t size);
// Bytes of the decimal number that `text` begins with: a sign, digits and, unless `whole`, a point and an exponent; 0:
// none. strtod and its kin also take hexadecimal numbers, "inf", "nan" and leading blanks.
size_t heddle_text_number(const char *text, bool whole);
// Puts '?' for every control character: a file's name must not break a message in two or play on the terminal.
void heddle_text_one_line(char *text);
// A word of a command line as a shell takes it back, in quotes where it needs them; returns `quoted`. "" where it does
// not fit, so that no message shows a command that is cut.
const char *heddle_text_quote(const char *word, char *quoted, size_t size);
// A text that the build put into the library, as the rows of cmake/HeddleEmbed.cmake have them.
typedef struct heddle_named_text {
    const char *name, *text;
} heddle_named_text;
// "" where none has that name.
const char *heddle_text_named(const heddle_named_text *texts, size_t count, const char *name);
// Seconds on a clock that never goes back.
double heddle_now(void);

// The name of a function without its namespaces and types: "_ZN3abc6kernelIfEEvPf" is "kernel".
void heddle_kernel_name(const char *mangled, char *name, size_t size);
