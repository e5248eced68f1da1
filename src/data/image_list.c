// Lists the image files of a folder. Names are compared byte by byte, so that the order, and with it the numbers of
// classes and images, is the same in every locale.

#include "data/image_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "data/folder.h"
#include "io/image_file.h"

enum {
    MOST_DEPTH = 16, // of folders inside the folder of a class; more are links that lead back
    TEST_PART = 10,  // one in so many images is for testing
};

static const char *const test_names[] = {"test", "val", NULL};

// --- folders --------------------------------------------------------------------------------------------------------

static int is_visible(const struct dirent *item)
{
    return item->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

typedef struct heddle_items {
    struct dirent **items;
    int count;
} heddle_items;

static heddle_status list_items(const char *folder, heddle_items *found)
{
    found->count = scandir(folder, &found->items, is_visible, by_name);
    if (found->count >= 0)
        return HEDDLE_OK;
    *found = (heddle_items){0};
    return heddle_fail(HEDDLE_IO, "%s: cannot list the folder: %s", folder, strerror(errno));
}

static void free_items(heddle_items *found)
{
    for (int i = 0; i < found->count; i++)
        free(found->items[i]);
    free(found->items);
}

// "folder/name", which the caller frees; NULL: no memory.
static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static bool is_folder(const struct dirent *item, const char *path)
{
    return item->d_type == DT_DIR || (item->d_type != DT_REG && heddle_folder_exists(path));
}

static heddle_status no_memory(const char *folder)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to list its files", folder);
}

// Whether the folder has image files itself, and whether it has folders that have some, down to `depth` levels.
static void look(const char *folder, int depth, bool *images, bool *folders)
{
    heddle_items found;
    *images = *folders = false;
    if (list_items(folder, &found) != HEDDLE_OK)
        return;
    for (int i = 0; i < found.count && !(*images && *folders); i++) {
        char *path = join(folder, found.items[i]->d_name);
        if (path && is_folder(found.items[i], path)) {
            bool inner_images = false, inner_folders = false;
            if (depth > 0 && !*folders)
                look(path, depth - 1, &inner_images, &inner_folders);
            *folders |= inner_images || inner_folders;
        } else if (heddle_image_file_is_named(found.items[i]->d_name)) {
            *images = true;
        }
        free(path);
    }
    free_items(&found);
}

heddle_image_layout heddle_image_layout_of(const char *folder)
{
    enum { DEPTH = 3 }; // train/, a class, a folder in it
    bool images, folders;
    look(folder, DEPTH, &images, &folders);
    return folders ? HEDDLE_IMAGES_BY_CLASS : images ? HEDDLE_IMAGES_LOOSE : HEDDLE_IMAGES_NONE;
}

// --- files ----------------------------------------------------------------------------------------------------------

// Takes over `path`.
static heddle_status append(heddle_image_list *list, char *path, size_t name_at, int label, heddle_split split)
{
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 1024;
        heddle_image_entry *grown =
            list->room <= INT_MAX / 4 ? realloc(list->entries, (size_t)room * sizeof *grown) : NULL;
        if (!grown) {
            heddle_status status = no_memory(path);
            free(path);
            return status;
        }
        list->entries = grown;
        list->room = room;
    }
    list->entries[list->count++] =
        (heddle_image_entry){.path = path, .name = path + name_at, .label = label, .split = split};
    return HEDDLE_OK;
}

// --- what is left out -----------------------------------------------------------------------------------------------

static void ignore(int *count, char name[64], const char *ignored)
{
    if ((*count)++ == 0)
        snprintf(name, 64, "%.*s", (int)heddle_text_prefix(ignored, 20), ignored);
}

// A link that leads nowhere may have been a folder of images.
static bool is_broken_link(const struct dirent *item, const char *path)
{
    return (item->d_type == DT_LNK || item->d_type == DT_UNKNOWN) && access(path, F_OK) != 0;
}

// Of a class, every file was meant to be an image.
static void ignore_item(heddle_image_ignored *ignored, const struct dirent *item, const char *path)
{
    if (is_broken_link(item, path))
        ignore(&ignored->links, ignored->link, item->d_name);
    else
        ignore(&ignored->files, ignored->file, item->d_name);
}

