// Suppressions from a file and from comments.

#include "check/suppress.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum {
    LARGEST_FILE = 1 << 20,
    MOST_WORDS = 3, // one more than there may be
    LONGEST_PATH = 4096,
};

static const char kernel_mark[] = "kernel:";

typedef struct suppression {
    const char *kind;  // pattern
    const char *where; // pattern of a file, of file:line, or of a kernel after its mark
} suppression;

struct heddle_check_suppressions {
    char *content; // of the file: the patterns point into it
    suppression *rules;
    int count;
};

// --- the file --------------------------------------------------------------------------------------------------------

// A name without wildcards must be one that there is.
static heddle_status check_kind(const char *path, int line, const char *word)
{
    if (strpbrk(word, "*?[") || heddle_check_kind_find(word) != HEDDLE_CHECK_OTHER)
        return HEDDLE_OK;
    const char *names[HEDDLE_CHECK_KINDS];
    for (int i = 0; i < HEDDLE_CHECK_KINDS; i++)
        names[i] = heddle_check_kinds[i].name;
    const char *nearest = heddle_text_nearest(word, names, HEDDLE_CHECK_OTHER);
    return heddle_fail(HEDDLE_CORRUPT, "%s:%d: there is no kind of finding called '%s'%s%s%s", path, line, word,
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static heddle_status read_rule(const char *path, int number, char *text, heddle_check_suppressions *suppressions)
{
    text[strcspn(text, "#\r")] = '\0';
    const char *words[MOST_WORDS];
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t", &rest); word && count < MOST_WORDS; word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    if (count == 0)
        return HEDDLE_OK;
    if (count == MOST_WORDS)
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s:%d: a suppression is KIND, KIND FILE, KIND FILE:LINE or KIND kernel:NAME", path, number);
    if (strcmp(words[0], "all") == 0)
        words[0] = "*";
    HEDDLE_TRY(check_kind(path, number, words[0]));
    suppressions->rules[suppressions->count++] = (suppression){words[0], count > 1 ? words[1] : "*"};
    return HEDDLE_OK;
}

heddle_status heddle_check_suppressions_read(const char *path, heddle_check_suppressions **suppressions)
{
    *suppressions = NULL;
    heddle_check_suppressions *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path);
    size_t size = 0, lines = 1;
    heddle_status status = heddle_file_read(path, LARGEST_FILE, &made->content, &size);
    for (size_t i = 0; status == HEDDLE_OK && i < size; i++)
        lines += made->content[i] == '\n';
    made->rules = calloc(lines, sizeof *made->rules);
    if (status == HEDDLE_OK && !made->rules)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path);
    char *rest = made->content;
    for (int number = 1; status == HEDDLE_OK && made->rules && rest; number++)
        status = read_rule(path, number, strsep(&rest, "\n"), made);
    if (status != HEDDLE_OK) {
        heddle_check_suppressions_free(made);
        return status;
    }
    *suppressions = made;
    return HEDDLE_OK;
}

void heddle_check_suppressions_free(heddle_check_suppressions *suppressions)
{
    if (!suppressions)
        return;
    free(suppressions->content);
    free(suppressions->rules);
    free(suppressions);
}

// --- matching --------------------------------------------------------------------------------------------------------

// The whole path, or what follows any of its slashes.
static bool path_matches(const char *pattern, const char *path)
{
    while (path) {
        if (fnmatch(pattern, path, 0) == 0)
            return true;
        path = strchr(path, '/');
        path += path != NULL;
    }
    return false;
}

static bool frame_matches(const char *pattern, const heddle_check_frame *frame)
{
    char with_line[LONGEST_PATH];
    snprintf(with_line, sizeof with_line, "%s:%d", frame->file, frame->line);
    return path_matches(pattern, frame->file) || path_matches(pattern, with_line);
}

static bool rule_matches(const suppression *rule, const heddle_check_finding *finding)
{
    if (fnmatch(rule->kind, heddle_check_kinds[finding->kind].name, 0) != 0)
        return false;
    if (strncmp(rule->where, kernel_mark, sizeof kernel_mark - 1) == 0)
        return finding->kernel && fnmatch(rule->where + sizeof kernel_mark - 1, finding->kernel, 0) == 0;
    if (strcmp(rule->where, "*") == 0)
        return true;
    for (int p = 0; p < finding->place_count; p++)
        for (int f = 0; f < finding->places[p].frames; f++)
            if (frame_matches(rule->where, &finding->places[p].frame[f]))
                return true;
    return false;
}

// Whether the comment in `text` allows the kind called `name`.
static bool comment_allows(const char *text, const char *name)
{
    static const char mark[] = "heddle: allow ";
    const char *start = text ? strstr(text, mark) : NULL;
    if (!start)
        return false;
    char words[256];
    snprintf(words, sizeof words, "%s", start + sizeof mark - 1);
    char *rest = NULL;
    // The list goes on as long as commas join it; a reason may follow.
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        word += strspn(word, " \t");
        size_t length = strcspn(word, " \t*:");
        if ((length == 3 && strncmp(word, "all", length) == 0) ||
            (length == strlen(name) && strncmp(word, name, length) == 0))
            return true;
        if (word[length] != '\0')
            return false;
    }
    return false;
}

static bool frame_allows(heddle_check_sources *sources, const heddle_check_frame *frame, const char *name)
{
    return comment_allows(heddle_check_sources_line(sources, frame->file, frame->line), name) ||
           comment_allows(heddle_check_sources_line(sources, frame->file, frame->line - 1), name);
}

bool heddle_check_suppressed(const heddle_check_suppressions *suppressions, heddle_check_sources *sources,
                             const heddle_check_finding *finding)
{
    for (int i = 0; suppressions && i < suppressions->count; i++)
        if (rule_matches(&suppressions->rules[i], finding))
            return true;
    for (int p = 0; p < finding->place_count; p++)
        for (int f = 0; f < finding->places[p].frames; f++)
            if (frame_allows(sources, &finding->places[p].frame[f], heddle_check_kinds[finding->kind].name))
                return true;
    return false;
}
