// Markdown of the course: statements, hints and pages as they are shown outside of it.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "learn/course.h"

static const char comment_begin[] = "<!--", comment_end[] = "-->";

// The end of a link [text](address) that begins at `text`, and of its text; NULL: it is none.
static const char *link_end(const char *text, const char **text_end)
{
    *text_end = strchr(text, ']');
    if (text[0] != '[' || !*text_end || (*text_end)[1] != '(' || memchr(text, '\n', (size_t)(*text_end - text)))
        return NULL;
    const char *close = strchr(*text_end, ')');
    return close && !memchr(*text_end, '\n', (size_t)(close - *text_end)) ? close + 1 : NULL;
}

// Whether a link from `folder` of the course leads to a file that learners have, too: NULL: none does.
static bool leads_somewhere(const char *folder, const char *address, size_t length)
{
    char path[HEDDLE_PLACE_SIZE];
    size_t file = strcspn(address, "#)");
    if (!folder || strncmp(address, "../..", strlen("../..")) == 0 || memmem(address, length, "exercises/", 10))
        return folder && file == 0; // a section of the same page
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)file, address);
    return file == 0 || heddle_file_exists(path);
}

static bool is_on_web(const char *address)
{
    return strncmp(address, "http", strlen("http")) == 0;
}

// Whether a link leads out of the course, whose files begin with a digit (chapters) or a capital (GLOSSARY.md).
static bool leaves_course(const char *address)
{
    const char *at = address;
    while (strncmp(at, "../", strlen("../")) == 0)
        at += strlen("../");
    return at > address && islower((unsigned char)*at);
}

// The end of " ([text](address))", a remark that is nothing but a link out of the course; NULL: it is none.
static const char *remark_end(const char *text)
{
    const char *text_end, *end = strncmp(text, " ([", 3) == 0 ? link_end(text + 2, &text_end) : NULL;
    return end && end[0] == ')' && leaves_course(text_end + 2) ? end + 1 : NULL;
}

// A page that is shown with a folder may ask for a picture: what draws it finds the comment.
static bool asks_for_picture(const char *comment, const char *folder)
{
    static const char begin[] = "<!-- picture: ";
    return folder && strncmp(comment, begin, strlen(begin)) == 0;
}

// Comments go, and of links that lead nowhere outside the course only the text stays; a remark that was only such a
// link goes, too. Without a folder there is nothing to click on, so addresses on the web are shown.
static void print_plain(const char *text, const char *folder, FILE *file)
{
    while (*text) {
        const char *text_end, *end;
        if (strncmp(text, comment_begin, strlen(comment_begin)) == 0 && !asks_for_picture(text, folder) &&
            (end = strstr(text, comment_end)) != NULL) {
            text = end + strlen(comment_end);
        } else if ((end = remark_end(text)) != NULL) {
            text = end;
        } else if ((end = link_end(text, &text_end)) != NULL && !is_on_web(text_end + 2) &&
                   !leads_somewhere(folder, text_end + 2, (size_t)(end - text_end - 3))) {
            fprintf(file, "%.*s", (int)(text_end - text - 1), text + 1);
            text = end;
        } else if (!folder && end && is_on_web(text_end + 2)) {
            fprintf(file, "%.*s (%.*s", (int)(text_end - text - 1), text + 1, (int)(end - text_end - 2), text_end + 2);
            text = end;
        } else if (!folder && text[0] == '!' && (end = link_end(text + 1, &text_end)) != NULL) {
            fprintf(file, "(Figure: %.*s)", (int)(text_end - text - 2), text + 2);
            text = end;
        } else {
            fputc(*text++, file);
        }
    }
}

