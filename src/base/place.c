// Finds where heddle is installed from where its own code was loaded: an installed tree may have been moved.

#include "base/place.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char here = 0; // an address in our own code

void heddle_own_folder(char folder[HEDDLE_PLACE_SIZE])
{
    Dl_info info;
    char *slash;
    ssize_t length;
    snprintf(folder, HEDDLE_PLACE_SIZE, ".");
    if (dladdr(&here, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
        snprintf(folder, HEDDLE_PLACE_SIZE, "%s", info.dli_fname);
    else if ((length = readlink("/proc/self/exe", folder, HEDDLE_PLACE_SIZE - 1)) > 0)
        folder[length] = '\0';
    char *whole = realpath(folder, NULL); // the program may have been started by a link to it
    if (whole)
        snprintf(folder, HEDDLE_PLACE_SIZE, "%s", whole);
    free(whole);
    if ((slash = strrchr(folder, '/')))
        *slash = '\0';
}

bool heddle_find_program(const char *program, const char *folder, char path[HEDDLE_PLACE_SIZE])
{
    char folders[4 * HEDDLE_PLACE_SIZE], *rest = NULL;
    const char *search = getenv("PATH");
    snprintf(folders, sizeof folders, "%s:%s", search ? search : "", folder);
    for (char *one = strtok_r(folders, ":", &rest); one; one = strtok_r(NULL, ":", &rest)) {
        snprintf(path, HEDDLE_PLACE_SIZE, "%s/%s", one, program);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bool heddle_find_nvcc(char path[HEDDLE_PLACE_SIZE])
{
    return heddle_find_program("nvcc", "/usr/local/cuda/bin", path);
}

const char *heddle_page(const char *name, char path[HEDDLE_PLACE_SIZE])
{
    static const char *const from[] = {HEDDLE_PAGES_FROM_PROGRAM, HEDDLE_PAGES_FROM_LIBRARY};
    char folder[HEDDLE_PLACE_SIZE], installed[2 * HEDDLE_PLACE_SIZE];
    heddle_own_folder(folder);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        snprintf(installed, sizeof installed, "%s/%s/%s", folder, from[i], name);
        char *whole = realpath(installed, NULL);
        if (!whole)
            continue;
        snprintf(path, HEDDLE_PLACE_SIZE, "%s", whole);
        free(whole);
        return path;
    }
    snprintf(path, HEDDLE_PLACE_SIZE, "docs/%s", name);
    return path;
}
