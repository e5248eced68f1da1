// The shapes that a file is compared at: for a function without the optional fields, too, they reach beyond one block
// in every dimension that a kernel spreads over blocks.

#include "folder.h"
#include "sample.h"

#include <math.h>
#include <stddef.h>

#include "check/operator.h"

enum {
    USUAL_BLOCK = 256, // threads, in a line
    USUAL_TILE = 32,   // threads in x and in y: 1024 is the most that a block has
};

static void prepare(heddle_check_job *job, const char *name, const char *launch)
{
    char source[512], path[1024];
    const heddle_op *op = NULL;
    assert_ok(heddle_check_op_find(name, &op));
    snprintf(source, sizeof source, "%s%s%s void %s(float *a) {}\n", launch ? "// launch: <<<" : "",
             launch ? launch : "", launch ? ">>>\n__global__" : "", op->name);
    scratch_write(folder, "shapes.cu", source, strlen(source));
    snprintf(path, sizeof path, "%s", scratch_path(folder, "shapes.cu"));
    const char *const sources[] = {path, NULL};
    assert_ok(heddle_check_job_prepare(job, op, sources, 1));
}

static void parse(const heddle_check_job *job, int number, void *shape)
{
    assert_ok(heddle_shape_parse(job->op, heddle_check_job_shape(job, number), shape));
}

static int count_of(const heddle_check_job *job, bool complete)
{
    int count = 0;
    for (int i = 0; i < job->count; i++)
        count += heddle_check_takes(job->cases[i].kind, complete);
    return count;
}

// Whether a function is run on this shape.
static bool is_run(const heddle_check_job *job, bool complete, const char *text)
{
    for (int i = 0; i < job->count; i++)
        if (heddle_check_takes(job->cases[i].kind, complete) && strcmp(heddle_check_job_shape(job, i), text) == 0)
            return true;
    return false;
}

static bool can_be_checked(const heddle_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (!heddle_check_c_type(op->operands[i].dtype))
            return false;
    return true;
}

// --- reach -----------------------------------------------------------------------------------------------------------

typedef struct extent {
    int least, most;
} extent;

// Each dimension of an operand over the shapes that a function without the optional fields is run on. Returns the rank.
static int extents_of(const heddle_check_job *job, int operand, extent of[HEDDLE_MAX_DIMS])
{
    int rank = 0;
    for (int d = 0; d < HEDDLE_MAX_DIMS; d++)
        of[d] = (extent){INT32_MAX, 0};
    for (int i = 0; i < job->count; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        int dims[HEDDLE_MAX_DIMS];
        if (!heddle_check_takes(job->cases[i].kind, false))
            continue;
        parse(job, i, shape);
        rank = job->op->operands[operand].dims(shape, dims);
        for (int d = 0; d < rank; d++) {
            of[d].least = dims[d] < of[d].least ? dims[d] : of[d].least;
            of[d].most = dims[d] > of[d].most ? dims[d] : of[d].most;
        }
    }
    return rank;
}

// How many dimensions vary; one that does not is a constant, as the 2 of complex numbers.
static int count_varying(const extent *of, int rank)
{
    int varying = 0;
    for (int d = 0; d < rank; d++)
        varying += of[d].least < of[d].most;
    return varying;
}

// A dimension alone is spread over a line of threads; of several, the two that vary fastest over a tile, and each index
// of the others may have blocks of its own. Returns whether any dimension varies.
static bool assert_reaches(const heddle_check_job *job, int operand)
{
    extent of[HEDDLE_MAX_DIMS];
    int rank = extents_of(job, operand, of), varying = count_varying(of, rank), seen = 0;
    for (int d = rank - 1; d >= 0; d--) {
        if (of[d].least == of[d].most)
            continue;
        int block = varying == 1 ? USUAL_BLOCK : seen++ < 2 ? USUAL_TILE : 1;
        if (of[d].most <= block)
            fail_msg("%s: dimension %d of %s is %d at most, which one block does", job->op->name, d,
                     job->op->operands[operand].name, of[d].most);
    }
    return varying > 0;
}

// Threads go by outputs, or, where these are of one size, as a sum is, by inputs.
static void assert_operator_reaches(const heddle_check_job *job)
{
    const heddle_op *op = job->op;
    bool varies = false;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].role != HEDDLE_INPUT && !op->operands[i].saved)
            varies |= assert_reaches(job, i);
    for (int i = 0; i < op->operand_count && !varies; i++)
        if (op->operands[i].role == HEDDLE_INPUT)
            assert_reaches(job, i);
}

