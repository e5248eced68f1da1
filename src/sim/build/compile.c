// Rewrites one file, runs the compiler on it, and hands the assembler what the compiler writes while it writes it.

#include "build/compile.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/checks.h"
#include "build/copies.h"
#include "build/depends.h"
#include "build/lenient.h"
#include "build/macros.h"
#include "build/messages.h"
#include "build/object.h"
#include "build/precompiled.h"
#include "build/process.h"
#include "rewrite/rewrite.h"

// first: what is compiled, and not one of its headers.
static bool write_file(const sim_build_context *context, const sim_rewritten_file *written, unsigned lenient,
                       bool first)
{
    FILE *file = fopen(written->shadow, "wb");
    if (!file)
        return false;
    // Messages, __FILE__ and debug information then speak of the user's file.
    sim_text name = {0};
    sim_text_add_quoted(&name, written->path, strlen(written->path));
    bool fine = !first || sim_macros_write(file, context->options->compile, written->text);
    fine = fprintf(file, "%s%s%s#line 1 \"%s\"\n", first ? sim_lenient_preamble(lenient) : "",
                   written->uses_ptx ? "#include \"sim/ptx.h\"\n" : "",
                   context->options->branches ? "#include \"sim/branches.h\"\n" : "", name.at ? name.at : "") > 0 &&
           fine;
    fine = fwrite(written->text, 1, written->bytes, file) == written->bytes && fine;
    sim_text_free(&name);
    return fclose(file) == 0 && fine;
}

static bool write_files(const sim_build_context *context, const sim_rewritten *rewritten, sim_job *job)
{
    for (int i = 0; i < rewritten->count; i++) {
        const sim_rewritten_file *file = &rewritten->files[i];
        if (file->text && file->shadow && !write_file(context, file, job->lenient, i == 0)) {
            sim_build_say(&job->result, SIM_MESSAGE_ERROR, "%s: %s", file->shadow, strerror(errno));
            job->status = SIM_BUILD_SYSTEM;
            return false;
        }
    }
    return true;
}

static bool rewrite(const sim_build_context *context, sim_job *job, sim_rewritten *rewritten)
{
    sim_rewrite_options options = {.folders = context->options->include,
                                   .shadow_folder = context->temporary.folder,
                                   .number = job->number,
                                   .branches = context->options->branches,
                                   .torch = context->options->torch};
    if (!sim_rewrite_unit(job->path, &options, rewritten)) {
        sim_build_say(&job->result, SIM_MESSAGE_ERROR, "%s: %s", job->path, strerror(errno));
        job->status = errno == ENOENT || errno == EISDIR || errno == EACCES ? SIM_BUILD_USAGE : SIM_BUILD_SYSTEM;
        return false;
    }
    return write_files(context, rewritten, job);
}

static const struct sim_standin *standin(sim_build_context *context, sim_standin_kind kind)
{
    struct sim_standin *found = &context->standin[kind];
    pthread_mutex_lock(&context->lock);
    if (!found->made && kind == SIM_STANDIN_PLAIN) {
        snprintf(found->path, sizeof found->path, "%s/sim/standin.h", context->home.headers);
        sim_arguments_add(&found->arguments, "-include");
        sim_arguments_add(&found->arguments, found->path);
    } else if (!found->made) {
        const sim_precompiled wanted = {&context->compiler, &context->home, &context->flags, &context->limits, kind};
        found->precompiled = sim_precompiled_include(&wanted, &found->arguments, found->path, sizeof found->path);
    }
    found->made = true;
    pthread_mutex_unlock(&context->lock);
    return found;
}

static bool warns(const sim_build_context *context, const sim_job *job)
{
    return context->options->uninitialised && job->language == SIM_LANGUAGE_CUDA;
}

