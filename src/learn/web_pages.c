// Chapters, statements and hints as HTML. A link of the course becomes an address of ours:
//
//   ../06-memory/README.md#anchor       /read/06-memory#anchor
//   exercises/05.4-hello/README.md      /exercise/05.4
//   ../GLOSSARY.md#warp                 /read/glossary#warp
//   grid-1d.svg, vector_add.cu          /course/05-first-kernels/grid-1d.svg

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/web_parts.h"
#include "web/markdown.h"

enum { LARGEST_FILE = 4 << 20 };

static bool is_scheme(const char *address)
{
    return strncmp(address, "http://", 7) == 0 || strncmp(address, "https://", 8) == 0;
}

// The place of `address` in the course, seen from a file of `chapter` (NULL: from the course itself), without its
// anchor. False: outside.
static bool place_in_course(const char *chapter, const char *address, size_t length, char *place, size_t size)
{
    int up = 0;
    while (length >= 3 && strncmp(address, "../", 3) == 0) {
        address += 3;
        length -= 3;
        up++;
    }
    if (up > (chapter != NULL) || memmem(address, length, "..", 2))
        return false;
    int used = chapter && up == 0 ? snprintf(place, size, "%s/%.*s", chapter, (int)length, address)
                                  : snprintf(place, size, "%.*s", (int)length, address);
    return used > 0 && (size_t)used < size;
}

static bool resolve(void *context, const char *address, char resolved[HEDDLE_WEB_ADDRESS_SIZE])
{
    static const char readme[] = "/README.md", exercises[] = "/exercises/";
    char place[HEDDLE_WEB_ADDRESS_SIZE];
    size_t file = strcspn(address, "#");
    const char *anchor = address + file;
    int used = 0;
    if (is_scheme(address) || file == 0) {
        used = snprintf(resolved, HEDDLE_WEB_ADDRESS_SIZE, "%s", address);
        return used > 0 && used < HEDDLE_WEB_ADDRESS_SIZE;
    }
    if (!place_in_course(context, address, file, place, sizeof place))
        return false;
    size_t length = strlen(place), ending = strlen(readme);
    const char *exercise = strstr(place, exercises);
    if (strcmp(place, "GLOSSARY.md") == 0)
        used = snprintf(resolved, HEDDLE_WEB_ADDRESS_SIZE, "/read/glossary%s", anchor);
    else if (strcmp(place, "README.md") == 0)
        used = snprintf(resolved, HEDDLE_WEB_ADDRESS_SIZE, "/map");
    else if (exercise && strstr(exercise, readme)) {
        exercise += strlen(exercises);
        used = snprintf(resolved, HEDDLE_WEB_ADDRESS_SIZE, "/exercise/%.*s", (int)strcspn(exercise, "-/"), exercise);
    } else if (length > ending && strcmp(place + length - ending, readme) == 0)
        used = snprintf(resolved, HEDDLE_WEB_ADDRESS_SIZE, "/read/%.*s%s", (int)(length - ending), place, anchor);
    else if (strchr(place, '/') && heddle_web_type(place))
        used = snprintf(resolved, HEDDLE_WEB_ADDRESS_SIZE, "/course/%s", place);
    return used > 0 && used < HEDDLE_WEB_ADDRESS_SIZE;
}

static heddle_status render(const char *chapter, const char *text, char **html)
{
    char from[HEDDLE_WEB_NAME_SIZE];
    snprintf(from, sizeof from, "%s", chapter ? chapter : "");
    return heddle_web_markdown(text, resolve, chapter ? from : NULL, html);
}

heddle_status heddle_learn_web_chapter(const heddle_learn_course *course, const char *chapter, char **html)
{
    char name[HEDDLE_PLACE_SIZE], *text = NULL;
    size_t size = 0;
    bool glossary = strcmp(chapter, "glossary") == 0;
    snprintf(name, sizeof name, "%s%s", glossary ? "GLOSSARY" : chapter, glossary ? ".md" : "/README.md");
    *html = NULL;
    HEDDLE_TRY(heddle_learn_page(course, name, &text, &size));
    heddle_status status = render(glossary ? NULL : chapter, text, html);
    free(text);
    return status;
}

heddle_status heddle_learn_web_statement(const heddle_learn_exercise *exercise, char **html)
{
    char *text = NULL;
    size_t size = 0;
    heddle_arena *arena = heddle_arena_create();
    *html = NULL;
    heddle_status status = arena ? heddle_learn_statement_page(exercise, arena, &text, &size)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a statement");
    if (status == HEDDLE_OK)
        status = render(exercise->chapter, text, html);
    free(text);
    heddle_arena_destroy(arena);
    return status;
}

heddle_status heddle_learn_web_hint(const heddle_learn_exercise *exercise, const char *hint, char **html)
{
    return render(exercise->chapter, hint, html);
}

void heddle_learn_web_title(const heddle_learn_course *course, const char *chapter, char *title, size_t size)
{
    char path[HEDDLE_PLACE_SIZE], line[256] = "";
    snprintf(title, size, "%s", chapter);
    if (!heddle_learn_chapter_page(course, chapter, path))
        return;
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) && strncmp(line, "# ", 2) == 0) {
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(title, size, "%s", line + 2);
    }
    if (file)
        fclose(file);
}

// --- files beside a chapter ------------------------------------------------------------------------------------------

static bool is_plain_name(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
            return false;
    return name[0] != '\0' && name[0] != '.';
}

static heddle_status read_all(int file, const char *name, char **content, size_t *size)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE)
        return heddle_fail(HEDDLE_NOT_FOUND, "the course has no file '%.100s' here", name);
    *content = malloc((size_t)about.st_size + 1);
    if (!*content)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for '%.100s'", name);
    *size = 0;
    for (ssize_t count = 1; count > 0 && *size < (size_t)about.st_size; *size += (size_t)(count > 0 ? count : 0)) {
        count = read(file, *content + *size, (size_t)about.st_size - *size);
        if (count < 0 && errno != EINTR)
            break;
    }
    return HEDDLE_OK;
}

heddle_status heddle_learn_web_beside(const heddle_learn_course *course, const char *chapter, const char *name,
                                      char **content, size_t *size)
{
    int root = -1, folder = -1, file = -1;
    bool known = false;
    *content = NULL;
    for (int i = 0; i < course->chapter_count; i++)
        known |= strcmp(course->chapters[i], chapter) == 0;
    if (known && is_plain_name(name)) {
        root = open(course->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        folder = root >= 0 ? openat(root, chapter, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        file = folder >= 0 ? openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    }
    heddle_status status = file >= 0 ? read_all(file, name, content, size)
                                     : heddle_fail(HEDDLE_NOT_FOUND, "the course has no file '%.100s' here", name);
    int open[] = {root, folder, file};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (open[i] >= 0)
            close(open[i]);
    return status;
}
