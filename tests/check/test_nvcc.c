// What nvcc prints, read as findings.

#include "files.h"
#include "sample.h"

#include "check/build.h"
#include "check/describe.h"
#include "check/finish.h"

static heddle_check_result *read_opinion(const char *text)
{
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_result_create(&result));
    assert_ok(heddle_check_opinion_read(text, result));
    return result;
}

static void test_a_host_function_in_a_kernel_is_an_error(void **state)
{
    (void)state;
    heddle_check_result *result = read_opinion(
        "k.cu(4): error: calling a constexpr __host__ function(\"min\") from a __global__ function(\"k\") is "
        "not allowed. The experimental flag can be used to allow this.\n"
        "  a[i] = std::min(a[i], 2.0f);\n         ^\n\n1 error detected in the compilation of \"k.cu\".\n");
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0]->kind, HEDDLE_CHECK_NOT_LEGAL);
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    assert_string_equal(result->findings[0]->places[0].frame[0].file, "k.cu");
    assert_int_equal(result->findings[0]->places[0].frame[0].line, 4);
    assert_contains(result->findings[0]->message, "nvcc: calling a constexpr __host__ function");
    heddle_check_result_free(result);
}

static void cure_is(const char *opinion, const char *cure)
{
    heddle_check_result *result = read_opinion(opinion);
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_ERROR);
    heddle_check_finish(result, NULL, false);
    assert_contains(result->findings[0]->cure, cure);
    heddle_check_result_free(result);
}

static void test_the_cure_fits_what_nvcc_says_of_a_kernel(void **state)
{
    (void)state;
    cure_is("k.cu(4): error: calling a __host__ function(\"f\") from a __global__ function(\"k\") is not allowed\n",
            "may only call __device__ functions");
    cure_is("k.cu(4): error: initializer not allowed for __shared__ variable\n",
            "Declare it without a value, let the threads write it, and put __syncthreads() behind that.");
    cure_is("k.cu(4): error: a __global__ function call must be configured\n",
            "kernel<<<blocks, threads>>>(arguments)");
    cure_is("k.cu(4): error: a __global__ function must have a void return type\n", "as nvcc says");
}

static void test_what_may_be_the_toolkits_version_is_a_warning(void **state)
{
    (void)state;
    heddle_check_result *result = read_opinion(
        "k.cu(9): error: class \"cudaDeviceProp\" has no member \"clockRate\"\nk.cu(9): warning: unused\nnvcc fatal\n");
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0]->tier, HEDDLE_CHECK_WARNING);
    heddle_check_result_free(result);
}

static void test_a_header_that_is_missing_is_no_finding(void **state)
{
    (void)state;
    heddle_check_result *result =
        read_opinion("k.cu:1:10: fatal error: helper_cuda.h: No such file or directory\ncompilation terminated.\n");
    assert_int_equal(result->finding_count, 0);
    heddle_check_result_free(result);
}

static void test_a_launch_in_a_kernel_is_legal_with_its_flag(void **state)
{
    (void)state;
    heddle_check_result *result = read_opinion(
        "k.cu(7): error: kernel launch from __device__ or __global__ functions requires separate compilation mode\n"
        "k.cu(9): error: kernel launch from __device__ or __global__ functions requires separate compilation mode\n");
    assert_int_equal(result->finding_count, 0);
    assert_int_equal(result->note_count, 1);
    assert_contains(result->notes[0], "k.cu:7 launches a kernel from a kernel");
    assert_contains(result->notes[0], "-rdc=true");
    heddle_check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_host_function_in_a_kernel_is_an_error),
        cmocka_unit_test(test_the_cure_fits_what_nvcc_says_of_a_kernel),
        cmocka_unit_test(test_what_may_be_the_toolkits_version_is_a_warning),
        cmocka_unit_test(test_a_header_that_is_missing_is_no_finding),
        cmocka_unit_test(test_a_launch_in_a_kernel_is_legal_with_its_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
