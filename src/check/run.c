// The check from beginning to end: what is to be built, one run, further runs, and how they are judged.

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "check/build.h"
#include "check/check.h"
#include "check/columns.h"
#include "check/describe.h"
#include "check/ending.h"
#include "check/expect.h"
#include "check/explain.h"
#include "check/files.h"
#include "check/finish.h"
#include "check/grid.h"
#include "check/hide.h"
#include "check/input.h"
#include "check/notes.h"
#include "check/operator.h"
#include "check/order.h"
#include "check/output.h"
#include "check/progress.h"
#include "check/questions.h"
#include "check/scan.h"
#include "check/slips.h"
#include "sim/build/build.h"

enum { PATH_SIZE = 1024, MOST_VARIABLES = 16, VARIABLE_SIZE = PATH_SIZE + 64, MOST_LOOKS = 3 };
#define LARGEST_SEED (((uint64_t)1 << 53) - 1) // that every reader of numbers keeps exactly
// Beyond the numbers of all other runs.
enum { COUNTING_RUN = HEDDLE_CHECK_MOST_RUNS * (1 + MOST_LOOKS) };

static volatile int interrupted;

void heddle_check_interrupt(void)
{
    interrupted = 1;
    sim_build_interrupted();
}

void heddle_check_resume(void)
{
    interrupted = 0;
}

// Everything that the steps of one check share.
typedef struct check_state {
    const heddle_check_options *options;
    heddle_check_result *result;
    heddle_check_folder outer;  // what the program must not change is in this one
    heddle_check_folder folder; // inside; the program may write here
    heddle_sandbox sandbox;
    heddle_check_opinion opinion;
    heddle_check_suppressions *suppressions;
    heddle_check_job job;
    bool is_job;
    char **sources; // absolute
    char driver[PATH_SIZE];
    const char *only_driver[2]; // of a job: what is built instead of the sources
    char program[PATH_SIZE];
    heddle_check_columns *columns; // NULL: not known
    heddle_check_output output;    // of the first run
    char *expected;                // NULL: any output is right
    double started;
} check_state;

// --- what is to be checked -------------------------------------------------------------------------------------------

static bool is_source(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".o") != 0 && strcmp(dot, ".a") != 0;
}

static heddle_status has_main(const check_state *state, bool *found)
{
    *found = false;
    for (int i = 0; state->sources[i] && !*found; i++) {
        heddle_check_defines defines = HEDDLE_CHECK_FUNCTION; // an object may hold it
        if (is_source(state->sources[i]))
            HEDDLE_TRY(heddle_check_file_defines(state->sources[i], state->options->include, "main", &defines));
        *found = defines == HEDDLE_CHECK_FUNCTION;
    }
    return HEDDLE_OK;
}

static heddle_status refuse_no_sources(const check_state *state)
{
    for (int i = 0; state->sources[i]; i++)
        if (is_source(state->sources[i]))
            HEDDLE_TRY(heddle_check_file_refuse(state->options->sources[i], !state->sources[1]));
    for (int i = 0; state->sources[i]; i++)
        if (is_source(state->sources[i]))
            HEDDLE_TRY(heddle_check_rung_refuse(state->options->sources[i]));
    return HEDDLE_OK;
}

// The compiler goes by a file's ending, and hands what it does not know to the linker, which reads objects and
// archives.
static heddle_status refuse_unknown_ending(const char *path)
{
    char begin[8] = "";
    if (sim_build_is_source(path))
        return HEDDLE_OK;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(begin, 1, sizeof begin, file) : 0;
    if (file)
        fclose(file);
    if (size == sizeof begin && (memcmp(begin, "\177ELF", 4) == 0 || memcmp(begin, "!<arch>\n", sizeof begin) == 0))
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID,
                       "%s: neither an object nor, by its ending, a source file; CUDA source ends in .cu", path);
}

static heddle_status prepare_job(check_state *state, const heddle_op *op)
{
    const heddle_check_options *options = state->options;
    state->is_job = true;
    HEDDLE_TRY(heddle_check_job_prepare(&state->job, op, (const char *const *)state->sources, options->seed));
    return options->shapes ? heddle_check_job_set_shapes(&state->job, options->shapes) : HEDDLE_OK;
}

