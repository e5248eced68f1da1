// Choosing the kernel and matching the line with its parameters; what is written before the run and said after it.

#include "check/extension.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/scan.h"

enum { LIST_SIZE = 6000, LARGEST_BLOCK = 1024, TEXT_SIZE = 2048 };

const char *heddle_check_argument_text(const heddle_check_argument *argument, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s[", heddle_npy_name(argument->type));
    for (int i = 0; i < argument->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)argument->dims[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// "softmax" of "softmax<float, 256>", without blanks; *arguments: what is between the angles; NULL: nothing.
static void split_name(const char *kernel, char name[256], const char **arguments)
{
    size_t length = strcspn(kernel, "<"), used = 0;
    *arguments = kernel[length] == '<' ? kernel + length + 1 : NULL;
    for (size_t i = 0; i < length && used + 1 < 256; i++)
        if (!isspace((unsigned char)kernel[i]))
            name[used++] = kernel[i];
    name[used] = '\0';
}

static bool is_called(const heddle_check_global *kernel, const char *name)
{
    name += strncmp(name, "::", 2) == 0 ? 2 : 0;
    size_t length = strlen(name), whole = strlen(kernel->qualified);
    return strcmp(kernel->name, name) == 0 || strcmp(kernel->qualified, name) == 0 ||
           (whole > length + 2 && strcmp(kernel->qualified + whole - length, name) == 0 &&
            strncmp(kernel->qualified + whole - length - 2, "::", 2) == 0);
}

// Whether every parameter is described by the line.
static bool takes(const heddle_check_global *kernel, const heddle_check_arguments *given)
{
    for (int i = 0; i < kernel->count; i++)
        if (!heddle_check_arguments_find(given, kernel->parameters[i].name))
            return false;
    for (int i = 0; i < given->count; i++) {
        bool named = given->at[i].role == HEDDLE_CHECK_NUMBER;
        for (int p = 0; p < kernel->count && !named; p++)
            named = strcmp(kernel->parameters[p].name, given->at[i].name) == 0;
        if (!named)
            return false;
    }
    return true;
}

static heddle_status no_kernel(const heddle_check_extension *extension, const char *name, const char *path)
{
    char list[LIST_SIZE];
    const char *names[HEDDLE_CHECK_MOST_KERNELS];
    const heddle_check_globals *globals = &extension->globals;
    for (int i = 0; i < globals->count; i++)
        names[i] = globals->at[i]->name;
    const char *nearest = heddle_text_nearest(name, names, globals->count);
    for (int i = 0; i < globals->count && !nearest; i++)
        nearest = strlen(name) > 2 && strstr(names[i], name) ? names[i] : NULL; // rmsnorm of rmsnorm_kernel
    if (globals->count == 0)
        return heddle_fail(HEDDLE_INVALID, "%s: it defines no kernels (__global__ functions)", path);
    return heddle_fail(HEDDLE_INVALID, "%s: no kernel is called '%s'%s%s%s It has %s", path, name,
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : ".",
                       heddle_check_globals_text(globals, list, sizeof list));
}

static heddle_status several_kernels(const heddle_check_extension *extension, const char *name, const char *path)
{
    char list[LIST_SIZE], one[TEXT_SIZE];
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < extension->globals.count && used < sizeof list; i++) {
        const heddle_check_global *kernel = extension->globals.at[i];
        if (is_called(kernel, name))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (line %d)", used ? "; " : "",
                                     heddle_check_global_text(kernel, one, sizeof one), kernel->line);
    }
    return heddle_fail(HEDDLE_INVALID,
                       "%s: several kernels are called '%s'; name it with its namespace, or describe the parameters of "
                       "one of them in --args: %s",
                       path, name, list);
}

static heddle_status choose_kernel(heddle_check_extension *extension, const char *name, const char *path)
{
    const heddle_check_global *found = NULL, *fitting = NULL;
    int count = 0, fits = 0; // of those that take most of the line
    for (int i = 0; i < extension->globals.count; i++) {
        const heddle_check_global *kernel = extension->globals.at[i];
        if (!is_called(kernel, name))
            continue;
        found = kernel;
        count++;
        if (takes(kernel, &extension->given) && (!fitting || kernel->count >= fitting->count)) {
            fits = fitting && kernel->count == fitting->count ? fits + 1 : 1;
            fitting = kernel;
        }
    }
    if (count == 0)
        return no_kernel(extension, name, path);
    if (count > 1 && fits != 1)
        return several_kernels(extension, name, path);
    extension->kernel = count == 1 ? found : fitting;
    return HEDDLE_OK;
}

static int count_items(const char *text)
{
    int depth = 0, count = 1;
    for (; *text && !(depth == 0 && *text == '>'); text++) {
        depth += *text == '<' || *text == '(' ? 1 : *text == '>' || *text == ')' ? -1 : 0;
        count += *text == ',' && depth == 0;
    }
    return count;
}

static heddle_status choose_instance(heddle_check_extension *extension, const char *arguments, const char *path)
{
    const heddle_check_global *kernel = extension->kernel;
    char shown[TEXT_SIZE], suggestion[512] = "";
    heddle_check_global_text(kernel, shown, sizeof shown);
    size_t length = arguments ? strlen(arguments) : 0;
    while (length > 0 && isspace((unsigned char)arguments[length - 1]))
        length--;
    if (arguments && (length < 2 || arguments[length - 1] != '>'))
        return heddle_fail(HEDDLE_INVALID, "--kernel: the < of %s is not closed", extension->options->kernel);
    if (arguments && kernel->template_count == 0)
        return heddle_fail(HEDDLE_INVALID, "%s: %s is not a template; leave out <%s: %s", path, kernel->name, arguments,
                           shown);
    if (!arguments && kernel->template_required > 0) {
        char command[TEXT_SIZE];
        heddle_check_extension_suggest(kernel, path, NULL, "heddle", command, sizeof command);
        const char *first = strstr(command, "--kernel "), *last = first ? strstr(first, " --args") : NULL;
        if (first && last)
            snprintf(suggestion, sizeof suggestion, "%.*s", (int)(last - first), first);
        return heddle_fail(HEDDLE_INVALID, "%s: %s is a template; name its arguments, such as %s: %s", path,
                           kernel->name, suggestion, shown);
    }
    int count = arguments ? count_items(arguments) : 0;
    bool pack = strstr(kernel->templates, "...") != NULL;
    if (arguments && (count < kernel->template_required || (count > kernel->template_count && !pack)))
        return heddle_fail(HEDDLE_INVALID, "%s: %s has %d template argument%s, and --kernel names %d: %s", path,
                           kernel->name, kernel->template_required, kernel->template_required == 1 ? "" : "s", count,
                           shown);
    int used = snprintf(extension->instance, sizeof extension->instance, "%s%s%.*s", kernel->qualified,
                        arguments                    ? "<"
                        : kernel->template_count > 0 ? "<>"
                                                     : "",
                        (int)length, arguments ? arguments : "");
    return used > 0 && (size_t)used < sizeof extension->instance
               ? HEDDLE_OK
               : heddle_fail(HEDDLE_INVALID, "--kernel: the name is too long");
}

// --- parameters ------------------------------------------------------------------------------------------------------

static bool is_tensor(const heddle_check_argument *argument)
{
    return argument->role != HEDDLE_CHECK_NUMBER && argument->role != HEDDLE_CHECK_NULL;
}

static bool is_number_type(const char *type)
{
    static const char *const names[] = {"int",       "float",       "double",       "bool",      "long",
                                        "unsigned",  "size_t",      "int64_t",      "int32_t",   "uint32_t",
                                        "uint64_t",  "char",        "short",        "long long", "unsigned int",
                                        "const int", "const float", "const int64_t"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(type, names[i]) == 0)
            return true;
    return false;
}

static heddle_status match_parameter(const heddle_check_extension *extension, int number)
{
    const heddle_check_parameter *parameter = &extension->kernel->parameters[number];
    const heddle_check_argument *argument = extension->arguments[number];
    if (parameter->kind == HEDDLE_CHECK_POINTER && argument->role == HEDDLE_CHECK_NUMBER)
        return heddle_fail(
            HEDDLE_INVALID,
            "--args, column %d: '%s' is a pointer (%s %s), and the line has a number: write %s: float[1024]",
            argument->column, parameter->name, parameter->type, parameter->name, parameter->name);
    if (parameter->kind == HEDDLE_CHECK_BY_VALUE && argument->role != HEDDLE_CHECK_NUMBER &&
        is_number_type(parameter->type))
        return heddle_fail(HEDDLE_INVALID,
                           "--args, column %d: '%s' is a number (%s %s), and the line has a tensor: write %s = 1024",
                           argument->column, parameter->name, parameter->type, parameter->name, parameter->name);
    if (parameter->kind != HEDDLE_CHECK_POINTER && argument->role == HEDDLE_CHECK_NULL)
        return heddle_fail(HEDDLE_INVALID, "--args, column %d: '%s' is not a pointer (%s), so it cannot be null",
                           argument->column, parameter->name, parameter->type);
    if (parameter->kind == HEDDLE_CHECK_ACCESSOR && parameter->dimensions > 0 && is_tensor(argument) &&
        argument->rank != parameter->dimensions)
        return heddle_fail(HEDDLE_INVALID, "--args, column %d: '%s' has %d size%s, and its accessor %d (%s)",
                           argument->column, parameter->name, argument->rank, argument->rank == 1 ? "" : "s",
                           parameter->dimensions, parameter->type);
    bool written = argument->role == HEDDLE_CHECK_OUT || argument->role == HEDDLE_CHECK_INOUT;
    if (written && parameter->kind == HEDDLE_CHECK_POINTER && parameter->is_const)
        return heddle_fail(HEDDLE_INVALID, "--args, column %d: '%s' is %s, which the kernel cannot write: it is not %s",
                           argument->column, parameter->name, parameter->type,
                           argument->role == HEDDLE_CHECK_OUT ? "out" : "inout");
    return HEDDLE_OK;
}

static heddle_status match_parameters(heddle_check_extension *extension)
{
    const heddle_check_global *kernel = extension->kernel;
    char shown[TEXT_SIZE];
    heddle_check_global_text(kernel, shown, sizeof shown);
    for (int i = 0; i < extension->given.count; i++) {
        const heddle_check_argument *one = &extension->given.at[i];
        bool named = one->role == HEDDLE_CHECK_NUMBER; // numbers of its own may help with sizes
        for (int p = 0; p < kernel->count && !named; p++)
            named = strcmp(kernel->parameters[p].name, one->name) == 0;
        if (!named)
            return heddle_fail(HEDDLE_INVALID, "--args, column %d: the kernel has no parameter '%s': %s", one->column,
                               one->name, shown);
    }
    for (int p = 0; p < kernel->count; p++) {
        extension->arguments[p] =
            (heddle_check_argument *)heddle_check_arguments_find(&extension->given, kernel->parameters[p].name);
        if (!extension->arguments[p] && kernel->parameters[p].has_default)
            break;
        extension->count = p + 1;
        if (!extension->arguments[p])
            return heddle_fail(HEDDLE_INVALID, "--args does not describe the parameter '%s': %s",
                               kernel->parameters[p].name, shown);
        HEDDLE_TRY(match_parameter(extension, p));
    }
    for (int p = extension->count + 1; p < kernel->count; p++)
        if (heddle_check_arguments_find(&extension->given, kernel->parameters[p].name))
            return heddle_fail(HEDDLE_INVALID, "--args does not describe the parameter '%s', which is before '%s': %s",
                               kernel->parameters[extension->count].name, kernel->parameters[p].name, shown);
    return HEDDLE_OK;
}

static heddle_status read_extents(heddle_check_extension *extension)
{
    const heddle_check_options *options = extension->options;
    int64_t shared[3];
    if (!options->grid || !options->block)
        return heddle_fail(
            HEDDLE_INVALID,
            "--kernel %s: say how to launch it: --grid \"(n + 255) / 256\" --block 256, with the numbers "
            "of --args; up to three sizes, separated by commas",
            options->kernel);
    HEDDLE_TRY(heddle_check_arguments_extent(&extension->given, "--grid", options->grid, extension->grid));
    HEDDLE_TRY(heddle_check_arguments_extent(&extension->given, "--block", options->block, extension->block));
    HEDDLE_TRY(
        heddle_check_arguments_extent(&extension->given, "--shared", options->shared ? options->shared : "0", shared));
    extension->shared = shared[0];
    const int64_t *block = extension->block, *grid = extension->grid;
    if (block[0] < 1 || block[1] < 1 || block[2] < 1 || block[0] > LARGEST_BLOCK || block[1] > LARGEST_BLOCK ||
        block[0] * block[1] * block[2] > LARGEST_BLOCK)
        return heddle_fail(HEDDLE_INVALID, "--block is %lld by %lld by %lld threads; a block has 1 to %d",
                           (long long)block[0], (long long)block[1], (long long)block[2], LARGEST_BLOCK);
    if (grid[0] < 1 || grid[1] < 1 || grid[2] < 1)
        return heddle_fail(HEDDLE_INVALID, "--grid is %lld by %lld by %lld blocks; each is 1 or more",
                           (long long)grid[0], (long long)grid[1], (long long)grid[2]);
    return HEDDLE_OK;
}

// --- what it is compared with ----------------------------------------------------------------------------------------

static heddle_status expect_file(heddle_check_extension *extension, const char *option, const char *name,
                                 const char *path)
{
    heddle_check_argument *output = (heddle_check_argument *)heddle_check_arguments_find(&extension->given, name);
    char shown[256];
    heddle_npy array;
    if (!output || (output->role != HEDDLE_CHECK_OUT && output->role != HEDDLE_CHECK_INOUT))
        return heddle_fail(HEDDLE_INVALID, "%s: '%s' is not an output of --args (out or inout)", option, name);
    heddle_status status = heddle_npy_read(path, &array);
    if (status != HEDDLE_OK)
        return status == HEDDLE_OUT_OF_MEMORY ? status
                                              : heddle_fail(HEDDLE_INVALID, "%s: %s", option, heddle_last_error());
    bool same =
        array.rank == output->rank && memcmp(array.dims, output->dims, (size_t)array.rank * sizeof *array.dims) == 0;
    heddle_npy_free(&array);
    if (!same)
        return heddle_fail(HEDDLE_INVALID, "%s: %s has other sizes than %s, which is %s", option, path, name,
                           heddle_check_argument_text(output, shown, sizeof shown));
    output->where = path;
    extension->has_reference = true;
    return HEDDLE_OK;
}

static heddle_status read_expected(heddle_check_extension *extension)
{
    const heddle_check_options *options = extension->options;
    for (int i = 0; options->expects && options->expects[i]; i++) {
        const char *equal = strchr(options->expects[i], '=');
        if (!equal || equal == options->expects[i])
            return heddle_fail(HEDDLE_INVALID,
                               "--expect %s: with --kernel it is NAME=FILE.npy, an output and what it "
                               "should be",
                               options->expects[i]);
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(equal - options->expects[i]), options->expects[i]);
        HEDDLE_TRY(expect_file(extension, "--expect", name, equal + 1));
    }
    return HEDDLE_OK;
}

