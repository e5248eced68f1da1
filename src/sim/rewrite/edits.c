// The list of edits of a file, and the text that comes of it. No edit adds or removes a line.

#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"

static void add(sim_file *file, uint32_t start, uint32_t removed, char *inserted)
{
    if (!inserted || !sim_array_grow(&file->edits, file->edit_count, &file->edit_room, sizeof *file->edits)) {
        free(inserted);
        file->failed = true;
        return;
    }
    file->edits[file->edit_count] = (sim_edit){start, removed, inserted, file->edit_count};
    file->edit_count++;
}

void sim_edit_insert(sim_file *file, uint32_t at, const char *inserted)
{
    add(file, at, 0, strdup(inserted));
}

void sim_edit_replace(sim_file *file, uint32_t start, uint32_t end, const char *inserted)
{
    sim_text text = {0};
    sim_text_add(&text, inserted);
    for (uint32_t i = start; i < end; i++) {
        if (file->source.text[i] != '\n')
            continue;
        // On a preprocessor line the newline is continued; elsewhere the backslash does no harm to a space.
        bool returned = i > start && file->source.text[i - 1] == '\r';
        uint32_t before = returned ? i - 1 : i;
        bool continued = before > start && file->source.text[before - 1] == '\\';
        sim_text_add(&text, continued && returned ? " \\\r\n" : continued ? " \\\n" : "\n");
    }
    add(file, start, end - start, sim_text_take(&text));
}

static int compare_edits(const void *left, const void *right)
{
    const sim_edit *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    // What is inserted before a token comes before what replaces it.
    if ((a->removed == 0) != (b->removed == 0))
        return a->removed == 0 ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void sim_edits_apply(sim_file *file, sim_text *result)
{
    if (file->edit_count > 1)
        qsort(file->edits, (size_t)file->edit_count, sizeof *file->edits, compare_edits);
    uint32_t at = 0;
    for (int i = 0; i < file->edit_count; i++) {
        const sim_edit *edit = &file->edits[i];
        if (edit->start < at)
            continue; // inside what another edit has replaced
        sim_text_add_bytes(result, file->source.text + at, edit->start - at);
        sim_text_add(result, edit->inserted);
        at = edit->start + edit->removed;
    }
    sim_text_add_bytes(result, file->source.text + at, file->source.bytes - at);
}

void sim_edits_free(sim_file *file)
{
    for (int i = 0; i < file->edit_count; i++)
        free(file->edits[i].inserted);
    free(file->edits);
}
