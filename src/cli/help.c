// `heddle help`: the overview, the page of one command, and the same tables as a manual page or shell completion.

#include <string.h>

#include "cli/cli.h"

enum { PRINT_TERMINAL, PRINT_BASH, PRINT_ZSH, PRINT_FISH };

typedef struct help_settings {
    bool manual;
    int completion;
} help_settings;

static const char *const shells[] = {"none", "bash", "zsh", "fish", NULL};

static const heddle_cli_option options[] = {
    {"manual", HEDDLE_CLI_FLAG, offsetof(help_settings, manual), NULL, NULL, "print the manual page in troff", 0, 0,
     NULL},
    {"completion", HEDDLE_CLI_CHOICE, offsetof(help_settings, completion), "SHELL", "none",
     "print a completion script for this shell", 0, 0, shells},
};

void heddle_cli_print_overview(FILE *file)
{
    fputs("Usage: heddle [--log LEVEL] COMMAND [OPTIONS]\n"
          "       heddle --help | --version\n\n"
          "CUDA, from the first kernel to a training engine, with or without a GPU.\n\n"
          "Commands:\n",
          file);
    heddle_cli_print_commands(file, heddle_cli_commands());
    fputs("\n`heddle COMMAND --help` shows the options of a command and an example.\nExit codes: 0 success, 1 the work "
          "failed, 2 wrong usage, 3 something is missing on this machine,\n130 interrupted.\n\nExample:\n  heddle "
          "train --data fashion\n",
          file);
}

static int print_command(const heddle_cli_arguments *arguments)
{
    const heddle_cli_command *command = heddle_cli_find(heddle_cli_commands(), arguments->items[0]);
    if (command != NULL && arguments->count > 1) {
        const heddle_cli_topic *topic = heddle_cli_find_topic(command, arguments->items[1]);
        if (topic != NULL) {
            heddle_cli_print_topic(command, topic, stdout);
            return HEDDLE_EXIT_OK;
        }
        if (command->topics != NULL)
            return heddle_cli_usage(&heddle_command_help, "%s has no topic '%s'; see `heddle help %s`", command->name,
                                    arguments->items[1], command->name);
        if (command->actions == NULL)
            return heddle_cli_usage(&heddle_command_help, "%s has no actions, but got '%s'", command->name,
                                    arguments->items[1]);
        command = heddle_cli_find(command->actions, arguments->items[1]);
    }
    if (command == NULL)
        return heddle_cli_usage(&heddle_command_help, "%s", heddle_last_error());
    heddle_cli_print_help(command, stdout);
    return HEDDLE_EXIT_OK;
}

static int run_command(int argc, char **argv)
{
    help_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_help, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (settings.manual)
        heddle_cli_print_manual(stdout);
    else if (settings.completion == PRINT_BASH)
        heddle_cli_print_completion_bash(stdout);
    else if (settings.completion == PRINT_ZSH)
        heddle_cli_print_completion_zsh(stdout);
    else if (settings.completion == PRINT_FISH)
        heddle_cli_print_completion_fish(stdout);
    else if (arguments.count > 0)
        return print_command(&arguments);
    else
        heddle_cli_print_overview(stdout);
    return HEDDLE_EXIT_OK;
}

const heddle_cli_command heddle_command_help = {
    .name = "help",
    .summary = "list the commands, or explain one of them",
    .arguments = "[COMMAND [ACTION|TOPIC]]",
    .most_arguments = 2,
    .example =
        "heddle help train\nheddle help data show\nheddle help bench train\nsource <(heddle help --completion bash)",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
