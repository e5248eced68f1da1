// Completion for bash, zsh and fish, from the tables of the commands: commands, actions, options, and the values of
// options and arguments that are names. Everything else completes file names.

#include <stdio.h>
#include <string.h>

#include "api/chips.h"
#include "check/kinds.h"
#include "cli/cli.h"
#include "cli/precision.h"
#include "heddle/data.h"
#include "heddle/model.h"
#include "heddle/op.h"
#include "learn/course.h"

enum { MOST_DATASETS = 32 };

// --- values ----------------------------------------------------------------------------------------------------------

static void print_word(FILE *file, const char *word)
{
    fprintf(file, "%s ", word);
}

static void print_list(FILE *file, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        print_word(file, words[i]);
}

static void print_datasets(FILE *file)
{
    heddle_dataset_info list[MOST_DATASETS];
    int count = heddle_dataset_list(NULL, list, MOST_DATASETS);
    for (int i = 0; i < count && i < MOST_DATASETS; i++)
        print_word(file, list[i].name);
}

static void print_devices(FILE *file)
{
    for (int kind = HEDDLE_CPU; kind <= HEDDLE_SIM; kind++)
        print_word(file, heddle_device_kind_name((heddle_device_kind)kind));
}

static void print_chips(FILE *file)
{
    for (int i = 0; i < sim_chip_count; i++)
        print_word(file, sim_chips[i].key);
}

// Also the names of ladders that are not the name of an operator.
static void print_operators(FILE *file)
{
    const char *ladder = "";
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (strcmp(op->ladder_name, ladder) != 0 && strcmp(op->ladder_name, op->name) != 0)
            print_word(file, op->ladder_name);
        print_word(file, op->name);
        ladder = op->ladder_name;
    }
}

static void print_models(FILE *file)
{
    print_list(file, heddle_model_names());
}

static void print_kernels(FILE *file)
{
    print_list(file, heddle_tier_names);
}

static void print_precisions(FILE *file)
{
    print_list(file, heddle_cli_precisions);
}

static void print_commands(FILE *file)
{
    for (int i = 0; heddle_cli_commands()[i] != NULL; i++)
        print_word(file, heddle_cli_commands()[i]->name);
}

static void print_kinds(FILE *file)
{
    for (int i = 0; i < HEDDLE_CHECK_OTHER; i++)
        print_word(file, heddle_check_kinds[i].name);
}

static void print_exercises(FILE *file)
{
    heddle_learn_course *course = NULL;
    if (heddle_learn_course_open(NULL, &course) != HEDDLE_OK)
        return;
    for (int i = 0; i < course->count; i++)
        print_word(file, course->exercises[i].number);
    heddle_learn_course_close(course);
}

// The values of an option of that name, in every command that has it, and the commands that take such an argument.
typedef struct value_set {
    const char *option;
    void (*print)(FILE *file);
    bool files;              // file names as well
    bool several;            // with commas between
    const char *commands[8]; // that take such an argument
} value_set;

static const value_set value_sets[] = {
    {"data", print_datasets, .files = true, .commands = {"data show", "data get"}},
    {"device", print_devices, .commands = {"devices"}},
    {"gpu", print_chips},
    {"op", print_operators, .commands = {"ops", "bench"}},
    {"model", print_models, .files = true},
    {"kernels", print_kernels, .several = true},
    {"precision", print_precisions, .several = true},
    {"command", print_commands, .commands = {"help"}},
    {"kind", print_kinds, .commands = {"explain"}},
    {"exercise", print_exercises,
     .commands = {"learn run", "learn show", "learn next", "learn hint", "learn reset", "learn solution",
                  "learn verify"}},
};
enum { VALUE_SETS = sizeof value_sets / sizeof *value_sets };

// NULL: none.
static const value_set *values_of(const heddle_cli_option *option)
{
    for (int i = 0; i < VALUE_SETS && option->kind == HEDDLE_CLI_TEXT; i++)
        if (strcmp(value_sets[i].option, option->name) == 0)
            return &value_sets[i];
    return NULL;
}

static const value_set *arguments_of(const heddle_cli_command *command)
{
    for (int i = 0; i < VALUE_SETS; i++)
        for (int j = 0; value_sets[i].commands[j] != NULL; j++)
            if (strcmp(value_sets[i].commands[j], command->name) == 0)
                return &value_sets[i];
    return NULL;
}

// The words that an option's value may be; nothing if it is a number or a file.
static void print_values(FILE *file, const heddle_cli_option *option)
{
    const value_set *values = values_of(option);
    if (values != NULL)
        values->print(file);
    else if (option->kind == HEDDLE_CLI_CHOICE)
        print_list(file, option->choices);
}

