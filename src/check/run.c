// The check from beginning to end: what is to be built, its runs, and how they are judged.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/describe.h"
#include "check/expect.h"
#include "check/extension_reference.h"
#include "check/fidelity.h"
#include "check/files.h"
#include "check/finish.h"
#include "check/grid.h"
#include "check/notes.h"
#include "check/project.h"
#include "check/runs.h"
#include "check/scan.h"
#include "check/slips.h"
#include "check/unset.h"
#include "sim/build/build.h"

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

// --- what is to be checked -------------------------------------------------------------------------------------------

static bool is_source(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".o") != 0 && strcmp(dot, ".a") != 0;
}

static heddle_status has_main(const heddle_check_state *state, bool *found)
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

static heddle_status refuse_no_sources(const heddle_check_state *state)
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

static heddle_status prepare_job(heddle_check_state *state, const heddle_op *op)
{
    const heddle_check_options *options = state->options;
    state->is_job = true;
    HEDDLE_TRY(heddle_check_job_prepare(&state->job, op, (const char *const *)state->sources, options->seed));
    return options->shapes ? heddle_check_job_set_shapes(&state->job, options->shapes) : HEDDLE_OK;
}

static heddle_status prepare_extension(heddle_check_state *state, bool own_main)
{
    const heddle_check_options *options = state->options;
    const char *option = options->kernel ? "--kernel" : "--driver";
    if (options->kernel && options->driver)
        return heddle_fail(HEDDLE_INVALID, "--driver has a main that launches kernels itself; leave out --kernel");
    if (own_main)
        return heddle_fail(HEDDLE_INVALID, "%s has a main of its own: check it without %s", options->sources[0],
                           option);
    state->is_extension = true;
    return heddle_check_extension_prepare(&state->extension, options, (const char *const *)state->sources);
}

static heddle_status choose_program(heddle_check_state *state)
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
    if (options->kernel || options->driver)
        return prepare_extension(state, own_main);
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
    char suggestion[160] = "", launched[4096] = "";
    HEDDLE_TRY(heddle_check_extension_hint((const char *const *)state->sources, options->include, options->sources[0],
                                           launched, sizeof launched));
    if (suggested)
        snprintf(suggestion, sizeof suggestion, "; its function looks like --op %s", suggested->name);
    return heddle_fail(HEDDLE_INVALID,
                       "%s: nothing to run: give it a main, or name the operator it computes by --op "
                       "(`heddle ops` lists them)%s%s",
                       options->sources[0], suggestion, launched);
}

static const char *const *built_from(const heddle_check_state *state)
{
    bool written = state->is_job || state->is_extension;
    return written ? state->only_driver : state->options->sources; // as typed: that is how messages name them
}

// An error in heddle's own main is about what --kernel names: its template arguments, or the call of the kernel.
static heddle_status refuse_instance(const heddle_check_state *state)
{
    const heddle_check_result *result = state->result;
    char shown[2048];
    if (!state->is_extension || !state->extension.kernel || result->built || result->finding_count == 0)
        return HEDDLE_OK;
    const heddle_check_finding *first = result->findings[0];
    bool own = first->place_count > 0 && strcmp(first->places[0].frame[0].file, state->driver) == 0;
    return own ? heddle_fail(HEDDLE_INVALID, "--kernel %s: it cannot be launched: %s: %s", state->options->kernel,
                             first->message, heddle_check_global_text(state->extension.kernel, shown, sizeof shown))
               : HEDDLE_OK;
}

static heddle_status build(heddle_check_state *state)
{
    if (state->is_job)
        HEDDLE_TRY(heddle_check_job_write(&state->job, (const char *const *)state->sources, &state->folder,
                                          state->driver, sizeof state->driver));
    state->only_driver[0] = state->driver;
    heddle_check_folder_path(&state->outer, "program", state->program, sizeof state->program);
    heddle_status status =
        heddle_check_build(state->options, built_from(state), &state->folder, state->program, state->result);
    if (interrupted)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    HEDDLE_TRY(status);
    if (state->result->built)
        state->columns = heddle_check_columns_open(
            state->program,
            state->is_job || state->is_extension ? state->only_driver : (const char *const *)state->sources,
            state->options->include);
    // What the driver says of a function that it cannot call is all that a person has to know.
    static const char mark[] = "heddle: ";
    bool written = state->is_job || state->is_extension;
    char *said =
        written && !state->result->built && state->result->messages ? strstr(state->result->messages, mark) : NULL;
    if (said)
        return heddle_fail(HEDDLE_INVALID, "%s: %.*s", state->options->sources[0],
                           (int)strcspn(said + sizeof mark - 1, "\n\""), said + sizeof mark - 1);
    return refuse_instance(state);
}

