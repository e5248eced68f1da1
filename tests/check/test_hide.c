// What is said of a file that heddle wrote the main for.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "check/hide.h"

// A fault in the kernel, which the main in `folder` launches by another name.
static heddle_check_report *stopped_kernel(void)
{
    return sample_parse(folder,
                        "{\"unchecked\": \"kernel function stopped at its fault: the rest\", \"findings\": ["
                        "{\"kind\": \"out-of-bounds\", \"kernel\": \"function\", \"message\": \"\", \"places\": "
                        "[{\"role\": \"read\", \"file\": \"@\", \"line\": 3, \"function\": \"matmul\", \"thread\": "
                        "[16, 0, 0], \"block\": [0, 0, 0]}]}, "
                        "{\"kind\": \"race\", \"kernel\": \"other\", \"message\": \"\", \"places\": []}, "
                        "{\"kind\": \"leak\", \"kernel\": null, \"message\": \"\", \"places\": []}], "
                        "\"kernels\": [{\"kernel\": \"function\"}, {\"kernel\": \"functions\"}]}");
}

static void test_a_kernel_with_a_launch_has_its_own_name(void **state)
{
    (void)state;
    heddle_check_job job = {.function = "matmul", .launch = "1, 32"};
    heddle_check_folder elsewhere = {.path = "/nowhere"};
    heddle_check_report *report = stopped_kernel();
    heddle_check_job_hide(&job, &elsewhere, report);
    assert_string_equal(report->findings[0].kernel, "matmul");
    assert_string_equal(report->findings[1].kernel, "other");
    assert_null(report->findings[2].kernel);
    assert_string_equal(report->kernels[0].name, "matmul");
    assert_string_equal(report->kernels[1].name, "functions");
    assert_string_equal(report->unchecked, "kernel matmul stopped at its fault: the rest");
    heddle_check_report_free(report);
}

static void test_the_name_that_is_hidden_is_the_one_that_heddles_main_launches(void **state)
{
    (void)state;
    static const char *const sources[] = {"matmul.cu", NULL};
    heddle_check_job job = {.function = "matmul", .launch = "1, 32"};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(heddle_check_op_find("matmul", &job.op), HEDDLE_OK);
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    heddle_check_driver_print(&job, sources, folder, file);
    fclose(file);
    assert_contains(text, " function<<<1, 32>>>(");
    free(text);
}

// There the file launches its kernels itself, by whatever name.
static void test_kernels_that_a_function_launches_keep_their_names(void **state)
{
    (void)state;
    heddle_check_job job = {.function = "matmul"};
    heddle_check_folder elsewhere = {.path = "/nowhere"};
    heddle_check_report *report = stopped_kernel();
    heddle_check_job_hide(&job, &elsewhere, report);
    assert_string_equal(report->findings[0].kernel, "function");
    assert_string_equal(report->kernels[0].name, "function");
    assert_string_equal(report->unchecked, "kernel function stopped at its fault: the rest");
    heddle_check_report_free(report);
}

static void test_lines_of_heddles_main_are_not_told(void **state)
{
    (void)state;
    heddle_check_job job = {.function = "matmul"};
    heddle_check_folder here = {0};
    snprintf(here.path, sizeof here.path, "%s", folder);
    heddle_check_report *report = stopped_kernel();
    heddle_check_job_hide(&job, &here, report);
    assert_string_equal(report->findings[0].places[0].frame[0].file, "heddle's main");
    assert_int_equal(report->findings[0].places[0].frame[0].line, 0);
    heddle_check_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_with_a_launch_has_its_own_name),
        cmocka_unit_test(test_the_name_that_is_hidden_is_the_one_that_heddles_main_launches),
        cmocka_unit_test(test_kernels_that_a_function_launches_keep_their_names),
        cmocka_unit_test(test_lines_of_heddles_main_are_not_told),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