static void add_language(sim_build_context *context, const sim_job *job, sim_standin_kind kind, sim_arguments *call)
{
    bool c = job->language == SIM_LANGUAGE_C;
    sim_arguments_add(call, "-x");
    sim_arguments_add(call, c ? "c" : "c++");
    for (int i = 0; i < context->flags.count; i++) {
        bool only_cplusplus = strncmp(context->flags.at[i], "-std=c++", 8) == 0 ||
                              strncmp(context->flags.at[i], "-std=gnu++", 10) == 0 ||
                              strcmp(context->flags.at[i], "-fno-extern-tls-init") == 0;
        // No other warning comes through (messages.c); headers are compiled without any.
        bool quiet = strcmp(context->flags.at[i], "-w") == 0 && warns(context, job);
        if (quiet)
            sim_arguments_add(call, "-Wuninitialized");
        if (quiet && context->options->maybe_uninitialised && !context->compiler.clang) // clang's other one says both
            sim_arguments_add(call, "-Wmaybe-uninitialized");
        if (!quiet && (!c || !only_cplusplus))
            sim_arguments_add(call, context->flags.at[i]);
    }
    if (job->language == SIM_LANGUAGE_CUDA)
        sim_arguments_add_list(call, standin(context, kind)->arguments.at);
    for (const char *const *option = context->options->compile; option && *option; option++)
        if ((!c || strncmp(*option, "-std=", 5) != 0) &&
            (job->language != SIM_LANGUAGE_CUDA || !sim_macro_is_letter(*option)))
            sim_arguments_add(call, *option);
}

static void add_folders(const sim_build_context *context, const char *folder, sim_arguments *call)
{
    sim_arguments_add(call, "-iquote");
    sim_arguments_add(call, folder);
    for (const char *const *path = context->options->include; path && *path; path++) {
        sim_arguments_add(call, "-I");
        sim_arguments_add(call, *path);
    }
    sim_arguments_add(call, "-I");
    sim_arguments_add(call, context->home.headers);
}

// --- compiler | filter | assembler -----------------------------------------------------------------------------------

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

// What one process writes, on its way to the next one's input.
typedef struct line_filter {
    void (*line)(struct line_filter *filter, const char *line, size_t bytes);
    sim_text pending; // an incomplete line
    sim_text out;
    sim_assembly assembly;
    bool has_checks;
    unsigned checks; // so far
    sim_copies copies;
    int to;
} line_filter;

static void filter_assembly(line_filter *filter, const char *line, size_t bytes)
{
    if (!filter->has_checks || !sim_check_line(line, bytes, &filter->checks, &filter->out))
        sim_assembly_line(&filter->assembly, line, bytes, &filter->out);
}

static void filter_copies(line_filter *filter, const char *line, size_t bytes)
{
    sim_copy_line(&filter->copies, line, bytes, &filter->out);
}

static void filter_bytes(line_filter *filter, const char *bytes, size_t count)
{
    sim_text_add_bytes(&filter->pending, bytes, count);
    size_t start = 0;
    for (;;) {
        char *line = filter->pending.at + start;
        char *end = memchr(line, '\n', filter->pending.bytes - start);
        if (!end)
            break;
        filter->line(filter, line, (size_t)(end - line) + 1);
        start += (size_t)(end - line) + 1;
    }
    memmove(filter->pending.at, filter->pending.at + start, filter->pending.bytes - start);
    filter->pending.bytes -= start;
    if (filter->out.at)
        write_all(filter->to, filter->out.at, filter->out.bytes); // an assembler that gave up says so itself
    filter->out.bytes = 0;
}

// Reads both streams of the compiler to their ends.
static void pump(sim_process *compiler, line_filter *filter, sim_text *said)
{
    struct pollfd streams[2] = {{.fd = compiler->output, .events = POLLIN}, {.fd = compiler->errors, .events = POLLIN}};
    char *buffer = malloc(1 << 16);
    while (buffer && (streams[0].fd >= 0 || streams[1].fd >= 0)) {
        if (poll(streams, 2, -1) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < 2; i++) {
            if (streams[i].fd < 0 || !(streams[i].revents & (POLLIN | POLLHUP | POLLERR)))
                continue;
            ssize_t count = read(streams[i].fd, buffer, 1 << 16);
            if (count > 0 && i == 0)
                filter_bytes(filter, buffer, (size_t)count);
            else if (count > 0)
                sim_text_add_bytes(said, buffer, (size_t)count);
            else if (count == 0 || errno != EINTR)
                streams[i].fd = -1;
        }
    }
    free(buffer);
}

static void filter_end(line_filter *filter, int *to)
{
    close(*to);
    *to = -1;
    sim_text_free(&filter->pending);
    sim_text_free(&filter->out);
    sim_text_free(&filter->copies.values);
}

