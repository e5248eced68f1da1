// A wrong result in words: what the wrong elements have in common, what they are computed from, and how the table of
// them is shown.

#include "folder.h"
#include "sample.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "check/depends.h"
#include "check/pattern.h"
#include "check/show.h"
#include "check/wrong.h"

enum { ROWS = 100, COLUMNS = 96 };

static bool wrong[ROWS * COLUMNS];
static double expected[ROWS * COLUMNS], got[ROWS * COLUMNS];
static heddle_check_writer writers[ROWS * COLUMNS];

typedef bool rule(int row, int column);

static bool past_64(int row, int column)
{
    return row >= 64 || column >= 64;
}
static bool in_last_column(int row, int column)
{
    (void)row;
    return column == COLUMNS - 1;
}
static bool in_lower_rows(int row, int column)
{
    (void)column;
    return row >= 16;
}
static bool in_every_32nd_column(int row, int column)
{
    (void)row;
    return column % 32 == 31;
}
static bool in_some_lower_rows(int row, int column)
{
    return row >= 50 && (row * 31 + column * 17) % 3 == 0;
}
static bool in_one_block(int row, int column)
{
    return row / 16 == 2 && column / 16 == 1;
}
static bool anywhere(int row, int column)
{
    return (row * COLUMNS + column) % 4799 == 7;
}
static bool everywhere(int row, int column)
{
    return row >= 0 && column >= 0;
}

// In blocks of 16 × 16 threads, of which each writes one element.
static const char *pattern_of(rule *is_wrong, bool with_writers)
{
    static char text[1024];
    static const int dims[] = {ROWS, COLUMNS};
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int i = row * COLUMNS + column;
            wrong[i] = is_wrong(row, column);
            expected[i] = i % 13 + 1;
            got[i] = expected[i] + (wrong[i] ? i % 7 + 1 : 0);
            writers[i] = (heddle_check_writer){true, false, {column / 16, row / 16, 0, column % 16, row % 16, 0}};
        }
    heddle_check_values values = {dims, 2, ROWS * COLUMNS, wrong, expected, got, with_writers ? writers : NULL};
    return heddle_check_pattern(&values, text, sizeof text);
}

static void test_the_place_of_wrong_elements_is_told(void **state)
{
    (void)state;
    assert_string_equal(pattern_of(past_64, false), "They are past the first 64 × 64; every element there is wrong.");
    assert_string_equal(pattern_of(in_last_column, false),
                        "They are in the last column; every element there is wrong.");
    assert_string_equal(pattern_of(in_lower_rows, false), "They are in rows from 16 on; every element there is wrong.");
    assert_string_equal(pattern_of(in_every_32nd_column, false),
                        "They are in every 32nd column from 31 to 95; every element there is wrong.");
    assert_string_equal(pattern_of(in_some_lower_rows, false),
                        "They are in rows from 50 on: 1600 of the 4800 elements there.");
    assert_string_equal(pattern_of(everywhere, false), ""); // the count says it
}

static bool by_the_first_thread(int row, int column)
{
    return row % 16 == 0 && column % 16 == 0;
}

static void test_the_threads_that_wrote_wrong_elements_are_told(void **state)
{
    (void)state;
    assert_string_equal(pattern_of(in_one_block, true),
                        "They are in rows 32 to 47, columns 16 to 31; every element there is wrong.");
    assert_string_equal(
        pattern_of(by_the_first_thread, true),
        "They are in every 16th row from 0 to 96, every 16th column from 0 to 80; every element there is "
        "wrong.");
}

// The threads of one column of a block each write a whole row of a tile: no box holds what they wrote.
static void test_a_thread_whose_elements_lie_apart_is_told(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    static const int dims[] = {COUNT};
    char text[1024];
    for (int i = 0; i < COUNT; i++) {
        int thread = i * 7 % 61; // no stride in i
        writers[i] = (heddle_check_writer){true, false, {i / 512, 0, 0, thread, 0, 0}};
        wrong[i] = thread == 5;
        expected[i] = i % 5 + 1;
        got[i] = wrong[i] ? 0 : expected[i];
    }
    for (int i = 0; i < COUNT; i++)
        if (i % 512 < 61) // in the first rows of each block another thread writes: the stride of 61 is broken
            wrong[i] = false, writers[i].at[3] = 6;
    wrong[2] = true, writers[2].at[3] = 5, got[2] = 0;
    heddle_check_values values = {dims, 1, COUNT, wrong, expected, got, writers};
    assert_contains(heddle_check_pattern(&values, text, sizeof text), "written by threads with threadIdx.x 5");
    assert_contains(text, "Each is 0.");
}

static void test_elements_that_no_kernel_wrote_are_told(void **state)
{
    (void)state;
    static const int dims[] = {4};
    static const bool past[] = {false, false, true, true};
    static const double right[] = {1, 2, 3, 4}, values_got[] = {1, 2, 0, 0};
    heddle_check_writer by[] = {{.known = true}, {.known = true}, {.nobody = true}, {.nobody = true}};
    char text[1024];
    heddle_check_values values = {dims, 1, 4, past, right, values_got, by};
    assert_string_equal(heddle_check_pattern(&values, text, sizeof text),
                        "They are all elements from 2 on. No kernel wrote them.");
    by[3].nobody = false;
    assert_string_equal(heddle_check_pattern(&values, text, sizeof text),
                        "They are all elements from 2 on. Each is 0.");
}

static void test_elements_that_have_nothing_in_common_are_not_explained(void **state)
{
    (void)state;
    assert_string_equal(pattern_of(anywhere, true), "");
}

