// What reports are made of: text that cannot become markup, and a page that is whole.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/html.h"

typedef void printer(FILE *file, const char *text);

static void assert_printed(printer *print, const char *text, const char *expected)
{
    char *made = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&made, &size);
    assert_non_null(file);
    print(file, text);
    fclose(file);
    assert_string_equal(made, expected);
    free(made);
}

static void text_cannot_become_markup(void **state)
{
    (void)state;
    assert_printed(heddle_html_text, "a <b> & \"c\" 'd'\a\t`e`", "a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\t`e`");
}

static void code_in_a_sentence_stands_between_backticks(void **state)
{
    (void)state;
    assert_printed(heddle_html_sentence, "use `a<b>` or `c`.", "use <code>a&lt;b&gt;</code> or <code>c</code>.");
    assert_printed(heddle_html_sentence, "one ` alone", "one ` alone");
    assert_printed(heddle_html_sentence, "`a` and ` alone", "<code>a</code> and ` alone");
}

static void a_page_has_the_look_of_all_pages_and_ends(void **state)
{
    char *made = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&made, &size);
    (void)state;
    assert_non_null(file);
    heddle_html_begin(file, "heddle <test>", ".own-rule { }\n");
    heddle_html_colour_source(file);
    assert_int_equal(heddle_html_end(file), HEDDLE_OK);
    fclose(file);
    static const char *const parts[] = {"<title>heddle &lt;test&gt;</title>", "--strong:", ".finding", ".own-rule",
                                        "<h1>heddle &lt;test&gt;</h1>",       "tokens(",   "</html>\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(made, parts[i]))
            fail_msg("%s is missing", parts[i]);
    assert_null(strstr(made, "\nexport "));
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_cannot_become_markup),
        cmocka_unit_test(code_in_a_sentence_stands_between_backticks),
        cmocka_unit_test(a_page_has_the_look_of_all_pages_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