// The words that an argument may be: names, topics such as `bench train`, and actions.
static void print_arguments(FILE *file, const heddle_cli_command *command)
{
    const value_set *values = arguments_of(command);
    if (values != NULL)
        values->print(file);
    for (int i = 0; i < command->topic_count; i++)
        print_word(file, command->topics[i].name);
    for (int i = 0; command->actions != NULL && command->actions[i] != NULL; i++)
        print_word(file, heddle_cli_last_word(command->actions[i]->name));
}

// --- the tables ------------------------------------------------------------------------------------------------------

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

// Calls `print` for the command's own options and the common ones.
typedef void option_printer(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option);

static void each_option(FILE *file, const heddle_cli_command *command, option_printer *print)
{
    for (int i = 0; i < command->option_count; i++)
        print(file, command, &command->options[i]);
    for (int i = 0; i < heddle_cli_common_option_count; i++)
        print(file, command, &heddle_cli_common_options[i]);
}

// Its value is a separate word.
static bool takes_word(const heddle_cli_option *option)
{
    return option->kind != HEDDLE_CLI_FLAG && !heddle_cli_value_is_optional(option->kind);
}

// --- bash ------------------------------------------------------------------------------------------------------------

static void bash_values(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    const value_set *values = values_of(option);
    if (!takes_word(option))
        return;
    fprintf(file, "    '%s --%s') words='", command->name, option->name);
    print_values(file, option);
    fprintf(file, "'%s ;;\n", values != NULL && values->files ? " files=1" : "");
}

static void bash_option(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    (void)command;
    fprintf(file, "--%s ", option->name);
}

static void bash_command(FILE *file, const heddle_cli_command *command)
{
    each_option(file, command, bash_values);
    fprintf(file, "    '%s '*) options='", command->name);
    each_option(file, command, bash_option);
    fputs("' words='", file);
    print_arguments(file, command);
    fputs("' ;;\n", file);
}

static void bash_each(FILE *file, void (*print)(FILE *file, const heddle_cli_command *command))
{
    for (int i = 0; heddle_cli_commands()[i] != NULL; i++) {
        const heddle_cli_command *const *actions = heddle_cli_commands()[i]->actions;
        for (int k = 0; actions != NULL && actions[k] != NULL; k++)
            print(file, actions[k]);
        print(file, heddle_cli_commands()[i]);
    }
}

static void bash_action(FILE *file, const heddle_cli_command *command)
{
    if (strchr(command->name, ' ') != NULL)
        fprintf(file, "    '%s') [ \"$COMP_CWORD\" -gt 2 ] && command='%s' ;;\n", command->name, command->name);
}

void heddle_cli_print_completion_bash(FILE *file)
{
    // `--device=c` arrives as three words. In a list, "naive,fu", the last item is completed.
    fputs("# Completion of heddle in bash. Made by `heddle help --completion bash`.\n"
          "_heddle() {\n"
          "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
          "  local command=\"${COMP_WORDS[1]}\" words='' options='' files='' list=''\n"
          "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "    words='",
          file);
    print_commands(file);
    fputs("--help --version'\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    return\n"
          "  fi\n"
          "  if [ \"$current\" = '=' ]; then current=''\n"
          "  elif [ \"$previous\" = '=' ]; then previous=\"${COMP_WORDS[COMP_CWORD - 2]}\"; fi\n"
          "  case \"$command ${COMP_WORDS[2]}\" in\n",
          file);
    bash_each(file, bash_action);
    fputs("  esac\n"
          "  case \"$command $previous\" in\n",
          file);
    bash_each(file, bash_command);
    fputs("  esac\n"
          "  case \"$current\" in -*) words=\"$options\" ;; *) words=\"${words:-$options}\" ;; esac\n"
          "  case \"$current\" in *,*) list=\"${current%,*},\" ;; esac\n"
          "  COMPREPLY=($(compgen -P \"$list\" -W \"$words\" -- \"${current##*,}\"))\n"
          "  if [ -n \"$files\" ]; then COMPREPLY+=($(compgen -f -- \"$current\")); fi\n"
          "}\n"
          "complete -o default -F _heddle heddle\n",
          file);
}

// --- zsh -------------------------------------------------------------------------------------------------------------

// A function for each set of values that options and arguments share.
static void zsh_functions(FILE *file)
{
    for (int i = 0; i < VALUE_SETS; i++) {
        const value_set *values = &value_sets[i];
        fprintf(file, "_heddle_values_%s() {\n  local -a names=(", values->option);
        values->print(file);
        fputs(values->several ? ")\n  _sequence compadd -a - names\n" : ")\n  compadd -a names\n", file);
        fputs(values->files ? "  _files\n}\n" : "}\n", file);
    }
}

