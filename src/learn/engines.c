// Builds and runs a judge and hands what it said to those who explain it.

#include "learn/engines.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/child.h"
#include "learn/capture.h"
#include "learn/interrupt.h"
#include "learn/object.h"

enum { COMPILE_SECONDS = 120, MOST_WORDS = 32, MARK_SIZE = 64 };

// The macro that tells learn.h how to begin the judge's lines.
static char *define_mark(const heddle_learn_judging *judging, const char *option, char text[MARK_SIZE])
{
    snprintf(text, MARK_SIZE, "%sLEARN_MARK=%s", option, judging->mark);
    return text;
}

// --- the simulated GPU -----------------------------------------------------------------------------------------------

static heddle_status explain_run(heddle_learn_judging *judging, const heddle_check_result *result, const char *output)
{
    judging->result = result;
    bool ended = result->built && heddle_learn_hear(judging, output);
    heddle_learn_explain_findings(judging);
    if (result->built && result->messages)
        heddle_learn_explain_doubts(judging, result->messages);
    if (result->built && (!ended || result->exit_status != 0) && judging->verdict->reason_count == 0)
        heddle_learn_ended_early(judging, "");
    if (result->built)
        heddle_learn_apply_limits(judging);
    judging->result = NULL;
    return HEDDLE_OK;
}

// object: what the judge is linked with; NULL: it is compiled with it. *output: what the program printed, to be freed.
static heddle_status check(heddle_learn_judging *judging, const char *object, heddle_check_result **result,
                           char **output)
{
    const heddle_learn_rules *rules = judging->rules;
    heddle_learn_capture capture;
    char mark[MARK_SIZE];
    HEDDLE_TRY(heddle_learn_capture_begin(&capture));
    const heddle_check_options how = {
        .sources = (const char *const[]){judging->judge, NULL},
        .include = (const char *const[]){judging->include, judging->beside, judging->chapter, NULL},
        .define = (const char *const[]){"LEARN_SIMULATED", define_mark(judging, "", mark),
                                        object ? "LEARN_LINKED" : NULL, NULL},
        .library = (const char *const *)rules->libraries,
        .link = (const char *const[]){object, NULL},
        .folder = judging->folder,
        .gpu = rules->gpu,
        .any_status = true,
        .no_input = true,
        .schedules = rules->schedules,
        .seconds = rules->seconds,
        .seed = 1,
        .doubts = true,
        .nvcc = HEDDLE_CHECK_NVCC_NEVER,
        .sandbox = true,
        .trace = judging->trace,
        .output = capture.to,
        .errors = capture.to,
    };
    heddle_status status = heddle_check_run(&how, result);
    *output = heddle_learn_capture_end(&capture);
    judging->dropped = capture.dropped;
    return status != HEDDLE_OK || *output ? status
                                          : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for what the program printed");
}

// Damaged, or made by another compiler whose library lacks something here.
static bool does_not_link(const heddle_check_result *result, const char *object)
{
    return !result->built && result->messages && strstr(result->messages, object);
}

heddle_status heddle_learn_run_simulated(heddle_learn_judging *judging)
{
    char object[HEDDLE_PLACE_SIZE], *output = NULL;
    heddle_check_result *result = NULL;
    if (*heddle_learn_interrupted())
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    bool linked = heddle_learn_find_object(judging->include, object);
    heddle_status status = check(judging, linked ? object : NULL, &result, &output);
    if (status == HEDDLE_OK && linked && does_not_link(result, object)) {
        free(output);
        heddle_check_result_free(result);
        output = NULL;
        result = NULL;
        status = check(judging, NULL, &result, &output);
    }
    if (status == HEDDLE_OK)
        status = explain_run(judging, result, output);
    if (status == HEDDLE_OK && judging->trace)
        heddle_learn_keep_trace(judging, result);
    free(output);
    heddle_check_result_free(result);
    return status;
}

// --- programs of other compilers -------------------------------------------------------------------------------------

typedef struct finished {
    heddle_child_end end;
    int code;
    char *output, *errors;
} finished;

static void free_finished(finished *done)
{
    free(done->output);
    free(done->errors);
}

