// The pipeline as one HTML file: the stages, every run with its figures, and the beginning of each run's timeline, all
// to one scale.

#include <math.h>
#include <string.h>

#include "base/html.h"
#include "base/text.h"
#include "bench/pipeline.h"
#include "heddle/heddle.h"

enum {
    PLOT_WIDTH = 900,
    LABEL = 60, // of a row
    ROW = 16,   // height of a stream
    SHOWN_BATCHES = 16,
};

static const char *const stage_classes[] = {"in", "compute", "out"};

static void print_machine(const heddle_pipeline *pipeline, FILE *file)
{
    char text[128];
    struct tm when;
    int batches = pipeline->options.batches, work = pipeline->options.work;
    fprintf(file, "<p class=\"aside\">%d batch%s of %s, %d multiply-add%s per element, on ", batches,
            batches == 1 ? "" : "es", heddle_text_bytes((double)pipeline->options.bytes, text, sizeof text), work,
            work == 1 ? "" : "s");
    heddle_html_text(file, pipeline->info.name);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&pipeline->began, &when));
    fprintf(file, "; %s; heddle %s</p>\n", text, heddle_version());
}

static void print_stages(const heddle_pipeline *pipeline, FILE *file)
{
    const heddle_pipeline_alone *alone = &pipeline->runs[pipeline->shown].alone;
    fprintf(file, "<table class=\"measured\">\n<tr><th>stage, alone</th><th>ms</th></tr>\n");
    for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++)
        fprintf(file, "<tr><td>%s</td><td>%.2f</td></tr>\n", heddle_pipeline_stage_names[stage],
                alone->milliseconds[stage]);
    fprintf(file, "<tr><td>both copies at once</td><td>%.2f</td></tr>\n</table>\n", alone->both_ways);
}

static void print_runs(const heddle_pipeline *pipeline, FILE *file)
{
    fprintf(file,
            "<div class=\"scroll\"><table class=\"measured\">\n<tr><th>run</th><th>ms</th><th>low</th><th>high</th>"
            "<th>stages at once</th><th>limit, ms</th><th>%% of limit</th></tr>\n");
    for (int i = 0; i < pipeline->count; i++) {
        const heddle_pipeline_run *run = &pipeline->runs[i];
        fprintf(file, "<tr><td>");
        heddle_html_text(file, run->name);
        fprintf(file, "</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.1f</td></tr>\n",
                run->milliseconds, run->low, run->high, heddle_pipeline_at_once(run), run->alone.limit,
                100 * heddle_pipeline_of_limit(run));
    }
    fprintf(file, "</table></div>\n");
}

static void print_timeline(const heddle_pipeline *pipeline, const heddle_pipeline_run *run, double until, FILE *file)
{
    const int rows = run->way.streams < pipeline->options.batches ? run->way.streams : pipeline->options.batches;
    const double scale = (PLOT_WIDTH - LABEL) / until;
    fprintf(file, "<h2>");
    heddle_html_text(file, run->name);
    fprintf(file, "</h2>\n<svg class=\"timeline\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"timeline\">\n",
            PLOT_WIDTH, rows * ROW);
    for (int stream = 0; stream < rows; stream++)
        fprintf(file, "<text x=\"0\" y=\"%d\">stream %d</text>\n", stream * ROW + ROW - 5, stream);
    for (int b = 0; b < pipeline->options.batches; b++)
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
            const heddle_pipeline_span *span = &run->timeline[b].stages[stage];
            if (span->begin >= until)
                continue;
            fprintf(file,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>batch %d, %s: %.3f to "
                    "%.3f ms</title></rect>\n",
                    stage_classes[stage], LABEL + span->begin * scale, run->timeline[b].stream * ROW + 1,
                    (fmin(span->end, until) - span->begin) * scale, ROW - 2, b, heddle_pipeline_stage_names[stage],
                    span->begin, span->end);
        }
    fprintf(file, "</svg>\n");
}

heddle_status heddle_pipeline_show_page(const heddle_pipeline *pipeline, FILE *file)
{
    heddle_html_begin(file, "heddle pipeline", "");
    print_machine(pipeline, file);
    if (pipeline->timed) {
        const double until = heddle_pipeline_beginning(pipeline, SHOWN_BATCHES);
        print_stages(pipeline, file);
        print_runs(pipeline, file);
        fprintf(file, "<p class=\"key\"><strong>The first %.2f ms of each:</strong>", until);
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++)
            fprintf(file, "<span class=\"%s\"></span>%s", stage_classes[stage], heddle_pipeline_stage_names[stage]);
        fprintf(file, "</p>\n");
        for (int i = 0; i < pipeline->count; i++)
            print_timeline(pipeline, &pipeline->runs[i], until, file);
    } else {
        fprintf(file, "<p>The simulated GPU reports no timings; all %d runs gave correct results.</p>\n",
                pipeline->count);
    }
    return heddle_html_end(file);
}
