// Outputs of a kernel held against what they should be: the first wrong elements as a table, with the inputs at the
// same place, who wrote them and what they have in common.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/describe.h"
#include "check/extension.h"
#include "check/pattern.h"
#include "check/wrong.h"

enum { MOST_SHOWN = 5, TEXT_SIZE = 1024, MOST_INPUTS = 4, TABLE_DIGITS = 7, SENTENCE_DIGITS = 9 };
static const size_t largest_file = (size_t)8 << 30;

typedef struct comparison {
    const heddle_check_extension *extension;
    const heddle_check_folder *folder, *kept;
    heddle_check_result *result;
    int number; // of the output among the parameters
    const heddle_check_argument *output;
    heddle_npy got, expected; // without content: not there
    bool *wrong;
    heddle_check_writer *writers; // NULL: not known
    int64_t shown[MOST_SHOWN];
    int shown_count;
    int64_t wrong_count;
    heddle_npy inputs[MOST_INPUTS]; // of the same sizes
    const char *input_names[MOST_INPUTS];
    int input_count;
} comparison;

// What PyTorch's own tests allow is a guide; sums in another order need a little more.
static void tolerance_of(const heddle_check_extension *extension, heddle_npy_type type, double *relative,
                         double *absolute)
{
    const double f64 = 1e-9, f32 = 1e-5, f16_relative = 2e-3, f16_absolute = 1e-3, bf16 = 1.6e-2, bf16_absolute = 1e-2;
    *relative = type == HEDDLE_NPY_F64    ? f64
                : type == HEDDLE_NPY_F32  ? f32
                : type == HEDDLE_NPY_F16  ? f16_relative
                : type == HEDDLE_NPY_BF16 ? bf16
                                          : 0;
    *absolute = type == HEDDLE_NPY_F16 ? f16_absolute : type == HEDDLE_NPY_BF16 ? bf16_absolute : *relative;
    if (extension->options->tolerance >= 0 && heddle_npy_is_float(type))
        *relative = *absolute = extension->options->tolerance;
}

static double value_at(const heddle_npy *array, int64_t element)
{
    return heddle_npy_decode(array->type, array->data, element);
}

static double allowed_at(const comparison *trial, int64_t element)
{
    double relative, absolute;
    tolerance_of(trial->extension, trial->output->type, &relative, &absolute);
    return absolute + relative * fabs(value_at(&trial->expected, element));
}

// NaN is never right; an infinity is right where the same one is expected. Whole numbers are compared exactly, unless
// the reference has floats, which know no more than 53 bits of them.
static bool is_wrong(const comparison *trial, int64_t element)
{
    double got = value_at(&trial->got, element), expected = value_at(&trial->expected, element);
    if (isinf(expected) || isinf(got))
        return got != expected;
    return !(heddle_npy_distance(&trial->got, &trial->expected, element) <= allowed_at(trial, element));
}

// --- reading ---------------------------------------------------------------------------------------------------------

// The elements of a file of the folder, to be freed. False: the file is not there, or not whole.
static bool read_elements(const heddle_check_folder *folder, int number, const char *kind,
                          const heddle_check_argument *argument, heddle_npy *array)
{
    char path[1024];
    size_t size = 0;
    heddle_check_extension_path(folder, number, kind, path, sizeof path);
    *array = (heddle_npy){.type = argument->type, .count = argument->count};
    if (!heddle_file_exists(path) || heddle_file_read(path, largest_file, &array->content, &size) != HEDDLE_OK)
        return false;
    array->data = array->content;
    if (size == (size_t)argument->count * heddle_npy_size(argument->type))
        return true;
    heddle_npy_free(array);
    return false;
}

// Nothing is there where nothing was asked for. What was asked for and cannot be read is an error: a check must not
// pass because its comparison was left out.
static heddle_status read_expected(comparison *trial)
{
    const heddle_check_argument *output = trial->output;
    char kept[1024];
    const char *path = output->where;
    if (!path) {
        path = heddle_check_extension_path(trial->kept, trial->number, "expected", kept, sizeof kept);
        if (!heddle_file_exists(path))
            return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_npy_read(path, &trial->expected));
    return trial->expected.count == output->count
               ? HEDDLE_OK
               : heddle_fail(HEDDLE_INVALID, "%s does not have the %lld elements of %s", path, (long long)output->count,
                             output->name);
}

