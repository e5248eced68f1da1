// The shapes of --shape, which may be given several times and holds one or more with semicolons between.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

heddle_status heddle_cli_shapes_read(const heddle_cli_list *given, heddle_cli_shapes *shapes)
{
    size_t length = 1;
    for (int i = 0; i < given->count; i++)
        length += strlen(given->items[i]) + 1;
    *shapes = (heddle_cli_shapes){.text = calloc(length, 1)};
    if (!shapes->text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the shapes");
    char *end = shapes->text, *rest = NULL;
    for (int i = 0; i < given->count; i++)
        end += snprintf(end, length - (size_t)(end - shapes->text), "%s;", given->items[i]);
    for (char *one = strtok_r(shapes->text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        if (is_blank(one))
            continue;
        if (shapes->count == HEDDLE_CLI_MOST_SHAPES)
            return heddle_fail(HEDDLE_INVALID, "more than %d shapes", HEDDLE_CLI_MOST_SHAPES);
        shapes->items[shapes->count++] = one;
    }
    return HEDDLE_OK;
}

void heddle_cli_shapes_free(heddle_cli_shapes *shapes)
{
    free(shapes->text);
    *shapes = (heddle_cli_shapes){0};
}
