// The shapes of --shape, which may be repeated and holds one or more separated by semicolons.

#include "cli/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\f\v"

static bool has_only(const char *text, const char *signs)
{
    return text[strspn(text, signs)] == '\0';
}

// An empty script variable must not count as a missing --shape.
static heddle_status refuse_empty(const heddle_cli_list *given)
{
    for (int i = 0; i < given->count; i++)
        if (has_only(given->items[i], BLANKS ";"))
            return heddle_fail(HEDDLE_INVALID,
                               "--shape is empty: give a shape such as \"m=64 n=64 k=100\", or leave it out");
    return HEDDLE_OK;
}

// Normalises the blanks: shapes are shown in notes and tables, which a line break would spoil.
static void tidy(char *shape)
{
    char *end = shape, *rest = NULL;
    for (char *field = strtok_r(shape, BLANKS, &rest); field; field = strtok_r(NULL, BLANKS, &rest)) {
        size_t length = strlen(field);
        if (end > shape)
            *end++ = ' ';
        memmove(end, field, length);
        end += length;
    }
    *end = '\0';
}

heddle_status heddle_cli_shapes_read(const heddle_cli_list *given, heddle_cli_shapes *shapes)
{
    size_t length = 1;
    *shapes = (heddle_cli_shapes){0};
    HEDDLE_TRY(refuse_empty(given));
    for (int i = 0; i < given->count; i++)
        length += strlen(given->items[i]) + 1;
    shapes->text = calloc(length, 1);
    if (!shapes->text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the shapes");
    char *end = shapes->text, *rest = NULL;
    for (int i = 0; i < given->count; i++)
        end += snprintf(end, length - (size_t)(end - shapes->text), "%s;", given->items[i]);
    for (char *one = strtok_r(shapes->text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        tidy(one);
        if (one[0] == '\0')
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
