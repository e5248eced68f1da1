// What a person is told about the kernels of a file: a list, and a command line to start from. Types and the launch are
// taken from the files as far as they say them. Sizes are a guess that no index of an ordinary kernel leaves: few
// blocks, small numbers, and arrays that hold their product.

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/extension.h"

enum { LINE_SIZE = 4096, NAME_SIZE = 256, USUAL_ELEMENTS = 4096, MOST_ELEMENTS = 1 << 20, USUAL_BLOCK = 256 };

static const char guess[] = "sizes are a guess: make them those of your call";

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

// --- template arguments ----------------------------------------------------------------------------------------------

// A type of --args for a type of C++, const and pointers left aside; NULL: heddle cannot make one.
static const char *known_type(const char *type)
{
    static const struct {
        const char *part, *name;
    } names[] = {
        {"BFloat16", "bfloat16"},
        {"bfloat16", "bfloat16"},
        {"Half", "half"},
        {"half", "half"},
        {"double", "double"},
        {"float", "float"},
        {"uint8_t", "uint8"},
        {"unsigned char", "uint8"},
        {"int8_t", "int8"},
        {"uint16_t", "uint16"},
        {"unsigned short", "uint16"},
        {"int16_t", "int16"},
        {"short", "int16"},
        {"uint32_t", "uint32"},
        {"int32_t", "int"},
        {"uint64_t", "uint64"},
        {"size_t", "uint64"},
        {"unsigned long", "uint64"},
        {"int64_t", "int64"},
        {"ptrdiff_t", "int64"},
        {"long", "int64"},
        {"unsigned", "uint32"},
        {"bool", "bool"},
        {"char", "int8"},
        {"int", "int"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(type, names[i].part);
        size_t length = strlen(names[i].part);
        bool vector = at && isdigit((unsigned char)at[length]); // float4
        bool underscores = at && at - type >= 2 && strncmp(at - 2, "__", 2) == 0;
        bool begins = at && (at == type || underscores || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'));
        bool whole = begins && !vector && !isalnum((unsigned char)at[length]) && at[length] != '_';
        if (whole)
            return names[i].name;
    }
    return NULL;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !(isalnum((unsigned char)at[length]) || at[length] == '_'))
            return true;
    return false;
}

// Whether a template's type is what an array holds, or a number: then any number type will do.
static bool is_element(const heddle_check_global *kernel, int number)
{
    for (int i = 0; i < kernel->count; i++)
        if (kernel->parameters[i].kind != HEDDLE_CHECK_BY_VALUE &&
            has_word(kernel->parameters[i].type, kernel->template_names[number]))
            return true;
    return false;
}

static const char *usual_constant(const heddle_check_global *kernel, const char *name)
{
    static const struct {
        const char *part, *value;
    } usual[] = {{"vec", "4"}, {"unroll", "4"}, {"item", "4"}, {"per", "4"}, {"tile", "16"}, {"warp", "8"}};
    char lower[NAME_SIZE], boolean[NAME_SIZE];
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof lower; length++)
        lower[length] = (char)tolower((unsigned char)name[length]);
    lower[length] = '\0';
    snprintf(boolean, sizeof boolean, "bool %s", name);
    if (strstr(kernel->templates, boolean))
        return "false";
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strstr(lower, usual[i].part))
            return usual[i].value;
    return kernel->uses_thread_y ? "16" : "256";
}

// A template's argument: the one that the file itself launches it with, types of a dispatch replaced, or a usual one.
// "" where only the reader knows it.
static const char *template_argument(const heddle_check_global *kernel, int number, char *item, size_t size)
{
    const char *launched = kernel->launch_templates;
    for (int i = 0; i <= number; i++) {
        size_t length = 0, depth = 0;
        while (launched[length] && (depth > 0 || launched[length] != ',')) {
            depth += launched[length] == '<' || launched[length] == '(';
            depth -= depth > 0 && (launched[length] == '>' || launched[length] == ')');
            length++;
        }
        snprintf(item, size, "%.*s", (int)length, launched);
        launched += length + (launched[length] == ',');
        launched += strspn(launched, " ");
    }
    if (!kernel->template_is_type[number]) {
        bool constant = isdigit((unsigned char)item[0]) || strcmp(item, "true") == 0 || strcmp(item, "false") == 0;
        return constant ? item : usual_constant(kernel, kernel->template_names[number]);
    }
    if (known_type(item) && !strchr(item, '<'))
        return item;
    if (!is_element(kernel, number) && (kernel->template_required > number || item[0]))
        return "";
    return strstr(kernel->template_names[number], "ndex") ? "int" : "float";
}

