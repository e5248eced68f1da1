// The log: one line on stderr, written at once so that lines of several threads do not mix.

#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LINE_SIZE = 2048, LEVEL_UNSET = -1 };

// Values of HEDDLE_LOG, and the labels of a line.
static const char *const level_names[] = {
    [HEDDLE_LOG_ERROR] = "error", [HEDDLE_LOG_WARN] = "warn", [HEDDLE_LOG_INFO] = "info", [HEDDLE_LOG_DEBUG] = "debug"};
static const char *const level_labels[] = {[HEDDLE_LOG_ERROR] = "error",
                                           [HEDDLE_LOG_WARN] = "warning",
                                           [HEDDLE_LOG_INFO] = "info",
                                           [HEDDLE_LOG_DEBUG] = "debug"};
enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

static atomic_int current_level = LEVEL_UNSET;

void heddle_log_set_level(heddle_log_level level)
{
    atomic_store(&current_level, (int)level);
}

static bool find_level(const char *name, heddle_log_level *level)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = (heddle_log_level)i;
            return true;
        }
    }
    return false;
}

heddle_status heddle_log_parse_level(const char *name, heddle_log_level *level)
{
    if (find_level(name, level))
        return HEDDLE_OK;
    const char *nearest = heddle_text_nearest(name, level_names, LEVEL_COUNT);
    if (nearest)
        return heddle_fail(HEDDLE_INVALID, "unknown log level '%s'; did you mean '%s'?", name, nearest);
    return heddle_fail(HEDDLE_INVALID, "unknown log level '%s'; use error, warn, info or debug", name);
}

static void write_line(heddle_log_level level, const char *text)
{
    char line[LINE_SIZE + 32];
    snprintf(line, sizeof line, "heddle: %s: %s\n", level_labels[level], text);
    fputs(line, stderr);
}

static int level_from_environment(void)
{
    heddle_log_level level = HEDDLE_LOG_WARN;
    const char *name = getenv("HEDDLE_LOG");
    int unset = LEVEL_UNSET;
    bool valid = !name || name[0] == '\0' || find_level(name, &level);
    if (atomic_compare_exchange_strong(&current_level, &unset, (int)level)) {
        if (!valid)
            write_line(HEDDLE_LOG_WARN, "HEDDLE_LOG must be error, warn, info or debug; using warn");
        return (int)level;
    }
    return unset;
}

void heddle_log(heddle_log_level level, const char *format, ...)
{
    int most = atomic_load(&current_level);
    if (most == LEVEL_UNSET)
        most = level_from_environment();
    if ((int)level > most)
        return;
    char text[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    heddle_text_one_line(text);
    write_line(level, text);
}
