// What a person is told about the kernels of a file: a list, and a command line to start from.

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/extension.h"

enum { LINE_SIZE = 4096, NAME_SIZE = 256 };

// Text that grows at its end and is cut where it is full.
typedef struct line {
    char *text;
    size_t size, used;
} line;

static void say(line *to, const char *format, ...) HEDDLE_PRINTF(2, 3);

static void say(line *to, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(to->text + to->used, to->size - to->used, format, values);
    va_end(values);
    to->used += length > 0 ? (size_t)length : 0;
    if (to->used >= to->size)
        to->used = to->size - 1;
}

// The arguments that the file itself launches it with, types of a dispatch replaced; else float for a type and 256 for
// a number.
static void say_templates(const heddle_check_global *kernel, line *to)
{
    const char *launched = kernel->launch_templates;
    char item[NAME_SIZE];
    for (int i = 0; i < kernel->template_required; i++) {
        size_t length = 0, depth = 0;
        while (launched[length] && (depth > 0 || launched[length] != ',')) {
            depth += launched[length] == '<' || launched[length] == '(';
            depth -= depth > 0 && (launched[length] == '>' || launched[length] == ')');
            length++;
        }
        snprintf(item, sizeof item, "%.*s", (int)length, launched);
        launched += length + (launched[length] == ',');
        launched += strspn(launched, " ");
        bool number = isdigit((unsigned char)item[0]) || strcmp(item, "true") == 0 || strcmp(item, "false") == 0;
        static const char *const known[] = {"float", "double", "int", "int64_t", "__half", "half", "at::Half", "bool"};
        bool type = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            type |= strcmp(item, known[k]) == 0;
        bool used = kernel->template_is_type[i] ? type : number;
        bool index = kernel->template_is_type[i] && (strstr(kernel->template_names[i], "ndex"));
        say(to, "%s%s", i ? ", " : "", used ? item : index ? "int" : kernel->template_is_type[i] ? "float" : "256");
    }
}

// A type of --args for what a pointer or accessor holds.
static const char *element_name(const heddle_check_global *kernel, const char *type)
{
    static const struct {
        const char *part, *name;
    } names[] = {
        {"at::Half", "half"},       {"c10::Half", "half"},    {"__half", "half"},   {"half", "half"},
        {"BFloat16", "bfloat16"},   {"bfloat16", "bfloat16"}, {"double", "double"}, {"uint8_t", "uint8"},
        {"unsigned char", "uint8"}, {"int8_t", "int8"},       {"int64_t", "int64"}, {"long", "int64"},
        {"bool", "bool"},           {"int", "int"},           {"float", "float"},
    };
    for (int i = 0; i < kernel->template_count; i++)
        if (kernel->template_is_type[i] && strstr(type, kernel->template_names[i]))
            return strstr(kernel->template_names[i], "ndex") ? "int" : "float";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(type, names[i].part))
            return names[i].name;
    return "float";
}

// Sizes whose product is about that of a tensor, so that a kernel that multiplies all of them stays inside.
static const char *usual_size(const heddle_check_global *kernel)
{
    static const char *const sizes[] = {"1024", "1024", "32", "10", "5"};
    const int most = sizeof sizes / sizeof *sizes - 1;
    int count = 0;
    for (int i = 0; i < kernel->count; i++)
        count +=
            kernel->parameters[i].kind == HEDDLE_CHECK_BY_VALUE && strstr(kernel->parameters[i].type, "int") != NULL;
    return sizes[count < most ? count : most];
}

static void say_tensor(const heddle_check_global *kernel, const heddle_check_parameter *parameter, line *to)
{
    const char *element = element_name(kernel, parameter->type);
    bool whole = strchr("iub", element[0]) != NULL && strcmp(element, "bfloat16") != 0;
    bool is_output = parameter->kind == HEDDLE_CHECK_POINTER && !parameter->is_const;
    say(to, "%s: %s%s[", parameter->name, is_output ? "out " : "", element);
    for (int d = 0; d < (parameter->dimensions > 0 ? parameter->dimensions : 1); d++)
        say(to, "%s%s", d ? ", " : "", parameter->dimensions > 1 ? "64" : "1024");
    say(to, "]%s", is_output ? "" : whole ? " = randint(0, 10)" : " = normal");
}

static void say_arguments(const heddle_check_global *kernel, line *to)
{
    for (int i = 0; i < kernel->count; i++) {
        const heddle_check_parameter *parameter = &kernel->parameters[i];
        say(to, "%s", i ? ", " : "");
        bool real = strstr(parameter->type, "float") || strstr(parameter->type, "double") ||
                    strstr(parameter->type, "scalar") || strcmp(parameter->type, "T") == 0;
        if (parameter->kind != HEDDLE_CHECK_BY_VALUE)
            say_tensor(kernel, parameter, to);
        else
            say(to, "%s = %s", parameter->name,
                strcmp(parameter->type, "bool") == 0 ? "false"
                : real                               ? "1.0"
                                                     : usual_size(kernel));
    }
}

