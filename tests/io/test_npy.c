// NumPy's files: every type arrives as the numbers it holds; damaged files are one clear line.

#include "files.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

// A file of version 1 with this dictionary and these bytes.
static heddle_status parse(const char *header, const void *data, size_t bytes, heddle_npy *array)
{
    size_t length = strlen(header), size = 10 + length + bytes;
    char *content = calloc(1, size + 1);
    assert_non_null(content);
    memcpy(content, "\x93NUMPY\1\0", 8);
    content[8] = (char)(length & 255);
    content[9] = (char)(length >> 8);
    memcpy(content + 10, header, length);
    memcpy(content + 10 + length, data, bytes);
    return heddle_npy_parse("x.npy", content, size, array);
}

static void test_sizes_and_values_are_read(void **state)
{
    (void)state;
    const float values[] = {1.5f, -2, 3, 4, 5, INFINITY};
    heddle_npy array;
    assert_int_equal(
        parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", values, sizeof values, &array), HEDDLE_OK);
    assert_int_equal(array.type, HEDDLE_NPY_F32);
    assert_int_equal(array.rank, 2);
    assert_int_equal(array.dims[1], 3);
    assert_true(heddle_npy_decode(array.type, array.data, 1) == -2);
    assert_true(isinf(heddle_npy_decode(array.type, array.data, 5)));
    heddle_npy_free(&array);
    const int64_t one = -7;
    assert_int_equal(parse("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", &one, sizeof one, &array),
                     HEDDLE_OK);
    assert_int_equal(array.rank, 0);
    assert_int_equal(array.count, 1);
    assert_true(heddle_npy_decode(array.type, array.data, 0) == -7);
    heddle_npy_free(&array);
}

static void test_what_was_written_is_read_back(void **state)
{
    (void)state;
    for (heddle_npy_type type = 0; type < HEDDLE_NPY_TYPES; type++) {
        uint64_t bytes[4] = {0};
        heddle_npy_encode(type, bytes, 0, 1);
        heddle_npy_encode(type, bytes, 1, 0);
        heddle_npy_encode(type, bytes, 2, type == HEDDLE_NPY_BOOL ? 5 : 96);
        assert_true(heddle_npy_decode(type, bytes, 0) == 1);
        assert_true(heddle_npy_decode(type, bytes, 1) == 0);
        assert_true(heddle_npy_decode(type, bytes, 2) == (type == HEDDLE_NPY_BOOL ? 1 : 96));
    }
    assert_true(heddle_npy_holds(HEDDLE_NPY_I8, -128));
    assert_false(heddle_npy_holds(HEDDLE_NPY_I8, 128));
    assert_false(heddle_npy_holds(HEDDLE_NPY_U32, -1));
    assert_false(heddle_npy_holds(HEDDLE_NPY_I64, 0x1p63));
    assert_true(heddle_npy_holds(HEDDLE_NPY_F16, 1e30)); // it becomes infinite, as a cast would make it
    assert_false(heddle_npy_holds(HEDDLE_NPY_I32, NAN));
}

static void test_whole_numbers_beyond_a_double_are_told_apart(void **state)
{
    (void)state;
    const int64_t numbers[] = {INT64_C(1) << 53, INT64_MIN, INT64_MAX, -1};
    const int64_t others[] = {(INT64_C(1) << 53) + 1, INT64_MIN + 1, INT64_MAX, 1};
    const uint64_t naturals[] = {UINT64_C(1) << 53, 0, UINT64_MAX, UINT64_MAX};
    const double floats[] = {0x1p53, -0x1p63, 0x1p63, -1.5};
    const heddle_npy a = {.type = HEDDLE_NPY_I64, .data = numbers}, b = {.type = HEDDLE_NPY_I64, .data = others};
    const heddle_npy natural = {.type = HEDDLE_NPY_U64, .data = naturals};
    const heddle_npy real = {.type = HEDDLE_NPY_F64, .data = floats};
    const double expected[] = {1, 1, 0, 2};
    char text[32];
    for (int i = 0; i < 4; i++) {
        assert_true(heddle_npy_distance(&a, &b, i) == expected[i]);
        assert_true(heddle_npy_distance(&b, &a, i) == expected[i]);
    }
    assert_true(heddle_npy_distance(&a, &natural, 0) == 0);
    assert_true(heddle_npy_distance(&b, &natural, 0) == 1);
    assert_true(heddle_npy_distance(&a, &natural, 2) == 0x1p63); // rounded, but not 0
    assert_true(heddle_npy_distance(&a, &natural, 3) == 0x1p64);
    assert_true(heddle_npy_distance(&b, &real, 0) == 0); // the float cannot say that it means another
    assert_true(heddle_npy_distance(&a, &real, 3) == 0.5);
    assert_string_equal(heddle_npy_text(&b, 0, 7, text, sizeof text), "9007199254740993");
    assert_string_equal(heddle_npy_text(&a, 1, 7, text, sizeof text), "-9223372036854775808");
    assert_string_equal(heddle_npy_text(&natural, 2, 7, text, sizeof text), "18446744073709551615");
    assert_string_equal(heddle_npy_text(&real, 0, 7, text, sizeof text), "9.007199e+15");
}

static void test_what_cannot_be_read_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *header, *part;
        heddle_status status;
    } wrong[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "little-endian", HEDDLE_UNSUPPORTED},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "<c8", HEDDLE_UNSUPPORTED},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "this type", HEDDLE_UNSUPPORTED},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", "ascontiguousarray", HEDDLE_UNSUPPORTED},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "damaged", HEDDLE_CORRUPT}, // only two are there
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "damaged", HEDDLE_CORRUPT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }", "damaged", HEDDLE_CORRUPT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "dimensions", HEDDLE_UNSUPPORTED},
        {"{'descr': '<f4', 'fortran_order': False}", "damaged", HEDDLE_CORRUPT},
        {"{'shape': (2,)}", "damaged", HEDDLE_CORRUPT},
        {"", "damaged", HEDDLE_CORRUPT},
    };
    const float values[2] = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_npy array;
        assert_int_equal(parse(wrong[i].header, values, sizeof values, &array), wrong[i].status);
        if (!strstr(heddle_last_error(), wrong[i].part) || !strstr(heddle_last_error(), "x.npy"))
            fail_msg("%s: %s", wrong[i].header, heddle_last_error());
        assert_null(array.content);
    }
    heddle_npy array;
    assert_int_equal(heddle_npy_parse("x.npy", calloc(1, 5), 4, &array), HEDDLE_CORRUPT);
    assert_int_not_equal(heddle_npy_read("/nowhere/x.npy", &array), HEDDLE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_and_values_are_read),
        cmocka_unit_test(test_what_was_written_is_read_back),
        cmocka_unit_test(test_whole_numbers_beyond_a_double_are_told_apart),
        cmocka_unit_test(test_what_cannot_be_read_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
