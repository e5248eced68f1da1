// Names as the report shows them: functions without parameters, variables without scopes, allocations by the variable
// that was given to the call.
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
}

static void expect_allocation(const char *text, const char *function, size_t which, const char *expected)
{
    char name[128];
    assert_int_equal(sim_describe_parse(text, function, which, name, sizeof name), expected[0] != '\0');
    assert_string_equal(name, expected);
}

static void allocations_are_named_after_the_first_argument(void **state)
{
    (void)state;
    expect_allocation("cudaMalloc(&d_c, n);", "cudaMalloc", 0, "d_c");
    expect_allocation("cudaMalloc((void **)&d_c, n);", "cudaMalloc", 0, "d_c");
    expect_allocation("cudaMalloc( ( void** ) &d_c , n);", "cudaMalloc", 0, "d_c");
    expect_allocation("checkCudaErrors(cudaMalloc((void**)&(d_c), n * sizeof(float)));", "cudaMalloc", 0, "d_c");
    expect_allocation("cudaMallocManaged(&x, n);", "cudaMallocManaged", 0, "x");
    expect_allocation("cudaMalloc(reinterpret_cast<void **>(&s.data), n)", "cudaMalloc", 0, "s.data");
    expect_allocation("cudaMalloc<float>(&rows[i + 1], n)", "cudaMalloc", 0, "rows[i+1]");
    expect_allocation("cudaMalloc(&this->buffer, n)", "cudaMalloc", 0, "this->buffer");
    expect_allocation("cudaMalloc((void **)out, n)", "cudaMalloc", 0, "out");
    expect_allocation("cudaMalloc(\n    (void **)&d_c,\n    n)", "cudaMalloc", 0, "d_c");
    expect_allocation("cudaMalloc(&a, n); cudaMalloc(&b, n);", "cudaMalloc", 1, "b");
    expect_allocation("cudaMallocHost(&h, n); cudaMalloc(&d, n);", "cudaMalloc", 0, "d");
    expect_allocation("float *p = (float *)malloc(n);", "malloc", 0, "p");
    expect_allocation("node->next = new node;", "new", 0, "node->next");
}

static void what_is_no_variable_has_no_name(void **state)
{
    (void)state;
    expect_allocation("cudaMalloc(make(&x, 3), n)", "cudaMalloc", 0, "");
    expect_allocation("d_c = allocate(n);", "cudaMalloc", 0, "");
    expect_allocation("cudaMalloc", "cudaMalloc", 0, "");
    expect_allocation("cudaMalloc(", "cudaMalloc", 0, "");
    expect_allocation("", "cudaMalloc", 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_lose_parameters_and_return_types),
        cmocka_unit_test(lambdas_are_named_after_their_function),
        cmocka_unit_test(long_template_arguments_are_left_out),
        cmocka_unit_test(variables_lose_their_scope),
        cmocka_unit_test(allocations_are_named_after_the_first_argument),
        cmocka_unit_test(what_is_no_variable_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
