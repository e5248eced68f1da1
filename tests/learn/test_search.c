// Search over the course: what is found, what comes first, and what is shown of it.

#include "learn/search.h"

#include "course_files.h"
#include "files.h"

static const char chapter[] =
    "# 5. Later\n\nAbout warps.\n\n## 5.1 Banks\n\nA **bank** is a part of `shared` memory; see "
    "[warps](#warps).\n\n```sh\n# bank of no heading\n```\n\n### Deeper\n\nNothing here but a bank.\n";

static heddle_learn_found *search(const heddle_learn_course *course, const char *question, int *count)
{
    heddle_learn_found *found = NULL;
    assert_int_equal(heddle_learn_search(course, question, course->arena, &found, count), HEDDLE_OK);
    return found;
}

static void sections_with_every_word_are_found_best_first(void **state)
{
    int count = 0;
    write_course(*state);
    write_file(*state, "05-later/README.md", chapter);
    heddle_learn_course *course = open_course(*state);
    heddle_learn_found *found = search(course, "  BANK ", &count);
    assert_int_equal(count, 2);
    assert_string_equal(found[0].title, "5.1 Banks"); // a word in the heading counts most
    assert_string_equal(found[0].page, "05-later");
    assert_string_equal(found[0].kind, "section");
    assert_string_equal(found[0].excerpt, "A bank is a part of shared memory; see warps. bank of no heading");
    assert_string_equal(found[1].title, "Deeper");
    search(course, "bank warps", &count);
    assert_int_equal(count, 1);
    search(course, "bank xyzzy", &count);
    assert_int_equal(count, 0);
    search(course, " \t", &count);
    assert_int_equal(count, 0);
    heddle_learn_course_close(course);
}

static void the_glossary_entry_of_a_word_comes_first(void **state)
{
    int count = 0;
    write_course(*state);
    write_file(*state, "05-later/README.md", chapter);
    write_file(*state, "GLOSSARY.md",
               "# Glossary\n\n### bank\nA part.\n\n### bank conflict\nA bank, a bank, a bank.\n");
    heddle_learn_course *course = open_course(*state);
    heddle_learn_found *found = search(course, " Bank", &count);
    assert_int_equal(count, 4);
    assert_string_equal(found[0].title, "bank");
    assert_string_equal(found[0].kind, "glossary");
    assert_string_equal(found[0].page, "glossary");
    heddle_learn_course_close(course);
}

static void exercises_are_found_by_their_number(void **state)
{
    int count = 0;
    write_course(*state);
    heddle_learn_course *course = open_course(*state);
    heddle_learn_found *found = search(course, "see it", &count);
    assert_true(count >= 1);
    assert_string_equal(found[0].kind, "exercise");
    assert_string_equal(found[0].page, "05.2");
    assert_string_equal(found[0].title, "05.2 · Two");
    heddle_learn_course_close(course);
}

static void a_long_section_is_shown_around_the_word_and_whole_characters_stay_whole(void **state)
{
    char text[4096];
    int count = 0, used = snprintf(text, sizeof text, "# 5. Later\n\n");
    write_course(*state);
    for (int i = 0; i < 200; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, i == 100 ? "needle " : "größer ");
    write_file(*state, "05-later/README.md", text);
    heddle_learn_course *course = open_course(*state);
    heddle_learn_found *found = search(course, "needle", &count);
    assert_int_equal(count, 1);
    assert_non_null(strstr(found[0].excerpt, "größer needle größer"));
    assert_true(strncmp(found[0].excerpt, "… größer", strlen("… größer")) == 0);
    assert_true(strlen(found[0].excerpt) < 250);
    assert_string_equal(found[0].excerpt + strlen(found[0].excerpt) - strlen("größer …"), "größer …");
    heddle_learn_course_close(course);
}

static void of_many_only_the_best_are_kept(void **state)
{
    static char text[200000];
    int count = 0;
    write_course(*state);
    int used = snprintf(text, sizeof text, "# 5. Later\n\n");
    for (int i = 0; i < 100; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "## 5.%d Part\n\nneedle%s\n\n", i,
                         i == 77 ? " needle needle" : "");
    write_file(*state, "05-later/README.md", text);
    heddle_learn_course *course = open_course(*state);
    heddle_learn_found *found = search(course, "needle", &count);
    assert_int_equal(count, HEDDLE_LEARN_MOST_FOUND);
    assert_string_equal(found[0].title, "5.77 Part");
    assert_string_equal(found[1].title, "5.0 Part");
    assert_string_equal(found[count - 1].title, "5.28 Part");
    heddle_learn_course_close(course);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(sections_with_every_word_are_found_best_first),
        WITH_FOLDER(the_glossary_entry_of_a_word_comes_first),
        WITH_FOLDER(exercises_are_found_by_their_number),
        WITH_FOLDER(a_long_section_is_shown_around_the_word_and_whole_characters_stay_whole),
        WITH_FOLDER(of_many_only_the_best_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
