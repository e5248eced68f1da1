// The words of a command line, with those of the files and variables that it names.
#pragma once

#include <stdbool.h>

typedef struct sim_words {
    char **at; // ends with NULL
    int count, room;
    bool failed;  // no memory, or `unread`
    char *unread; // a file that could not be read; NULL: none
} sim_words;

// Adds the words of the command line; @FILE, --options-file FILE and -optf FILE stand for the words in that file.
void sim_words_add_list(sim_words *words, int argc, char *const *argv);
// Adds the words of a text as a shell would part them; NULL: none.
void sim_words_add_text(sim_words *words, const char *text);
void sim_words_free(sim_words *words);
