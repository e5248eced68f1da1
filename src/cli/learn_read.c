// `heddle learn read`: a chapter's page in the terminal, wrapped, a screen at a time.

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "base/terminal.h"
#include "cli/learn.h"

// The chapter that a word names, itself or by one of its exercises; without a word, that of the current exercise.
static heddle_status find_chapter(const heddle_learn_course *course, const char *word, const char **chapter)
{
    const heddle_learn_exercise *exercise = NULL;
    *chapter = word ? heddle_learn_course_chapter(course, word) : NULL;
    if (*chapter)
        return HEDDLE_OK;
    if (word) {
        if (heddle_learn_course_find(course, word, &exercise) != HEDDLE_OK)
            return heddle_fail(HEDDLE_NOT_FOUND, "no chapter '%s'; give its number, such as 5", word);
        *chapter = exercise->chapter;
        return HEDDLE_OK;
    }
    heddle_learn_workspace workspace;
    HEDDLE_TRY(heddle_learn_workspace_open(course, &workspace));
    exercise = heddle_learn_current(&workspace);
    *chapter = exercise ? exercise->chapter : course->chapters[0];
    heddle_learn_workspace_close(&workspace);
    return HEDDLE_OK;
}

// $PAGER, else less. NULL: the page goes straight to the terminal, or to where the output was sent.
static FILE *open_pager(void)
{
    const char *pager = getenv("PAGER");
    char less[HEDDLE_PLACE_SIZE];
    if (!heddle_terminal_is(stdout))
        return NULL;
    if (!pager || pager[0] == '\0')
        pager = heddle_find_program("less", "/usr/bin", less) ? "less -R" : NULL;
    fflush(stdout);
    return pager ? popen(pager, "w") : NULL; // NOLINT(cert-env33-c): it is the person's own choice of a command
}

static heddle_status print_chapter(const heddle_learn_course *course, const char *chapter)
{
    const char *text = NULL;
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? heddle_learn_chapter_text(course, chapter, arena, &text)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a chapter");
    if (status == HEDDLE_OK) {
        heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
        signal(SIGPIPE, SIG_IGN); // leaving the pager before the end is not an error
        FILE *pager = open_pager();
        style.file = pager ? pager : stdout;
        heddle_cli_learn_print(&style, text, 0);
        if (pager)
            pclose(pager);
    }
    heddle_arena_destroy(arena);
    return status;
}

static int run_command(int argc, char **argv)
{
    heddle_cli_arguments arguments;
    heddle_learn_course *course = NULL;
    const char *chapter = NULL;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_learn_read, argc, argv, NULL, &arguments, &exit_code))
        return exit_code;
    heddle_status status = heddle_learn_course_open(NULL, &course);
    if (status == HEDDLE_OK)
        status = find_chapter(course, arguments.count > 0 ? arguments.items[0] : NULL, &chapter);
    if (status == HEDDLE_OK)
        status = print_chapter(course, chapter);
    heddle_learn_course_close(course);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}

const heddle_cli_command heddle_command_learn_read = {
    .name = "learn read",
    .summary = "read a chapter of the course in the terminal",
    .arguments = "[CHAPTER]",
    .most_arguments = 1,
    .description =
        "CHAPTER is a number (05) or a name (first-kernels); default: that of the current exercise. On a "
        "terminal the page is shown by $PAGER, default: less. Figures are not shown: they lie beside the page "
        "in your course folder, and a browser or an editor's preview of the page shows them.",
    .example = "heddle learn read\nheddle learn read 5",
    .run = run_command,
};
