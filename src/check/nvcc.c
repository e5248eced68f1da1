// nvcc's opinion: its front end alone (-ptx, no optimisation) says in a third of a second whether the source is legal.

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/place.h"
#include "base/text.h"
#include "check/build.h"
#include "sim/build/build.h"

enum {
    LARGEST_OUTPUT = 4 << 20,
    MOST_FLAGS = 32,
    MOST_FILES = 256,
    LONGEST_LINE = 2048,
    MODE = 0600,
};

static const double longest = 300; // seconds; nvcc that takes longer hangs

// An architecture that has all that is simulated.
// The two that lambdas in kernels and the standard library's constants need are in most published build lines.
static const char *const flags[] = {
    "-ptx",
    "-arch=sm_90",
    "-Xcicc",
    "-O0",
    "-w",
    "-Xcompiler",
    "@options,-w",
    "--extended-lambda",
    "--expt-relaxed-constexpr",
    "-isystem",
    "helpers",
    NULL,
};

static bool is_cuda(const heddle_check_options *options, const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".cu") == 0 || (options->all_cuda && sim_build_is_source(path)));
}

// It knows no gnu++20, and takes what that adds in c++20 all the same.
static const char *standard_for_nvcc(const char *standard, char *text, size_t size)
{
    static const char dialect[] = "gnu";
    const size_t length = sizeof dialect - 1;
    if (!standard)
        return "c++17";
    if (strncmp(standard, dialect, length) != 0)
        return standard;
    snprintf(text, size, "c%s", standard + length);
    return text;
}

// --- what it is given ------------------------------------------------------------------------------------------------
//
// nvcc runs its tools through a shell, with names and values between double quotes, so a file called `$(touch x).cu`
// would be a command. It is given only names that we make ourselves, in a folder of ours: sources that include the
// user's, and the name of a file of options, which the host compiler reads without a shell.

// Whether a shell takes it literally between double quotes.
static bool is_literal(const char *text)
{
    for (const char *at = text; *at; at++)
        if (strchr("$`\"\\", *at) || iscntrl((unsigned char)*at))
            return false;
    return true;
}

// An option as the host compiler reads it from a file: prefix and value are one word, whatever they hold.
static void write_option(FILE *file, const char *prefix, const char *value)
{
    fprintf(file, "\"%s", prefix);
    for (; *value; value++)
        fprintf(file, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
    fprintf(file, "\"\n");
}

// A folder or file, named in full because nvcc runs in another one.
static heddle_status write_path(FILE *file, const char *prefix, const char *path)
{
    char here[PATH_MAX], whole[2 * PATH_MAX];
    if (!getcwd(here, sizeof here))
        return heddle_fail(HEDDLE_IO, "the working folder: %s", strerror(errno));
    snprintf(whole, sizeof whole, "%s%s%s", path[0] == '/' ? "" : here, path[0] == '/' ? "" : "/", path);
    write_option(file, prefix, whole);
    return HEDDLE_OK;
}

static heddle_status write_options(const heddle_check_options *options, FILE *file)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; status == HEDDLE_OK && options->include && options->include[i]; i++)
        status = write_path(file, "-I", options->include[i]);
    for (int i = 0; options->define && options->define[i]; i++)
        write_option(file, "-D", options->define[i]);
    for (int i = 0; status == HEDDLE_OK && options->compile && options->compile[i]; i++) {
        // One that is not here is searched for like every header.
        bool is_file =
            i > 0 && strcmp(options->compile[i - 1], "-include") == 0 && access(options->compile[i], F_OK) == 0;
        if (is_file)
            status = write_path(file, "", options->compile[i]);
        else
            write_option(file, "", options->compile[i]);
    }
    for (int i = 0; status == HEDDLE_OK && options->sources[i]; i++) {
        const char *slash = strrchr(options->sources[i], '/');
        char *folder = slash ? strndup(options->sources[i], (size_t)(slash + 1 - options->sources[i])) : strdup(".");
        status = folder ? write_path(file, "-iquote", folder) : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory");
        free(folder);
    }
    return status;
}

static heddle_status close_written(FILE *file, const char *path, heddle_status status)
{
    bool written = !ferror(file);
    if ((fclose(file) != 0 || !written) && status == HEDDLE_OK)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    return status;
}