static int count_outputs(const heddle_check_extension *extension, const char **name)
{
    int count = 0;
    for (int i = 0; i < extension->given.count; i++)
        if (extension->given.at[i].role == HEDDLE_CHECK_OUT || extension->given.at[i].role == HEDDLE_CHECK_INOUT) {
            *name = extension->given.at[i].name;
            count++;
        }
    return count;
}

// FILE.npy, or FILE.py:FUNCTION.
static heddle_status read_reference(heddle_check_extension *extension)
{
    const char *reference = extension->options->reference, *output = NULL;
    char path[PATH_MAX];
    if (!reference)
        return HEDDLE_OK;
    int outputs = count_outputs(extension, &output);
    if (outputs == 0)
        return heddle_fail(HEDDLE_INVALID, "--reference: --args names no output (out or inout) to compare");
    const char *colon = strrchr(reference, ':');
    if (!colon || colon == reference || !colon[1]) {
        if (!heddle_text_ends(reference, ".npy"))
            return heddle_fail(HEDDLE_INVALID, "--reference %s: it is FILE.npy or FILE.py:FUNCTION", reference);
        if (outputs > 1)
            return heddle_fail(HEDDLE_INVALID,
                               "--reference %s: there are %d outputs; use --expect NAME=FILE.npy for "
                               "each",
                               reference, outputs);
        return expect_file(extension, "--reference", output, reference);
    }
    snprintf(path, sizeof path, "%.*s", (int)(colon - reference), reference);
    extension->script = realpath(path, NULL);
    if (!extension->script)
        return heddle_fail(HEDDLE_INVALID, "--reference: %s: %s", path,
                           errno == ENOENT ? "no such file" : strerror(errno));
    extension->function = colon + 1;
    extension->has_reference = true;
    return HEDDLE_OK;
}

