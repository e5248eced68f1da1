// The commands, their exit codes, and how a failure is reported. Only this room prints and exits.
#pragma once

#include "cli/options.h"
#include "heddle/status.h"

enum {
    HEDDLE_EXIT_OK = 0,
    HEDDLE_EXIT_FAILED = 1,  // the work failed
    HEDDLE_EXIT_USAGE = 2,   // wrong usage
    HEDDLE_EXIT_MISSING = 3, // something is missing on this machine
};                           // and 128 + the number of the signal that stopped the command: 130 after Ctrl-C

// HEDDLE_INVALID and HEDDLE_NOT_FOUND (of a name or file) are wrong usage, HEDDLE_MISSING is something missing,
// HEDDLE_INTERRUPTED gives the signal's code. Every other failure is failed work, including a damaged file; but
// mistakes in what a person writes, such as a recipe or a model file, are wrong usage.
int heddle_cli_exit_code(heddle_status status);
// The name that the command was called by, as a shell reads it: "heddle", "build/heddle". Hints that name a command use
// it; failures have it in place of every `heddle ...` of their message.
void heddle_cli_set_name(const char *word);
const char *heddle_cli_name(void);
// Prints "heddle: " and this thread's last error on stderr and returns the exit code. Call it once per failure. If
// several ranks make the same mistake, only the first prints.
int heddle_cli_fail(heddle_status status);
// The same for a failure that all ranks have: only the first prints.
int heddle_cli_fail_once(heddle_status status);
// The same for an error in the command line that the command itself found.
int heddle_cli_usage(const heddle_cli_command *command, const char *format, ...) HEDDLE_PRINTF(2, 3);

// Prints or writes the result as --json requests, reports a failure, and returns the exit code.
struct cJSON;
int heddle_cli_json_exit(const heddle_cli_json *json, struct cJSON *result);

// Calls heddle_cli_parse_options at the start of a command. True: continue. False: help or the version was printed, or
// the usage was wrong; *exit_code is the command's exit code.
bool heddle_cli_parse(const heddle_cli_command *command, int argc, char **argv, void *settings,
                      heddle_cli_arguments *arguments, int *exit_code);

// Each is defined in the file of its name.
extern const heddle_cli_command heddle_command_train;
extern const heddle_cli_command heddle_command_eval;
extern const heddle_cli_command heddle_command_predict;
extern const heddle_cli_command heddle_command_export;
extern const heddle_cli_command heddle_command_import;
extern const heddle_cli_command heddle_command_bench;
extern const heddle_cli_command heddle_command_check;
extern const heddle_cli_command heddle_command_explain;
extern const heddle_cli_command heddle_command_lsp;
extern const heddle_cli_command heddle_command_learn;
extern const heddle_cli_command heddle_command_learn_init;
extern const heddle_cli_command heddle_command_learn_show;
extern const heddle_cli_command heddle_command_learn_read;
extern const heddle_cli_command heddle_command_learn_run;
extern const heddle_cli_command heddle_command_learn_next;
extern const heddle_cli_command heddle_command_learn_hint;
extern const heddle_cli_command heddle_command_learn_list;
extern const heddle_cli_command heddle_command_learn_reset;
extern const heddle_cli_command heddle_command_learn_solution;
extern const heddle_cli_command heddle_command_learn_progress;
extern const heddle_cli_command heddle_command_learn_verify;
extern const heddle_cli_command heddle_command_pipeline;
extern const heddle_cli_command heddle_command_profile;
extern const heddle_cli_command heddle_command_trace;
extern const heddle_cli_command heddle_command_data;
extern const heddle_cli_command heddle_command_data_list;
extern const heddle_cli_command heddle_command_data_show;
extern const heddle_cli_command heddle_command_data_get;
extern const heddle_cli_command heddle_command_ops;
extern const heddle_cli_command heddle_command_runs;
extern const heddle_cli_command heddle_command_serve;
extern const heddle_cli_command heddle_command_devices;
extern const heddle_cli_command heddle_command_doctor;
extern const heddle_cli_command heddle_command_help;
extern const heddle_cli_command heddle_command_version;

// All commands in the order that help lists them, NULL-terminated. main sets them.
const heddle_cli_command *const *heddle_cli_commands(void);
void heddle_cli_set_commands(const heddle_cli_command *const *commands);
// The command of that name. NULL: the last error is "unknown command X; did you mean Y?".
const heddle_cli_command *heddle_cli_find(const heddle_cli_command *const *commands, const char *name);
// "show" of "data show", "train" of "train": the last word of a command's name.
const char *heddle_cli_last_word(const char *name);
// Runs the action that argv[1] names, or prints the command's help.
int heddle_cli_run_action(const heddle_cli_command *command, int argc, char **argv);

// Names and summaries, one per line.
void heddle_cli_print_commands(FILE *file, const heddle_cli_command *const *commands);
// What `heddle help` prints.
void heddle_cli_print_overview(FILE *file);
// The manual page in troff, and completions for bash, zsh and fish, all made from the tables.
void heddle_cli_print_manual(FILE *file);
void heddle_cli_print_completion_bash(FILE *file);
void heddle_cli_print_completion_zsh(FILE *file);
void heddle_cli_print_completion_fish(FILE *file);

// Shows one line on the terminal (stderr), which the next call overwrites and _clear_progress removes.
void heddle_cli_show_progress(const char *text);
void heddle_cli_clear_progress(void);

// A page that is printed to `file` and written atomically at its end.
typedef struct heddle_cli_page {
    FILE *file;
    char *text;
    size_t size;
} heddle_cli_page;
heddle_status heddle_cli_page_begin(heddle_cli_page *page);
// `status` is the result of printing; an incomplete page is not written. Frees the page.
heddle_status heddle_cli_page_end(heddle_cli_page *page, const char *path, heddle_status status);
// Whether a file can be written: asked before long work that writes it at its end. NULL: nothing to write, HEDDLE_OK.
heddle_status heddle_cli_can_write(const char *path);
