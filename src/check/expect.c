// Compares two texts line by line and tells the first differences.

#include "check/expect.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "check/wrong.h"

enum { LARGEST = 64 << 20, MOST_SHOWN = 100, MOST_LINES = 5 }; // bytes of a file; of a line in a message; in a table

typedef struct text_line {
    const char *start;
    int length; // without blanks at its end
} text_line;

// The next line, of which *at moves to the end; false: only empty ones are left.
static bool next_line(const char **at, text_line *line)
{
    static const char blanks[] = " \t\r";
    if ((*at)[strspn(*at, " \t\r\n")] == '\0')
        return false;
    size_t length = strcspn(*at, "\n");
    line->start = *at;
    *at += length + ((*at)[length] == '\n');
    while (length > 0 && strchr(blanks, line->start[length - 1]))
        length--;
    line->length = (int)length;
    return true;
}

static bool is_same(const text_line *one, const text_line *other)
{
    return one->length == other->length && memcmp(one->start, other->start, (size_t)one->length) == 0;
}

static int shown(const text_line *line)
{
    return line->length < MOST_SHOWN ? line->length : MOST_SHOWN;
}

heddle_status heddle_check_expect_read(const char *path, char **text)
{
    size_t size = 0;
    if (heddle_file_read(path, LARGEST, text, &size) != HEDDLE_OK)
        return heddle_fail(HEDDLE_INVALID, "--expect: %s", heddle_last_error());
    return HEDDLE_OK;
}

static const char *copy(heddle_check_result *result, const text_line *line)
{
    char text[MOST_SHOWN + 1];
    snprintf(text, sizeof text, "%.*s", shown(line), line->start);
    return heddle_arena_copy_text(result->arena, text);
}

// The first lines that differ, where both texts have one, and how many do.
static heddle_check_wrong *make_table(const char *expected, const char *printed, heddle_check_result *result)
{
    heddle_check_wrong *table = heddle_arena_alloc(result->arena, sizeof *table);
    text_line want, got;
    if (!table)
        return NULL;
    table->inputs = table->pattern = "";
    heddle_check_wrong_column(table, "line");
    heddle_check_wrong_column(table, "expected");
    heddle_check_wrong_column(table, "got");
    while (next_line(&expected, &want) && next_line(&printed, &got)) {
        char line[32];
        table->of++;
        if (is_same(&want, &got) || table->wrong++ >= MOST_LINES)
            continue;
        snprintf(line, sizeof line, "%lld", table->of);
        heddle_check_wrong_row(table);
        heddle_check_wrong_cell(table, heddle_arena_copy_text(result->arena, line));
        heddle_check_wrong_cell(table, copy(result, &want));
        heddle_check_wrong_cell(table, copy(result, &got));
    }
    return table->wrong > 1 ? table : NULL; // one is told by the message
}

static heddle_status add(heddle_check_result *result, const char *expected, const char *printed, const char *message)
{
    heddle_check_finding finding = {.kind = HEDDLE_CHECK_WRONG_OUTPUT,
                                    .tier = HEDDLE_CHECK_ERROR,
                                    .count = 1,
                                    .message = heddle_arena_copy_text(result->arena, message),
                                    .note = "",
                                    .wrong = make_table(expected, printed, result)};
    return finding.message ? heddle_check_result_add_finding(result, &finding)
                           : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
}

heddle_status heddle_check_expect_compare(const char *expected, const heddle_check_output *output,
                                          heddle_check_result *result)
{
    const char *printed = output->text ? output->text : "", *rest = expected, *rest_printed = printed;
    char message[2 * MOST_SHOWN + 128];
    text_line want, got;
    if (output->too_long)
        return add(result, "", "", "The output is too long to be compared with the expected one.");
    for (int line = 1;; line++) {
        bool wants = next_line(&rest, &want), gets = next_line(&rest_printed, &got);
        if (!wants && !gets)
            return HEDDLE_OK;
        if (wants && gets && is_same(&want, &got))
            continue;
        if (!gets)
            snprintf(message, sizeof message, "The output ends before line %d, which should be \"%.*s\".", line,
                     shown(&want), want.start);
        else if (!wants)
            snprintf(message, sizeof message, "The output should end before line %d, which is \"%.*s\".", line,
                     shown(&got), got.start);
        else
            snprintf(message, sizeof message, "Line %d of the output is \"%.*s\"; it should be \"%.*s\".", line,
                     shown(&got), got.start, shown(&want), want.start);
        return add(result, expected, printed, message);
    }
}
