// Help in the terminal, laid out from the tables: the page of one command, and lists of commands.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/place.h"
#include "cli/cli.h"
#include "heddle/heddle.h"

enum {
    HELP_WIDTH = 100,        // readable in half a wide screen, and in any terminal that is not tiny
    OPTION_COLUMN_MOST = 34, // an option longer than this has its help on the next line
    USAGE_SIZE = 256,
    WORD_SIZE = HEDDLE_PLACE_SIZE + 64,
    SENTENCE_SIZE = 512,
    MOST_OPTIONS = 64, // of a command
};

const char *heddle_cli_option_usage(const heddle_cli_option *option, char *text, size_t size)
{
    const char letter[] = {'-', option->letter, ',', ' ', '\0'};
    int used = snprintf(text, size, "%s--%s", option->letter != '\0' ? letter : "", option->name);
    if (option->kind == HEDDLE_CLI_FLAG)
        return text;
    if (heddle_cli_value_is_optional(option->kind)) {
        snprintf(text + used, size - (size_t)used, "[=%s]", option->value);
        return text;
    }
    if (option->kind != HEDDLE_CLI_CHOICE) {
        snprintf(text + used, size - (size_t)used, " %s", option->value);
        return text;
    }
    for (int i = 0; option->choices[i] != NULL && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%s", i == 0 ? " " : "|", option->choices[i]);
    return text;
}

// A word as it is printed: a page of docs/ with its path, and the punctuation after its name.
static const char *word_of(const char *text, int length, char word[WORD_SIZE])
{
    static const char docs[] = "docs/", md[] = ".md";
    char given[USAGE_SIZE], name[USAGE_SIZE], path[HEDDLE_PLACE_SIZE];
    snprintf(word, WORD_SIZE, "%.*s", length, text);
    snprintf(given, sizeof given, "%s", word);
    const char *begin = given + strlen(docs), *end = strstr(given, md);
    if (strncmp(given, docs, strlen(docs)) != 0 || end == NULL)
        return word;
    end += strlen(md);
    snprintf(name, sizeof name, "%.*s", (int)(end - begin), begin);
    snprintf(word, WORD_SIZE, "%s%s", heddle_page(name, path), end);
    return word;
}

void heddle_cli_print_wrapped(FILE *file, const char *text, int column, int indent)
{
    bool line_is_empty = true;
    while (*text != '\0') {
        char word[WORD_SIZE];
        const int taken = (int)strcspn(text, " \n"), length = (int)strlen(word_of(text, taken, word));
        if (!line_is_empty && column + 1 + length > HELP_WIDTH) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
            line_is_empty = true;
        }
        column += fprintf(file, "%s%s", line_is_empty ? "" : " ", word);
        line_is_empty = false;
        text += taken;
        if (*text == '\n') {
            fprintf(file, "\n%*s", text[1] == '\n' || text[1] == '\0' ? 0 : indent, "");
            column = indent;
            line_is_empty = true;
        }
        text += *text != '\0';
    }
    fputc('\n', file);
}

static int option_column(const heddle_cli_option *options, int count)
{
    int widest = 0;
    for (int i = 0; i < count; i++) {
        char usage[USAGE_SIZE];
        int width = (int)strlen(heddle_cli_option_usage(&options[i], usage, sizeof usage));
        if (width > widest && width <= OPTION_COLUMN_MOST)
            widest = width;
    }
    return widest;
}

static void print_options(FILE *file, const heddle_cli_option *options, int count, int width)
{
    const int margin = 2;
    int column = margin + width + margin;
    for (int i = 0; i < count; i++) {
        char usage[USAGE_SIZE], help[SENTENCE_SIZE];
        heddle_cli_option_usage(&options[i], usage, sizeof usage);
        fprintf(file, "%*s%-*s", margin, "", width, usage);
        if ((int)strlen(usage) > width)
            fprintf(file, "\n%*s", margin + width, "");
        fprintf(file, "%*s", margin, "");
        if (options[i].initial != NULL)
            snprintf(help, sizeof help, "%s; default: %s", options[i].help, options[i].initial);
        else
            snprintf(help, sizeof help, "%s", options[i].help);
        heddle_cli_print_wrapped(file, help, column, column);
    }
}

