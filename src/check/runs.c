// Running the program: in a child process, with settings for the simulator, as often as it takes.

#include "check/runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "check/ending.h"
#include "check/expect.h"
#include "check/explain.h"
#include "check/hide.h"
#include "check/input.h"
#include "check/order.h"
#include "check/progress.h"
#include "check/questions.h"
#include "check/trace.h"

enum { MOST_VARIABLES = 16, VARIABLE_SIZE = HEDDLE_CHECK_PATH + 64, MOST_LOOKS = 3 };
#define LARGEST_SEED (((uint64_t)1 << 53) - 1) // that every reader of numbers keeps exactly
// Beyond the numbers of all other runs.
enum { COUNTING_RUN = HEDDLE_CHECK_MOST_RUNS * (1 + MOST_LOOKS) };

// --- one run ---------------------------------------------------------------------------------------------------------

typedef struct run_plan {
    int number; // of the run, from 0
    int schedule;
    const char *values; // file for SIM_VALUES; NULL: none
    const char *copy;   // for SIM_COPY; NULL: none
    bool other_clock;   // than in the runs that count
    char report[HEDDLE_CHECK_PATH];
    char trace[HEDDLE_CHECK_PATH]; // file for SIM_TRACE; "": none
} run_plan;

typedef struct run_environment {
    char text[MOST_VARIABLES][VARIABLE_SIZE];
    const char *list[MOST_VARIABLES + 1];
    char progress[HEDDLE_CHECK_PATH];
    int count;
} run_environment;

static void set(run_environment *environment, const char *name, const char *value)
{
    char *text = environment->text[environment->count];
    snprintf(text, VARIABLE_SIZE, "%s=%s", name, value);
    environment->list[environment->count++] = text;
    environment->list[environment->count] = NULL;
}

static void fill_environment(const heddle_check_state *state, const run_plan *plan, run_environment *environment)
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
    if (plan->trace[0])
        set(environment, "SIM_TRACE", plan->trace);
    if (plan->other_clock)
        set(environment, "SIM_TICK", "3");
    heddle_check_folder_path(&state->folder, "progress", environment->progress, sizeof environment->progress);
    set(environment, "SIM_PROGRESS", environment->progress);
    if (state->options->sandbox)
        set(environment, "TMPDIR", state->folder.path);
}

// The simulator's settings come last, so that they count.
static const char **all_variables(const heddle_check_state *state, const run_environment *environment)
{
    size_t count = 0, used = 0;
    while (state->environment && state->environment[count])
        count++;
    const char **list = calloc(count + (size_t)environment->count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        bool set = false;
        size_t name = strcspn(state->environment[i], "=") + 1;
        for (int k = 0; k < environment->count && !set; k++)
            set = strncmp(state->environment[i], environment->list[k], name) == 0;
        if (!set)
            list[used++] = state->environment[i];
    }
    for (int i = 0; list && i < environment->count; i++)
        list[used++] = environment->list[i];
    return list;
}

static char **program_arguments(const heddle_check_state *state)
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

static heddle_status run_child(heddle_check_state *state, const run_plan *plan, heddle_child *child)
{
    const heddle_check_options *options = state->options;
    run_environment environment;
    fill_environment(state, plan, &environment);
    char **arguments = program_arguments(state);
    const char **variables = all_variables(state, &environment);
    if (!arguments || !variables) {
        free(arguments);
        free(variables);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to start the program");
    }
    heddle_check_shown *shown = heddle_check_shown_open(options, environment.progress);
    struct termios terminal;
    bool has_terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &terminal) == 0;
    heddle_check_input input = {.file = -1};
    heddle_status status = HEDDLE_OK;
    if (state->input)
        input.file = heddle_check_input_file(state->input);
    else if (!options->no_input)
        status = heddle_check_input_open(&input, state->outer.path, plan->number);
    const bool first = plan->number == 0;
    heddle_check_output *output = first && options->carry ? &state->output : NULL;
    heddle_child_options how = {
        .argv = arguments,
        .environment = variables,
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
        .stop = state->stop,
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
    snprintf(state->unread, sizeof state->unread, "%s", heddle_check_input_unread(&input));
    heddle_check_shown_where(shown, state->where, sizeof state->where);
    heddle_check_shown_close(shown);
    if (has_terminal)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
    free(arguments);
    free(variables);
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

static heddle_status refuse_start(const heddle_check_state *state, const heddle_child *child)
{
    if (!child->keeper.error)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_IO, "the program cannot be started%s: %s",
                       state->options->sandbox ? " in its sandbox" : "", strerror(child->keeper.error));
}

