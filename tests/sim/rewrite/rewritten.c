// What rewritten.h says.

#include "rewritten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewrite/rewrite.h"

char *rewritten(const char *text)
{
    size_t bytes = 0;
    char *result = sim_rewrite_text("test.cu", text, strlen(text), &bytes);
    assert_non_null(result);
    assert_int_equal(strlen(result), bytes);
    return result;
}

void becomes(const char *text, const char *expected)
{
    char *result = rewritten(text);
    assert_string_equal(result, expected);
    free(result);
}

void stays(const char *text)
{
    becomes(text, text);
}
