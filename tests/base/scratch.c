// Scratch folders for tests that write files.

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 8, PATH_SIZE = 4096, OPEN_FOLDERS = 16 };

static char folder[] = "/tmp/heddle-test-XXXXXX";

int scratch_create(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about;
    (void)kind;
    (void)walk;
    return remove(path);
}

int scratch_remove(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const char *name)
{
    static char paths[PATHS][PATH_SIZE];
    static int next;
    char *path = paths[next++ % PATHS];
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

void scratch_write(const char *name, const char *content)
{
    FILE *file = fopen(scratch_path(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, strlen(content), file), strlen(content));
    assert_int_equal(fclose(file), 0);
}

int scratch_count(void)
{
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    int count = 0;
    for (struct dirent *entry = readdir(open_folder); entry; entry = readdir(open_folder))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open_folder);
    return count;
}

char *written_text(FILE *file)
{
    fflush(file);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    return text;
}
