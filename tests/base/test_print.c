// What people see: the log, tables and progress, on files and on a terminal.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "scratch.h"

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

// A terminal of this width: what is written to the file can be read from *reader.
static FILE *open_terminal(int columns, int *reader)
{
    int writer = -1;
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    if (openpty(reader, &writer, NULL, NULL, &size) != 0)
        fail_msg("no terminal to be had");
    fcntl(*reader, F_SETFL, O_NONBLOCK);
    FILE *file = fdopen(writer, "w");
    assert_non_null(file);
    return file;
}

static void read_terminal(FILE *file, int reader, char *text, size_t size)
{
    fflush(file);
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(reader, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    fclose(file);
    close(reader);
}

// --- log ------------------------------------------------------------------------------------------------------------

// Logs one line of each level in a process of its own, with HEDDLE_LOG set to `level`; what it wrote, to be freed.
static char *log_with_environment(const char *level)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(file), STDERR_FILENO);
        if (level)
            setenv("HEDDLE_LOG", level, 1);
        else
            unsetenv("HEDDLE_LOG");
        heddle_log(HEDDLE_LOG_ERROR, "line %d", 1);
        heddle_log(HEDDLE_LOG_WARN, "line %d", 2);
        heddle_log(HEDDLE_LOG_INFO, "line %d", 3);
        heddle_log(HEDDLE_LOG_DEBUG, "line %d", 4);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    fseek(file, 0, SEEK_END);
    char *text = written_text(file);
    fclose(file);
    return text;
}