heddle_status heddle_check_run_command(heddle_check_state *state, const char *reports, heddle_child *child)
{
    run_plan plan = {.number = 0};
    snprintf(plan.report, sizeof plan.report, "%s/", reports);
    HEDDLE_TRY(run_child(state, &plan, child));
    return refuse_start(state, child);
}

void heddle_check_run_find_child(heddle_check_report *report, const char *path)
{
    char mark[HEDDLE_CHECK_PATH + 16];
    snprintf(mark, sizeof mark, "%s.child", path);
    if (!report->unchecked[0] && heddle_file_exists(mark))
        report->unchecked = "a process that the program started called CUDA: what it did was not checked";
}

void heddle_check_run_explain(heddle_check_state *state, heddle_check_report *report)
{
    heddle_check_columns_settle(state->columns, report);
    heddle_check_explain(report, state->result->sources);
    if (state->is_job || state->is_extension)
        heddle_check_job_hide(&state->folder, report);
    if (state->is_extension)
        heddle_check_extension_reword(&state->extension, report);
    if (state->is_job)
        heddle_check_job_name_shape(&state->job, &state->folder, report);
}

// Runs once. *report is NULL where the program left none; *regular says whether it ended by itself.
static heddle_status run_once(heddle_check_state *state, run_plan *plan, heddle_check_report **report,
                              heddle_child *child)
{
    char name[64];
    *report = NULL;
    snprintf(name, sizeof name, "report-%d.json", plan->number);
    heddle_check_folder_path(&state->folder, name, plan->report, sizeof plan->report);
    HEDDLE_TRY(run_child(state, plan, child));
    HEDDLE_TRY(refuse_start(state, child));
    heddle_check_folder_clean(&state->folder);
    if (child->end == HEDDLE_CHILD_STOPPED)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    if (heddle_file_exists(plan->report) && heddle_check_report_read(plan->report, report) != HEDDLE_OK)
        HEDDLE_TRY(heddle_check_result_note(state->result, "the report of run %d is damaged: %s", plan->number,
                                            heddle_last_error()));
    if (*report && strcmp((*report)->status, "finished") == 0)
        heddle_child_exited(child, (*report)->exit_status);
    if (*report && !state->repeats) // a program that it starts was checked as one of the command's
        heddle_check_run_find_child(*report, plan->report);
    if (*report)
        heddle_check_run_explain(state, *report);
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
    heddle_check_state *state;
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

static heddle_status compare_with_first(heddle_check_state *state, const heddle_check_report *report, int run,
                                        const char *values)
{
    char path[HEDDLE_CHECK_PATH];
    closer_look look = {state, values, HEDDLE_CHECK_MOST_RUNS + MOST_LOOKS * run};
    heddle_check_folder_path(&state->folder, "copy", path, sizeof path);
    return heddle_check_order_compare(state->result, report, path, look_again, &look);
}

heddle_status heddle_check_run_first(heddle_check_state *state, bool *regular)
{
    heddle_check_result *result = state->result;
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = 0};
    if (state->options->trace)
        heddle_check_folder_path(&state->folder, "trace.json", plan.trace, sizeof plan.trace);
    HEDDLE_TRY(run_once(state, &plan, &report, &child));
    *regular = child.end == HEDDLE_CHILD_EXITED && report;
    result->exit_status = child.end == HEDDLE_CHILD_EXITED ? child.code : 0;
    result->open_line = state->output.last && state->output.last != '\n';
    result->coloured = state->output.coloured;
    heddle_status status = heddle_check_judge_end(state->options, state->result, &child, report, state->where);
    if (report && status == HEDDLE_OK)
        status = heddle_check_result_add_run(result, report);
    else
        heddle_check_report_free(report);
    HEDDLE_TRY(status);
    if (state->options->trace)
        HEDDLE_TRY(heddle_check_trace_read(result, plan.trace, state->stop));
    if (state->is_job)
        HEDDLE_TRY(heddle_check_job_compare(&state->job, &state->folder, result));
    if (state->is_extension)
        HEDDLE_TRY(heddle_check_extension_compare(&state->extension, &state->outer, &state->folder, result));
    if (state->expected && child.end == HEDDLE_CHILD_EXITED)
        HEDDLE_TRY(heddle_check_expect_compare(state->expected, &state->output, result));
    if (result->exit_status == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_check_result_note(result, "the program ended with status %d", result->exit_status));
    if (!state->options->sandbox || !heddle_sandbox_contains() ||
        result->finding_count > 0) // a finding is the likelier reason
        return HEDDLE_OK;
    return heddle_check_result_note(result,
                                    "the program may write only below the working folder and $TMPDIR, and has no "
                                    "network; if it needs more, use --no-sandbox");
}

