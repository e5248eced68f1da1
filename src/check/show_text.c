// A result as text for a terminal or a log: the findings with their source lines, then notes and the verdict. Counters
// are show_counters.c's.

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/describe.h"
#include "check/show.h"
#include "check/wrong.h"

enum {
    LINES_AROUND = 1,
    NUMBER_WIDTH = 5,   // of a line number
    MOST_COLUMNS = 400, // of a source line; the rest is generated code
    ROLE_WIDTH = 9,     // "allocated"
    MOST_MESSAGES = 40, // lines of the compiler's
};

typedef struct palette {
    const char *error, *warning, *bold, *dim, *good, *mark, *off;
} palette;

static const palette no_colours = {"", "", "", "", "", "", ""};
static const palette terminal_colours = {"\033[1;31m", "\033[1;33m", "\033[1m", "\033[2m",
                                         "\033[1;32m", "\033[1;36m", "\033[0m"};

static const palette *choose_colours(const heddle_check_style *style)
{
    return style->colour ? &terminal_colours : &no_colours;
}

// --- source ----------------------------------------------------------------------------------------------------------

// A control character of the second set, U+0080 to U+009F, which some terminals obey, or one that turns the direction
// of writing: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. Returns its bytes in UTF-8; 0: it is neither.
static int count_control(const unsigned char *c)
{
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
        return 2;
    bool turns = c[0] == 0xe2 && ((c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae))) ||
                                  (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
    return turns ? 3 : 0;
}

// Source text may hold anything; only what moves the cursor forward is shown.
static void print_source(FILE *file, const char *text)
{
    for (int column = 0; column < MOST_COLUMNS && text[column]; column++) {
        unsigned char c = (unsigned char)text[column];
        int control = count_control((const unsigned char *)text + column);
        if (c == '\t')
            fputs("    ", file);
        else
            fputc(c < ' ' || c == 0x7f || control ? '?' : c, file);
        column += control ? control - 1 : 0;
    }
    fputc('\n', file);
}