static void the_log_follows_its_environment_variable(void **state)
{
    (void)state;
    static const struct {
        const char *level, *text;
    } known[] = {
        {NULL, "heddle: error: line 1\nheddle: warning: line 2\n"},
        {"", "heddle: error: line 1\nheddle: warning: line 2\n"},
        {"error", "heddle: error: line 1\n"},
        {"debug", "heddle: error: line 1\nheddle: warning: line 2\nheddle: info: line 3\nheddle: debug: line 4\n"},
        {"loud", "heddle: warning: HEDDLE_LOG must be error, warn, info or debug; using warn\nheddle: error: line "
                 "1\nheddle: warning: line 2\n"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *text = log_with_environment(known[i].level);
        assert_string_equal(text, known[i].text);
        free(text);
    }
}

static void log_levels_are_parsed_with_suggestions(void **state)
{
    (void)state;
    heddle_log_level level = HEDDLE_LOG_ERROR;
    assert_int_equal(heddle_log_parse_level("debug", &level), HEDDLE_OK);
    assert_int_equal(level, HEDDLE_LOG_DEBUG);
    assert_int_equal(heddle_log_parse_level("inof", &level), HEDDLE_INVALID);
    assert_contains(heddle_last_error(), "did you mean 'info'?");
    assert_int_equal(heddle_log_parse_level("everything", &level), HEDDLE_INVALID);
    assert_contains(heddle_last_error(), "error, warn, info or debug");
}

// --- table ----------------------------------------------------------------------------------------------------------

static heddle_table *make_table(void)
{
    heddle_table *table = heddle_table_create();
    assert_non_null(table);
    heddle_table_column(table, "rung", HEDDLE_LEFT);
    heddle_table_column(table, "time", HEDDLE_RIGHT);
    heddle_table_column(table, "note", HEDDLE_LEFT);
    return table;
}

static void columns_are_as_wide_as_their_text(void **state)
{
    (void)state;
    heddle_table *table = make_table();
    heddle_table_cell(table, "naive");
    heddle_table_cell(table, "%d µs", 1200);
    heddle_table_cell(table, "plain loops");
    heddle_table_cell(table, "cpu_winograd");
    heddle_table_cell(table, "%.1f µs", 80.5);
    heddle_table_cell(table, "3×3 only");
    FILE *file = tmpfile();
    assert_int_equal(heddle_table_print(table, file), HEDDLE_OK);
    char *text = written_text(file);
    assert_string_equal(text, "rung             time  note\n"
                              "naive         1200 µs  plain loops\n"
                              "cpu_winograd  80.5 µs  3×3 only\n");
    free(text);
    fclose(file);
    heddle_table_destroy(table);
}

static void an_incomplete_row_and_long_cells_are_printed(void **state)
{
    (void)state;
    char large[1000];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    heddle_table *table = make_table();
    heddle_table_cell(table, "%s", large);
    FILE *file = tmpfile();
    assert_int_equal(heddle_table_print(table, file), HEDDLE_OK);
    char *text = written_text(file);
    assert_contains(text, large);
    assert_int_equal(count_lines(text), 2);
    assert_null(strstr(text, " \n"));
    free(text);
    fclose(file);
    heddle_table_destroy(table);
    heddle_table_destroy(NULL);
}

static void text_is_cut_to_the_terminal_and_numbers_are_not(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    heddle_table *table = make_table();
    heddle_table_cell(table, "naive");
    heddle_table_cell(table, "123456.789 µs");
    heddle_table_cell(table, "a note that is far too long for such a narrow terminal");
    int reader = -1;
    FILE *file = open_terminal(50, &reader);
    assert_int_equal(heddle_table_print(table, file), HEDDLE_OK);
    char text[4096];
    read_terminal(file, reader, text, sizeof text);
    assert_contains(text, "123456.789 µs  a note that is far too long…\r\n");
    char *line = strstr(text, "naive");
    assert_non_null(line);
    line[strcspn(line, "\r")] = '\0';
    assert_int_equal(heddle_text_columns(line), 50);
    heddle_table_destroy(table);
}

static void a_column_after_the_first_cell_is_an_error(void **state)
{
    (void)state;
    heddle_table *table = make_table();
    heddle_table_cell(table, "x");
    heddle_table_column(table, "late", HEDDLE_LEFT);
    FILE *file = tmpfile();
    assert_int_equal(heddle_table_print(table, file), HEDDLE_INTERNAL);
    fclose(file);
    heddle_table_destroy(table);
}

// --- progress -------------------------------------------------------------------------------------------------------

static heddle_progress_state at(double done)
{
    return (heddle_progress_state){
        .done = done, .total = 1000, .unit = "images", .loss = 0.25, .accuracy = 0.9125, .seconds = done / 100};
}

static void plain_lines_come_at_every_tenth_and_at_the_end(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    heddle_progress *progress = heddle_progress_create(file, HEDDLE_PROGRESS_AUTO, "train");
    for (int done = 10; done <= 1000; done += 10) {
        heddle_progress_state now = at(done);
        heddle_progress_update(progress, &now);
    }
    heddle_progress_state last = at(1000);
    heddle_progress_finish(progress, &last);
    heddle_progress_destroy(progress);
    char *text = written_text(file);
    assert_int_equal(count_lines(text), 10);
    assert_contains(text, "train   10 %  100/1000 images  100 images/s  9 s left  loss 0.2500  accuracy 91.25 %\n");
    assert_contains(text, "train  100 %  1000/1000 images  100 images/s  in 10 s  loss 0.2500  accuracy 91.25 %\n");
    assert_null(strchr(text, '\r'));
    free(text);
    fclose(file);
}

static void a_resumed_job_is_not_credited_with_what_it_skipped(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    heddle_progress *progress = heddle_progress_create(file, HEDDLE_PROGRESS_LINES, "train");
    heddle_progress_state first = at(500), later = at(900);
    first.seconds = 1;
    later.seconds = 5;
    heddle_progress_update(progress, &first);
    heddle_progress_update(progress, &later);
    heddle_progress_destroy(progress);
    char *text = written_text(file);
    assert_contains(text, "900/1000 images  100 images/s  1 s left");
    free(text);
    fclose(file);
}

static void unknown_numbers_are_not_shown(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    heddle_progress *progress = heddle_progress_create(file, HEDDLE_PROGRESS_LINES, "get");
    heddle_progress_state plain = {.done = 12, .unit = "files", .loss = NAN, .accuracy = NAN, .seconds = 0};
    heddle_progress_finish(progress, &plain);
    heddle_progress_destroy(progress);
    char *text = written_text(file);
    assert_string_equal(text, "get  12 files  in 0 s\n");
    free(text);
    fclose(file);
}

// One update and the finish of a job half done, on a terminal of this width.
static void draw_on_terminal(int columns, char *text, size_t size)
{
    int reader = -1;
    FILE *file = open_terminal(columns, &reader);
    setenv("TERM", "xterm", 1);
    heddle_progress *progress = heddle_progress_create(file, HEDDLE_PROGRESS_AUTO, "train");
    heddle_progress_state half = at(500);
    heddle_progress_update(progress, &half);
    heddle_progress_finish(progress, &half);
    heddle_progress_destroy(progress);
    read_terminal(file, reader, text, size);
}

static void a_terminal_gets_a_bar_that_is_redrawn(void **state)
{
    (void)state;
    char text[4096];
    setenv("LC_ALL", "C.UTF-8", 1);
    draw_on_terminal(130, text, sizeof text);
    assert_int_equal(text[0], '\r');
    assert_contains(text, "train  ▕███████████████               ▏   50 %  100 images/s  5 s left  loss 0.2500");
    assert_contains(text + 1, "\r");
    assert_contains(text, "in 5 s");
    assert_int_equal(count_lines(text), 1);
    setenv("LC_ALL", "C", 1);
    draw_on_terminal(130, text, sizeof text);
    assert_contains(text, "[===============               ]");
    for (const char *c = text; *c; c++)
        assert_in_range((unsigned char)*c, 1, 127);
}

static void the_bar_fits_any_terminal(void **state)
{
    (void)state;
    for (int columns = 1; columns <= 150; columns += 7) {
        char text[4096];
        draw_on_terminal(columns, text, sizeof text);
        char *rest = NULL;
        for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
            char *end = strstr(line, "\033[K");
            assert_non_null(end);
            *end = '\0';
            assert_in_range(heddle_text_columns(line), 0, columns - 1);
        }
    }
}

static void progress_without_memory_is_none(void **state)
{
    (void)state;
    heddle_progress_state half = at(500);
    heddle_progress_update(NULL, &half);
    heddle_progress_finish(NULL, &half);
    heddle_progress_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_follows_its_environment_variable),
        cmocka_unit_test(log_levels_are_parsed_with_suggestions),
        cmocka_unit_test(columns_are_as_wide_as_their_text),
        cmocka_unit_test(an_incomplete_row_and_long_cells_are_printed),
        cmocka_unit_test(text_is_cut_to_the_terminal_and_numbers_are_not),
        cmocka_unit_test(a_column_after_the_first_cell_is_an_error),
        cmocka_unit_test(plain_lines_come_at_every_tenth_and_at_the_end),
        cmocka_unit_test(a_resumed_job_is_not_credited_with_what_it_skipped),
        cmocka_unit_test(unknown_numbers_are_not_shown),
        cmocka_unit_test(a_terminal_gets_a_bar_that_is_redrawn),
        cmocka_unit_test(the_bar_fits_any_terminal),
        cmocka_unit_test(progress_without_memory_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
