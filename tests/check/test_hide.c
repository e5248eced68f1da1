// What is said of a file that heddle wrote the main for.

#include "folder.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "check/hide.h"

// Findings are of the name that a kernel is launched by.
static void launches(const char *kernel, const char *expected)
{
    static const char *const sources[] = {"matmul.cu", NULL};
    heddle_check_job job = {.launch = "1, 32", .function = kernel};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(heddle_check_op_find("matmul", &job.op), HEDDLE_OK);
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    heddle_check_driver_print(&job, sources, folder, file);
    fclose(file);
    assert_contains(text, expected);
    free(text);
}

static void test_heddles_main_launches_a_kernel_by_its_own_name(void **state)
{
    (void)state;
    launches("matmul", " matmul<<<1, 32>>>(");
    launches("k", " function<<<1, 32>>>("); // what a field is called, too
}

static void test_lines_of_heddles_main_are_not_told(void **state)
{
    (void)state;
    heddle_check_folder here = {0};
    snprintf(here.path, sizeof here.path, "%s", folder);
    heddle_check_report *report = sample_parse(
        folder, "{\"findings\": [{\"kind\": \"out-of-bounds\", \"kernel\": \"matmul\", \"message\": \"\", \"places\": "
                "[{\"role\": \"read\", \"file\": \"@\", \"line\": 3, \"function\": \"matmul\", \"thread\": "
                "[16, 0, 0], \"block\": [0, 0, 0]}]}]}");
    heddle_check_job_hide(&here, report);
    assert_string_equal(report->findings[0].places[0].frame[0].file, "heddle's main");
    assert_int_equal(report->findings[0].places[0].frame[0].line, 0);
    heddle_check_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heddles_main_launches_a_kernel_by_its_own_name),
        cmocka_unit_test(test_lines_of_heddles_main_are_not_told),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
