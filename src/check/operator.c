// Operators: choosing the function, writing inputs, and the account of what was compared (compare.c).

#include "check/operator.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/operands.h"
#include "check/scan.h"

enum {
    NAME_SIZE = 128,
    MOST_NAMES = 512, // of operators; more than there are
    MOST_WRONG = 3,   // wrong shapes that are reported: further ones say the same
    MOST_NAMED = 4,   // compared shapes that are named one by one
};

// --- names -----------------------------------------------------------------------------------------------------------

// "relu" is a name of relu_forward, "sgd" one of sgd_update.
static bool is_called(const heddle_op *op, const char *name)
{
    size_t length = strlen(name);
    if (strcmp(op->name, name) == 0)
        return true;
    return length > 0 && strncmp(op->name, name, length) == 0 &&
           (strcmp(op->name + length, "_forward") == 0 || strcmp(op->name + length, "_update") == 0);
}

// The names a function for `op` may have, longest first. Returns how many.
static int function_names(const heddle_op *op, char names[2][NAME_SIZE])
{
    snprintf(names[0], NAME_SIZE, "%s", op->name);
    snprintf(names[1], NAME_SIZE, "%s", op->name);
    char *end = strrchr(names[1], '_');
    if (!end || (strcmp(end, "_forward") != 0 && strcmp(end, "_update") != 0))
        return 1;
    *end = '\0';
    return 2;
}

// Of the operators' names, long and short, the one that was probably meant; NULL: none is near. Lives until the next.
static const char *nearest_name(const char *name)
{
    static _Thread_local char names[MOST_NAMES][NAME_SIZE];
    const char *list[MOST_NAMES];
    int count = 0;
    for (int i = 0; i < heddle_op_count() && count + 2 <= MOST_NAMES; i++) {
        char both[2][NAME_SIZE];
        int forms = function_names(heddle_op_at(i), both);
        for (int f = forms; f-- > 0; count++) // the short one first: of equally near names the first is taken
            list[count] = memcpy(names[count], both[f], NAME_SIZE);
    }
    return heddle_text_nearest(name, list, count);
}

heddle_status heddle_check_op_find(const char *name, const heddle_op **op)
{
    for (int i = 0; i < heddle_op_count(); i++) {
        *op = heddle_op_at(i);
        if (is_called(*op, name))
            return HEDDLE_OK;
    }
    const char *nearest = nearest_name(name);
    if (nearest)
        return heddle_fail(HEDDLE_INVALID, "--op: no operator is called '%s'; did you mean %s?", name, nearest);
    return heddle_fail(HEDDLE_INVALID, "--op: no operator is called '%s'; `heddle ops` lists them", name);
}

const heddle_op *heddle_check_op_suggest(const char *const *sources)
{
    for (int i = 0; i < heddle_op_count(); i++) {
        char names[2][NAME_SIZE];
        int count = function_names(heddle_op_at(i), names);
        for (int n = 0; n < count; n++)
            for (int s = 0; sources[s]; s++) {
                heddle_check_defines defines;
                if (heddle_check_file_defines(sources[s], NULL, names[n], &defines) == HEDDLE_OK && defines)
                    return heddle_op_at(i);
            }
    }
    return NULL;
}

// --- before the run --------------------------------------------------------------------------------------------------

static heddle_status find_launch(heddle_check_job *job, const char *const *sources)
{
    for (int s = 0; sources[s] && !job->launch[0]; s++)
        HEDDLE_TRY(heddle_check_launch_find(sources[s], job->launch));
    return HEDDLE_OK;
}

static heddle_status choose_function(heddle_check_job *job, const char *const *sources)
{
    static _Thread_local char names[2][NAME_SIZE];
    char signature[2048];
    int count = function_names(job->op, names);
    const char *kernel = NULL;
    for (int n = 0; n < count; n++)
        for (int s = 0; sources[s]; s++) {
            heddle_check_defines defines;
            HEDDLE_TRY(heddle_check_file_defines(sources[s], NULL, names[n], &defines));
            if (defines == HEDDLE_CHECK_IS_KERNEL && !kernel)
                kernel = names[n];
            if (defines == HEDDLE_CHECK_FUNCTION) {
                job->function = names[n];
                return HEDDLE_OK;
            }
        }
    heddle_check_job_hint(job->op, names[count - 1], signature, sizeof signature);
    if (kernel) {
        HEDDLE_TRY(find_launch(job, sources));
        job->function = kernel;
        return job->launch[0] ? HEDDLE_OK
                              : heddle_fail(HEDDLE_INVALID,
                                            "%s: %s is a kernel; say how to launch it in a comment, // launch: <<<(n + "
                                            "255) / 256, 256>>>, or give the file a function that launches it (and the "
                                            "kernel another name): %s",
                                            sources[0], kernel, signature);
    }
    return heddle_fail(HEDDLE_INVALID,
                       "%s: for --op %s the file should define %s, or a kernel of that name with a comment that says "
                       "how to launch it: // launch: <<<(n + 255) / 256, 256>>>",
                       sources[0], names[count - 1], signature);
}

