// The build as a whole: compiler, headers, all files at once, then the linker.

#include "build/build.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/compile.h"
#include "build/depends.h"
#include "build/messages.h"
#include "build/object.h"
#include "build/process.h"

enum { MOST_THREADS = 16 };

typedef struct build_state {
    sim_build_context context;
    sim_job *jobs;
    int job_count;
    atomic_int next;
    bool openmp;
} build_state;

static sim_home found_home;

static void find_home(void)
{
    if (!sim_home_find(&found_home))
        found_home = (sim_home){"", ""};
}

static const sim_home *home(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_home);
    return &found_home;
}

const char *sim_build_headers(void)
{
    return home()->headers;
}

const char *sim_build_runtime(void)
{
    return home()->runtime;
}

static sim_language language_of(const char *path, bool all_cuda)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/'))
        return all_cuda ? SIM_LANGUAGE_CUDA : SIM_LANGUAGE_NONE;
    static const char *const cplusplus[] = {".cpp", ".cc", ".cxx", ".C", ".c++", NULL};
    if (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0)
        return SIM_LANGUAGE_CUDA;
    bool is_c = strcmp(dot, ".c") == 0, is_cplusplus = false;
    for (int i = 0; cplusplus[i]; i++)
        is_cplusplus |= strcmp(dot, cplusplus[i]) == 0;
    if (all_cuda && (is_c || is_cplusplus))
        return SIM_LANGUAGE_CUDA;
    return is_c ? SIM_LANGUAGE_C : is_cplusplus ? SIM_LANGUAGE_CPLUSPLUS : SIM_LANGUAGE_NONE;
}

bool sim_build_is_source(const char *path)
{
    return language_of(path, false) != SIM_LANGUAGE_NONE;
}

static const char *stem_of(const char *path, int *bytes)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    *bytes = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    return name;
}

static void *work(void *argument)
{
    build_state *build = argument;
    for (int i; (i = atomic_fetch_add(&build->next, 1)) < build->job_count;)
        if (build->jobs[i].language != SIM_LANGUAGE_NONE)
            sim_compile(&build->context, &build->jobs[i]);
    return NULL;
}

static void compile_all(build_state *build)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[MOST_THREADS];
    int count = 0;
    while (count + 1 < build->job_count && count + 1 < cores && count < MOST_THREADS &&
           pthread_create(&threads[count], NULL, work, build) == 0)
        count++;
    work(build);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

// Messages of all files, in the order of the files.
static sim_build_status gather(build_state *build, sim_build_result *result)
{
    sim_build_status status = SIM_BUILD_FINE;
    for (int i = 0; i < build->job_count; i++) {
        sim_job *job = &build->jobs[i];
        if (job->status != SIM_BUILD_FINE && status == SIM_BUILD_FINE)
            status = job->status;
        for (int m = 0; m < job->result.count; m++) {
            sim_build_message *message = &job->result.messages[m];
            sim_build_say(result, message->kind, "%s", "");
            sim_build_message *copy = &result->messages[result->count - 1];
            free(copy->text);
            *copy = *message;
            *message = (sim_build_message){0};
        }
        sim_build_result_free(&job->result);
    }
    return status;
}

