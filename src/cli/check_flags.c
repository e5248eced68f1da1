// Splits the words of `heddle check` into heddle's own and nvcc's.

#include "cli/check_flags.h"

#include <stdlib.h>
#include <string.h>

// A word that heddle's own table names: --gpu, --gpu=a100, -h. *option: its entry.
static bool is_own(const char *word, const heddle_cli_option *options, int count, const heddle_cli_option **option)
{
    for (int i = 0; i < count; i++) {
        size_t length = strlen(options[i].name);
        bool named = strncmp(word, "--", 2) == 0 && strncmp(word + 2, options[i].name, length) == 0 &&
                     (word[2 + length] == '\0' || word[2 + length] == '=');
        bool letter = options[i].letter && word[0] == '-' && word[1] == options[i].letter && word[2] == '\0';
        *option = &options[i];
        if (named || letter)
            return true;
    }
    return false;
}

static bool takes_next(const heddle_cli_option *option, const char *word)
{
    return option->kind != HEDDLE_CLI_FLAG && !heddle_cli_value_is_optional(option->kind) && !strchr(word, '=');
}

// Appends words, each after a blank.
static heddle_status add_ignored(heddle_check_flags *flags, char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        size_t before = flags->ignored ? strlen(flags->ignored) : 0, length = strlen(words[i]);
        char *longer = realloc(flags->ignored, before + 1 + length + 1);
        if (!longer)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the command line");
        flags->ignored = longer;
        if (before)
            longer[before++] = ' ';
        memcpy(longer + before, words[i], length + 1);
    }
    return HEDDLE_OK;
}

// Reads the flag at argv[*at]. What nvcc does not know either is left to heddle's parser, which refuses it.
static heddle_status read_flag(heddle_check_flags *flags, int argc, char **argv, int *at)
{
    int first = *at;
    switch (sim_command_option(&flags->nvcc, argc, argv, at)) {
    case SIM_OPTION_UNKNOWN: flags->own[flags->own_count++] = argv[first]; return HEDDLE_OK;
    case SIM_OPTION_INCOMPLETE:
        return heddle_fail(HEDDLE_INVALID, "%s needs a value%s", argv[first],
                           strncmp(argv[first], "-D", 2) == 0 ? " such as -D NAME=VALUE" : "");
    case SIM_OPTION_IGNORED:
    case SIM_OPTION_OUTPUT: return add_ignored(flags, argv + first, *at - first + 1);
    case SIM_OPTION_SOURCE: break;
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_flags_read(const heddle_cli_command *command, int argc, char **argv,
                                      heddle_check_flags *flags)
{
    *flags = (heddle_check_flags){.own = calloc((size_t)argc + 1, sizeof *flags->own)};
    if (!flags->own)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the command line");
    int end = 1;
    while (end < argc && strcmp(argv[end], "--") != 0)
        end++;
    flags->own[flags->own_count++] = argv[0];
    for (int i = 1; i < end; i++) {
        const heddle_cli_option *option;
        bool own = is_own(argv[i], command->options, command->option_count, &option) ||
                   is_own(argv[i], heddle_cli_common_options, heddle_cli_common_option_count, &option);
        if (!own && argv[i][0] == '-' && argv[i][1]) {
            HEDDLE_TRY(read_flag(flags, end, argv, &i));
            continue;
        }
        flags->own[flags->own_count++] = argv[i];
        if (own && takes_next(option, argv[i]) && i + 1 < end)
            flags->own[flags->own_count++] = argv[++i];
    }
    return HEDDLE_OK;
}

// Both lists in one. NULL: no memory.
static const char **join(const char *const *first, int first_count, const char *const *second, int second_count)
{
    const char **list = calloc((size_t)(first_count + second_count) + 1, sizeof *list);
    for (int i = 0; list && i < first_count; i++)
        list[i] = first[i];
    for (int i = 0; list && i < second_count; i++)
        list[first_count + i] = second[i];
    return list;
}

// What the linker is given: libraries and where they lie. Its other options could have it run what they name.
static void keep_libraries(const char **link)
{
    const char **to = link;
    for (const char **from = link; *from; from++) {
        bool linker = strcmp(*from, "-Xlinker") == 0 && from[1];
        from += linker;
        if (!linker && strncmp(*from, "-Wl,", 4) != 0)
            *to++ = *from;
    }
    *to = NULL;
}

// The standard goes another way, because nvcc takes it in another place.
static void leave_out_standard(const char **compile)
{
    const char **to = compile;
    for (const char **from = compile; *from; from++)
        if (strncmp(*from, "-std=", 5) != 0)
            *to++ = *from;
    *to = NULL;
}

heddle_status heddle_check_flags_lists(heddle_check_flags *flags, const heddle_cli_list *include)
{
    const sim_command *nvcc = &flags->nvcc;
    flags->include = join(include->items, include->count, nvcc->include.at, nvcc->include.count);
    flags->compile = join(NULL, 0, nvcc->compile.at, nvcc->compile.count);
    flags->link = join(NULL, 0, nvcc->link.at, nvcc->link.count);
    if (!flags->include || !flags->compile || !flags->link)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the command line");
    leave_out_standard(flags->compile);
    keep_libraries(flags->link);
    return HEDDLE_OK;
}

void heddle_check_flags_free(heddle_check_flags *flags)
{
    sim_command_free(&flags->nvcc);
    free(flags->own);
    free(flags->ignored);
    free(flags->include);
    free(flags->compile);
    free(flags->link);
    *flags = (heddle_check_flags){0};
}
