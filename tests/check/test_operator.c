// Files without main: finding functions in source text, choosing an operator, and holding outputs against references.

#include "folder.h"
#include "sample.h"

#include <math.h>
#include <stddef.h>

#include "check/operands.h"
#include "check/operator.h"
#include "check/scan.h"

// --- finding functions -----------------------------------------------------------------------------------------------

static heddle_check_defines text_defines(const char *text, const char *name)
{
    heddle_check_defines defines;
    scratch_write(folder, "text.cu", text, strlen(text));
    assert_ok(heddle_check_file_defines(scratch_path(folder, "text.cu"), NULL, name, &defines));
    return defines;
}

static void test_main_is_found_wherever_a_linker_would_find_it(void **state)
{
    (void)state;
    static const char *const with[] = {
        "int main() { return 0; }",
        "#include <stdio.h>\nint\nmain (int argc, char **argv)\n{\n}",
        "void f() { g(); }\nstruct s { int a; };\nint main(void) {}",
        "extern \"C\" { int main() { } }",
        "extern \"C\" void f() { }\nint main() { }",
        "namespace n { int x; }\nauto main() noexcept {}",
        "const char *s = \"{\"; // {\nint main() {}",
        "#define BODY {\nint main() {}",
        "__global__ void k(int *p) { p[0] = '{'; }\nint main() { k<<<1, 1>>>(0); }",
        "void f() {\n#ifdef LOOP\nfor (;;) {\n#else\nif (1) {\n#endif\n}\n}\nint main() {}",
        "void f() {\n#if A\n{\n#if B\n{\n#else\n{\n#endif\n}\n#elif C\n{\n#endif\n}\n}\nint main() {}",
        "#ifdef WIDE\nvoid f(int a, int b) {\n#else\nvoid f(int a) {\n#endif\n}\nint main() {}",
    };
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (text_defines(with[i], "main") != HEDDLE_CHECK_FUNCTION)
            fail_msg("not found in: %s", with[i]);
    static const char *const without[] = {
        "",
        "int main();",
        "// int main() {}\nint x;",
        "/* int main() {} */",
        "const char *s = \"int main() {}\";",
        "int remain() {}",
        "#define MAIN int main() {}",
        "void f() { main(); { } }",
        "struct s { void main() {} };",
        "struct s {\n#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nvoid main() {} };",
    };
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (text_defines(without[i], "main") != HEDDLE_CHECK_ABSENT)
            fail_msg("found in: %s", without[i]);
}

// A main that may or may not be there: what is wrong is for the compiler to say.
static void test_a_main_in_a_text_with_an_open_bracket_counts(void **state)
{
    (void)state;
    assert_int_equal(text_defines("int main( {", "main"), HEDDLE_CHECK_FUNCTION);
    assert_int_equal(text_defines("void f() { if (1) { }\nint main() { return 0; }\n", "main"), HEDDLE_CHECK_FUNCTION);
    assert_int_equal(text_defines("void f() { if (1) { }\nint remain() { }\n", "main"), HEDDLE_CHECK_ABSENT);
}

static void test_kernels_are_told_from_functions(void **state)
{
    (void)state;
    const char *text = "__global__ void relu(float *x) { }\nvoid add(float *x) { }";
    assert_int_equal(text_defines(text, "relu"), HEDDLE_CHECK_IS_KERNEL);
    assert_int_equal(text_defines(text, "add"), HEDDLE_CHECK_FUNCTION);
}

static void test_included_files_are_looked_at(void **state)
{
    (void)state;
    heddle_check_defines defines;
    scratch_write(folder, "part.cuh", "int main() {}\n", 14);
    scratch_write(folder, "whole.cu", "#include \"part.cuh\"\n", 20);
    scratch_write(folder, "loop.cu", "#include \"loop.cu\"\n", 19);
    assert_ok(heddle_check_file_defines(scratch_path(folder, "whole.cu"), NULL, "main", &defines));
    assert_int_equal(defines, HEDDLE_CHECK_FUNCTION);
    assert_ok(heddle_check_file_defines(scratch_path(folder, "loop.cu"), NULL, "main", &defines));
    assert_int_equal(defines, HEDDLE_CHECK_ABSENT);
}

