// Reads every page for every question: the course is small, and nothing can be out of date.

#include "learn/search.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORDS = 8,
    LONGEST_WORD = 64,
    EXCERPT = 180,
    BEFORE = 60,
    TITLE_SCORE = 100,
    EXERCISE_SCORE = 10,
    ENTRY_SCORE = 10000, // of the glossary, when the question is its word
    DEEPEST = 3
};

// What a result is; compared as pointers.
static const char exercise[] = "exercise", section[] = "section", glossary[] = "glossary";

typedef struct searching {
    heddle_arena *arena;
    const char *question;
    char words[MOST_WORDS][LONGEST_WORD];
    int word_count;
    heddle_learn_found *found;
    int count;
} searching;

static void split_words(searching *now, const char *question)
{
    while (*question && now->word_count < MOST_WORDS) {
        size_t skipped = strspn(question, " \t\r\n"), length = strcspn(question + skipped, " \t\r\n");
        if (length == 0)
            return;
        snprintf(now->words[now->word_count++], LONGEST_WORD, "%.*s", (int)length, question + skipped);
        question += skipped + length;
    }
}

static const char *trimmed_copy(heddle_arena *arena, const char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return heddle_learn_format(arena, "%.*s", (int)length, text);
}

// A text without the marks of Markdown, on one line.
static char *plain_copy(heddle_arena *arena, const char *text, size_t length)
{
    char *copy = heddle_arena_alloc(arena, length + 1), *to = copy;
    for (size_t i = 0; copy && i < length && text[i]; i++) {
        char c = text[i];
        if (length - i >= 3 && strncmp(text + i, "```", 3) == 0) // of a fence nothing stays
            while (i + 1 < length && text[i + 1] != '\n')
                i++;
        if (strchr("`*#[|", c))
            continue;
        if (c == ']' && i + 1 < length && text[i + 1] == '(') { // of a link its text stays
            while (i < length && text[i] != ')' && text[i] != '\n')
                i++;
            continue;
        }
        if (isspace((unsigned char)c))
            c = ' ';
        if (c != ' ' || (to > copy && to[-1] != ' '))
            *to++ = c;
    }
    if (copy && to > copy && to[-1] == ' ')
        to[-1] = '\0';
    return copy;
}

// The text around `at`, not cut within a character.
static const char *excerpt(heddle_arena *arena, const char *text, const char *at)
{
    const char *begin = at - text > BEFORE ? at - BEFORE : text;
    while (begin > text && begin[-1] != ' ')
        begin--;
    size_t length = strnlen(begin, EXCERPT);
    while (length > 0 && begin[length] && begin[length] != ' ')
        length--;
    return heddle_learn_format(arena, "%s%.*s%s", begin > text ? "… " : "", (int)length, begin,
                               begin[length] ? " …" : "");
}

static void keep(searching *now, const heddle_learn_found *one)
{
    int place = now->count < HEDDLE_LEARN_MOST_FOUND ? now->count++ : HEDDLE_LEARN_MOST_FOUND;
    while (place > 0 && now->found[place - 1].score < one->score) {
        if (place < HEDDLE_LEARN_MOST_FOUND)
            now->found[place] = now->found[place - 1];
        place--;
    }
    if (place < HEDDLE_LEARN_MOST_FOUND)
        now->found[place] = *one;
}

static void search_section(searching *now, const char *page, const char *kind, const char *text, size_t length)
{
    size_t heading = 0;
    while (heading < length && text[heading] != '\n')
        heading++;
    char *title = plain_copy(now->arena, text, heading), *whole = plain_copy(now->arena, text, length);
    if (!title || !whole)
        return;
    const char *below = whole + strlen(title); // the same text begins both
    below += below[0] == ' ';
    heddle_learn_found one = {.page = page, .kind = kind, .title = title};
    const char *first = NULL; // rather where a word is spoken of than in the heading
    for (int i = 0; i < now->word_count; i++) {
        const char *at = strcasestr(whole, now->words[i]);
        if (!at)
            return;
        if (!first)
            first = strcasestr(below, now->words[i]);
        one.score += strcasestr(title, now->words[i]) ? TITLE_SCORE : 0;
        for (; at; at = strcasestr(at + 1, now->words[i]))
            one.score++;
    }
    one.score += kind == exercise ? EXERCISE_SCORE : 0;
    one.score += kind == glossary && strcasecmp(title, now->question) == 0 ? ENTRY_SCORE : 0;
    one.excerpt = excerpt(now->arena, below, first ? first : below);
    if (one.excerpt)
        keep(now, &one);
}

// Whether a line begins with "# ", "## " or "### ".
static bool is_heading(const char *line)
{
    size_t marks = strspn(line, "#");
    return marks >= 1 && marks <= DEEPEST && line[marks] == ' ';
}

// What looks like a heading inside a block of code is none.
static void search_page(searching *now, const char *page, const char *kind, const char *text)
{
    const char *begin = text;
    bool in_code = false;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        in_code ^= strncmp(line, "```", 3) == 0;
        if (!in_code && kind != exercise && line > begin && is_heading(line)) {
            search_section(now, page, kind, begin, (size_t)(line - begin));
            begin = line;
        }
        line += length + (line[length] == '\n');
    }
    search_section(now, page, kind, begin, strlen(begin));
}

static void search_chapter(const heddle_learn_course *course, searching *now, const char *page, const char *kind,
                           const char *file)
{
    const char *text;
    if (heddle_learn_page_text(course, file, now->arena, &text) == HEDDLE_OK) // one without a page has nothing to find
        search_page(now, page, kind, text);
}

heddle_status heddle_learn_search(const heddle_learn_course *course, const char *question, heddle_arena *arena,
                                  heddle_learn_found **found, int *count)
{
    searching now = {.arena = arena};
    now.found = heddle_arena_alloc(arena, HEDDLE_LEARN_MOST_FOUND * sizeof *now.found);
    *found = now.found;
    *count = 0;
    if (!now.found)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to search the course");
    split_words(&now, question);
    now.question = trimmed_copy(arena, question);
    if (now.word_count == 0 || !now.question)
        return HEDDLE_OK;
    for (int i = 0; i < course->count; i++) {
        const char *text;
        if (heddle_learn_statement(&course->exercises[i], arena, &text) == HEDDLE_OK)
            search_page(&now, course->exercises[i].number, exercise, text);
    }
    for (int i = 0; i < course->chapter_count; i++) {
        const char *file = heddle_learn_format(arena, "%s/README.md", course->chapters[i]);
        if (file)
            search_chapter(course, &now, course->chapters[i], section, file);
    }
    search_chapter(course, &now, glossary, glossary, "GLOSSARY.md");
    *count = now.count;
    return HEDDLE_OK;
}
