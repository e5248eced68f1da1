// `heddle lsp`: a language server on standard input and output, for editors.

#include "lsp/lsp.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/interrupt.h"

typedef struct lsp_settings {
    double timeout, budget;
    bool in_place, only_saves, stdio;
} lsp_settings;

#define PLACE(field) offsetof(lsp_settings, field)

static const heddle_cli_option options[] = {
    {"timeout", HEDDLE_CLI_NUMBER, PLACE(timeout), "SECONDS", "30", "time limit for each run of a program", 0.1, 1e6,
     NULL},
    {"budget", HEDDLE_CLI_NUMBER, PLACE(budget), "SECONDS", "5",
     "watch every access for about this long in each run, as with `heddle check`", 0.001, 1e6, NULL},
    {"in-place", HEDDLE_CLI_FLAG, PLACE(in_place), NULL, NULL,
     "run a program in the folder of its file, where it may then write; default: in an empty temporary folder", 0, 0,
     NULL},
    {"only-saves", HEDDLE_CLI_FLAG, PLACE(only_saves), NULL, NULL,
     "check a file when it is saved, not when it is opened", 0, 0, NULL},
    {"stdio", HEDDLE_CLI_FLAG, PLACE(stdio), NULL, NULL, "talk on standard input and output, which is the default", 0,
     0, NULL},
};

// The protocol gets a descriptor of its own, and standard output leads to standard error: whoever prints cannot break
// it.
static heddle_status take_output(int *output)
{
    *output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (*output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return heddle_fail(HEDDLE_IO, "standard output or standard error is closed: an editor starts this command");
    return HEDDLE_OK;
}

static int run_command(int argc, char **argv)
{
    const double accesses_per_second = 100; // in millions, as `heddle check` has it
    lsp_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code, output = -1;
    bool orderly = false;
    if (!heddle_cli_parse(&heddle_command_lsp, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (isatty(STDIN_FILENO))
        return heddle_cli_usage(&heddle_command_lsp, "an editor starts this command; docs/editors.md says how");
    heddle_status status = take_output(&output);
    heddle_cli_stop_gently(&(heddle_cli_gently){0});
    if (status == HEDDLE_OK)
        status = heddle_lsp_serve(&(heddle_lsp_options){.input = STDIN_FILENO,
                                                        .output = output,
                                                        .seconds = settings.timeout,
                                                        .budget = settings.budget * accesses_per_second,
                                                        .in_place = settings.in_place,
                                                        .only_saves = settings.only_saves,
                                                        .stopped = &heddle_cli_interrupted},
                                  &orderly);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (heddle_cli_interrupted)
        return heddle_cli_interrupt_code();
    return orderly ? HEDDLE_EXIT_OK : HEDDLE_EXIT_FAILED;
}

const heddle_cli_command heddle_command_lsp = {
    .name = "lsp",
    .summary = "show findings and counters in an editor, as a language server",
    .description =
        "Speaks the language server protocol on standard input and output; an editor starts it. docs/editors.md has "
        "configurations for VS Code, Neovim, Emacs and Helix.\n\n"
        "A CUDA file is checked when it is opened and each time it is saved. Findings are shown at their lines, with "
        "the "
        "other access as related information. Hovers and inlay hints show the counters of a line: memory sectors, bank "
        "conflicts and divergent branches.\n\n"
        "A file without main is not checked unless a comment near its top says how. It may name other files, -I, -D, "
        "-std, --op, --shape, --gpu and, after --, arguments:\n"
        "  // heddle: check main.cu -I include -- 1024\n"
        "  // heddle: check --op matmul\n\n"
        "Programs run contained, as with `heddle check`, and in an empty temporary folder, so that they can write "
        "nothing else. With --in-place they run in the folder of their file and can write there, too.\n\n"
        "Exit codes:\n"
        "  0    the editor has ended it with shutdown and exit\n"
        "  1    the editor has gone without shutdown\n"
        "  2    wrong usage",
    .example = "heddle lsp\nheddle lsp --in-place --timeout 10",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
