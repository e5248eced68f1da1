// One shape's outputs held against the float64 reference: the first wrong elements as a table, with what they are
// computed from, who wrote them and what they have in common.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/depends.h"
#include "check/describe.h"
#include "check/operands.h"
#include "check/operator.h"
#include "check/pattern.h"
#include "check/wrong.h"
#include "ops/tolerance.h"

enum { MOST_SHOWN = 5, TEXT_SIZE = 1024 };

// What one shape is held against.
typedef struct comparison {
    const heddle_check_job *job;
    heddle_operand_values drawn, expected, got;
    double scale[2 * HEDDLE_MAX_OPERANDS];
    int64_t reduction;
    heddle_check_result *result;
} comparison;

// An output and its wrong elements.
typedef struct judged {
    const comparison *trial;
    int operand;
    double whole; // as heddle_tolerance_whole says
    bool *wrong;
    size_t shown[MOST_SHOWN]; // the first of them
    int shown_count;
    heddle_check_writer *writers; // NULL: not known
    heddle_check_depends depends[MOST_SHOWN][2 * HEDDLE_MAX_OPERANDS];
} judged;

static const char *position_text(const comparison *trial, int operand, size_t element, char *text, size_t size)
{
    const heddle_operand *about = &trial->job->op->operands[operand];
    int dims[HEDDLE_MAX_DIMS];
    size_t place[HEDDLE_MAX_DIMS] = {0};
    int rank = about->dims(trial->drawn.shape, dims);
    for (int d = rank - 1; d >= 0; d--) {
        place[d] = element % (size_t)dims[d];
        element /= (size_t)dims[d];
    }
    size_t used = (size_t)snprintf(text, size, "%s", about->name);
    for (int d = 0; d < rank && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "[%zu]", place[d]);
    return text;
}

// --- what they are computed from -------------------------------------------------------------------------------------

static heddle_status find_depends(judged *output)
{
    const comparison *trial = output->trial;
    for (int s = 0; s < output->shown_count; s++)
        for (int i = 0; i < trial->job->op->operand_count; i++)
            HEDDLE_TRY(
                heddle_check_depends_find(&trial->drawn, output->operand, output->shown[s], i, &output->depends[s][i]));
    return HEDDLE_OK;
}

// Each element depends on one element of an operand at most.
static bool is_elementwise(const judged *output)
{
    bool any = false;
    for (int s = 0; s < output->shown_count; s++)
        for (int i = 0; i < output->trial->job->op->operand_count; i++) {
            const heddle_check_depends *on = &output->depends[s][i];
            if (on->more || on->count > 1)
                return false;
            any |= on->count == 1;
        }
    return any;
}

static bool is_used(const judged *output, int operand)
{
    for (int s = 0; s < output->shown_count; s++)
        if (output->depends[s][operand].count > 0)
            return true;
    return false;
}

static const char *value_text(const judged *output, int operand, size_t element, char *text, size_t size)
{
    const comparison *trial = output->trial;
    char position[256];
    bool update = trial->job->op->operands[operand].role == HEDDLE_UPDATE;
    snprintf(text, size, "%s = %.6g%s", position_text(trial, operand, element, position, sizeof position),
             trial->drawn.operand[operand][element], update ? " before" : "");
    return text;
}

// "output[0][64] is computed from a[0][0] = 0.5, a[0][1] = 1.5, …; b[0][64] = 2, …, in sums of 31 terms."
static const char *inputs_text(const judged *output)
{
    const comparison *trial = output->trial;
    char text[TEXT_SIZE] = "", one[320];
    size_t used = 0;
    for (int i = 0; i < trial->job->op->operand_count && used < sizeof text; i++) {
        const heddle_check_depends *on = &output->depends[0][i];
        for (int d = 0; d < on->count && used < sizeof text; d++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     d      ? ", "
                                     : used ? "; "
                                            : "",
                                     value_text(output, i, on->element[d], one, sizeof one));
        if (on->more && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, ", …");
    }
    if (used == 0 || used >= sizeof text)
        return "";
    if (trial->reduction > 1 && used < sizeof text)
        snprintf(text + used, sizeof text - used, ", in sums of up to %lld terms", (long long)trial->reduction);
    position_text(trial, output->operand, output->shown[0], one, sizeof one);
    return heddle_check_result_text(trial->result, "%s is computed from %s.", one, text);
}

// --- the table -------------------------------------------------------------------------------------------------------

static bool is_exact(const judged *output)
{
    const heddle_op *op = output->trial->job->op;
    heddle_dtype dtype = op->operands[output->operand].dtype;
    return op->exactness == HEDDLE_EXACT || (dtype != HEDDLE_F32 && dtype != HEDDLE_F64);
}