// Why an operator's shapes may stay within a block: NULL, if they must not.
static const char *excuse_of(const heddle_op *op)
{
    static const char *const excuses[][2] = {
        {"cnn_step", "its defaults are a dataset: without its fields nothing is compared, which is an error"},
        {"cnn_train", "the same"},
        {"stem_block_backward", "the filters that it makes have at most 4 channels"},
        {"predict_one", "it has at most 32 classes; what its blocks share are the layers in between"},
    };
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++)
        if (strcmp(op->name, excuses[i][0]) == 0)
            return excuses[i][1];
    return NULL;
}

static void test_every_operator_is_compared_beyond_one_block(void **state)
{
    (void)state;
    int operators = 0;
    for (int i = 0; i < heddle_op_count(); i++) {
        static heddle_check_job job;
        if (!can_be_checked(heddle_op_at(i)) || excuse_of(heddle_op_at(i)))
            continue;
        prepare(&job, heddle_op_at(i)->name, NULL);
        assert_operator_reaches(&job);
        operators++;
    }
    assert_true(operators > 50);
}

// --- choosing --------------------------------------------------------------------------------------------------------

static void test_a_function_without_optional_fields_gets_the_large_shapes_with_their_defaults(void **state)
{
    (void)state;
    static heddle_check_job job;
    prepare(&job, "saxpy", NULL);
    assert_true(is_run(&job, true, "n=1027 alpha=-0.5"));
    assert_false(is_run(&job, true, "n=1027"));
    assert_true(is_run(&job, false, "n=1027"));
    assert_false(is_run(&job, false, "n=1027 alpha=-0.5"));
    prepare(&job, "matmul", NULL);
    assert_true(is_run(&job, false, "m=131 n=268 k=36"));
    assert_true(is_run(&job, false, "m=31 n=401 k=67") && is_run(&job, true, "m=31 n=401 k=67"));
}

static void test_no_function_is_run_on_one_shape_twice(void **state)
{
    (void)state;
    int repeated = 0;
    for (int i = 0; i < heddle_op_count(); i++) {
        static heddle_check_job job;
        if (!can_be_checked(heddle_op_at(i)))
            continue;
        prepare(&job, heddle_op_at(i)->name, NULL);
        for (int number = 0; number < job.count; number++) {
            _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES], other[HEDDLE_MAX_SHAPE_BYTES];
            parse(&job, number, shape);
            for (int before = 0; before < number; before++) {
                parse(&job, before, other);
                if (memcmp(shape, other, job.op->shape_size) == 0)
                    fail_msg("%s: %s twice", job.op->name, heddle_check_job_shape(&job, number));
            }
        }
        repeated += count_of(&job, true) > count_of(&job, false);
    }
    assert_true(repeated > 0); // some come to the same without their fields: "n=1 c=1 h=1 w=1 k=1" of conv2d
}

// The usual images of cnn_step are all of MNIST, and the usual window of a pool does not fit into one pixel.
static void test_defaults_that_do_not_go_with_a_shape_are_not_put_into_it(void **state)
{
    (void)state;
    static heddle_check_job job;
    prepare(&job, "cnn_step", NULL);
    assert_true(count_of(&job, true) > 0);
    assert_int_equal(count_of(&job, false), 0);
    assert_true(job.left_out[HEDDLE_CHECK_PLAIN] > 0);
    prepare(&job, "maxpool2d", NULL);
    assert_true(is_run(&job, true, "n=1 c=1 h=1 w=1 window=1 stride=1"));
    assert_false(is_run(&job, false, "n=1 c=1 h=1 w=1"));
    assert_true(is_run(&job, false, "n=3 c=2 h=8 w=8"));
}

static void test_a_copy_of_a_job_has_its_shapes(void **state)
{
    (void)state;
    static heddle_check_job job;
    prepare(&job, "saxpy", "(n + 255) / 256, 256");
    heddle_check_job copy = job;
    memset(&job, 0, sizeof job);
    assert_true(is_run(&copy, false, "n=1027"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operator_is_compared_beyond_one_block),
        cmocka_unit_test(test_a_function_without_optional_fields_gets_the_large_shapes_with_their_defaults),
        cmocka_unit_test(test_no_function_is_run_on_one_shape_twice),
        cmocka_unit_test(test_defaults_that_do_not_go_with_a_shape_are_not_put_into_it),
        cmocka_unit_test(test_a_copy_of_a_job_has_its_shapes),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
