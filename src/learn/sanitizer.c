// Reads what AddressSanitizer and UndefinedBehaviorSanitizer print about a program in plain C.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/judging.h"

typedef struct known_error {
    const char *name; // after "AddressSanitizer: "
    const char *tag, *headline, *advice;
} known_error;

static const char past_the_end[] =
    "An array of n elements has the indices 0 to n - 1. Check the first and the last index that the loop reaches, and "
    "that the allocation counts bytes: n * sizeof *array.";

static const known_error errors[] = {
    {"heap-buffer-overflow", "out-of-bounds", "an access outside memory from malloc", past_the_end},
    {"stack-buffer-overflow", "out-of-bounds", "an access outside a local variable", past_the_end},
    {"stack-buffer-underflow", "out-of-bounds", "an access before the start of a local variable", past_the_end},
    {"global-buffer-overflow", "out-of-bounds", "an access outside a global variable", past_the_end},
    {"dynamic-stack-buffer-overflow", "out-of-bounds", "an access outside a local variable", past_the_end},
    {"heap-use-after-free", "use-after-free", "memory is used after it was freed",
     "Free memory after its last use, and set the pointer to NULL."},
    {"stack-use-after-return", "use-after-free", "a local variable is used after its function has returned",
     "Return a value, or let the caller pass memory to write to."},
    {"stack-use-after-scope", "use-after-free", "a local variable is used outside its braces",
     "Declare it in the block that uses it."},
    {"attempting double-free", "invalid-free", "memory is freed twice", "Free each allocation once."},
    {"attempting free on address which was not malloc()-ed", "invalid-free", "memory is freed that malloc did not give",
     "Pass to free exactly what malloc returned, not a pointer into it."},
    {"SEGV", "fault", "a pointer that points nowhere is followed",
     "The pointer is NULL or was never set. Check what it was set to before this line."},
    {"stack-overflow", "fault", "the stack is full", "A function calls itself for ever, or a local array is huge."},
    {"requested allocation size", "out-of-bounds", "malloc is asked for an absurd size",
     "A size_t below 0 becomes a huge number: check the arithmetic of the size."},
};

// "#1 0x55 in copy /tmp/x/03.1-swap.c:7:12"
static bool read_frame(const char *line, size_t length, heddle_check_frame *frame, char file[HEDDLE_PLACE_SIZE])
{
    const char *slash = memmem(line, length, " /", 2);
    return slash && heddle_learn_read_place(slash + 1, file, frame);
}

// Quotes the first frame of the learner's in the stack that begins at `text`, and tells the caller's where there is
// none. Returns where the stack ends.
static const char *quote_stack(const heddle_learn_judging *judging, heddle_learn_reason *reason, const char *text,
                               const char *about)
{
    bool quoted = false;
    while (*text && text[strspn(text, " ")] == '#') {
        char file[HEDDLE_PLACE_SIZE];
        size_t length = strcspn(text, "\n");
        heddle_check_place place = {.frames = 1};
        if (!quoted && read_frame(text, length, &place.frame[0], file) && heddle_learn_is_learners(judging, file)) {
            heddle_learn_quote(judging, reason, &place, about);
            quoted = true;
        }
        text += length + (text[length] == '\n');
    }
    return text;
}

// "READ of size 4 at 0x...", "0x... is located 8 bytes after 40-byte region": which element of how many that is.
static void tell_region(const heddle_learn_judging *judging, heddle_learn_reason *reason, const char *text)
{
    const char *reads = strstr(text, "READ of size "), *writes = strstr(text, "WRITE of size ");
    const char *access = reads ? reads : writes, *located = strstr(text, "is located ");
    const char *region = located ? strstr(located, "-byte region") : NULL;
    long long bytes = access ? strtoll(strstr(access, "size ") + strlen("size "), NULL, 10) : 0, size = 0;
    if (bytes <= 0)
        return;
    for (long long ten = 1; region && region > located && region[-1] >= '0' && region[-1] <= '9'; ten *= 10)
        size += ten * (*--region - '0');
    if (size == 0) {
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT, "It %s %lld byte%s there.",
                              access == writes ? "writes" : "reads", bytes, bytes == 1 ? "" : "s");
        return;
    }
    char *side;
    long long distance = strtoll(located + strlen("is located "), &side, 10);
    char words[64]; // between the two numbers: "bytes to the left of"
    snprintf(words, sizeof words, "%.*s", (int)(region - side), side);
    bool before = strstr(words, "before") || strstr(words, "left"), inside = strstr(words, "inside") != NULL;
    long long offset = before ? -distance : inside ? distance : size + distance;
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                          "It %s %lld byte%s at byte %lld of memory that has %lld bytes: element %lld, where there are "
                          "%lld, counted from 0.",
                          access == writes ? "writes" : "reads", bytes, bytes == 1 ? "" : "s", offset, size,
                          before ? -((distance + bytes - 1) / bytes) : offset / bytes, size / bytes);
}

static void tell_stacks(const heddle_learn_judging *judging, heddle_learn_reason *reason, const char *text)
{
    const char *about = "";
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (line[strspn(line, " ")] == '#') {
            line = quote_stack(judging, reason, line, about);
            about = NULL;
            continue;
        }
        if (strncmp(line, "freed by", strlen("freed by")) == 0)
            about = "freed here";
        else if (strncmp(line, "previously allocated by", strlen("previously allocated by")) == 0 ||
                 strncmp(line, "allocated by", strlen("allocated by")) == 0)
            about = "allocated here";
        if (!about)
            about = "";
        line += length + (line[length] == '\n');
    }
}

static bool explain_undefined(const heddle_learn_judging *judging, const char *text)
{
    static const char mark[] = "runtime error: ";
    const char *said = strstr(text, mark), *begin = said;
    if (!said)
        return false;
    while (begin > text && begin[-1] != '\n')
        begin--;
    said += sizeof mark - 1;
    char file[HEDDLE_PLACE_SIZE];
    heddle_check_place place = {.frames = 1};
    heddle_learn_reason *reason = heddle_learn_add_reason(judging->verdict, "undefined", HEDDLE_LEARN_RANK_ERROR,
                                                          "%.*s", (int)strcspn(said, "\n"), said);
    reason->in_case = judging->in_case;
    if (heddle_learn_read_place(begin, file, &place.frame[0]))
        heddle_learn_quote(judging, reason, &place, "");
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                          "C does not say what happens then (undefined behaviour): it may seem to work today and fail "
                          "with the next compiler.");
    return true;
}

bool heddle_learn_explain_sanitizer(const heddle_learn_judging *judging, const char *text)
{
    const char *said = strstr(text, "ERROR: AddressSanitizer: ");
    if (explain_undefined(judging, text))
        return true;
    if (!said)
        return false;
    said = strstr(said, "Sanitizer: ") + strlen("Sanitizer: ");
    const known_error *known = NULL;
    for (size_t i = 0; !known && i < sizeof errors / sizeof *errors; i++)
        if (strncmp(said, errors[i].name, strlen(errors[i].name)) == 0)
            known = &errors[i];
    heddle_learn_reason *reason = heddle_learn_add_reason(
        judging->verdict, known ? known->tag : "crash", HEDDLE_LEARN_RANK_ERROR, "%.*s",
        known ? (int)strlen(known->headline) : (int)strcspn(said, "\n"), known ? known->headline : said);
    reason->in_case = judging->in_case;
    tell_stacks(judging, reason, said);
    tell_region(judging, reason, said);
    if (known)
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE, "%s", known->advice);
    return true;
}
