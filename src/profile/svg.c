// One step as a picture: a lane per stream, time from left to right, a colour per phase. The colours follow the
// reader's light or dark mode; nothing is loaded from elsewhere.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/html.h"
#include "profile/profile.h"

enum {
    WIDTH = 1000,
    LEFT = 130,
    RIGHT = 20,
    TOP = 76,
    LANE = 56,
    BAR = 38,
    BELOW = 44,
    TICK = 5,
    MOST_TICKS = 10,
    LETTER = 6,      // width of a letter of the legend, about
    LEAST_LABEL = 4, // letters that are worth printing
    TEXT_SIZE = 512,
};

static const double LABEL_LETTER = 6.7; // width of a letter inside a bar
static const double MANY = 2e6;         // nanoseconds from which on they are shown as milliseconds

static const char style[] =
    "<style>\n"
    "svg { background: #ffffff; font: 12px system-ui, 'DejaVu Sans', sans-serif; }\n"
    "text { fill: #1c2128; } .soft { fill: #59636e; } .title { font-size: 15px; font-weight: 600; }\n"
    ".line { stroke: #d1d9e0; } .in { fill: #10151b; font-size: 11px; pointer-events: none; }\n"
    "rect { stroke: #ffffff; stroke-width: 0.4; } rect.lane { fill: #f3f5f7; stroke: none; }\n"
    ".load { fill: #e3b341; } .forward { fill: #6cb6ff; } .backward { fill: #f69d50; } "
    ".update { fill: #8ddb8c; }\n"
    ".fused { fill: #c297ff; } .other { fill: #b6c0ca; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  svg { background: #0d1117; } text { fill: #e6edf3; } .soft { fill: #9198a1; } .line { stroke: #30363d; }\n"
    "  rect { stroke: #0d1117; } rect.lane { fill: #161b22; } .in { fill: #10151b; }\n"
    "}\n"
    "</style>\n";

typedef struct picture {
    const heddle_profile_data *data;
    FILE *file;
    int64_t begin, end;
    int steps;
    int *row; // of each lane; -1: nothing on it
    int rows;
} picture;

static double x_of(const picture *on, int64_t time)
{
    const int64_t inside = time < on->begin ? on->begin : time > on->end ? on->end : time;
    return LEFT + (double)(inside - on->begin) / (double)(on->end - on->begin) * (WIDTH - LEFT - RIGHT);
}

static bool is_drawn(const picture *on, const heddle_profile_span *span)
{
    const bool pause = heddle_profile_is_pause(on->data, span);
    return !pause && span->begin < on->end && span->end > on->begin;
}

static const char *class_of(const picture *on, const heddle_profile_span *span)
{
    return span->call < 0 ? "other" : heddle_phase_names[on->data->calls[span->call].phase];
}

// As many letters of a label as have room; UTF-8 is not cut.
static void print_label(const picture *on, const char *label, double x, double y, double width)
{
    const int room = (int)(width / LABEL_LETTER), length = (int)strlen(label);
    if (room < LEAST_LABEL)
        return;
    char text[TEXT_SIZE];
    int shown = length <= room ? length : room - 1;
    while (shown > 0 && shown < length && (label[shown] & 0xc0) == 0x80)
        shown--;
    snprintf(text, sizeof text, "%.*s%s", shown, label, shown < length ? "…" : "");
    fprintf(on->file, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\">", x + 3, y);
    heddle_html_text(on->file, text);
    fprintf(on->file, "</text>\n");
}

// Layer above operator, and everything in the tip that appears under a pointer.
static void draw_span(const picture *on, const heddle_profile_span *span)
{
    const heddle_profile_data *data = on->data;
    const heddle_profile_call *call = span->call < 0 ? NULL : &data->calls[span->call];
    const double left = x_of(on, span->begin), width = fmax(1.2, x_of(on, span->end) - left);
    const double top = TOP + on->row[span->lane] * LANE + (LANE - BAR) / 2.0;
    char label[TEXT_SIZE];
    fprintf(on->file, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" rx=\"2\"><title>",
            class_of(on, span), left, top, width, BAR);
    heddle_html_text(on->file, heddle_profile_label(data, span, label, sizeof label));
    if (call && call->rung)
        fprintf(on->file, ", %s", call->rung);
    if (span->name >= 0 && call) {
        fprintf(on->file, ", ");
        heddle_html_text(on->file, data->names[span->name]);
    }
    fprintf(on->file, ": %.1f µs</title></rect>\n", 1e-3 * (double)(span->end - span->begin));
    if (call && *call->layer) {
        print_label(on, call->layer, left, top + 15, width - 4);
        print_label(on, call->op, left, top + 30, width - 4);
    } else {
        print_label(on, label, left, top + 23, width - 4);
    }
}

// 1, 2 or 5 times a power of ten: at most MOST_TICKS of them in `length`.
static double tick_of(double length)
{
    const double least = length / MOST_TICKS, power = pow(10, floor(log10(least)));
    const double factors[] = {1, 2, 5, 10};
    int i = 0;
    while (i < 3 && factors[i] * power < least)
        i++;
    return factors[i] * power;
}

