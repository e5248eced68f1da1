// Which files of a program are its own.

#include "check/own.h"

void heddle_check_own_files_find(heddle_check_own_files *files, heddle_check_sources *sources, const sim_source *source,
                                 const char *const *folders)
{
    for (int i = 0; i < files->count; i++)
        if (files->at[i] == source)
            return;
    if (!source || files->count == HEDDLE_CHECK_MOST_FILES)
        return;
    files->at[files->count++] = source;
    for (int i = 0; i < source->directive_count; i++)
        heddle_check_own_files_find(
            files, sources, heddle_check_sources_found(sources, source, &source->directives[i], folders), folders);
}

void heddle_check_own_files_add(heddle_check_own_files *files, heddle_check_sources *sources, const sim_source *source)
{
    heddle_check_own_files_find(files, sources, source, NULL);
}

heddle_check_own_files heddle_check_own_files_read(heddle_check_sources *sources, const char *const *paths)
{
    heddle_check_own_files files = {.count = 0};
    for (int i = 0; paths[i]; i++)
        heddle_check_own_files_add(&files, sources, heddle_check_sources_code(sources, paths[i]));
    return files;
}

heddle_check_place heddle_check_own_place(const sim_source *source, int token, heddle_arena *arena)
{
    const sim_token *at = &source->code.at[token];
    const char *file = heddle_arena_copy_text(arena, source->path);
    heddle_check_place place = {.role = "source", .frames = 1};
    place.frame[0] = (heddle_check_frame){.file = file ? file : "",
                                          .line = at->line,
                                          .column = (int)(at->start - sim_line_start(source, at)) + 1,
                                          .function = ""};
    return place;
}
