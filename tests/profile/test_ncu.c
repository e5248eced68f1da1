// ncu's CSV, in its layout and made up here: figures, what limits a kernel, and what is said where there are none.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/ncu.h"

#define TITLES                                                                                                         \
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\","                   \
    "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\"," \
    "\"launch__registers_per_thread\",\"launch__occupancy_limit_registers\",\"launch__occupancy_limit_shared_mem\","   \
    "\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"sm__maximum_warps_per_active_cycle_pct\","                \
    "\"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio\","                                    \
    "\"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio\","                                            \
    "\"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio\","                                           \
    "\"smsp__inst_executed_op_local_ld.sum\",\"smsp__inst_executed_op_local_st.sum\"\n"
#define UNITS                                                                                                          \
    "\"\",\"\",\"\",\"\",\"\",\"ns\",\"%\",\"%\",\"register/"                                                          \
    "thread\",\"block\",\"block\",\"%\",\"%\",\"\",\"\",\"\",\"inst\",\"inst\"\n"

static const char *const noise = "step 1 loss 0.5\n==PROF== Connected to process 71\n";

static void the_longest_launch_is_read(void **state)
{
    (void)state;
    static const char rows[] = TITLES UNITS
        "\"0\",\"71\",\"saxpy\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"2,048\",\"12.5\",\"91.25\",\"16\",\"16\",\"8\","
        "\"80\",\"100\",\"7.5\",\"2\",\"40\",\"0\",\"0\"\n"
        "\"1\",\"71\",\"saxpy(\"\"big\"\", float)\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\"1,234,567\",\"13\","
        "\"92\",\"16\",\"16\",\"8\",\"81\",\"100\",\"8\",\"2\",\"40\",\"0\",\"0\"\nthe end\n";
    char *text = NULL;
    assert_true(asprintf(&text, "%s%s", noise, rows) > 0);
    heddle_ncu_kernel kernel;
    assert_int_equal(heddle_ncu_read(text, &kernel), HEDDLE_OK);
    assert_string_equal(kernel.name, "saxpy(\"big\", float)");
    assert_string_equal(kernel.grid, "(4096, 1, 1)");
    assert_true(fabs(kernel.seconds - 1.234567e-3) < 1e-12);
    assert_true(kernel.registers == 16);
    assert_true(kernel.spills == 0);
    assert_true(isnan(kernel.l2)); // a column that is not there
    assert_string_equal(kernel.stall, "long scoreboard");
    char limit[HEDDLE_NCU_PHRASE];
    heddle_ncu_limit(&kernel, limit);
    assert_string_equal(limit, "device memory: at 92 % of its peak");
    free(text);
}

static void few_warps_are_told_with_what_allows_no_more(void **state)
{
    (void)state;
    heddle_ncu_kernel kernel;
    assert_int_equal(
        heddle_ncu_read(TITLES UNITS
                        "\"0\",\"71\",\"tile\",\"(128, 1, 1)\",\"(64, 1, 1)\",\"2048\",\"35\",\"20\",\"255\","
                        "\"2\",\"4\",\"11\",\"12.5\",\"3\",\"9\",\"1\",\"640\",\"320\"\n",
                        &kernel),
        HEDDLE_OK);
    char limit[HEDDLE_NCU_PHRASE];
    heddle_ncu_limit(&kernel, limit);
    assert_string_equal(limit, "latency, with few warps to hide it: registers allow 2 blocks");
    assert_true(kernel.spills == 960);
    char *shown = NULL;
    size_t size;
    FILE *file = open_memstream(&shown, &size);
    heddle_ncu_print(&kernel, file);
    fclose(file);
    assert_non_null(strstr(shown, "960 instructions on local memory"));
    assert_non_null(strstr(shown, "registers              255 per thread"));
    assert_null(strstr(shown, "nan"));
    free(shown);
}

static void what_ncu_refuses_is_said_with_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        heddle_status status;
    } cases[] = {
        {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "as root", HEDDLE_MISSING},
        {"==PROF== Disconnected\n==WARNING== No kernels were profiled.\n", "heddle trace", HEDDLE_NOT_FOUND},
        {"==ERROR== Failed to find metric x\nmore\n", "ncu: Failed to find metric x", HEDDLE_DEVICE},
        {"", "no table", HEDDLE_CORRUPT},
        {"\"ID\",\"Kernel Name\"\n\"\",\"\"\n", "no table", HEDDLE_CORRUPT},
        {"\"ID", "no table", HEDDLE_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heddle_ncu_kernel kernel;
        assert_int_equal(heddle_ncu_read(cases[i].text, &kernel), cases[i].status);
        assert_non_null(strstr(heddle_last_error(), cases[i].says));
    }
}

static void a_table_that_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    static const char whole[] = TITLES UNITS "\"0\",\"71\",\"saxpy\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"2048\",\"12\"\n";
    for (size_t length = 0; length < sizeof whole; length++) {
        char *part = strndup(whole, length);
        heddle_ncu_kernel kernel;
        (void)heddle_ncu_read(part, &kernel); // under the sanitizers, this is the test
        free(part);
    }
    heddle_ncu_kernel kernel;
    assert_int_equal(heddle_ncu_read(whole, &kernel), HEDDLE_OK);
    assert_true(isnan(kernel.registers));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_launch_is_read),
        cmocka_unit_test(few_warps_are_told_with_what_allows_no_more),
        cmocka_unit_test(what_ncu_refuses_is_said_with_what_to_do),
        cmocka_unit_test(a_table_that_is_cut_off_is_read_as_far_as_it_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