// Arguments to name: those without a default, and what the file's own launch names beyond them.
static int templates_named(const heddle_check_global *kernel)
{
    int launched = kernel->launch_templates[0] ? 1 : 0, depth = 0;
    for (const char *c = kernel->launch_templates; *c; c++) {
        depth += *c == '<' || *c == '(' ? 1 : *c == '>' || *c == ')' ? -1 : 0;
        launched += *c == ',' && depth == 0;
    }
    launched = launched < kernel->template_count ? launched : kernel->template_count;
    return launched > kernel->template_required ? launched : kernel->template_required;
}

static void say_templates(const heddle_check_global *kernel, line *to)
{
    char item[NAME_SIZE];
    for (int i = 0; i < templates_named(kernel); i++) {
        const char *argument = template_argument(kernel, i, item, sizeof item);
        say(to, "%s%s", i ? ", " : "", argument[0] ? argument : kernel->template_names[i]);
    }
}

// --- parameters ------------------------------------------------------------------------------------------------------

// A type of --args for what a parameter is or holds, with the suggested template arguments; NULL: there is none.
static const char *element_name(const heddle_check_global *kernel, const heddle_check_parameter *parameter)
{
    char item[NAME_SIZE];
    const char *type = parameter->alias[0] ? parameter->alias : parameter->type;
    for (int i = 0; i < kernel->template_count; i++)
        if (kernel->template_is_type[i] &&
            (has_word(type, kernel->template_names[i]) || has_word(parameter->type, kernel->template_names[i])))
            return known_type(template_argument(kernel, i, item, sizeof item));
    const char *known = known_type(type);
    if (!known && parameter->kind == HEDDLE_CHECK_ACCESSOR)
        return "float"; // by a template's parameter of the alias
    return known || parameter->kind == HEDDLE_CHECK_BY_VALUE ? known : "float"; // float4, or a structure of floats
}

static bool is_whole(const char *element)
{
    return element && strchr("iub", element[0]) && strcmp(element, "bfloat16") != 0;
}

static bool is_philox(const heddle_check_parameter *parameter)
{
    return strstr(parameter->type, "PhiloxCudaState") != NULL;
}

// Those from here on may be left out.
static int needed(const heddle_check_global *kernel)
{
    int count = kernel->count;
    while (count > 0 && kernel->parameters[count - 1].has_default)
        count--;
    return count;
}

// A number for sizes: small enough that their product, and that with the blocks of a row each, stays in the arrays.
static int usual_size(const heddle_check_global *kernel)
{
    static const int sizes[] = {1024, 1024, 32, 10, 5, 4, 3};
    const int most = sizeof sizes / sizeof *sizes - 1;
    int count = 0;
    for (int i = 0; i < needed(kernel); i++) {
        const char *element = element_name(kernel, &kernel->parameters[i]);
        count += kernel->parameters[i].kind == HEDDLE_CHECK_BY_VALUE && is_whole(element) && element[0] != 'b';
    }
    bool side = kernel->has_square || kernel->uses_thread_y || kernel->uses_block_y;
    return count == 1 && side ? sizes[2] : sizes[count < most ? count : most];
}

static void say_tensor(const heddle_check_global *kernel, const heddle_check_parameter *parameter, int elements,
                       line *to)
{
    static const char *const accessor[] = {"", "1024", "16, 256", "8, 8, 256", "4, 4, 16, 256", "2, 2, 4, 16, 256"};
    const int most = sizeof accessor / sizeof *accessor - 1, rank = parameter->dimensions;
    const int usual_choices = 10, size = usual_size(kernel);
    const char *element = element_name(kernel, parameter);
    bool is_output = !parameter->is_const;
    say(to, "%s: %s%s[", parameter->name, is_output ? "inout " : "", element ? element : "float");
    if (parameter->kind == HEDDLE_CHECK_ACCESSOR && rank >= 1 && rank <= most)
        say(to, "%s", accessor[rank]);
    else
        say(to, "%d", elements);
    if (is_output && parameter->kind == HEDDLE_CHECK_POINTER)
        say(to, "] = zeros");
    else if (element && strcmp(element, "bool") == 0)
        say(to, "] = randint(0, 2)");
    else if (is_whole(element))
        say(to, "] = randint(0, %d)", size < usual_choices ? size : usual_choices);
    else
        say(to, "] = normal");
}

static void say_arguments(const heddle_check_global *kernel, int elements, line *to)
{
    for (int i = 0; i < needed(kernel); i++) {
        const heddle_check_parameter *parameter = &kernel->parameters[i];
        const char *element = element_name(kernel, parameter);
        say(to, "%s", i ? ", " : "");
        if (parameter->kind != HEDDLE_CHECK_BY_VALUE)
            say_tensor(kernel, parameter, elements, to);
        else if (is_philox(parameter))
            say(to, "%s = 1", parameter->name);
        else if (element && strcmp(element, "bool") == 0)
            say(to, "%s = false", parameter->name);
        else if (is_whole(element))
            say(to, "%s = %d", parameter->name, usual_size(kernel));
        else
            say(to, "%s = 1.0", parameter->name);
    }
}