// A size that needs nothing but numbers and parameters of the kernel; otherwise NULL.
static const char *plain_extent(const heddle_check_global *kernel, const char *text)
{
    for (const char *at = text; *at;) {
        if (!isalpha((unsigned char)*at) && *at != '_') {
            if (isdigit((unsigned char)*at))
                at += strspn(at, "0123456789xabcdefABCDEF");
            else if (!strchr("()+-*/%, ", *at++))
                return NULL;
            continue;
        }
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        bool named = length == 4 && memcmp(at, "dim3", 4) == 0;
        for (int i = 0; i < kernel->count; i++)
            named |= kernel->parameters[i].kind == HEDDLE_CHECK_BY_VALUE &&
                     strlen(kernel->parameters[i].name) == length &&
                     memcmp(kernel->parameters[i].name, at, length) == 0;
        if (!named)
            return NULL;
        at += length;
    }
    return text[0] ? text : NULL;
}

const char *heddle_check_extension_suggest(const heddle_check_global *kernel, const char *source, const char *command,
                                           char *text, size_t size)
{
    char name[NAME_SIZE], arguments[LINE_SIZE], quoted[2 * LINE_SIZE];
    text[0] = '\0';
    line to = {.text = text, .size = size}, one = {name, sizeof name, 0}, all = {arguments, sizeof arguments, 0};
    say(&one, "%s%s", kernel->qualified, kernel->template_required > 0 ? "<" : "");
    say_templates(kernel, &one);
    say(&one, "%s", kernel->template_required > 0 ? ">" : "");
    say_arguments(kernel, &all);
    const char *grid = plain_extent(kernel, kernel->grid), *block = plain_extent(kernel, kernel->block);
    const char *shared = plain_extent(kernel, kernel->shared);
    say(&to, "%s check %s --kernel ", command, heddle_text_quote(source, quoted, sizeof quoted));
    say(&to, "%s --args ", heddle_text_quote(name, quoted, sizeof quoted));
    say(&to, "\"%s\" --grid ", arguments);
    say(&to, "%s --block ", grid ? heddle_text_quote(grid, quoted, sizeof quoted) : "4");
    say(&to, "%s", block ? heddle_text_quote(block, quoted, sizeof quoted) : "256");
    if (kernel->shared[0] && strcmp(kernel->shared, "0") != 0)
        say(&to, " --shared %s", shared ? heddle_text_quote(shared, quoted, sizeof quoted) : "1024");
    return text;
}

// The file to name: its own, or for a kernel of a header the first.
static const char *source_of(const heddle_check_global *kernel, const char *const *sources)
{
    for (int i = 0; sources[i]; i++)
        if (strcmp(sources[i], kernel->file) == 0)
            return sources[i];
    return sources[0];
}

heddle_status heddle_check_extension_list(const char *const *sources, const char *const *folders, const char *command,
                                          FILE *file)
{
    heddle_check_globals globals;
    char text[LINE_SIZE], shown[LINE_SIZE];
    HEDDLE_TRY(heddle_check_globals_read(sources, folders, &globals));
    for (int i = 0; i < globals.count; i++) {
        const heddle_check_global *kernel = globals.at[i];
        fprintf(file, "%s:%d: %s\n", heddle_check_short_path(kernel->file, shown, sizeof shown), kernel->line,
                heddle_check_global_text(kernel, text, sizeof text));
        fprintf(file, "  %s\n",
                heddle_check_extension_suggest(kernel, source_of(kernel, sources), command, text, sizeof text));
    }
    int count = globals.count;
    heddle_check_globals_free(&globals);
    return count > 0 ? HEDDLE_OK
                     : heddle_fail(HEDDLE_INVALID, "%s: it defines no kernels (__global__ functions)", sources[0]);
}

heddle_status heddle_check_extension_hint(const char *const *sources, const char *const *folders, const char *path,
                                          char *hint, size_t size)
{
    heddle_check_globals globals;
    char command[LINE_SIZE] = "";
    hint[0] = '\0';
    HEDDLE_TRY(heddle_check_globals_read(sources, folders, &globals));
    heddle_status status = HEDDLE_OK;
    const char *others = globals.count > 1 ? " (--list-kernels lists the others)" : "";
    if (globals.count > 0)
        heddle_check_extension_suggest(globals.at[0], path, "heddle", command, sizeof command);
    if (globals.count > 0 && globals.uses_torch)
        status =
            heddle_fail(HEDDLE_INVALID,
                        "%s: a PyTorch extension: it has no main, and PyTorch's part is not run; say what a kernel "
                        "is launched on, such as: %s%s",
                        path, command, others);
    else if (globals.uses_torch)
        status = heddle_fail(HEDDLE_INVALID,
                             "%s: a PyTorch extension without a kernel (__global__ function) of its own: "
                             "there is nothing to check without PyTorch",
                             path);
    else if (globals.count > 0)
        snprintf(hint, size, "; or say what a kernel is launched on, such as: %s%s", command, others);
    heddle_check_globals_free(&globals);
    return status;
}
