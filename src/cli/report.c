// Reports failures and their exit codes, and writes pages to files.

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "dist/dist.h"

enum { LINE_SIZE = 1024 };

int heddle_cli_exit_code(heddle_status status)
{
    switch (status) {
    case HEDDLE_OK: return HEDDLE_EXIT_OK;
    case HEDDLE_INVALID:
    case HEDDLE_NOT_FOUND: return HEDDLE_EXIT_USAGE;
    case HEDDLE_MISSING: return HEDDLE_EXIT_MISSING;
    case HEDDLE_INTERRUPTED: return heddle_cli_interrupt_code();
    default: return HEDDLE_EXIT_FAILED;
    }
}

// Wrong usage is wrong on every rank, and the first reports it for all. Launchers end all ranks as soon as one ends
// with an error, so the others give it time.
static bool speaks_for_all(void)
{
    if (heddle_dist_is_first())
        return true;
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    return false;
}

static char name[PATH_MAX] = "heddle";

// Whether a shell finds this very file by its last name alone.
static bool is_on_path(const char *word)
{
    struct stat own, found;
    char path[PATH_MAX];
    const char *last = strrchr(word, '/'), *folders = getenv("PATH");
    if (!last || !folders || stat(word, &own) != 0)
        return false;
    while (*folders) {
        size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s%s", (int)length, folders, last);
        if (length > 0 && access(path, X_OK) == 0 && stat(path, &found) == 0 && !S_ISDIR(found.st_mode))
            return found.st_dev == own.st_dev && found.st_ino == own.st_ino;
        folders += length + (folders[length] == ':');
    }
    return false;
}

void heddle_cli_set_name(const char *word)
{
    char quoted[sizeof name];
    if (word && is_on_path(word))
        word = strrchr(word, '/') + 1;
    if (word && heddle_text_quote(word, quoted, sizeof quoted)[0])
        memcpy(name, quoted, sizeof name);
}

const char *heddle_cli_name(void)
{
    return name;
}

static void print_line(FILE *file, const char *text)
{
    static const char command[] = "`heddle ";
    for (const char *at = strstr(text, command); at; at = strstr(text, command)) {
        fprintf(file, "%.*s`%s ", (int)(at - text), text, name);
        text = at + sizeof command - 1;
    }
    fprintf(file, "%s\n", text);
}

int heddle_cli_fail(heddle_status status)
{
    const char *message = heddle_last_error();
    if (status == HEDDLE_IO && ferror(stdout)) // main.c reports a failed write to standard output once, at the end
        return HEDDLE_EXIT_FAILED;
    if (status == HEDDLE_INVALID && !speaks_for_all())
        return heddle_cli_exit_code(status);
    message = message[0] != '\0' ? message : heddle_status_name(status);
    fputs("heddle: ", stderr);
    print_line(stderr, message);
    heddle_cli_json_error(message, heddle_cli_exit_code(status));
    return heddle_cli_exit_code(status);
}

int heddle_cli_fail_once(heddle_status status)
{
    return speaks_for_all() ? heddle_cli_fail(status) : heddle_cli_exit_code(status);
}

int heddle_cli_usage(const heddle_cli_command *command, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (speaks_for_all()) {
        fprintf(stderr, "heddle %s: ", command->name);
        print_line(stderr, line);
        heddle_cli_json_error(line, HEDDLE_EXIT_USAGE);
    }
    return HEDDLE_EXIT_USAGE;
}

int heddle_cli_json_exit(const heddle_cli_json *json, struct cJSON *result)
{
    heddle_status status = heddle_cli_json_result(json, result);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}

heddle_status heddle_cli_page_begin(heddle_cli_page *page)
{
    *page = (heddle_cli_page){.file = NULL};
    page->file = open_memstream(&page->text, &page->size);
    return page->file ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a page");
}

heddle_status heddle_cli_page_end(heddle_cli_page *page, const char *path, heddle_status status)
{
    if (fclose(page->file) != 0 && status == HEDDLE_OK)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a page");
    if (status == HEDDLE_OK)
        status = heddle_file_write_atomic(path, &(heddle_slice){page->text, page->size}, 1);
    free(page->text);
    return status;
}

// The folder that a new file of that name would be in.
static void folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 0;
    snprintf(folder, size, "%.*s", !slash ? 1 : length > 0 ? length : 1, !slash ? "." : path);
}

heddle_status heddle_cli_can_write(const char *path)
{
    char folder[PATH_MAX];
    if (!path)
        return HEDDLE_OK;
    if (heddle_folder_exists(path))
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(EISDIR));
    bool there = access(path, F_OK) == 0;
    folder_of(path, folder, sizeof folder);
    if (access(there ? path : folder, there ? W_OK : W_OK | X_OK) != 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    return HEDDLE_OK;
}
