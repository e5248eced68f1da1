// The wrong elements of a result, as a table: `heddle check` and `heddle learn` show them alike.
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "heddle/status.h"

enum { HEDDLE_CHECK_MOST_COLUMNS = 16, HEDDLE_CHECK_MOST_ROWS = 8 };

typedef struct heddle_check_wrong {
    const char *columns[HEDDLE_CHECK_MOST_COLUMNS]; // titles: "element", "expected", "got", ...
    int column_count;
    const char *cells[HEDDLE_CHECK_MOST_ROWS][HEDDLE_CHECK_MOST_COLUMNS];
    int row_count;
    long long wrong, of; // elements
    const char *inputs;  // what the first of them is computed from, where no column says it; "": not known
    const char *pattern; // what they have in common; "": nothing
} heddle_check_wrong;

// A column that has numbers is right-aligned.
void heddle_check_wrong_column(heddle_check_wrong *wrong, const char *title);
// The next cell of the last row, of which heddle_check_wrong_row began one. NULL stands for "".
void heddle_check_wrong_row(heddle_check_wrong *wrong);
void heddle_check_wrong_cell(heddle_check_wrong *wrong, const char *text);
// Each line begins with `indent`.
heddle_status heddle_check_wrong_print(const heddle_check_wrong *wrong, const char *indent, FILE *file);