// --- before the run --------------------------------------------------------------------------------------------------

static heddle_status prepare_driver(heddle_check_extension *extension)
{
    const char *path = extension->options->driver;
    heddle_check_defines defines;
    extension->driver = realpath(path, NULL);
    if (!extension->driver)
        return heddle_fail(HEDDLE_INVALID, "--driver: %s: %s", path,
                           errno == ENOENT ? "no such file" : strerror(errno));
    HEDDLE_TRY(heddle_check_file_defines(path, extension->options->include, "main", &defines));
    return defines == HEDDLE_CHECK_FUNCTION
               ? HEDDLE_OK
               : heddle_fail(HEDDLE_INVALID,
                             "--driver: %s: it defines no main; it includes nothing of the kernels: they "
                             "stand before it",
                             path);
}

heddle_status heddle_check_extension_prepare(heddle_check_extension *extension, const heddle_check_options *options,
                                             const char *const *sources)
{
    char name[256];
    const char *arguments = NULL, *path = options->sources[0];
    *extension = (heddle_check_extension){.options = options};
    HEDDLE_TRY(heddle_check_globals_read(sources, options->include, &extension->globals));
    if (options->driver)
        return prepare_driver(extension);
    split_name(options->kernel, name, &arguments);
    HEDDLE_TRY(heddle_check_arguments_read(options->args ? options->args : "", options->seed, extension->globals.arena,
                                           &extension->given));
    HEDDLE_TRY(choose_kernel(extension, name, path));
    HEDDLE_TRY(choose_instance(extension, arguments, path));
    HEDDLE_TRY(match_parameters(extension));
    HEDDLE_TRY(read_extents(extension));
    HEDDLE_TRY(read_expected(extension));
    return read_reference(extension);
}