heddle_status heddle_check_job_prepare(heddle_check_job *job, const heddle_op *op, const char *const *sources,
                                       uint64_t seed)
{
    *job = (heddle_check_job){.op = op, .seed = seed};
    for (int i = 0; i < op->operand_count; i++)
        if (!heddle_check_c_type(op->operands[i].dtype))
            return heddle_fail(HEDDLE_UNSUPPORTED, "--op %s: operands of type %s cannot be checked yet", op->name,
                               heddle_dtype_name(op->operands[i].dtype));
    HEDDLE_TRY(choose_function(job, sources));
    return heddle_check_job_choose_shapes(job);
}

static heddle_status open_case(const heddle_check_folder *folder, int number, const char *kind, const char *mode,
                               FILE **file)
{
    char name[64], path[1024];
    snprintf(name, sizeof name, "case-%d.%s", number, kind);
    *file = fopen(heddle_check_folder_path(folder, name, path, sizeof path), mode);
    return *file ? HEDDLE_OK : heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
}

static heddle_status write_inputs(const heddle_check_job *job, const heddle_check_folder *folder, int number)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_operand_values values;
    FILE *file = NULL;
    HEDDLE_TRY(heddle_shape_parse(job->op, heddle_check_job_shape(job, number), shape));
    HEDDLE_TRY(open_case(folder, number, "in", "wb", &file));
    heddle_status status = heddle_operand_values_create(&values, job->op, shape);
    if (status == HEDDLE_OK) {
        status = heddle_operand_values_draw(&values, NULL, job->seed);
        for (int i = 0; status == HEDDLE_OK && i < job->op->operand_count; i++)
            if (job->op->operands[i].role != HEDDLE_OUTPUT && !heddle_check_operand_write(&values, i, file))
                status = heddle_fail(HEDDLE_IO, "cannot write the inputs in %s", folder->path);
        heddle_operand_values_destroy(&values);
    }
    if (fclose(file) != 0 && status == HEDDLE_OK)
        status = heddle_fail(HEDDLE_IO, "cannot write the inputs in %s: %s", folder->path, strerror(errno));
    return status;
}

heddle_status heddle_check_job_write(const heddle_check_job *job, const char *const *sources,
                                     const heddle_check_folder *folder, char *driver, size_t size)
{
    for (int i = 0; i < job->count; i++)
        HEDDLE_TRY(write_inputs(job, folder, i));
    FILE *file = fopen(heddle_check_folder_path(folder, "main.cu", driver, size), "w");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", driver, strerror(errno));
    heddle_check_driver_print(job, sources, folder->path, file);
    return fclose(file) == 0 ? HEDDLE_OK : heddle_fail(HEDDLE_IO, "%s: %s", driver, strerror(errno));
}

// --- after the run ---------------------------------------------------------------------------------------------------

// The number of the shape that a run was at when it ended, as the driver wrote it down, or how many there are where it
// came to its end; -1: it came to none.
static int last_number(const heddle_check_job *job, const heddle_check_folder *folder)
{
    char path[1024];
    int number = -1;
    FILE *file = fopen(heddle_check_folder_path(folder, "case-at", path, sizeof path), "re");
    if (!file)
        return -1;
    bool read = fread(&number, sizeof number, 1, file) == 1;
    fclose(file);
    return read && number >= 0 && number <= job->count ? number : -1;
}

static const char *last_shape(const heddle_check_job *job, const heddle_check_folder *folder)
{
    int number = last_number(job, folder);
    return number >= 0 && number < job->count ? heddle_check_job_shape(job, number) : NULL;
}

