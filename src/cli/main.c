// The command `heddle`: reads the options before the command's name, runs the command, and checks that its output was
// written.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/interrupt.h"

// Only this file refers to all of them, so that a test can link one without the rest.
static const heddle_cli_command *const commands[] = {
    &heddle_command_learn,    &heddle_command_train,
    &heddle_command_runs,     &heddle_command_serve,
    &heddle_command_eval,     &heddle_command_predict,
    &heddle_command_export,   &heddle_command_import,
    &heddle_command_bench,    &heddle_command_check,
    &heddle_command_explain,  &heddle_command_lsp,
    &heddle_command_pipeline, &heddle_command_profile,
    &heddle_command_trace,    &heddle_command_data,
    &heddle_command_ops,      &heddle_command_devices,
    &heddle_command_doctor,   &heddle_command_help,
    &heddle_command_version,  NULL,
};

// "heddle --log debug train": the part before the command's name, parsed as a command of its own.
static const heddle_cli_command front = {.name = "help"};

static int unknown_option(const char *name)
{
    static const char *const known[] = {"--help", "--version", "--log"};
    const char *nearest = heddle_text_nearest(name, known, sizeof known / sizeof *known);
    if (nearest != NULL)
        return heddle_cli_fail(heddle_fail(HEDDLE_INVALID, "unknown option %s; did you mean %s?", name, nearest));
    return heddle_cli_fail(heddle_fail(HEDDLE_INVALID, "unknown option %s; `heddle help` lists the commands", name));
}

static int run(int argc, char **argv)
{
    int first = 1;
    while (first < argc && strncmp(argv[first], "--log", 5) == 0)
        first += strchr(argv[first], '=') != NULL ? 1 : 2;
    if (first > argc)
        first = argc;
    heddle_cli_arguments arguments;
    heddle_status status = heddle_cli_parse_options(&front, first, argv, NULL, &arguments);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (first == argc) {
        heddle_cli_print_overview(stderr);
        return HEDDLE_EXIT_USAGE;
    }
    const char *name = argv[first];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        heddle_cli_print_version(stdout);
        return HEDDLE_EXIT_OK;
    }
    if (name[0] == '-')
        return unknown_option(name);
    const heddle_cli_command *command = heddle_cli_find(commands, name);
    if (command == NULL)
        return heddle_cli_fail(HEDDLE_INVALID);
    return command->run(argc - first, argv + first);
}

int main(int argc, char **argv)
{
    heddle_cli_set_name(argv[0]);
    heddle_cli_set_commands(commands);
    heddle_cli_catch_interrupts();
    signal(SIGXFSZ, SIG_IGN); // a write beyond `ulimit -f` then fails like one to a full disk
    int exit_code = run(argc, argv);
    errno = 0;
    bool lost = fflush(stdout) != 0;
    int error = errno;
    if ((lost || ferror(stdout)) && error != EPIPE) {
        // An earlier failure has left no errno of its own.
        fprintf(stderr, "heddle: cannot write to standard output%s%s\n", error ? ": " : "",
                error ? strerror(error) : "");
        return exit_code != HEDDLE_EXIT_OK ? exit_code : HEDDLE_EXIT_FAILED;
    }
    return exit_code;
}
