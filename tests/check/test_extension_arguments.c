// The line that describes what a kernel is launched on.

#include "files.h"
#include "sample.h"

#include <string.h>

#include "check/extension.h"

static heddle_status read_line(const char *line, heddle_arena *arena, heddle_check_arguments *arguments)
{
    return heddle_check_arguments_read(line, 1, arena, arguments);
}

static void test_entries_are_read(void **state)
{
    (void)state;
    heddle_check_arguments all;
    heddle_arena *arena = heddle_arena_create();
    assert_ok(
        read_line("x: float[rows, 2 * cols] = normal(0, 2, seed=9), y: out half[numel(x)], rows = cdiv(cols, 4),\n"
                  "cols: int = 10, bias = null, eps = 1e-5, flag = true; ids: int64[3] = randint(5)",
                  arena, &all));
    assert_int_equal(all.count, 8);
    assert_int_equal(all.at[0].role, HEDDLE_CHECK_IN);
    assert_int_equal(all.at[0].dims[0], 3);
    assert_int_equal(all.at[0].dims[1], 20);
    assert_int_equal(all.at[0].fill, HEDDLE_CHECK_FILL_NORMAL);
    assert_true(all.at[0].high == 2);
    assert_int_equal(all.at[0].seed, 9);
    assert_int_equal(all.at[1].role, HEDDLE_CHECK_OUT);
    assert_int_equal(all.at[1].type, HEDDLE_NPY_F16);
    assert_int_equal(all.at[1].count, 60);
    assert_int_equal(all.at[2].whole, 3);
    assert_int_equal(all.at[4].role, HEDDLE_CHECK_NULL);
    assert_false(all.at[5].is_whole);
    assert_true(all.at[5].number == 1e-5);
    assert_int_equal(all.at[6].whole, 1);
    assert_int_equal(all.at[7].fill, HEDDLE_CHECK_FILL_RANDINT);
    assert_true(all.at[7].low == 0 && all.at[7].high == 5);
    assert_int_not_equal(all.at[7].seed, 1); // each has a seed of its own
    int64_t size[3];
    assert_ok(heddle_check_arguments_extent(&all, "--grid", "dim3(cdiv(cols, 3), size(x, 1))", size));
    assert_int_equal(size[0], 4);
    assert_int_equal(size[1], 20);
    assert_int_equal(size[2], 1);
    assert_ok(heddle_check_arguments_extent(&all, "--shared", "rows * sizeof(float) + max(1, 2) - -1", size));
    assert_int_equal(size[0], 15);
    heddle_arena_destroy(arena);
}

static void test_what_is_wrong_is_told_with_its_column(void **state)
{
    (void)state;
    static const struct {
        const char *line, *column, *part;
    } wrong[] = {
        {"x: flaot[3]", "column 4", "did you mean float"},
        {"x: float[m]", "column 10", "'m' is not a number"},
        {"x: float[3], x = 2", "column 14", "twice"},
        {"x: out float[3] = ones", "column 19", "inout"},
        {"x: int[3]", "column 8", "whole numbers"},
        {"x: float[3] = nrmal", "column 15", "normal"},
        {"x: float[3] = 2", "column 15", "const"},
        {"n = 1 / (2 - 2)", "column 7", "zero"},
        {"n = n", "column 5", "from itself"},
        {"n = 9223372036854775807 * 2", "column 25", "too large"},
        {"x: float[-1]", "column 10", "whole number"},
        {"x: float[65536, 65536]", "column 17", "too many"},
        {"x: float[3", "column 9", "not closed"},
        {"n: int8 = 300", "column 11", "cannot hold"},
        {"x: float[3] = uniform(1, 0)", "column 15", "above the first"},
        {"n = ((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))", "column",
         "inside each other"},
        {"n = --------------------------------------------1", "column", "inside each other"},
        {"x = ones", "column 5", "sizes"},
        {"x: out float", "column", "sizes"},
        {"= 3", "column 1", "not a name"},
        {"n = 3 4", "column 7", "ends before"},
        {"x = a.npy", "column 5", "no such file"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_check_arguments all;
        heddle_arena *arena = heddle_arena_create();
        assert_int_equal(read_line(wrong[i].line, arena, &all), HEDDLE_INVALID);
        assert_contains(heddle_last_error(), wrong[i].column);
        assert_contains(heddle_last_error(), wrong[i].part);
        heddle_arena_destroy(arena);
    }
}

static void test_values_come_from_their_seed(void **state)
{
    (void)state;
    heddle_check_arguments all;
    heddle_arena *arena = heddle_arena_create();
    void *first = NULL, *second = NULL, *other = NULL, *steps = NULL;
    assert_ok(
        read_line("a: float[100] = normal(seed=3), b: float[100] = normal(seed=3), c: float[100] = normal(seed=4), "
                  "d: uint8[4] = arange(2, 3)",
                  arena, &all));
    assert_ok(heddle_check_extension_values(&all.at[0], &first));
    assert_ok(heddle_check_extension_values(&all.at[1], &second));
    assert_ok(heddle_check_extension_values(&all.at[2], &other));
    assert_ok(heddle_check_extension_values(&all.at[3], &steps));
    assert_memory_equal(first, second, 400);
    assert_memory_not_equal(first, other, 400);
    assert_memory_equal(steps, "\2\5\10\13", 4);
    free(first);
    free(second);
    free(other);
    free(steps);
    assert_ok(read_line("d: uint8[4] = arange(254)", arena, &all));
    assert_int_equal(heddle_check_extension_values(&all.at[0], &steps), HEDDLE_INVALID);
    assert_contains(heddle_last_error(), "element 2 of 'd' would be 256");
    heddle_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_are_read),
        cmocka_unit_test(test_what_is_wrong_is_told_with_its_column),
        cmocka_unit_test(test_values_come_from_their_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
