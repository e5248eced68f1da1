// Held against PyTorch: pytorch_values.safetensors has inputs and what PyTorch made of them in float64, for every
// operator but those named below (peers/pytorch_values.py says how it is laid out and made). References must agree to
// many digits, rungs to the bounds that the ladder tests use.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "harness.h"
#include "heddle/safetensors.h"

static const char path[] = HEDDLE_SOURCE_DIR "/tests/ops/pytorch_values.safetensors";

enum {
    MOST_BYTES = 1 << 20,
    NAME_SIZE = 128,
    PADDED = 256,
};

static const double reference_tolerance = 1e-11; // of an operand's size: float64 with a different order of operations
static const double nothing = 1e-14;             // what PyTorch is left with where the result is 0

// Operators that PyTorch cannot be asked about, and why not.
static const struct {
    const char *op, *reason;
} without_pytorch[] = {
    {"hello_index", "numbers of a grid's threads and blocks: PyTorch has no grids"},
    {"step_end", "counts and copies what the trainer keeps of its own"},
    {"random_bits", "the words are cuRAND's, which PyTorch does not hand out; ops.random has them written down"},
    {"random_uniform", "likewise"},
    {"random_normal", "likewise"},
    {"sync_batchnorm2d_moments", "half of batchnorm2d_forward, which is compared; dist.weights_sim joins the halves"},
    {"sync_batchnorm2d_apply", "the other half"},
    {"sync_batchnorm2d_sums", "half of batchnorm2d_backward, likewise"},
    {"sync_batchnorm2d_input_gradient", "the other half"},
    {"matmul_fp8", "PyTorch multiplies fp8 on GPUs alone, by cuBLASLt; ops.products has products written down"},
    {"matmul_int4", "PyTorch packs weights of 4 bits for kernels of its own alone; ops.products has them written down"},
    {"predict_one", "a network as a table: nn.infer compares it with the layers' operators, which are compared here"},
};
// nor these: nn.rows compares what they make of a model with the layers' operators, which are compared here
static const char rows_of_bf16[] = "rows_";

static char *content;
static heddle_safetensors *file;

static int open_file(void **state)
{
    (void)state;
    size_t size;
    if (heddle_file_read(path, MOST_BYTES, &content, &size) != HEDDLE_OK ||
        heddle_safetensors_parse("pytorch_values.safetensors", content, size, &file) != HEDDLE_OK) {
        print_error("%s\n", heddle_last_error());
        return -1;
    }
    return 0;
}

static int close_file(void **state)
{
    (void)state;
    heddle_safetensors_close(file);
    free(content);
    return 0;
}

// --- one case -------------------------------------------------------------------------------------------------------

typedef struct torch_case {
    const char *number; // "007"
    const heddle_op *op;
    bool continues;
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
} torch_case;

static torch_case read_case(const char *number)
{
    torch_case found = {.number = number};
    char key[NAME_SIZE], text[4 * NAME_SIZE];
    snprintf(key, sizeof key, "case.%s", number);
    const char *entry = heddle_safetensors_metadata(file, key);
    assert_non_null(entry);
    snprintf(text, sizeof text, "%s", entry);
    char *shape = strstr(text, " | ");
    assert_non_null(shape);
    *shape = '\0';
    shape += strlen(" | ");
    char *more = strstr(shape, " | ");
    if (more) {
        *more = '\0';
        assert_string_equal(more + strlen(" | "), "continues");
        found.continues = true;
    }
    if (heddle_op_find(text, &found.op) != HEDDLE_OK || heddle_shape_parse(found.op, shape, found.shape) != HEDDLE_OK)
        fail_msg("case %s: %s", number, heddle_last_error());
    return found;
}

// "NUMBER.KIND.NAME" (kind may be empty), or NULL.
static const heddle_array *find_array(const torch_case *from, const char *kind, const char *name)
{
    char key[NAME_SIZE];
    snprintf(key, sizeof key, "%s.%s%s", from->number, kind, name);
    return heddle_safetensors_find(file, key);
}

