// A file of heddle's own rungs, which is no program: what is said of it.

#include "folder.h"
#include "sample.h"

#include "base/file.h"
#include "check/scan.h"
#include "heddle/op.h"

static heddle_status refuse(const char *name, const char *text)
{
    scratch_write(folder, name, text, strlen(text));
    return heddle_check_rung_refuse(scratch_path(folder, name));
}

static void test_a_rung_that_the_simulated_gpu_runs_is_sent_there(void **state)
{
    (void)state;
    assert_fails(refuse("k.cu", "\nHEDDLE_CUDA_RUNG(\"transpose\", \"01_naive\", launch)\n"), HEDDLE_INVALID,
                 "`heddle bench transpose/01_naive --device sim` checks it on the simulated GPU");
    // A copy is not what heddle is built of.
    assert_fails(refuse("k.cu", "\nHEDDLE_CUDA_RUNG(\"transpose\", \"01_naive\", launch)\n"), HEDDLE_INVALID,
                 "; change it in src/ops/transpose, not in a copy, and after a build, `heddle bench");
    assert_ok(heddle_folder_create(scratch_path(folder, "transpose")));
    assert_fails(refuse("transpose/k.cu", "\nHEDDLE_CUDA_RUNG(\"transpose\", \"01_naive\", launch)\n"), HEDDLE_INVALID,
                 "; after a build, `heddle bench");
    assert_ok(refuse("k.cu", "// speaks of HEDDLE_CUDA_RUNG(\"transpose\", \"01_naive\", launch)\nint x;\n"));
}

static void test_a_rung_that_it_lacks_something_for_is_sent_to_a_real_gpu(void **state)
{
    (void)state;
    assert_fails(refuse("k.cu", "\nHEDDLE_CUDA_RUNG(\"matmul_forward\", \"cublas\", launch)\n"), HEDDLE_INVALID,
                 "`heddle bench matmul_forward/cublas --device cuda` checks it on a real GPU: the simulated one has no "
                 "cuBLAS");
    assert_fails(refuse("k.cu", "\nHEDDLE_CUDA_RUNG(\"matmul_forward\", \"cublas\", launch)\n"
                                "HEDDLE_CUDA_RUNG(\"transpose\", \"01_naive\", launch)\n"),
                 HEDDLE_INVALID, "`heddle bench transpose/01_naive --device sim`");
}

static void test_a_rung_that_the_registry_does_not_have_is_sent_nowhere(void **state)
{
    (void)state;
    assert_fails(refuse("k.cu", "\nHEDDLE_CUDA_RUNG(\"transpose\", \"77_new\", launch)\n"), HEDDLE_INVALID,
                 "`heddle bench transpose/77_new` checks it");
}

// Some ladders enter their rungs by a macro around HEDDLE_CUDA_RUNG.
static void test_a_rung_is_known_by_its_place_too(void **state)
{
    (void)state;
    assert_ok(heddle_folder_create(scratch_path(folder, "reduction")));
    static const char text[] = "#include \"ops/reduction/levels.h\"\nHEDDLE_REDUCTION_RUNGS(\"05_shuffle\", level)\n";
    assert_fails(refuse("reduction/05_shuffle.cu", text), HEDDLE_INVALID,
                 "`heddle bench sum_forward/05_shuffle --device sim`");
    assert_ok(refuse("reduction/05_mine.cu", text));
    assert_ok(refuse("05_shuffle.cu", text));
    assert_ok(refuse("reduction/05_shuffle.cu", "void f();\n")); // somebody else's
}

// Whether a rung of that name runs on the simulated GPU in any operator of the ladder: they share a file.
static bool any_runs_on_sim(const char *ladder, const char *name)
{
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        for (int r = 0; strcmp(op->ladder_name, ladder) == 0 && r < op->rungs; r++)
            if (strcmp(op->ladder[r].name, name) == 0 && heddle_rung_runs_on(&op->ladder[r], HEDDLE_SIM))
                return true;
    }
    return false;
}

static void test_every_rungs_file_is_sent_where_it_runs(void **state)
{
    (void)state;
    int seen = 0, on_sim = 0, on_cpu = 0;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        for (int r = 0; r < op->rungs; r++) {
            char path[1024];
            const bool cpu = op->ladder[r].device == HEDDLE_CPU;
            snprintf(path, sizeof path, HEDDLE_SOURCE_DIR "/src/ops/%s/%s.%s", op->ladder_name, op->ladder[r].name,
                     cpu ? "c" : "cu");
            if (!heddle_file_exists(path))
                continue;
            const bool runs = !cpu && any_runs_on_sim(op->ladder_name, op->ladder[r].name);
            assert_fails(heddle_check_rung_refuse(path), HEDDLE_INVALID,
                         cpu    ? " --device cpu` checks it"
                         : runs ? " --device sim`"
                                : " --device cuda`");
            seen++;
            on_sim += runs;
            on_cpu += cpu;
        }
    }
    assert_true(on_sim > 0 && on_cpu > 0 && on_sim + on_cpu < seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rung_that_the_simulated_gpu_runs_is_sent_there),
        cmocka_unit_test(test_a_rung_that_it_lacks_something_for_is_sent_to_a_real_gpu),
        cmocka_unit_test(test_a_rung_that_the_registry_does_not_have_is_sent_nowhere),
        cmocka_unit_test(test_a_rung_is_known_by_its_place_too),
        cmocka_unit_test(test_every_rungs_file_is_sent_where_it_runs),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