static void read_writers(comparison *trial)
{
    char path[1024], *content = NULL;
    size_t size = 0, count = (size_t)trial->output->count, one = sizeof trial->writers->at;
    bool all_watched = heddle_check_watched(trial->result) >= 1;
    heddle_check_extension_path(trial->folder, trial->number, "by", path, sizeof path);
    if (trial->result->unwatched || heddle_file_read(path, largest_file, &content, &size) != HEDDLE_OK)
        return;
    trial->writers = size == count * one ? calloc(count + 1, sizeof *trial->writers) : NULL;
    for (size_t i = 0; trial->writers && i < count; i++) {
        heddle_check_writer *writer = &trial->writers[i];
        memcpy(writer->at, content + i * one, one);
        writer->known = writer->at[0] >= 0;
        writer->nobody = writer->at[0] == -2 && all_watched;
    }
    free(content);
}

static void read_inputs(comparison *trial)
{
    const heddle_check_extension *extension = trial->extension;
    const heddle_check_argument *output = trial->output;
    for (int i = 0; i < extension->count && trial->input_count < MOST_INPUTS; i++) {
        const heddle_check_argument *one = extension->arguments[i];
        bool is_input = one->role == HEDDLE_CHECK_IN || one->role == HEDDLE_CHECK_INOUT;
        if (!is_input || one->rank != output->rank ||
            memcmp(one->dims, output->dims, (size_t)one->rank * sizeof *one->dims) != 0)
            continue;
        // A copy: the result is shown when the description of the arguments is gone.
        const char *name =
            heddle_check_result_text(trial->result, one->role == HEDDLE_CHECK_INOUT ? "%s before" : "%s", one->name);
        if (name && read_elements(trial->folder, i, "in", one, &trial->inputs[trial->input_count]))
            trial->input_names[trial->input_count++] = name;
    }
}

// --- the table -------------------------------------------------------------------------------------------------------

static const char *position_text(const comparison *trial, int64_t element, char *text, size_t size)
{
    const heddle_check_argument *output = trial->output;
    int64_t place[HEDDLE_CHECK_MOST_RANK] = {0};
    for (int d = output->rank - 1; d >= 0; d--) {
        place[d] = element % output->dims[d];
        element /= output->dims[d];
    }
    size_t used = (size_t)snprintf(text, size, "%s", output->name);
    for (int d = 0; d < output->rank && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "[%lld]", (long long)place[d]);
    return text;
}

static bool is_unwritten(const comparison *trial, int64_t element)
{
    return trial->output->role == HEDDLE_CHECK_OUT && trial->writers && trial->writers[element].nobody;
}

static const char *writer_text(const comparison *trial, int64_t element)
{
    const heddle_check_writer *writer = &trial->writers[element];
    const int *at = writer->at;
    if (!writer->known)
        return writer->nobody ? "no thread" : "not known";
    return heddle_check_result_text(trial->result, "block (%d,%d,%d) thread (%d,%d,%d)", at[0], at[1], at[2], at[3],
                                    at[4], at[5]);
}

static const char *number_text(const comparison *trial, const heddle_npy *array, int64_t element, int digits)
{
    char text[64];
    return heddle_check_result_text(trial->result, "%s", heddle_npy_text(array, element, digits, text, sizeof text));
}

static const char *got_text(const comparison *trial, int64_t element, int digits)
{
    return is_unwritten(trial, element) ? "never written" : number_text(trial, &trial->got, element, digits);
}