static double array_element(const heddle_array *array, size_t index)
{
    switch (array->dtype) {
    case HEDDLE_F32: return ((const float *)array->data)[index];
    case HEDDLE_F64: return ((const double *)array->data)[index];
    case HEDDLE_I32: return ((const int32_t *)array->data)[index];
    case HEDDLE_I64: return (double)((const int64_t *)array->data)[index];
    default: fail_msg("'%s' is of a dtype that this test does not read", array->name); return NAN;
    }
}

static void read_array(const torch_case *from, const heddle_array *array, double *values, size_t elements)
{
    if (array->bytes / heddle_dtype_size(array->dtype) != elements)
        fail_msg("case %s: '%s' has %zu bytes, not %zu elements", from->number, array->name, array->bytes, elements);
    for (size_t i = 0; i < elements; i++)
        values[i] = array_element(array, i);
}

// Inputs and updates from the file; what it does not have must be optional, come from `forward` or be left to `before`.
static void read_values(const torch_case *from, harness_values *values, const harness_values *forward)
{
    for (int i = 0; i < values->op->operand_count; i++) {
        const heddle_operand *operand = &values->op->operands[i];
        const heddle_array *array = NULL;
        if (operand->role == HEDDLE_INPUT)
            array = find_array(from, "", operand->name);
        else if (operand->role == HEDDLE_UPDATE)
            array = find_array(from, "before.", operand->name);
        if (array)
            read_array(from, array, values->operand[i], values->elements[i]);
        else if (operand->role == HEDDLE_INPUT && forward && heddle_operand_find(forward->op, operand->name) >= 0)
            continue;
        else if (operand->role == HEDDLE_INPUT)
            values->absent[i] = operand->optional;
        assert_true(operand->role != HEDDLE_INPUT || array || operand->optional);
    }
    if (forward)
        harness_values_take(values, forward);
}

// Every result that the file has, against `got`; `bounds` NULL: as references must agree.
static int compare_results(const torch_case *from, const harness_values *got, const harness_bounds *bounds,
                           const char *who)
{
    int compared = 0;
    for (int i = 0; i < got->op->operand_count; i++) {
        const heddle_array *array = find_array(from, "expect.", got->op->operands[i].name);
        if (got->op->operands[i].role == HEDDLE_INPUT || !array || got->absent[i])
            continue;
        size_t elements = got->elements[i];
        double *expected = malloc((elements + 1) * sizeof *expected), *bound = malloc((elements + 1) * sizeof *bound);
        read_array(from, array, expected, elements);
        double square = 0;
        for (size_t e = 0; e < elements; e++)
            square += expected[e] * expected[e] / (double)elements;
        for (size_t e = 0; e < elements; e++)
            bound[e] =
                nothing + (bounds ? bounds->bound[i][e] : reference_tolerance * fmax(sqrt(square), fabs(expected[e])));
        heddle_op compared_as = *got->op;
        // The file's numbers are rounded, even where nothing is computed. Bounds by the norm are for the whole operand.
        if (!bounds || compared_as.exactness != HEDDLE_NORM)
            compared_as.exactness = HEDDLE_ROUNDING;
        harness_report report = {.passed = true};
        if (!harness_compare(&compared_as, i, got->operand[i], expected, bound, elements, who, &report))
            fail_msg("case %s, %s: %s", from->number, got->op->name, report.message);
        compared++;
        free(expected);
        free(bound);
    }
    return compared;
}

// Every rung of the operator on `prepared`.
static void compare_rungs(const torch_case *from, const harness_values *prepared, harness_bounds *bounds)
{
    const heddle_op *op = prepared->op;
    for (int r = 0; r < op->rungs; r++) {
        if (!harness_runs(&op->ladder[r]) || (op->ladder[r].supports && !op->ladder[r].supports(from->shape)))
            continue;
        harness_memory memory;
        harness_memory_create(&memory, prepared, &op->ladder[r], 1, 0);
        if (harness_launch(op, &op->ladder[r], &memory.call) != HEDDLE_OK)
            fail_msg("case %s: %s", from->number, heddle_last_error());
        harness_values got;
        harness_values_copy(&got, prepared);
        for (int i = 0; i < op->operand_count; i++)
            if (!got.absent[i])
                harness_memory_read(&memory, i, got.operand[i]);
        harness_bounds_for(bounds, op->ladder[r].arithmetic, op->ladder[r].sum_bits);
        assert_true(compare_results(from, &got, bounds, op->ladder[r].name) > 0);
        harness_values_destroy(&got);
        harness_memory_destroy(&memory);
    }
}

