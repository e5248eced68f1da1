// Curves drawn with characters, line by line.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"

enum { SIZE = 256 };

static const double steps[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const double rising[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const double falling[] = {7, 6, 5, 4, 3, 2, 1, 0};

static void assert_plotted(const heddle_plot *plot, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    heddle_plot_print(memory, plot);
    assert_int_equal(fclose(memory), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void a_line_goes_from_low_to_high(void **state)
{
    (void)state;
    char text[SIZE];
    const heddle_plot_series up = {steps, rising, 8}, down = {steps, falling, 8}, one = {steps, rising, 1}, none = {0};
    assert_string_equal(heddle_plot_line(&up, 8, true, text, sizeof text), "▁▂▃▄▅▆▇█");
    assert_string_equal(heddle_plot_line(&down, 8, true, text, sizeof text), "█▇▆▅▄▃▂▁");
    assert_string_equal(heddle_plot_line(&up, 8, false, text, sizeof text), "__..--''");
    assert_string_equal(heddle_plot_line(&up, 4, true, text, sizeof text), "▁▃▆█"); // means of two
    assert_string_equal(heddle_plot_line(&one, 3, true, text, sizeof text), "▅  ");
    assert_string_equal(heddle_plot_line(&none, 8, true, text, sizeof text), "");
}

static void a_line_goes_straight_where_there_are_no_points(void **state)
{
    (void)state;
    char text[SIZE];
    const double ends[] = {0, 10}, values[] = {0, 8};
    assert_string_equal(heddle_plot_line(&(heddle_plot_series){ends, values, 2}, 9, true, text, sizeof text),
                        "▁▂▃▄▅▆▇██");
}

static void a_line_is_cut_where_there_is_no_room_for_a_whole_character(void **state)
{
    (void)state;
    char text[8]; // two characters of three bytes, and a zero
    const heddle_plot_series up = {steps, rising, 8};
    assert_string_equal(heddle_plot_line(&up, 8, true, text, sizeof text), "▁▂");
    assert_string_equal(heddle_plot_line(&up, HEDDLE_PLOT_MOST_COLUMNS + 1, true, text, sizeof text), "");
}

static void one_curve_is_an_area(void **state)
{
    (void)state;
    const heddle_plot_series up = {steps, rising, 8};
    heddle_plot plot = {
        .title = "loss", .x_title = "steps ", .series = &up, .count = 1, .columns = 8, .rows = 2, .utf8 = true};
    assert_plotted(&plot, "\nloss\n"
                          "        7 │    ▁▃▅█\n"
                          "        0 │▁▃▅▇████\n"
                          "          └────────\n"
                          "           0steps 8\n");
    plot.utf8 = false;
    plot.percent = true;
    assert_plotted(&plot, "\nloss\n"
                          " 700.00 % |      ##\n"
                          "   0.00 % |########\n"
                          "          +--------\n"
                          "           0steps 8\n");
}

static void several_curves_have_letters_and_a_star_where_they_meet(void **state)
{
    (void)state;
    const double three[] = {1, 2, 3}, up[] = {0, 1, 2}, flat[] = {1, 1, 1};
    const heddle_plot_series series[] = {{three, up, 3}, {three, flat, 3}, {NULL, NULL, 0}};
    assert_plotted(&(heddle_plot){.title = "t", .x_title = "", .series = series, .count = 3, .columns = 4, .rows = 3},
                   "\nt\n"
                   "        2 |   A\n"
                   "          | B*B\n"
                   "        0 | A\n"
                   "          +----\n"
                   "           0  3\n");
}

static void nothing_is_plotted_without_points(void **state)
{
    (void)state;
    assert_plotted(
        &(heddle_plot){
            .title = "t", .x_title = "", .series = &(heddle_plot_series){0}, .count = 1, .columns = 4, .rows = 3},
        "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_goes_from_low_to_high),
        cmocka_unit_test(a_line_goes_straight_where_there_are_no_points),
        cmocka_unit_test(a_line_is_cut_where_there_is_no_room_for_a_whole_character),
        cmocka_unit_test(one_curve_is_an_area),
        cmocka_unit_test(several_curves_have_letters_and_a_star_where_they_meet),
        cmocka_unit_test(nothing_is_plotted_without_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
