// Finds a command or an action by name, reads its command line, and runs it.

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

enum { MOST_COMMANDS = 64 };

static const heddle_cli_command *const *all_commands;

void heddle_cli_set_commands(const heddle_cli_command *const *commands)
{
    all_commands = commands;
}

const heddle_cli_command *const *heddle_cli_commands(void)
{
    return all_commands;
}

const char *heddle_cli_last_word(const char *name)
{
    const char *space = strrchr(name, ' ');
    return space != NULL ? space + 1 : name;
}

const heddle_cli_command *heddle_cli_find(const heddle_cli_command *const *commands, const char *name)
{
    const char *names[MOST_COMMANDS] = {NULL};
    int count = 0;
    for (int i = 0; commands[i] != NULL && count < MOST_COMMANDS; i++) {
        names[count] = heddle_cli_last_word(commands[i]->name);
        if (strcmp(names[count++], name) == 0)
            return commands[i];
    }
    const char *nearest = heddle_text_nearest(name, names, count);
    const char *kind = count > 0 && names[0] != commands[0]->name ? "action" : "command";
    if (nearest != NULL)
        heddle_fail(HEDDLE_INVALID, "unknown %s '%s'; did you mean %s?", kind, name, nearest);
    else
        heddle_fail(HEDDLE_INVALID, "unknown %s '%s'; --help lists them", kind, name);
    return NULL;
}

bool heddle_cli_parse(const heddle_cli_command *command, int argc, char **argv, void *settings,
                      heddle_cli_arguments *arguments, int *exit_code)
{
    heddle_status status = heddle_cli_parse_options(command, argc, argv, settings, arguments);
    if (status != HEDDLE_OK) {
        *exit_code = heddle_cli_usage(command, "%s", heddle_last_error());
        return false;
    }
    if (arguments->version) {
        heddle_cli_print_version(stdout);
        *exit_code = HEDDLE_EXIT_OK;
        return false;
    }
    if (arguments->help) {
        const heddle_cli_topic *topic =
            arguments->count > 0 ? heddle_cli_find_topic(command, arguments->items[0]) : NULL;
        if (topic != NULL)
            heddle_cli_print_topic(command, topic, stdout);
        else
            heddle_cli_print_help(command, stdout);
        *exit_code = HEDDLE_EXIT_OK;
        return false;
    }
    return true;
}

int heddle_cli_run_action(const heddle_cli_command *command, int argc, char **argv)
{
    if (argc > 1 && argv[1][0] != '-') {
        const heddle_cli_command *action = heddle_cli_find(command->actions, argv[1]);
        if (action == NULL)
            return heddle_cli_usage(command, "%s", heddle_last_error());
        return action->run(argc - 1, argv + 1);
    }
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(command, argc, argv, NULL, &arguments, &exit_code))
        return exit_code;
    heddle_cli_print_help(command, stderr);
    return HEDDLE_EXIT_USAGE;
}
