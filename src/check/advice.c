// Knows the messages of gcc and clang for what people write who come from C.

#include "check/advice.h"

#include <ctype.h>
#include <string.h>

#include "check/code.h"

const char *heddle_check_line_code(heddle_check_sources *sources, const char *path, int line, char *code, size_t size)
{
    const heddle_check_source *source = path[0] ? heddle_check_sources_get(sources, path) : NULL;
    bool comment = false; // may have begun in any line before
    code[0] = '\0';
    for (int i = 0; source && line <= source->count && i < line; i++)
        heddle_check_code_of(source->lines[i], &comment, code, size);
    return code;
}

// --- habits of C -----------------------------------------------------------------------------------------------------

// Behind the quote that opens after `lead`; NULL: the text does not have it.
static const char *quoted_after(const char *text, const char *lead)
{
    const char *at = text ? strstr(text, lead) : NULL;
    if (!at)
        return NULL;
    at += strlen(lead);
    while (*at && (*at == '\'' || !isascii((unsigned char)*at))) // of one byte or of three
        at++;
    return at;
}

// Whether a type that is quoted at `at` ends with these letters.
static bool ends_with(const char *at, const char *end)
{
    size_t length = 0;
    while (at && at[length] && at[length] != '\'' && isascii((unsigned char)at[length]))
        length++;
    return at && length >= strlen(end) && memcmp(at + length - strlen(end), end, strlen(end)) == 0;
}

static bool is_void_pointer(const char *at, const char *spelled)
{
    return at && strncmp(at, spelled, strlen(spelled)) == 0 && ends_with(at, spelled);
}

// A conversion of void * to another pointer, which C makes by itself, in the words of gcc or clang.
static bool converts_void(const char *message)
{
    const char *from = quoted_after(message, "invalid conversion from ");
    if (from)
        return is_void_pointer(from, "void*") && ends_with(quoted_after(from, " to "), "*");
    if (is_void_pointer(quoted_after(message, "from incompatible type "), "void *"))
        return ends_with(quoted_after(message, "assigning to "), "*");
    return is_void_pointer(quoted_after(message, "value of type "), "void *") &&
           ends_with(quoted_after(message, " of type "), "*");
}

static bool is_c_file(const char *path)
{
    size_t length = strlen(path);
    return length > 2 && strcmp(path + length - 2, ".c") == 0;
}

const char *heddle_check_habit_of_c(const char *file, const char *message, const char *code)
{
    if (is_c_file(file))
        return strstr(code, "__global__") || strstr(code, "__device__") || strstr(code, "<<<")
                   ? "a file that is called .c is compiled as C, which has no kernels: call it .cu"
                   : NULL;
    if (converts_void(message))
        return "CUDA is C++, which converts no void * by itself: cast what malloc returns, (float *)malloc(bytes)";
    return heddle_check_find_word(code, code, "restrict") ? "CUDA is C++, which has no restrict: write __restrict__"
                                                          : NULL;
}

// --- arguments -------------------------------------------------------------------------------------------------------

bool heddle_check_reads_argument(const char *code)
{
    static const char array[] = "argv";
    for (const char *at = code; (at = heddle_check_find_word(code, at, array)) != NULL; at++) {
        const char *index = at + sizeof array - 1;
        index += strspn(index, " ");
        if (*index != '[')
            continue;
        index += 1 + strspn(index + 1, " ");
        const bool own_name = *index == '0' && index[1 + strspn(index + 1, " ")] == ']';
        if (!own_name)
            return true;
    }
    return false;
}