// --- the job ---------------------------------------------------------------------------------------------------------

static const heddle_op *find(const char *name)
{
    const heddle_op *op = NULL;
    assert_ok(heddle_check_op_find(name, &op));
    return op;
}

static heddle_status prepare(heddle_check_job *job, const char *name, const char *source)
{
    scratch_write(folder, "op.cu", source, strlen(source));
    static char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path(folder, "op.cu"));
    static const char *const sources[] = {path, NULL};
    return heddle_check_job_prepare(job, find(name), sources, 1);
}

static void test_operators_go_by_their_short_names(void **state)
{
    (void)state;
    assert_string_equal(find("matmul")->name, "matmul_forward");
    assert_string_equal(find("matmul_backward")->name, "matmul_backward");
    assert_string_equal(find("sgd")->name, "sgd_update");
    const heddle_op *op = NULL;
    assert_fails(heddle_check_op_find("matmull", &op), HEDDLE_INVALID, "--op");
}

static void test_the_function_wanted_is_spelled_out(void **state)
{
    (void)state;
    heddle_check_job job;
    assert_fails(prepare(&job, "matmul", "void other() {}"), HEDDLE_INVALID,
                 "void matmul(const float *a, const float *b, float *output, int m, int n, int k[, int transpose_a, "
                 "int transpose_b, float alpha, float beta]); the parameters in [ ] may be omitted");
    assert_fails(prepare(&job, "relu", "void other() {}"), HEDDLE_INVALID, "int n)");
    assert_fails(prepare(&job, "matmul", "__global__ void matmul(float *a) {}"), HEDDLE_INVALID, "is a kernel");
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    assert_string_equal(job.function, "matmul");
    assert_ok(prepare(&job, "matmul", "void matmul_forward(float *a) {}"));
    assert_string_equal(job.function, "matmul_forward");
    assert_true(job.count > 3);
}

// What the driver writes down of where it is; the number of shapes: at its end.
static void write_place(const heddle_check_folder *where, int number)
{
    scratch_write(where->path, "case-at", &number, sizeof number);
}

// A program to play, whose function takes the optional fields or not: the first element of the output is moved by
// `distance` at the first `wrong` shapes, and it ends at shape `end`; that many shapes: it comes to its end.
typedef struct program {
    bool complete;
    int wrong;
    double distance;
    int end;
} program;

// Writes what the reference gives as the program's output.
static void play_part(const heddle_check_job *job, const heddle_check_folder *where, program played)
{
    write_place(where, played.end);
    for (int i = 0; i < played.end; i++) {
        if (!heddle_check_takes(job->cases[i].kind, played.complete))
            continue;
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        heddle_operand_values values;
        char name[64];
        assert_ok(heddle_shape_parse(job->op, heddle_check_job_shape(job, i), shape));
        assert_ok(heddle_operand_values_create(&values, job->op, shape));
        assert_ok(heddle_operand_values_draw(&values, NULL, job->seed));
        heddle_operand_values_reference(&values);
        snprintf(name, sizeof name, "case-%d.out", i);
        FILE *file = fopen(scratch_path(where->path, name), "wb");
        assert_non_null(file);
        for (int o = 0; o < job->op->operand_count; o++) {
            if (job->op->operands[o].role == HEDDLE_INPUT || job->op->operands[o].saved)
                continue;
            if (i < played.wrong)
                values.operand[o][0] += played.distance;
            assert_true(heddle_check_operand_write(&values, o, file));
        }
        fclose(file);
        heddle_operand_values_destroy(&values);
    }
}

static void play_program(const heddle_check_job *job, const heddle_check_folder *where, double distance)
{
    play_part(job, where, (program){true, 1, distance, job->count});
}

static int findings_for(const char *name, const char *source, double distance, char *message, size_t size)
{
    heddle_check_job job;
    heddle_check_folder where;
    heddle_check_result *result = NULL;
    assert_ok(prepare(&job, name, source));
    assert_ok(heddle_check_folder_create(&where, false));
    assert_ok(heddle_check_result_create(&result));
    play_program(&job, &where, distance);
    assert_ok(heddle_check_job_compare(&job, &where, result));
    int count = result->finding_count;
    if (count > 0)
        snprintf(message, size, "%s", result->findings[0]->message);
    heddle_check_result_free(result);
    heddle_check_folder_release(&where);
    return count;
}

