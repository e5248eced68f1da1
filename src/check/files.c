// Which files a check may read.

#include "check/files.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

enum { QUOTED_SIZE = 1024 };

// An #include, which is how compilers get at files, cannot name these.
static heddle_status refuse_name(const char *name, const char *whole)
{
    char quoted[QUOTED_SIZE];
    for (const char *at = whole; *at; at++)
        if (*at == '"' || iscntrl((unsigned char)*at))
            return heddle_fail(HEDDLE_INVALID,
                               "%s: compilers cannot include a file whose path has a double quote or a control "
                               "character; rename it",
                               heddle_text_quote(name, quoted, sizeof quoted));
    return HEDDLE_OK;
}

static heddle_status refuse_pipe(const char *option, const char *path)
{
    struct stat about;
    if (path && stat(path, &about) == 0 && S_ISFIFO(about.st_mode))
        return heddle_fail(HEDDLE_INVALID, "%s: %s: a pipe, not a file", option, path);
    return HEDDLE_OK;
}

heddle_status heddle_check_files_find(const heddle_check_options *options, char ***files)
{
    size_t count = 0;
    while (options->sources[count])
        count++;
    *files = calloc(count + 1, sizeof **files);
    if (!*files)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the names of the files");
    for (size_t i = 0; i < count; i++) {
        const char *path = options->sources[i];
        struct stat about;
        if (stat(path, &about) != 0)
            return heddle_fail(HEDDLE_INVALID, "%s: %s", path, errno == ENOENT ? "no such file" : strerror(errno));
        if (S_ISDIR(about.st_mode))
            return heddle_fail(HEDDLE_INVALID, "%s: is a folder; name the .cu files in it", path);
        if (!S_ISREG(about.st_mode))
            return heddle_fail(HEDDLE_INVALID,
                               "%s: not a regular file; save the source to one, because it is read more than once",
                               path);
        (*files)[i] = realpath(path, NULL);
        if (!(*files)[i])
            return heddle_fail(HEDDLE_INVALID, "%s: %s", path, strerror(errno));
        HEDDLE_TRY(refuse_name(path, (*files)[i]));
    }
    HEDDLE_TRY(refuse_pipe("--suppress", options->suppress));
    HEDDLE_TRY(refuse_pipe("--expect", options->expect));
    const char *const *folders = options->include;
    for (size_t i = 0; folders && folders[i]; i++)
        HEDDLE_TRY(refuse_name(folders[i], folders[i]));
    return HEDDLE_OK;
}
