// Progress: when to draw, and the rate behind what is drawn. What a bar and a line look like is progress_draw.c's
// business.

#include "base/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress_draw.h"
#include "base/terminal.h"
#include "base/text.h"

static const double redraw_seconds = 0.1;    // at most 10 times a second
static const double line_seconds = 10;       // a plain line this often where the total is not known
static const double line_share = 0.1;        // else one for each tenth
static const double shortest_measure = 1e-3; // seconds below which a rate says nothing

struct heddle_progress {
    FILE *file;
    heddle_progress_mode mode;
    char *label;
    double created;
    double drawn; // when, on the clock; -INFINITY: never
    // Where the rate is measured from: the first state seen, so that a resumed job is not credited with what it
    // skipped.
    bool started;
    double start_done, start_seconds;
    double line_mark; // done / total at which the next plain line is due
};

heddle_progress *heddle_progress_create(FILE *file, heddle_progress_mode mode, const char *label)
{
    heddle_progress *progress = calloc(1, sizeof *progress);
    char *copy = strdup(label ? label : "");
    if (!progress || !copy) {
        free(copy);
        free(progress);
        return NULL;
    }
    if (mode == HEDDLE_PROGRESS_AUTO)
        mode = heddle_terminal_is(file) ? HEDDLE_PROGRESS_BAR : HEDDLE_PROGRESS_LINES;
    *progress =
        (heddle_progress){.file = file, .mode = mode, .label = copy, .created = heddle_now(), .drawn = -INFINITY};
    progress->line_mark = line_share;
    return progress;
}

void heddle_progress_destroy(heddle_progress *progress)
{
    if (!progress)
        return;
    free(progress->label);
    free(progress);
}

static double seconds_of(const heddle_progress *progress, const heddle_progress_state *state)
{
    return state->seconds >= 0 ? state->seconds : heddle_now() - progress->created;
}

static void note_start(heddle_progress *progress, const heddle_progress_state *state)
{
    if (progress->started && state->done >= progress->start_done)
        return;
    progress->started = true;
    progress->start_done = state->done;
    progress->start_seconds = seconds_of(progress, state);
    progress->line_mark = line_share;
    while (state->total > 0 && state->done / state->total >= progress->line_mark + line_share)
        progress->line_mark += line_share;
}

// NAN while there is nothing to measure.
static double rate_of(const heddle_progress *progress, const heddle_progress_state *state)
{
    double seconds = seconds_of(progress, state);
    if (state->done > progress->start_done && seconds - progress->start_seconds > shortest_measure)
        return (state->done - progress->start_done) / (seconds - progress->start_seconds);
    if (state->done > 0 && seconds > shortest_measure)
        return state->done / seconds;
    return NAN;
}

static bool line_is_due(heddle_progress *progress, const heddle_progress_state *state, double now)
{
    if (!(state->total > 0))
        return now - progress->drawn >= line_seconds;
    double share = state->done / state->total;
    if (share < progress->line_mark)
        return false;
    while (share >= progress->line_mark)
        progress->line_mark += line_share;
    return true;
}

static void draw(heddle_progress *progress, const heddle_progress_state *state, bool finished)
{
    heddle_progress_view view = {
        .label = progress->label,
        .state = state,
        .seconds = seconds_of(progress, state),
        .rate = rate_of(progress, state),
        .finished = finished,
    };
    if (progress->mode == HEDDLE_PROGRESS_BAR)
        heddle_progress_draw_bar(progress->file, &view);
    else
        heddle_progress_draw_line(progress->file, &view);
    fflush(progress->file);
}

void heddle_progress_update(heddle_progress *progress, const heddle_progress_state *state)
{
    if (!progress)
        return;
    note_start(progress, state);
    double now = heddle_now();
    bool due = progress->mode == HEDDLE_PROGRESS_LINES ? line_is_due(progress, state, now)
                                                       : now - progress->drawn >= redraw_seconds;
    // The end of the job is drawn by finish.
    if (!due || (state->total > 0 && state->done >= state->total))
        return;
    progress->drawn = now;
    draw(progress, state, false);
}

void heddle_progress_finish(heddle_progress *progress, const heddle_progress_state *state)
{
    if (!progress)
        return;
    note_start(progress, state);
    draw(progress, state, true);
}
