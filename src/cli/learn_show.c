// A statement, a verdict, the list of exercises and the progress bar, as text for a terminal or a pipe.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/learn_style.h"

enum {
    USUAL_WIDTH = 100,
    LEAST_WIDTH = 40,
    MOST_SHOWN = 3,     // reasons; the others mostly go away with these
    MOST_OUTPUT = 20,   // lines of what the program printed
    MOST_COLUMNS = 160, // of a source line
    NUMBER_WIDTH = 5,
    BAR_WIDTH = 40,
};

heddle_cli_learn_style heddle_cli_learn_style_of(FILE *file)
{
    const char *no_colour = getenv("NO_COLOR");
    int width = heddle_terminal_width(file);
    return (heddle_cli_learn_style){
        .file = file,
        .colour = heddle_terminal_is(file) && (no_colour == NULL || no_colour[0] == '\0'),
        .utf8 = heddle_terminal_utf8(),
        .width = width == 0 || width > USUAL_WIDTH ? USUAL_WIDTH
                 : width < LEAST_WIDTH             ? LEAST_WIDTH
                                                   : width,
    };
}

void heddle_cli_learn_print_title(const heddle_cli_learn_style *style, const heddle_learn_exercise *exercise)
{
    set(style, bold);
    fprintf(style->file, "%s %s %s", exercise->number, style->utf8 ? "·" : "-", exercise->title);
    set(style, plain);
    fputc('\n', style->file);
}

// The paragraph that begins with **Goal:**; the whole text where there is none.
static void print_goal(const heddle_cli_learn_style *style, const char *text)
{
    const char *goal = strstr(text, "**Goal:**"), *end = goal ? strstr(goal, "\n\n") : NULL;
    char *paragraph = end ? strndup(goal, (size_t)(end - goal)) : NULL;
    fputc('\n', style->file);
    heddle_cli_learn_print(style, paragraph ? paragraph : goal ? goal : text, 0);
    free(paragraph);
}

heddle_status heddle_cli_learn_print_statement(const heddle_cli_learn_style *style,
                                               const heddle_learn_exercise *exercise, bool only_goal)
{
    const char *text = NULL;
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? heddle_learn_statement(exercise, arena, &text)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a statement");
    if (status == HEDDLE_OK && text) {
        heddle_cli_learn_print_title(style, exercise);
        if (text[0] == '#') { // the title again
            text += strcspn(text, "\n");
            text += text[0] == '\n';
        }
        if (only_goal)
            print_goal(style, text);
        else
            heddle_cli_learn_print(style, text, 0);
    }
    heddle_arena_destroy(arena);
    return status;
}

// --- verdicts --------------------------------------------------------------------------------------------------------

static void print_source(FILE *file, const char *text)
{
    for (int i = 0; i < MOST_COLUMNS && text[i]; i++)
        if (text[i] == '\t')
            fputs("    ", file);
        else
            fputc(text[i], file);
}

static void print_code(const heddle_cli_learn_style *style, const heddle_learn_item *item, bool same_line)
{
    FILE *file = style->file;
    if (item->about[0] || !same_line) {
        fprintf(file, "%*s", INDENT, "");
        set(style, dim);
        fprintf(file, "%s:%d", item->file, item->line);
        set(style, plain);
        fprintf(file, "%s%s\n", item->about[0] ? "  " : "", item->about);
    }
    if (same_line)
        return;
    fprintf(file, "%*s%*d | ", INDENT, "", NUMBER_WIDTH, item->line);
    print_source(file, item->text);
    fputc('\n', file);
    if (item->column <= 0 || item->column + item->width > MOST_COLUMNS)
        return;
    fprintf(file, "%*s%*s | ", INDENT, "", NUMBER_WIDTH, "");
    for (int i = 0; i < item->column - 1 && item->text[i]; i++)
        if (item->text[i] == '\t')
            fputs("    ", file);
        else if (((unsigned char)item->text[i] & 0xc0) != 0x80)
            fputc(' ', file);
    set(style, cyan);
    for (int i = 0; i < item->width; i++)
        fputc(i == 0 ? '^' : '~', file);
    set(style, plain);
    fputc('\n', file);
}