static heddle_status choose_program(check_state *state)
{
    const heddle_check_options *options = state->options;
    bool own_main = false;
    if (options->shapes && !options->op)
        return heddle_fail(HEDDLE_INVALID, "--shape goes with --op NAME: it is a shape of that operator");
    HEDDLE_TRY(has_main(state, &own_main));
    if (!own_main)
        HEDDLE_TRY(refuse_no_sources(state));
    for (int i = 0; state->sources[i]; i++)
        HEDDLE_TRY(refuse_unknown_ending(options->sources[i]));
    if (options->op) {
        const heddle_op *op = NULL;
        HEDDLE_TRY(heddle_check_op_find(options->op, &op));
        if (own_main)
            return heddle_fail(HEDDLE_INVALID, "%s has a main of its own: check it without --op", options->sources[0]);
        return prepare_job(state, op);
    }
    if (own_main)
        return HEDDLE_OK;
    const heddle_op *suggested = heddle_check_op_suggest((const char *const *)state->sources);
    char suggestion[160] = "";
    if (suggested)
        snprintf(suggestion, sizeof suggestion, "; its function looks like --op %s", suggested->name);
    return heddle_fail(HEDDLE_INVALID,
                       "%s: nothing to run: give it a main, or name the operator it computes by --op "
                       "(`heddle ops` lists them)%s",
                       options->sources[0], suggestion);
}

static const char *const *built_from(const check_state *state)
{
    return state->is_job ? state->only_driver : state->options->sources; // as typed: that is how messages name them
}

static heddle_status build(check_state *state)
{
    if (state->is_job)
        HEDDLE_TRY(heddle_check_job_write(&state->job, (const char *const *)state->sources, &state->folder,
                                          state->driver, sizeof state->driver));
    state->only_driver[0] = state->driver;
    heddle_check_folder_path(&state->folder, "program", state->program, sizeof state->program);
    heddle_status status =
        heddle_check_build(state->options, built_from(state), &state->folder, state->program, state->result);
    if (interrupted)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    HEDDLE_TRY(status);
    if (state->result->built)
        state->columns = heddle_check_columns_open(
            state->program, state->is_job ? state->only_driver : (const char *const *)state->sources,
            state->options->include);
    // What the driver says of a function that it cannot call is all that a person has to know.
    static const char mark[] = "heddle: ";
    char *said = state->is_job && !state->result->built && state->result->messages
                     ? strstr(state->result->messages, mark)
                     : NULL;
    if (said)
        return heddle_fail(HEDDLE_INVALID, "%s: %.*s", state->options->sources[0],
                           (int)strcspn(said + sizeof mark - 1, "\n\""), said + sizeof mark - 1);
    return HEDDLE_OK;
}

// --- one run ---------------------------------------------------------------------------------------------------------

typedef struct run_plan {
    int number; // of the run, from 0
    int schedule;
    const char *values; // file for SIM_VALUES; NULL: none
    const char *copy;   // for SIM_COPY; NULL: none
    bool other_clock;   // than in the runs that count
    char report[PATH_SIZE];
} run_plan;

typedef struct run_environment {
    char text[MOST_VARIABLES][VARIABLE_SIZE];
    const char *list[MOST_VARIABLES + 1];
    char progress[PATH_SIZE];
    int count;
} run_environment;

static void set(run_environment *environment, const char *name, const char *value)
{
    char *text = environment->text[environment->count];
    snprintf(text, VARIABLE_SIZE, "%s=%s", name, value);
    environment->list[environment->count++] = text;
    environment->list[environment->count] = NULL;
}

static void fill_environment(const check_state *state, const run_plan *plan, run_environment *environment)
{
    char number[32];
    environment->count = 0;
    set(environment, "SIM_REPORT", plan->report);
    snprintf(number, sizeof number, "%d", plan->schedule);
    set(environment, "SIM_SCHEDULE", number);
    set(environment, "SIM_WATCH", state->options->unwatched ? "0" : "1");
    set(environment, "SIM_STRICT", "0"); // tiers are united over all runs before they are raised
    snprintf(number, sizeof number, "%.17g", state->options->budget);
    set(environment, "SIM_BUDGET", number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)(state->options->seed & LARGEST_SEED));
    set(environment, "SIM_SEED", number);
    if (state->options->gpu)
        set(environment, "SIM_GPU", state->options->gpu);
    if (plan->values)
        set(environment, "SIM_VALUES", plan->values);
    if (plan->copy)
        set(environment, "SIM_COPY", plan->copy);
    if (plan->other_clock)
        set(environment, "SIM_TICK", "3");
    heddle_check_folder_path(&state->folder, "progress", environment->progress, sizeof environment->progress);
    if (state->options->progress)
        set(environment, "SIM_PROGRESS", environment->progress);
    if (state->options->sandbox)
        set(environment, "TMPDIR", state->folder.path);
}

