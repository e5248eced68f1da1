// Findings the user does not want to see: by a file that SIM_SUPPRESS names, or by a comment at the line.
//
//   # what                  where
//   race                    histogram.cu:41
//   uninitialised           third_party/*
//   *                       kernel:legacy_*
//
// and in the source, on the line or the one before:   // sim: allow race
#define _GNU_SOURCE 1
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

enum { LONGEST = 512 }; // of a line in the file, or of a path

// The whole path, or what follows any of its slashes: "a.cu" and "src/a.cu" both name /home/me/src/a.cu.
static bool file_matches(const char *pattern, const char *file)
{
    for (const char *at = file;;) {
        if (fnmatch(pattern, at, 0) == 0)
            return true;
        const char *slash = strchr(at, '/');
        if (!slash)
            return false;
        at = slash + 1;
    }
}

static bool place_matches(const char *pattern, const sim_frame *frame)
{
    char with_line[LONGEST + 16];
    if (!frame->file[0] || strlen(frame->file) > LONGEST)
        return false;
    snprintf(with_line, sizeof with_line, "%.*s:%u", LONGEST, frame->file, frame->line);
    return file_matches(pattern, frame->file) || file_matches(pattern, with_line);
}

static bool line_matches(const char *kind, const char *where, const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    bool any_kind = strcmp(kind, "all") == 0;
    if (!any_kind && fnmatch(kind, sim_kind_of(finding->kind)->name, 0) != 0)
        return false;
    if (strncmp(where, "kernel:", 7) == 0)
        return finding->kernel && fnmatch(where + 7, finding->kernel, 0) == 0;
    for (int i = 0; i < SIM_PLACES; i++)
        if (record->where[i] && place_matches(where, &record->where[i]->frames[0]))
            return true;
    return false;
}

static bool in_file(const sim_record *record, const char *path)
{
    size_t length;
    for (unsigned number = 1;; number++) {
        const char *text = sim_source_line(path, number, &length);
        char line[LONGEST], kind[LONGEST] = "", where[LONGEST] = "";
        if (!text)
            return false;
        snprintf(line, sizeof line, "%.*s", (int)(length < LONGEST - 1 ? length : LONGEST - 1), text);
        line[strcspn(line, "#")] = '\0';
        if (sscanf(line, "%511s %511s", kind, where) < 1)
            continue;
        if (line_matches(kind, where[0] ? where : "*", record))
            return true;
    }
}

// "sim: allow race, leak" in a comment.
static bool line_allows(const sim_frame *frame, unsigned number, const char *kind)
{
    size_t length;
    const char *text = sim_source_line(frame->file, number, &length);
    const char *mark = text ? memmem(text, length, "sim: allow", 10) : NULL;
    if (!mark)
        return false;
    const char *end = text + length;
    for (const char *at = mark + 10; at < end;) {
        while (at < end && (isspace((unsigned char)*at) || *at == ','))
            at++;
        const char *word = at;
        while (at < end && (isalpha((unsigned char)*at) || *at == '-'))
            at++;
        size_t letters = (size_t)(at - word);
        if (letters == 0)
            return false;
        if ((letters == strlen(kind) && memcmp(word, kind, letters) == 0) ||
            (letters == 3 && memcmp(word, "all", 3) == 0))
            return true;
    }
    return false;
}

static bool by_comment(const sim_record *record)
{
    const char *kind = sim_kind_of(record->finding.kind)->name;
    for (int i = 0; i < SIM_PLACES; i++) {
        if (!record->where[i])
            continue;
        const sim_frame *frame = &record->where[i]->frames[0];
        if (line_allows(frame, frame->line, kind) || (frame->line > 1 && line_allows(frame, frame->line - 1, kind)))
            return true;
    }
    return false;
}

bool sim_suppressed(const sim_record *record)
{
    const char *path = getenv("SIM_SUPPRESS");
    return by_comment(record) || (path && path[0] && in_file(record, path));
}