static int assemble(const sim_build_context *context, sim_process *compiler, const char *object, sim_text *said)
{
    const char *const call[] = {context->compiler.path, "-c", "-x", "assembler", "-", "-o", object, NULL};
    sim_process assembler;
    if (!sim_process_start(&assembler, call, SIM_PIPE_INPUT | SIM_PIPE_OUTPUT, &context->limits)) {
        sim_process_end(compiler);
        return -1;
    }
    // A module that is loaded has no thread-local memory at a fixed place, which the checks are made for.
    line_filter filter = {.line = filter_assembly, .has_checks = !context->options->shared, .to = assembler.input};
    pump(compiler, &filter, said);
    int status = sim_process_end(compiler);
    filter_end(&filter, &assembler.input);
    char buffer[1024];
    ssize_t count;
    while ((count = read(assembler.output, buffer, sizeof buffer)) > 0)
        if (status == 0)
            sim_text_add_bytes(said, buffer, (size_t)count);
    int assembled = sim_process_end(&assembler);
    return status ? status : assembled;
}

// clang in two halves, with what it hands from the one to the other edited in between: *optimiser is then at work on
// it. Returns the exit status of the first half.
static int parse_and_edit(const sim_build_context *context, sim_arguments *call, sim_process *optimiser, sim_text *said)
{
    static const char *const first_half[] = {"-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-o", "-", NULL};
    static const char *const second_half[] = {"-Qunused-arguments", "-x", "ir", "-", "-S", "-o", "-", NULL};
    sim_arguments second = {0};
    sim_process parser;
    sim_arguments_add_list(call, first_half);
    sim_arguments_add(&second, context->compiler.path);
    sim_arguments_add_list(&second, context->flags.at);
    sim_arguments_add_list(&second, context->options->compile);
    sim_arguments_add_list(&second, second_half);
    bool started = !call->failed && !second.failed &&
                   sim_process_start(&parser, call->at, SIM_PIPE_OUTPUT | SIM_PIPE_ERRORS, &context->limits);
    bool both = started && sim_process_start(optimiser, second.at, SIM_PIPE_INPUT | SIM_PIPE_OUTPUT | SIM_PIPE_ERRORS,
                                             &context->limits);
    sim_arguments_free(&second);
    if (!both) {
        if (started)
            sim_process_end(&parser);
        return -1;
    }
    line_filter filter = {.line = filter_copies, .to = optimiser->input};
    pump(&parser, &filter, said);
    int status = sim_process_end(&parser);
    filter_end(&filter, &optimiser->input);
    if (status)
        sim_process_end(optimiser);
    return status;
}

// Returns the exit status of the one that failed, or 0.
static int compile_watched(const sim_build_context *context, sim_arguments *call, const char *object, sim_text *said)
{
    static const char *const to_assembly[] = {"-S", "-o", "-", NULL};
    sim_process compiler;
    int status = 0;
    if (context->compiler.clang) {
        status = parse_and_edit(context, call, &compiler, said);
    } else {
        sim_arguments_add_list(call, to_assembly);
        if (call->failed ||
            !sim_process_start(&compiler, call->at, SIM_PIPE_OUTPUT | SIM_PIPE_ERRORS, &context->limits))
            status = -1;
    }
    return status ? status : assemble(context, &compiler, object, said);
}

static int compile_unwatched(const sim_build_context *context, sim_arguments *call, const char *object, sim_text *said)
{
    sim_arguments_add(call, "-pipe");
    sim_arguments_add(call, "-c");
    sim_arguments_add(call, "-o");
    sim_arguments_add(call, object);
    return call->failed ? -1 : sim_process_run(call->at, said, &context->limits);
}

// Compiles once. Returns the compiler's status, -1: it could not be started.
static int call_compiler(sim_build_context *context, const sim_job *job, const char *source, sim_standin_kind kind,
                         sim_text *said, sim_text *depends)
{
    const char *slash = strrchr(job->path, '/');
    char *folder = slash ? strndup(job->path, slash == job->path ? 1 : (size_t)(slash - job->path)) : strdup(".");
    bool clang = context->compiler.clang;
    sim_arguments call = {0};
    sim_arguments_add(&call, context->compiler.path);
    // The first errors are enough, and the compiler searches long for a name like each that is not declared.
    sim_arguments_add(&call, clang ? "-ferror-limit=100" : "-fmax-errors=100");
    add_language(context, job, kind, &call);
    add_folders(context, folder, &call);
    sim_arguments_add(&call, clang ? "-fno-caret-diagnostics" : "-fno-diagnostics-show-caret");
    sim_arguments_add(&call, clang ? "-fno-color-diagnostics" : "-fdiagnostics-color=never");
    if (sim_lenient_option(job->lenient))
        sim_arguments_add(&call, sim_lenient_option(job->lenient));
    depends->bytes = 0;
    sim_depends_options(context, job, &call, depends);
    sim_arguments_add(&call, source);
    int status = context->options->unwatched ? compile_unwatched(context, &call, job->object, said)
                                             : compile_watched(context, &call, job->object, said);
    sim_arguments_free(&call);
    free(folder);
    return status;
}