// Under the access, barrier or call that is meant; nothing where that is not known.
static void print_caret(FILE *file, const char *text, const heddle_check_place *place, const palette *colours)
{
    if (place->column == 0)
        return;
    size_t start = (size_t)place->column - 1, end = start + (size_t)place->width;
    fprintf(file, "  %s%*s |%s ", colours->dim, NUMBER_WIDTH, "", colours->off);
    for (size_t i = 0; i < start && i < MOST_COLUMNS; i++)
        if (text[i] == '\t')
            fputs("    ", file);
        else if (((unsigned char)text[i] & 0xc0) != 0x80)
            fputc(' ', file);
    fputs(colours->mark, file);
    for (size_t i = start; i < end && i < MOST_COLUMNS; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            fputc(i == start ? '^' : '~', file);
    fprintf(file, "%s\n", colours->off);
}

static void print_lines(const heddle_check_result *result, const heddle_check_place *place, int around,
                        const palette *colours, FILE *file)
{
    const heddle_check_frame *frame = &place->frame[0];
    for (int line = frame->line - around; line <= frame->line + around; line++) {
        const char *text = heddle_check_sources_line(result->sources, frame->file, line);
        if (!text)
            continue;
        bool here = line == frame->line;
        fprintf(file, "  %s%*d |%s ", colours->dim, NUMBER_WIDTH, line, here ? colours->off : "");
        print_source(file, text);
        if (here)
            print_caret(file, text, place, colours);
        else
            fputs(colours->off, file);
    }
}

// --- findings --------------------------------------------------------------------------------------------------------

static bool same_line(const heddle_check_place *a, const heddle_check_place *b)
{
    return a->frames && b->frames && a->frame[0].line == b->frame[0].line &&
           strcmp(a->frame[0].file, b->frame[0].file) == 0;
}

// `before`: the place that was shown last; of its line only what is meant is shown again, if it is another part.
static void print_place(const heddle_check_result *result, const heddle_check_place *place,
                        const heddle_check_place *before, const palette *colours, FILE *file)
{
    char where[HEDDLE_CHECK_SENTENCE], thread[128];
    if (place->frames == 0) {
        heddle_check_thread_text(place, thread, sizeof thread);
        fprintf(file, "  %-*s %s\n", ROLE_WIDTH, place->role, thread[0] ? thread : "place not known");
        return;
    }
    fprintf(file, "  %-*s %s%s%s", ROLE_WIDTH, place->role, colours->bold,
            heddle_check_frame_text(&place->frame[0], where, sizeof where), colours->off);
    if (heddle_check_thread_text(place, thread, sizeof thread)[0])
        fprintf(file, "  %s", thread);
    fputc('\n', file);
    bool repeated = before && same_line(before, place);
    if (!repeated || (place->column > 0 && place->column != before->column))
        print_lines(result, place, repeated ? 0 : LINES_AROUND, colours, file);
    if (repeated)
        return;
    for (int i = 1; i < place->frames; i++)
        fprintf(file, "  %scalled from %s in %s%s\n", colours->dim,
                heddle_check_frame_text(&place->frame[i], where, sizeof where), place->frame[i].function, colours->off);
}

static void print_times(const heddle_check_result *result, const heddle_check_finding *finding, const palette *colours,
                        FILE *file)
{
    char count[32], schedules[96];
    heddle_check_schedules_text(result, finding, schedules, sizeof schedules);
    if (finding->count <= 1 && schedules[0] == '\0')
        return;
    fprintf(file, "  %sseen %s time%s%s%s%s\n", colours->dim,
            heddle_check_count_text((double)finding->count, count, sizeof count), finding->count == 1 ? "" : "s",
            schedules[0] ? ", " : "", schedules, colours->off);
}

static void print_wrong(const heddle_check_wrong *wrong, FILE *file)
{
    heddle_check_wrong_print(wrong, "  ", file);
    if (wrong->inputs[0])
        fprintf(file, "  %-*s %s\n", ROLE_WIDTH, "inputs", wrong->inputs);
    if (wrong->pattern[0])
        fprintf(file, "  %-*s %s\n", ROLE_WIDTH, "pattern", wrong->pattern);
}

static void print_finding(const heddle_check_result *result, const heddle_check_finding *finding,
                          const palette *colours, FILE *file)
{
    char text[HEDDLE_CHECK_SENTENCE];
    const char *tier = finding->tier == HEDDLE_CHECK_ERROR ? colours->error : colours->warning;
    fprintf(file, "%s%s:%s %s%s%s\n", tier, heddle_check_tier_name(finding->tier), colours->off, colours->bold,
            heddle_check_headline(finding, text, sizeof text), colours->off);
    if (finding->message[0])
        fprintf(file, "  %s\n", finding->message);
    if (finding->wrong)
        print_wrong(finding->wrong, file);
    if (finding->program)
        fprintf(file, "  %-*s %s\n", ROLE_WIDTH, "program", finding->program);
    for (int i = 0; i < finding->place_count; i++)
        print_place(result, &finding->places[i], i > 0 ? &finding->places[i - 1] : NULL, colours, file);
    if (heddle_check_memory_sentence(finding, text, sizeof text)[0])
        fprintf(file, "  memory    %s\n", text);
    if (finding->note[0]) // of what the simulator lacks, it says what would do
        fprintf(file, "  %s   %s\n", finding->kind == HEDDLE_CHECK_UNSUPPORTED ? "instead" : "because", finding->note);
    if (finding->cause[0])
        fprintf(file, "  cause     %s\n", finding->cause);
    if (finding->cure[0])
        fprintf(file, "  %sfix%s       %s\n", colours->good, colours->off, finding->cure);
    print_times(result, finding, colours, file);
    fputc('\n', file);
}

// --- all of it -------------------------------------------------------------------------------------------------------

static void print_messages(const char *messages, FILE *file)
{
    for (int lines = 0; *messages && lines < MOST_MESSAGES; lines++) {
        size_t length = strcspn(messages, "\n");
        fprintf(file, "%.*s\n", (int)length, messages);
        messages += length + (messages[length] == '\n');
    }
    if (*messages)
        fprintf(file, "...\n");
}

// Each kind that was found, once, in the order of the findings.
static void print_pages(const heddle_check_result *result, const char *command, FILE *file)
{
    bool named[HEDDLE_CHECK_KINDS] = {false};
    int count = 0;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_kind kind = result->findings[i]->kind;
        if (named[kind] || kind == HEDDLE_CHECK_OTHER)
            continue;
        named[kind] = true;
        fprintf(file, "%s`%s explain %s`", count++ ? ", " : "", command, heddle_check_kinds[kind].name);
    }
    if (count > 0)
        fprintf(file, " say%s more\n", count == 1 ? "s" : "");
}

heddle_status heddle_check_show_text(const heddle_check_result *result, const heddle_check_style *style, FILE *file)
{
    const palette *colours = choose_colours(style);
    char text[HEDDLE_CHECK_SENTENCE];
    if (result->messages && !result->built) {
        print_messages(result->messages, file);
        fputc('\n', file);
    }
    for (int i = 0; i < result->finding_count; i++)
        if (!result->messages || result->findings[i]->kind != HEDDLE_CHECK_NOT_BUILT) // else said above
            print_finding(result, result->findings[i], colours, file);
    if (style->counters) {
        HEDDLE_TRY(heddle_check_show_counters(result, style, file));
        HEDDLE_TRY(heddle_check_show_branches(result, file));
    }
    for (int i = 0; i < result->note_count; i++)
        fprintf(file, "%snote:%s %s\n", colours->mark, colours->off, result->notes[i]);
    if (style->command)
        print_pages(result, style->command, file);
    bool failed = heddle_check_failed(result);
    const char *colour = failed ? colours->error : result->warnings ? colours->warning : colours->good;
    fprintf(file, "%s%s%s\n", colour, heddle_check_verdict(result, text, sizeof text), colours->off);
    if (ferror(file))
        return heddle_fail(HEDDLE_IO, "cannot write the findings");
    return HEDDLE_OK;
}
