// Datasets by name: where a named dataset is, which are installed, which is the best, and opening it. folder.c and
// image_folder.c read, synth.c generates and fetch.c downloads.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/place.h"
#include "data/folder.h"
#include "data/image_folder.h"
#include "data/image_list.h"
#include "data/owned.h"
#include "data/registry.h"
#include "data/synth.h"
#include "heddle/data.h"

static const char system_folder[] = "/usr/share/datasets"; // where Debian's packages put theirs

enum {
    MAX_ROOTS = 4, // the argument, the environment, the user's, the system's
};

heddle_status heddle_data_folder(char *path, size_t size)
{
    const char *data_home = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    int length;
    if (data_home && data_home[0] == '/') // the specification: relative paths are ignored
        length = snprintf(path, size, "%s/heddle", data_home);
    else if (home && home[0])
        length = snprintf(path, size, "%s/.local/share/heddle", home);
    else
        return heddle_fail(HEDDLE_MISSING, "no data folder: neither XDG_DATA_HOME nor HOME is set");
    if (length < 0 || (size_t)length >= size)
        return heddle_fail(HEDDLE_INVALID, "the path of the data folder is longer than %zu characters", size);
    return HEDDLE_OK;
}

// --- looking --------------------------------------------------------------------------------------------------------

typedef struct heddle_roots {
    int count;
    char path[MAX_ROOTS][HEDDLE_PATH_SIZE];
} heddle_roots;

static void add_root(heddle_roots *roots, const char *path)
{
    if (path && path[0] && strlen(path) < HEDDLE_PATH_SIZE)
        snprintf(roots->path[roots->count++], HEDDLE_PATH_SIZE, "%s", path);
}

static void list_roots(const char *folder, heddle_roots *roots)
{
    char own[HEDDLE_PATH_SIZE];
    roots->count = 0;
    add_root(roots, folder);
    add_root(roots, getenv("HEDDLE_DATA"));
    if (heddle_data_folder(own, sizeof own) == HEDDLE_OK)
        add_root(roots, own);
    add_root(roots, system_folder);
}

// Whether the last part of `path` is `name`, trailing slashes aside.
static bool is_called(const char *path, const char *name)
{
    size_t end = strlen(path), length = strlen(name);
    while (end > 0 && path[end - 1] == '/')
        end--;
    return end >= length && memcmp(path + end - length, name, length) == 0 &&
           (end == length || path[end - length - 1] == '/');
}

static bool is_called_any(const char *path, const heddle_named_set *set)
{
    for (int i = 0; set->folders && set->folders[i]; i++)
        if (is_called(path, set->folders[i]))
            return true;
    return false;
}

// Files in `root` itself belong to the dataset if the folder has its name or, for mnist, if it has no other dataset's
// name.
static bool is_at_root(const char *root, const heddle_named_set *set)
{
    if (is_called_any(root, set))
        return true;
    if (!set->may_be_at_root)
        return false;
    for (int i = 0; i < heddle_named_set_count; i++)
        if (&heddle_named_sets[i] != set && is_called_any(root, &heddle_named_sets[i]))
            return false;
    return true;
}

typedef bool heddle_folder_test(const char *folder);

static bool has_train(const char *folder)
{
    return heddle_folder_has(folder, HEDDLE_TRAIN);
}

static bool has_test(const char *folder)
{
    return heddle_folder_has(folder, HEDDLE_TEST);
}

static bool has_both(const char *folder)
{
    return has_train(folder) && has_test(folder);
}

// The first folder of the set that passes the test.
static bool find_set(const heddle_named_set *set, const char *folder, heddle_folder_test *test,
                     char where[HEDDLE_PATH_SIZE])
{
    heddle_roots *roots = malloc(sizeof *roots);
    if (!roots)
        return false;
    list_roots(folder, roots);
    bool found = false;
    for (int r = 0; r < roots->count && !found; r++) {
        for (int i = 0; set->folders[i] && !found; i++)
            found = snprintf(where, HEDDLE_PATH_SIZE, "%s/%s", roots->path[r], set->folders[i]) < HEDDLE_PATH_SIZE &&
                    test(where);
        if (!found && is_at_root(roots->path[r], set) && test(roots->path[r])) {
            snprintf(where, HEDDLE_PATH_SIZE, "%s", roots->path[r]);
            found = true;
        }
    }
    free(roots);
    return found;
}

static bool is_present(const heddle_named_set *set, const char *folder)
{
    char where[HEDDLE_PATH_SIZE];
    return !set->files || find_set(set, folder, has_both, where);
}

const char *heddle_dataset_default(const char *folder)
{
    for (int i = 0; i < heddle_named_set_count; i++)
        if (is_present(&heddle_named_sets[i], folder))
            return heddle_named_sets[i].name;
    return "synth";
}

