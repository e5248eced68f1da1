// A tree whose runtime is not built yet: CMakeLists.txt compiles build/home.c for this test as if libsim.a were where
// nothing is.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "build/build.h"

static const char *const files[] = {"program.cu", NULL};

static void assert_says(const char *words)
{
    sim_build_result result = {0};
    const sim_build_options options = {.files = files};
    assert_int_equal(sim_build(&options, &result), SIM_BUILD_NO_COMPILER);
    assert_int_equal(result.count, 1);
    assert_string_equal(result.messages[0].text, words);
    sim_build_result_free(&result);
}

static void a_runtime_that_is_not_built_yet_says_what_builds_it(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("SIM_HOME"), 0);
    assert_says("the simulated GPU is not built: run `make check`");
}

static void a_home_without_a_runtime_is_told_from_it(void **state)
{
    (void)state;
    assert_int_equal(setenv("SIM_HOME", "/nowhere", 1), 0);
    assert_says("the simulator's headers and libsim.a are not where they were installed; set SIM_HOME to the folder "
                "that holds include/ and libsim.a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_runtime_that_is_not_built_yet_says_what_builds_it),
        cmocka_unit_test(a_home_without_a_runtime_is_told_from_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