static void draw_axis(const picture *on)
{
    const double length = (double)(on->end - on->begin), tick = tick_of(length);
    const double bottom = TOP + on->rows * LANE;
    const char *unit = length > MANY ? "ms" : "µs";
    const double scale = length > MANY ? 1e-6 : 1e-3;
    for (int i = 0; i * tick <= length; i++) {
        const double x = LEFT + i * tick / length * (WIDTH - LEFT - RIGHT);
        fprintf(on->file, "<line class=\"line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>", x, x, TOP,
                bottom + TICK);
        fprintf(on->file, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g%s%s</text>\n", x,
                bottom + 19, i * tick * scale, i == 0 ? " " : "", i == 0 ? unit : "");
    }
}

static void draw_lanes(const picture *on)
{
    for (int i = 0; i < on->data->lane_count; i++) {
        if (on->row[i] < 0)
            continue;
        const double top = TOP + on->row[i] * LANE;
        fprintf(on->file, "<rect class=\"lane\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>", LEFT, top + 4,
                WIDTH - LEFT - RIGHT, LANE - 8);
        fprintf(on->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 10, top + LANE / 2.0 + 4);
        heddle_html_text(on->file, on->data->lanes[i].name);
        fprintf(on->file, "</text>\n");
    }
}

static void draw_legend(const picture *on)
{
    bool seen[HEDDLE_PHASES] = {false}, other = false;
    for (int i = 0; i < on->data->span_count; i++) {
        const heddle_profile_span *span = &on->data->spans[i];
        if (!is_drawn(on, span))
            continue;
        if (span->call >= 0)
            seen[on->data->calls[span->call].phase] = true;
        other = other || span->call < 0;
    }
    int x = LEFT;
    for (int i = 0; i <= HEDDLE_PHASES; i++) {
        const bool shown = i < HEDDLE_PHASES ? seen[heddle_phase_order[i]] : other;
        const char *name = i < HEDDLE_PHASES ? heddle_phase_names[heddle_phase_order[i]] : "other";
        if (!shown)
            continue;
        fprintf(on->file, "<rect class=\"%s\" x=\"%d\" y=\"46\" width=\"14\" height=\"14\" rx=\"2\"/>", name, x);
        fprintf(on->file, "<text x=\"%d\" y=\"57\">%s</text>\n", x + 20, name);
        x += 50 + LETTER * (int)strlen(name);
    }
}

static void draw(const picture *on, const char *title)
{
    const int height = TOP + on->rows * LANE + BELOW;
    fprintf(on->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
            "aria-label=\"one step\">\n%s",
            WIDTH, height, WIDTH, height, style);
    fprintf(on->file, "<text class=\"title\" x=\"20\" y=\"26\">");
    heddle_html_text(on->file, title);
    const double length = (double)(on->end - on->begin);
    const char *unit = length > MANY ? "ms" : "µs";
    const double shown = length > MANY ? 1e-6 * length : 1e-3 * length;
    fprintf(on->file, "</text><text class=\"soft\" x=\"%d\" y=\"26\" text-anchor=\"end\">", WIDTH - RIGHT);
    if (on->steps > 1)
        fprintf(on->file, "%d steps in %.2f %s</text>\n", on->steps, shown, unit);
    else
        fprintf(on->file, "one step, %.2f %s</text>\n", shown, unit);
    draw_legend(on);
    draw_lanes(on);
    draw_axis(on);
    for (int i = 0; i < on->data->span_count; i++)
        if (is_drawn(on, &on->data->spans[i]))
            draw_span(on, &on->data->spans[i]);
    fprintf(on->file, "</svg>\n");
}

static void place_lanes(picture *on)
{
    for (int i = 0; i < on->data->lane_count; i++)
        on->row[i] = -1;
    for (int i = 0; i < on->data->span_count; i++)
        if (is_drawn(on, &on->data->spans[i]))
            on->row[on->data->spans[i].lane] = 0;
    static const heddle_lane_kind order[] = {HEDDLE_LANE_HOST, HEDDLE_LANE_STREAM, HEDDLE_LANE_COPIES};
    for (size_t kind = 0; kind < sizeof order / sizeof *order; kind++)
        for (int i = 0; i < on->data->lane_count; i++)
            if (on->row[i] == 0 && on->data->lanes[i].kind == order[kind])
                on->row[i] = on->rows++ + 1; // 1 and on: 0 is of those that have no place yet
    for (int i = 0; i < on->data->lane_count; i++)
        on->row[i] -= on->row[i] > 0;
}

heddle_status heddle_profile_write_svg(const heddle_profile_data *data, const char *title, const char *path)
{
    picture on = {.data = data};
    char *text = NULL;
    size_t size = 0;
    if (!heddle_profile_typical(data, &on.begin, &on.end, &on.steps) || on.end <= on.begin)
        return heddle_fail(HEDDLE_INVALID, "cannot write %s: no step was seen", path);
    on.row = calloc((size_t)data->lane_count + 1, sizeof *on.row);
    on.file = open_memstream(&text, &size);
    if (!on.row || !on.file) {
        free(on.row);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path);
    }
    place_lanes(&on);
    draw(&on, title);
    const bool failed = fclose(on.file) != 0;
    free(on.row);
    const heddle_slice all = {text, size};
    heddle_status status =
        failed ? heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path) : heddle_file_write_atomic(path, &all, 1);
    free(text);
    return status;
}