// Beside classes there may be a README, but pictures there belong to none.
static void ignore_beside_classes(heddle_image_ignored *ignored, const struct dirent *item, const char *path)
{
    static const char *const endings[] = {".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic", ".avif"};
    bool picture = heddle_image_file_is_named(item->d_name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        picture |= heddle_text_ends(item->d_name, endings[i]);
    if (picture || is_broken_link(item, path))
        ignore_item(ignored, item, path);
}

// The number of things, what they are, and the name of one.
static void add_ignored(char *text, size_t size, int count, const char *one, const char *several, const char *name)
{
    const size_t used = strlen(text);
    if (count > 0)
        snprintf(text + used, size - used, "%s%d %s (%s%s)", used ? ", " : "", count, count == 1 ? one : several,
                 count == 1 ? "" : "such as ", name);
}

const char *heddle_image_ignored_text(const heddle_image_ignored *ignored, char *text, size_t size)
{
    text[0] = '\0';
    add_ignored(text, size, ignored->files, "file that is not a PNG or JPEG image of a class",
                "files that are not PNG or JPEG images of a class", ignored->file);
    add_ignored(text, size, ignored->folders, "folder beside train and test", "folders beside train and test",
                ignored->folder);
    add_ignored(text, size, ignored->links, "link that leads nowhere", "links that lead nowhere", ignored->link);
    heddle_text_one_line(text);
    return text;
}

// What is listed now: the files of one class.
typedef struct heddle_listing {
    heddle_image_list *list;
    size_t name_at; // where names inside the folder of the class begin in a path
    int label;
    heddle_split split;
} heddle_listing;

static heddle_status collect(const heddle_listing *listing, const char *folder, int depth);

static heddle_status collect_item(const heddle_listing *listing, const struct dirent *item, const char *folder,
                                  int depth)
{
    char *path = join(folder, item->d_name);
    if (!path)
        return no_memory(folder);
    heddle_status status = HEDDLE_OK;
    if (is_folder(item, path))
        status = collect(listing, path, depth + 1);
    else if (heddle_image_file_is_named(item->d_name))
        return append(listing->list, path, listing->name_at, listing->label, listing->split);
    else
        ignore_item(&listing->list->ignored, item, path);
    free(path);
    return status;
}

static heddle_status collect(const heddle_listing *listing, const char *folder, int depth)
{
    if (depth > MOST_DEPTH)
        return heddle_fail(HEDDLE_INVALID, "%s: folders are nested more than %d deep; does a link lead back?", folder,
                           MOST_DEPTH);
    heddle_items found;
    HEDDLE_TRY(list_items(folder, &found));
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < found.count && status == HEDDLE_OK; i++)
        status = collect_item(listing, found.items[i], folder, depth);
    free_items(&found);
    return status;
}

// --- splitting ------------------------------------------------------------------------------------------------------

typedef struct heddle_hashed {
    uint64_t hash;
    heddle_image_entry *entry;
} heddle_hashed;

// FNV-1a, and a last mix, since names often differ in their last characters only.
static uint64_t hash_name(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    return hash ^ hash >> 33;
}

static int by_hash(const void *a_, const void *b_)
{
    const heddle_hashed *a = a_, *b = b_;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return strcmp(a->entry->name, b->entry->name);
}

// Of the files of one class the tenth with the smallest hashes, at least one if there are two.
static heddle_status hold_out(const char *folder, heddle_image_entry *entries, int count)
{
    heddle_hashed *hashed = malloc((size_t)count * sizeof *hashed);
    if (!hashed)
        return no_memory(folder);
    for (int i = 0; i < count; i++)
        hashed[i] = (heddle_hashed){.hash = hash_name(entries[i].name), .entry = &entries[i]};
    qsort(hashed, (size_t)count, sizeof *hashed, by_hash);
    int held = (count + TEST_PART / 2) / TEST_PART;
    if (held == 0 && count > 1)
        held = 1;
    for (int i = 0; i < held; i++)
        hashed[i].entry->split = HEDDLE_TEST;
    free(hashed);
    return HEDDLE_OK;
}

// --- classes --------------------------------------------------------------------------------------------------------

static int find_class(const heddle_image_list *list, const char *name)
{
    for (int i = 0; i < list->classes; i++)
        if (strcmp(list->class_names[i], name) == 0)
            return i;
    return -1;
}

static heddle_status add_class(heddle_image_list *list, const char *folder, const char *name)
{
    if (list->classes == HEDDLE_MOST_CLASSES)
        return heddle_fail(HEDDLE_INVALID, "%s has more than %d subfolders; heddle trains at most %d classes", folder,
                           HEDDLE_MOST_CLASSES, HEDDLE_MOST_CLASSES);
    char *copy = strdup(name);
    if (!copy)
        return no_memory(folder);
    list->class_names[list->classes++] = copy;
    return HEDDLE_OK;
}

