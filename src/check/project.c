// The project's command, with the stand-in toolkit in its environment; then each program that it started.

#include "check/project.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/place.h"
#include "base/text.h"
#include "check/ending.h"
#include "check/fidelity.h"
#include "check/grid.h"
#include "check/join.h"
#include "check/notes.h"
#include "check/project_environment.h"
#include "check/slips.h"
#include "check/started.h"

static const char no_file[] = "/dev/null";

enum { TIMES_AS_LONG = 10, MOST_REPEATED = 64, MOST_NAMED = 5, LARGEST_LOG = 1 << 24 };

typedef struct whole_project {
    heddle_check_state *state; // of the whole
    heddle_check_folder reports, build;
    heddle_check_environment environment;
    heddle_check_strings sources, include, built;
    heddle_check_strings unread; // standard inputs of commands that nothing came through
    heddle_check_start *starts;
    int start_count;
    int signal; // that ended a command; 0: none did
    struct timespec since;
} whole_project;

// --- the command -----------------------------------------------------------------------------------------------------

// "sh -c ..." as a person typed it, cut where it is long.
static const char *command_text(const char *const *command, char *text, size_t size)
{
    char word[256];
    text[0] = '\0';
    for (int i = 0; command[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? " " : "", heddle_text_quote(command[i], word, sizeof word));
    }
    return text;
}

static heddle_status find_command(const char *name, char *path, size_t size)
{
    char found[HEDDLE_PLACE_SIZE];
    if (strchr(name, '/'))
        snprintf(path, size, "%s", name);
    else if (heddle_find_program(name, "", found))
        snprintf(path, size, "%s", found);
    else
        return heddle_fail(HEDDLE_INVALID, "%s: command not found", name);
    if (access(path, X_OK) != 0)
        return heddle_fail(HEDDLE_INVALID, "%s: %s", name, errno == ENOENT ? "command not found" : strerror(errno));
    return HEDDLE_OK;
}

// Runs a command in the project's environment; `log`: a descriptor for what it says, -1: it goes where ours does.
// `builds`: it may take longer than a program.
static heddle_status run_command(whole_project *project, const char *const *command, int log, bool builds,
                                 heddle_child *child)
{
    heddle_check_options options = *project->state->options;
    heddle_check_state state = *project->state;
    options.arguments = command + 1;
    options.seconds *= builds ? TIMES_AS_LONG : 1;
    if (log >= 0) {
        options.output = options.errors = log;
        options.carry = false;
        options.no_input = true;
    }
    state.options = &options;
    state.environment = project->environment.variables.at;
    HEDDLE_TRY(find_command(command[0], state.program, sizeof state.program));
    heddle_status status = HEDDLE_OK;
    if (options.carry)
        status = heddle_check_output_open(&state.output, options.output, options.errors, false);
    if (options.sandbox && status == HEDDLE_OK)
        status = heddle_check_environment_sandbox(&project->environment, project->reports.path, &options, &state.output,
                                                  &state.sandbox);
    if (status == HEDDLE_OK)
        status = heddle_check_run_command(&state, project->reports.path, child);
    heddle_check_folder_clean(&project->reports);
    heddle_check_folder_clean(&state.folder);
    project->state->result->open_line = state.output.last && state.output.last != '\n';
    project->state->result->coloured = state.output.coloured;
    heddle_sandbox_close(&state.sandbox);
    heddle_check_output_free(&state.output);
    if (status == HEDDLE_OK && child->end == HEDDLE_CHILD_STOPPED)
        status = heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    if (status == HEDDLE_OK && child->end == HEDDLE_CHILD_SIGNALLED)
        project->signal = child->code;
    if (status == HEDDLE_OK && state.unread[0])
        status = heddle_check_strings_add(&project->unread, state.unread);
    return status;
}

// --- CMake -----------------------------------------------------------------------------------------------------------

// What CMake and the compilers said, for a person to see why there is no program.
static heddle_status tell_log(whole_project *project, const char *path, const char *step)
{
    char *log = NULL;
    size_t size = 0;
    heddle_check_result *result = project->state->result;
    if (heddle_file_read(path, LARGEST_LOG, &log, &size) == HEDDLE_OK)
        result->messages = heddle_arena_copy_text(result->arena, log);
    free(log);
    result->built = false;
    return heddle_check_result_note(result, "%s failed", step);
}

