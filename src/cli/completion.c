// Completion for bash, zsh and fish, from the tables of the commands: commands, actions, options and the values of
// options that have a few. Everything else completes file names.

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

// In single quotes for a shell, with `special` characters escaped by a backslash first.
static void print_quoted(FILE *file, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", file);
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', file);
        fputc(*text, file);
    }
}

static void print_names(FILE *file, const heddle_cli_command *const *commands)
{
    for (int i = 0; commands[i] != NULL; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", heddle_cli_last_word(commands[i]->name));
}

// Calls `print` for the command's own options and the common ones.
typedef void option_printer(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option);

static void each_option(FILE *file, const heddle_cli_command *command, option_printer *print)
{
    for (int i = 0; i < command->option_count; i++)
        print(file, command, &command->options[i]);
    for (int i = 0; i < heddle_cli_common_option_count; i++)
        print(file, command, &heddle_cli_common_options[i]);
}

// --- bash ------------------------------------------------------------------------------------------------------------

static void bash_choices(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    if (option->kind == HEDDLE_CLI_FLAG || option->kind == HEDDLE_CLI_JSON)
        return;
    fprintf(file, "    '%s --%s') words='", command->name, option->name);
    for (int i = 0; option->kind == HEDDLE_CLI_CHOICE && option->choices[i] != NULL; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", option->choices[i]);
    fputs("' ;;\n", file);
}

static void bash_option(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    (void)command;
    fprintf(file, " --%s", option->name);
}

static void bash_command(FILE *file, const heddle_cli_command *command)
{
    each_option(file, command, bash_choices);
    fprintf(file, "    '%s '*) words='", command->name);
    if (command->actions != NULL)
        print_names(file, command->actions);
    each_option(file, command, bash_option);
    fputs("' ;;\n", file);
}

void heddle_cli_print_completion_bash(FILE *file)
{
    fputs("# Completion of heddle in bash. Made by `heddle help --completion bash`.\n"
          "_heddle() {\n"
          "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD - 1]}\" words=''\n"
          "  local command=\"${COMP_WORDS[1]}\"\n"
          "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "    words='",
          file);
    print_names(file, heddle_cli_commands);
    fputs(" --help --version'\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    return\n"
          "  fi\n"
          "  case \"$command ${COMP_WORDS[2]}\" in\n",
          file);
    for (int i = 0; heddle_cli_commands[i] != NULL; i++)
        for (int k = 0; heddle_cli_commands[i]->actions != NULL && heddle_cli_commands[i]->actions[k] != NULL; k++)
            fprintf(file, "    '%s') [ \"$COMP_CWORD\" -gt 2 ] && command='%s' ;;\n",
                    heddle_cli_commands[i]->actions[k]->name, heddle_cli_commands[i]->actions[k]->name);
    fputs("  esac\n"
          "  case \"$command $previous\" in\n",
          file);
    for (int i = 0; heddle_cli_commands[i] != NULL; i++) {
        for (int k = 0; heddle_cli_commands[i]->actions != NULL && heddle_cli_commands[i]->actions[k] != NULL; k++)
            bash_command(file, heddle_cli_commands[i]->actions[k]);
        bash_command(file, heddle_cli_commands[i]);
    }
    fputs("  esac\n"
          "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "}\n"
          "complete -o default -F _heddle heddle\n",
          file);
}

// --- zsh -------------------------------------------------------------------------------------------------------------

static void zsh_option(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    (void)command;
    fprintf(file, " \\\n        '%s--%s%s[", option->kind == HEDDLE_CLI_LIST ? "*" : "", option->name,
            option->kind == HEDDLE_CLI_FLAG ? "" : "=");
    print_quoted(file, option->help, "[]:\\");
    fputc(']', file);
    if (option->kind == HEDDLE_CLI_CHOICE) {
        fprintf(file, ":%s:(", option->value);
        for (int i = 0; option->choices[i] != NULL; i++)
            fprintf(file, "%s%s", i > 0 ? " " : "", option->choices[i]);
        fputc(')', file);
    } else if (option->kind != HEDDLE_CLI_FLAG) {
        fprintf(file, ":%s:_files", option->value);
    }
    fputc('\'', file);
}

static void zsh_arguments(FILE *file, const heddle_cli_command *command)
{
    fputs("_arguments", file);
    each_option(file, command, zsh_option);
    fputs(" \\\n        '*:file:_files' ;;\n", file);
}

static void zsh_descriptions(FILE *file, const heddle_cli_command *const *commands)
{
    for (int i = 0; commands[i] != NULL; i++) {
        fprintf(file, " \\\n        '%s:", heddle_cli_last_word(commands[i]->name));
        print_quoted(file, commands[i]->summary, ":\\");
        fputc('\'', file);
    }
}

static void zsh_command(FILE *file, const heddle_cli_command *command)
{
    fprintf(file, "    %s)\n      ", command->name);
    if (command->actions == NULL) {
        zsh_arguments(file, command);
        return;
    }
    fputs("if (( CURRENT == 2 )); then\n      choices=(", file);
    zsh_descriptions(file, command->actions);
    fputs(")\n      _describe action choices\n      return\n      fi\n"
          "      shift words; (( CURRENT-- ))\n"
          "      case \"$words[1]\" in\n",
          file);
    for (int i = 0; command->actions[i] != NULL; i++) {
        fprintf(file, "      %s) ", heddle_cli_last_word(command->actions[i]->name));
        zsh_arguments(file, command->actions[i]);
    }
    fputs("      esac ;;\n", file);
}

void heddle_cli_print_completion_zsh(FILE *file)
{
    fputs("#compdef heddle\n"
          "# Completion of heddle in zsh. Made by `heddle help --completion zsh`.\n"
          "_heddle() {\n"
          "  local -a choices\n"
          "  if (( CURRENT == 2 )); then\n"
          "    choices=(",
          file);
    zsh_descriptions(file, heddle_cli_commands);
    fputs(")\n    _describe command choices\n    return\n  fi\n"
          "  shift words; (( CURRENT-- ))\n"
          "  case \"$words[1]\" in\n",
          file);
    for (int i = 0; heddle_cli_commands[i] != NULL; i++)
        zsh_command(file, heddle_cli_commands[i]);
    fputs("  esac\n}\n"
          "if [ \"$funcstack[1]\" = _heddle ]; then _heddle \"$@\"; else compdef _heddle heddle; fi\n",
          file);
}

// --- fish ------------------------------------------------------------------------------------------------------------

static void fish_condition(FILE *file, const heddle_cli_command *command)
{
    const char *space = strchr(command->name, ' ');
    if (space != NULL)
        fprintf(file, "complete -c heddle -n '__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s'",
                (int)(space - command->name), command->name, space + 1);
    else
        fprintf(file, "complete -c heddle -n '__fish_seen_subcommand_from %s'", command->name);
}

static void fish_option(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    fish_condition(file, command);
    fprintf(file, " -l %s", option->name);
    if (option->kind == HEDDLE_CLI_CHOICE) {
        fputs(" -x -a '", file);
        for (int i = 0; option->choices[i] != NULL; i++)
            fprintf(file, "%s%s", i > 0 ? " " : "", option->choices[i]);
        fputc('\'', file);
    } else if (option->kind != HEDDLE_CLI_FLAG && option->kind != HEDDLE_CLI_JSON) {
        fputs(" -r", file);
    }
    fputs(" -d '", file);
    print_quoted(file, option->help, "\\");
    fputs("'\n", file);
}

static void fish_command(FILE *file, const heddle_cli_command *command)
{
    if (command->actions == NULL) {
        each_option(file, command, fish_option);
        return;
    }
    for (int i = 0; command->actions[i] != NULL; i++) {
        fprintf(file, "complete -c heddle -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from ",
                command->name);
        print_names(file, command->actions);
        fprintf(file, "' -f -a %s -d '", heddle_cli_last_word(command->actions[i]->name));
        print_quoted(file, command->actions[i]->summary, "\\");
        fputs("'\n", file);
        fish_command(file, command->actions[i]);
    }
}

void heddle_cli_print_completion_fish(FILE *file)
{
    fputs("# Completion of heddle in fish. Made by `heddle help --completion fish`.\n", file);
    for (int i = 0; heddle_cli_commands[i] != NULL; i++) {
        fprintf(file, "complete -c heddle -n __fish_use_subcommand -f -a %s -d '", heddle_cli_commands[i]->name);
        print_quoted(file, heddle_cli_commands[i]->summary, "\\");
        fputs("'\n", file);
        fish_command(file, heddle_cli_commands[i]);
    }
}