static heddle_status run_program(heddle_learn_judging *judging, char *const *argv, const char *const *environment,
                                 double seconds, finished *done)
{
    heddle_learn_capture output, errors;
    heddle_child child = {.process = -1};
    *done = (finished){0};
    HEDDLE_TRY(heddle_learn_capture_begin(&output));
    if (heddle_learn_capture_begin(&errors) != HEDDLE_OK) {
        free(heddle_learn_capture_end(&output));
        return HEDDLE_IO;
    }
    const heddle_child_options how = {
        .argv = argv,
        .environment = environment,
        .folder = judging->folder,
        .input = -1,
        .output = output.to,
        .errors = errors.to,
        .seconds = seconds,
        .memory = heddle_child_usual_memory(),
        .stop = heddle_learn_interrupted(),
    };
    heddle_status status = heddle_child_start(&child, &how);
    if (status == HEDDLE_OK)
        heddle_child_wait(&child, -1);
    done->output = heddle_learn_capture_end(&output);
    done->errors = heddle_learn_capture_end(&errors);
    judging->dropped = output.dropped;
    done->end = child.end;
    done->code = child.code;
    if (status == HEDDLE_OK && child.end == HEDDLE_CHILD_STOPPED)
        status = heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    if (status == HEDDLE_OK && (!done->output || !done->errors))
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for what the program printed");
    if (status != HEDDLE_OK)
        free_finished(done);
    return status;
}

// Runs a compiler. Its temporary files lie in our folder, so that those of one that is stopped go with it.
static heddle_status compile(heddle_learn_judging *judging, char *const *argv, bool *built)
{
    char temporary[HEDDLE_PLACE_SIZE + 8];
    finished done;
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", judging->folder);
    const char *const environment[] = {temporary, "LC_ALL=C.UTF-8", NULL};
    HEDDLE_TRY(run_program(judging, argv, environment, COMPILE_SECONDS, &done));
    *built = done.end == HEDDLE_CHILD_EXITED && done.code == 0;
    if (*built)
        heddle_learn_explain_doubts(judging, done.errors);
    else
        heddle_learn_explain_messages(judging, done.errors);
    free_finished(&done);
    return HEDDLE_OK;
}

// A program that was stopped, or that ended without a word of the judge.
static void explain_end(const heddle_learn_judging *judging, const finished *done, bool ended)
{
    heddle_learn_verdict *verdict = judging->verdict;
    if (done->end == HEDDLE_CHILD_TIMED_OUT || done->end == HEDDLE_CHILD_TOO_LARGE) {
        bool late = done->end == HEDDLE_CHILD_TIMED_OUT;
        heddle_learn_reason *reason =
            late ? heddle_learn_add_reason(verdict, "timeout", HEDDLE_LEARN_RANK_ERROR, "it did not end within %g s",
                                           judging->rules->seconds)
                 : heddle_learn_add_reason(verdict, "memory", HEDDLE_LEARN_RANK_ERROR, "it used too much memory");
        reason->in_case = judging->in_case;
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_ADVICE,
                              "Look for a loop whose condition never becomes false. Counting down with an unsigned "
                              "number never gets below 0.");
    } else if (!(ended && done->end == HEDDLE_CHILD_EXITED && done->code == 0) && verdict->reason_count == 0) {
        heddle_learn_ended_early(judging,
                                 done->end == HEDDLE_CHILD_SIGNALLED ? heddle_child_signal_name(done->code) : "");
    }
}

// --- plain C ---------------------------------------------------------------------------------------------------------

static heddle_status find_c_compiler(char path[HEDDLE_PLACE_SIZE])
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (heddle_find_program(names[i], "/usr/bin", path))
            return HEDDLE_OK;
    return heddle_fail(HEDDLE_MISSING, "no C compiler found; install gcc or clang");
}

static heddle_status build_plain(heddle_learn_judging *judging, char *program, bool *built)
{
    char compiler[HEDDLE_PLACE_SIZE], mark[MARK_SIZE];
    HEDDLE_TRY(find_c_compiler(compiler));
    char *const argv[] = {compiler, "-std=c11", "-g", "-O1", "-Wall", "-D_GNU_SOURCE", define_mark(judging, "-D", mark),
                          "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                          // AddressSanitizer says more about the first, and only some C libraries declare the second.
                          "-fno-sanitize=object-size,nonnull-attribute", "-fno-omit-frame-pointer",
                          "-fdiagnostics-color=never",
                          "-fmax-errors=40", // as many as a verdict keeps; gcc searches long for similar names
                          "-I", (char *)judging->include, "-I", (char *)judging->beside, "-I", (char *)judging->chapter,
                          judging->judge, "-o", program, "-lm", NULL};
    return compile(judging, argv, built);
}