static heddle_status run_logged(whole_project *project, const char *const *command, const char *step, bool *fine)
{
    char path[PATH_MAX];
    heddle_child child = {.process = -1};
    heddle_check_folder_path(&project->state->outer, "cmake.log", path, sizeof path);
    FILE *log = fopen(path, "w");
    if (!log)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    heddle_status status = run_command(project, command, fileno(log), true, &child);
    fclose(log);
    HEDDLE_TRY(status);
    *fine = child.end == HEDDLE_CHILD_EXITED && child.code == 0;
    if (child.end == HEDDLE_CHILD_TIMED_OUT || child.end == HEDDLE_CHILD_TOO_LARGE)
        HEDDLE_TRY(heddle_check_judge_end(project->state->options, project->state->result, &child, NULL, ""));
    return *fine ? HEDDLE_OK : tell_log(project, path, step);
}

static heddle_status configure(whole_project *project, bool *fine)
{
    const heddle_check_options *options = project->state->options;
    heddle_check_strings words = {0};
    char root[PATH_MAX + 64];
    snprintf(root, sizeof root, "-DCUDA_TOOLKIT_ROOT_DIR=%s", project->environment.toolkit);
    const char *const first[] = {"cmake",
                                 "-S",
                                 options->cmake,
                                 "-B",
                                 project->build.path,
                                 "-DBUILD_SHARED_LIBS=OFF",
                                 root,
                                 "--no-warn-unused-cli",
                                 NULL};
    heddle_status status = HEDDLE_OK;
    for (int i = 0; first[i] && status == HEDDLE_OK; i++)
        status = heddle_check_strings_add(&words, first[i]);
    for (int i = 0; options->compile && options->compile[i] && status == HEDDLE_OK; i++)
        if (strncmp(options->compile[i], "-D", 2) == 0)
            status = heddle_check_strings_add(&words, options->compile[i]);
    for (int i = 0; options->define && options->define[i] && status == HEDDLE_OK; i++) {
        status = heddle_check_strings_add(&words, "-D");
        if (status == HEDDLE_OK)
            status = heddle_check_strings_add(&words, options->define[i]);
    }
    if (status == HEDDLE_OK)
        status = run_logged(project, words.at, "cmake", fine);
    heddle_check_strings_free(&words);
    return status;
}

static heddle_status run_built(whole_project *project)
{
    const heddle_check_options *options = project->state->options;
    size_t count = 0;
    while (options->arguments && options->arguments[count])
        count++;
    const char **command = calloc(count + 2, sizeof *command);
    if (!command)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to start the programs");
    for (size_t i = 0; i < count; i++)
        command[i + 1] = options->arguments[i];
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < project->built.count && status == HEDDLE_OK; i++) {
        heddle_child child = {.process = -1};
        command[0] = project->built.at[i];
        status = run_command(project, command, -1, false, &child);
        if (child.end == HEDDLE_CHILD_EXITED && child.code != 0 && project->state->result->exit_status == 0)
            project->state->result->exit_status = child.code;
        if (status == HEDDLE_OK && (child.end == HEDDLE_CHILD_TIMED_OUT || child.end == HEDDLE_CHILD_TOO_LARGE))
            status = heddle_check_judge_end(options, project->state->result, &child, NULL, "");
    }
    free((void *)command);
    return status;
}

static heddle_status run_cmake(whole_project *project)
{
    char cmake[HEDDLE_PLACE_SIZE], list[PATH_MAX], jobs[16];
    const char *folder = project->state->options->cmake;
    snprintf(jobs, sizeof jobs, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    snprintf(list, sizeof list, "%s/CMakeLists.txt", folder);
    if (!heddle_file_exists(list))
        return heddle_fail(HEDDLE_INVALID, "--cmake %s: there is no CMakeLists.txt", folder);
    if (!heddle_find_program("cmake", "", cmake))
        return heddle_fail(HEDDLE_MISSING, "cmake is not installed; --cmake needs it");
    const char *const build[] = {"cmake", "--build", project->build.path, "--parallel", jobs, NULL};
    bool fine = false;
    HEDDLE_TRY(configure(project, &fine));
    if (fine)
        HEDDLE_TRY(run_logged(project, build, "cmake --build", &fine));
    if (!fine)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_check_built_find(project->build.path, (struct timespec){0}, &project->built));
    if (project->built.count == 0)
        return heddle_fail(HEDDLE_INVALID, "%s: the project builds no program with CUDA", folder);
    return run_built(project);
}