static double allowed_of(const judged *output, size_t element)
{
    const comparison *trial = output->trial;
    const heddle_op *op = trial->job->op;
    const double *expected = trial->expected.operand[output->operand];
    const size_t columns = heddle_operand_columns(op, output->operand, trial->drawn.shape);
    if (is_exact(output))
        return 0;
    double larger = heddle_tolerance_row(&op->operands[output->operand], expected + element / columns * columns,
                                         columns, output->whole);
    return heddle_tolerance(trial->reduction, larger * trial->scale[output->operand], expected[element]);
}

static const char *writer_text(const judged *output, size_t element)
{
    const heddle_check_writer *writer = output->writers ? &output->writers[element] : NULL;
    const int *at = writer ? writer->at : NULL;
    if (!writer || !writer->known)
        return writer && writer->nobody ? "no kernel" : "not known";
    return heddle_check_result_text(output->trial->result, "block (%d,%d,%d) thread (%d,%d,%d)", at[0], at[1], at[2],
                                    at[3], at[4], at[5]);
}

static void add_row(const judged *output, int shown, bool elementwise, heddle_check_wrong *table)
{
    const comparison *trial = output->trial;
    size_t element = output->shown[shown];
    double expected = trial->expected.operand[output->operand][element];
    double got = trial->got.operand[output->operand][element];
    char text[320];
    heddle_check_wrong_row(table);
    position_text(trial, output->operand, element, text, sizeof text);
    heddle_check_wrong_cell(table, heddle_check_result_text(trial->result, "%s", text));
    for (int i = 0; elementwise && i < trial->job->op->operand_count; i++) {
        const heddle_check_depends *on = &output->depends[shown][i];
        if (is_used(output, i))
            heddle_check_wrong_cell(table, on->count ? heddle_check_result_text(trial->result, "%.7g",
                                                                                trial->drawn.operand[i][on->element[0]])
                                                     : "");
    }
    heddle_check_wrong_cell(table, heddle_check_result_text(trial->result, "%.7g", expected));
    heddle_check_wrong_cell(table, heddle_check_result_text(trial->result, "%.7g", got));
    heddle_check_wrong_cell(table, heddle_check_result_text(trial->result, "%.3g", fabs(got - expected)));
    heddle_check_wrong_cell(table, heddle_check_result_text(trial->result, "%.3g", allowed_of(output, element)));
    if (output->writers)
        heddle_check_wrong_cell(table, writer_text(output, element));
}