heddle_status heddle_learn_run_plain(heddle_learn_judging *judging)
{
    static const char *const environment[] = {"ASAN_OPTIONS=color=never:detect_leaks=0",
                                              "UBSAN_OPTIONS=print_stacktrace=0:color=never", NULL};
    char program[HEDDLE_PLACE_SIZE + 16];
    bool built = false;
    finished done;
    snprintf(program, sizeof program, "%s/program", judging->folder);
    HEDDLE_TRY(build_plain(judging, program, &built));
    if (!built)
        return HEDDLE_OK;
    char *const argv[] = {program, NULL};
    HEDDLE_TRY(run_program(judging, argv, environment, judging->rules->seconds, &done));
    bool ended = heddle_learn_hear(judging, done.output);
    heddle_learn_explain_sanitizer(judging, done.errors);
    explain_end(judging, &done, ended);
    free_finished(&done);
    return HEDDLE_OK;
}

// --- a real GPU ------------------------------------------------------------------------------------------------------

// Asks the driver, which needs no toolkit.
static heddle_status find_gpu(heddle_learn_verdict *verdict)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    char name[128] = "";
    int count = 0;
    if (driver) {
        int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
        int (*get_count)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
        int (*get_name)(char *, int, int) = (int (*)(char *, int, int))dlsym(driver, "cuDeviceGetName");
        if (init && get_count && get_name && init(0) == 0 && get_count(&count) == 0 && count > 0)
            get_name(name, sizeof name, 0);
        dlclose(driver);
    }
    if (count == 0)
        return heddle_fail(HEDDLE_MISSING, "no GPU found: --device cuda needs an NVIDIA GPU and its driver; without "
                                           "--device the exercise is judged on the simulated GPU");
    verdict->gpu = heddle_arena_copy_text(verdict->arena, name);
    return HEDDLE_OK;
}

static heddle_status build_hardware(heddle_learn_judging *judging, char *program, bool *built)
{
    char nvcc[HEDDLE_PLACE_SIZE], mark[MARK_SIZE];
    if (!heddle_find_nvcc(nvcc))
        return heddle_fail(HEDDLE_MISSING, "nvcc not found: --device cuda needs the CUDA toolkit; put nvcc on PATH");
    // -O2: of the host's code, which is not timed. Kernels are optimised in any case.
    char *argv[MOST_WORDS] = {nvcc,
                              "-std=c++17",
                              "-O2",
                              "-arch=native",
                              define_mark(judging, "-D", mark),
                              "-I",
                              (char *)judging->include,
                              "-I",
                              (char *)judging->beside,
                              "-I",
                              (char *)judging->chapter,
                              judging->judge,
                              "-o",
                              program};
    int count = 0;
    while (argv[count])
        count++;
    for (int i = 0; judging->rules->libraries && judging->rules->libraries[i] && count + 2 < MOST_WORDS; i++) {
        argv[count++] = "-l";
        argv[count++] = (char *)judging->rules->libraries[i];
    }
    return compile(judging, argv, built);
}

heddle_status heddle_learn_run_hardware(heddle_learn_judging *judging)
{
    char program[HEDDLE_PLACE_SIZE + 16];
    bool built = false;
    finished done;
    if (heddle_learn_is_plain_c(judging->exercise))
        return HEDDLE_OK;
    snprintf(program, sizeof program, "%s/on-gpu", judging->folder);
    HEDDLE_TRY(find_gpu(judging->verdict));
    HEDDLE_TRY(build_hardware(judging, program, &built));
    judging->verdict->on_hardware = true;
    if (!built)
        return HEDDLE_OK;
    char *const argv[] = {program, NULL};
    HEDDLE_TRY(run_program(judging, argv, NULL, judging->rules->seconds, &done));
    bool ended = heddle_learn_hear(judging, done.output);
    explain_end(judging, &done, ended);
    free_finished(&done);
    return HEDDLE_OK;
}
