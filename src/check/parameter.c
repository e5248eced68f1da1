// From cudaMalloc(&da, ...) by way of add<<<...>>>(da, ...) to __global__ void add(const float *a, ...). A wrong name
// is worse than none: where launches differ, where the pointer is given another value, or where it is allocated in
// another function than the one that launches, nothing is said.

#include "check/parameter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "check/code.h"

enum { LONGEST_LINE = 400, NOT_FOUND = -1, NOT_CLEAR = -2 };

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \n");
}

// The file's text without comments and literals; *offset: where the line begins. The caller frees it; NULL: there is
// none.
static char *code_of(const heddle_check_result *result, const char *path, int line, size_t *offset)
{
    const heddle_check_source *source = path[0] ? heddle_check_sources_get(result->sources, path) : NULL;
    char *text = source && source->count > 0 ? malloc((size_t)source->count * (LONGEST_LINE + 1) + 1) : NULL;
    size_t used = 0;
    bool comment = false;
    for (int i = 0; text && i < source->count; i++) {
        if (i + 1 == line)
            *offset = used;
        heddle_check_code_of(source->lines[i], &comment, text + used, LONGEST_LINE);
        used += strlen(text + used);
        text[used++] = '\n';
    }
    if (text)
        text[used] = '\0';
    return text;
}

// --- lists in brackets -----------------------------------------------------------------------------------------------

typedef struct piece {
    const char *start;
    size_t length;
} piece;

// The item that begins at `at` and ends at a comma or at the bracket that closes the list; blanks around it left out.
static piece item_at(const char *at, const char **end)
{
    int depth = 0;
    at = skip_blanks(at);
    const char *close = at;
    for (; *close && (depth > 0 || (*close != ',' && *close != ')')); close++) {
        depth += *close == '(' || *close == '[' || *close == '{';
        depth -= *close == ')' || *close == ']' || *close == '}';
    }
    *end = close;
    while (close > at && isspace((unsigned char)close[-1]))
        close--;
    return (piece){at, (size_t)(close - at)};
}

// Where in the list, which opens before `at`, the name stands alone.
static int index_in(const char *at, const char *name)
{
    int found = NOT_FOUND;
    for (int i = 0;; i++) {
        piece item = item_at(at, &at);
        if (item.length == strlen(name) && memcmp(item.start, name, item.length) == 0)
            found = found == NOT_FOUND ? i : NOT_CLEAR;
        if (*at != ',')
            return found;
        at++;
    }
}

