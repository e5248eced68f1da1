// The command line of bwrap.

#include "check/wrapper.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/place.h"

// Capabilities go, because with them a program of root would mount the file system anew.
static const char *const always[] = {"--ro-bind",     "/",          "/",   "--dev", "/dev", "--die-with-parent",
                                     "--unshare-pid", "--cap-drop", "ALL", NULL};
enum { FIXED_WORDS = 16, FOLDER_WORDS = 3 };

static bool try_once(void)
{
    char path[HEDDLE_PLACE_SIZE], *words[FIXED_WORDS] = {path};
    int count = 1, status = -1;
    pid_t process;
    posix_spawn_file_actions_t silent;
    if (!heddle_find_program("bwrap", "", path) || posix_spawn_file_actions_init(&silent) != 0)
        return false;
    for (int i = 0; always[i]; i++)
        words[count++] = (char *)always[i];
    words[count++] = "--unshare-net";
    words[count++] = "--";
    words[count++] = "true";
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&process, path, &silent, NULL, words, environ) != 0 || waitpid(process, &status, 0) != process)
        status = -1;
    posix_spawn_file_actions_destroy(&silent);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool heddle_wrapper_works(void)
{
    static enum { UNKNOWN, WORKS, FAILS } known;
    if (known == UNKNOWN)
        known = try_once() ? WORKS : FAILS;
    return known == WORKS;
}

// One more word, a copy. The array has room.
static bool add(char **words, const char *word)
{
    while (*words)
        words++;
    *words = strdup(word);
    return *words;
}

heddle_status heddle_wrapper_make(const char *const *folders, int filters, char ***words)
{
    char path[HEDDLE_PLACE_SIZE], number[16], whole[PATH_MAX];
    size_t count = 0;
    while (folders[count])
        count++;
    *words = calloc(FIXED_WORDS + count * FOLDER_WORDS, sizeof **words);
    bool made = *words && heddle_find_program("bwrap", "", path) && add(*words, path);
    for (int i = 0; made && always[i]; i++)
        made = add(*words, always[i]);
    for (size_t i = 0; made && i < count; i++)
        if (realpath(folders[i], whole))
            made = add(*words, "--bind") && add(*words, whole) && add(*words, whole);
    snprintf(number, sizeof number, "%d", filters);
    if (made)
        made = filters < 0 ? add(*words, "--unshare-net") : add(*words, "--seccomp") && add(*words, number);
    if (made && add(*words, "--"))
        return HEDDLE_OK;
    heddle_wrapper_free(*words);
    *words = NULL;
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "the program cannot be contained: not enough memory");
}

void heddle_wrapper_free(char **words)
{
    for (int i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}
