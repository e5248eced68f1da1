// Parses a command line by the command's option table and reports errors in one line. help_text.c prints help.

#include "cli/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

enum {
    NAME_SIZE = 64, // longest option name, with its dashes
    QUOTED_SIZE = 512,
    MOST_CANDIDATES = 67 // options of a command, and the common ones: `given` has 64 bits
};

static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

const heddle_cli_option heddle_cli_common_options[] = {
    {"log", HEDDLE_CLI_CHOICE, 0, "LEVEL", "warn", "verbosity on stderr; $HEDDLE_LOG sets it as well", 0, 0,
     log_levels},
    {"help", HEDDLE_CLI_FLAG, 0, NULL, NULL, "show this help and exit", 0, 0, NULL, 'h'},
    {"version", HEDDLE_CLI_FLAG, 0, NULL, NULL, "show the version and exit", 0, 0, NULL, 'V'},
};
const int heddle_cli_common_option_count = sizeof heddle_cli_common_options / sizeof *heddle_cli_common_options;

// --- values ----------------------------------------------------------------------------------------------------------

static bool has_limits(const heddle_cli_option *option)
{
    return option->least < option->most;
}

static heddle_status out_of_range(const heddle_cli_option *option, const char *text)
{
    double unlimited = option->kind == HEDDLE_CLI_INT ? INT_MAX : HUGE_VAL;
    if (option->most >= unlimited)
        return heddle_fail(HEDDLE_INVALID, "--%s %s is out of range: at least %.10g", option->name, text,
                           option->least);
    bool is_part = option->kind == HEDDLE_CLI_NUMBER && option->least == 0 && option->most == 1;
    return heddle_fail(HEDDLE_INVALID, "--%s %s is out of range: %.10g to %.10g%s", option->name, text, option->least,
                       option->most, is_part ? " (a fraction: 99 % is 0.99)" : "");
}

static bool is_number(const char *text, bool whole)
{
    size_t length = heddle_text_number(text, whole);
    return length > 0 && text[length] == '\0';
}

static heddle_status read_int(const heddle_cli_option *option, const char *text, int *value)
{
    errno = 0;
    long number = strtol(text, NULL, 10);
    if (!is_number(text, true))
        return heddle_fail(HEDDLE_INVALID, "--%s needs an integer, not '%s'", option->name, text);
    bool fits = errno == 0 && number >= INT_MIN && number <= INT_MAX;
    if (has_limits(option) ? !fits || (double)number < option->least || (double)number > option->most : !fits)
        return has_limits(option) ? out_of_range(option, text)
                                  : heddle_fail(HEDDLE_INVALID, "--%s %s is out of range: %d to %d", option->name, text,
                                                INT_MIN, INT_MAX);
    *value = (int)number;
    return HEDDLE_OK;
}

static heddle_status read_seed(const heddle_cli_option *option, const char *text, uint64_t *value)
{
    errno = 0;
    unsigned long long number = strtoull(text, NULL, 10);
    // strtoull accepts "-1" and returns 2^64 - 1.
    if (!is_number(text, true) || text[0] == '-')
        return heddle_fail(HEDDLE_INVALID, "--%s needs a non-negative integer, not '%s'", option->name, text);
    if (errno != 0)
        return heddle_fail(HEDDLE_INVALID, "--%s %s does not fit in 64 bits", option->name, text);
    *value = number;
    return HEDDLE_OK;
}

static heddle_status read_number(const heddle_cli_option *option, const char *text, double *value)
{
    double number = strtod(text, NULL);
    if (!is_number(text, false) || !isfinite(number))
        return heddle_fail(HEDDLE_INVALID, "--%s needs a number, not '%s'", option->name, text);
    if (has_limits(option) && (number < option->least || number > option->most))
        return out_of_range(option, text);
    *value = number;
    return HEDDLE_OK;
}