// --- programs that ran -----------------------------------------------------------------------------------------------

// As a person would type it: below the working folder, or below CMake's.
static const char *name_of(const whole_project *project, const char *file)
{
    char here[PATH_MAX];
    const char *const folders[] = {project->build.path, getcwd(here, sizeof here)};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = folders[i] ? strlen(folders[i]) : 0;
        if (length > 0 && strncmp(file, folders[i], length) == 0 && file[length] == '/')
            return file + length + 1;
    }
    return file;
}

static heddle_status judge_report(heddle_check_state *state, const heddle_check_report *report)
{
    heddle_child child = {.end = HEDDLE_CHILD_SIGNALLED, .code = SIGSEGV};
    if (!report)
        return heddle_check_result_add(state->result, HEDDLE_CHECK_DIED, HEDDLE_CHECK_ERROR,
                                       "It left no report, so nothing was checked: it was killed, executed another "
                                       "program, bypassed the C library to end, or the report could not be written.");
    if (strncmp(report->status, "crashed", strlen("crashed")) != 0 &&
        strncmp(report->status, "ended", strlen("ended")) != 0)
        return HEDDLE_OK;
    static const struct {
        const char *word;
        int signal;
    } known[] = {{"abort", SIGABRT}, {"SIGBUS", SIGBUS}, {"SIGFPE", SIGFPE}, {"SIGILL", SIGILL}, {"SIGTERM", SIGTERM}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(report->status, known[i].word))
            child.code = known[i].signal;
    return heddle_check_judge_end(state->options, state->result, &child, report, "");
}

static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// Whether the program can be run again by itself, in the folder and with the input that it had.
static bool can_repeat(const whole_project *project, const heddle_check_start *start)
{
    bool no_input = start->input[0] == '\0' || strcmp(start->input, no_file) == 0;
    for (int i = 0; i < project->unread.count; i++)
        no_input |= strcmp(start->input, project->unread.at[i]) == 0;
    return is_regular(start->file) && access(start->file, X_OK) == 0 && access(start->folder, X_OK) == 0 &&
           (no_input || is_regular(start->input));
}

static heddle_status check_start(const whole_project *project, heddle_check_state *state,
                                 const heddle_check_start *start, bool again)
{
    heddle_check_result *result = state->result;
    heddle_check_report *report = NULL;
    if (heddle_file_exists(start->report) && heddle_check_report_read(start->report, &report) != HEDDLE_OK)
        HEDDLE_TRY(heddle_check_result_note(result, "its report is damaged: %s", heddle_last_error()));
    if (report) {
        heddle_check_run_find_child(report, start->report);
        heddle_check_run_explain(state, report);
    }
    heddle_status status = judge_report(state, report);
    bool regular = report && result->finding_count == 0;
    if (status != HEDDLE_OK || !report) {
        heddle_check_report_free(report);
        return status;
    }
    HEDDLE_TRY(heddle_check_result_add_run(result, report));
    HEDDLE_TRY(heddle_check_grids_find(result, (const char *const *)state->sources));
    for (int i = 0; i < result->finding_count; i++)
        regular &= result->findings[i]->kind != HEDDLE_CHECK_SPIN;
    if (regular && again && !state->options->unwatched) {
        if (can_repeat(project, start))
            HEDDLE_TRY(heddle_check_run_others(state));
        else
            HEDDLE_TRY(heddle_check_result_note(result, "only one order was checked: the program's standard input is "
                                                        "no regular file, or it is no longer there, so it cannot be "
                                                        "run again by itself"));
    }
    return heddle_check_notes(state->options, result);
}

