// Lines of the learner's file and the judge's, as a verdict quotes them.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/judging.h"

bool heddle_learn_is_learners(const heddle_learn_judging *judging, const char *file)
{
    return file && strcmp(file, judging->source) == 0;
}

static void remove_all(char *text, const char *part)
{
    size_t length = strlen(part);
    for (char *at = strstr(text, part); at && length > 0; at = strstr(at, part))
        memmove(at, at + length, strlen(at + length) + 1);
}

const char *heddle_learn_without_folders(const heddle_learn_judging *judging, const char *text)
{
    char folder[HEDDLE_PLACE_SIZE + 1];
    char *cleaned = heddle_arena_copy_text(judging->verdict->arena, text);
    if (!cleaned)
        return "";
    snprintf(folder, sizeof folder, "%s/", judging->folder);
    remove_all(cleaned, folder);
    snprintf(folder, sizeof folder, "%s/", judging->include);
    remove_all(cleaned, folder);
    return cleaned;
}

// "kernel copy" becomes "kernel `copy`", for names that are words.
static const char *quote_kernel(const heddle_learn_judging *judging, const char *text, const char *name)
{
    char words[256];
    size_t length = (size_t)snprintf(words, sizeof words, "kernel %s", name);
    const char *at = length < sizeof words ? strstr(text, words) : NULL;
    if (!at)
        return text;
    bool longer = isalnum((unsigned char)at[length]) || at[length] == '_';
    const char *rest = quote_kernel(judging, at + length, name);
    const char *quoted = heddle_learn_format(judging->verdict->arena, "%.*skernel %s%s%s%s", (int)(at - text), text,
                                             longer ? "" : "`", name, longer ? "" : "`", rest);
    return quoted ? quoted : text;
}

static const char *quote_kernels(const heddle_learn_judging *judging, const char *text)
{
    const heddle_check_report *run =
        judging->result && judging->result->run_count > 0 ? judging->result->runs[0] : NULL;
    for (int k = 0; run && k < run->kernel_count; k++) {
        bool again = false; // one kernel may be there once per launch
        for (int before = 0; before < k; before++)
            again |= strcmp(run->kernels[before].name, run->kernels[k].name) == 0;
        text = again ? text : quote_kernel(judging, text, run->kernels[k].name);
    }
    return text;
}

const char *heddle_learn_clean(const heddle_learn_judging *judging, const char *text)
{
    return quote_kernels(judging, heddle_learn_without_folders(judging, text));
}

// The frame of a place that a learner knows best: in their own file, else in the judge.
static const heddle_check_frame *known_frame(const heddle_learn_judging *judging, const heddle_check_place *place)
{
    for (int i = 0; i < place->frames; i++)
        if (heddle_learn_is_learners(judging, place->frame[i].file))
            return &place->frame[i];
    for (int i = 0; i < place->frames; i++)
        if (place->frame[i].file && strcmp(place->frame[i].file, judging->judge) == 0)
            return &place->frame[i];
    return NULL;
}

void heddle_learn_quote(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                        const heddle_check_place *place, const char *about)
{
    const heddle_check_frame *frame = known_frame(judging, place);
    const char *text = frame ? heddle_check_sources_line(judging->sources, frame->file, frame->line) : NULL;
    if (!text)
        return;
    bool own = heddle_learn_is_learners(judging, frame->file), innermost = frame == &place->frame[0];
    heddle_learn_item *item = heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_CODE, "%s", text);
    item->file = own ? judging->shown : "the judge";
    item->line = frame->line;
    item->column = innermost && place->column > 0 ? place->column : frame->column;
    item->width = innermost && place->column > 0 ? place->width : item->column > 0;
    item->about = about;
    if (own && reason->line == 0) {
        reason->line = item->line;
        reason->column = item->column;
    }
}

int heddle_learn_dimensions(const heddle_check_kernel *kernel)
{
    return kernel->grid[2] * kernel->block[2] > 1 ? 3 : kernel->grid[1] * kernel->block[1] > 1 ? 2 : 1;
}

// "(1,2,3)"; false: another text.
static bool read_triple(const char *text, long index[3], size_t *length)
{
    char *end = (char *)text;
    if (text[0] != '(')
        return false;
    for (int i = 0; i < 3; i++) {
        const char *number = end + 1;
        index[i] = strtol(number, &end, 10);
        if (end == number || *end != (i < 2 ? ',' : ')'))
            return false;
    }
    *length = (size_t)(end + 1 - text);
    return true;
}

const char *heddle_learn_short_indices(const heddle_learn_judging *judging, const char *text, int dimensions)
{
    char *made = NULL;
    size_t size = 0;
    FILE *file = dimensions < 3 ? open_memstream(&made, &size) : NULL;
    if (!file)
        return text;
    while (*text) {
        long index[3];
        size_t length;
        // What is dropped must be 0: extents, such as (1, 0, 1), stay whole.
        if (!read_triple(text, index, &length) || index[2] != 0 || (dimensions == 1 && index[1] != 0)) {
            fputc(*text++, file);
            continue;
        }
        if (dimensions == 1)
            fprintf(file, "%ld", index[0]);
        else
            fprintf(file, "(%ld,%ld)", index[0], index[1]);
        text += length;
    }
    fclose(file);
    const char *kept = heddle_arena_copy_text(judging->verdict->arena, made);
    free(made);
    return kept ? kept : "";
}