int heddle_dataset_list(const char *folder, heddle_dataset_info *list, int room)
{
    for (int i = 0; i < heddle_named_set_count && i < room; i++) {
        const heddle_named_set *set = &heddle_named_sets[i];
        char where[HEDDLE_PATH_SIZE];
        list[i] = (heddle_dataset_info){.name = set->name, .summary = set->summary};
        list[i].present = !set->files || find_set(set, folder, has_both, where);
        bool in_folder = set->files && list[i].present;
        snprintf(list[i].where, sizeof list[i].where, "%s", in_folder ? where : set->how_to_get);
    }
    return heddle_named_set_count;
}

// --- opening --------------------------------------------------------------------------------------------------------

static heddle_status unknown_name(const char *name)
{
    char page[HEDDLE_PLACE_SIZE];
    if (heddle_file_exists(name))
        return heddle_fail(HEDDLE_INVALID, "%s is a file, not the folder of a dataset; %s describes the layout", name,
                           heddle_page("data.md", page));
    if (strchr(name, '/'))
        return heddle_fail(HEDDLE_NOT_FOUND, "%s: no such folder", name);
    const char *nearest = heddle_named_set_nearest(name);
    return heddle_fail(HEDDLE_NOT_FOUND, "unknown dataset or folder %s%s%s%s (datasets: mnist, fashion, synth)", name,
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static heddle_status open_named(const heddle_named_set *set, const char *folder, heddle_split split,
                                heddle_dataset **dataset)
{
    char where[HEDDLE_PATH_SIZE];
    if (find_set(set, folder, split == HEDDLE_TRAIN ? has_train : has_test, where))
        return heddle_folder_open(where, set, split, dataset);
    const bool is_here = heddle_folder_exists(set->name);
    return heddle_fail(HEDDLE_MISSING, "dataset %s is not %s%s: %s%s%s", set->name, folder ? "in " : "installed",
                       folder ? folder : "", set->how_to_get, is_here ? "; the folder here is --data ./" : "",
                       is_here ? set->name : "");
}

// A folder of files in MNIST's layout, or of image files.
static heddle_status open_folder(const char *name, heddle_split split, const heddle_dataset_options *options,
                                 heddle_dataset **dataset)
{
    heddle_image_layout layout = has_train(name) || has_test(name) ? HEDDLE_IMAGES_NONE : heddle_image_layout_of(name);
    if (layout == HEDDLE_IMAGES_LOOSE)
        return heddle_fail(HEDDLE_NOT_FOUND,
                           "%s has image files but no subfolders: put those of each class into a subfolder named after "
                           "it",
                           name);
    return layout == HEDDLE_IMAGES_BY_CLASS ? heddle_image_folder_open(name, split, options, dataset)
                                            : heddle_folder_open(name, NULL, split, dataset);
}

static heddle_status open_any(const char *name, heddle_split split, const heddle_dataset_options *with,
                              heddle_dataset **dataset)
{
    size_t length = strcspn(name, ":");
    const heddle_named_set *set = heddle_named_set_find(name, length);
    const char *options = set && name[length] == ':' ? name + length + 1 : NULL;
    if (set && !set->files)
        return heddle_synth_open(options, split, dataset);
    if (set && options)
        return heddle_fail(HEDDLE_INVALID, "dataset %s takes no options, but got %s", set->name, options);
    if (set)
        return open_named(set, with->folder, split, dataset);
    if (heddle_folder_exists(name))
        return open_folder(name, split, with, dataset);
    return unknown_name(name);
}

// What opens the same dataset again from any working folder: the name with its options, or the absolute path.
static void write_spec(const char *name, heddle_dataset *dataset)
{
    char *path = heddle_named_set_find(name, strcspn(name, ":")) ? NULL : realpath(name, NULL);
    const char *spec = path ? path : name;
    if (strlen(spec) < sizeof dataset->spec)
        snprintf(dataset->spec, sizeof dataset->spec, "%s", spec);
    free(path);
}

heddle_status heddle_dataset_open(const char *name, const char *folder, heddle_split split, heddle_dataset **dataset)
{
    return heddle_dataset_open_with(name, split, &(heddle_dataset_options){.folder = folder}, dataset);
}

heddle_status heddle_dataset_open_with(const char *name, heddle_split split, const heddle_dataset_options *options,
                                       heddle_dataset **dataset)
{
    *dataset = NULL;
    if (!name || !name[0])
        return heddle_fail(HEDDLE_INVALID, "no dataset named");
    if (split != HEDDLE_TRAIN && split != HEDDLE_TEST)
        return heddle_fail(HEDDLE_INVALID, "dataset %s: %d is not a split", name, (int)split);
    heddle_status status = open_any(name, split, options, dataset);
    if (*dataset)
        write_spec(name, *dataset);
    return status;
}

void heddle_dataset_close(heddle_dataset *dataset)
{
    if (dataset)
        heddle_owned_free((heddle_owned_dataset *)dataset);
}
