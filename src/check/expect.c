// Compares two texts line by line and tells the first difference.

#include "check/expect.h"

#include <string.h>

#include "base/file.h"

enum { LARGEST = 64 << 20, MOST_SHOWN = 100 }; // bytes of a file; of a line in a message

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

heddle_status heddle_check_expect_compare(const char *expected, const heddle_check_output *output,
                                          heddle_check_result *result)
{
    const heddle_check_kind kind = HEDDLE_CHECK_WRONG_OUTPUT;
    const char *printed = output->text ? output->text : "";
    text_line want, got;
    if (output->too_long)
        return heddle_check_result_add(result, kind, HEDDLE_CHECK_ERROR,
                                       "The output is too long to be compared with the expected one.");
    for (int line = 1;; line++) {
        bool wants = next_line(&expected, &want), gets = next_line(&printed, &got);
        if (!wants && !gets)
            return HEDDLE_OK;
        if (!gets)
            return heddle_check_result_add(result, kind, HEDDLE_CHECK_ERROR,
                                           "The output ends before line %d, which should be \"%.*s\".", line,
                                           shown(&want), want.start);
        if (!wants)
            return heddle_check_result_add(result, kind, HEDDLE_CHECK_ERROR,
                                           "The output should end before line %d, which is \"%.*s\".", line,
                                           shown(&got), got.start);
        if (want.length != got.length || memcmp(want.start, got.start, (size_t)want.length) != 0)
            return heddle_check_result_add(result, kind, HEDDLE_CHECK_ERROR,
                                           "Line %d of the output is \"%.*s\"; it should be \"%.*s\".", line,
                                           shown(&got), got.start, shown(&want), want.start);
    }
}