static heddle_status read_choice(const heddle_cli_option *option, const char *text, int *value)
{
    char all[512] = "";
    size_t used = 0;
    int count = 0;
    for (; option->choices[count] != NULL; count++) {
        if (strcmp(option->choices[count], text) == 0) {
            *value = count;
            return HEDDLE_OK;
        }
        if (used < sizeof all)
            used +=
                (size_t)snprintf(all + used, sizeof all - used, "%s%s", count > 0 ? ", " : "", option->choices[count]);
    }
    const char *nearest = heddle_text_nearest(text, option->choices, count);
    if (nearest != NULL)
        return heddle_fail(HEDDLE_INVALID, "--%s must be one of %s, not '%s'; did you mean %s?", option->name, all,
                           text, nearest);
    return heddle_fail(HEDDLE_INVALID, "--%s must be one of %s, not '%s'", option->name, all, text);
}

static heddle_status add_to_list(const heddle_cli_option *option, const char *text, heddle_cli_list *list)
{
    if (list->count == HEDDLE_CLI_LIST_ROOM)
        return heddle_fail(HEDDLE_INVALID, "--%s may be given at most %d times", option->name, HEDDLE_CLI_LIST_ROOM);
    list->items[list->count++] = text;
    return HEDDLE_OK;
}

static heddle_status store(const heddle_cli_option *option, const char *text, void *settings)
{
    void *destination = (char *)settings + option->offset;
    if (text[0] == '\0')
        return heddle_fail(HEDDLE_INVALID, "--%s needs a value (%s) that is not empty", option->name, option->value);
    switch (option->kind) {
    case HEDDLE_CLI_FLAG: break; // takes no value
    case HEDDLE_CLI_INT: return read_int(option, text, destination);
    case HEDDLE_CLI_SEED: return read_seed(option, text, destination);
    case HEDDLE_CLI_NUMBER: return read_number(option, text, destination);
    case HEDDLE_CLI_TEXT: *(const char **)destination = text; return HEDDLE_OK;
    case HEDDLE_CLI_CHOICE: return read_choice(option, text, destination);
    case HEDDLE_CLI_LIST: return add_to_list(option, text, destination);
    case HEDDLE_CLI_JSON: heddle_cli_json_read(text, destination); return HEDDLE_OK;
    case HEDDLE_CLI_OPTIONAL: *(heddle_cli_optional *)destination = (heddle_cli_optional){true, text}; return HEDDLE_OK;
    }
    return heddle_fail(HEDDLE_INTERNAL, "option --%s has no kind", option->name);
}

static heddle_status store_defaults(const heddle_cli_command *command, void *settings)
{
    for (int i = 0; i < command->option_count; i++)
        if (command->options[i].initial != NULL && command->options[i].kind != HEDDLE_CLI_FLAG)
            HEDDLE_TRY(store(&command->options[i], command->options[i].initial, settings));
    return HEDDLE_OK;
}

// --- names -----------------------------------------------------------------------------------------------------------

static const heddle_cli_option *find_option(const heddle_cli_command *command, const char *name)
{
    for (int i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return &command->options[i];
    for (int i = 0; i < heddle_cli_common_option_count; i++)
        if (strcmp(heddle_cli_common_options[i].name, name) == 0)
            return &heddle_cli_common_options[i];
    return NULL;
}

// The option that other programs call by this name; NULL: the command has none.
static const char *find_synonym(const heddle_cli_command *command, const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } synonyms[] = {
        {"learning-rate", "lr"},  {"batch-size", "batch"}, {"dataset", "data"},        {"data-dir", "data"},
        {"num-epochs", "epochs"}, {"output", "out"},       {"output-dir", "out"},      {"optim", "optimizer"},
        {"dtype", "precision"},   {"wd", "weight-decay"},  {"num-workers", "threads"}, {"lr-scheduler", "schedule"},
    };
    char plain[NAME_SIZE];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *c = plain; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const heddle_cli_option *same = find_option(command, plain);
    if (same)
        return same->name;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(plain, synonyms[i].theirs) == 0 && find_option(command, synonyms[i].ours))
            return synonyms[i].ours;
    return NULL;
}