// The name of a parameter: its last word, before any [ ] and any default. Of length 0 where it has none.
static piece name_in(const char *at, int index)
{
    piece item = {at, 0};
    for (int i = 0; i <= index; i++) {
        if (i > 0 && *at++ != ',')
            return (piece){at, 0};
        item = item_at(at, &at);
    }
    size_t end = 0;
    while (end < item.length && item.start[end] != '=' && item.start[end] != '[')
        end++;
    while (end > 0 && !heddle_check_is_word(item.start[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && heddle_check_is_word(item.start[begin - 1]))
        begin--;
    return (piece){item.start + begin, end - begin};
}

// --- the way from name to name ---------------------------------------------------------------------------------------

// Behind the bracket that opens the parameters of the only definition; NULL: there is none, or several.
static const char *find_definition(const char *text, const char *kernel)
{
    const char *found = NULL;
    for (const char *at = text; (at = heddle_check_find_word(text, at, kernel)) != NULL; at++) {
        const char *open = skip_blanks(at + strlen(kernel)), *end = open;
        if (*open != '(')
            continue;
        while (*end && *end != '{' && *end != ';')
            end++;
        const char *begin = at;
        while (begin > text && !strchr(";{}", begin[-1]))
            begin--;
        const char *global = strstr(begin, "__global__");
        if (*end != '{' || !global || global > at)
            continue;
        if (found)
            return NULL;
        found = open + 1;
    }
    return found;
}

// Behind the bracket that opens the arguments of the launch whose kernel's name ends at `at`; NULL: it is no launch.
static const char *arguments_of(const char *at)
{
    const char *open = strstr(at, "<<<");
    const size_t before = strcspn(at, ";{}");
    const char *close = open && (size_t)(open - at) < before ? strstr(open, ">>>") : NULL;
    const char *first = skip_blanks(at);
    if (!close || *first != '<')
        return NULL;
    close = skip_blanks(close + 3);
    return *close == '(' ? close + 1 : NULL;
}

static bool in_one_function(const char *a, const char *b)
{
    const char *first = a < b ? a : b, *last = a < b ? b : a;
    const char *end = strstr(first, "\n}");
    return !end || end >= last;
}

// The argument by which the launches that follow the allocation hand the pointer over.
static int find_argument(const char *text, const char *allocated, const char *kernel, const char *name)
{
    int found = NOT_FOUND;
    for (const char *at = text; (at = heddle_check_find_word(text, at, kernel)) != NULL; at++) {
        const char *arguments = arguments_of(at + strlen(kernel));
        int index = arguments && in_one_function(allocated, at) ? index_in(arguments, name) : NOT_FOUND;
        if (index != NOT_FOUND)
            found = found == NOT_FOUND || found == index ? index : NOT_CLEAR;
    }
    return found;
}

// Whether the pointer may have come to point to other memory.
static bool is_moved(const char *text, const char *allocated, const char *name)
{
    for (const char *at = allocated; (at = heddle_check_find_word(text, at, name)) != NULL; at++) {
        const char *next = skip_blanks(at + strlen(name));
        if (*next == '=' && next[1] != '=')
            return true;
    }
    return heddle_check_find_word(text, text, "swap") != NULL;
}

// "add" of "space::add<float>".
static bool name_of_kernel(const char *kernel, char *name, size_t size)
{
    size_t length = strcspn(kernel, "<");
    size_t begin = length;
    while (begin > 0 && heddle_check_is_word(kernel[begin - 1]))
        begin--;
    if (length == begin || length - begin >= size)
        return false;
    memcpy(name, kernel + begin, length - begin);
    name[length - begin] = '\0';
    return true;
}

static void settle(heddle_check_result *result, heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    const heddle_check_frame *frame = &finding->places[0].frame[0];
    char kernel[128];
    size_t place = 0, ignored = 0;
    if (!name_of_kernel(finding->kernel, kernel, sizeof kernel))
        return;
    char *host = code_of(result, memory->allocated.file, memory->allocated.line, &place);
    char *device = code_of(result, frame->file, 0, &ignored);
    const char *parameters = device ? find_definition(device, kernel) : NULL;
    if (host && parameters && !is_moved(host, host + place, memory->name)) {
        int index = find_argument(host, host + place, kernel, memory->name);
        piece found = index >= 0 ? name_in(parameters, index) : (piece){"", 0};
        if (found.length > 0 &&
            !(found.length == strlen(memory->name) && memcmp(found.start, memory->name, found.length) == 0)) {
            char name[128] = "";
            if (found.length < sizeof name)
                memcpy(name, found.start, found.length);
            finding->parameter = name[0] ? heddle_arena_copy_text(result->arena, name) : NULL;
        }
    }
    free(host);
    free(device);
}

// In code of the kernel's own: a function that it calls has names of its own.
static bool is_in_kernel(const heddle_check_finding *finding)
{
    return finding->kernel && finding->place_count > 0 && finding->places[0].has_thread &&
           finding->places[0].frames == 1;
}

// An access far from all memory is told by the allocation that happens to be nearest.
static bool is_near(const heddle_check_memory *memory)
{
    const long long reach = memory->bytes + 4096;
    return memory->offset >= -reach && memory->offset <= memory->bytes + reach;
}

void heddle_check_parameters_settle(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        const heddle_check_memory *memory = finding->memory;
        bool named = memory && memory->name[0] && memory->allocated.line > 0 && is_near(memory);
        if (named && is_in_kernel(finding) && !heddle_check_is_shared(memory->space))
            settle(result, finding);
    }
}
