// matmul_host's plan: the workspace that its table asks for is enough for every step of every tile, and the buffers
// stay within the limit.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"
#include "heddle/ops.h"
#include "heddle/random.h"
#include "ops/matmul_host/plan.h"

enum {
    SHAPES = 3000,
    MOST_TILES = 64, // of a product: more are the same ones over and over
};

// What the products of all steps of all tiles take at most.
static size_t need_of_all(const heddle_matmul_host_shape *shape, const heddle_matmul_host_plan *plan,
                          heddle_matmul_host_need *need)
{
    size_t most = 0;
    for (int tile = 0; tile < plan->tiles_m * plan->tiles_n; tile++) {
        heddle_matmul_host_step step = heddle_matmul_host_begin(shape, plan, tile);
        for (;; step = heddle_matmul_host_next(shape, plan, step)) {
            size_t bytes = heddle_matmul_host_step_bytes(plan, &step, need);
            most = bytes > most ? bytes : most;
            heddle_matmul_shape whole = {.m = step.rows, .n = step.columns, .k = step.depth, .alpha = 1.0f};
            whole.beta = step.first > 0 ? 1.0f : 0.0f;
            most = need(&whole) > most ? need(&whole) : most; // as rung 1 takes every step
            assert_true(heddle_matmul_host_bytes(step.rows, step.depth) <= plan->bytes_a);
            assert_true(heddle_matmul_host_bytes(step.depth, step.columns) <= plan->bytes_b);
            assert_true(heddle_matmul_host_bytes(step.rows, step.columns) <= plan->bytes_output);
            if (step.last)
                break;
        }
    }
    return most;
}

static void assert_enough(const heddle_op *op, const char *name, const heddle_matmul_host_shape *shape, int sets,
                          heddle_matmul_host_need *need)
{
    const heddle_rung *rung;
    assert_int_equal(heddle_rung_find(op, name, &rung), HEDDLE_OK);
    heddle_matmul_host_plan plan = heddle_matmul_host_plan_of(shape);
    size_t asked = rung->workspace(shape, 1);
    size_t used = heddle_matmul_host_buffers(&plan, sets) + need_of_all(shape, &plan, need);
    if (asked < used)
        fail_msg("%s, m=%d n=%d k=%d memory=%d: %zu bytes of workspace, but its tiles take %zu", name, shape->m,
                 shape->n, shape->k, shape->memory, asked, used);
    assert_true(heddle_matmul_host_buffers(&plan, 2) <= (size_t)shape->memory * 1024);
}

static void the_workspace_is_enough_for_every_tile(void **state)
{
    (void)state;
    const heddle_op *op;
    heddle_random random = heddle_random_make(harness_seed(), 11);
    int looked_at = 0;
    assert_int_equal(heddle_op_find("matmul_host", &op), HEDDLE_OK);
    for (int i = 0; i < SHAPES; i++) {
        // The first has two columns of tiles and more rows of them: its only whole tile but the first is the third.
        heddle_matmul_host_shape shape = {.m = 1315, .n = 798, .k = 704, .memory = 4333};
        const uint32_t side = i % 2 ? 400 : 3000, memory = i % 3 ? 4000 : 100;
        if (i > 0) {
            shape.m = 1 + (int)(heddle_random_u32(&random) % side);
            shape.n = 1 + (int)(heddle_random_u32(&random) % side);
            shape.k = (int)(heddle_random_u32(&random) % side);
            shape.memory = HEDDLE_MATMUL_HOST_LEAST_KIB + (int)(heddle_random_u32(&random) % memory);
        }
        heddle_matmul_host_plan plan = heddle_matmul_host_plan_of(&shape);
        if ((double)plan.tiles_m * plan.tiles_n > MOST_TILES)
            continue;
        looked_at++;
        assert_enough(op, "01_one_stream", &shape, 1, heddle_matmul_host_need_tuned);
        assert_enough(op, "02_streams", &shape, 2, heddle_matmul_host_need_tuned);
        assert_enough(op, "03_streams_tf32x3", &shape, 2, heddle_matmul_host_need_parts);
    }
    assert_true(looked_at > SHAPES / 4);
}

// Rows of 2 GiB are more than a copy of a block takes, and tiles of 12 by 12 of these matrices more than an int counts.
static void what_cannot_be_copied_or_counted_is_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {"m=1 n=536870912 k=1", "m=1 n=1 k=536870912",
                                          "m=1000000000 n=500000000 k=3000 memory=4"};
    const heddle_op *op;
    const heddle_rung *rung;
    assert_int_equal(heddle_op_find("matmul_host", &op), HEDDLE_OK);
    assert_int_equal(heddle_rung_find(op, "02_streams", &rung), HEDDLE_OK);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        heddle_matmul_host_shape shape;
        assert_int_equal(heddle_shape_parse(op, refused[i], &shape), HEDDLE_OK);
        assert_false(rung->supports(&shape));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_workspace_is_enough_for_every_tile),
        cmocka_unit_test(what_cannot_be_copied_or_counted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
