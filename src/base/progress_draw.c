// Drawing progress: a bar that fills what the terminal leaves, or a plain line.

#include "base/progress_draw.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"

enum {
    PART_SIZE = 128,
    LINE_SIZE = 1024,
    GAP = 2,            // columns between two parts
    NARROWEST_BAR = 10, // columns inside the frame; below this a part of the text gives way
    WIDEST_BAR = 30,    // more shows nothing more
    FRAME = 2,          // columns of the bar's two ends
    EIGHTHS = 8,        // a block character shows eighths of a column
    USUAL_WIDTH = 80,   // when a bar is drawn without a terminal
    BLOCK_BYTES = 3,    // of a block character in UTF-8
};

// The pieces of a line, in the order they stand in.
enum part { PART_LABEL, PART_BAR, PART_PERCENT, PART_COUNT, PART_RATE, PART_TIME, PART_LOSS, PART_ACCURACY, PARTS };

// What gives way first on a narrow terminal.
static const enum part expendable[] = {PART_COUNT, PART_RATE, PART_ACCURACY, PART_TIME, PART_LOSS};
enum { EXPENDABLE = sizeof expendable / sizeof *expendable };

struct line {
    char part[PARTS][PART_SIZE]; // "": not shown
};

static bool has_total(const heddle_progress_view *view)
{
    return view->state->total > 0;
}

static double share_of(const heddle_progress_view *view)
{
    double share = has_total(view) ? view->state->done / view->state->total : 0;
    return fmin(fmax(share, 0), 1);
}

static const char *unit_of(const heddle_progress_view *view)
{
    return view->state->unit ? view->state->unit : "";
}

static void HEDDLE_PRINTF(3, 4) set(struct line *line, enum part part, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->part[part], PART_SIZE, format, arguments);
    va_end(arguments);
}

static void set_time(struct line *line, const heddle_progress_view *view)
{
    char text[PART_SIZE / 2];
    double left = (view->state->total - view->state->done) / view->rate;
    if (view->finished)
        set(line, PART_TIME, "in %s", heddle_text_seconds(view->seconds, text, sizeof text));
    else if (has_total(view) && isfinite(left) && left >= 0)
        // Whole seconds: tenths of an estimate would only flicker.
        set(line, PART_TIME, "%s left", heddle_text_seconds(ceil(left), text, sizeof text));
}

static void describe(const heddle_progress_view *view, struct line *line)
{
    const heddle_progress_state *state = view->state;
    *line = (struct line){0};
    set(line, PART_LABEL, "%s", view->label);
    if (has_total(view)) {
        // Rounded down, so that 100 % means all of it.
        set(line, PART_PERCENT, "%3.0f %%", floor(100 * share_of(view)));
        set(line, PART_COUNT, "%.0f/%.0f %s", state->done, state->total, unit_of(view));
    } else {
        set(line, PART_COUNT, "%.0f %s", state->done, unit_of(view));
    }
    if (isfinite(view->rate))
        set(line, PART_RATE, "%.*f %s/s", view->rate < 10 ? 2 : 0, view->rate, unit_of(view));
    set_time(line, view);
    if (!isnan(state->loss))
        set(line, PART_LOSS, "loss %.4f", state->loss);
    if (!isnan(state->accuracy))
        set(line, PART_ACCURACY, "accuracy %.2f %%", 100 * state->accuracy);
}

// Columns of all parts and the gaps between them.
static int width_of(const struct line *line)
{
    int width = 0;
    for (int i = 0; i < PARTS; i++)
        if (line->part[i][0])
            width += heddle_text_columns(line->part[i]) + (width > 0 ? GAP : 0);
    return width;
}

static void join(const struct line *line, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < PARTS && length < size; i++)
        if (line->part[i][0])
            length += (size_t)snprintf(text + length, size - length, "%*s%s", length > 0 ? GAP : 0, "", line->part[i]);
}

// --- bar ------------------------------------------------------------------------------------------------------------

static void fill_blocks(char *bar, size_t size, int width, double share)
{
    static const char *const blocks[EIGHTHS + 1] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    int eighths = (int)floor(share * width * EIGHTHS);
    size_t length = (size_t)snprintf(bar, size, "▕");
    for (int i = 0; i < width; i++) {
        int here = eighths - i * EIGHTHS;
        here = here < 0 ? 0 : here > EIGHTHS ? EIGHTHS : here;
        length += (size_t)snprintf(bar + length, size - length, "%s", blocks[here]);
    }
    snprintf(bar + length, size - length, "▏");
}

static void fill_ascii(char *bar, size_t size, int width, double share)
{
    int full = (int)floor(share * width);
    size_t length = (size_t)snprintf(bar, size, "[");
    for (int i = 0; i < width; i++)
        bar[length++] = i < full ? '=' : ' ';
    snprintf(bar + length, size - length, "]");
}

_Static_assert((WIDEST_BAR + FRAME) * BLOCK_BYTES < PART_SIZE, "the widest bar has to fit its part");

static void set_bar(struct line *line, const heddle_progress_view *view, int room)
{
    int width = room - width_of(line) - GAP - FRAME;
    if (width < NARROWEST_BAR)
        return;
    if (width > WIDEST_BAR)
        width = WIDEST_BAR;
    if (heddle_terminal_utf8())
        fill_blocks(line->part[PART_BAR], PART_SIZE, width, share_of(view));
    else
        fill_ascii(line->part[PART_BAR], PART_SIZE, width, share_of(view));
}

void heddle_progress_draw_bar(FILE *file, const heddle_progress_view *view)
{
    int room = heddle_terminal_width(file);
    // The last column stays free: a terminal that wraps there would scroll at every redraw.
    room = (room > 0 ? room : USUAL_WIDTH) - 1;
    struct line line;
    describe(view, &line);
    // The bar shows it; the count is for files.
    if (has_total(view))
        line.part[PART_COUNT][0] = '\0';
    int bar = has_total(view) ? NARROWEST_BAR + FRAME + GAP : 0;
    for (int i = 0; i < EXPENDABLE && width_of(&line) + bar > room; i++)
        line.part[expendable[i]][0] = '\0';
    if (has_total(view))
        set_bar(&line, view, room);
    char text[LINE_SIZE];
    join(&line, text, sizeof text);
    // "\033[K" clears what a longer line left behind.
    fprintf(file, "\r%.*s\033[K%s", (int)heddle_text_prefix(text, room), text, view->finished ? "\n" : "");
}

// --- line --------------------------------------------------------------------------------------------------------

void heddle_progress_draw_line(FILE *file, const heddle_progress_view *view)
{
    struct line line;
    describe(view, &line);
    char text[LINE_SIZE];
    join(&line, text, sizeof text);
    fprintf(file, "%s\n", text);
}