// Gradients of what the forward operator saved in 16 bits are not those of PyTorch, which rounds nothing: the reference
// alone is compared, and the ladder tests hold the rungs to it.
static bool rounds_saved(const harness_values *values)
{
    for (int i = 0; i < values->op->operand_count; i++) {
        heddle_dtype dtype = heddle_operand_dtype(values->op, i, values->shape);
        if (values->op->operands[i].values == HEDDLE_VALUES_SAVED && (dtype == HEDDLE_BF16 || dtype == HEDDLE_F16))
            return true;
    }
    return false;
}

// The reference and every rung; `computed` is left with the reference's outputs.
static void compare_op(const torch_case *from, const harness_values *prepared, harness_values *computed,
                       int64_t reduction)
{
    harness_bounds bounds;
    harness_values_copy(computed, prepared);
    harness_values_reference(computed);
    assert_true(compare_results(from, computed, NULL, "reference") > 0);
    harness_bounds_create(&bounds, prepared, computed, reduction);
    if (!rounds_saved(prepared))
        compare_rungs(from, prepared, &bounds);
    harness_bounds_destroy(&bounds);
}

static void compare_gradients(const torch_case *from, const harness_values *forward)
{
    for (int g = 0; from->op->gradients && from->op->gradients[g]; g++) {
        const heddle_op *gradient = from->op->gradients[g];
        if (heddle_shape_validate(gradient, from->shape) != HEDDLE_OK)
            continue;
        harness_values prepared, computed;
        harness_values_create(&prepared, gradient, from->shape);
        read_values(from, &prepared, forward);
        int64_t reduction = harness_reduction(gradient, from->shape);
        if (harness_reduction(from->op, from->shape) > reduction)
            reduction = harness_reduction(from->op, from->shape);
        compare_op(from, &prepared, &computed, reduction);
        harness_values_destroy(&computed);
        harness_values_destroy(&prepared);
    }
}

// --- all cases of an operator ---------------------------------------------------------------------------------------

static int case_count(void)
{
    const char *text = heddle_safetensors_metadata(file, "cases");
    return text ? (int)strtol(text, NULL, 10) : 0;
}

static void references_and_rungs_agree_with_pytorch(void **state)
{
    const heddle_op *op = *state;
    harness_values previous = {0};
    int compared = 0;
    for (int c = 0; c < case_count(); c++) {
        char number[8];
        snprintf(number, sizeof number, "%03d", c);
        torch_case tried = read_case(number);
        if (tried.op != op)
            continue;
        harness_values prepared, computed;
        harness_values_create(&prepared, op, tried.shape);
        if (tried.continues && previous.op)
            for (int i = 0; i < op->operand_count; i++)
                memcpy(prepared.operand[i], previous.operand[i], prepared.elements[i] * sizeof(double));
        read_values(&tried, &prepared, NULL);
        compare_op(&tried, &prepared, &computed, harness_reduction(op, tried.shape));
        compare_gradients(&tried, &computed);
        harness_values_destroy(&prepared);
        harness_values_destroy(&previous);
        previous = computed;
        compared++;
    }
    harness_values_destroy(&previous);
    assert_true(compared > 0);
}

// Nothing is excused by mistake: what the list names is an operator, and the file has nothing on it.
static void operators_without_pytorch_are_still_without(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof without_pytorch / sizeof *without_pytorch; i++) {
        const heddle_op *op;
        if (heddle_op_find(without_pytorch[i].op, &op) != HEDDLE_OK)
            fail_msg("%s", heddle_last_error());
        for (int c = 0; c < case_count(); c++) {
            char number[8];
            snprintf(number, sizeof number, "%03d", c);
            if (read_case(number).op == op)
                fail_msg("%s is excused ('%s'), but case %s has it", op->name, without_pytorch[i].reason, number);
        }
    }
}