static heddle_status unknown_option(const heddle_cli_command *command, const char *argument, const char *name)
{
    const char *candidates[MOST_CANDIDATES];
    int count = 0;
    for (int i = 0; i < command->option_count && count < MOST_CANDIDATES; i++)
        candidates[count++] = command->options[i].name;
    for (int i = 0; i < heddle_cli_common_option_count && count < MOST_CANDIDATES; i++)
        candidates[count++] = heddle_cli_common_options[i].name;

    const char *nearest = find_synonym(command, name);
    if (nearest == NULL)
        nearest = heddle_text_nearest(name, candidates, count);
    // A prefix of a name may be many edits away from it, yet is what people type.
    for (int i = 0, begins = 0; nearest == NULL && i < count; i++)
        if (name[0] != '\0' && strncmp(candidates[i], name, strlen(name)) == 0 && begins++ == 0)
            nearest = candidates[i];
    int length = (int)strcspn(argument, "=");
    if (nearest != NULL)
        return heddle_fail(HEDDLE_INVALID, "unknown option %.*s; did you mean --%s?", length, argument, nearest);
    return heddle_fail(HEDDLE_INVALID, "unknown option %.*s; `heddle %s --help` lists the options", length, argument,
                       command->name);
}

// --- the line --------------------------------------------------------------------------------------------------------

static heddle_status set_log_level(const heddle_cli_option *option, const char *value)
{
    int choice = 0;
    heddle_log_level level;
    HEDDLE_TRY(read_choice(option, value, &choice));
    HEDDLE_TRY(heddle_log_parse_level(option->choices[choice], &level));
    heddle_log_set_level(level);
    return HEDDLE_OK;
}

static heddle_status take_option(const heddle_cli_command *command, const heddle_cli_option *option, const char *value,
                                 void *settings, heddle_cli_arguments *arguments)
{
    bool common =
        option >= heddle_cli_common_options && option < heddle_cli_common_options + heddle_cli_common_option_count;
    if (common && option->kind == HEDDLE_CLI_FLAG) {
        arguments->help |= option->letter == 'h';
        arguments->version |= option->letter == 'V';
        return HEDDLE_OK;
    }
    if (common)
        return set_log_level(option, value);
    uint64_t bit = UINT64_C(1) << (option - command->options);
    // Of repeated numbers and names the last counts, as scripts expect; a file must not be ignored silently.
    bool has_file = option->kind == HEDDLE_CLI_TEXT || option->kind == HEDDLE_CLI_JSON;
    if ((arguments->given & bit) != 0 && has_file && strcmp(option->value, "FILE") == 0)
        return heddle_fail(HEDDLE_INVALID, "--%s is given twice, but takes one file", option->name);
    arguments->given |= bit;
    if (option->kind == HEDDLE_CLI_FLAG) {
        *(bool *)((char *)settings + option->offset) = true;
        return HEDDLE_OK;
    }
    if (option->kind == HEDDLE_CLI_JSON && value == NULL) {
        heddle_cli_json_read(NULL, (heddle_cli_json *)((char *)settings + option->offset));
        return HEDDLE_OK;
    }
    if (option->kind == HEDDLE_CLI_OPTIONAL && value == NULL) {
        *(heddle_cli_optional *)((char *)settings + option->offset) = (heddle_cli_optional){.given = true};
        return HEDDLE_OK;
    }
    return store(option, value, settings);
}

// Reads the option at argv[*index], and moves *index past its value if that is a separate word.
static heddle_status read_option(const heddle_cli_command *command, int argc, char **argv, int *index, void *settings,
                                 heddle_cli_arguments *arguments)
{
    const char *argument = argv[*index];
    for (int i = 0; i < heddle_cli_common_option_count; i++) {
        const heddle_cli_option *common = &heddle_cli_common_options[i];
        if (common->kind == HEDDLE_CLI_FLAG && argument[1] == common->letter && argument[2] == '\0')
            return take_option(command, common, NULL, settings, arguments);
    }
    const char *start = argument + strspn(argument, "-");
    size_t length = strcspn(start, "=");
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), start);
    const heddle_cli_option *option = length < sizeof name ? find_option(command, name) : NULL;
    if (option == NULL || strncmp(argument, "--", 2) != 0 || argument[2] == '-')
        return unknown_option(command, argument, name);

    const char *value = start[length] == '=' ? start + length + 1 : NULL;
    if (option->kind == HEDDLE_CLI_FLAG) {
        if (value != NULL)
            return heddle_fail(HEDDLE_INVALID, "--%s takes no value", option->name);
        return take_option(command, option, NULL, settings, arguments);
    }
    if (value == NULL && !heddle_cli_value_is_optional(option->kind)) {
        const char *next = *index + 1 < argc ? argv[*index + 1] : NULL;
        if (next == NULL)
            return heddle_fail(HEDDLE_INVALID, "--%s needs a value (%s)", option->name, option->value);
        if (strncmp(next, "--", 2) == 0)
            return heddle_fail(HEDDLE_INVALID, "--%s needs a value (%s); if you mean that, write --%s=%s", option->name,
                               option->value, option->name, next);
        value = next;
        *index += 1;
    }
    return take_option(command, option, value, settings, arguments);
}