static void test_right_outputs_pass_and_wrong_ones_are_named(void **state)
{
    (void)state;
    const char *matmul = "void matmul(float *a) {}", *softmax = "void softmax(float *a) {}";
    char message[1024] = "";
    assert_int_equal(findings_for("matmul", matmul, 0, message, sizeof message), 0);
    assert_int_equal(findings_for("matmul", matmul, 1e-9, message, sizeof message), 0);
    assert_int_equal(findings_for("matmul", matmul, 0.5, message, sizeof message), 1);
    assert_contains(message, "output[0][0] is ");
    assert_contains(message, "1 of ");
    assert_int_equal(findings_for("matmul", matmul, NAN, message, sizeof message), 1);
    assert_int_equal(findings_for("softmax", softmax, 0, message, sizeof message), 0);
    assert_int_equal(findings_for("softmax", softmax, 0.01, message, sizeof message), 1);
}

// Plays a right program, and returns its note.
static void note_of(heddle_check_job *job, bool complete, char *note, size_t size)
{
    heddle_check_folder where;
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_folder_create(&where, false));
    assert_ok(heddle_check_result_create(&result));
    result->runs[result->run_count++] = sample_parse(folder, "{\"status\": \"finished\", \"findings\": []}");
    play_part(job, &where, (program){complete, 0, 0, job->count});
    assert_ok(heddle_check_job_compare(job, &where, result));
    assert_int_equal(result->finding_count, 0);
    assert_int_equal(result->note_count, 1);
    snprintf(note, size, "%s", result->notes[0]);
    heddle_check_result_free(result);
    heddle_check_folder_release(&where);
}

static void test_the_note_names_what_was_compared_and_which_fields_were_not(void **state)
{
    (void)state;
    heddle_check_job job;
    char note[1024];
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    note_of(&job, true, note, sizeof note);
    assert_contains(note, "14 of 14 test shapes compared");
    assert_contains(note, ", the largest m=267 n=132 k=68 transpose_b=1");
    assert_lacks(note, "default");
    note_of(&job, false, note, sizeof note);
    assert_contains(note, "14 of 14 test shapes compared");
    assert_contains(note, ", the largest m=267 n=132 k=68; transpose_a, transpose_b, alpha, beta have their defaults: "
                          "the function does not take them; --shape compares at others");
    assert_ok(prepare(&job, "saxpy", "void saxpy(float *a) {}"));
    note_of(&job, false, note, sizeof note);
    assert_contains(note, "4 of 4 test shapes compared");
    assert_contains(note, ": n=1, n=31, n=33, n=1027; alpha has its default: the function does not take it; --shape");
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    static const char *const many[] = {"m=1 n=1 k=1", "m=2 n=2 k=2", "m=9 n=2 k=70",
                                       "m=4 n=2 k=2", "m=5 n=2 k=2", NULL};
    assert_ok(heddle_check_job_set_shapes(&job, many));
    note_of(&job, false, note, sizeof note);
    assert_contains(note, "5 of 5 shapes of --shape compared");
    assert_contains(note, ", the largest m=9 n=2 k=70");
    assert_lacks(note, "--shape compares at others");
}

static void test_shapes_that_are_none_of_the_operators_are_refused(void **state)
{
    (void)state;
    heddle_check_job job;
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    static const char *const unknown[] = {"m=1 q=3", NULL}, *const words[] = {"4x4", NULL},
                             *const part[] = {"m=1 n=1", NULL}, *const none[] = {"m=0 n=1 k=1", NULL};
    assert_fails(heddle_check_job_set_shapes(&job, unknown), HEDDLE_INVALID, "--shape 'm=1 q=3': ");
    assert_fails(heddle_check_job_set_shapes(&job, words), HEDDLE_INVALID, "heddle ops matmul_forward");
    assert_fails(heddle_check_job_set_shapes(&job, part), HEDDLE_INVALID, "must name 'k'");
    assert_fails(heddle_check_job_set_shapes(&job, none), HEDDLE_INVALID, "nothing to compute");
    static const char *const large[] = {"m=2000000 n=2000000 k=1", NULL};
    assert_fails(heddle_check_job_set_shapes(&job, large), HEDDLE_INVALID, "more than this machine has");
}

