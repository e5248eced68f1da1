// The stand-in toolkit: bin/nvcc, which starts simcc; include, the stand-in headers; lib64, where each library of CUDA
// is a line that leads the linker to the simulator. So builds that link with the host's compiler and -lcudart work too.

#include "check/toolkit.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/place.h"
#include "base/text.h"
#include "sim/build/build.h"
#include "sim/build/home.h"

enum { TEXT_SIZE = 3 * PATH_MAX, PROGRAM_MODE = 0755 };

static heddle_status find_simcc(char path[HEDDLE_PLACE_SIZE])
{
    char folder[HEDDLE_PLACE_SIZE];
    heddle_own_folder(folder);
    snprintf(path, HEDDLE_PLACE_SIZE, "%.*s/simcc", (int)(HEDDLE_PLACE_SIZE - sizeof "/simcc"), folder);
    if (access(path, X_OK) == 0 || heddle_find_program("simcc", folder, path))
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_MISSING, "simcc, which stands in for nvcc, is not installed beside heddle; build it with "
                                       "`make build`, or add its folder to PATH");
}

// One toolkit for each simcc and simulator that there is on this machine.
static uint64_t hash_of(const char *simcc, const char *runtime)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (int i = 0; i < 2; i++)
        for (const char *at = i == 0 ? simcc : runtime; *at; at++)
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    return hash;
}

// Beside the cache of precompiled headers, which is swept.
static void choose_path(const char *folder, uint64_t hash, char *path, size_t size)
{
    char cache[PATH_MAX];
    char *slash = sim_home_cache(cache, sizeof cache) ? strrchr(cache, '/') : NULL;
    if (slash)
        *slash = '\0';
    snprintf(path, size, "%s/nvcc-%016llx", slash ? cache : folder, (unsigned long long)hash);
}

// A file that is as it should be is left alone: another build may be reading it.
static heddle_status write_text(const char *path, const char *text)
{
    char *there = NULL;
    size_t size = 0, length = strlen(text);
    bool same = heddle_file_exists(path) && heddle_file_read(path, TEXT_SIZE, &there, &size) == HEDDLE_OK &&
                size == length && memcmp(there, text, length) == 0;
    free(there);
    return same ? HEDDLE_OK : heddle_file_write_atomic(path, &(heddle_slice){text, length}, 1);
}

// A program in bin would be found before all others in later checks. What begins as ours does may be a file that
// another check is writing.
static void remove_others(const char *toolkit)
{
    static const char own[] = "nvcc", temporary[] = "nvcc.";
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/bin", toolkit);
    DIR *entries = opendir(path);
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
        if (strcmp(entry->d_name, own) != 0 && strncmp(entry->d_name, temporary, sizeof temporary - 1) != 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

static heddle_status write_nvcc(const char *toolkit, const char *simcc)
{
    char path[PATH_MAX], program[2 * PATH_MAX], folder[2 * PATH_MAX], text[TEXT_SIZE + 64];
    heddle_text_quote(simcc, program, sizeof program);
    heddle_text_quote(toolkit, folder, sizeof folder);
    if ((size_t)snprintf(path, sizeof path, "%s/bin/nvcc", toolkit) >= sizeof path)
        return heddle_fail(HEDDLE_INVALID, "%s: the path is too long", toolkit);
    snprintf(text, sizeof text, "#!/bin/sh\nexec %s --as-nvcc=%s \"$@\"\n", program, folder);
    HEDDLE_TRY(write_text(path, text));
    if (chmod(path, PROGRAM_MODE) != 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    return HEDDLE_OK;
}

static heddle_status write_library(const char *toolkit, const char *name, const char *runtime)
{
    static const char *const places[] = {"lib64/lib%s.so", "lib64/lib%s.a", "lib64/stubs/lib%s.so"};
    char text[TEXT_SIZE], path[2 * PATH_MAX], file[256];
    snprintf(text, sizeof text, "EXTERN(sim_runtime_begins)\nINPUT(\"%s\" -lpthread -lm -ldl)\n", runtime);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(file, sizeof file, places[i], name);
        snprintf(path, sizeof path, "%s/%s", toolkit, file);
        HEDDLE_TRY(write_text(path, text));
    }
    return HEDDLE_OK;
}

static heddle_status link_folder(const char *toolkit, const char *name, const char *target)
{
    char path[2 * PATH_MAX], leads[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", toolkit, name);
    ssize_t length = readlink(path, leads, sizeof leads - 1);
    leads[length > 0 ? length : 0] = '\0';
    if (strcmp(leads, target) == 0)
        return HEDDLE_OK;
    remove(path);
    if (symlink(target, path) != 0 && errno != EEXIST)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    return HEDDLE_OK;
}

heddle_status heddle_check_toolkit_make(const char *folder, char *path, size_t size)
{
    static const char *const folders[] = {"bin", "lib64/stubs", "nvvm/libdevice"};
    char simcc[HEDDLE_PLACE_SIZE], inner[2 * PATH_MAX];
    sim_home home;
    HEDDLE_TRY(find_simcc(simcc));
    if (!sim_home_find(&home))
        return heddle_fail(HEDDLE_MISSING, "the simulated GPU is not built or not where it was installed: run `make "
                                           "check`, or set SIM_HOME to the folder of libsim.a");
    choose_path(folder, hash_of(simcc, home.runtime), path, size);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(inner, sizeof inner, "%s/%s", path, folders[i]);
        HEDDLE_TRY(heddle_folder_create(inner));
    }
    HEDDLE_TRY(link_folder(path, "include", home.headers));
    HEDDLE_TRY(link_folder(path, "lib", "lib64"));
    for (const char *const *name = sim_build_libraries(); *name; name++)
        HEDDLE_TRY(write_library(path, *name, home.runtime));
    remove_others(path);
    return write_nvcc(path, simcc);
}
