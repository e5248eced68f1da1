// Inside of extension_arguments.h: the line while it is read, token by token, and the numbers in it.
#pragma once

#include "check/extension_arguments.h"
#include "sim/source/scope.h"

// A number that knows whether it is whole.
typedef struct heddle_line_number {
    bool is_whole;
    long long whole;
    double value;
} heddle_line_number;

// Where the pieces of an entry stand: tokens, [first, last).
typedef struct heddle_line_pieces {
    int size_first, size_last;   // between the brackets
    int value_first, value_last; // behind =
    bool has_size, has_value, visiting, computed;
} heddle_line_pieces;

typedef struct heddle_line {
    const char *option; // "--args"
    sim_source source;
    heddle_check_arguments *arguments;
    heddle_line_pieces *pieces; // NULL: the line was read before, and this is another
    uint64_t seed;
    int at, last; // tokens
    int depth;
} heddle_line;

static inline heddle_line_number heddle_line_whole(long long value)
{
    return (heddle_line_number){true, value, (double)value};
}

// Tokens are numbered from 0; those from `last` on are not there.
heddle_status heddle_line_open(heddle_line *in, const char *option, const char *line,
                               heddle_check_arguments *arguments);
bool heddle_line_is(const heddle_line *in, int token, const char *text);
// "'flaot'", or "the end"; returns `text`.
const char *heddle_line_word(const heddle_line *in, int token, char *text, size_t size);
int heddle_line_column(const heddle_line *in, int token);
// HEDDLE_INVALID with the column of the token.
heddle_status heddle_line_wrong(const heddle_line *in, int token, const char *format, ...) HEDDLE_PRINTF(3, 4);
// The argument of that name; -1: none.
int heddle_line_entry(const heddle_line *in, int token);
// These read from in->at on and leave it behind what they read.
heddle_status heddle_line_expression(heddle_line *in, heddle_line_number *value);
heddle_status heddle_line_type(heddle_line *in, heddle_npy_type *type);

// extension_arguments.c: settles an entry that an expression names.
heddle_status heddle_line_compute(heddle_line *in, int entry);