// A number of an object's own, by its path: objects of one program may be made one at a time.
static int number_of(const char *path)
{
    char *whole = realpath(path, NULL);
    unsigned hash = 2166136261u; // FNV-1a
    for (const char *at = whole ? whole : path; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    free(whole);
    return (int)(hash >> 1);
}

// An object that is linked later: which names others will have is not known yet.
static bool separate_object(const sim_job *job)
{
    sim_names own = {0};
    bool fine = job->language != SIM_LANGUAGE_CUDA ||
                (sim_object_device_symbols(job->object, &job->device_functions, &own) &&
                 (own.count == 0 || sim_object_separate(job->object, &own, number_of(job->object))));
    sim_names_release(&own);
    return fine;
}

// Without -rdc=true, device code is each file's own: the same __device__ name in two files means two things.
static bool separate_objects(build_state *build)
{
    if (build->context.options->compile_only) {
        bool fine = true;
        for (int i = 0; i < build->job_count && fine; i++)
            fine = separate_object(&build->jobs[i]);
        return fine;
    }
    sim_names once = {0}, twice = {0};
    bool fine = true;
    for (int i = 0; i < build->job_count && fine; i++) {
        sim_names here = {0};
        if (build->jobs[i].language == SIM_LANGUAGE_CUDA)
            fine = sim_object_device_symbols(build->jobs[i].object, &build->jobs[i].device_functions, &here);
        for (int n = 0; n < here.count && fine; n++)
            fine = sim_names_add(sim_names_have(&once, here.at[n]) ? &twice : &once, here.at[n]);
        sim_names_release(&here);
    }
    for (int i = 0; i < build->job_count && fine && twice.count; i++)
        if (build->jobs[i].language == SIM_LANGUAGE_CUDA)
            fine = sim_object_separate(build->jobs[i].object, &twice, i);
    sim_names_release(&once);
    sim_names_release(&twice);
    return fine;
}

static bool patch_objects(build_state *build)
{
    sim_names defined = {0};
    const sim_build_options *options = build->context.options;
    bool alone = build->job_count < 2 && !options->compile_only; // and nothing comes to it later
    bool fine = alone || options->shared || options->separate || separate_objects(build);
    for (int i = 0; i < build->job_count; i++)
        if (build->jobs[i].language != SIM_LANGUAGE_NONE)
            fine &= sim_object_defined(build->jobs[i].object, &defined);
    for (int i = 0; i < build->job_count && fine; i++)
        if (build->jobs[i].language != SIM_LANGUAGE_NONE)
            fine = sim_object_patch(build->jobs[i].object, &defined, !options->unwatched);
    sim_names_release(&defined);
    return fine;
}

// The objects in the temporary folder are nothing to the user: each is called by the file that it was made from.
static void name_files(const build_state *build, const char *said, sim_text *named)
{
    while (*said) {
        const sim_job *found = NULL;
        for (int i = 0; i < build->job_count && !found; i++)
            if (build->jobs[i].object[0] && strncmp(said, build->jobs[i].object, strlen(build->jobs[i].object)) == 0)
                found = &build->jobs[i];
        sim_text_add_bytes(named, found ? found->path : said, found ? strlen(found->path) : 1);
        said += found ? strlen(found->object) : 1;
    }
}

// Libraries whose part the runtime plays.
static const char *const played[] = {"cudart",   "cudart_static", "cuda",       "cudadevrt",   "cublas",
                                     "cublasLt", "curand",        "nvToolsExt", "cufft",       "cusparse",
                                     "cusolver", "nvrtc",         "cudnn",      "nccl",        "nvidia-ml",
                                     "cupti",    "nvjpeg",        "culibos",    "nppc_static", NULL};

const char *const *sim_build_libraries(void)
{
    return played;
}

static bool is_played(const char *argument)
{
    for (const char *const *name = played; *name; name++)
        if (strncmp(argument, "-l", 2) == 0 && strcmp(argument + 2, *name) == 0)
            return true;
    return false;
}

// Runs the linker. Programs that ask nothing of it are linked by a faster one first; where that one fails, the default
// linker has the last word, and the messages are its own.
static int run_linker(const build_state *build, sim_arguments *call, sim_text *said)
{
    const sim_build_options *options = build->context.options;
    bool plain = !options->shared;
    for (const char *const *argument = options->link; argument && *argument && plain; argument++)
        plain = strncmp(*argument, "-l", 2) == 0 || strncmp(*argument, "-L", 2) == 0;
    const char *linker = plain ? sim_compiler_linker() : NULL;
    if (linker) {
        sim_arguments_add(call, linker);
        if (call->failed || sim_process_run(call->at, said, &build->context.limits) == 0)
            return call->failed ? -1 : 0;
        sim_text_free(said);
        call->at[--call->count] = NULL;
    }
    return call->failed ? -1 : sim_process_run(call->at, said, &build->context.limits);
}

static sim_build_status link_all(build_state *build, sim_build_result *result)
{
    const sim_build_options *options = build->context.options;
    sim_arguments call = {0};
    sim_arguments_add(&call, build->context.compiler.path);
    for (int i = 0; i < build->job_count; i++)
        sim_arguments_add(&call, build->jobs[i].object);
    for (const char *const *argument = options->link; argument && *argument; argument++)
        if (!is_played(*argument))
            sim_arguments_add(&call, *argument);
    if (build->openmp)
        sim_arguments_add(&call, "-lgomp");
    sim_arguments_add(&call, "-Wl,-u,sim_runtime_begins,-u,sim_report_write"); // a program without CUDA reports, too
    sim_arguments_add(&call, build->context.home.runtime);
    const char *const rest[] = {"-pthread", "-lm", "-ldl", "-o", options->output ? options->output : "a.out", NULL};
    sim_arguments_add_list(&call, rest);
    // A module keeps to its own runtime, whatever else the process has loaded.
    static const char *const module[] = {"-shared", "-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL", NULL};
    if (options->shared)
        sim_arguments_add_list(&call, module);
    else
        sim_arguments_add(&call, "-pie");
    sim_text said = {0};
    int status = run_linker(build, &call, &said);
    if (sim_process_is_stopped(status)) {
        sim_messages_stopped(result, "linking", status, &build->context.limits);
    } else if (status) {
        sim_text named = {0};
        name_files(build, said.at ? said.at : "the linker failed", &named);
        sim_messages_linker(result, named.at ? named.at : "the linker failed", options->files);
        sim_text_free(&named);
    }
    sim_text_free(&said);
    sim_arguments_free(&call);
    return status == 0 ? SIM_BUILD_FINE : status < 0 ? SIM_BUILD_SYSTEM : SIM_BUILD_FAILED;
}

static sim_build_status run_tool(const build_state *build, sim_arguments *call, sim_build_result *result)
{
    sim_text said = {0};
    int status = call->failed ? -1 : sim_process_run(call->at, &said, &build->context.limits);
    if (status)
        sim_build_say(result, SIM_MESSAGE_ERROR, "%s failed: %s", call->at ? call->at[0] : "the tool",
                      said.at ? said.at : strerror(errno));
    sim_text_free(&said);
    sim_arguments_free(call);
    return status == 0 ? SIM_BUILD_FINE : SIM_BUILD_FAILED;
}

// Made anew: what an earlier build has left there may be gone from this one.
static sim_build_status archive_all(build_state *build, sim_build_result *result)
{
    const char *output = build->context.options->output;
    sim_arguments call = {0};
    sim_arguments_add(&call, "ar");
    sim_arguments_add(&call, "rcs");
    sim_arguments_add(&call, output ? output : "a.a");
    for (int i = 0; i < build->job_count; i++)
        sim_arguments_add(&call, build->jobs[i].object);
    remove(output ? output : "a.a");
    return run_tool(build, &call, result);
}

// Builds that link device code by itself link its object with the rest afterwards, so there has to be one.
static sim_build_status link_device_code(build_state *build, sim_build_result *result)
{
    const char *output = build->context.options->output;
    const char *const words[] = {"-x", "c", "-c", "/dev/null", "-o", output ? output : "a_dlink.o", NULL};
    sim_arguments call = {0};
    sim_arguments_add(&call, build->context.compiler.path);
    sim_arguments_add_list(&call, words);
    return run_tool(build, &call, result);
}

static sim_build_status combine(build_state *build, sim_build_result *result)
{
    if (build->context.options->device_link)
        return link_device_code(build, result);
    return build->context.options->archive ? archive_all(build, result) : link_all(build, result);
}

// A host program with OpenMP's calls is meant to be built with it. nvcc is told by -Xcompiler; here the include says
// so, unless the source asks whether it has OpenMP: then it does without, as it would with nvcc.
static bool wants_openmp(const sim_build_options *options)
{
    bool wants = false;
    for (const char *const *path = options->files; *path && !wants; path++) {
        sim_text source = {0};
        wants = language_of(*path, options->all_cuda) != SIM_LANGUAGE_NONE && sim_text_read(&source, *path) &&
                source.at && strstr(source.at, "include <omp.h>") && !strstr(source.at, "_OPENMP");
        sim_text_free(&source);
    }
    return wants;
}

static bool prepare(build_state *build, sim_build_result *result, sim_build_status *status)
{
    sim_build_context *context = &build->context;
    const sim_build_options *options = context->options;
    *status = SIM_BUILD_NO_COMPILER;
    if (!sim_home_find(&context->home)) {
        sim_build_say(result, SIM_MESSAGE_ERROR, "%s",
                      sim_home_is_unbuilt() ? "the simulated GPU is not built: run `make check`"
                                            : "the simulator's headers and libsim.a are not where they were installed; "
                                              "set SIM_HOME to the folder that holds include/ and libsim.a");
        return false;
    }
    if (!sim_compiler_find(&context->compiler, options->compiler)) {
        sim_build_say(result, SIM_MESSAGE_ERROR,
                      "no C++ compiler found%s%s; install g++ (10 or later) or clang++ (14 or later)",
                      options->compiler ? ": " : "", options->compiler ? options->compiler : "");
        return false;
    }
    result->compiler = strdup(context->compiler.path);
    if (!sim_temporary_open(&context->temporary, options->folder, options->keep)) {
        sim_build_say(result, SIM_MESSAGE_ERROR, "no temporary folder: %s", strerror(errno));
        *status = SIM_BUILD_SYSTEM;
        return false;
    }
    context->limits.folder = context->temporary.folder;
    sim_compiler_flags(&context->compiler, !options->unwatched, options->shared, &context->flags);
    if (options->quick)
        sim_compiler_flags_quick(&context->compiler, &context->flags);
    // Options that change the language change the precompiled header too.
    const char *standard = "-std=c++17"; // that compiler.c has among the flags
    for (const char *const *option = options->compile; option && *option; option++) {
        bool names_standard = strncmp(*option, "-std=", 5) == 0;
        if ((names_standard && strcmp(*option, standard) != 0) || strncmp(*option, "-f", 2) == 0 ||
            strncmp(*option, "-m", 2) == 0)
            sim_arguments_add(&context->flags, *option);
        standard = names_standard ? *option : standard;
    }
    build->openmp = wants_openmp(options);
    if (build->openmp && !context->compiler.clang)
        sim_arguments_add(&context->flags, "-fopenmp");
    return true;
}

static bool make_jobs(build_state *build)
{
    const sim_build_options *options = build->context.options;
    while (options->files[build->job_count])
        build->job_count++;
    build->jobs = calloc((size_t)build->job_count + 1, sizeof *build->jobs);
    for (int i = 0; build->jobs && i < build->job_count; i++) {
        sim_job *job = &build->jobs[i];
        *job = (sim_job){
            .path = options->files[i], .number = i, .language = language_of(options->files[i], options->all_cuda)};
        int bytes;
        const char *stem = stem_of(job->path, &bytes);
        if (job->language == SIM_LANGUAGE_NONE)
            snprintf(job->object, sizeof job->object, "%s", job->path);
        else if (options->compile_only && options->output)
            snprintf(job->object, sizeof job->object, "%s", options->output);
        else if (options->compile_only)
            snprintf(job->object, sizeof job->object, "%s%s%.*s.o", options->objects ? options->objects : "",
                     options->objects ? "/" : "", bytes, stem);
        else
            snprintf(job->object, sizeof job->object, "%s/%d.o", build->context.temporary.folder, i);
    }
    return build->jobs;
}

sim_build_status sim_build(const sim_build_options *options, sim_build_result *result)
{
    build_state build = {.context = {.options = options,
                                     .limits = {options->seconds, options->memory},
                                     .lock = PTHREAD_MUTEX_INITIALIZER}};
    sim_build_status status;
    if (!options->files || !options->files[0]) {
        sim_build_say(result, SIM_MESSAGE_ERROR, "no source file");
        return SIM_BUILD_USAGE;
    }
    if (options->compile_only && options->output && options->files[1]) {
        sim_build_say(result, SIM_MESSAGE_ERROR, "-c with -o takes one source file");
        return SIM_BUILD_USAGE;
    }
    if (!prepare(&build, result, &status))
        return status;
    status = SIM_BUILD_SYSTEM;
    if (make_jobs(&build)) {
        compile_all(&build);
        status = gather(&build, result);
        if (status == SIM_BUILD_FINE && !patch_objects(&build)) {
            sim_build_say(result, SIM_MESSAGE_ERROR, "the compiler's object files cannot be read");
            status = SIM_BUILD_SYSTEM;
        }
        if (status == SIM_BUILD_FINE && !options->compile_only)
            status = combine(&build, result);
        if (status == SIM_BUILD_FINE && options->depends &&
            !sim_depends_write(options, build.jobs, build.job_count, result))
            status = SIM_BUILD_SYSTEM;
    }
    if (options->keep)
        sim_build_say(result, SIM_MESSAGE_NOTE, "rewritten files and objects are in %s",
                      build.context.temporary.folder);
    sim_temporary_close(&build.context.temporary, options->keep);
    sim_arguments_free(&build.context.flags);
    for (int i = 0; i < SIM_STANDIN_KINDS; i++)
        sim_arguments_free(&build.context.standin[i].arguments);
    pthread_mutex_destroy(&build.context.lock);
    for (int i = 0; build.jobs && i < build.job_count; i++) {
        sim_text_free(&build.jobs[i].depends);
        sim_names_release(&build.jobs[i].device_functions);
    }
    free(build.jobs);
    return status;
}