const char *heddle_check_extension_unmade(const heddle_check_global *kernel, char *text, size_t size)
{
    char item[NAME_SIZE];
    for (int i = 0; i < templates_named(kernel); i++)
        if (kernel->template_is_type[i] && !template_argument(kernel, i, item, sizeof item)[0]) {
            snprintf(text, size, "name a type of yours for %s in --kernel, such as an operation",
                     kernel->template_names[i]);
            return text;
        }
    for (int i = 0; i < needed(kernel); i++) {
        const heddle_check_parameter *parameter = &kernel->parameters[i];
        if (parameter->kind != HEDDLE_CHECK_BY_VALUE || is_philox(parameter) || element_name(kernel, parameter))
            continue;
        snprintf(text, size,
                 "--args cannot describe '%s' (%s): write a main that launches the kernel, and name it by --driver "
                 "FILE.cu",
                 parameter->name, parameter->type);
        return text;
    }
    return NULL;
}

// --- the launch ------------------------------------------------------------------------------------------------------

typedef struct extents {
    char grid[NAME_SIZE], block[NAME_SIZE], shared[NAME_SIZE];
    int64_t blocks, threads;
} extents;

// A number of the kernel's text, or of a template's argument; 0: it is not known.
static int number_of(const heddle_check_global *kernel, const char *text)
{
    char item[NAME_SIZE];
    for (int i = 0; i < kernel->template_count; i++)
        if (strcmp(text, kernel->template_names[i]) == 0)
            text = template_argument(kernel, i, item, sizeof item);
    return (int)strtol(text, NULL, 10);
}

// Takes a text of the launch if it is a number of threads or blocks with these arguments; otherwise leaves the usual.
static int64_t settle(const heddle_check_arguments *given, const char *option, const char *text, int64_t most,
                      char *chosen)
{
    int64_t size[3] = {0}, usual[3] = {1, 1, 1};
    bool fits = text[0] && strlen(text) < NAME_SIZE &&
                heddle_check_arguments_extent(given, option, text, size) == HEDDLE_OK && size[0] > 0 && size[1] > 0 &&
                size[2] > 0 && size[0] <= most && size[1] <= most && size[0] * size[1] * size[2] <= most;
    if (fits)
        snprintf(chosen, NAME_SIZE, "%s", text);
    else if (heddle_check_arguments_extent(given, option, chosen, usual) != HEDDLE_OK)
        return 1;
    return fits ? size[0] * size[1] * size[2] : usual[0] * usual[1] * usual[2];
}

static void choose_extents(const heddle_check_global *kernel, const char *line_of_arguments, extents *chosen)
{
    const int largest_block = 1024, most_blocks = 4096;
    const int rows = number_of(kernel, kernel->tile[0]), columns = number_of(kernel, kernel->tile[1]);
    int bound = number_of(kernel, kernel->bounds);
    *chosen = (extents){.blocks = 1, .threads = USUAL_BLOCK};
    bound = bound > 0 && bound <= largest_block ? bound : USUAL_BLOCK;
    if (!kernel->uses_thread_y)
        snprintf(chosen->block, sizeof chosen->block, "%d", bound);
    else if (rows > 0 && columns > 0 && rows * columns <= largest_block)
        snprintf(chosen->block, sizeof chosen->block, "%d, %d", columns, rows);
    else
        snprintf(chosen->block, sizeof chosen->block, "16, 16");
    snprintf(chosen->grid, sizeof chosen->grid, "%s",
             kernel->uses_block_z   ? "2, 2, 2"
             : kernel->uses_block_y ? "2, 2"
             : kernel->uses_blocks  ? "4"
                                    : "1");
    snprintf(chosen->shared, sizeof chosen->shared, "%d", USUAL_ELEMENTS);
    heddle_check_arguments given;
    heddle_arena *arena = heddle_arena_create();
    if (arena && heddle_check_arguments_read(line_of_arguments, 1, arena, &given) == HEDDLE_OK) {
        chosen->blocks = settle(&given, "--grid", kernel->grid, most_blocks, chosen->grid);
        chosen->threads = settle(&given, "--block", kernel->block, largest_block, chosen->block);
        settle(&given, "--shared", kernel->shared, USUAL_ELEMENTS, chosen->shared);
    }
    heddle_arena_destroy(arena);
}

