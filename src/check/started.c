// Reads what the stand-in nvcc and simulated programs have left, and looks for programs among the files of a build.

#include "check/started.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

enum { LARGEST_START = 1 << 24, LARGEST_PROGRAM = 1 << 30, DEEPEST_FOLDER = 12, PATH_SIZE = 4096 };
enum { MOST_PROGRAMS = 10000 }; // as in sim/machine/started.c

static const char tried[] = "/CMakeFiles/"; // where CMake tries the compiler

// --- strings ---------------------------------------------------------------------------------------------------------

static heddle_status no_memory(void)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the names of the project's files");
}

heddle_status heddle_check_strings_add(heddle_check_strings *strings, const char *text)
{
    if (strings->count + 2 > strings->room) {
        int room = strings->room ? 2 * strings->room : 16;
        const char **moved = realloc((void *)strings->at, (size_t)room * sizeof *moved);
        if (!moved)
            return no_memory();
        strings->at = moved;
        strings->room = room;
    }
    char *copy = strdup(text);
    if (!copy)
        return no_memory();
    strings->at[strings->count++] = copy;
    strings->at[strings->count] = NULL;
    return HEDDLE_OK;
}

void heddle_check_strings_free(heddle_check_strings *strings)
{
    for (int i = 0; i < strings->count; i++)
        free((char *)strings->at[i]);
    free((void *)strings->at);
    *strings = (heddle_check_strings){0};
}

static bool has(const heddle_check_strings *strings, const char *text)
{
    for (int i = 0; i < strings->count; i++)
        if (strcmp(strings->at[i], text) == 0)
            return true;
    return false;
}

// A pipe would keep us waiting.
static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// --- starts ----------------------------------------------------------------------------------------------------------

static const char *next_string(const char **at, const char *end)
{
    const char *string = *at;
    *at = string < end ? string + strlen(string) + 1 : end;
    return string < end ? string : "";
}

static heddle_status read_start(const char *folder, int number, heddle_check_start *start)
{
    char path[PATH_SIZE];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%04d.run", folder, number);
    snprintf(start->report, sizeof start->report, "%s/%04d.json", folder, number);
    HEDDLE_TRY(heddle_file_read(path, LARGEST_START, &start->content, &size));
    const char *at = start->content, *end = start->content + size;
    start->file = next_string(&at, end);
    start->folder = next_string(&at, end);
    start->input = next_string(&at, end);
    long count = strtol(next_string(&at, end), NULL, 10);
    size_t strings = 0;
    for (const char *c = at; c < end; c++)
        strings += *c == '\0';
    if (count < 1 || (size_t)count > strings || start->file[0] != '/')
        return heddle_fail(HEDDLE_CORRUPT, "%s: not the start of a simulated program", path);
    start->arguments = calloc((size_t)count, sizeof *start->arguments);
    start->environment = calloc(strings + 1, sizeof *start->environment);
    if (!start->arguments || !start->environment)
        return no_memory();
    next_string(&at, end); // its own name
    for (long i = 0; i + 1 < count; i++)
        start->arguments[i] = next_string(&at, end);
    for (size_t used = 0; at < end; used++)
        start->environment[used] = next_string(&at, end);
    return HEDDLE_OK;
}

static bool same_start(const heddle_check_start *a, const heddle_check_start *b)
{
    size_t i = 0;
    if (strcmp(a->file, b->file) != 0 || strcmp(a->folder, b->folder) != 0 || strcmp(a->input, b->input) != 0)
        return false;
    while (a->arguments[i] && b->arguments[i] && strcmp(a->arguments[i], b->arguments[i]) == 0)
        i++;
    return !a->arguments[i] && !b->arguments[i];
}

static void release(heddle_check_start *start)
{
    free(start->content);
    free((void *)start->arguments);
    free((void *)start->environment);
}