static void add_row(const comparison *trial, int64_t element, heddle_check_wrong *table)
{
    char position[256];
    heddle_check_wrong_row(table);
    heddle_check_wrong_cell(
        table, heddle_check_result_text(trial->result, "%s", position_text(trial, element, position, sizeof position)));
    for (int i = 0; i < trial->input_count; i++)
        heddle_check_wrong_cell(table, number_text(trial, &trial->inputs[i], element, TABLE_DIGITS));
    heddle_check_wrong_cell(table, number_text(trial, &trial->expected, element, TABLE_DIGITS));
    heddle_check_wrong_cell(table, got_text(trial, element, TABLE_DIGITS));
    heddle_check_wrong_cell(
        table,
        heddle_check_result_text(trial->result, "%.3g", heddle_npy_distance(&trial->got, &trial->expected, element)));
    heddle_check_wrong_cell(table, heddle_check_result_text(trial->result, "%.3g", allowed_at(trial, element)));
    if (trial->writers)
        heddle_check_wrong_cell(table, writer_text(trial, element));
}

// The elements as doubles, to be freed; NULL: no memory.
static double *values_of(const heddle_npy *array, int64_t count)
{
    double *values = malloc(((size_t)count + 1) * sizeof *values);
    for (int64_t i = 0; values && i < count; i++)
        values[i] = value_at(array, i);
    return values;
}

// Whether the values say anything of what is wrong: as doubles, whole numbers that differ may be the same.
static bool are_telling(const comparison *trial, int64_t count, const double *got, const double *expected)
{
    bool telling = got && expected;
    for (int64_t i = 0; telling && i < count; i++)
        telling = !trial->wrong[i] || got[i] != expected[i];
    return telling;
}

static const char *pattern_text(const comparison *trial)
{
    char text[TEXT_SIZE];
    int dims[HEDDLE_CHECK_MOST_RANK];
    for (int d = 0; d < trial->output->rank; d++)
        dims[d] = (int)trial->output->dims[d];
    const int64_t count = trial->output->count;
    double *got = values_of(&trial->got, count), *expected = values_of(&trial->expected, count);
    const bool telling = are_telling(trial, count, got, expected);
    heddle_check_values values = {.dims = dims,
                                  .rank = trial->output->rank,
                                  .count = (size_t)count,
                                  .wrong = trial->wrong,
                                  .expected = telling ? expected : NULL,
                                  .got = telling ? got : NULL,
                                  .writers = trial->writers};
    const char *pattern =
        heddle_check_result_text(trial->result, "%s", heddle_check_pattern(&values, text, sizeof text));
    free(got);
    free(expected);
    return pattern;
}