static void print_indented(FILE *file, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        fprintf(file, "  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

void heddle_cli_print_commands(FILE *file, const heddle_cli_command *const *commands)
{
    int widest = 0;
    for (int i = 0; commands[i] != NULL; i++)
        if ((int)strlen(commands[i]->name) > widest)
            widest = (int)strlen(commands[i]->name);
    for (int i = 0; commands[i] != NULL; i++) {
        fprintf(file, "  %-*s  ", widest, commands[i]->name);
        heddle_cli_print_wrapped(file, commands[i]->summary, widest + 4, widest + 4);
    }
}

void heddle_cli_print_help(const heddle_cli_command *command, FILE *file)
{
    fprintf(file, "Usage: heddle %s%s%s%s\n\n", command->name, command->option_count > 0 ? " [OPTIONS]" : "",
            command->arguments != NULL ? " " : "", command->arguments != NULL ? command->arguments : "");
    char sentence[SENTENCE_SIZE];
    snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)command->summary[0]), command->summary + 1);
    heddle_cli_print_wrapped(file, sentence, 0, 0);
    if (command->description != NULL) {
        fputc('\n', file);
        heddle_cli_print_wrapped(file, command->description, 0, 0);
    }
    if (command->actions != NULL) {
        fputs("\nActions:\n", file);
        heddle_cli_print_commands(file, command->actions);
    }
    int own = option_column(command->options, command->option_count);
    int common = option_column(heddle_cli_common_options, heddle_cli_common_option_count);
    int width = own > common ? own : common;
    fputs("\nOptions:\n", file);
    print_options(file, command->options, command->option_count, width);
    print_options(file, heddle_cli_common_options, heddle_cli_common_option_count, width);
    fputs("\nExample:\n", file);
    print_indented(file, command->example);
}

void heddle_cli_print_version(FILE *file)
{
    fprintf(file, "heddle %s\n", heddle_version());
}

const heddle_cli_topic *heddle_cli_find_topic(const heddle_cli_command *command, const char *name)
{
    for (int i = 0; i < command->topic_count; i++)
        if (strcmp(command->topics[i].name, name) == 0)
            return &command->topics[i];
    return NULL;
}

static bool goes_with(const heddle_cli_topic *topic, const char *option)
{
    for (int i = 0; topic->without[i] != NULL; i++)
        for (int j = 0; topic->without[i][j] != NULL; j++)
            if (strcmp(topic->without[i][j], option) == 0)
                return false;
    return true;
}

// What the topic's page says about the option.
static const char *help_of(const heddle_cli_topic *topic, const heddle_cli_option *option)
{
    const char *text = option->help;
    const size_t length = strlen(topic->name);
    for (int i = 0; topic->helps != NULL && topic->helps[i].option != NULL; i++)
        if (strcmp(topic->helps[i].option, option->name) == 0)
            return topic->helps[i].help;
    // "train, infer: images per step"
    for (bool named = false;;) {
        const size_t word = strcspn(text, ",: ");
        named |= word == length && strncmp(text, topic->name, length) == 0;
        if (strncmp(text + word, ": ", 2) == 0)
            return named ? text + word + 2 : option->help;
        if (strncmp(text + word, ", ", 2) != 0)
            return option->help;
        text += word + 2;
    }
}

void heddle_cli_print_topic(const heddle_cli_command *command, const heddle_cli_topic *topic, FILE *file)
{
    char name[USAGE_SIZE];
    heddle_cli_option options[MOST_OPTIONS];
    snprintf(name, sizeof name, "%s %s", command->name, topic->name);
    heddle_cli_command part = {
        .name = name,
        .summary = topic->summary,
        .description = topic->description,
        .example = topic->example,
        .options = options,
    };
    for (int i = 0; i < command->option_count && part.option_count < MOST_OPTIONS; i++)
        if (goes_with(topic, command->options[i].name)) {
            options[part.option_count] = command->options[i];
            options[part.option_count++].help = help_of(topic, &command->options[i]);
        }
    heddle_cli_print_help(&part, file);
}