// A program of its own: what tells of branches slows it down, and keeps the compiler from joining accesses.
static heddle_status count_branches(heddle_check_state *state)
{
    bool fine = false;
    heddle_check_columns_close(state->columns); // of the other program
    state->columns = NULL;
    heddle_check_folder_path(&state->outer, "counting", state->program, sizeof state->program);
    heddle_status status = heddle_check_build_counting(state->options, built_from(state), &state->folder,
                                                       state->program, state->result, &fine);
    if (interrupted)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    HEDDLE_TRY(status);
    return fine ? heddle_check_run_counting(state) : HEDDLE_OK;
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
static heddle_status open_sandbox(heddle_check_state *state)
{
    const heddle_check_options *options = state->options;
    const char *const folders[] = {options->folder ? options->folder : ".", state->folder.path, NULL};
    int output = state->output.program >= 0 ? state->output.program : options->output;
    int errors = state->output.program >= 0 ? state->output.errors : options->errors;
    const int files[] = {output >= 0 ? output : errors, errors, -1};
    return heddle_sandbox_open(&state->sandbox, folders, files);
}

static heddle_status prepare(heddle_check_state *state)
{
    const heddle_check_options *options = state->options;
    if (options->suppress && heddle_check_suppressions_read(options->suppress, &state->suppressions) != HEDDLE_OK)
        return heddle_fail(HEDDLE_INVALID, "--suppress: %s", heddle_last_error());
    if (options->expect)
        HEDDLE_TRY(heddle_check_expect_read(options->expect, &state->expected));
    const char *working = options->folder ? options->folder : ".";
    HEDDLE_TRY(heddle_check_folder_create_outside(&state->outer, options->keep, options->sandbox ? working : NULL));
    if (options->sandbox && !heddle_sandbox_contains())
        HEDDLE_TRY(heddle_check_result_note(state->result,
                                            "nothing limits where the program can write: the kernel has no Landlock, "
                                            "and bubblewrap (bwrap) is not installed or does not work here"));
    else if (state->outer.exposed)
        HEDDLE_TRY(heddle_check_result_note(state->result,
                                            "the program may write below the working folder, which holds all "
                                            "temporary folders: it is barely contained; start the check elsewhere"));
    return heddle_check_folder_inner(&state->outer, "run", &state->folder);
}

// A reference that fails spares the build.
static heddle_status write_extension(heddle_check_state *state)
{
    HEDDLE_TRY(heddle_check_extension_write(&state->extension, (const char *const *)state->sources, &state->folder,
                                            state->driver, sizeof state->driver));
    return heddle_check_extension_reference(state);
}

static heddle_status check_files(heddle_check_state *state)
{
    const heddle_check_options *options = state->options;
    HEDDLE_TRY(heddle_check_files_find(options, &state->sources));
    HEDDLE_TRY(choose_program(state));
    HEDDLE_TRY(prepare(state));
    HEDDLE_TRY(heddle_check_comments_look(options->sources, state->result));
    if (state->is_extension)
        HEDDLE_TRY(write_extension(state));
    HEDDLE_TRY(heddle_check_opinion_ask(&state->opinion, options, &state->outer, &interrupted));
    HEDDLE_TRY(build(state));
    state->result->unwatched = options->unwatched;
    if (!state->result->built)
        return HEDDLE_OK; // nvcc would only say the same again
    HEDDLE_TRY(heddle_check_slips_find(state->result, (const char *const *)state->sources));
    HEDDLE_TRY(heddle_check_fidelity_find(state->result, (const char *const *)state->sources));
    bool regular = false;
    if (options->carry)
        HEDDLE_TRY(heddle_check_output_open(&state->output, options->output, options->errors, options->expect != NULL));
    if (options->sandbox)
        HEDDLE_TRY(open_sandbox(state));
    HEDDLE_TRY(heddle_check_run_first(state, &regular));
    HEDDLE_TRY(heddle_check_grids_find(state->result, (const char *const *)state->sources));
    if (!options->unwatched && !has_kind(state->result, HEDDLE_CHECK_SPIN)) // an endless wait would be waited for again
        HEDDLE_TRY(regular ? heddle_check_run_others(state) : heddle_check_run_answers(state));
    if (regular && !options->unwatched)
        HEDDLE_TRY(heddle_check_unset_look(state, built_from(state)));
    if (regular && options->divergence && !has_kind(state->result, HEDDLE_CHECK_SPIN))
        HEDDLE_TRY(count_branches(state));
    if (state->is_extension)
        HEDDLE_TRY(heddle_check_extension_notes(&state->extension, state->result));
    HEDDLE_TRY(heddle_check_notes(state->options, state->result));
    return heddle_check_opinion_hear(&state->opinion, state->result);
}

static heddle_status check(heddle_check_state *state)
{
    const heddle_check_options *options = state->options;
    if (options->sources) {
        HEDDLE_TRY(check_files(state));
    } else {
        HEDDLE_TRY(prepare(state));
        HEDDLE_TRY(heddle_check_project(state));
    }
    if (!options->keep || !state->result->built)
        return HEDDLE_OK;
    return heddle_check_result_note(state->result, "the program and its reports are in %s", state->outer.path);
}

heddle_status heddle_check_run(const heddle_check_options *options, heddle_check_result **result)
{
    *result = NULL;
    if (interrupted)
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    heddle_check_state state = {.options = options,
                                .outer = {.lock = -1},
                                .sandbox = {.rules = -1},
                                .output = {.source = -1, .program = -1},
                                .started = heddle_now(),
                                .stop = &interrupted};
    HEDDLE_TRY(heddle_check_result_create(&state.result));
    if (options->sources && options->sources[0] && !options->sources[1]) {
        const char *path = options->sources[0], *slash = strrchr(path, '/');
        state.result->subject = heddle_check_result_text(state.result, "%s", slash ? slash + 1 : path);
    }
    state.result->any_status = options->any_status;
    state.result->graded = options->grade;
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
    heddle_check_extension_free(&state.extension);
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
