// Commands and their options as tables. One table defines what is parsed, what `--help` prints, and what the manual
// page and the shell completions contain.
//
// A command keeps the values of its options in a struct:
//
//     typedef struct settings { int epochs; const char *out; } settings;
//     static const heddle_cli_option options[] = {
//         {"epochs", HEDDLE_CLI_INT, offsetof(settings, epochs), "N", "10", "passes over the data", 1, INT_MAX, NULL},
//         {"out", HEDDLE_CLI_TEXT, offsetof(settings, out), "DIR", NULL, "folder for checkpoints", 0, 0, NULL},
//     };
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/json.h"
#include "heddle/status.h"

// Type of the destination, and how the value is parsed.
typedef enum heddle_cli_kind {
    HEDDLE_CLI_FLAG,     // bool; takes no value
    HEDDLE_CLI_INT,      // int
    HEDDLE_CLI_SEED,     // uint64_t, all 64 bits
    HEDDLE_CLI_NUMBER,   // double, finite
    HEDDLE_CLI_TEXT,     // const char *, not empty
    HEDDLE_CLI_CHOICE,   // int: index of the value in `choices`
    HEDDLE_CLI_LIST,     // heddle_cli_list: the option may be given several times
    HEDDLE_CLI_JSON,     // heddle_cli_json: with an optional value after an equals sign
    HEDDLE_CLI_OPTIONAL, // heddle_cli_optional: the same
} heddle_cli_kind;

typedef struct heddle_cli_option {
    const char *name; // without the dashes
    heddle_cli_kind kind;
    size_t offset;              // of the destination in the settings struct
    const char *value;          // what help calls the value: "N", "DIR"; NULL for a flag
    const char *initial;        // the default, as typed; NULL: 0, NULL, false, the first choice
    const char *help;           // one sentence, no full stop
    double least, most;         // INT and NUMBER, both included; no limits unless least < most
    const char *const *choices; // CHOICE, NULL-terminated
    char letter;                // of -h and -V; 0: none. Only for options that every command has
} heddle_cli_option;

// Whether the value may be left out.
static inline bool heddle_cli_value_is_optional(heddle_cli_kind kind)
{
    return kind == HEDDLE_CLI_JSON || kind == HEDDLE_CLI_OPTIONAL;
}

typedef struct heddle_cli_optional {
    bool given;
    const char *value; // NULL: given without one
} heddle_cli_optional;

enum { HEDDLE_CLI_LIST_ROOM = 32 };
typedef struct heddle_cli_list {
    const char *items[HEDDLE_CLI_LIST_ROOM + 1]; // NULL-terminated
    int count;
} heddle_cli_list;

// What a topic's page says about an option whose own help speaks of other topics too.
typedef struct heddle_cli_topic_help {
    const char *option, *help;
} heddle_cli_topic_help;

// A word in place of a command's argument that has its own help page: `bench train`. Help of an option that begins with
// topics, as in "train, infer: images per step", is shown there without them.
typedef struct heddle_cli_topic {
    const char *name;
    const char *summary, *description, *example; // as a command's
    const char *const *without[4];               // lists of options that do not apply to it, all NULL-terminated
    const heddle_cli_topic_help *helps;          // ends with an entry of NULL; NULL: none
} heddle_cli_topic;

typedef struct heddle_cli_command heddle_cli_command;
struct heddle_cli_command {
    const char *name;      // as typed after "heddle": "train", "data show"
    const char *summary;   // one line for the list of commands
    const char *arguments; // what help calls the positional arguments: "[NAME]"; NULL: takes none
    int least_arguments;   // how many there may be
    int most_arguments;
    const char *meant;       // the option that an argument was probably meant for; NULL: none
    const char *description; // more about it, for help; may be NULL
    const char *example;     // one or more lines, as typed
    const heddle_cli_option *options;
    int option_count;
    int (*run)(int argc, char **argv);        // argv[0] is the command's own name; returns the exit code
    const heddle_cli_command *const *actions; // "data list", "data show"; NULL-terminated; NULL: none
    const heddle_cli_topic *topics;           // NULL: none
    int topic_count;
};

// The command line besides the settings.
typedef struct heddle_cli_arguments {
    int count;
    char **items;   // the positional arguments, in order
    uint64_t given; // bit i: options[i] was on the command line
    bool help, version;
} heddle_cli_arguments;

// Fills `settings`, a zeroed struct whose members the options point into, with the defaults and then with argv[1..].
// Accepts `--name value`, `--name=value`, `--` before arguments that begin with a dash, and in every command --help,
// --version and --log LEVEL. HEDDLE_INVALID with a message for the user otherwise. Reorders `argv`: `items` points into
// it.
heddle_status heddle_cli_parse_options(const heddle_cli_command *command, int argc, char **argv, void *settings,
                                       heddle_cli_arguments *arguments);

// Whether the option called `name` was on the command line.
bool heddle_cli_given(const heddle_cli_command *command, const heddle_cli_arguments *arguments, const char *name);

// The options that every command has.
extern const heddle_cli_option heddle_cli_common_options[];
extern const int heddle_cli_common_option_count;

// What --version shows.
void heddle_cli_print_version(FILE *file);
// What `heddle COMMAND --help` shows.
void heddle_cli_print_help(const heddle_cli_command *command, FILE *file);
// The topic of that name, or NULL; and its help page.
const heddle_cli_topic *heddle_cli_find_topic(const heddle_cli_command *command, const char *name);
void heddle_cli_print_topic(const heddle_cli_command *command, const heddle_cli_topic *topic, FILE *file);
// Prints `text` wrapped to the width of help, each line after the first indented by `indent`; `column` is the position
// of the cursor.
void heddle_cli_print_wrapped(FILE *file, const char *text, int column, int indent);
// "--epochs N", "--split train|test"; returns `text`.
const char *heddle_cli_option_usage(const heddle_cli_option *option, char *text, size_t size);
