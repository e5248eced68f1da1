// What --shape says, read one by one.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/shapes.h"

static heddle_status read_shapes(const char *const *given, heddle_cli_shapes *shapes)
{
    heddle_cli_list list = {.count = 0};
    for (; given[list.count]; list.count++)
        list.items[list.count] = given[list.count];
    return heddle_cli_shapes_read(&list, shapes);
}

static void several_options_and_semicolons_give_one_list(void **state)
{
    (void)state;
    heddle_cli_shapes shapes;
    static const char *const given[] = {"m=1 n=2;m=3 n=4;", "m=5 n=6", NULL}, *const none[] = {NULL};
    assert_int_equal(read_shapes(given, &shapes), HEDDLE_OK);
    assert_int_equal(shapes.count, 3);
    assert_string_equal(shapes.items[0], "m=1 n=2");
    assert_string_equal(shapes.items[1], "m=3 n=4");
    assert_string_equal(shapes.items[2], "m=5 n=6");
    assert_null(shapes.items[3]);
    heddle_cli_shapes_free(&shapes);
    assert_int_equal(read_shapes(none, &shapes), HEDDLE_OK);
    assert_int_equal(shapes.count, 0);
    heddle_cli_shapes_free(&shapes);
}

static void a_shape_is_told_in_one_line_however_it_was_typed(void **state)
{
    (void)state;
    heddle_cli_shapes shapes;
    static const char *const given[] = {"m=1\n  n=2\t\r\nk=3 ; \n m=4 n=5", NULL};
    assert_int_equal(read_shapes(given, &shapes), HEDDLE_OK);
    assert_int_equal(shapes.count, 2);
    assert_string_equal(shapes.items[0], "m=1 n=2 k=3");
    assert_string_equal(shapes.items[1], "m=4 n=5");
    heddle_cli_shapes_free(&shapes);
}

static void an_option_without_a_shape_is_refused(void **state)
{
    (void)state;
    static const char *const given[][3] = {{";", NULL}, {" ", NULL}, {" ;\n; ", NULL}, {"m=1", " ", NULL}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        heddle_cli_shapes shapes;
        assert_int_equal(read_shapes(given[i], &shapes), HEDDLE_INVALID);
        assert_non_null(strstr(heddle_last_error(), "--shape is empty"));
        heddle_cli_shapes_free(&shapes);
    }
}

static void more_shapes_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    char text[2 * (HEDDLE_CLI_MOST_SHAPES + 1) + 1] = "";
    for (int i = 0; i < HEDDLE_CLI_MOST_SHAPES; i++)
        strcat(text, "m;");
    const char *const given[] = {text, NULL};
    heddle_cli_shapes shapes;
    assert_int_equal(read_shapes(given, &shapes), HEDDLE_OK);
    assert_int_equal(shapes.count, HEDDLE_CLI_MOST_SHAPES);
    assert_null(shapes.items[HEDDLE_CLI_MOST_SHAPES]);
    heddle_cli_shapes_free(&shapes);
    strcat(text, "m;");
    assert_int_equal(read_shapes(given, &shapes), HEDDLE_INVALID);
    heddle_cli_shapes_free(&shapes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_options_and_semicolons_give_one_list),
        cmocka_unit_test(a_shape_is_told_in_one_line_however_it_was_typed),
        cmocka_unit_test(an_option_without_a_shape_is_refused),
        cmocka_unit_test(more_shapes_than_there_is_room_for_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