// The driver ends at the first kernel that is stopped: what stopped it happened at the last shape.
static bool stops_kernel(const heddle_check_finding *finding)
{
    bool stops = (finding->kind >= HEDDLE_CHECK_OUT_OF_BOUNDS && finding->kind <= HEDDLE_CHECK_TRAP) ||
                 finding->kind == HEDDLE_CHECK_DEADLOCK || finding->kind == HEDDLE_CHECK_SPIN;
    return stops && finding->kernel && finding->tier == HEDDLE_CHECK_ERROR;
}

void heddle_check_job_name_shape(const heddle_check_job *job, const heddle_check_folder *folder,
                                 heddle_check_report *report)
{
    const char *shape = report->unchecked[0] ? last_shape(job, folder) : NULL;
    for (int i = 0; shape && i < report->finding_count; i++) {
        char text[1024];
        if (!stops_kernel(&report->findings[i]))
            continue;
        snprintf(text, sizeof text, "%s (%s with %s)", report->findings[i].message, job->op->name, shape);
        const char *copy = heddle_arena_copy_text(report->arena, text);
        report->findings[i].message = copy ? copy : report->findings[i].message;
    }
}

// Text that grows at its end and is cut where it is full.
typedef struct sentence {
    char text[768];
    size_t used;
} sentence;

static void say(sentence *to, const char *format, ...) HEDDLE_PRINTF(2, 3);

static void say(sentence *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->text + to->used, sizeof to->text - to->used, format, arguments);
    va_end(arguments);
    to->used += length > 0 ? (size_t)length : 0;
    if (to->used >= sizeof to->text)
        to->used = sizeof to->text - 1;
}

static double size_of_shape(const heddle_check_job *job, int number)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    if (heddle_shape_parse(job->op, heddle_check_job_shape(job, number), shape) != HEDDLE_OK)
        return 0;
    heddle_cost cost = job->op->cost(shape);
    return cost.flops + cost.bytes_read + cost.bytes_written;
}

// A few shapes by their names, of many the largest.
static void say_compared(const heddle_check_job *job, const bool *compared, int count, sentence *to)
{
    int largest = -1, said = 0;
    for (int i = 0; i < job->count; i++) {
        if (!compared[i])
            continue;
        if (count <= MOST_NAMED)
            say(to, "%s%s", said++ ? ", " : ": ", heddle_check_job_shape(job, i));
        if (largest < 0 || size_of_shape(job, i) > size_of_shape(job, largest))
            largest = i;
    }
    if (count > MOST_NAMED)
        say(to, ", the largest %s", heddle_check_job_shape(job, largest));
}

// What was held against the reference.
typedef struct account {
    bool compared[HEDDLE_CHECK_MOST_CASES];
    int count;          // of those
    int wrong;          // of those, too
    int all;            // that the function takes, with those that were left out
    int left_out;       // of all
    bool complete;      // the function takes the optional fields
    bool gave_up;       // with shapes left, after so many wrong ones
    bool came_to_end;   // the program did: what it has no output for, its function does not take
    const char *end_at; // the shape it was at otherwise; NULL: at none
} account;

// What no shape was compared at, where that is no fault of the function's numbers.
static void say_others(const heddle_check_job *job, const account *all, sentence *to)
{
    char fields[256];
    int set = all->complete ? 0 : heddle_check_job_fields(job, fields, sizeof fields);
    if (set > 0)
        say(to, "; %s %s: the function does not take %s", fields, set == 1 ? "has its default" : "have their defaults",
            set == 1 ? "it" : "them");
    if (all->left_out > 0)
        say(to, "; %d more %s too large to be watched", all->left_out, all->left_out == 1 ? "is" : "are");
    if (!job->given && all->wrong == 0 && (set > 0 || all->count < all->all))
        say(to, "; --shape compares at others");
}

static heddle_status tell_compared(const heddle_check_job *job, const account *all, heddle_check_result *result)
{
    const char *at = all->end_at;
    sentence said = {.used = 0};
    say_compared(job, all->compared, all->count, &said);
    if (all->gave_up)
        say(&said, "; stopped after %d wrong ones", all->wrong);
    else if (all->count < all->all && !all->came_to_end)
        say(&said, "; the program stopped %s%s%sbefore the rest", at ? "at " : "", at ? at : "", at ? ", " : "");
    else if (all->count > 0)
        say_others(job, all, &said);
    return heddle_check_result_note(
        result, "%s: %d of %d %s compared with the float64 reference, seed %llu%s", job->op->name, all->count, all->all,
        job->given ? "shapes of --shape" : "test shapes", (unsigned long long)job->seed, said.text);
}