static char **program_arguments(const check_state *state)
{
    const char *const *arguments = state->options->arguments;
    size_t count = 0;
    while (arguments && arguments[count])
        count++;
    char **list = calloc(count + 2, sizeof *list);
    if (!list)
        return NULL;
    list[0] = (char *)state->program;
    for (size_t i = 0; i < count; i++)
        list[i + 1] = (char *)arguments[i];
    return list;
}

static heddle_status run_child(check_state *state, const run_plan *plan, heddle_child *child)
{
    const heddle_check_options *options = state->options;
    run_environment environment;
    fill_environment(state, plan, &environment);
    char **arguments = program_arguments(state);
    if (!arguments)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to start the program");
    heddle_check_shown *shown = heddle_check_shown_open(options, environment.progress);
    struct termios terminal;
    bool has_terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &terminal) == 0;
    heddle_check_input input = {.file = -1};
    heddle_status status =
        options->no_input ? HEDDLE_OK : heddle_check_input_open(&input, state->folder.path, plan->number);
    const bool first = plan->number == 0;
    heddle_check_output *output = first && options->carry ? &state->output : NULL;
    heddle_child_options how = {
        .argv = arguments,
        .environment = environment.list,
        .folder = options->folder,
        .input = input.file,
        .output = output  ? output->program
                  : first ? options->output
                          : -1,
        .errors = output  ? output->errors
                  : first ? options->errors
                          : -1,
        .seconds = options->seconds,
        .memory = options->memory ? options->memory : heddle_child_usual_memory(),
        .sandbox = options->sandbox ? &state->sandbox : NULL,
        .stop = &interrupted,
        .look = shown ? heddle_check_shown_look : NULL,
        .look_context = shown,
    };
    if (status == HEDDLE_OK)
        status = heddle_child_start(child, &how);
    heddle_check_input_passed(&input);
    if (status == HEDDLE_OK && output && heddle_check_output_passed(output) != HEDDLE_OK) {
        heddle_child_kill(child);
        status = HEDDLE_OUT_OF_MEMORY;
    }
    if (status == HEDDLE_OK)
        heddle_child_wait(child, -1);
    if (output)
        heddle_check_output_close(output);
    heddle_check_input_close(&input);
    heddle_check_shown_close(shown);
    if (has_terminal)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
    free(arguments);
    return status;
}

// A setting that the simulator does not know is a mistake in our own command line.
static heddle_status refuse_setting(const heddle_check_report *report)
{
    static const char mark[] = "refused: ";
    if (strncmp(report->status, mark, sizeof mark - 1) != 0)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "%s", report->status + sizeof mark - 1);
}

// Runs once. *report is NULL where the program left none; *regular says whether it ended by itself.
static heddle_status run_once(check_state *state, run_plan *plan, heddle_check_report **report, heddle_child *child)
{
    char name[64];
    *report = NULL;
    snprintf(name, sizeof name, "report-%d.json", plan->number);
    heddle_check_folder_path(&state->folder, name, plan->report, sizeof plan->report);
    HEDDLE_TRY(run_child(state, plan, child));
    if (child->keeper.error)
        return heddle_fail(HEDDLE_IO, "the program cannot be started%s: %s",
                           state->options->sandbox ? " in its sandbox" : "", strerror(child->keeper.error));
    heddle_check_folder_clean(&state->folder);
    if (child->end == HEDDLE_CHILD_STOPPED)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    if (heddle_file_exists(plan->report) && heddle_check_report_read(plan->report, report) != HEDDLE_OK)
        HEDDLE_TRY(heddle_check_result_note(state->result, "the report of run %d is damaged: %s", plan->number,
                                            heddle_last_error()));
    if (*report) {
        heddle_check_columns_settle(state->columns, *report);
        heddle_check_explain(*report, state->result->sources);
    }
    if (*report && state->is_job) {
        heddle_check_job_hide(&state->folder, *report);
        heddle_check_job_name_shape(&state->job, &state->folder, *report);
    }
    heddle_status status = *report ? refuse_setting(*report) : HEDDLE_OK;
    if (status != HEDDLE_OK) {
        heddle_check_report_free(*report);
        *report = NULL;
    }
    return status;
}

// --- all runs --------------------------------------------------------------------------------------------------------

// A run beside those that count, to look closer at what two of them brought.
typedef struct closer_look {
    check_state *state;
    const char *values; // of the later of the two
    int number;
} closer_look;

static heddle_status look_again(void *context, const heddle_check_report *like, const char *copy,
                                heddle_check_report **report)
{
    closer_look *look = context;
    heddle_child child = {.process = -1};
    bool first = like == look->state->result->runs[0];
    run_plan plan = {.number = look->number++,
                     .schedule = like->schedule,
                     .values = first ? NULL : look->values,
                     .copy = copy,
                     .other_clock = first};
    return run_once(look->state, &plan, report, &child);
}