static void test_a_program_that_computes_nothing_fails(void **state)
{
    (void)state;
    heddle_check_job job;
    heddle_check_folder where;
    heddle_check_result *result = NULL;
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    assert_ok(heddle_check_folder_create(&where, false));
    assert_ok(heddle_check_result_create(&result));
    assert_ok(heddle_check_job_compare(&job, &where, result));
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0]->kind, HEDDLE_CHECK_WRONG_RESULT);
    heddle_check_result_free(result);
    heddle_check_folder_release(&where);
}

// A program of five shapes that ends by itself at shape `end`, with `wrong` wrong results before that and no more found
// than a leak. The caller frees the result.
static heddle_check_result *compared_up_to(bool given, int wrong, int end, int exit_status)
{
    static const char text[] = "{\"status\": \"finished\", \"findings\": [{\"kind\": \"leak\", \"tier\": "
                               "\"warning\", \"message\": \"4 bytes\"}]}";
    static const char *const shapes[] = {"m=1 n=1 k=1", "m=2 n=2 k=2", "m=3 n=3 k=3",
                                         "m=4 n=4 k=4", "m=5 n=5 k=5", NULL};
    heddle_check_job job;
    heddle_check_folder where;
    heddle_check_result *result = NULL;
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    assert_ok(heddle_check_job_set_shapes(&job, shapes));
    job.given = given;
    assert_ok(heddle_check_folder_create(&where, false));
    assert_ok(heddle_check_result_create(&result));
    assert_ok(heddle_check_result_add_run(result, sample_parse(folder, text)));
    result->exit_status = exit_status;
    play_part(&job, &where, (program){true, wrong, 0.5, end});
    assert_ok(heddle_check_job_compare(&job, &where, result));
    heddle_check_folder_release(&where);
    return result;
}

static void test_a_program_that_ends_before_a_shape_is_compared_fails(void **state)
{
    (void)state;
    for (int end = 0; end < 5; end += 2)
        for (int given = 0; given < 2; given++) {
            heddle_check_result *result = compared_up_to(given, 0, end, 0);
            assert_int_equal(result->finding_count, 2); // the leak is the other
            assert_int_equal(result->findings[1]->kind, HEDDLE_CHECK_DIED);
            assert_int_equal(result->findings[1]->tier, HEDDLE_CHECK_ERROR);
            assert_contains(result->findings[1]->message,
                            "the program ended with status 0 before it had computed this");
            assert_contains(result->notes[0], "; the program stopped at m=");
            heddle_check_result_free(result);
        }
    heddle_check_result *whole = compared_up_to(true, 0, 5, 0);
    assert_int_equal(whole->finding_count, 1);
    assert_contains(whole->notes[0], "5 of 5 shapes of --shape compared");
    heddle_check_result_free(whole);
    heddle_check_result *failed = compared_up_to(true, 0, 2, 1); // its status says it
    assert_int_equal(failed->finding_count, 1);
    heddle_check_result_free(failed);
}

static void test_what_the_program_wrote_no_output_for_is_not_called_compared(void **state)
{
    (void)state;
    static const char *const shapes[] = {"m=1 n=1 k=1", "m=2 n=2 k=2", NULL};
    heddle_check_job job;
    heddle_check_folder where;
    heddle_check_result *result = NULL;
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    assert_ok(heddle_check_job_set_shapes(&job, shapes));
    assert_ok(heddle_check_folder_create(&where, false));
    assert_ok(heddle_check_result_create(&result));
    play_program(&job, &where, 0);
    scratch_write(where.path, "case-1.out", "abc", 3);
    assert_ok(heddle_check_job_compare(&job, &where, result));
    assert_int_equal(result->finding_count, 1);
    assert_contains(result->findings[0]->message, "did not compute all that it was asked for");
    assert_contains(result->notes[result->note_count - 1], "1 of 2 shapes of --shape compared");
    heddle_check_result_free(result);
    heddle_check_folder_release(&where);
}