// Five steps in float, each rung going on from its own numbers.
static void five_steps_of_an_optimiser_stay_with_pytorch(void **state)
{
    const heddle_op *op = *state;
    for (int r = 0; r < op->rungs; r++) {
        if (!harness_runs(&op->ladder[r]))
            continue;
        harness_values values = {0};
        int steps = 0;
        for (int c = 0; c < case_count(); c++) {
            char number[8];
            snprintf(number, sizeof number, "%03d", c);
            torch_case tried = read_case(number);
            if (tried.op != op)
                continue;
            if (!tried.continues || !values.op) {
                harness_values_destroy(&values);
                harness_values_create(&values, op, tried.shape);
            }
            values.shape = tried.shape;
            read_values(&tried, &values, NULL);
            harness_values computed;
            harness_bounds bounds;
            harness_values_copy(&computed, &values);
            harness_values_reference(&computed);
            harness_bounds_create(&bounds, &values, &computed, 1);
            harness_memory memory;
            harness_memory_create(&memory, &values, &op->ladder[r], 1, 0);
            assert_int_equal(harness_launch(op, &op->ladder[r], &memory.call), HEDDLE_OK);
            for (int i = 0; i < op->operand_count; i++)
                harness_memory_read(&memory, i, values.operand[i]);
            assert_true(compare_results(&tried, &values, &bounds, op->ladder[r].name) > 0);
            harness_memory_destroy(&memory);
            harness_bounds_destroy(&bounds);
            harness_values_destroy(&computed);
            steps++;
        }
        harness_values_destroy(&values);
        assert_int_equal(steps, 5);
    }
}

static void the_file_says_what_made_it(void **state)
{
    (void)state;
    assert_non_null(heddle_safetensors_metadata(file, "torch"));
    assert_non_null(heddle_safetensors_metadata(file, "date"));
}

static bool is_excused(const heddle_op *op)
{
    if (strncmp(op->name, rows_of_bf16, sizeof rows_of_bf16 - 1) == 0)
        return true;
    for (size_t i = 0; i < sizeof without_pytorch / sizeof *without_pytorch; i++)
        if (strcmp(op->name, without_pytorch[i].op) == 0)
            return true;
    return false;
}

static char *test_name(const char *op, const char *behaviour)
{
    char *name = malloc(NAME_SIZE);
    snprintf(name, NAME_SIZE, "%s: %s", op, behaviour);
    return name;
}

int main(void)
{
    int count = 0;
    struct CMUnitTest *tests = calloc((size_t)heddle_op_count() * 2 + 2, sizeof *tests);
    tests[count++] =
        (struct CMUnitTest){.name = test_name("file", "says what made it"), .test_func = the_file_says_what_made_it};
    tests[count++] = (struct CMUnitTest){.name = test_name("operators without PyTorch", "are still without"),
                                         .test_func = operators_without_pytorch_are_still_without};
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (harness_forward_of(op) || is_excused(op))
            continue; // tested with its forward operator, or not at all
        tests[count++] = (struct CMUnitTest){.name = test_name(op->name, "agrees with PyTorch"),
                                             .test_func = references_and_rungs_agree_with_pytorch,
                                             .initial_state = (void *)op};
        if (strstr(op->name, "_update"))
            tests[count++] = (struct CMUnitTest){.name = test_name(op->name, "five steps stay with PyTorch"),
                                                 .test_func = five_steps_of_an_optimiser_stay_with_pytorch,
                                                 .initial_state = (void *)op};
    }
    int failed = _cmocka_run_group_tests("pytorch_values", tests, (size_t)count, open_file, close_file);
    for (int i = 0; i < count; i++)
        free((char *)tests[i].name);
    free(tests);
    return failed;
}
