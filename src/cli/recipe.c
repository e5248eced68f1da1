// Recipes become words of the command line, so that every value is parsed and checked as if it had been typed.

#include "cli/recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static const struct {
    const char *name, *text;
} known[] = {
    {"course", "{\"model\": \"cnn\", \"optimizer\": \"sgd\", \"schedule\": \"constant\", \"lr\": 0.05, \"batch\": 64, "
               "\"epochs\": 3}"},
};
enum { KNOWN = sizeof known / sizeof *known };

// The value of the last --recipe before "--"; NULL: none.
static const char *recipe_of(int argc, char **argv)
{
    const char *found = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--recipe=", strlen("--recipe=")) == 0)
            found = argv[i] + strlen("--recipe=");
        else if (strcmp(argv[i], "--recipe") == 0 && i + 1 < argc)
            found = argv[++i];
    }
    return found;
}

static heddle_status read_recipe(const char *name, cJSON **json)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(name, known[i].name) == 0)
            return heddle_json_parse(name, known[i].text, strlen(known[i].text), json);
    const heddle_status status = heddle_json_read(name, json);
    return status == HEDDLE_CORRUPT ? heddle_fail(HEDDLE_INVALID, "%s", heddle_last_error()) : status;
}

// A whole number without a point or an exponent, which options that count expect; else the shortest text that reads
// back as the same number.
static int print_number(const char *name, double value, char **word)
{
    static const double too_large = 9223372036854775808.0; // 2^63
    char text[64];
    int digits = 15;
    if (value == trunc(value) && fabs(value) < too_large)
        return asprintf(word, "--%s=%lld", name, (long long)value);
    do {
        snprintf(text, sizeof text, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && ++digits <= 17);
    return asprintf(word, "--%s=%s", name, text);
}

// "--name=value", or NULL: not a value that an option can have.
static char *word_of(const cJSON *entry)
{
    char *word = NULL;
    int printed = -1;
    if (cJSON_IsString(entry))
        printed = asprintf(&word, "--%s=%s", entry->string, entry->valuestring);
    else if (cJSON_IsNumber(entry))
        printed = print_number(entry->string, entry->valuedouble, &word);
    else if (cJSON_IsTrue(entry))
        printed = asprintf(&word, "--%s", entry->string);
    return printed < 0 ? NULL : word;
}

static heddle_status add_words(const char *name, const cJSON *json, heddle_cli_recipe *recipe)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json)
    {
        if (strcmp(entry->string, "recipe") == 0)
            return heddle_fail(HEDDLE_INVALID, "recipe %s: a recipe cannot name another", name);
        if (entry->string[0] == '\0')
            return heddle_fail(HEDDLE_INVALID, "recipe %s: an option has no name", name);
        char *word = word_of(entry);
        if (word == NULL)
            return heddle_fail(HEDDLE_INVALID, "recipe %s: \"%s\" must be text, a number or true", name, entry->string);
        recipe->words[recipe->count++] = word;
    }
    return HEDDLE_OK;
}

heddle_status heddle_cli_recipe_expand(int argc, char **argv, heddle_cli_recipe *recipe)
{
    const char *name = recipe_of(argc, argv);
    cJSON *json = NULL;
    *recipe = (heddle_cli_recipe){.name = name};
    heddle_status status = name ? read_recipe(name, &json) : HEDDLE_OK;
    if (status == HEDDLE_OK && json && !cJSON_IsObject(json))
        status = heddle_fail(HEDDLE_INVALID, "recipe %s: expected an object of options, such as {\"lr\": 0.05}", name);
    if (status == HEDDLE_OK) {
        recipe->words = calloc((size_t)argc + (size_t)(json ? cJSON_GetArraySize(json) : 0) + 1, sizeof *recipe->words);
        if (recipe->words == NULL)
            status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a command line");
    }
    if (recipe->words) {
        recipe->words[recipe->count++] = argv[0];
        status = json ? add_words(name, json, recipe) : HEDDLE_OK;
    }
    if (status == HEDDLE_OK && recipe->words) {
        memcpy(recipe->words + recipe->count, argv + 1, (size_t)(argc - 1) * sizeof *argv);
        recipe->count += argc - 1;
    } else {
        heddle_cli_recipe_free(recipe, 1);
    }
    cJSON_Delete(json);
    return status;
}

void heddle_cli_recipe_free(heddle_cli_recipe *recipe, int argc)
{
    for (int i = 1; recipe->words && i < recipe->count - (argc - 1); i++)
        free(recipe->words[i]);
    free(recipe->words);
    *recipe = (heddle_cli_recipe){0};
}
