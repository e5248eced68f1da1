// Columns of places in the user's source. The report has lines; columns and the names of inlined functions are in the
// program's debug information, and are those of the rewritten text, from which the rewriter leads back.
#pragma once

#include "check/report.h"

typedef struct heddle_check_columns heddle_check_columns;

// Of a program that was built of these files with these folders of headers (lists end with NULL; a NULL list is an
// empty one). NULL: out of memory.
heddle_check_columns *heddle_check_columns_open(const char *program, const char *const *files,
                                                const char *const *include);
void heddle_check_columns_close(heddle_check_columns *columns); // NULL is fine

// Sets the columns of all frames of the report that are known, and names of functions that the report lacks.
void heddle_check_columns_settle(const heddle_check_columns *columns, heddle_check_report *report);