static void print_drawing(const heddle_cli_learn_style *style, const char *text)
{
    fputc('\n', style->file);
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(style->file, "%*s", INDENT, "");
        fwrite(text, 1, length, style->file);
        fputc('\n', style->file);
        text += length + (text[length] == '\n');
    }
}

static void print_reason(const heddle_cli_learn_style *style, const heddle_learn_reason *reason)
{
    const heddle_learn_item *before = NULL;
    set(style, red);
    fprintf(style->file, "%s ", style->utf8 ? "✗" : "x");
    set(style, plain);
    set(style, bold);
    fprintf(style->file, "%s", reason->headline);
    set(style, plain);
    fputc('\n', style->file);
    if (reason->in_case[0])
        fprintf(style->file, "%*sin the case: %s\n", INDENT, "", reason->in_case);
    for (int i = 0; i < reason->item_count; i++) {
        const heddle_learn_item *item = &reason->items[i];
        if (before && before->kind == HEDDLE_LEARN_DRAWING)
            fputc('\n', style->file);
        switch (item->kind) {
        case HEDDLE_LEARN_TEXT: heddle_cli_learn_print(style, item->text, INDENT); break;
        case HEDDLE_LEARN_CODE:
            print_code(style, item,
                       before && before->kind == HEDDLE_LEARN_CODE && before->line == item->line &&
                           before->column == item->column);
            break;
        case HEDDLE_LEARN_DRAWING: print_drawing(style, item->text); break;
        case HEDDLE_LEARN_ADVICE:
            if (!before || before->kind != HEDDLE_LEARN_DRAWING)
                fputc('\n', style->file);
            heddle_cli_learn_print(style, item->text, INDENT);
            break;
        }
        before = item;
    }
    fputc('\n', style->file);
}

static void print_passed(const heddle_cli_learn_style *style, const heddle_learn_verdict *verdict)
{
    char time[32];
    set(style, green);
    fprintf(style->file, "%s Passed", style->utf8 ? "✓" : "*");
    set(style, plain);
    fprintf(style->file, ": every case is right, and nothing was found. (%s)\n",
            heddle_text_seconds(verdict->seconds, time, sizeof time));
    if (verdict->on_hardware)
        fprintf(style->file, "%s Right on hardware too: %s\n", style->utf8 ? "✓" : "*", verdict->gpu);
    for (int i = 0; i < verdict->time_count; i++)
        fprintf(style->file, "%*s%s: %.1f µs\n", INDENT, "", verdict->times[i].name, verdict->times[i].microseconds);
}

// What the learner's own printf says is how many look for a mistake.
static void print_output(const heddle_cli_learn_style *style, const char *output)
{
    int lines = 0;
    if (output[0])
        fputs("Your program printed:\n", style->file);
    for (; *output && lines < MOST_OUTPUT; lines++) {
        size_t length = strcspn(output, "\n");
        fprintf(style->file, "%*s%.*s\n", INDENT, "", (int)(length < MOST_COLUMNS ? length : MOST_COLUMNS), output);
        output += length + (output[length] == '\n');
    }
    if (*output)
        fprintf(style->file, "%*s...\n", INDENT, "");
    if (lines > 0)
        fputc('\n', style->file);
}