static heddle_status compare_with_first(check_state *state, const heddle_check_report *report, int run,
                                        const char *values)
{
    char path[PATH_SIZE];
    closer_look look = {state, values, HEDDLE_CHECK_MOST_RUNS + MOST_LOOKS * run};
    heddle_check_folder_path(&state->folder, "copy", path, sizeof path);
    return heddle_check_order_compare(state->result, report, path, look_again, &look);
}

static heddle_status run_first(check_state *state, bool *regular)
{
    heddle_check_result *result = state->result;
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = 0};
    HEDDLE_TRY(run_once(state, &plan, &report, &child));
    *regular = child.end == HEDDLE_CHILD_EXITED && report;
    result->exit_status = child.end == HEDDLE_CHILD_EXITED ? child.code : 0;
    result->open_line = state->output.last && state->output.last != '\n';
    heddle_status status = heddle_check_judge_end(state->options, state->result, &child, report);
    if (report && status == HEDDLE_OK)
        status = heddle_check_result_add_run(result, report);
    else
        heddle_check_report_free(report);
    HEDDLE_TRY(status);
    if (state->is_job)
        HEDDLE_TRY(heddle_check_job_compare(&state->job, &state->folder, result));
    if (state->expected && child.end == HEDDLE_CHILD_EXITED)
        HEDDLE_TRY(heddle_check_expect_compare(state->expected, &state->output, result));
    if (result->exit_status == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_check_result_note(result, "the program ended with status %d", result->exit_status));
    if (state->sandbox.rules < 0 || result->finding_count > 0) // a finding is the likelier reason
        return HEDDLE_OK;
    return heddle_check_result_note(result,
                                    "the program may write only below the working folder and $TMPDIR, and has no "
                                    "network; if it needs more, use --no-sandbox");
}

static heddle_status run_another(check_state *state, int run, int schedule, const char *values)
{
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = run, .schedule = schedule, .values = values};
    HEDDLE_TRY(run_once(state, &plan, &report, &child));
    heddle_status status = heddle_check_judge_end(state->options, state->result, &child, report);
    if (!report || status != HEDDLE_OK) {
        heddle_check_report_free(report);
        return status;
    }
    HEDDLE_TRY(heddle_check_result_add_run(state->result, report));
    return schedule == 0 ? HEDDLE_OK : compare_with_first(state, report, run, values);
}

// The other orders; then, as long as new racing writes turn up, again, in an order in which
// they race.
static heddle_status run_others(check_state *state)
{
    char path[PATH_SIZE];
    heddle_check_questions asked = {0};
    heddle_check_folder_path(&state->folder, "values", path, sizeof path);
    heddle_status status = heddle_check_questions_gather(&asked, state->result);
    for (int run = 1; status == HEDDLE_OK && run < HEDDLE_CHECK_MOST_RUNS; run++) {
        int schedule = run < state->options->schedules ? run : heddle_check_questions_schedule(&asked, state->result);
        if (schedule < 0)
            break;
        status = heddle_check_questions_write(&asked, schedule, path);
        if (status == HEDDLE_OK)
            status = run_another(state, run, schedule, asked.count > 0 ? path : NULL);
        if (status == HEDDLE_OK)
            status = heddle_check_questions_gather(&asked, state->result);
    }
    heddle_check_questions_free(&asked);
    return status;
}

// A run of its own, whose findings and other counts do not count: what tells of branches slows a program down, and
// keeps the compiler from joining accesses.
static heddle_status count_branches(check_state *state)
{
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = COUNTING_RUN};
    bool fine = false;
    heddle_check_columns_close(state->columns); // of the other program
    state->columns = NULL;
    heddle_check_folder_path(&state->folder, "counting", state->program, sizeof state->program);
    heddle_status status = heddle_check_build_counting(state->options, built_from(state), &state->folder,
                                                       state->program, state->result, &fine);
    if (interrupted)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    HEDDLE_TRY(status);
    if (!fine)
        return HEDDLE_OK;
    HEDDLE_TRY(run_once(state, &plan, &report, &child));
    state->result->branches = report;
    if (!report || child.end != HEDDLE_CHILD_EXITED)
        return heddle_check_result_note(state->result, "divergent branches were not all counted: the run that counts "
                                                       "them did not end by itself (--timeout, --memory)");
    if (report->branches_in_pieces)
        return heddle_check_result_note(state->result, "some warps execute millions of branches without a barrier: "
                                                       "their executions may be counted more than once");
    return HEDDLE_OK;
}

