// `heddle learn read`: a chapter's page or the glossary in the terminal, wrapped, a screen at a time.

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/place.h"
#include "base/terminal.h"
#include "cli/learn.h"

// Digits of the chapter in the number of a section, such as 5.11; 0: it is none. 05.11 is an exercise.
static size_t section_chapter(const char *word)
{
    static const char digits[] = "0123456789";
    size_t chapter = strspn(word, digits);
    if (chapter == 0 || (word[0] == '0' && chapter > 1) || word[chapter] != '.' ||
        !isdigit((unsigned char)word[chapter + 1]))
        return 0;
    return word[chapter + 1 + strspn(word + chapter + 1, digits)] == '\0' ? chapter : 0;
}

// The chapter that a word names, itself or by one of its sections or exercises; without a word, that of the current
// exercise.
static heddle_status find_chapter(const heddle_learn_course *course, const char *word, const char **chapter)
{
    const heddle_learn_exercise *exercise = NULL;
    if (word) {
        char number[16];
        size_t digits = section_chapter(word);
        snprintf(number, sizeof number, "%.*s", (int)digits, word);
        *chapter = heddle_learn_course_chapter(course, digits > 0 ? number : word);
        if (*chapter)
            return HEDDLE_OK;
        if (heddle_learn_course_find(course, word, &exercise) != HEDDLE_OK)
            return heddle_fail(HEDDLE_NOT_FOUND,
                               "no chapter '%s'; give its number, such as 5, that of a section, such as 5.11, or "
                               "'glossary'",
                               word);
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

static heddle_status find_page(const heddle_learn_course *course, const char *word, char page[HEDDLE_PLACE_SIZE])
{
    const char *chapter;
    if (word && strcasecmp(word, "glossary") == 0) {
        snprintf(page, HEDDLE_PLACE_SIZE, "GLOSSARY.md");
        return HEDDLE_OK;
    }
    HEDDLE_TRY(find_chapter(course, word, &chapter));
    snprintf(page, HEDDLE_PLACE_SIZE, "%s/README.md", chapter);
    return HEDDLE_OK;
}

// Moves *text to the heading of a section, if the word names one.
static heddle_status skip_to_section(const char *word, const char **text)
{
    char heading[64];
    size_t digits = word ? section_chapter(word) : 0;
    if (digits == 0)
        return HEDDLE_OK;
    snprintf(heading, sizeof heading, "\n## %s ", word);
    const char *found = strstr(*text, heading);
    if (!found)
        return heddle_fail(HEDDLE_NOT_FOUND, "no section %s; '%s learn read %.*s' shows the whole chapter", word,
                           heddle_cli_name(), (int)digits, word);
    *text = found + 1;
    return HEDDLE_OK;
}

enum { NOT_EXECUTABLE = 126 }; // and 127: a shell's exit codes

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

static void print_page(const char *text)
{
    heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
    signal(SIGPIPE, SIG_IGN); // leaving the pager before the end is not an error
    FILE *pager = open_pager();
    style.file = pager ? pager : stdout;
    if (pager)
        signal(SIGINT, SIG_IGN); // it is the pager's
    heddle_cli_learn_print(&style, text, 0);
    const int status = pager ? pclose(pager) : 0;
    signal(SIGINT, SIG_DFL);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= NOT_EXECUTABLE) { // the shell could not run it
        style.file = stdout;
        heddle_cli_learn_print(&style, text, 0);
    }
}

static heddle_status read_page(const heddle_learn_course *course, const char *word)
{
    char page[HEDDLE_PLACE_SIZE];
    const char *text = NULL;
    HEDDLE_TRY(find_page(course, word, page));
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? heddle_learn_page_text(course, page, arena, &text)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a page");
    if (status == HEDDLE_OK && text)
        status = skip_to_section(word, &text);
    if (status == HEDDLE_OK && text)
        print_page(text);
    heddle_arena_destroy(arena);
    return status;
}

static int run_command(int argc, char **argv)
{
    heddle_cli_arguments arguments;
    heddle_learn_course *course = NULL;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_learn_read, argc, argv, NULL, &arguments, &exit_code))
        return exit_code;
    heddle_status status = heddle_learn_course_open(NULL, &course);
    if (status == HEDDLE_OK)
        status = read_page(course, arguments.count > 0 ? arguments.items[0] : NULL);
    heddle_learn_course_close(course);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}

const heddle_cli_command heddle_command_learn_read = {
    .name = "learn read",
    .summary = "read a chapter of the course in the terminal",
    .arguments = "[CHAPTER]",
    .most_arguments = 1,
    .description =
        "CHAPTER is a number (5), a name (first-kernels), a section to begin with (5.11) or glossary; default: the "
        "chapter of the current exercise. On a "
        "terminal the page is shown by $PAGER, default: less. Figures are not shown: they lie beside the page "
        "in your course folder, and a browser or an editor's preview of the page shows them.",
    .example = "heddle learn read\nheddle learn read 5.11\nheddle learn read glossary",
    .run = run_command,
};