static bool has_output(const heddle_check_folder *folder, int number)
{
    FILE *file = NULL;
    if (open_case(folder, number, "out", "rb", &file) != HEDDLE_OK)
        return false;
    fclose(file);
    return true;
}

// Whether the function takes the optional fields: the compiler knew it, and what was run shows it.
static bool is_complete(const heddle_check_job *job, const heddle_check_folder *folder, bool came_to_end)
{
    int last = last_number(job, folder);
    for (int i = 0; i < job->count; i++) {
        bool ran = i == last || has_output(folder, i);
        if (ran && job->cases[i].kind != HEDDLE_CHECK_USUAL)
            return job->cases[i].kind == HEDDLE_CHECK_UNUSUAL;
        if (!ran && came_to_end && job->cases[i].kind == HEDDLE_CHECK_UNUSUAL)
            return false;
    }
    return true;
}

static account open_account(const heddle_check_job *job, const heddle_check_folder *folder)
{
    account all = {.came_to_end = last_number(job, folder) == job->count, .end_at = last_shape(job, folder)};
    all.complete = is_complete(job, folder, all.came_to_end);
    for (int kind = 0; kind < HEDDLE_CHECK_CASE_KINDS; kind++)
        all.left_out += heddle_check_takes(kind, all.complete) ? job->left_out[kind] : 0;
    all.all = all.left_out;
    for (int i = 0; i < job->count; i++)
        all.all += heddle_check_takes(job->cases[i].kind, all.complete);
    return all;
}

static heddle_status compare_all(const heddle_check_job *job, const heddle_check_folder *folder,
                                 heddle_check_result *result, account *all)
{
    for (int i = 0; i < job->count && !all->gave_up; i++) {
        FILE *file = NULL;
        if (open_case(folder, i, "out", "rb", &file) != HEDDLE_OK)
            continue; // a shape that the function does not take, or that the program did not come to
        int before = result->finding_count;
        FILE *writers = NULL; // a program that was not simulated has none
        if (open_case(folder, i, "by", "rb", &writers) != HEDDLE_OK)
            writers = NULL;
        heddle_status status = heddle_check_compare(job, i, file, writers, result, &all->compared[i]);
        fclose(file);
        if (writers)
            fclose(writers);
        HEDDLE_TRY(status);
        all->count += all->compared[i];
        all->wrong += result->finding_count > before;
        all->gave_up = all->wrong == MOST_WRONG && all->count + all->left_out < all->all;
    }
    return HEDDLE_OK;
}

static heddle_status add_early_end(const heddle_check_job *job, const char *shape, heddle_check_result *result)
{
    char text[512];
    snprintf(text, sizeof text, "%s with %s: the program ended with status %d before it had computed this.",
             job->op->name, shape, result->exit_status);
    heddle_check_finding finding = {
        .kind = HEDDLE_CHECK_DIED,
        .tier = HEDDLE_CHECK_ERROR,
        .count = 1,
        .message = heddle_arena_copy_text(result->arena, text),
        .note = "",
        .cure = "Let the function return where it calls exit(): the main around it goes on to the next shape.",
    };
    return finding.message ? heddle_check_result_add_finding(result, &finding)
                           : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
}

// What was not compared must not pass for right, where nothing else says that the run was no good: neither an error nor
// an exit status that counts.
static heddle_status judge_uncompared(const heddle_check_job *job, const account *all, heddle_check_result *result)
{
    if (heddle_check_result_has_errors(result) || (result->exit_status != 0 && !result->any_status))
        return HEDDLE_OK;
    if (!all->came_to_end && all->end_at)
        return add_early_end(job, all->end_at, result);
    if (all->count == 0)
        return heddle_check_result_add(result, HEDDLE_CHECK_WRONG_RESULT, HEDDLE_CHECK_ERROR,
                                       "%s: the program computed nothing that could be compared.", job->op->name);
    if (!all->came_to_end || (job->given && all->count < job->count))
        return heddle_check_result_add(result, HEDDLE_CHECK_WRONG_RESULT, HEDDLE_CHECK_ERROR,
                                       "%s: the program did not compute all that it was asked for.", job->op->name);
    return HEDDLE_OK;
}

heddle_status heddle_check_job_compare(const heddle_check_job *job, const heddle_check_folder *folder,
                                       heddle_check_result *result)
{
    account all = open_account(job, folder);
    HEDDLE_TRY(compare_all(job, folder, result, &all));
    HEDDLE_TRY(judge_uncompared(job, &all, result));
    return tell_compared(job, &all, result);
}