const char *heddle_check_extension_suggest(const heddle_check_global *kernel, const char *source,
                                           const char *const *folders, const char *command, char *text, size_t size)
{
    char name[NAME_SIZE], arguments[LINE_SIZE], quoted[2 * LINE_SIZE];
    text[0] = '\0';
    line to = {.text = text, .size = size}, one = {name, sizeof name, 0}, all = {arguments, sizeof arguments, 0};
    extents launch;
    say(&one, "%s%s", kernel->qualified, templates_named(kernel) > 0 ? "<" : "");
    say_templates(kernel, &one);
    say(&one, "%s", templates_named(kernel) > 0 ? ">" : "");
    say_arguments(kernel, USUAL_ELEMENTS, &all);
    choose_extents(kernel, arguments, &launch);
    int64_t row = usual_size(kernel), elements = USUAL_ELEMENTS; // one row per block, or one element per thread
    row = row > launch.threads ? row : launch.threads;
    while (elements < launch.blocks * row && elements < MOST_ELEMENTS)
        elements *= 2;
    all.used = 0;
    say_arguments(kernel, (int)elements, &all);
    say(&to, "%s check %s", command, heddle_text_quote(source, quoted, sizeof quoted));
    for (int i = 0; folders && folders[i]; i++)
        say(&to, " -I %s", heddle_text_quote(folders[i], quoted, sizeof quoted));
    say(&to, " --kernel %s --args ", heddle_text_quote(name, quoted, sizeof quoted));
    say(&to, "\"%s\" --grid ", arguments);
    say(&to, "%s --block ", heddle_text_quote(launch.grid, quoted, sizeof quoted));
    say(&to, "%s", heddle_text_quote(launch.block, quoted, sizeof quoted));
    if ((kernel->shared[0] && strcmp(kernel->shared, "0") != 0) || kernel->has_dynamic_shared)
        say(&to, " --shared %s", heddle_text_quote(launch.shared, quoted, sizeof quoted));
    return text;
}

// --- lists and hints -------------------------------------------------------------------------------------------------

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
    int suggested = 0;
    HEDDLE_TRY(heddle_check_globals_read(sources, folders, &globals));
    for (int i = 0; i < globals.count; i++) {
        const heddle_check_global *kernel = globals.at[i];
        fprintf(file, "%s:%d: %s\n", heddle_check_short_path(kernel->file, shown, sizeof shown), kernel->line,
                heddle_check_global_text(kernel, text, sizeof text));
        const char *unmade = heddle_check_extension_unmade(kernel, shown, sizeof shown);
        if (unmade)
            fprintf(file, "  no command to copy: %s\n", unmade);
        else
            fprintf(file, "  %s\n",
                    heddle_check_extension_suggest(kernel, source_of(kernel, sources), folders, command, text,
                                                   sizeof text));
        suggested += !unmade;
    }
    if (suggested > 0)
        fprintf(file, "%s. Outputs that the kernel writes in full are out, not inout.\n", guess);
    int count = globals.count;
    heddle_check_globals_free(&globals);
    return count > 0 ? HEDDLE_OK
                     : heddle_fail(HEDDLE_INVALID, "%s: it defines no kernels (__global__ functions)", sources[0]);
}

heddle_status heddle_check_extension_hint(const char *const *sources, const char *const *folders, const char *path,
                                          char *hint, size_t size)
{
    heddle_check_globals globals;
    char such[LINE_SIZE] = "", command[LINE_SIZE], why[LINE_SIZE];
    hint[0] = '\0';
    HEDDLE_TRY(heddle_check_globals_read(sources, folders, &globals));
    heddle_status status = HEDDLE_OK;
    const char *others = globals.count > 1 ? "; --list-kernels lists the others" : "";
    for (int i = 0; i < globals.count && !such[0]; i++)
        if (!heddle_check_extension_unmade(globals.at[i], why, sizeof why))
            snprintf(such, sizeof such, "--kernel, such as (%s%s): %s", guess, others,
                     heddle_check_extension_suggest(globals.at[i], path, folders, "heddle", command, sizeof command));
    if (globals.count > 0 && !such[0])
        snprintf(such, sizeof such, "--kernel; %s", why);
    if (globals.count > 0 && globals.uses_torch)
        status =
            heddle_fail(HEDDLE_INVALID,
                        "%s: a PyTorch extension: it has no main, and PyTorch's part is not run; say what a kernel "
                        "is launched on by %s",
                        path, such);
    else if (globals.uses_torch)
        status = heddle_fail(HEDDLE_INVALID,
                             "%s: a PyTorch extension without a kernel (__global__ function) of its own: "
                             "there is nothing to check without PyTorch",
                             path);
    else if (globals.count > 0)
        snprintf(hint, size, "; or say what a kernel is launched on by %s", such);
    heddle_check_globals_free(&globals);
    return status;
}
