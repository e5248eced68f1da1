// Tables: cells are kept as text, widths found when printing. On a terminal that is too narrow the widest text column
// gives way; numbers never do.

#include "base/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"

enum {
    GAP = 2,             // columns between two cells
    NARROWEST_TEXT = 12, // a text column is not cut below this
    CELL_SIZE = 256,     // formatted without allocation up to here
};

struct column {
    char *title;
    heddle_align align;
};

struct heddle_table {
    struct column *columns;
    size_t column_count, column_room;
    char **cells; // row by row
    size_t cell_count, cell_room;
    bool out_of_memory;
    bool column_too_late;
};

heddle_table *heddle_table_create(void)
{
    return calloc(1, sizeof(heddle_table));
}

void heddle_table_destroy(heddle_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].title);
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->columns);
    free(table->cells);
    free(table);
}

// Makes room for one more of `size` bytes; false when out of memory.
static bool make_room(void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? *room * 2 : 16;
    void *moved = realloc(*array, more * size);
    if (!moved)
        return false;
    *array = moved;
    *room = more;
    return true;
}

void heddle_table_column(heddle_table *table, const char *title, heddle_align align)
{
    if (!table)
        return;
    table->column_too_late |= table->cell_count > 0;
    void *columns = table->columns;
    char *copy = strdup(title);
    if (!copy || !make_room(&columns, table->column_count, &table->column_room, sizeof *table->columns)) {
        free(copy);
        table->out_of_memory = true;
        return;
    }
    table->columns = columns;
    table->columns[table->column_count++] = (struct column){.title = copy, .align = align};
}

static char *format_text(const char *format, va_list arguments)
{
    char text[CELL_SIZE];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(text, sizeof text, format, arguments);
    char *copy = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (copy && length < CELL_SIZE)
        memcpy(copy, text, (size_t)length + 1);
    else if (copy)
        vsnprintf(copy, (size_t)length + 1, format, again);
    va_end(again);
    return copy;
}

void heddle_table_cell(heddle_table *table, const char *format, ...)
{
    if (!table)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *copy = format_text(format, arguments);
    va_end(arguments);
    void *cells = table->cells;
    if (!copy || !make_room(&cells, table->cell_count, &table->cell_room, sizeof *table->cells)) {
        free(copy);
        table->out_of_memory = true;
        return;
    }
    table->cells = cells;
    table->cells[table->cell_count++] = copy;
}

static void find_widths(const heddle_table *table, int *widths)
{
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = heddle_text_columns(table->columns[i].title);
    for (size_t i = 0; i < table->cell_count; i++) {
        int width = heddle_text_columns(table->cells[i]);
        if (width > widths[i % table->column_count])
            widths[i % table->column_count] = width;
    }
}

// Takes columns from the widest text until the rows fit or no text can give more.
static void fit_widths(const heddle_table *table, int *widths, int most)
{
    int total = GAP * ((int)table->column_count - 1);
    for (size_t i = 0; i < table->column_count; i++)
        total += widths[i];
    while (total > most) {
        int *widest = NULL;
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].align == HEDDLE_LEFT && (!widest || widths[i] > *widest))
                widest = &widths[i];
        if (!widest || *widest <= NARROWEST_TEXT)
            return;
        (*widest)--;
        total--;
    }
}

static void print_cell(FILE *file, const char *text, int width, heddle_align align, bool last)
{
    int columns = heddle_text_columns(text);
    int padding = columns < width ? width - columns : 0;
    if (align == HEDDLE_RIGHT)
        fprintf(file, "%*s", padding, "");
    if (columns > width) {
        const char *dots = heddle_terminal_utf8() ? "…" : ".";
        fprintf(file, "%.*s%s", (int)heddle_text_prefix(text, width - 1), text, dots);
    } else {
        fputs(text, file);
    }
    // No blanks at the end of a line.
    if (last)
        fputc('\n', file);
    else
        fprintf(file, "%*s", align == HEDDLE_LEFT ? padding + GAP : GAP, "");
}

static void print_rows(const heddle_table *table, FILE *file, const int *widths)
{
    size_t columns = table->column_count;
    for (size_t i = 0; i < columns; i++)
        print_cell(file, table->columns[i].title, widths[i], table->columns[i].align, i + 1 == columns);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % columns;
        bool last = column + 1 == columns || i + 1 == table->cell_count;
        print_cell(file, table->cells[i], widths[column], table->columns[column].align, last);
    }
}

heddle_status heddle_table_print(const heddle_table *table, FILE *file)
{
    if (!table || table->out_of_memory)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a table");
    if (table->column_too_late || (table->column_count == 0 && table->cell_count > 0))
        return heddle_fail(HEDDLE_INTERNAL, "a table got a cell before all of its columns");
    if (table->column_count == 0)
        return HEDDLE_OK;
    int *widths = calloc(table->column_count, sizeof *widths);
    if (!widths)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a table");
    find_widths(table, widths);
    int most = heddle_terminal_width(file);
    if (most > 0)
        fit_widths(table, widths, most);
    print_rows(table, file, widths);
    free(widths);
    if (ferror(file))
        return heddle_fail(HEDDLE_IO, "cannot write the table");
    return HEDDLE_OK;
}

heddle_status heddle_table_finish(heddle_table *table, FILE *file)
{
    heddle_status status = heddle_table_print(table, file);
    heddle_table_destroy(table);
    return status;
}