static heddle_status run_another(heddle_check_state *state, int run, int schedule, const char *values, bool *failed)
{
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = run, .schedule = schedule, .values = values};
    HEDDLE_TRY(run_once(state, &plan, &report, &child));
    if (state->repeats && (child.end != HEDDLE_CHILD_EXITED || !report)) {
        heddle_check_report_free(report);
        *failed = true;
        return heddle_check_result_note(state->result,
                                        "the check of other orders is not complete: started again by itself, the "
                                        "program did not end as it did in the command");
    }
    heddle_status status = heddle_check_judge_end(state->options, state->result, &child, report, state->where);
    if (!report || status != HEDDLE_OK) {
        heddle_check_report_free(report);
        return status;
    }
    HEDDLE_TRY(heddle_check_result_add_run(state->result, report));
    return schedule == 0 ? HEDDLE_OK : compare_with_first(state, report, run, values);
}

heddle_status heddle_check_run_others(heddle_check_state *state)
{
    char path[HEDDLE_CHECK_PATH];
    heddle_check_questions asked = {0};
    heddle_check_folder_path(&state->folder, "values", path, sizeof path);
    heddle_status status = heddle_check_questions_gather(&asked, state->result);
    bool failed = false;
    for (int run = 1; status == HEDDLE_OK && !failed && run < HEDDLE_CHECK_MOST_RUNS; run++) {
        int schedule = run < state->options->schedules ? run : heddle_check_questions_schedule(&asked, state->result);
        if (schedule < 0)
            break;
        status = heddle_check_questions_write(&asked, schedule, path);
        if (status == HEDDLE_OK)
            status = run_another(state, run, schedule, asked.count > 0 ? path : NULL, &failed);
        if (status == HEDDLE_OK)
            status = heddle_check_questions_gather(&asked, state->result);
    }
    heddle_check_questions_free(&asked);
    return status;
}

heddle_status heddle_check_run_answers(heddle_check_state *state)
{
    char path[HEDDLE_CHECK_PATH];
    heddle_check_questions asked = {0};
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = 1, .values = path};
    heddle_check_folder_path(&state->folder, "values", path, sizeof path);
    heddle_status status = heddle_check_questions_gather(&asked, state->result);
    const bool wanted = status == HEDDLE_OK && asked.count > 0;
    if (wanted)
        status = heddle_check_questions_write(&asked, plan.schedule, path);
    if (wanted && status == HEDDLE_OK)
        status = run_once(state, &plan, &report, &child);
    if (report)
        status = heddle_check_result_add_run(state->result, report);
    heddle_check_questions_free(&asked);
    return status;
}

heddle_status heddle_check_run_counting(heddle_check_state *state)
{
    heddle_check_report *report = NULL;
    heddle_child child = {.process = -1};
    run_plan plan = {.number = COUNTING_RUN};
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

heddle_status heddle_check_run_beside(heddle_check_state *state, int number, const char *copy,
                                      heddle_check_report **report)
{
    heddle_child child = {.process = -1};
    run_plan plan = {.number = COUNTING_RUN + 1 + number, .schedule = state->result->runs[0]->schedule, .copy = copy};
    return run_once(state, &plan, report, &child);
}
