// Nearest names, sizes and durations, the clock, text widths; dtypes and the arena, which need no more than this.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/terminal.h"
#include "base/text.h"
#include "heddle/dtype.h"

static const char *const options[] = {"epochs", "batch", "data", "learning-rate", "seed", "resume"};

static const char *nearest(const char *name)
{
    return heddle_text_nearest(name, options, sizeof options / sizeof *options);
}

static void nearest_finds_slips_of_the_finger(void **state)
{
    (void)state;
    assert_string_equal(nearest("epoch"), "epochs");   // left out
    assert_string_equal(nearest("eepochs"), "epochs"); // too many
    assert_string_equal(nearest("epocks"), "epochs");  // replaced
    assert_string_equal(nearest("bacth"), "batch");    // swapped
    assert_string_equal(nearest("learning_rate"), "learning-rate");
    assert_string_equal(nearest("sed"), "seed");
    assert_string_equal(nearest("data"), "data");
}

static void a_swap_of_neighbours_counts_once(void **state)
{
    (void)state;
    // Four letters may have one edit: as two replacements, the swap would be too far.
    static const char *const names[] = {"acbd"};
    assert_string_equal(heddle_text_nearest("abcd", names, 1), "acbd");
    static const char *const two_edits[] = {"xbcy"};
    assert_null(heddle_text_nearest("abcd", two_edits, 1));
}

