// Finds headers, runtime and cache folder.

#include "build/home.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_home(const sim_home *home)
{
    char header[sizeof home->headers + 32];
    snprintf(header, sizeof header, "%s/sim/standin.h", home->headers);
    return access(header, R_OK) == 0 && access(home->runtime, R_OK) == 0;
}

static bool try_folder(sim_home *home, const char *folder)
{
    snprintf(home->headers, sizeof home->headers, "%s/include", folder);
    snprintf(home->runtime, sizeof home->runtime, "%s/libsim.a", folder);
    return is_home(home);
}

// Beside the program or library that this code is part of.
static bool try_beside(sim_home *home)
{
    Dl_info self;
    char path[4096], folder[sizeof path + 64];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *const files[] = {length > 0 ? path : NULL,
                                 dladdr((void *)(size_t)sim_home_find, &self) ? self.dli_fname : NULL};
    path[length > 0 ? length : 0] = 0;
    for (int i = 0; i < 2; i++) {
        const char *slash = files[i] ? strrchr(files[i], '/') : NULL;
        if (!slash)
            continue;
        int bytes = (int)(slash - files[i]);
        snprintf(folder, sizeof folder, "%.*s/" SIM_HOME_FROM_PROGRAM, bytes, files[i]);
        if (try_folder(home, folder))
            return true;
        snprintf(folder, sizeof folder, "%.*s/heddle/sim", bytes, files[i]);
        if (try_folder(home, folder))
            return true;
    }
    return false;
}

bool sim_home_find(sim_home *home)
{
    const char *given = getenv("SIM_HOME");
    if (given && *given)
        return try_folder(home, given);
    if (try_beside(home))
        return true;
    snprintf(home->headers, sizeof home->headers, "%s", SIM_BUILD_HEADERS);
    snprintf(home->runtime, sizeof home->runtime, "%s", SIM_BUILD_RUNTIME);
    return is_home(home);
}

bool sim_home_is_unbuilt(void)
{
    return !getenv("SIM_HOME") && access(SIM_BUILD_HEADERS "/sim/standin.h", R_OK) == 0 &&
           access(SIM_BUILD_RUNTIME, R_OK) != 0;
}

static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        mkdir(path, 0700);
        if (!slash)
            break;
        *slash = '/';
    }
    return access(path, W_OK | X_OK) == 0;
}

bool sim_home_cache(char *folder, size_t room)
{
    const char *own = getenv("SIM_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (own && own[0] == '/')
        length = snprintf(folder, room, "%s", own);
    else if (cache && cache[0] == '/')
        length = snprintf(folder, room, "%s/heddle/sim", cache);
    else if (home && home[0] == '/')
        length = snprintf(folder, room, "%s/.cache/heddle/sim", home);
    else
        return false;
    return length > 0 && (size_t)length < room && make_folders(folder);
}
