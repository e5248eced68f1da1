// Knows the messages of gcc and clang for what people write who come from C.

#include "check/advice.h"

#include <ctype.h>
#include <string.h>

#include "sim/source/launch.h"

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

static bool line_has(const sim_source *source, int line, const char *const *words)
{
    int first = 0, last = 0;
    if (source)
        sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first; i < last; i++)
        if (sim_token_is_any(source, &source->code.at[i], words))
            return true;
    return false;
}

static bool has_launch(const sim_source *source, int line)
{
    sim_launch launch;
    int first = 0, last = 0;
    if (source)
        sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first; i < last; i++)
        if (sim_launch_at(source, &source->code, i, &launch))
            return true;
    return false;
}

const char *heddle_check_habit_of_c(const char *file, const char *message, const sim_source *source, int line)
{
    static const char *const of_device[] = {"__global__", "__device__", NULL}, *const of_c[] = {"restrict", NULL};
    if (is_c_file(file))
        return line_has(source, line, of_device) || has_launch(source, line)
                   ? "a .c file is compiled as C, which has no kernels: rename it to .cu"
                   : NULL;
    if (converts_void(message))
        return "CUDA is C++, which does not convert void * implicitly: cast what malloc returns, (float "
               "*)malloc(bytes)";
    return line_has(source, line, of_c) ? "CUDA is C++, which has no restrict: write __restrict__" : NULL;
}

// --- pointers --------------------------------------------------------------------------------------------------------

const char *heddle_check_wants_address(const char *message)
{
    static const char *const calls[] = {"cudaMalloc(", "cudaMallocManaged(", "cudaMallocHost("};
    const char *call = quoted_after(message, "no matching function for call to ");
    for (size_t i = 0; call && i < sizeof calls / sizeof *calls; i++)
        if (strncmp(call, calls[i], strlen(calls[i])) == 0)
            return "cudaMalloc and its kin store the new address in your pointer, so they take the pointer's address: "
                   "cudaMalloc(&data, bytes)";
    return NULL;
}

// --- arguments -------------------------------------------------------------------------------------------------------

bool heddle_check_reads_argument(const sim_source *source, int line)
{
    int first = 0, last = 0;
    if (source)
        sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first; i < last; i++) {
        const sim_token *open = sim_token_at(&source->code, i + 1);
        bool indexed = sim_token_is(source, &source->code.at[i], "argv") && sim_token_is(source, open, "[");
        bool own_name = sim_token_is(source, sim_token_at(&source->code, i + 2), "0") && open->match == i + 3;
        if (indexed && !own_name)
            return true;
    }
    return false;
}
