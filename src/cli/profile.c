// `heddle profile`: where a program's time goes. heddle's own training has a profile by layer and operator
// (train_profile.c), any other program one by kernel (trace.c); one kernel is looked at with ncu (profile/ncu.c).

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/append.h"
#include "base/place.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/trace.h"
#include "profile/ncu.h"

enum { PATH_SIZE = 4096, READ_SIZE = 1 << 16, LARGEST_OUTPUT = 1 << 26, MORE_WORDS = 64 };

typedef struct profile_settings {
    heddle_cli_trace trace;
    const char *kernel;
} profile_settings;

static const heddle_cli_option options[] = {
    {"out", HEDDLE_CLI_TEXT, offsetof(profile_settings, trace.out), "FILE", NULL,
     "write the timeline for ui.perfetto.dev, best as FILE.pftrace", 0, 0, NULL},
    {"kernel", HEDDLE_CLI_TEXT, offsetof(profile_settings, kernel), "NAME", NULL,
     "look at the kernel of this name with NVIDIA's ncu: speed of light, occupancy, registers, spills, what limits it",
     0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(profile_settings, trace.json)),
};

// --- heddle train ----------------------------------------------------------------------------------------------------

static bool trains(char **words)
{
    const char *slash = strrchr(words[0], '/');
    return strcmp(slash ? slash + 1 : words[0], "heddle") == 0 && words[1] && strcmp(words[1], "train") == 0;
}

// Becomes that command, with --profile: what it prints and how it ends is its own.
static int run_training(char **words, int count, const profile_settings *settings)
{
    char profile[PATH_SIZE + 16], json[PATH_SIZE + 16];
    char **all = calloc((size_t)count + 4, sizeof *all);
    if (!all)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a command line"));
    int used = 0;
    all[used++] = words[0];
    all[used++] = words[1];
    snprintf(profile, sizeof profile, settings->trace.out ? "--profile=%s" : "--profile", settings->trace.out);
    all[used++] = profile;
    snprintf(json, sizeof json, settings->trace.json.file ? "--json=%s" : "--json", settings->trace.json.file);
    if (settings->trace.json.print || settings->trace.json.file)
        all[used++] = json;
    for (int i = 2; i < count; i++)
        all[used++] = words[i];
    fflush(NULL);
    execvp(all[0], all);
    if (errno == ENOENT && strcmp(words[0], "heddle") == 0) // not installed: use this program
        execv("/proc/self/exe", all);
    heddle_status status = heddle_fail(HEDDLE_IO, "cannot run %s: %s", words[0], strerror(errno));
    free(all);
    return heddle_cli_fail(status);
}

// --- ncu -------------------------------------------------------------------------------------------------------------

static heddle_status find_ncu(char path[HEDDLE_PLACE_SIZE])
{
    static const char *const places[] = {"/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu"};
    if (heddle_find_program("ncu", "", path))
        return HEDDLE_OK;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0) {
            snprintf(path, HEDDLE_PLACE_SIZE, "%s", places[i]);
            return HEDDLE_OK;
        }
    return heddle_fail(HEDDLE_MISSING,
                       "ncu was not found: install Nsight Compute (package nsight-compute of NVIDIA's repository) or "
                       "add its folder to PATH");
}

// In the child: never returns. What ncu and the program print on standard output goes to the pipe.
static void run_ncu(const char *ncu, char **words, int count, const char *kernel, int pipe_end)
{
    char pattern[PATH_SIZE];
    const char **all = calloc((size_t)count + MORE_WORDS, sizeof *all);
    int used = 0;
    if (!all)
        _exit(HEDDLE_EXIT_FAILED);
    snprintf(pattern, sizeof pattern, "regex:^%s$", kernel);
    all[used++] = ncu;
    for (int i = 0; heddle_ncu_options[i]; i++)
        all[used++] = heddle_ncu_options[i];
    all[used++] = "--kernel-name";
    all[used++] = pattern;
    for (int i = 0; i < count; i++)
        all[used++] = words[i];
    dup2(pipe_end, STDOUT_FILENO);
    close(pipe_end);
    execv(ncu, (char *const *)all);
    fprintf(stderr, "heddle: cannot run %s: %s\n", ncu, strerror(errno));
    _exit(HEDDLE_EXIT_FAILED);
}