static heddle_status make_table(const comparison *trial, heddle_check_wrong *table)
{
    static const char *const others[] = {"expected", "got", "difference", "allowed"};
    heddle_check_wrong_column(table, "element");
    for (int i = 0; i < trial->input_count; i++)
        heddle_check_wrong_column(table, trial->input_names[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        heddle_check_wrong_column(table, others[i]);
    if (trial->writers)
        heddle_check_wrong_column(table, "written by");
    for (int i = 0; i < trial->shown_count; i++)
        add_row(trial, trial->shown[i], table);
    table->wrong = trial->wrong_count;
    table->of = trial->output->count;
    table->inputs = "";
    table->pattern = pattern_text(trial);
    return table->pattern ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
}

// Where the kernel is defined: readers of reports want a line.
static heddle_check_place kernel_place(const heddle_check_global *kernel, heddle_arena *arena)
{
    const char *file = heddle_arena_copy_text(arena, kernel->file), *name = heddle_arena_copy_text(arena, kernel->name);
    heddle_check_place place = {.role = "kernel", .frames = file && name ? 1 : 0, .within = ""};
    place.frame[0] = (heddle_check_frame){.file = file, .line = kernel->line, .function = name};
    return place;
}

static heddle_status add_finding(const comparison *trial)
{
    heddle_check_place place = kernel_place(trial->extension->kernel, trial->result->arena);
    char position[256];
    int64_t first = trial->shown[0];
    heddle_check_wrong *table = heddle_arena_alloc(trial->result->arena, sizeof *table);
    if (!table)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    HEDDLE_TRY(make_table(trial, table));
    position_text(trial, first, position, sizeof position);
    const char *got = got_text(trial, first, SENTENCE_DIGITS);
    const char *expected = number_text(trial, &trial->expected, first, SENTENCE_DIGITS);
    heddle_check_finding finding = {
        .kind = HEDDLE_CHECK_WRONG_RESULT,
        .tier = HEDDLE_CHECK_ERROR,
        .count = 1,
        .note = "",
        .wrong = table,
        .places = &place,
        .place_count = place.frames,
        .cause = "The output differs from what it should be by more than rounding can explain.",
        .message =
            heddle_check_result_text(trial->result, "%s: %lld of %lld elements of %s are wrong; %s is %s, expected %s.",
                                     trial->extension->kernel->name, (long long)trial->wrong_count,
                                     (long long)trial->output->count, trial->output->name, position, got, expected),
    };
    return finding.message && got && expected ? heddle_check_result_add_finding(trial->result, &finding)
                                              : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
}

// --- comparing -------------------------------------------------------------------------------------------------------

static heddle_status compare_values(comparison *trial)
{
    const int64_t count = trial->output->count;
    double largest = 0;
    trial->wrong = calloc((size_t)count + 1, sizeof *trial->wrong);
    if (!trial->wrong)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a comparison");
    for (int64_t i = 0; i < count; i++) {
        trial->wrong[i] = is_unwritten(trial, i) || is_wrong(trial, i);
        if (trial->wrong[i] && trial->shown_count < MOST_SHOWN)
            trial->shown[trial->shown_count++] = i;
        trial->wrong_count += trial->wrong[i];
        if (isfinite(value_at(&trial->expected, i)))
            largest = fmax(largest, heddle_npy_distance(&trial->got, &trial->expected, i));
    }
    if (trial->wrong_count > 0) {
        read_inputs(trial);
        return add_finding(trial);
    }
    char number[32];
    return heddle_check_result_note(trial->result, "%s: all %s elements are right; the largest difference is %.3g",
                                    trial->output->name, heddle_check_count_text((double)count, number, sizeof number),
                                    largest);
}

static heddle_status compare_output(comparison *trial)
{
    if (!read_elements(trial->folder, trial->number, "out", trial->output, &trial->got))
        return heddle_check_result_note(trial->result, "%s was not compared: the kernel did not come to its end",
                                        trial->output->name);
    HEDDLE_TRY(read_expected(trial));
    if (!trial->expected.content)
        return heddle_check_result_note(trial->result, "%s was not compared: nothing says what it should be",
                                        trial->output->name);
    read_writers(trial);
    return compare_values(trial);
}

void heddle_check_extension_reword(const heddle_check_extension *extension, heddle_check_report *report)
{
    for (int i = 0; i < report->finding_count; i++) {
        heddle_check_finding *finding = &report->findings[i];
        if (finding->kind != HEDDLE_CHECK_UNINITIALISED || finding->kernel || finding->place_count == 0 ||
            finding->places[0].frames == 0 || finding->places[0].frame[0].line != 0)
            continue;
        finding->message = "the kernel does not write all elements of this output";
        finding->cause = "Some threads skip their element, or the grid is too small for the tensor.";
        finding->cure = "Write every element, or start from known values: inout in --args, with zeros for example.";
        finding->place_count = extension->kernel ? 1 : 0;
        if (extension->kernel)
            finding->places[0] = kernel_place(extension->kernel, report->arena);
    }
}

heddle_status heddle_check_extension_compare(const heddle_check_extension *extension, const heddle_check_folder *kept,
                                             const heddle_check_folder *folder, heddle_check_result *result)
{
    for (int i = 0; extension->has_reference && i < extension->count; i++) {
        const heddle_check_argument *one = extension->arguments[i];
        if (one->role != HEDDLE_CHECK_OUT && one->role != HEDDLE_CHECK_INOUT)
            continue;
        comparison trial = {
            .extension = extension, .folder = folder, .kept = kept, .result = result, .number = i, .output = one};
        heddle_status status = compare_output(&trial);
        heddle_npy_free(&trial.got);
        heddle_npy_free(&trial.expected);
        free(trial.wrong);
        free(trial.writers);
        for (int k = 0; k < trial.input_count; k++)
            heddle_npy_free(&trial.inputs[k]);
        HEDDLE_TRY(status);
    }
    return HEDDLE_OK;
}
