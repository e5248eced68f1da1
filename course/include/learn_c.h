// What the judge of an exercise in plain C is written with: learn.h without a GPU. judge.c includes this header and the
// learner's file, and runs it under AddressSanitizer and UndefinedBehaviorSanitizer.
#ifndef HEDDLE_COURSE_LEARN_C_H
#define HEDDLE_COURSE_LEARN_C_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LEARN_MARK
#define LEARN_MARK learn // before each line for `heddle learn`, which chooses a new one for each run
#endif
#define LEARN_QUOTE(word) #word
#define LEARN_TEXT(word)  LEARN_QUOTE(word)

static char learn_case_name[256];

static void learn_quote(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    putchar('"');
}

static inline void learn_begin_line(void)
{
    printf("\n@" LEARN_TEXT(LEARN_MARK) " {\"case\":");
    learn_quote(learn_case_name);
}

// Begins a case: what the messages call it.
__attribute__((format(printf, 1, 2))) static inline void learn_case(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(learn_case_name, sizeof learn_case_name, format, list);
    va_end(list);
    learn_begin_line(); // should the program never come to the end of the case
    puts(",\"begins\":true}");
    fflush(stdout);
}

// Fails the exercise with a sentence.
__attribute__((format(printf, 2, 3))) static inline void learn_require(bool holds, const char *format, ...)
{
    char text[512];
    va_list list;
    if (holds)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    learn_begin_line();
    printf(",\"says\":");
    learn_quote(text);
    puts("}");
    exit(1);
}

static inline void learn_expect_int(const char *name, long long found, long long expected)
{
    learn_require(found == expected, "%s is %lld, expected %lld", name, found, expected);
}

static inline void learn_expect_double(const char *name, double found, double expected, double tolerance)
{
    double difference = found > expected ? found - expected : expected - found;
    double size = expected < 0 ? -expected : expected;
    learn_require(difference <= tolerance * (size > 1 ? size : 1), "%s is %.7g, expected %.7g", name, found, expected);
}

static inline void learn_expect_text(const char *name, const char *found, const char *expected)
{
    learn_require(found != NULL && strcmp(found, expected) == 0, "%s is \"%s\", expected \"%s\"", name,
                  found ? found : "(null)", expected);
}

static inline void learn_expect_ints(const char *name, const int *found, const int *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        learn_require(found[i] == expected[i], "%s[%zu] is %d, expected %d", name, i, found[i], expected[i]);
}

// --- memory that is never freed --------------------------------------------------------------------------------------

// Each allocation and open file, with the line it comes from. LeakSanitizer would find them, too, but takes seconds on
// some machines.
struct learn_allocation {
    void *memory;
    size_t bytes; // 0: a file
    const char *file;
    int line;
    struct learn_allocation *next;
};

static struct learn_allocation *learn_allocations;

static inline void *learn_track(void *memory, size_t bytes, const char *file, int line)
{
    struct learn_allocation *made = memory ? malloc(sizeof *made) : NULL;
    if (made) {
        *made = (struct learn_allocation){memory, bytes, file, line, learn_allocations};
        learn_allocations = made;
    }
    return memory;
}

static inline void *learn_untrack(void *memory)
{
    for (struct learn_allocation **link = &learn_allocations; *link; link = &(*link)->next) {
        struct learn_allocation *found = *link;
        if (found->memory != memory)
            continue;
        *link = found->next;
        free(found);
        break;
    }
    return memory;
}

static inline void *learn_malloc(size_t bytes, const char *file, int line)
{
    return learn_track(malloc(bytes), bytes, file, line);
}

static inline void *learn_calloc(size_t count, size_t bytes, const char *file, int line)
{
    return learn_track(calloc(count, bytes), count * bytes, file, line);
}

static inline char *learn_strdup(const char *text, const char *file, int line)
{
    return (char *)learn_track(strdup(text), strlen(text) + 1, file, line);
}

static inline void *learn_realloc(void *memory, size_t bytes, const char *file, int line)
{
    void *moved = realloc(memory, bytes);
    if (moved || bytes == 0)
        learn_untrack(memory);
    return learn_track(moved, bytes, file, line);
}

// The last line of main.
static inline int learn_passed(void)
{
    learn_begin_line();
    if (learn_allocations) {
        printf(",\"leaked\":%zu,\"line\":%d,\"file\":", learn_allocations->bytes, learn_allocations->line);
        learn_quote(learn_allocations->file);
        puts("}");
        return 1;
    }
    puts(",\"passed\":true}");
    return 0;
}

#define malloc(bytes)         learn_malloc((bytes), __FILE__, __LINE__)
#define calloc(count, bytes)  learn_calloc((count), (bytes), __FILE__, __LINE__)
#define realloc(memory, size) learn_realloc((memory), (size), __FILE__, __LINE__)
#define strdup(text)          learn_strdup((text), __FILE__, __LINE__)
#define free(memory)          free(learn_untrack(memory))
#define fopen(path, mode)     ((FILE *)learn_track(fopen((path), (mode)), 0, __FILE__, __LINE__))
#define fclose(file)          fclose((FILE *)learn_untrack(file))

#endif
