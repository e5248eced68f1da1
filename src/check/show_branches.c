// The branches where lanes of one warp went different ways, the most frequent first.

#include <stdlib.h>

#include "base/table.h"
#include "check/describe.h"
#include "check/show.h"

enum { MOST_ROWS = 20 }; // JSON and the page have all

typedef struct branch_row {
    const char *kernel;
    const heddle_check_branch *branch;
} branch_row;

static int compare_rows(const void *left, const void *right)
{
    const heddle_check_branch *a = ((const branch_row *)left)->branch, *b = ((const branch_row *)right)->branch;
    if (a->divergent != b->divergent)
        return a->divergent > b->divergent ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static heddle_status show_rows(const branch_row *rows, int count, FILE *file)
{
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "kernel", HEDDLE_LEFT);
    heddle_table_column(table, "branch", HEDDLE_LEFT);
    heddle_table_column(table, "executions", HEDDLE_RIGHT);
    heddle_table_column(table, "divergent", HEDDLE_RIGHT);
    for (int i = 0; i < count && i < MOST_ROWS; i++) {
        const heddle_check_branch *branch = rows[i].branch;
        char text[32];
        heddle_table_cell(table, "%s", rows[i].kernel);
        heddle_table_cell(table, "%s:%d", heddle_check_file_name(branch->file), branch->line);
        heddle_table_cell(table, "%s", heddle_check_count_text(branch->executions, text, sizeof text));
        heddle_table_cell(table, "%s", heddle_check_count_text(branch->divergent, text, sizeof text));
    }
    HEDDLE_TRY(heddle_table_finish(table, file));
    if (count > MOST_ROWS)
        fprintf(file, "and %d more branches; --json and --html show all\n", count - MOST_ROWS);
    return HEDDLE_OK;
}

heddle_status heddle_check_show_branches(const heddle_check_result *result, FILE *file)
{
    const heddle_check_report *run = result->branches;
    int all = 0, divergent = 0;
    if (!run)
        return HEDDLE_OK;
    for (int k = 0; k < run->kernel_count; k++)
        all += run->kernels[k].branch_count;
    branch_row *rows = calloc((size_t)all + 1, sizeof *rows);
    if (!rows)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the counters");
    for (int k = 0; k < run->kernel_count; k++)
        for (int i = 0; i < run->kernels[k].branch_count; i++)
            if (run->kernels[k].branches[i].divergent > 0)
                rows[divergent++] = (branch_row){run->kernels[k].name, &run->kernels[k].branches[i]};
    qsort(rows, (size_t)divergent, sizeof *rows, compare_rows);
    heddle_status status = HEDDLE_OK;
    if (divergent > 0)
        status = show_rows(rows, divergent, file);
    else
        fprintf(file, "no divergent branches (%d line%s with branches)\n", all, all == 1 ? "" : "s");
    fputc('\n', file);
    free(rows);
    return status;
}