static heddle_status make_table(judged *output, size_t wrong, heddle_check_wrong *table)
{
    const comparison *trial = output->trial;
    const heddle_op *op = trial->job->op;
    int dims[HEDDLE_MAX_DIMS];
    char pattern[TEXT_SIZE];
    HEDDLE_TRY(find_depends(output));
    bool elementwise = is_elementwise(output);
    heddle_check_wrong_column(table, "element");
    for (int i = 0; elementwise && i < op->operand_count; i++)
        if (is_used(output, i))
            heddle_check_wrong_column(table,
                                      op->operands[i].role == HEDDLE_UPDATE
                                          ? heddle_check_result_text(trial->result, "%s before", op->operands[i].name)
                                          : op->operands[i].name);
    static const char *const others[] = {"expected", "got", "difference", "allowed"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        heddle_check_wrong_column(table, others[i]);
    if (output->writers)
        heddle_check_wrong_column(table, "written by");
    for (int s = 0; s < output->shown_count; s++)
        add_row(output, s, elementwise, table);
    table->wrong = (long long)wrong;
    table->of = (long long)trial->expected.elements[output->operand];
    table->inputs = elementwise ? "" : inputs_text(output);
    heddle_check_values values = {.dims = dims,
                                  .rank = op->operands[output->operand].dims(trial->drawn.shape, dims),
                                  .count = trial->expected.elements[output->operand],
                                  .wrong = output->wrong,
                                  .expected = trial->expected.operand[output->operand],
                                  .got = trial->got.operand[output->operand],
                                  .writers = output->writers};
    table->pattern =
        heddle_check_result_text(trial->result, "%s", heddle_check_pattern(&values, pattern, sizeof pattern));
    return table->inputs && table->pattern ? HEDDLE_OK
                                           : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
}

static heddle_status add_finding(judged *output, const char *shape, size_t wrong)
{
    const comparison *trial = output->trial;
    size_t first = output->shown[0], count = trial->expected.elements[output->operand];
    char position[256];
    heddle_check_wrong *table = heddle_arena_alloc(trial->result->arena, sizeof *table);
    if (!table)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    HEDDLE_TRY(make_table(output, wrong, table));
    position_text(trial, output->operand, first, position, sizeof position);
    heddle_check_finding finding = {
        .kind = HEDDLE_CHECK_WRONG_RESULT,
        .tier = HEDDLE_CHECK_ERROR,
        .count = 1,
        .note = "",
        .wrong = table,
        .message = heddle_check_result_text(
            trial->result, "%s with %s: %zu of %zu elements are wrong; %s is %.9g, expected %.9g (seed %llu).",
            trial->job->op->name, shape, wrong, count, position, trial->got.operand[output->operand][first],
            trial->expected.operand[output->operand][first], (unsigned long long)trial->job->seed),
    };
    return finding.message ? heddle_check_result_add_finding(trial->result, &finding)
                           : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
}

// --- comparing -------------------------------------------------------------------------------------------------------

// Six numbers for each element, as sim_writer gives them (sim/race/last.h). NULL: the file does not have them.
static heddle_check_writer *read_writers(const comparison *trial, FILE *file, size_t count)
{
    bool all_watched = heddle_check_watched(trial->result) >= 1;
    heddle_check_writer *writers = file ? calloc(count + 1, sizeof *writers) : NULL;
    for (size_t i = 0; writers && i < count; i++) {
        if (fread(writers[i].at, sizeof writers[i].at, 1, file) != 1) {
            free(writers);
            return NULL;
        }
        writers[i].known = writers[i].at[0] >= 0;
        writers[i].nobody = writers[i].at[0] == -2 && all_watched;
    }
    return writers;
}

// Adds a finding where elements are wrong.
static heddle_status compare_operand(const comparison *trial, int operand, const char *shape, FILE *writers)
{
    size_t count = trial->expected.elements[operand], wrong = 0;
    judged output = {.trial = trial, .operand = operand, .writers = read_writers(trial, writers, count)};
    const double *got = trial->got.operand[operand], *expected = trial->expected.operand[operand];
    output.whole = heddle_tolerance_whole(&trial->job->op->operands[operand], expected, count);
    output.wrong = calloc(count + 1, sizeof *output.wrong);
    heddle_status status = output.wrong ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a comparison");
    for (size_t i = 0; output.wrong && i < count; i++) {
        output.wrong[i] = !(fabs(got[i] - expected[i]) <= allowed_of(&output, i)); // NaN is wrong
        if (output.wrong[i] && output.shown_count < MOST_SHOWN)
            output.shown[output.shown_count++] = i;
        wrong += output.wrong[i];
    }
    if (status == HEDDLE_OK && wrong > 0)
        status = add_finding(&output, shape, wrong);
    free(output.wrong);
    free(output.writers);
    return status;
}

static heddle_status compare_outputs(comparison *trial, int number, FILE *file, FILE *writers, bool *compared)
{
    const heddle_check_job *job = trial->job;
    HEDDLE_TRY(heddle_operand_values_draw(&trial->drawn, NULL, job->seed));
    HEDDLE_TRY(heddle_operand_values_draw(&trial->expected, NULL, job->seed));
    heddle_operand_values_reference(&trial->expected);
    trial->reduction = heddle_tolerance_reduction(job->op, trial->drawn.shape);
    HEDDLE_TRY(heddle_tolerance_scale(job->op, trial->drawn.shape, trial->drawn.operand, trial->expected.operand,
                                      trial->expected.elements, trial->scale));
    for (int i = 0; i < job->op->operand_count; i++) {
        if (job->op->operands[i].role == HEDDLE_INPUT || job->op->operands[i].saved)
            continue;
        if (!heddle_check_operand_read(&trial->got, i, file))
            return heddle_check_result_note(trial->result, "%s: the program ended before it wrote its output",
                                            heddle_check_job_shape(job, number));
        HEDDLE_TRY(compare_operand(trial, i, heddle_check_job_shape(job, number), writers));
    }
    *compared = true;
    return HEDDLE_OK;
}

heddle_status heddle_check_compare(const heddle_check_job *job, int number, FILE *file, FILE *writers,
                                   heddle_check_result *result, bool *compared)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    comparison trial = {.job = job, .reduction = 1, .result = result};
    HEDDLE_TRY(heddle_shape_parse(job->op, heddle_check_job_shape(job, number), shape));
    heddle_status status = heddle_operand_values_create(&trial.drawn, job->op, shape);
    if (status == HEDDLE_OK)
        status = heddle_operand_values_create(&trial.expected, job->op, shape);
    if (status == HEDDLE_OK)
        status = heddle_operand_values_create(&trial.got, job->op, shape);
    if (status == HEDDLE_OK)
        status = compare_outputs(&trial, number, file, writers, compared);
    heddle_operand_values_destroy(&trial.drawn);
    heddle_operand_values_destroy(&trial.expected);
    heddle_operand_values_destroy(&trial.got);
    return status;
}
