// Writes pages into $XDG_CACHE_HOME/heddle/explain, each when it is first needed.

#include "lsp/explained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/pages.h"
#include "lsp/uri.h"

static bool find_folder(char *folder, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(folder, size, "%s/heddle/explain", cache);
    else if (home && home[0] == '/')
        length = snprintf(folder, size, "%s/.cache/heddle/explain", home);
    return length > 0 && (size_t)length < size;
}

// Whether the file holds the page: one of an older version is written again.
static bool is_written(const char *path, const char *page)
{
    char *text = NULL;
    size_t size = 0;
    const bool same = heddle_file_exists(path) && heddle_file_read(path, strlen(page), &text, &size) == HEDDLE_OK &&
                      size == strlen(page) && memcmp(text, page, size) == 0;
    free(text);
    return same;
}

bool heddle_lsp_explained(heddle_check_kind kind, char address[HEDDLE_LSP_EXPLAINED_SIZE])
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    const char *page = heddle_check_page(kind);
    if (!page || !find_folder(folder, sizeof folder))
        return false;
    snprintf(path, sizeof path, "%s/%s.md", folder, heddle_check_kinds[kind].name);
    if (!is_written(path, page) &&
        (heddle_folder_create(folder) != HEDDLE_OK ||
         heddle_file_write_atomic(path, &(heddle_slice){page, strlen(page)}, 1) != HEDDLE_OK))
        return false;
    return heddle_lsp_uri_of(path, address, HEDDLE_LSP_EXPLAINED_SIZE)[0] != '\0';
}