// For a command without arguments: after a flag, the argument was meant as its value, else perhaps for an option.
static heddle_status refuse_argument(const heddle_cli_command *command, const char *argument, const char *before)
{
    char quoted[QUOTED_SIZE];
    const heddle_cli_option *flag = strncmp(before, "--", 2) == 0 ? find_option(command, before + 2) : NULL;
    if (flag && flag->kind == HEDDLE_CLI_FLAG)
        return heddle_fail(HEDDLE_INVALID, "takes no arguments, but got '%s': --%s takes no value", argument,
                           flag->name);
    const char *meant = heddle_text_ends(argument, ".json") && find_option(command, "model") ? "model" : command->meant;
    if (meant)
        return heddle_fail(HEDDLE_INVALID, "takes no arguments, but got '%s'; did you mean --%s %s?", argument, meant,
                           heddle_text_quote(argument, quoted, sizeof quoted));
    return heddle_fail(HEDDLE_INVALID, "takes no arguments, but got '%s'", argument);
}

// `before`: the word before the first argument.
static heddle_status check_arguments(const heddle_cli_command *command, const heddle_cli_arguments *arguments,
                                     const char *before)
{
    if (arguments->count < command->least_arguments)
        return heddle_fail(HEDDLE_INVALID, "needs %s; see `heddle %s --help`", command->arguments, command->name);
    if (arguments->count > command->most_arguments) {
        const char *first = arguments->items[command->most_arguments];
        if (command->most_arguments == 0)
            return refuse_argument(command, first, before);
        return heddle_fail(HEDDLE_INVALID, "unexpected argument '%s'", first);
    }
    return HEDDLE_OK;
}

// `--json results.json`, where the file would be taken for an argument.
static heddle_status refuse_json_file(const heddle_cli_command *command, const char *before, const char *argument)
{
    const char *end = strrchr(argument, '.');
    if (strcmp(before, "--json") != 0 || end == NULL || strcmp(end, ".json") != 0 || !find_option(command, "json"))
        return HEDDLE_OK;
    char quoted[QUOTED_SIZE];
    return heddle_fail(HEDDLE_INVALID, "--json takes its file with an equals sign: --json=%s",
                       heddle_text_quote(argument, quoted, sizeof quoted));
}

heddle_status heddle_cli_parse_options(const heddle_cli_command *command, int argc, char **argv, void *settings,
                                       heddle_cli_arguments *arguments)
{
    *arguments = (heddle_cli_arguments){.items = argv + 1};
    HEDDLE_TRY(store_defaults(command, settings));
    bool options_over = false;
    const char *before = ""; // the word before the first argument, which is moved
    for (int i = 1; i < argc; i++) {
        if (!options_over && strcmp(argv[i], "--") == 0)
            options_over = true;
        else if (options_over || argv[i][0] != '-' || argv[i][1] == '\0') {
            if (!options_over)
                HEDDLE_TRY(refuse_json_file(command, argv[i - 1], argv[i]));
            before = arguments->count == 0 ? argv[i - 1] : before;
            arguments->items[arguments->count++] = argv[i];
        } else
            HEDDLE_TRY(read_option(command, argc, argv, &i, settings, arguments));
    }
    return arguments->help || arguments->version ? HEDDLE_OK : check_arguments(command, arguments, before);
}

bool heddle_cli_given(const heddle_cli_command *command, const heddle_cli_arguments *arguments, const char *name)
{
    for (int i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return (arguments->given >> i & 1) != 0;
    return false;
}