// The caller frees *made.
static heddle_status make_plain(const char *text, const char *folder, char **made, size_t *size)
{
    *made = NULL;
    FILE *file = open_memstream(made, size);
    if (!file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a text of the course");
    print_plain(text, folder, file);
    fclose(file);
    return HEDDLE_OK;
}

static heddle_status plain(const char *text, heddle_arena *arena, const char **made)
{
    char *content = NULL;
    size_t size = 0;
    HEDDLE_TRY(make_plain(text, NULL, &content, &size));
    *made = heddle_arena_copy_text(arena, content);
    free(content);
    return *made ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the text of an exercise");
}

heddle_status heddle_learn_page_text(const heddle_learn_course *course, const char *name, heddle_arena *arena,
                                     const char **text)
{
    enum { LARGEST = 4 << 20 };
    char path[HEDDLE_PLACE_SIZE], *whole;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", course->folder, name);
    HEDDLE_TRY(heddle_file_read(path, LARGEST, &whole, &size));
    heddle_status status = plain(whole, arena, text);
    free(whole);
    return status;
}

heddle_status heddle_learn_page(const heddle_learn_course *course, const char *name, char **text, size_t *size)
{
    enum { LARGEST = 4 << 20 };
    char path[HEDDLE_PLACE_SIZE], *whole, *slash;
    size_t length = strlen(name);
    snprintf(path, sizeof path, "%s/%s", course->folder, name);
    if (length < 3 || strcmp(name + length - 3, ".md") != 0)
        return heddle_file_read(path, LARGEST, text, size);
    HEDDLE_TRY(heddle_file_read(path, LARGEST, &whole, size));
    slash = strrchr(path, '/');
    *slash = '\0';
    heddle_status status = make_plain(whole, path, text, size);
    free(whole);
    return status;
}

heddle_status heddle_learn_statement(const heddle_learn_exercise *exercise, heddle_arena *arena, const char **text)
{
    const char *whole;
    HEDDLE_TRY(heddle_learn_exercise_read(exercise, "README.md", arena, &whole));
    return plain(whole, arena, text);
}

heddle_status heddle_learn_statement_page(const heddle_learn_exercise *exercise, heddle_arena *arena, char **text,
                                          size_t *size)
{
    static const char from_here[] = "](../../"; // from CHAPTER/exercises/NAME/ to CHAPTER/
    const char *whole, *chapter = heddle_learn_format(arena, "%s/../..", exercise->folder);
    HEDDLE_TRY(heddle_learn_exercise_read(exercise, "README.md", arena, &whole));
    char *moved = heddle_arena_copy_text(arena, whole);
    if (!chapter || !moved)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the text of an exercise");
    for (char *at = moved; (at = strstr(at, from_here)) != NULL;) {
        at += strlen("](");
        memmove(at, at + strlen("../../"), strlen(at + strlen("../../")) + 1);
    }
    return make_plain(moved, chapter, text, size);
}

void heddle_learn_section(const heddle_learn_exercise *exercise, char section[HEDDLE_LEARN_SECTION_SIZE])
{
    static const char read[] = "**Read:** [";
    const char *text, *at = NULL;
    heddle_arena *arena = heddle_arena_create();
    if (arena && heddle_learn_exercise_read(exercise, "README.md", arena, &text) == HEDDLE_OK)
        at = strstr(text, read);
    at = at ? at + strlen(read) : "";
    snprintf(section, HEDDLE_LEARN_SECTION_SIZE, "%.*s", (int)strspn(at, "0123456789."), at);
    heddle_arena_destroy(arena);
}

// Where the text of a numbered item begins; NULL: the line does not begin one.
static const char *item_text(const char *line)
{
    const char *at = line;
    while (isdigit((unsigned char)*at))
        at++;
    return at > line && at[0] == '.' && at[1] == ' ' ? at + 2 : NULL;
}

heddle_status heddle_learn_hints(const heddle_learn_exercise *exercise, heddle_arena *arena, const char ***hints,
                                 int *count)
{
    enum { MOST = 16 };
    const char *whole, *text, *line;
    *count = 0;
    *hints = heddle_arena_alloc(arena, MOST * sizeof **hints);
    if (!*hints)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for hints");
    HEDDLE_TRY(heddle_learn_exercise_read(exercise, "hints.md", arena, &whole));
    HEDDLE_TRY(plain(whole, arena, &text));
    for (line = text; *line && *count < MOST;) {
        const char *begin = item_text(line), *end = line + strcspn(line, "\n");
        while (*end && !item_text(end + 1)) // lines up to the next item belong to this one
            end += 1 + strcspn(end + 1, "\n");
        if (begin) {
            const char *last = end;
            while (last > begin && isspace((unsigned char)last[-1]))
                last--;
            (*hints)[(*count)++] = heddle_learn_format(arena, "%.*s", (int)(last - begin), begin);
        }
        line = end + (*end == '\n');
    }
    return HEDDLE_OK;
}
