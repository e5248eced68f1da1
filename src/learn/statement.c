// The Markdown of an exercise: its statement as it is shown outside the course, and its hints one by one.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Comments go, and of links within the course only the text stays.
static void print_plain(const char *text, FILE *file)
{
    while (*text) {
        const char *text_end, *end;
        if (strncmp(text, comment_begin, strlen(comment_begin)) == 0 && (end = strstr(text, comment_end)) != NULL) {
            text = end + strlen(comment_end);
        } else if ((end = link_end(text, &text_end)) != NULL && strncmp(text_end + 2, "http", strlen("http")) != 0) {
            fwrite(text + 1, 1, (size_t)(text_end - text - 1), file);
            text = end;
        } else {
            fputc(*text++, file);
        }
    }
}

static heddle_status plain(const char *text, heddle_arena *arena, const char **made)
{
    char *content = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&content, &size);
    *made = NULL;
    if (file) {
        print_plain(text, file);
        fclose(file);
        *made = heddle_arena_copy_text(arena, content);
        free(content);
    }
    return *made ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the text of an exercise");
}

heddle_status heddle_learn_statement(const heddle_learn_exercise *exercise, heddle_arena *arena, const char **text)
{
    const char *whole;
    HEDDLE_TRY(heddle_learn_exercise_read(exercise, "README.md", arena, &whole));
    return plain(whole, arena, text);
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