// How the subfolders of one folder are listed.
typedef struct heddle_class_rules {
    heddle_split split;
    bool may_add;     // classes that are not known yet
    bool holds_out;   // some of the files for testing
    const char *from; // where the classes were learned, for errors
} heddle_class_rules;

static heddle_status list_class(const char *folder, const char *name, const char *path, const heddle_class_rules *rules,
                                heddle_image_list *list)
{
    if (rules->may_add)
        HEDDLE_TRY(add_class(list, folder, name));
    const heddle_listing listing = {
        .list = list, .name_at = strlen(path) + 1, .label = find_class(list, name), .split = rules->split};
    if (listing.label < 0)
        return heddle_fail(HEDDLE_INVALID, "%s: class %s is not one of %s", folder, name, rules->from);
    int before = list->count;
    HEDDLE_TRY(collect(&listing, path, 0));
    if (list->count == before)
        return heddle_fail(HEDDLE_NOT_FOUND, "%s has no PNG or JPEG files; every subfolder of %s is a class", path,
                           folder);
    return rules->holds_out ? hold_out(folder, list->entries + before, list->count - before) : HEDDLE_OK;
}

static heddle_status list_classes(const char *folder, const heddle_class_rules *rules, heddle_image_list *list)
{
    heddle_items found;
    HEDDLE_TRY(list_items(folder, &found));
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < found.count && status == HEDDLE_OK; i++) {
        char *path = join(folder, found.items[i]->d_name);
        if (!path)
            status = no_memory(folder);
        else if (is_folder(found.items[i], path))
            status = list_class(folder, found.items[i]->d_name, path, rules, list);
        else
            ignore_beside_classes(&list->ignored, found.items[i], path);
        free(path);
    }
    free_items(&found);
    return status;
}

// The path of folder/name if that has image files in subfolders.
static bool find_split(const char *folder, const char *name, char path[HEDDLE_PATH_SIZE])
{
    return snprintf(path, HEDDLE_PATH_SIZE, "%s/%s", folder, name) < HEDDLE_PATH_SIZE && heddle_folder_exists(path) &&
           heddle_image_layout_of(path) == HEDDLE_IMAGES_BY_CLASS;
}

static bool find_test(const char *folder, char path[HEDDLE_PATH_SIZE])
{
    for (int i = 0; test_names[i]; i++)
        if (find_split(folder, test_names[i], path))
            return true;
    return false;
}

// Folders beside those of the splits, which both are in `folder`.
static void ignore_folders(const char *folder, const char *train, const char *test, heddle_image_ignored *ignored)
{
    heddle_items found;
    if (list_items(folder, &found) != HEDDLE_OK)
        return;
    for (int i = 0; i < found.count; i++) {
        char *path = join(folder, found.items[i]->d_name);
        if (path && is_folder(found.items[i], path) && strcmp(path, train) != 0 && strcmp(path, test) != 0)
            ignore(&ignored->folders, ignored->folder, found.items[i]->d_name);
        else if (path && !is_folder(found.items[i], path))
            ignore_beside_classes(ignored, found.items[i], path);
        free(path);
    }
    free_items(&found);
}

heddle_status heddle_image_list_read(const char *folder, const char *const *known, int known_count,
                                     heddle_image_list *list)
{
    *list = (heddle_image_list){0};
    for (int i = 0; i < known_count && known; i++)
        HEDDLE_TRY(add_class(list, folder, known[i]));
    heddle_class_rules rules = {.split = HEDDLE_TRAIN, .may_add = !known, .from = "those the network was trained on"};
    char train[HEDDLE_PATH_SIZE], test[HEDDLE_PATH_SIZE];
    if (!find_split(folder, "train", train)) {
        rules.holds_out = true;
        HEDDLE_TRY(list_classes(folder, &rules, list));
    } else if (find_test(folder, test)) {
        ignore_folders(folder, train, test, &list->ignored);
        HEDDLE_TRY(list_classes(train, &rules, list));
        HEDDLE_TRY(
            list_classes(test, &(heddle_class_rules){.split = HEDDLE_TEST, .from = known ? rules.from : train}, list));
    } else {
        return heddle_fail(HEDDLE_NOT_FOUND, "%s has train but neither test nor val; give %s to have a tenth held out",
                           folder, train);
    }
    for (int i = 0; i < list->classes; i++)
        heddle_text_one_line(list->class_names[i]); // they are printed
    return HEDDLE_OK;
}

void heddle_image_list_free(heddle_image_list *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->entries[i].path);
        free(list->entries[i].error);
    }
    free(list->entries);
    for (int i = 0; i < list->classes; i++)
        free(list->class_names[i]);
    *list = (heddle_image_list){0};
}