static heddle_status check_program(whole_project *project, int number)
{
    const heddle_check_start *start = &project->starts[number];
    static char *no_sources[] = {NULL};
    heddle_check_options options = *project->state->options;
    heddle_check_state state = *project->state;
    char name[32], path[PATH_MAX + 64];
    options.arguments = start->arguments;
    options.folder = start->folder;
    options.no_input = true;
    options.carry = false;
    options.output = options.errors = -1;
    options.grade = false; // judged over all programs
    state.options = &options;
    state.environment = start->environment;
    state.input = start->input[0] != '/' || strcmp(start->input, no_file) == 0 ? NULL : start->input;
    state.sources = project->sources.count > 0 ? (char **)project->sources.at : no_sources;
    state.repeats = true;
    snprintf(state.program, sizeof state.program, "%s", start->file);
    snprintf(name, sizeof name, "program-%d", number);
    HEDDLE_TRY(
        heddle_check_folder_inner(&state.outer, name, &state.folder)); // now: the command cannot have written there
    HEDDLE_TRY(heddle_check_result_create(&state.result));
    if (project->sources.count > 0 && is_regular(state.program))
        state.columns = heddle_check_columns_open(state.program, project->sources.at, project->include.at);
    heddle_status status = HEDDLE_OK;
    if (options.sandbox)
        status = heddle_check_environment_sandbox(&project->environment, state.folder.path, &options, &state.output,
                                                  &state.sandbox);
    if (status == HEDDLE_OK)
        status = check_start(project, &state, start, !start->same && number < MOST_REPEATED);
    heddle_sandbox_close(&state.sandbox);
    heddle_check_columns_close(state.columns);
    if (status != HEDDLE_OK) {
        heddle_check_result_free(state.result);
        return status;
    }
    snprintf(path, sizeof path, "%s", name_of(project, start->file));
    return heddle_check_result_join(project->state->result, state.result, path, project->start_count > 1);
}

// --- all of it -------------------------------------------------------------------------------------------------------

static bool was_started(const whole_project *project, const char *file)
{
    for (int i = 0; i < project->start_count; i++)
        if (strcmp(project->starts[i].file, file) == 0)
            return true;
    return false;
}

// "a, b and 3 more" of programs that were built and not run; "": none.
static const char *idle_programs(const whole_project *project, char *text, size_t size)
{
    int count = 0;
    text[0] = '\0';
    for (int i = 0; i < project->built.count; i++) {
        size_t used = strlen(text);
        if (!was_started(project, project->built.at[i]) && count++ < MOST_NAMED)
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", name_of(project, project->built.at[i]));
    }
    size_t used = strlen(text);
    if (count > MOST_NAMED)
        snprintf(text + used, size - used, " and %d more", count - MOST_NAMED);
    return text;
}

// No program ran: why, and what to do.
static heddle_status refuse_nothing(const whole_project *project, const heddle_child *child)
{
    char command[1024], idle[1024];
    const heddle_check_options *options = project->state->options;
    command_text(options->command, command, sizeof command);
    if (child->end == HEDDLE_CHILD_SIGNALLED)
        return heddle_fail(HEDDLE_INTERNAL, "`%s` was ended by %s and ran no program that nvcc built", command,
                           heddle_child_signal_name(child->code));
    if (child->end == HEDDLE_CHILD_EXITED && child->code != 0)
        return heddle_fail(HEDDLE_INTERNAL, "`%s` ended with status %d and ran no program that nvcc built", command,
                           child->code);
    if (idle_programs(project, idle, sizeof idle)[0])
        return heddle_fail(HEDDLE_INVALID,
                           "`%s` built %s but ran no program: give a command that runs them, such as `make run`",
                           command, idle);
    if (project->sources.count > 0)
        return heddle_fail(HEDDLE_INVALID, "`%s` compiled with nvcc but ran no program", command);
    return heddle_fail(HEDDLE_INVALID,
                       "`%s` compiled nothing with nvcc: clean the build first if its files were there already; its "
                       "nvcc must be the one on PATH, or in $NVCC, $CUDACXX or $CUDA_HOME/bin",
                       command);
}

static heddle_status judge_command(whole_project *project, const heddle_child *child)
{
    heddle_check_result *result = project->state->result;
    if (child->end == HEDDLE_CHILD_TIMED_OUT || child->end == HEDDLE_CHILD_TOO_LARGE)
        return heddle_check_judge_end(project->state->options, result, child, NULL, "");
    if (project->start_count == 0)
        return refuse_nothing(project, child);
    result->exit_status = child->end == HEDDLE_CHILD_EXITED ? child->code : 0;
    return HEDDLE_OK;
}