void heddle_cli_learn_print_verdict(const heddle_cli_learn_style *style, const heddle_learn_verdict *verdict, bool all)
{
    print_output(style, verdict->output);
    if (verdict->passed) {
        print_passed(style, verdict);
        return;
    }
    int shown = 0;
    for (int i = 0; i < verdict->reason_count && (all || shown < MOST_SHOWN); i++) {
        if (!all && shown > 0 && verdict->reasons[i].rank == HEDDLE_LEARN_RANK_FOLLOWS)
            break;
        print_reason(style, &verdict->reasons[i]);
        shown++;
    }
    int left = verdict->reason_count - shown;
    if (left > 0)
        fprintf(style->file, "%d more finding%s, not shown: fix %s first. (`heddle learn run --all` shows all.)\n\n",
                left, left == 1 ? "" : "s", shown == 1 ? "this one" : "these");
}

// --- the folder ------------------------------------------------------------------------------------------------------

void heddle_cli_learn_print_bar(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace)
{
    int solved = heddle_learn_solved_count(workspace), total = workspace->course->count;
    int full = total > 0 ? solved * BAR_WIDTH / total : 0;
    fputc('[', style->file);
    set(style, green);
    for (int i = 0; i < full; i++)
        fputs(style->utf8 ? "█" : "#", style->file);
    set(style, plain);
    for (int i = full; i < BAR_WIDTH; i++)
        fputs(style->utf8 ? "░" : ".", style->file);
    fprintf(style->file, "] %d of %d solved\n", solved, total);
}

void heddle_cli_learn_print_page(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                 const char *chapter, const heddle_learn_exercise *exercise)
{
    char path[HEDDLE_PLACE_SIZE], section[HEDDLE_LEARN_SECTION_SIZE] = "";
    if (exercise)
        heddle_learn_section(exercise, section);
    if (section[0] == '\0')
        snprintf(section, sizeof section, "%ld", strtol(chapter, NULL, 10));
    if (heddle_learn_shown_page(workspace, chapter, path))
        fprintf(style->file, "Chapter: %s (`%s learn read %s`)\n", path, heddle_cli_name(), section);
}

void heddle_cli_learn_print_earlier(FILE *file, const heddle_learn_course *course, const char *name)
{
    const char *kernels = heddle_learn_course_chapter(course, "first-kernels");
    const char *language = heddle_learn_course_chapter(course, "c");
    if (!kernels || !language)
        return;
    fprintf(file, "Chapters 0 to %ld come before: `%s learn read 0`\n", strtol(kernels, NULL, 10) - 1, name);
    fprintf(file, "Not sure of your C? `%s learn read %ld`\n", name, strtol(language, NULL, 10));
}

void heddle_cli_learn_print_chapter(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                    const char *chapter)
{
    const heddle_learn_exercise *current = heddle_learn_current(workspace);
    set(style, bold);
    fprintf(style->file, "%s\n", chapter);
    set(style, plain);
    for (int i = 0; i < workspace->course->count; i++) {
        const heddle_learn_exercise *one = &workspace->course->exercises[i];
        bool solved = heddle_learn_is_solved(workspace, one);
        if (strcmp(chapter, one->chapter) != 0)
            continue;
        fprintf(style->file, "%s ", one == current ? ">" : " ");
        set(style, solved ? green : plain);
        fputs(!solved ? " " : style->utf8 ? "✓" : "*", style->file);
        set(style, plain);
        fprintf(style->file, " %-6s %s\n", one->number, one->title);
    }
}

// How many exercises a chapter has, and how many of them are solved.
static int count_exercises(const heddle_learn_workspace *workspace, const char *chapter, int *solved)
{
    int count = 0;
    *solved = 0;
    for (int i = 0; i < workspace->course->count; i++) {
        const heddle_learn_exercise *one = &workspace->course->exercises[i];
        bool belongs = strcmp(chapter, one->chapter) == 0;
        count += belongs;
        *solved += belongs && heddle_learn_is_solved(workspace, one);
    }
    return count;
}

void heddle_cli_learn_print_list(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace)
{
    const heddle_learn_course *course = workspace->course;
    for (int i = 0, solved; i < course->chapter_count; i++)
        if (count_exercises(workspace, course->chapters[i], &solved) > 0) {
            heddle_cli_learn_print_chapter(style, workspace, course->chapters[i]);
            fputc('\n', style->file);
        }
    heddle_cli_learn_print_bar(style, workspace);
}