// The smallest that has what the program includes.
static sim_standin_kind choose_standin(sim_build_context *context, const sim_rewritten *rewritten)
{
    sim_standin_kind kind = !rewritten                                              ? SIM_STANDIN_FAST
                            : sim_rewritten_includes(rewritten, sim_slow_headers)   ? SIM_STANDIN_SLOW
                            : sim_rewritten_includes(rewritten, sim_vector_headers) ? SIM_STANDIN_VECTOR
                                                                                    : SIM_STANDIN_FAST;
    return kind == SIM_STANDIN_FAST || standin(context, kind)->precompiled ? kind : SIM_STANDIN_FAST;
}

static void run_compiler(sim_build_context *context, sim_job *job, const char *source, const sim_rewritten *rewritten)
{
    sim_text said = {0}, depends = {0}; // what the compiler says; where it lists the files it read
    sim_standin_kind kind = choose_standin(context, rewritten);
    int status = call_compiler(context, job, source, kind, &said, &depends);
    // Perhaps only because of a header that the program did not ask for, or one that has changed since it was compiled,
    // or is damaged.
    bool failed = status > 0 && !sim_process_is_stopped(status);
    bool outdated = failed && said.at && sim_precompiled_is_refused(said.at);
    if (outdated)
        sim_precompiled_remove(standin(context, kind)->path);
    bool plain = outdated || (failed && said.at && sim_precompiled_lacks(said.at));
    if (failed && (kind != SIM_STANDIN_FAST || plain)) {
        sim_text_free(&said);
        status = call_compiler(context, job, source, plain ? SIM_STANDIN_PLAIN : SIM_STANDIN_FAST, &said, &depends);
    }
    while (status > 0 && said.at && rewritten && (sim_lenient_asked(said.at) & ~job->lenient)) {
        job->lenient |= sim_lenient_asked(said.at);
        if (!write_files(context, rewritten, job))
            break;
        sim_text_free(&said);
        status = call_compiler(context, job, source, SIM_STANDIN_PLAIN, &said, &depends);
    }
    int before = job->result.count;
    if (said.at)
        sim_messages_compiler(&job->result, said.at, rewritten, &context->home);
    if (status < 0)
        sim_build_say(&job->result, SIM_MESSAGE_ERROR, "%s: %s", context->compiler.path, strerror(errno));
    else if (sim_process_is_stopped(status))
        sim_messages_stopped(&job->result, job->path, status, &context->limits);
    else if (status > 0 && job->result.count == before)
        sim_build_say(&job->result, SIM_MESSAGE_ERROR, "%s: the compiler failed (status %d)%s%s", job->path, status,
                      said.at ? ": " : "", said.at ? said.at : "");
    if (status)
        job->status = status < 0 ? SIM_BUILD_SYSTEM : SIM_BUILD_FAILED;
    else if (context->options->depends && !sim_depends_read(context, job, rewritten, depends.at)) {
        sim_build_say(&job->result, SIM_MESSAGE_ERROR, "%s: the compiler's list of headers cannot be read", job->path);
        job->status = SIM_BUILD_SYSTEM;
    }
    sim_text_free(&said);
    sim_text_free(&depends);
}

void sim_compile(sim_build_context *context, sim_job *job)
{
    sim_rewritten rewritten = {0};
    if (job->language != SIM_LANGUAGE_CUDA) {
        run_compiler(context, job, job->path, NULL);
        return;
    }
    if (rewrite(context, job, &rewritten)) {
        int count;
        const char *const *names = sim_rewritten_device_functions(&rewritten, &count);
        for (int i = 0; i < count; i++)
            sim_names_add(&job->device_functions, names[i]);
        run_compiler(context, job, rewritten.files[0].shadow, &rewritten);
    }
    sim_rewritten_free(&rewritten);
}