// A signal that ended a command is an error, unless what was found in a program explains it.
static heddle_status judge_signal(const whole_project *project)
{
    heddle_check_result *result = project->state->result;
    for (int i = 0; i < result->finding_count; i++)
        if (result->findings[i]->tier == HEDDLE_CHECK_ERROR && result->findings[i]->kind != HEDDLE_CHECK_LEAK)
            return HEDDLE_OK;
    if (project->signal == 0)
        return HEDDLE_OK;
    return heddle_check_result_add(result, HEDDLE_CHECK_DIED, HEDDLE_CHECK_ERROR, "The command was ended by %s.",
                                   heddle_child_signal_name(project->signal));
}

static heddle_status note_project(whole_project *project)
{
    char idle[1024];
    heddle_check_result *result = project->state->result;
    if (idle_programs(project, idle, sizeof idle)[0])
        HEDDLE_TRY(heddle_check_result_note(result, "built but not run, so not checked: %s", idle));
    if (project->start_count > MOST_REPEATED)
        HEDDLE_TRY(heddle_check_result_note(result,
                                            "%d programs were started; the first %d were also checked in other "
                                            "orders",
                                            project->start_count, MOST_REPEATED));
    if (project->state->options->command && project->sources.count > 0)
        HEDDLE_TRY(heddle_check_result_note(result, "the build's objects and programs are now those of the simulated "
                                                    "GPU: clean the build before you build for a real one"));
    if (result->exit_status != 0)
        HEDDLE_TRY(heddle_check_result_note(result, "%s ended with status %d",
                                            project->state->options->cmake ? "a program" : "the command",
                                            result->exit_status));
    return HEDDLE_OK;
}

static heddle_status read_starts(whole_project *project)
{
    int damaged = 0;
    HEDDLE_TRY(heddle_check_starts_read(project->reports.path, &project->starts, &project->start_count, &damaged));
    if (damaged == 0)
        return HEDDLE_OK;
    return heddle_check_result_note(project->state->result,
                                    "%d program%s not checked: the record of how it was started is damaged", damaged,
                                    damaged == 1 ? " was" : "s were");
}

static heddle_status run_all(whole_project *project)
{
    heddle_check_state *state = project->state;
    const heddle_check_options *options = state->options;
    heddle_child child = {.process = -1, .end = HEDDLE_CHILD_EXITED};
    state->result->built = true;
    state->result->unwatched = options->unwatched;
    if (options->cmake)
        HEDDLE_TRY(run_cmake(project));
    else
        HEDDLE_TRY(run_command(project, options->command, -1, true, &child));
    if (!state->result->built)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_check_compiled_read(project->environment.record, &project->sources, &project->include));
    HEDDLE_TRY(read_starts(project));
    if (!options->cmake) {
        HEDDLE_TRY(heddle_check_built_find(options->folder ? options->folder : ".", project->since, &project->built));
        HEDDLE_TRY(judge_command(project, &child));
    }
    if (project->sources.count > 0) {
        HEDDLE_TRY(heddle_check_comments_look(project->sources.at, state->result));
        HEDDLE_TRY(heddle_check_slips_find(state->result, project->sources.at));
        HEDDLE_TRY(heddle_check_fidelity_find(state->result, project->sources.at));
    }
    for (int i = 0; i < project->start_count; i++)
        HEDDLE_TRY(check_program(project, i));
    HEDDLE_TRY(judge_signal(project));
    return note_project(project);
}

heddle_status heddle_check_project(heddle_check_state *state)
{
    whole_project project = {
        .state = state,
    };
    clock_gettime(CLOCK_REALTIME_COARSE, &project.since); // files have the time of this clock
    heddle_status status = heddle_check_folder_inner(&state->outer, "reports", &project.reports);
    if (status == HEDDLE_OK)
        status = heddle_check_folder_inner(&state->outer, "build", &project.build);
    if (status == HEDDLE_OK)
        status = heddle_check_environment_make(&project.environment, state, project.build.path);
    if (status == HEDDLE_OK)
        status = run_all(&project);
    heddle_check_starts_free(project.starts, project.start_count);
    heddle_check_strings_free(&project.sources);
    heddle_check_strings_free(&project.include);
    heddle_check_strings_free(&project.built);
    heddle_check_strings_free(&project.unread);
    heddle_check_environment_free(&project.environment);
    return status;
}
