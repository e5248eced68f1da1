// The course on disk: order, names, hints, statements, rules.

#include "learn/course.h"

#include "course_files.h"
#include "files.h"
#include "learn/rules.h"

static void exercises_are_in_the_order_of_their_numbers(void **state)
{
    write_course(*state);
    heddle_learn_course *course = open_course(*state);
    assert_int_equal(course->count, 3);
    assert_string_equal(course->exercises[0].number, "04.1");
    assert_string_equal(course->exercises[1].number, "05.2");
    assert_string_equal(course->exercises[2].number, "05.10");
    assert_string_equal(course->exercises[2].title, "Ten");
    assert_string_equal(course->exercises[2].chapter, "05-later");
    assert_true(heddle_learn_is_plain_c(&course->exercises[0]));
    assert_false(heddle_learn_is_plain_c(&course->exercises[1]));
    heddle_learn_course_close(course);
}

static void an_exercise_is_found_by_number_slug_name_and_path(void **state)
{
    static const char *const words[] = {"05.10", "5.10", "ten", "TEN", "05.10-ten", "a/b/05.10-ten.cu", "05.10-ten.md"};
    const heddle_learn_exercise *found;
    write_course(*state);
    heddle_learn_course *course = open_course(*state);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(heddle_learn_course_find(course, words[i], &found), HEDDLE_OK);
        assert_ptr_equal(found, &course->exercises[2]);
    }
    assert_int_equal(heddle_learn_course_find(course, "05.1", &found), HEDDLE_NOT_FOUND);
    assert_int_equal(heddle_learn_course_find(course, "tenn", &found), HEDDLE_NOT_FOUND);
    assert_non_null(strstr(heddle_last_error(), "did you mean ten?"));
    heddle_learn_course_close(course);
}

static void hints_are_the_items_of_the_list_without_links(void **state)
{
    const char **hints;
    int count = 0;
    write_course(*state);
    heddle_learn_course *course = open_course(*state);
    assert_int_equal(heddle_learn_hints(&course->exercises[0], course->arena, &hints, &count), HEDDLE_OK);
    assert_int_equal(count, 2);
    assert_string_equal(hints[0], "Look\n   closely.");
    assert_string_equal(hints[1], "See this and `that`.");
    heddle_learn_course_close(course);
}

static void a_statement_loses_comments_and_links_of_the_course(void **state)
{
    const char *text;
    write_course(*state);
    heddle_learn_course *course = open_course(*state);
    assert_int_equal(heddle_learn_statement(&course->exercises[1], course->arena, &text), HEDDLE_OK);
    assert_string_equal(text, "# 05.2 · Two\n\nSee it.\n");
    heddle_learn_course_close(course);
}

static void a_folder_without_exercises_is_not_a_course(void **state)
{
    heddle_learn_course *course;
    assert_int_equal(heddle_learn_course_open(*state, &course), HEDDLE_MISSING);
    assert_int_equal(heddle_learn_course_open("/nowhere/at/all", &course), HEDDLE_MISSING);
}

static void a_folder_that_cannot_be_included_from_is_refused(void **state)
{
    heddle_learn_course *course;
    char folder[600];
    snprintf(folder, sizeof folder, "%s/a\"b", (const char *)*state);
    write_course(folder);
    assert_int_equal(heddle_learn_course_open(folder, &course), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "rename the folder"));
}

static heddle_status read_rules(const char *folder, const char *text, heddle_learn_rules *rules)
{
    write_file(folder, "04-plain/exercises/04.1-one/judge.json", text);
    heddle_learn_course *course = open_course(folder);
    heddle_status status = heddle_learn_rules_read(&course->exercises[0], course->arena, rules);
    heddle_learn_course_close(course); // numbers stay
    return status;
}

static void rules_have_defaults_and_one_limit_per_measure(void **state)
{
    heddle_learn_rules rules;
    write_course(*state);
    assert_int_equal(read_rules(*state, "{\"start_fails_because\": [\"limit\"]}", &rules), HEDDLE_OK);
    assert_int_equal(rules.schedules, 2);
    assert_true(rules.seconds == 10);
    assert_int_equal(rules.limit_count, 0);
    assert_int_equal(read_rules(*state,
                                "{\"start_fails_because\": [\"limit\"], \"seconds\": 3, \"limits\": [{\"space\": "
                                "\"global\", \"sectors_per_request\": 4, \"accesses\": 100}]}",
                                &rules),
                     HEDDLE_OK);
    assert_true(rules.seconds == 3);
    assert_int_equal(rules.limit_count, 2);
}

static void a_mistake_in_the_rules_is_an_error(void **state)
{
    static const char *const mistakes[] = {
        "{\"start_fails_because\": [\"wrong\"], \"limit\": []}",
        "{\"start_fails_because\": []}",
        "{}",
        "[]",
        "{\"start_fails_because\": [1]}",
        "{\"start_fails_because\": [\"limit\"], \"limits\": [{\"sectors_per_requests\": 4}]}",
        "{\"start_fails_because\": [\"limit\"], \"limits\": [{\"space\": \"global\"}]}",
        "{\"start_fails_because\": [\"limit\"], \"seconds\": -1}",
        "{\"start_fails_because\": [\"source\"], \"must_use\": [\"for\"]}",
        "{\"start_fails_because\": [\"source\"], \"must_use\": {\"for\": \"\"}}",
    };
    heddle_learn_rules rules;
    write_course(*state);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        assert_int_equal(read_rules(*state, mistakes[i], &rules), HEDDLE_CORRUPT);
        assert_non_null(strstr(heddle_last_error(), "judge.json"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(exercises_are_in_the_order_of_their_numbers),
        WITH_FOLDER(an_exercise_is_found_by_number_slug_name_and_path),
        WITH_FOLDER(hints_are_the_items_of_the_list_without_links),
        WITH_FOLDER(a_statement_loses_comments_and_links_of_the_course),
        WITH_FOLDER(a_folder_without_exercises_is_not_a_course),
        WITH_FOLDER(a_folder_that_cannot_be_included_from_is_refused),
        WITH_FOLDER(rules_have_defaults_and_one_limit_per_measure),
        WITH_FOLDER(a_mistake_in_the_rules_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
