// Tables for people: columns as wide as they need to be, numbers right-aligned, cut to the terminal where text allows.
#pragma once

#include <stdio.h>

#include "heddle/status.h"

typedef struct heddle_table heddle_table;
typedef enum heddle_align { HEDDLE_LEFT, HEDDLE_RIGHT } heddle_align;

heddle_table *heddle_table_create(void); // NULL when out of memory, which the functions below take
void heddle_table_destroy(heddle_table *table);
void heddle_table_column(heddle_table *table, const char *title, heddle_align align);
// Cells of a row, in column order; a row is complete when every column has its cell.
void heddle_table_cell(heddle_table *table, const char *format, ...) HEDDLE_PRINTF(2, 3);
// UTF-8 aware widths. Returns HEDDLE_OUT_OF_MEMORY if any call above ran out.
heddle_status heddle_table_print(const heddle_table *table, FILE *file);
// Prints the table and destroys it.
heddle_status heddle_table_finish(heddle_table *table, FILE *file);
