// Suppressions from a file and from comments. What they mean is the simulator's, so that both read the same alike; what
// is wrong with a file is reported here.

#include "check/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "report/rules.h"

enum { LARGEST_FILE = 1 << 20, MOST_NAMED = 8 }; // of a file of rules; rules in one note
static const char allow_mark[] = "heddle: allow", sim_mark[] = "sim: allow";
enum { EVERY = sizeof "all" - 1 };

typedef struct file_rule {
    sim_rule rule;
    int line;
    bool used; // it has matched a finding
} file_rule;

struct heddle_check_suppressions {
    const char *path;
    char *content; // of the file: the rules point into it
    file_rule *rules;
    int count;
};

// --- the file --------------------------------------------------------------------------------------------------------

// The known kind whose name is nearest; NULL: none is near.
static const char *nearest_kind(const char *word)
{
    const char *names[HEDDLE_CHECK_KINDS];
    for (int i = 0; i < HEDDLE_CHECK_KINDS; i++)
        names[i] = heddle_check_kinds[i].name;
    return heddle_text_nearest(word, names, HEDDLE_CHECK_OTHER);
}

// A name without wildcards must be one that there is.
static heddle_status check_kind(const char *path, int line, const char *word)
{
    if (strpbrk(word, "*?[") || heddle_check_kind_find(word) != HEDDLE_CHECK_OTHER)
        return HEDDLE_OK;
    const char *nearest = nearest_kind(word);
    return heddle_fail(HEDDLE_CORRUPT, "%s:%d: there is no kind of finding called '%s'%s%s%s", path, line, word,
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static heddle_status read_rule(const char *path, int number, char *text, heddle_check_suppressions *suppressions)
{
    sim_rule rule;
    switch (sim_rule_parse(text, &rule)) {
    case SIM_RULE_NONE: return HEDDLE_OK;
    case SIM_RULE_READ: break;
    case SIM_RULE_WRONG:
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s:%d: a suppression is KIND, KIND FILE, KIND FILE:LINE or KIND kernel:NAME", path, number);
    }
    HEDDLE_TRY(check_kind(path, number, rule.kind));
    suppressions->rules[suppressions->count++] = (file_rule){.rule = rule, .line = number};
    return HEDDLE_OK;
}

heddle_status heddle_check_suppressions_read(const char *path, heddle_check_suppressions **suppressions)
{
    *suppressions = NULL;
    heddle_check_suppressions *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path);
    made->path = path;
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

// --- comments --------------------------------------------------------------------------------------------------------

static size_t skip(const char *text, size_t at, size_t length, const char *characters, bool while_in)
{
    while (at < length && (strchr(characters, text[at]) != NULL) == while_in)
        at++;
    return at;
}

// How far `text` is the mark; 0: it is not.
static size_t mark_length(const char *text, size_t length, const char *mark)
{
    size_t at = 0;
    for (; *mark; mark++) {
        if (*mark == ' ')
            at = skip(text, at, length, " \t", true);
        else if (at >= length || text[at++] != *mark)
            return 0;
    }
    return at;
}

// What follows `mark` in `text`, `length` characters; a blank of the mark stands for any number of them, none too.
// NULL: there is no mark.
static const char *comment_find(const char *text, size_t length, const char *mark)
{
    for (size_t at = 0; at < length; at++) {
        size_t found = mark_length(text + at, length - at, mark);
        if (found > 0)
            return text + at + found;
    }
    return NULL;
}

static bool comment_allows(const char *text, size_t length, const char *mark, const char *kind)
{
    const char *found = comment_find(text, length, mark);
    if (!found)
        return false;
    for (size_t at = (size_t)(found - text); at < length; at++) {
        const size_t word = skip(text, at, length, " \t", true);
        at = skip(text, word, length, " \t\r\n,*:", false);
        const size_t letters = at - word;
        if ((letters == EVERY && memcmp(text + word, "all", EVERY) == 0) ||
            (letters == strlen(kind) && memcmp(text + word, kind, letters) == 0))
            return true;
        at = skip(text, at, length, " \t", true);
        if (at >= length || text[at] != ',')
            return false;
    }
    return false;
}

// --- matching --------------------------------------------------------------------------------------------------------

static bool rule_matches(const sim_rule *rule, const heddle_check_finding *finding)
{
    if (!sim_rule_is_for(rule, heddle_check_kinds[finding->kind].name))
        return false;
    if (sim_rule_is_everywhere(rule) || sim_rule_has_kernel(rule, finding->kernel))
        return true;
    for (int p = 0; p < finding->place_count; p++)
        for (int f = 0; f < finding->places[p].frames; f++)
            if (sim_rule_has_line(rule, finding->places[p].frame[f].file, (unsigned)finding->places[p].frame[f].line))
                return true;
    return false;
}

static bool line_allows(heddle_check_sources *sources, const char *file, int line, const char *kind)
{
    const sim_source *source = heddle_check_sources_code(sources, file);
    const char *text = NULL;
    int first, last;
    if (!source)
        return false;
    sim_tokens_on_line(&source->comments, line, &first, &last);
    for (int i = first > 0 ? first - 1 : 0; i < last; i++) { // one that begins earlier may end on the line
        const size_t length = sim_comment_on_line(source, &source->comments.at[i], line, &text);
        if (length > 0 &&
            (comment_allows(text, length, allow_mark, kind) || comment_allows(text, length, sim_mark, kind)))
            return true;
    }
    return false;
}

static bool frame_allows(heddle_check_sources *sources, const heddle_check_frame *frame, const char *kind)
{
    return line_allows(sources, frame->file, frame->line, kind) ||
           line_allows(sources, frame->file, frame->line - 1, kind);
}

bool heddle_check_suppressed(const heddle_check_suppressions *suppressions, heddle_check_sources *sources,
                             const heddle_check_finding *finding)
{
    bool matches = false; // all of them are asked: each that matches has its use
    for (int i = 0; suppressions && i < suppressions->count; i++)
        if (rule_matches(&suppressions->rules[i].rule, finding))
            matches = suppressions->rules[i].used = true;
    if (matches)
        return true;
    for (int p = 0; sources && p < finding->place_count; p++)
        for (int f = 0; f < finding->places[p].frames; f++)
            if (frame_allows(sources, &finding->places[p].frame[f], heddle_check_kinds[finding->kind].name))
                return true;
    return false;
}

// Whether a run ended before it came to all that the program does: what a rule is for may have come later.
static bool was_cut_short(const heddle_check_result *result)
{
    for (int i = 0; i < result->run_count; i++)
        if (result->runs[i]->unchecked[0])
            return true;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_kind kind = result->findings[i]->kind;
        if (kind == HEDDLE_CHECK_DIED || kind == HEDDLE_CHECK_TIMEOUT || kind == HEDDLE_CHECK_MEMORY)
            return true;
    }
    return result->run_count == 0;
}

heddle_status heddle_check_suppressions_note_unused(const heddle_check_suppressions *suppressions,
                                                    heddle_check_result *result)
{
    char lines[160] = "";
    size_t used = 0;
    int unused = 0;
    for (int i = 0; suppressions && i < suppressions->count; i++) {
        const file_rule *rule = &suppressions->rules[i];
        if (rule->used)
            continue;
        if (unused++ < MOST_NAMED && used < sizeof lines)
            used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%d", used ? ", " : "", rule->line);
    }
    if (unused == 0 || was_cut_short(result))
        return HEDDLE_OK;
    return heddle_check_result_note(result, "%s: %s %s%s suppresses nothing here: no finding has that kind and place",
                                    suppressions->path, unused == 1 ? "the rule of line" : "each rule of lines", lines,
                                    unused > MOST_NAMED ? " and others" : "");
}

// --- comments that say nothing ---------------------------------------------------------------------------------------

static const char *all_kinds(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < HEDDLE_CHECK_OTHER && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", heddle_check_kinds[i].name);
    return text;
}

static heddle_status note_unknown(const char *path, int line, const char *word, heddle_check_result *result)
{
    char kinds[640];
    const char *nearest = nearest_kind(word);
    return heddle_check_result_note(
        result, "%s:%d: this comment suppresses nothing: there is no kind of finding called '%s'%s%s%s; there are %s",
        path, line, word, nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "",
        all_kinds(kinds, sizeof kinds));
}

enum { LONGEST_WORD = 64 };

// Takes the next word, of those that commas or blanks part; returns what follows it and blanks.
static const char *take_word(const char *at, char word[LONGEST_WORD])
{
    at += strspn(at, ", \t");
    size_t length = strcspn(at, " \t\r\n,*:");
    snprintf(word, LONGEST_WORD, "%.*s", (int)length, at);
    at += length;
    return at + strspn(at, " \t");
}

// After "heddle:" another word than allow: reported where it resembles it, or where a kind follows it. All else is
// prose.
static heddle_status look_at_word(const char *path, int number, const char *at, heddle_check_result *result)
{
    static const char *const allow[] = {"allow"};
    char word[LONGEST_WORD], kind[LONGEST_WORD];
    take_word(take_word(at, word), kind);
    bool follows = strcmp(kind, "all") == 0 || heddle_check_kind_find(kind) != HEDDLE_CHECK_OTHER;
    if (!word[0] || (!follows && !heddle_text_nearest(word, allow, 1)))
        return HEDDLE_OK;
    return heddle_check_result_note(
        result, "%s:%d: this comment suppresses nothing: '%s' is not a word for that; write // heddle: allow KIND",
        path, number, word);
}

// The words behind the mark, as comment_allows reads them.
static heddle_status look_at_line(const char *path, int number, const char *text, size_t length,
                                  heddle_check_result *result)
{
    const char *at = comment_find(text, length, allow_mark);
    const char *other = at ? NULL : comment_find(text, length, "heddle:");
    if (!at)
        return other ? look_at_word(path, number, other, result) : HEDDLE_OK;
    do {
        char word[LONGEST_WORD];
        at = take_word(at, word);
        if (strcmp(word, "all") != 0 && heddle_check_kind_find(word) == HEDDLE_CHECK_OTHER)
            HEDDLE_TRY(note_unknown(path, number, word, result));
    } while (*at == ',');
    return HEDDLE_OK;
}

static heddle_status look_at_comment(const char *path, const sim_source *source, const sim_token *comment,
                                     heddle_check_result *result)
{
    const char *text = source->text + comment->start, *end = source->text + comment->end;
    for (int line = comment->line; text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        HEDDLE_TRY(look_at_line(path, line, text, (size_t)((newline ? newline : end) - text), result));
        text = newline ? newline + 1 : end;
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_comments_look(const char *const *files, heddle_check_result *result)
{
    for (int i = 0; files[i]; i++) {
        const sim_source *source = heddle_check_sources_code(result->sources, files[i]);
        for (int c = 0; source && c < source->comments.count; c++)
            HEDDLE_TRY(look_at_comment(files[i], source, &source->comments.at[c], result));
    }
    return HEDDLE_OK;
}