static void test_the_note_says_where_comparing_stopped_after_wrong_shapes(void **state)
{
    (void)state;
    heddle_check_result *result = compared_up_to(true, 5, 5, 0);
    assert_int_equal(result->finding_count, 4);
    assert_contains(result->notes[0], "3 of 5 shapes of --shape compared");
    assert_contains(result->notes[0], "; stopped after 3 wrong ones");
    heddle_check_result_free(result);
    result = compared_up_to(true, 2, 5, 0);
    assert_contains(result->notes[0], "5 of 5 shapes of --shape compared");
    assert_lacks(result->notes[0], "stopped");
    heddle_check_result_free(result);
}

// A program that stopped, and what its driver wrote down of where it was.
static void test_a_fault_is_told_with_the_shape_it_happened_at(void **state)
{
    (void)state;
    heddle_check_job job;
    heddle_check_folder where;
    heddle_check_result *result = NULL;
    static const char text[] =
        "{\"status\": \"finished\", \"unchecked\": \"kernel k stopped at its fault\", \"findings\": ["
        "{\"kind\": \"out-of-bounds\", \"tier\": \"error\", \"kernel\": \"k\", \"message\": \"read of 4 bytes\"},"
        "{\"kind\": \"leak\", \"tier\": \"warning\", \"message\": \"4 bytes\"}]}";
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    assert_ok(heddle_check_folder_create(&where, false));
    write_place(&where, 1);
    heddle_check_report *report = sample_parse(folder, text);
    heddle_check_job_name_shape(&job, &where, report);
    assert_string_equal(report->findings[0].message, "read of 4 bytes (matmul_forward with m=1 n=7 k=31)");
    assert_string_equal(report->findings[1].message, "4 bytes");
    assert_ok(heddle_check_result_create(&result));
    result->exit_status = 1;
    assert_ok(heddle_check_result_add_run(result, report));
    assert_ok(heddle_check_job_compare(&job, &where, result));
    assert_contains(result->notes[0], "; the program stopped at m=1 n=7 k=31, before the rest");
    heddle_check_result_free(result);
    heddle_check_folder_release(&where);
}

static void test_the_driver_hands_over_operands_and_fields_in_order(void **state)
{
    (void)state;
    heddle_check_job job;
    assert_ok(prepare(&job, "matmul", "void matmul(float *a) {}"));
    const char *const sources[] = {"/somewhere/op.cu", NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    heddle_check_driver_print(&job, sources, "/folder", stream);
    fclose(stream);
    assert_contains(text, "#include \"/somewhere/op.cu\"\n");
    assert_contains(text, "function(a, b, output, (int)heddle_one.field[0], (int)heddle_one.field[1], "
                          "(int)heddle_one.field[2]);");
    assert_contains(text, "heddle_apply(matmul, heddle_one, a, b, output)");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_main_is_found_wherever_a_linker_would_find_it),
        cmocka_unit_test(test_a_main_in_a_text_with_an_open_bracket_counts),
        cmocka_unit_test(test_kernels_are_told_from_functions),
        cmocka_unit_test(test_included_files_are_looked_at),
        cmocka_unit_test(test_operators_go_by_their_short_names),
        cmocka_unit_test(test_the_function_wanted_is_spelled_out),
        cmocka_unit_test(test_right_outputs_pass_and_wrong_ones_are_named),
        cmocka_unit_test(test_a_program_that_computes_nothing_fails),
        cmocka_unit_test(test_a_program_that_ends_before_a_shape_is_compared_fails),
        cmocka_unit_test(test_what_the_program_wrote_no_output_for_is_not_called_compared),
        cmocka_unit_test(test_the_note_says_where_comparing_stopped_after_wrong_shapes),
        cmocka_unit_test(test_the_note_names_what_was_compared_and_which_fields_were_not),
        cmocka_unit_test(test_shapes_that_are_none_of_the_operators_are_refused),
        cmocka_unit_test(test_a_fault_is_told_with_the_shape_it_happened_at),
        cmocka_unit_test(test_the_driver_hands_over_operands_and_fields_in_order),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
