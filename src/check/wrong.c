// Building the table and drawing it.

#include "check/wrong.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

void heddle_check_wrong_column(heddle_check_wrong *wrong, const char *title)
{
    if (wrong->column_count < HEDDLE_CHECK_MOST_COLUMNS)
        wrong->columns[wrong->column_count++] = title;
}

void heddle_check_wrong_row(heddle_check_wrong *wrong)
{
    if (wrong->row_count < HEDDLE_CHECK_MOST_ROWS)
        wrong->row_count++;
}

void heddle_check_wrong_cell(heddle_check_wrong *wrong, const char *text)
{
    const char **row = wrong->cells[wrong->row_count - 1];
    for (int i = 0; i < wrong->column_count; i++)
        if (!row[i]) {
            row[i] = text ? text : "";
            return;
        }
}

static heddle_align align_of(const heddle_check_wrong *wrong, int column)
{
    for (int r = 0; r < wrong->row_count; r++) {
        const char *cell = wrong->cells[r][column];
        char *end = NULL;
        if (cell && (strtod(cell, &end), end != cell && !*end))
            return HEDDLE_RIGHT;
    }
    return HEDDLE_LEFT;
}

static heddle_status print_table(const heddle_check_wrong *wrong, FILE *file)
{
    heddle_table *table = heddle_table_create();
    for (int c = 0; c < wrong->column_count; c++)
        heddle_table_column(table, wrong->columns[c], align_of(wrong, c));
    for (int r = 0; r < wrong->row_count; r++)
        for (int c = 0; c < wrong->column_count; c++)
            heddle_table_cell(table, "%s", wrong->cells[r][c] ? wrong->cells[r][c] : "");
    return heddle_table_finish(table, file);
}

heddle_status heddle_check_wrong_print(const heddle_check_wrong *wrong, const char *indent, FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a table");
    heddle_status status = print_table(wrong, memory);
    fclose(memory);
    for (const char *line = text; status == HEDDLE_OK && *line;) {
        size_t length = strcspn(line, "\n"), shown = length;
        while (shown > 0 && line[shown - 1] == ' ')
            shown--;
        fprintf(file, "%s%.*s\n", indent, (int)shown, line);
        line += length + (line[length] == '\n');
    }
    free(text);
    return status;
}
