// `--recipe NAME|FILE`: settings of a run that belong together, as a JSON object of options and their values.
#pragma once

#include "heddle/status.h"

typedef struct heddle_cli_recipe {
    const char *name; // as given; NULL: none
    int count;
    char **words; // a command line: the recipe's options first, then those given, which win; ends with NULL
} heddle_cli_recipe;

// The command line with the recipe it names, if any. HEDDLE_INVALID: the recipe cannot be used.
heddle_status heddle_cli_recipe_expand(int argc, char **argv, heddle_cli_recipe *recipe);
void heddle_cli_recipe_free(heddle_cli_recipe *recipe, int argc);