void heddle_check_extension_free(heddle_check_extension *extension)
{
    heddle_check_globals_free(&extension->globals);
    free(extension->driver);
    free(extension->script);
    *extension = (heddle_check_extension){.options = NULL};
}

const char *heddle_check_extension_path(const heddle_check_folder *folder, int number, const char *kind, char *path,
                                        size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "argument-%d.%s", number, kind);
    return heddle_check_folder_path(folder, name, path, size);
}

static heddle_status write_input(const heddle_check_argument *argument, const char *path)
{
    void *bytes = NULL;
    size_t size = (size_t)argument->count * heddle_npy_size(argument->type);
    HEDDLE_TRY(heddle_check_extension_values(argument, &bytes));
    FILE *file = fopen(path, "wbe");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    written = file && fclose(file) == 0 && written;
    free(bytes);
    return written ? HEDDLE_OK : heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
}

heddle_status heddle_check_extension_write(const heddle_check_extension *extension, const char *const *sources,
                                           const heddle_check_folder *folder, char *driver, size_t size)
{
    char path[1024];
    for (int i = 0; i < extension->count; i++) {
        const heddle_check_argument *argument = extension->arguments[i];
        if (argument->role == HEDDLE_CHECK_IN || argument->role == HEDDLE_CHECK_INOUT)
            HEDDLE_TRY(write_input(argument, heddle_check_extension_path(folder, i, "in", path, sizeof path)));
    }
    FILE *file = fopen(heddle_check_folder_path(folder, "main.cu", driver, size), "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", driver, strerror(errno));
    heddle_check_extension_print(extension, sources, folder->path, file);
    return fclose(file) == 0 ? HEDDLE_OK : heddle_fail(HEDDLE_IO, "%s: %s", driver, strerror(errno));
}

// --- after it --------------------------------------------------------------------------------------------------------

heddle_status heddle_check_extension_notes(const heddle_check_extension *extension, heddle_check_result *result)
{
    const int64_t *grid = extension->grid, *block = extension->block;
    if (extension->kernel)
        HEDDLE_TRY(heddle_check_result_note(
            result, "launched by heddle's own main: %s<<<(%lld,%lld,%lld), (%lld,%lld,%lld), %lld>>>",
            extension->instance, (long long)grid[0], (long long)grid[1], (long long)grid[2], (long long)block[0],
            (long long)block[1], (long long)block[2], (long long)extension->shared));
    if (extension->globals.left_out[0])
        HEDDLE_TRY(heddle_check_result_note(result, "not compiled and not run, because it needs PyTorch: %s",
                                            extension->globals.left_out));
    if (extension->kernel && !extension->has_reference)
        return heddle_check_result_note(result, "the results were not compared; --expect NAME=FILE.npy or --reference "
                                                "FILE.py:FUNCTION compares them");
    return HEDDLE_OK;
}