heddle_status heddle_check_starts_read(const char *folder, heddle_check_start **starts, int *count, int *damaged)
{
    char path[PATH_SIZE];
    *count = *damaged = 0;
    *starts = NULL;
    for (int number = 0; number < MOST_PROGRAMS; number++) {
        snprintf(path, sizeof path, "%s/%04d.run", folder, number);
        if (!is_regular(path))
            continue; // a number that the project has used for something else
        heddle_check_start *moved = realloc(*starts, (size_t)(*count + 1) * sizeof *moved);
        if (!moved)
            return no_memory();
        *starts = moved;
        heddle_check_start *start = &moved[(*count)++];
        *start = (heddle_check_start){0};
        heddle_status status = read_start(folder, number, start);
        if (status == HEDDLE_OUT_OF_MEMORY)
            return status;
        *damaged += status != HEDDLE_OK;
        for (int i = 0; status == HEDDLE_OK && i + 1 < *count && !start->same; i++)
            start->same = same_start(&moved[i], start);
        if (status != HEDDLE_OK || strstr(start->file, tried))
            release(&moved[--*count]);
    }
    return HEDDLE_OK;
}

void heddle_check_starts_free(heddle_check_start *starts, int count)
{
    for (int i = 0; i < count; i++)
        release(&starts[i]);
    free(starts);
}

// --- files -----------------------------------------------------------------------------------------------------------

heddle_status heddle_check_compiled_read(const char *path, heddle_check_strings *sources, heddle_check_strings *include)
{
    char *content = NULL;
    size_t size = 0;
    if (!is_regular(path))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_START, &content, &size));
    heddle_status status = HEDDLE_OK;
    for (const char *at = content, *end = content + size; at < end && status == HEDDLE_OK;) {
        const char *string = next_string(&at, end);
        heddle_check_strings *list = string[0] == 's' ? sources : string[0] == 'i' ? include : NULL;
        if (list && !strstr(string, tried) && !has(list, string + 1) && (list == include || is_regular(string + 1)))
            status = heddle_check_strings_add(list, string + 1);
    }
    free(content);
    return status;
}

// The name of the simulator's first setting is in each program that has the simulator.
static bool is_simulated(const char *path)
{
    static const char elf[] = "\177ELF", mark[] = "SIM_REPORT";
    char *content = NULL;
    size_t size = 0;
    bool found = heddle_file_read(path, LARGEST_PROGRAM, &content, &size) == HEDDLE_OK && size > sizeof elf &&
                 memcmp(content, elf, sizeof elf - 1) == 0 && memmem(content, size, mark, sizeof mark - 1) != NULL;
    free(content);
    return found;
}

static bool is_since(const struct stat *about, struct timespec since)
{
    return about->st_mtim.tv_sec > since.tv_sec ||
           (about->st_mtim.tv_sec == since.tv_sec && about->st_mtim.tv_nsec >= since.tv_nsec);
}

static heddle_status look_in(const char *folder, struct timespec since, int depth, heddle_check_strings *programs)
{
    DIR *entries = opendir(folder);
    heddle_status status = HEDDLE_OK;
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry && status == HEDDLE_OK;
         entry = readdir(entries)) {
        char path[PATH_SIZE];
        struct stat about;
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "CMakeFiles") == 0 ||
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path ||
            lstat(path, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode) && depth < DEEPEST_FOLDER)
            status = look_in(path, since, depth + 1, programs);
        else if (S_ISREG(about.st_mode) && (about.st_mode & S_IXUSR) && is_since(&about, since) && is_simulated(path))
            status = heddle_check_strings_add(programs, path);
    }
    if (entries)
        closedir(entries);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

heddle_status heddle_check_built_find(const char *folder, struct timespec since, heddle_check_strings *programs)
{
    char *whole = realpath(folder, NULL);
    if (!whole)
        return heddle_fail(HEDDLE_IO, "%s: %s", folder, strerror(errno));
    heddle_status status = look_in(whole, since, 0, programs);
    free(whole);
    if (programs->count > 0)
        qsort((void *)programs->at, (size_t)programs->count, sizeof *programs->at, compare_paths);
    return status;
}
