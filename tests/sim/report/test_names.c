// Names as the report shows them: functions without parameters, variables without scopes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/internal.h"

static void expect_function(const char *demangled, const char *expected)
{
    char name[160];
    sim_name_of_function(demangled, name, sizeof name);
    assert_string_equal(name, expected);
}

static void functions_lose_parameters_and_return_types(void **state)
{
    (void)state;
    expect_function("main", "main");
    expect_function("mm(float*, float const*)", "mm");
    expect_function("void mm<1>(float*)", "mm<1>");
    expect_function("void scan<float, 16u>(float*, int) [clone .isra.0]", "scan<float, 16u>");
    expect_function("(anonymous namespace)::helper(int)", "helper");
    expect_function("ns::box::get() const", "ns::box::get");
    expect_function("unsigned int ns::pick<int>(int (*)(int))", "ns::pick<int>");
    expect_function("box::operator()(int) const", "box::operator()");
    expect_function("operator new(unsigned long)", "operator new");
    expect_function("box& box::operator<< <int>(int)", "box::operator<< <int>");
}

static void lambdas_are_named_after_their_function(void **state)
{
    (void)state;
    expect_function("main::{lambda(int)#1}::operator()(int) const", "main::lambda");
    expect_function("main::'lambda'(int)::operator()(int) const", "main::lambda");
}

static void long_template_arguments_are_left_out(void **state)
{
    (void)state;
    expect_function("void run<std::vector<int, std::allocator<int> >, std::pair<int, float> >(int)", "run<...>");
    expect_function("void run<std::vector<int, std::allocator<int> >, std::pair<int, float> >::go<2>(int)",
                    "run<...>::go<2>");
}

static void expect_variable(const char *mangled, const char *expected)
{
    char name[128];
    sim_name_of_variable(mangled, name, sizeof name);
    assert_string_equal(name, expected);
}

// This program is C: there is no C++ runtime to ask. report.py has the other case.
static void variables_lose_their_scope(void **state)
{
    (void)state;
    expect_variable("plain", "plain");
    expect_variable("_ZZ2mmILi1EEvPfE4tile", "tile");
    expect_variable("_ZZ2mmPfE4tile_0", "tile");
    expect_variable("_ZZ4mainENKUlvE_clEvE6corner", "corner");
    expect_variable("_ZZ1kILi8EEvPiE1s", "s"); // of k<8>: the name is not the 8 letters behind it
    expect_variable("_ZZ1kPiE3a1s", "a1s");
    expect_variable("_ZL5table", "table");
    expect_variable("_ZN2ns3a1bE", "a1b");
    expect_variable("_ZN4deep12_GLOBAL__N_17counterE", "counter");
    expect_variable("counter.940845131", "counter"); // one of several of this name, each in a file of its own
    expect_variable("_ZN2ns3a1bE.17", "a1b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_lose_parameters_and_return_types),
        cmocka_unit_test(lambdas_are_named_after_their_function),
        cmocka_unit_test(long_template_arguments_are_left_out),
        cmocka_unit_test(variables_lose_their_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