static void test_what_all_wrong_values_are_is_told(void **state)
{
    (void)state;
    static const int dims[] = {4};
    static const bool all[] = {true, true, true, false};
    static const struct {
        double got[4];
        const char *says;
    } cases[] = {{{0, 0, 0, 4}, "Each is 0."},
                 {{NAN, NAN, NAN, 4}, "Each is NaN."},
                 {{2, 4, 6, 4}, "Each is 2 times what it should be."},
                 {{1.5, 2.5, 3.5, 4}, "Each is 0.5 too large."},
                 {{0, 1, 2, 4}, "Each is 1 too small."}};
    static const double right[] = {1, 2, 3, 4};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        heddle_check_values values = {dims, 1, 4, all, right, cases[i].got, NULL};
        assert_contains(heddle_check_pattern(&values, text, sizeof text), cases[i].says);
    }
}

// --- what an element is computed from --------------------------------------------------------------------------------

static void find(const char *name, const char *shape_text, const char *output, size_t element, const char *input,
                 heddle_check_depends *found)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_operand_values drawn;
    const heddle_op *op = NULL;
    assert_ok(heddle_op_find(name, &op));
    assert_ok(heddle_shape_parse(op, shape_text, shape));
    assert_ok(heddle_operand_values_create(&drawn, op, shape));
    assert_ok(heddle_operand_values_draw(&drawn, NULL, 1));
    assert_ok(heddle_check_depends_find(&drawn, heddle_operand_find(op, output), element,
                                        heddle_operand_find(op, input), found));
    heddle_operand_values_destroy(&drawn);
}

static void test_the_inputs_of_an_element_are_found_by_asking_the_reference(void **state)
{
    (void)state;
    heddle_check_depends on;
    find("relu_forward", "n=100", "output", 37, "input", &on);
    assert_true(on.count == 1 && on.element[0] == 37 && !on.more);
    find("saxpy", "n=100", "y", 99, "y", &on);
    assert_true(on.count == 1 && on.element[0] == 99 && !on.more);
    find("matmul_forward", "m=5 n=7 k=9", "output", 2 * 7 + 3, "b", &on); // b (k, n): column 3
    assert_true(on.count == 3 && on.element[0] == 3 && on.element[1] == 10 && on.element[2] == 17 && on.more);
    find("matmul_forward", "m=5 n=7 k=2", "output", 2 * 7 + 3, "a", &on);
    assert_true(on.count == 2 && on.element[0] == 4 && on.element[1] == 5 && !on.more);
    find("softmax_forward", "rows=3 cols=4", "output", 5, "input", &on); // the same if a whole row grows by the same
    assert_true(on.count == 3 && on.element[0] == 4 && on.more);
    find("transpose", "rows=3 cols=4", "output", 1, "input", &on); // output (4, 3)
    assert_true(on.count == 1 && on.element[0] == 4);
}

// --- shown -----------------------------------------------------------------------------------------------------------

static heddle_check_result *result_with_table(heddle_check_wrong *table)
{
    heddle_check_result *result = sample_result(folder, sample_report);
    *table =
        (heddle_check_wrong){.wrong = 2, .of = 9, .inputs = "y[3] is computed from x<3>.", .pattern = "Each is 0."};
    heddle_check_wrong_column(table, "element");
    heddle_check_wrong_column(table, "expected");
    heddle_check_wrong_column(table, "got");
    for (int i = 0; i < 2; i++) {
        heddle_check_wrong_row(table);
        heddle_check_wrong_cell(table, i ? "y[10]" : "y[3]");
        heddle_check_wrong_cell(table, i ? "-17.25" : "4");
        heddle_check_wrong_cell(table, i ? "nan" : "0");
    }
    result->findings[0]->wrong = table;
    return result;
}

static heddle_status show_text(const heddle_check_result *result, FILE *file)
{
    return heddle_check_show_text(result, &(heddle_check_style){.counters = false}, file);
}

static void test_the_table_is_in_text_json_and_page(void **state)
{
    (void)state;
    heddle_check_wrong table;
    heddle_check_result *result = result_with_table(&table);
    char *text = sample_shown(result, show_text);
    assert_contains(text, "  element  expected  got\n");
    assert_contains(text, "  y[3]            4    0\n");
    assert_contains(text, "  y[10]      -17.25  nan\n");
    assert_contains(text, "  inputs    y[3] is computed from x<3>.\n  pattern   Each is 0.\n");
    free(text);
    text = sample_shown(result, heddle_check_show_html);
    assert_contains(text, "<td class=\"cell\">-17.25</td>");
    assert_contains(text, "y[3] is computed from x&lt;3&gt;.");
    free(text);
    cJSON *json = heddle_check_json(result);
    const cJSON *finding = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "findings"), 0);
    const cJSON *about = cJSON_GetObjectItemCaseSensitive(finding, "result");
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(about, "elements"), 1);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(about, "wrong")->valueint, 2);
    assert_true(cJSON_GetObjectItemCaseSensitive(row, "expected")->valuedouble == -17.25);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "got")), "nan");
    cJSON_Delete(json);
    heddle_check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_place_of_wrong_elements_is_told),
        cmocka_unit_test(test_the_threads_that_wrote_wrong_elements_are_told),
        cmocka_unit_test(test_a_thread_whose_elements_lie_apart_is_told),
        cmocka_unit_test(test_elements_that_no_kernel_wrote_are_told),
        cmocka_unit_test(test_elements_that_have_nothing_in_common_are_not_explained),
        cmocka_unit_test(test_what_all_wrong_values_are_is_told),
        cmocka_unit_test(test_the_inputs_of_an_element_are_found_by_asking_the_reference),
        cmocka_unit_test(test_the_table_is_in_text_json_and_page),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