static void zsh_option(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    const value_set *values = values_of(option);
    (void)command;
    fprintf(file, " \\\n        '%s--%s%s[", option->kind == HEDDLE_CLI_LIST ? "*" : "", option->name,
            option->kind == HEDDLE_CLI_FLAG              ? ""
            : heddle_cli_value_is_optional(option->kind) ? "=-"
                                                         : "=");
    print_quoted(file, option->help, "[]:\\");
    fputc(']', file);
    if (values != NULL) {
        fprintf(file, ":%s:_heddle_values_%s", option->value, values->option);
    } else if (option->kind == HEDDLE_CLI_CHOICE) {
        fprintf(file, ":%s:(", option->value);
        print_values(file, option);
        fputc(')', file);
    } else if (option->kind != HEDDLE_CLI_FLAG) {
        fprintf(file, "%s:%s:_files", heddle_cli_value_is_optional(option->kind) ? ":" : "", option->value);
    }
    fputc('\'', file);
}

static void zsh_arguments(FILE *file, const heddle_cli_command *command, const char *end)
{
    const value_set *values = arguments_of(command);
    fputs("_arguments", file);
    each_option(file, command, zsh_option);
    if (values != NULL)
        fprintf(file, " \\\n        '1:name:_heddle_values_%s'", values->option);
    fprintf(file, " \\\n        '*:file:_files'%s\n", end);
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
        zsh_arguments(file, command, " ;;");
        return;
    }
    fputs("if [[ \"$words[2]\" == -* ]]; then\n      ", file); // an option of the command itself
    zsh_arguments(file, command, "");
    fputs("      return\n      fi\n      if (( CURRENT == 2 )); then\n      choices=(", file);
    zsh_descriptions(file, command->actions);
    fputs(")\n      _describe action choices\n      return\n      fi\n"
          "      shift words; (( CURRENT-- ))\n"
          "      case \"$words[1]\" in\n",
          file);
    for (int i = 0; command->actions[i] != NULL; i++) {
        fprintf(file, "      %s) ", heddle_cli_last_word(command->actions[i]->name));
        zsh_arguments(file, command->actions[i], " ;;");
    }
    fputs("      esac ;;\n", file);
}

void heddle_cli_print_completion_zsh(FILE *file)
{
    fputs("#compdef heddle\n"
          "# Completion of heddle in zsh. Made by `heddle help --completion zsh`.\n",
          file);
    zsh_functions(file);
    fputs("_heddle() {\n"
          "  local -a choices\n"
          "  if (( CURRENT == 2 )); then\n"
          "    choices=(",
          file);
    zsh_descriptions(file, heddle_cli_commands());
    fputs(")\n    _describe command choices\n    return\n  fi\n"
          "  shift words; (( CURRENT-- ))\n"
          "  case \"$words[1]\" in\n",
          file);
    for (int i = 0; heddle_cli_commands()[i] != NULL; i++)
        zsh_command(file, heddle_cli_commands()[i]);
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
        fprintf(file, "complete -c heddle -n '__fish_seen_subcommand_from %s", command->name);
    if (space == NULL && command->actions != NULL) {
        fputs("; and not __fish_seen_subcommand_from ", file);
        print_arguments(file, command);
    }
    if (space == NULL)
        fputc('\'', file);
}

static void fish_option(FILE *file, const heddle_cli_command *command, const heddle_cli_option *option)
{
    const value_set *values = values_of(option);
    fish_condition(file, command);
    fprintf(file, " -l %s", option->name);
    if (values != NULL || option->kind == HEDDLE_CLI_CHOICE) {
        fprintf(file, " %s -a '", values != NULL && values->files ? "-r -F" : "-x");
        print_values(file, option);
        fputc('\'', file);
    } else if (takes_word(option)) {
        fputs(" -r", file);
    }
    fputs(" -d '", file);
    print_quoted(file, option->help, "\\");
    fputs("'\n", file);
}

static void fish_command(FILE *file, const heddle_cli_command *command)
{
    each_option(file, command, fish_option);
    if (command->actions == NULL) {
        if (arguments_of(command) != NULL) {
            fish_condition(file, command);
            fputs(" -a '", file);
            print_arguments(file, command);
            fputs("'\n", file);
        }
        return;
    }
    for (int i = 0; command->actions[i] != NULL; i++) {
        fish_condition(file, command);
        fprintf(file, " -f -a %s -d '", heddle_cli_last_word(command->actions[i]->name));
        print_quoted(file, command->actions[i]->summary, "\\");
        fputs("'\n", file);
        fish_command(file, command->actions[i]);
    }
}

void heddle_cli_print_completion_fish(FILE *file)
{
    fputs("# Completion of heddle in fish. Made by `heddle help --completion fish`.\n", file);
    for (int i = 0; heddle_cli_commands()[i] != NULL; i++) {
        fprintf(file, "complete -c heddle -n __fish_use_subcommand -f -a %s -d '", heddle_cli_commands()[i]->name);
        print_quoted(file, heddle_cli_commands()[i]->summary, "\\");
        fputs("'\n", file);
        fish_command(file, heddle_cli_commands()[i]);
    }
}