static heddle_status write_options_file(const heddle_check_options *options, const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/options", folder);
    FILE *file = fopen(path, "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    return close_written(file, path, write_options(options, file));
}

static heddle_status write_source(const char *source, const char *folder, int number)
{
    char path[PATH_MAX], whole[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.cu", folder, number);
    if (!realpath(source, whole))
        return heddle_fail(HEDDLE_IO, "%s: %s", source, strerror(errno));
    FILE *file = fopen(path, "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    fprintf(file, "#include \"%s\"\n", whole);
    return close_written(file, path, HEDDLE_OK);
}

// The headers of NVIDIA's samples are not in the toolkit, but the simulator has them, and they are plain CUDA. nvcc
// must not see its other headers, so these alone are linked into a folder of their own.
static void link_helpers(const char *folder)
{
    static const char *const names[] = {"helper_cuda.h",   "helper_functions.h", "helper_image.h", "helper_math.h",
                                        "helper_string.h", "helper_timer.h",     "exception.h"};
    const char *headers = sim_build_headers();
    if (headers[0] == '\0' || heddle_folder_create(folder) != HEDDLE_OK)
        return; // then nvcc says which header it lacks
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char from[PATH_MAX], to[PATH_MAX];
        snprintf(from, sizeof from, "%s/%s", headers, names[i]);
        snprintf(to, sizeof to, "%s/%s", folder, names[i]);
        if (symlink(from, to) != 0)
            return;
    }
}

// --- asking ----------------------------------------------------------------------------------------------------------

// Runs in the folder, where its temporary files go too, so that they are swept with ours: it leaves them when it is
// killed.
static heddle_status start(heddle_check_opinion *opinion, char *const *arguments, const char *folder)
{
    char temporary[PATH_MAX], here[PATH_MAX];
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    snprintf(here, sizeof here, "PWD=%s", folder);
    // Options from the environment would have it do something else.
    const char *const environment[] = {temporary, here, "NVCC_APPEND_FLAGS=", "NVCC_PREPEND_FLAGS=", NULL};
    int file = open(opinion->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE);
    if (file < 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", opinion->output, strerror(errno));
    heddle_child_options how = {
        .argv = arguments,
        .environment = environment,
        .folder = folder,
        .input = -1,
        .output = file,
        .errors = file,
        .seconds = longest,
        .memory = opinion->options->memory ? opinion->options->memory : heddle_child_usual_memory(),
        .polite = true,
        .stop = opinion->stop,
    };
    heddle_status status = heddle_child_start(&opinion->child, &how);
    close(file);
    opinion->asked = status == HEDDLE_OK;
    return status;
}

// The command line: flags, then the sources that were written.
static heddle_status ask_about(heddle_check_opinion *opinion, char *nvcc, char *folder, int files)
{
    char names[MOST_FILES][16], standard[32];
    char *arguments[MOST_FLAGS + MOST_FILES + 1] = {nvcc};
    int count = 1;
    for (int i = 0; flags[i]; i++)
        arguments[count++] = (char *)flags[i];
    if (opinion->separate || opinion->options->separate)
        arguments[count++] = "-rdc=true";
    arguments[count++] = "-std";
    arguments[count++] = (char *)standard_for_nvcc(opinion->options->standard, standard, sizeof standard);
    for (int i = 0; i < files; i++) {
        snprintf(names[i], sizeof names[i], "%d.cu", i);
        arguments[count++] = names[i];
    }
    return start(opinion, arguments, folder);
}

static heddle_status ask(heddle_check_opinion *opinion)
{
    const heddle_check_options *options = opinion->options;
    char nvcc[HEDDLE_PLACE_SIZE], folder[600], helpers[700];
    if (options->nvcc == HEDDLE_CHECK_NVCC_NEVER)
        return HEDDLE_OK;
    if (!heddle_find_nvcc(nvcc))
        return options->nvcc == HEDDLE_CHECK_NVCC_ALWAYS
                   ? heddle_fail(HEDDLE_MISSING, "--nvcc: nvcc is neither on PATH nor in /usr/local/cuda/bin; install "
                                                 "the CUDA toolkit or leave the option out")
                   : HEDDLE_OK;
    heddle_check_folder_path(opinion->folder, "nvcc", folder, sizeof folder);
    heddle_check_folder_path(opinion->folder, "nvcc.txt", opinion->output, sizeof opinion->output);
    if (!is_literal(nvcc) || !is_literal(folder))
        return heddle_fail(HEDDLE_INVALID,
                           "%s: nvcc would run the special characters in this name as a shell command; %s, or check "
                           "with --no-nvcc",
                           is_literal(nvcc) ? folder : nvcc,
                           is_literal(nvcc) ? "set TMPDIR to another folder" : "install it elsewhere");
    HEDDLE_TRY(heddle_folder_create(folder));
    HEDDLE_TRY(write_options_file(options, folder));
    snprintf(helpers, sizeof helpers, "%s/helpers", folder);
    link_helpers(helpers);
    int files = 0;
    for (int i = 0; options->sources[i] && files < MOST_FILES; i++)
        if (is_cuda(options, options->sources[i]))
            HEDDLE_TRY(write_source(options->sources[i], folder, files++));
    return files ? ask_about(opinion, nvcc, folder, files) : HEDDLE_OK;
}

heddle_status heddle_check_opinion_ask(heddle_check_opinion *opinion, const heddle_check_options *options,
                                       const heddle_check_folder *folder, const volatile int *stop)
{
    *opinion = (heddle_check_opinion){.options = options, .folder = folder, .stop = stop};
    return ask(opinion);
}

// --- what it says ----------------------------------------------------------------------------------------------------

static bool is_about_initialiser(const char *message)
{
    return strstr(message, "initializer") && strstr(message, "__shared__");
}

// What is wrong whatever the version of the toolkit: the others may be names that this one has dropped.
static bool is_about_legality(const char *message)
{
    return (strstr(message, "calling a") && strstr(message, "is not allowed")) ||
           (strstr(message, "undefined in device code")) || strstr(message, "is not allowed in device code") ||
           is_about_initialiser(message) || (strstr(message, "__global__") && strstr(message, "must"));
}

// NULL: what usually cures it.
static const char *cure_of(const char *message)
{
    if (!is_about_legality(message))
        return "Another version of the toolkit may accept it; this one does not.";
    if (strstr(message, "must be configured"))
        return "Launch the kernel with its grid and block: kernel<<<blocks, threads>>>(arguments).";
    if (is_about_initialiser(message))
        return "Declare it without a value, let the threads write it, and put __syncthreads() behind that.";
    bool about_call = strstr(message, "calling a") || strstr(message, "device code");
    return about_call ? NULL : "Change the kernel as nvcc says.";
}

// Launching a kernel from a kernel is legal, but nvcc needs an option for it.
static bool wants_flag(const char *message)
{
    return strstr(message, "launch from __device__ or __global__") && strstr(message, "separate compilation mode");
}

// "FILE(LINE): error: MESSAGE"
typedef struct remark {
    char text[LONGEST_LINE];
    const char *file, *message;
    int line;
} remark;

static bool read_remark(const char *text, size_t length, remark *said)
{
    snprintf(said->text, sizeof said->text, "%.*s", (int)length, text);
    char *mark = strstr(said->text, "): error");
    char *open = mark;
    while (open && open > said->text && *open != '(')
        open--;
    if (!mark || open == said->text)
        return false;
    *mark = '\0';
    *open = '\0';
    const char *message = strchr(mark + 1, ' ');
    message = message ? strchr(message + 1, ' ') : NULL;
    said->file = said->text;
    said->line = (int)strtol(open + 1, NULL, 10);
    said->message = message ? message + 1 : "error";
    return true;
}

static heddle_status note_flag(const remark *said, heddle_check_result *result)
{
    for (int i = 0; i < result->note_count; i++)
        if (strstr(result->notes[i], "-rdc=true"))
            return HEDDLE_OK;
    char name[PATH_MAX];
    return heddle_check_result_note(result, "%s:%d launches a kernel from a kernel: build it with nvcc -rdc=true",
                                    heddle_check_short_path(said->file, name, sizeof name), said->line);
}

static heddle_status add_remark(const remark *said, heddle_check_result *result)
{
    heddle_check_place place = {.role = "source", .frames = 1};
    char *absolute = realpath(said->file, NULL);
    place.frame[0] = (heddle_check_frame){
        .file = heddle_arena_copy_text(result->arena, absolute ? absolute : said->file),
        .line = said->line,
        .function = "",
    };
    free(absolute);
    char *message = NULL;
    if (asprintf(&message, "nvcc: %s", said->message) < 0)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for nvcc's messages");
    bool illegal = is_about_legality(message);
    heddle_check_finding finding = {
        .kind = HEDDLE_CHECK_NOT_LEGAL,
        .tier = illegal ? HEDDLE_CHECK_ERROR : HEDDLE_CHECK_WARNING,
        .cure = cure_of(message),
        .count = 1,
        .message = heddle_arena_copy_text(result->arena, message),
        .note = "",
        .places = &place,
        .place_count = 1,
    };
    free(message);
    return heddle_check_result_add_finding(result, &finding);
}

static heddle_status read_remarks(const char *text, bool flags_alone, heddle_check_result *result)
{
    remark said = {.line = 0};
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (!read_remark(text, length, &said))
            continue;
        if (wants_flag(said.message))
            HEDDLE_TRY(note_flag(&said, result));
        else if (!flags_alone)
            HEDDLE_TRY(add_remark(&said, result));
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_opinion_read(const char *text, heddle_check_result *result)
{
    return read_remarks(text, false, result);
}

// Where it wanted a flag, it looked no further: what the rest is worth it says with that flag.
static heddle_status ask_again(heddle_check_opinion *opinion, const char *text, heddle_check_result *result)
{
    opinion->asked = false;
    opinion->separate = true;
    HEDDLE_TRY(read_remarks(text, true, result));
    return ask(opinion);
}

// The line that says why: those before it may say what included the file.
static const char *first_error(const char *text)
{
    const char *error = strstr(text, "error:");
    while (error && error > text && error[-1] != '\n')
        error--;
    return error ? error : text;
}

static heddle_status set_unanswered(heddle_check_result *result, const char *format, ...) HEDDLE_PRINTF(2, 3);
static heddle_status set_unanswered(heddle_check_result *result, const char *format, ...)
{
    char why[LONGEST_LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    result->nvcc = HEDDLE_CHECK_NO_ANSWER;
    result->unanswered = heddle_arena_copy_text(result->arena, why);
    return heddle_check_result_note(result,
                                    "%s, so it is not known whether the source is legal CUDA; --no-nvcc checks "
                                    "without it",
                                    why);
}

static heddle_status judge_answer(heddle_check_opinion *opinion, const char *text, heddle_check_result *result,
                                  bool *again)
{
    int before = result->finding_count;
    *again = !opinion->separate && wants_flag(text);
    if (*again)
        return ask_again(opinion, text, result);
    // Its parts are processes: one that was killed, by a machine without memory, say, has judged nothing.
    if (strstr(text, "died due to signal"))
        return set_unanswered(result, "nvcc was stopped");
    HEDDLE_TRY(heddle_check_opinion_read(text, result));
    if (result->finding_count > before) {
        result->nvcc = HEDDLE_CHECK_REJECTED;
        return HEDDLE_OK;
    }
    // A header of a library that only the simulator has is no fault of the source.
    const char *why = first_error(text);
    result->nvcc = HEDDLE_CHECK_NOT_JUDGED;
    return heddle_check_result_note(result, "nvcc could not judge the source: %.*s", (int)strcspn(why, "\n"), why);
}

static heddle_status read_answer(heddle_check_opinion *opinion, heddle_check_result *result, bool *again)
{
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(opinion->output, LARGEST_OUTPUT, &text, &size));
    heddle_status status = judge_answer(opinion, text, result, again);
    free(text);
    return status;
}

heddle_status heddle_check_opinion_hear(heddle_check_opinion *opinion, heddle_check_result *result)
{
    bool again = true;
    while (again && opinion->asked) {
        char time[32];
        again = false;
        heddle_child_wait(&opinion->child, -1);
        if (opinion->child.keeper.error)
            return set_unanswered(result, "nvcc cannot be started: %s", strerror(opinion->child.keeper.error));
        switch (opinion->child.end) {
        case HEDDLE_CHILD_RUNNING:
        case HEDDLE_CHILD_STOPPED: return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
        case HEDDLE_CHILD_TIMED_OUT:
            return set_unanswered(result, "nvcc did not answer within %s",
                                  heddle_text_seconds(longest, time, sizeof time));
        case HEDDLE_CHILD_SIGNALLED:
        case HEDDLE_CHILD_TOO_LARGE: return set_unanswered(result, "nvcc was stopped");
        case HEDDLE_CHILD_EXITED:
            result->nvcc = HEDDLE_CHECK_ACCEPTED;
            if (opinion->child.code != 0)
                HEDDLE_TRY(read_answer(opinion, result, &again));
        }
    }
    return HEDDLE_OK;
}
