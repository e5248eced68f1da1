// The comment that says how a kernel is launched.

#include "folder.h"
#include "sample.h"

#include <stddef.h>

#include "check/operator.h"

static heddle_status launch_of(const char *text, heddle_check_launch *launch)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    const heddle_op *op = NULL;
    assert_ok(heddle_check_op_find("matmul", &op));
    assert_ok(heddle_shape_parse(op, "m=100 n=33 k=7", shape));
    return heddle_check_launch_read(text, op, shape, launch);
}

static void test_a_launch_is_computed_from_the_shape(void **state)
{
    (void)state;
    heddle_check_launch launch;
    assert_ok(launch_of("(m * n + 255) / 256, 256", &launch));
    assert_int_equal(launch.grid[0], 13);
    assert_int_equal(launch.grid[1], 1);
    assert_int_equal(launch.block[0], 256);
    assert_int_equal(launch.shared, 0);
    assert_ok(launch_of(" dim3((n + 15) / 16, (m + 15)/16) , dim3(16, 8, 2), 4 * (k - 1) % 7 + 0x10", &launch));
    const heddle_check_launch expected = {{3, 7, 1}, {16, 8, 2}, 19};
    assert_memory_equal(&launch, &expected, sizeof launch);
    assert_ok(launch_of("n / 100, 1", &launch));
    assert_int_equal(launch.grid[0], 0);
}

static void test_what_cannot_be_read_or_launched_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"", "cannot parse"},
        {"1", "cannot parse"},
        {"1,", "cannot parse"},
        {"1, 2, 3, 4", "cannot parse"},
        {"(1, 2", "cannot parse"},
        {"dim3(1, 2, 3, 4), 1", "cannot parse"},
        {"1 +, 2", "cannot parse"},
        {"1.5, 2", "cannot parse"},
        {"q, 32", "has no field 'q'"},
        {"m / (k - 7), 32", "division by zero"},
        {"m % 0, 32", "division by zero"},
        {"m * 9223372036854775807, 32", "too large"},
        {"k - m, 32", "is not a size"},
        {"1, 0", "1 to 1024"},
        {"1, dim3(64, 64)", "1 to 1024"},
        {"1, dim3(2147483647, 2147483647, 2147483647)", "1 to 1024"},
        {"1, 32, 300000", "more than a GPU has"},
    };
    heddle_check_launch launch;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(launch_of(wrong[i].text, &launch), HEDDLE_INVALID, wrong[i].part);
    char deep[256];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_fails(launch_of(deep, &launch), HEDDLE_INVALID, "cannot parse");
}

static const char *find(const char *source)
{
    static char text[HEDDLE_CHECK_LAUNCH_SIZE];
    scratch_write(folder, "kernel.cu", source, strlen(source));
    assert_ok(heddle_check_launch_find(scratch_path(folder, "kernel.cu"), text));
    return text;
}

static void test_the_comment_is_found(void **state)
{
    (void)state;
    assert_string_equal(find("// launch: <<<n, 32>>>\n__global__ void k() {}\n"), "n, 32");
    assert_string_equal(find("// A kernel.\n//\n  // launch: <<<dim3(n), 32, 8>>> as ever\nint x;"), "dim3(n), 32, 8");
    assert_string_equal(find(""), "");
    assert_string_equal(find("// launch: by hand\n"), "");
    assert_string_equal(find("// launch: <<<n,\n// 32>>>\n"), "");
    assert_string_equal(find("/*\n// launch: <<<5, 6>>>\n*/ R\"(\n// launch: <<<7, 8>>>\n)\"\n// launch: <<<n, 4>>>"),
                        "n, 4");
    assert_string_equal(find("int main() { k<<<1, 2>>>(); } // launch: <<<3, 4>>>\n"), "");
}

static void test_a_kernel_with_a_launch_is_a_job(void **state)
{
    (void)state;
    static const char source[] = "// launch: <<<m, n>>>\n__global__ void matmul(float *a) {}\n";
    scratch_write(folder, "op.cu", source, sizeof source - 1);
    char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path(folder, "op.cu"));
    const char *const sources[] = {path, NULL};
    const heddle_op *op = NULL;
    heddle_check_job job;
    assert_ok(heddle_check_op_find("matmul", &op));
    assert_ok(heddle_check_job_prepare(&job, op, sources, 1));
    assert_string_equal(job.function, "matmul");
    assert_string_equal(job.launch, "m, n");
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    heddle_check_driver_print(&job, sources, "/folder", stream);
    fclose(stream);
    assert_contains(text, "const int m = (int)heddle_one.field[0];\n");
    assert_contains(text, "matmul<<<m, n>>>(a, b, output, (int)heddle_one.field[0], (int)heddle_one.field[1], "
                          "(int)heddle_one.field[2]);");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_launch_is_computed_from_the_shape),
        cmocka_unit_test(test_what_cannot_be_read_or_launched_is_told),
        cmocka_unit_test(test_the_comment_is_found),
        cmocka_unit_test(test_a_kernel_with_a_launch_is_a_job),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
