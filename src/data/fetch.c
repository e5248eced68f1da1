// `heddle data get`: which files a named set has and where they go. The downloading itself is in download.c.

#include <stdio.h>
#include <string.h>

#include "data/folder.h"
#include "data/registry.h"
#include "heddle/data.h"

heddle_status heddle_dataset_download(const char *name, const char *folder, const char *const *mirrors,
                                      heddle_download_progress *progress, void *context)
{
    const heddle_named_set *set = name ? heddle_named_set_find(name, strlen(name)) : NULL;
    if (!set) {
        const char *nearest = name ? heddle_named_set_nearest(name) : NULL;
        return heddle_fail(HEDDLE_NOT_FOUND, "no dataset called %s to download%s%s (there are mnist and fashion)",
                           name ? name : "", nearest ? "; did you mean " : "", nearest ? nearest : "");
    }
    if (!set->files)
        return heddle_fail(HEDDLE_INVALID, "dataset %s is drawn by heddle itself: nothing to download", name);

    char root[HEDDLE_PATH_SIZE], path[HEDDLE_PATH_SIZE];
    if (!folder)
        HEDDLE_TRY(heddle_data_folder(root, sizeof root));
    int length = snprintf(path, sizeof path, "%s/%s", folder ? folder : root, set->folders[0]);
    if (length >= (int)sizeof path)
        return heddle_fail(HEDDLE_INVALID, "the path of folder %s is too long", folder ? folder : root);
    return heddle_download(path, mirrors ? mirrors : set->mirrors, set->files, HEDDLE_FILES_OF_A_SET, progress,
                           context);
}
