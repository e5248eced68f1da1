// The shapes that a function is run on: the operator's test shapes, or those of --shape.
//
// The large test shapes are often those that set an optional field. A function that takes none of these fields must not
// be called right after a block or two, so it is run on such shapes too, with the defaults put back.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "check/child.h"
#include "check/fields.h"
#include "check/operator.h"

static const double most_flops = 5e7;    // of a shape: about a second under watch
static const double most_elements = 4e6; // of a plain one: a default may be the size of a whole dataset

const char *heddle_check_job_shape(const heddle_check_job *job, int number)
{
    const heddle_check_case *one = &job->cases[number];
    return one->text ? one->text : one->plain;
}

bool heddle_check_takes(heddle_check_case_kind kind, bool complete)
{
    return kind == HEDDLE_CHECK_USUAL || (kind == HEDDLE_CHECK_UNUSUAL) == complete;
}

// Nothing to compute: a launch of no blocks is an error on a GPU, and guarding against it teaches nothing.
static bool is_empty(const heddle_op *op, const void *shape)
{
    for (int i = 0; i < op->operand_count; i++)
        if (heddle_operand_elements(op, i, shape) == 0)
            return true;
    return false;
}

static double all_elements(const heddle_op *op, const void *shape)
{
    double elements = 0;
    for (int i = 0; i < op->operand_count; i++)
        elements += (double)heddle_operand_elements(op, i, shape);
    return elements;
}

static heddle_check_case_kind kind_of(const heddle_op *op, const void *shape)
{
    return heddle_check_usual_shape(op, shape) ? HEDDLE_CHECK_USUAL : HEDDLE_CHECK_UNUSUAL;
}

static heddle_status try_launch(const heddle_check_job *job, const void *shape)
{
    heddle_check_launch launch;
    return job->launch[0] ? heddle_check_launch_read(job->launch, job->op, shape, &launch) : HEDDLE_OK;
}

static heddle_status add_case(heddle_check_job *job, const heddle_check_case *one, const void *shape)
{
    bool large = one->kind == HEDDLE_CHECK_PLAIN && all_elements(job->op, shape) > most_elements;
    if (is_empty(job->op, shape))
        return HEDDLE_OK;
    HEDDLE_TRY(try_launch(job, shape));
    if (job->count == HEDDLE_CHECK_MOST_CASES || large || job->op->cost(shape).flops > most_flops)
        job->left_out[one->kind]++;
    else
        job->cases[job->count++] = *one;
    return HEDDLE_OK;
}

// --- plain shapes ----------------------------------------------------------------------------------------------------

// The fields that have no default: "m=65 n=37 k=259".
static void print_plain(const heddle_op *op, const void *shape, char text[HEDDLE_CHECK_PLAIN_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < op->field_count && used < HEDDLE_CHECK_PLAIN_SIZE; i++)
        if (isnan(op->fields[i].initial))
            used +=
                (size_t)snprintf(text + used, HEDDLE_CHECK_PLAIN_SIZE - used,
                                 op->fields[i].kind == HEDDLE_FIELD_FLOAT ? "%s%s=%.9g" : "%s%s=%.0f", used ? " " : "",
                                 op->fields[i].name, heddle_check_field_value(&op->fields[i], shape));
}

// Whether the function is run on it anyhow: it stands in the list as it is, or an earlier one there comes to the same.
static heddle_status is_repeated(const heddle_op *op, int number, const char *plain, bool *repeated)
{
    *repeated = false;
    for (int i = 0; op->test_shapes[i] && !*repeated; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        char other[HEDDLE_CHECK_PLAIN_SIZE];
        HEDDLE_TRY(heddle_shape_parse(op, op->test_shapes[i], shape));
        print_plain(op, shape, other);
        *repeated = strcmp(plain, other) == 0 && (i < number || kind_of(op, shape) == HEDDLE_CHECK_USUAL);
    }
    return HEDDLE_OK;
}

static heddle_status add_plain(heddle_check_job *job, int number, const void *unusual)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_check_case one = {.kind = HEDDLE_CHECK_PLAIN};
    bool repeated;
    print_plain(job->op, unusual, one.plain);
    HEDDLE_TRY(is_repeated(job->op, number, one.plain, &repeated));
    if (repeated || heddle_shape_parse(job->op, one.plain, shape) != HEDDLE_OK)
        return HEDDLE_OK; // an image may be too small for the usual window
    return add_case(job, &one, shape);
}

// --- choosing --------------------------------------------------------------------------------------------------------

heddle_status heddle_check_job_choose_shapes(heddle_check_job *job)
{
    const heddle_op *op = job->op;
    for (int i = 0; op->test_shapes && op->test_shapes[i]; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        HEDDLE_TRY(heddle_shape_parse(op, op->test_shapes[i], shape));
        heddle_check_case one = {.text = op->test_shapes[i], .kind = kind_of(op, shape)};
        HEDDLE_TRY(add_case(job, &one, shape));
        if (one.kind == HEDDLE_CHECK_UNUSUAL)
            HEDDLE_TRY(add_plain(job, i, shape));
    }
    return HEDDLE_OK;
}

// Drawn, expected and computed values are held as doubles at once.
static heddle_status refuse_large(const heddle_op *op, const void *shape, const char *text)
{
    double bytes = 3 * sizeof(double) * all_elements(op, shape);
    char size[32];
    if (bytes <= (double)heddle_child_usual_memory())
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "--shape '%s': comparing it takes %s of memory, more than this machine has",
                       text, heddle_text_bytes(bytes, size, sizeof size));
}

heddle_status heddle_check_job_set_shapes(heddle_check_job *job, const char *const *shapes)
{
    job->count = 0;
    memset(job->left_out, 0, sizeof job->left_out);
    job->given = true;
    for (int i = 0; shapes[i]; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        if (heddle_shape_parse(job->op, shapes[i], shape) != HEDDLE_OK) {
            char why[512];
            snprintf(why, sizeof why, "%s", heddle_last_error());
            return heddle_fail(HEDDLE_INVALID, "--shape '%s': %s; `heddle ops %s` lists the fields", shapes[i], why,
                               job->op->name);
        }
        if (is_empty(job->op, shape))
            return heddle_fail(HEDDLE_INVALID, "--shape '%s': at this shape there is nothing to compute", shapes[i]);
        HEDDLE_TRY(refuse_large(job->op, shape, shapes[i]));
        HEDDLE_TRY(try_launch(job, shape));
        if (job->count == HEDDLE_CHECK_MOST_CASES)
            return heddle_fail(HEDDLE_INVALID, "--shape: more than %d shapes", HEDDLE_CHECK_MOST_CASES);
        job->cases[job->count++] = (heddle_check_case){.text = shapes[i], .kind = kind_of(job->op, shape)};
    }
    return HEDDLE_OK;
}