static heddle_status read_all(int from, char **text)
{
    size_t size = 0, room = READ_SIZE;
    *text = malloc(room + 1);
    while (*text) {
        const ssize_t got = read(from, *text + size, room - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return heddle_fail(HEDDLE_IO, "cannot read what ncu prints: %s", strerror(errno));
        if (got == 0)
            break;
        size += (size_t)got;
        if (size < room)
            continue;
        char *grown = room < LARGEST_OUTPUT ? realloc(*text, 2 * room + 1) : NULL;
        if (!grown)
            return heddle_fail(HEDDLE_CORRUPT, "the program prints more than %d MiB; send its output elsewhere",
                               LARGEST_OUTPUT >> 20);
        *text = grown;
        room *= 2;
    }
    if (!*text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for what ncu prints");
    (*text)[size] = '\0';
    return HEDDLE_OK;
}

static heddle_status profile_kernel(char **words, int count, const profile_settings *settings,
                                    heddle_ncu_kernel *kernel)
{
    char ncu[HEDDLE_PLACE_SIZE], *text = NULL;
    int ends[2], outcome;
    HEDDLE_TRY(find_ncu(ncu));
    HEDDLE_TRY(heddle_cli_can_write(settings->trace.json.file));
    fflush(NULL);
    if (pipe(ends) != 0)
        return heddle_fail(HEDDLE_IO, "cannot make a pipe: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_ncu(ncu, words, count, settings->kernel, ends[1]);
    }
    close(ends[1]);
    heddle_status status =
        child < 0 ? heddle_fail(HEDDLE_IO, "cannot start ncu: %s", strerror(errno)) : read_all(ends[0], &text);
    close(ends[0]); // ends a program whose output was too much
    while (child > 0 && waitpid(child, &outcome, 0) < 0 && errno == EINTR)
        continue;
    if (status == HEDDLE_OK)
        status = heddle_ncu_read(text, kernel);
    free(text);
    return status;
}

static int show_kernel(char **words, int count, const profile_settings *settings)
{
    heddle_ncu_kernel kernel;
    heddle_status status = profile_kernel(words, count, settings, &kernel);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (!settings->trace.json.print)
        heddle_ncu_print(&kernel, stdout);
    return heddle_cli_json_exit(&settings->trace.json, heddle_ncu_json(&kernel));
}

// --- the command -----------------------------------------------------------------------------------------------------

static int run_command(int argc, char **argv)
{
    profile_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_profile, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (settings.kernel && settings.trace.out)
        return heddle_cli_usage(&heddle_command_profile,
                                "--kernel measures one kernel and writes no timeline: leave out --out");
    arguments.items[arguments.count] = NULL; // for execvp; argv has room for it
    if (settings.kernel)
        return show_kernel(arguments.items, arguments.count, &settings);
    if (trains(arguments.items))
        return run_training(arguments.items, arguments.count, &settings);
    return heddle_cli_trace_program(arguments.items, &settings.trace);
}

const heddle_cli_command heddle_command_profile = {
    .name = "profile",
    .summary = "show where the time of a program goes: layers, operators, kernels",
    .arguments = "-- PROGRAM [ARGUMENT...]",
    .least_arguments = 1,
    .most_arguments = 1 << 16,
    .description =
        "For `heddle train` this is its option --profile: a table by layer, operator and rung, on every "
        "device. Any other CUDA program needs a GPU and is shown kernel by kernel, as in `heddle trace`. With "
        "--kernel, one "
        "kernel is measured by NVIDIA's ncu, which must be installed and allowed to read the GPU's counters.",
    .example = "heddle profile -- heddle train --data synth --epochs 1\n"
               "heddle profile --out program.pftrace -- ./my_program 1024\n"
               "heddle profile --kernel saxpy -- ./my_program 1024",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
