// Leaves out of a PyTorch extension what needs PyTorch, before anything else is read of it.

#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"
#include "source/torch.h"

static void find_all(const sim_unit *unit, const sim_source *const *sources, sim_torch_names *names)
{
    for (bool grew = true; grew;) {
        grew = false;
        for (int i = 0; i < unit->file_count; i++)
            grew |= !sim_torch_is_program(sources[i]) && sim_torch_learn(sources[i], sources, names);
    }
}

// Reads the file anew, from its changed text.
static void open_again(sim_file *file)
{
    sim_source *source = &file->source;
    char *path = strdup(source->path), *text = source->text;
    size_t bytes = source->bytes;
    source->text = NULL;
    sim_source_close(source);
    sim_source_open(source, path ? path : "", text, bytes);
    file->failed |= !path;
    file->changed = true;
    sim_edits_free(file);
    file->edits = NULL;
    file->edit_count = file->edit_room = 0;
    free(path);
}

void sim_leave_out_torch(sim_unit *unit)
{
    const sim_source **sources = calloc((size_t)unit->file_count + 1, sizeof *sources);
    sim_torch_names names = {0};
    sim_qualifiers known = {0};
    sim_torch_qualifiers(&known);
    for (int i = 0; i < unit->file_count; i++)
        sim_qualifiers_learn(&known, &unit->files[i]->source);
    for (int i = 0; i < unit->file_count; i++) {
        sim_scopes_find(&unit->files[i]->source, &known);
        if (sources)
            sources[i] = &unit->files[i]->source;
    }
    if (sources)
        find_all(unit, sources, &names);
    for (int i = 0; i < unit->file_count; i++) {
        sim_torch_parts parts = {0};
        if (!sim_torch_is_program(&unit->files[i]->source))
            sim_torch_find(&unit->files[i]->source, &names, &parts);
        sim_torch_blank(&unit->files[i]->source, &parts);
        sim_torch_parts_free(&parts);
        open_again(unit->files[i]);
    }
    sim_qualifiers_free(&known);
    sim_torch_names_free(&names);
    free(sources);
}