static void nearest_suggests_nothing_far_fetched(void **state)
{
    (void)state;
    assert_null(nearest("momentum"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(heddle_text_nearest("epochs", NULL, 0));
    char huge[1000];
    memset(huge, 'a', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    assert_null(nearest(huge));
}

static void sizes_are_written_for_people(void **state)
{
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } known[] = {
        {0, "0 bytes"},
        {1, "1 byte"},
        {830, "830 bytes"},
        {1023, "1023 bytes"},
        {1024, "1 KiB"},
        {1.5 * (1 << 20), "1.5 MiB"},
        {64.0 * (1 << 20), "64 MiB"},
        {123.4 * (1 << 20), "123 MiB"},
        {1048575, "1 MiB"},
        {12.34 * (1 << 30), "12.3 GiB"},
        {5e18, "4441 PiB"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[32];
        assert_string_equal(heddle_text_bytes(known[i].bytes, text, sizeof text), known[i].text);
    }
    char small[4];
    assert_string_equal(heddle_text_bytes(1024, small, sizeof small), "1 K"); // cut, not overrun
}

static void durations_are_written_for_people(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } known[] = {
        {0, "0 s"},
        {3e-9, "3 ns"},
        {850e-6, "850 µs"},
        {0.99999e-3, "1 ms"},
        {1.26e-3, "1.3 ms"},
        {12.6e-3, "13 ms"},
        {2.3, "2.3 s"},
        {59.4, "59 s"},
        {59.6, "1 min 0 s"},
        {80, "1 min 20 s"},
        {3599.7, "1 h 0 min"},
        {7500, "2 h 5 min"},
        {86399, "1 d 0 h"},
        {100 * 3600.0, "4 d 4 h"},
        {INFINITY, "?"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[32];
        assert_string_equal(heddle_text_seconds(known[i].seconds, text, sizeof text), known[i].text);
    }
}

static void the_clock_never_goes_back(void **state)
{
    (void)state;
    double before = heddle_now();
    for (int i = 0; i < 10000; i++) {
        double now = heddle_now();
        assert_true(now >= before);
        before = now;
    }
}

static void columns_are_code_points(void **state)
{
    (void)state;
    assert_int_equal(heddle_text_columns(""), 0);
    assert_int_equal(heddle_text_columns("heddle"), 6);
    assert_int_equal(heddle_text_columns("3×3 µs ▌"), 8);
    assert_int_equal(heddle_text_prefix("3×3", 2), strlen("3×"));
    assert_int_equal(heddle_text_prefix("3×3", 0), 0);
    assert_int_equal(heddle_text_prefix("3×3", 99), strlen("3×3"));
}

static void utf8_is_read_from_the_environment_as_setlocale_would(void **state)
{
    (void)state;
    setenv("LC_ALL", "", 1);
    setenv("LC_CTYPE", "en_GB.utf8", 1);
    setenv("LANG", "C", 1);
    assert_true(heddle_terminal_utf8());
    setenv("LC_ALL", "C", 1);
    assert_false(heddle_terminal_utf8());
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_true(heddle_terminal_utf8());
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    assert_false(heddle_terminal_utf8());
}

static void every_dtype_has_a_size_and_a_name(void **state)
{
    (void)state;
    static const struct {
        heddle_dtype dtype;
        size_t size;
        const char *name;
    } known[] = {{HEDDLE_F32, 4, "f32"},
                 {HEDDLE_F64, 8, "f64"},
                 {HEDDLE_F16, 2, "f16"},
                 {HEDDLE_BF16, 2, "bf16"},
                 {HEDDLE_I32, 4, "i32"},
                 {HEDDLE_I64, 8, "i64"},
                 {HEDDLE_U8, 1, "u8"},
                 {HEDDLE_I8, 1, "i8"},
                 {HEDDLE_F16_PAIR, 4, "f16_pair"},
                 {HEDDLE_F8_E4M3, 1, "f8_e4m3"},
                 {(heddle_dtype)99, 0, "unknown dtype"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(heddle_dtype_size(known[i].dtype), known[i].size);
        assert_string_equal(heddle_dtype_name(known[i].dtype), known[i].name);
        assert_int_equal(heddle_dtype_is_float(known[i].dtype), strchr(known[i].name, 'f') != NULL);
    }
}

static void arena_memory_is_zeroed_aligned_and_stays_put(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    heddle_arena *arena = heddle_arena_create();
    assert_non_null(arena);
    static unsigned char *pieces[COUNT];
    static size_t sizes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sizes[i] = (size_t)(i % 50 == 49 ? 40000 : i % 97);
        pieces[i] = heddle_arena_alloc(arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], i % 251, sizes[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], i % 251);
    heddle_arena_destroy(arena);
    heddle_arena_destroy(NULL);
}

static void arena_copies_text_and_refuses_the_impossible(void **state)
{
    (void)state;
    heddle_arena *arena = heddle_arena_create();
    assert_non_null(arena);
    char text[] = "conv2d";
    char *copy = heddle_arena_copy_text(arena, text);
    text[0] = 'x';
    assert_string_equal(copy, "conv2d");
    assert_null(heddle_arena_alloc(arena, SIZE_MAX));
    assert_null(heddle_arena_alloc(arena, SIZE_MAX - 8));
    assert_non_null(heddle_arena_alloc(arena, 8));
    heddle_arena_destroy(arena);
}

static void only_decimal_numbers_count_as_numbers(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0", "-1", "+2.5", "1e-3", "1E5", ".5", "3.", "007"};
    static const char *const others[] = {"", "x", "inf", "nan", " 1", "-", ".", "e5", "-.e1"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(heddle_text_number(numbers[i], false), strlen(numbers[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(heddle_text_number(others[i], false), 0);
    assert_int_equal(heddle_text_number("0x10", false), 1);
    assert_int_equal(heddle_text_number("16M", false), 2);
    assert_int_equal(heddle_text_number("1e", false), 1);
    assert_int_equal(heddle_text_number("1.5", true), 1);
    assert_int_equal(heddle_text_number("-12", true), 3);
}

static void words_are_quoted_for_a_shell_where_they_need_it(void **state)
{
    (void)state;
    char quoted[32];
    assert_string_equal(heddle_text_quote("runs/a-1", quoted, sizeof quoted), "runs/a-1");
    assert_string_equal(heddle_text_quote("my runs/a", quoted, sizeof quoted), "'my runs/a'");
    assert_string_equal(heddle_text_quote("it's $HOME", quoted, sizeof quoted), "'it'\\''s $HOME'");
    assert_string_equal(heddle_text_quote("", quoted, sizeof quoted), "''");
    assert_string_equal(heddle_text_quote("a bcdef", quoted, 9), ""); // its quotes do not fit
    assert_string_equal(heddle_text_quote("a bcdef", quoted, 10), "'a bcdef'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_for_a_shell_where_they_need_it),
        cmocka_unit_test(only_decimal_numbers_count_as_numbers),
        cmocka_unit_test(nearest_finds_slips_of_the_finger),
        cmocka_unit_test(a_swap_of_neighbours_counts_once),
        cmocka_unit_test(nearest_suggests_nothing_far_fetched),
        cmocka_unit_test(sizes_are_written_for_people),
        cmocka_unit_test(durations_are_written_for_people),
        cmocka_unit_test(the_clock_never_goes_back),
        cmocka_unit_test(columns_are_code_points),
        cmocka_unit_test(utf8_is_read_from_the_environment_as_setlocale_would),
        cmocka_unit_test(every_dtype_has_a_size_and_a_name),
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_stays_put),
        cmocka_unit_test(arena_copies_text_and_refuses_the_impossible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
