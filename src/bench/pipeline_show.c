// The pipeline for a terminal: what the stages take alone, what every way of running them takes, and one timeline drawn
// in characters.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bench/pipeline.h"

enum {
    LABEL_WIDTH = 10,   // "stream 12 "
    DRAWING_WIDTH = 96, // of the timeline, where there is no terminal to ask
    BATCH_COLUMNS = 5,  // per batch: the beginning that fits is drawn
};
static const char stage_letters[] = {'>', '#', '<'};

static void print_head(const heddle_pipeline *pipeline, FILE *file)
{
    char bytes[32];
    const heddle_device_info *info = &pipeline->info;
    int batches = pipeline->options.batches, work = pipeline->options.work;
    fprintf(file, "%d batch%s of %s through copy in, compute and copy out on %s, %s; %d multiply-add%s per element\n",
            batches, batches == 1 ? "" : "es", heddle_text_bytes((double)pipeline->options.bytes, bytes, sizeof bytes),
            heddle_device_kind_name(info->kind), info->name, work, work == 1 ? "" : "s");
    if (!pipeline->timed)
        fprintf(file, "the simulated GPU reports no timings; results are checked\n");
}

// --- stages ---------------------------------------------------------------------------------------------------------

static void add_stage(heddle_table *table, const heddle_pipeline *pipeline, const char *name, double milliseconds,
                      int copies)
{
    const double batches = pipeline->options.batches, bytes = copies * batches * (double)pipeline->options.bytes;
    heddle_table_cell(table, "%s", name);
    heddle_table_cell(table, "%.2f", milliseconds);
    heddle_table_cell(table, "%.1f", 1e3 * milliseconds / batches);
    if (copies > 0)
        heddle_table_cell(table, "%.1f", bytes / (1e6 * milliseconds));
    else
        heddle_table_cell(table, "%s", "");
}

static heddle_status print_stages(const heddle_pipeline *pipeline, FILE *file)
{
    const heddle_pipeline_alone *alone = &pipeline->runs[pipeline->shown].alone;
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "stage, alone", HEDDLE_LEFT);
    heddle_table_column(table, "ms", HEDDLE_RIGHT);
    heddle_table_column(table, "µs per batch", HEDDLE_RIGHT);
    heddle_table_column(table, "GB/s", HEDDLE_RIGHT);
    for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++)
        add_stage(table, pipeline, heddle_pipeline_stage_names[stage], alone->milliseconds[stage],
                  stage == HEDDLE_PIPELINE_COMPUTE ? 0 : 1);
    add_stage(table, pipeline, "both copies at once", alone->both_ways, 2);
    heddle_status status = heddle_table_finish(table, file);
    fprintf(file, "limit: %s, the slowest stage, %.2f ms; one after another %.2f ms\n",
            heddle_pipeline_stage_names[alone->slowest], alone->limit, alone->serial);
    return status;
}

// --- runs -----------------------------------------------------------------------------------------------------------

static void add_note(heddle_table *table, const heddle_pipeline_run *run)
{
    if (run->way.priority && run->others > 0)
        heddle_table_cell(table, "one batch takes %.2f ms on the high-priority stream, %.2f on the others", run->urgent,
                          run->others);
    else if (run->way.little_work)
        heddle_table_cell(table, "limit: %s, %.2f ms; both copies at once %.2f ms",
                          heddle_pipeline_stage_names[run->alone.slowest], run->alone.limit, run->alone.both_ways);
    else
        heddle_table_cell(table, "%s", "");
}

static heddle_status print_runs(const heddle_pipeline *pipeline, FILE *file)
{
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "run", HEDDLE_LEFT);
    heddle_table_column(table, "ms", HEDDLE_RIGHT);
    heddle_table_column(table, "stages at once", HEDDLE_RIGHT);
    heddle_table_column(table, "% of limit", HEDDLE_RIGHT);
    heddle_table_column(table, "", HEDDLE_LEFT);
    for (int i = 0; i < pipeline->count; i++) {
        const heddle_pipeline_run *run = &pipeline->runs[i];
        heddle_table_cell(table, "%s", run->name);
        heddle_table_cell(table, "%.2f", run->milliseconds);
        heddle_table_cell(table, "%.2f", heddle_pipeline_at_once(run));
        heddle_table_cell(table, "%.1f", 100 * heddle_pipeline_of_limit(run));
        add_note(table, run);
    }
    fprintf(file, "\n");
    return heddle_table_finish(table, file);
}

// --- the timeline ---------------------------------------------------------------------------------------------------

static void draw_stream(const heddle_pipeline *pipeline, const heddle_pipeline_run *run, int stream, double column,
                        int columns, char *line)
{
    memset(line, ' ', (size_t)columns);
    line[columns] = '\0';
    for (int b = stream; b < pipeline->options.batches; b += run->way.streams)
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
            const heddle_pipeline_span *span = &run->timeline[b].stages[stage];
            // A GPU may get to another stream before the first: that is before the drawing begins.
            const long begin = span->begin > 0 ? lround(span->begin / column) : 0, end = lround(span->end / column);
            for (long i = begin; i < end && i < columns; i++)
                line[i] = stage_letters[stage];
        }
}

static heddle_status print_timeline(const heddle_pipeline *pipeline, FILE *file)
{
    const heddle_pipeline_run *run = &pipeline->runs[pipeline->shown];
    int width = heddle_terminal_width(file);
    int columns = (width > 3 * LABEL_WIDTH ? width - 1 : DRAWING_WIDTH) - LABEL_WIDTH;
    double column = heddle_pipeline_beginning(pipeline, columns / BATCH_COLUMNS) / columns;
    char *line = malloc((size_t)columns + 1);
    if (!line)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to draw a timeline");
    fprintf(file, "\nthe first %.2f ms, %s (> copy in, # compute, < copy out)\n", column * columns, run->name);
    for (int stream = 0; stream < run->way.streams && stream < pipeline->options.batches; stream++) {
        draw_stream(pipeline, run, stream, column, columns, line);
        fprintf(file, "stream %-*d%s\n", LABEL_WIDTH - (int)strlen("stream "), stream, line);
    }
    free(line);
    return HEDDLE_OK;
}

heddle_status heddle_pipeline_show_text(const heddle_pipeline *pipeline, FILE *file)
{
    print_head(pipeline, file);
    if (!pipeline->timed) {
        for (int i = 0; i < pipeline->count; i++)
            fprintf(file, "correct: %s\n", pipeline->runs[i].name);
        return HEDDLE_OK;
    }
    fprintf(file, "\n");
    HEDDLE_TRY(print_stages(pipeline, file));
    HEDDLE_TRY(print_runs(pipeline, file));
    return print_timeline(pipeline, file);
}
