// Products that are too large to hold twice: matmul_host's rungs come out right on tiles much smaller than the
// matrices, and the check that stands in for a second output finds one wrong element.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/out_of_core.h"
#include "heddle/device.h"
#include "under_test.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

enum { M = 53, N = 61, K = 47, SEED = 7 };

static float a[M * K], b[K * N], output[M * N];
static const heddle_out_of_core_product product = {M, N, K, a, b, output};

// The product itself, in float64, rounded once.
static void multiply(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int p = 0; p < K; p++)
                sum += (double)a[i * K + p] * b[p * N + j];
            output[i * N + j] = (float)sum;
        }
}

static int prepare(void **state)
{
    static heddle_out_of_core_expectation expected;
    heddle_out_of_core_fill(&product, NULL, SEED);
    assert_ok(heddle_out_of_core_expect(&product, NULL, SEED, &expected));
    multiply();
    *state = &expected;
    return 0;
}

static int forget(void **state)
{
    heddle_out_of_core_forget(*state);
    return 0;
}

static heddle_status check(const heddle_out_of_core_expectation *expected)
{
    double share;
    return heddle_out_of_core_check(&product, NULL, expected, HEDDLE_FULL, &share);
}

static void the_product_itself_passes(void **state)
{
    double share = -1;
    assert_ok(heddle_out_of_core_check(&product, NULL, *state, HEDDLE_FULL, &share));
    assert_true(share > 0 && share < 1);
}

static void one_element_off_is_found_wherever_it_is(void **state)
{
    const heddle_out_of_core_expectation *expected = *state;
    const float far = (float)(2.01 * expected->row_bound);
    static const int places[] = {0, N - 1, (M - 1) * N, M * N - 1, 17 * N + 31};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            float right = output[places[i]];
            output[places[i]] = right + (float)sign * far;
            assert_int_equal(check(expected), HEDDLE_DEVICE);
            output[places[i]] = right;
        }
    assert_ok(check(expected));
}

static void what_was_not_written_is_found(void **state)
{
    float row[N];
    memcpy(row, output + 20 * N, sizeof row);
    memset(output + 20 * N + 5, 0xff, sizeof(float)); // as poison leaves it
    assert_int_equal(check(*state), HEDDLE_DEVICE);
    assert_non_null(strstr(heddle_last_error(), "row 20"));
    memcpy(output + 20 * N, row, sizeof row);
}

static void rows_and_columns_that_changed_places_are_found(void **state)
{
    for (int i = 0; i < M; i++) { // two columns
        float left = output[i * N + 3];
        output[i * N + 3] = output[i * N + 40];
        output[i * N + 40] = left;
    }
    assert_int_equal(check(*state), HEDDLE_DEVICE);
    multiply();
    float row[N]; // two rows
    memcpy(row, output, sizeof row);
    memcpy(output, output + N, sizeof row);
    memcpy(output + N, row, sizeof row);
    assert_int_equal(check(*state), HEDDLE_DEVICE);
    multiply();
}

static void every_rung_is_right_on_tiles_smaller_than_the_matrices(void **state)
{
    (void)state;
    const heddle_matmul_host_shape shape = {.m = 75, .n = 59, .k = 33, .memory = 8};
    heddle_device *device;
    heddle_out_of_core result;
    assert_ok(heddle_device_open(device_under_test("cpu"), 1, &device));
    assert_ok(heddle_out_of_core_measure(device, NULL, &shape, SEED, NULL, &result));
    assert_true(result.count >= 2);
    for (int i = 0; i < result.count; i++) {
        assert_string_equal(result.rows[i].status == HEDDLE_OK ? "" : result.rows[i].message, "");
        assert_true(result.rows[i].share > 0);
    }
    heddle_device_close(device);
}

static void tiles_keep_to_the_limit(void **state)
{
    (void)state;
    const heddle_op *op;
    const heddle_rung *rung;
    assert_ok(heddle_op_find("matmul_host", &op));
    assert_ok(heddle_rung_find(op, "02_streams", &rung));
    for (int memory = 1 << 14; memory <= 1 << 22; memory *= 4) {
        heddle_matmul_host_shape shape = {.m = 100003, .n = 70001, .k = 50021, .memory = memory};
        size_t limit = (size_t)memory * 1024, bytes = rung->workspace(&shape, 0);
        assert_true(bytes >= limit / 2);
        assert_true(bytes <= 2 * limit); // products that split k keep sums of parts beside the tiles
    }
}

static void a_limit_too_small_for_any_tile_is_refused(void **state)
{
    (void)state;
    const heddle_matmul_host_shape shape = {.m = 75, .n = 59, .k = 33, .memory = 1};
    heddle_device *device;
    heddle_out_of_core result;
    assert_ok(heddle_device_open("cpu", 1, &device));
    assert_int_equal(heddle_out_of_core_measure(device, NULL, &shape, SEED, NULL, &result), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "1 KiB"));
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_product_itself_passes),
        cmocka_unit_test(one_element_off_is_found_wherever_it_is),
        cmocka_unit_test(what_was_not_written_is_found),
        cmocka_unit_test(rows_and_columns_that_changed_places_are_found),
        cmocka_unit_test(every_rung_is_right_on_tiles_smaller_than_the_matrices),
        cmocka_unit_test(tiles_keep_to_the_limit),
        cmocka_unit_test(a_limit_too_small_for_any_tile_is_refused),
    };
    return cmocka_run_group_tests(tests, prepare, forget);
}