static bool has_kind(const heddle_check_result *result, heddle_check_kind kind)
{
    for (int i = 0; i < result->finding_count; i++)
        if (result->findings[i]->kind == kind)
            return true;
    return false;
}

// --- from beginning to end -------------------------------------------------------------------------------------------

// It may write where it runs, in a temporary folder of its own, and to its output.
static heddle_status open_sandbox(check_state *state)
{
    const heddle_check_options *options = state->options;
    const char *const folders[] = {options->folder ? options->folder : ".", state->folder.path, NULL};
    int output = state->output.program >= 0 ? state->output.program : options->output;
    int errors = state->output.program >= 0 ? state->output.errors : options->errors;
    const int files[] = {output >= 0 ? output : errors, errors, -1};
    return heddle_sandbox_open(&state->sandbox, folders, files);
}

static heddle_status check(check_state *state)
{
    const heddle_check_options *options = state->options;
    HEDDLE_TRY(heddle_check_files_find(options, &state->sources));
    HEDDLE_TRY(choose_program(state));
    if (options->suppress && heddle_check_suppressions_read(options->suppress, &state->suppressions) != HEDDLE_OK)
        return heddle_fail(HEDDLE_INVALID, "--suppress: %s", heddle_last_error());
    if (options->expect)
        HEDDLE_TRY(heddle_check_expect_read(options->expect, &state->expected));
    HEDDLE_TRY(heddle_check_comments_look(options->sources, state->result));
    HEDDLE_TRY(heddle_check_folder_create(&state->outer, options->keep));
    HEDDLE_TRY(heddle_check_folder_inner(&state->outer, "run", &state->folder));
    HEDDLE_TRY(heddle_check_opinion_ask(&state->opinion, options, &state->outer, &interrupted));
    HEDDLE_TRY(build(state));
    state->result->unwatched = options->unwatched;
    if (!state->result->built)
        return HEDDLE_OK; // nvcc would only say the same again
    HEDDLE_TRY(heddle_check_slips_find(state->result, (const char *const *)state->sources));
    bool regular = false;
    if (options->carry)
        HEDDLE_TRY(heddle_check_output_open(&state->output, options->output, options->errors, options->expect != NULL));
    if (options->sandbox)
        HEDDLE_TRY(open_sandbox(state));
    HEDDLE_TRY(run_first(state, &regular));
    HEDDLE_TRY(heddle_check_grids_find(state->result, (const char *const *)state->sources));
    if (regular && !options->unwatched && !has_kind(state->result, HEDDLE_CHECK_SPIN))
        HEDDLE_TRY(run_others(state)); // an endless wait would be waited for again
    if (regular && options->divergence && !has_kind(state->result, HEDDLE_CHECK_SPIN))
        HEDDLE_TRY(count_branches(state));
    HEDDLE_TRY(heddle_check_notes(state->options, state->result));
    HEDDLE_TRY(heddle_check_opinion_hear(&state->opinion, state->result));
    if (options->keep)
        HEDDLE_TRY(
            heddle_check_result_note(state->result, "the program and its reports are in %s", state->folder.path));
    return HEDDLE_OK;
}

heddle_status heddle_check_run(const heddle_check_options *options, heddle_check_result **result)
{
    *result = NULL;
    if (interrupted)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    check_state state = {.options = options,
                         .outer = {.lock = -1},
                         .sandbox = {.rules = -1},
                         .output = {.source = -1, .program = -1},
                         .started = heddle_now()};
    HEDDLE_TRY(heddle_check_result_create(&state.result));
    state.result->any_status = options->any_status;
    state.result->sandbox = options->sandbox ? heddle_sandbox_name() : "off";
    heddle_status status = check(&state);
    if (state.opinion.asked)
        heddle_child_kill(&state.opinion.child);
    heddle_check_columns_close(state.columns);
    heddle_sandbox_close(&state.sandbox);
    heddle_check_folder_release(&state.outer);
    if (status == HEDDLE_OK) {
        heddle_check_finish(state.result, state.suppressions, options->strict || options->grade);
        if (state.result->built)
            status = heddle_check_suppressions_note_unused(state.suppressions, state.result);
        state.result->seconds = heddle_now() - state.started;
    }
    heddle_check_suppressions_free(state.suppressions);
    heddle_check_output_free(&state.output);
    free(state.expected);
    for (int i = 0; state.sources && state.sources[i]; i++)
        free(state.sources[i]);
    free(state.sources);
    if (status != HEDDLE_OK) {
        heddle_check_result_free(state.result);
        return status;
    }
    *result = state.result;
    return HEDDLE_OK;
}
