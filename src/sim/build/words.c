// Splits text into words: blanks part them, quotes and backslashes keep blanks.

#include "build/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/text.h"
#include "source/lexer.h"

enum { DEEPEST_FILE = 8 }; // that is named in another

static void add(sim_words *words, const char *word)
{
    char *copy = strdup(word);
    // One place more is kept for the NULL at the end.
    if (!copy || !sim_array_grow(&words->at, words->count + 1, &words->room, sizeof *words->at)) {
        free(copy);
        words->failed = true;
        return;
    }
    words->at[words->count++] = copy;
    words->at[words->count] = NULL;
}

// Takes the next word off the text. False: there are no more.
static bool next_word(const char **text, sim_text *word)
{
    const char *at = *text;
    char quote = 0;
    while (*at && strchr(" \t\r\n", *at))
        at++;
    if (!*at)
        return false;
    for (; *at && (quote || !strchr(" \t\r\n", *at)); at++) {
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '"' || *at == '\''))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            sim_text_add_bytes(word, ++at, 1);
        else
            sim_text_add_bytes(word, at, 1);
    }
    *text = at;
    return true;
}

static void add_words(sim_words *words, int argc, char *const *argv, int depth);

static void add_text(sim_words *words, const char *text, int depth)
{
    sim_words own = {0};
    for (sim_text word = {0}; next_word(&text, &word); sim_text_free(&word))
        add(&own, word.at ? word.at : "");
    words->failed |= own.failed;
    add_words(words, own.count, own.at, depth);
    sim_words_free(&own);
}

static void add_file(sim_words *words, const char *path, int depth)
{
    sim_text text = {0};
    if (depth < DEEPEST_FILE && sim_text_read(&text, path)) {
        add_text(words, text.at ? text.at : "", depth + 1);
    } else {
        words->failed = true;
        words->unread = words->unread ? words->unread : strdup(path);
    }
    sim_text_free(&text);
}

static void add_words(sim_words *words, int argc, char *const *argv, int depth)
{
    static const char *const named[] = {"--options-file", "-optf"};
    for (int i = 0; i < argc; i++) {
        const char *file = argv[i][0] == '@' ? argv[i] + 1 : NULL;
        for (size_t k = 0; k < sizeof named / sizeof *named && !file; k++) {
            size_t length = strlen(named[k]);
            if (strncmp(argv[i], named[k], length) != 0)
                continue;
            if (argv[i][length] == '=')
                file = argv[i] + length + 1;
            else if (!argv[i][length] && i + 1 < argc)
                file = argv[++i];
        }
        if (file)
            add_file(words, file, depth);
        else
            add(words, argv[i]);
    }
}

void sim_words_add_list(sim_words *words, int argc, char *const *argv)
{
    add_words(words, argc, argv, 0);
}

void sim_words_add_text(sim_words *words, const char *text)
{
    if (text)
        add_text(words, text, 0);
}

void sim_words_free(sim_words *words)
{
    for (int i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    free(words->unread);
    *words = (sim_words){0};
}
