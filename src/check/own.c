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