void heddle_cli_learn_print_outline(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                    const char *chapter)
{
    enum { NAME_WIDTH = 28 };
    const heddle_learn_course *course = workspace->course;
    for (int i = 0, solved; i < course->chapter_count; i++) {
        int count = count_exercises(workspace, course->chapters[i], &solved);
        if (strcmp(course->chapters[i], chapter) == 0)
            heddle_cli_learn_print_chapter(style, workspace, chapter);
        else if (count > 0)
            fprintf(style->file, "%-*s %d of %d solved\n", NAME_WIDTH, course->chapters[i], solved, count);
    }
}

// Which hints to print, from 0; `seen` of `count` have been seen.
static void choose_hints(heddle_cli_learn_hints which, int seen, int count, int *first, int *end)
{
    int more = seen < count ? seen + 1 : count;
    *end = which == HEDDLE_CLI_LEARN_ALL_HINTS ? count : which == HEDDLE_CLI_LEARN_SEEN_HINTS && seen > 0 ? seen : more;
    *first = which == HEDDLE_CLI_LEARN_NEXT_HINT && *end > 0 ? *end - 1 : 0;
}

static heddle_status print_hints(const heddle_cli_learn_style *style, heddle_learn_workspace *workspace,
                                 const heddle_learn_exercise *exercise, heddle_cli_learn_hints which,
                                 heddle_arena *arena)
{
    const char **hints;
    int count = 0, seen = heddle_learn_hints_seen(workspace, exercise), first, end;
    HEDDLE_TRY(heddle_learn_hints(exercise, arena, &hints, &count));
    choose_hints(which, seen < count ? seen : count, count, &first, &end);
    for (int i = first; i < end; i++) {
        fprintf(style->file, "Hint %d of %d\n", i + 1, count);
        heddle_cli_learn_print(style, hints[i], INDENT);
        fputc('\n', style->file);
    }
    if (end == count)
        fputs("That was the last hint.\n", style->file);
    else if (which == HEDDLE_CLI_LEARN_NEXT_HINT)
        fputs("`heddle learn hint` again shows the next one.\n", style->file);
    if (first > 0)
        fputs("`heddle learn hint --all` shows all of them.\n", style->file);
    return end > seen ? heddle_learn_set_hints(workspace, exercise, end) : HEDDLE_OK;
}

heddle_status heddle_cli_learn_print_hints(const heddle_cli_learn_style *style, heddle_learn_workspace *workspace,
                                           const heddle_learn_exercise *exercise, heddle_cli_learn_hints which)
{
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? print_hints(style, workspace, exercise, which, arena)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for hints");
    heddle_arena_destroy(arena);
    return status;
}

heddle_status heddle_cli_learn_print_solution(const heddle_cli_learn_style *style,
                                              const heddle_learn_exercise *exercise)
{
    char name[32];
    const char *text = NULL;
    heddle_arena *arena = heddle_arena_create();
    snprintf(name, sizeof name, "solution%s", exercise->ending);
    heddle_status status = arena ? heddle_learn_exercise_read(exercise, name, arena, &text)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a solution");
    if (status == HEDDLE_OK)
        fputs(text, style->file);
    heddle_arena_destroy(arena);
    return status;
}

heddle_status heddle_cli_learn_reset(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace,
                                     const heddle_learn_exercise *exercise)
{
    char backup[HEDDLE_PLACE_SIZE], shown[HEDDLE_PLACE_SIZE];
    HEDDLE_TRY(heddle_learn_reset(workspace, exercise, backup));
    heddle_learn_shown_file(workspace, exercise, shown);
    fprintf(style->file, "%s is the start again.\n", shown);
    if (backup[0])
        fprintf(style->file, "Your text is in %s.\n", backup);
    return HEDDLE_OK;
}
