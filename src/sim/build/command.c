// Reads nvcc's options. Those about the card's code generation say nothing to a simulator; those about the language,
// the preprocessor and the linker are passed on.

#include "build/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/lexer.h"

typedef enum action {
    IGNORE,       // an option without a value
    IGNORE_VALUE, // with one
    OUTPUT,
    DEPEND_FILE,
    DEPEND_TARGET,
    INCLUDE,
    COMPILE,   // passed on to the compiler as it stands
    COMPILE_1, // passed on, joined with its value
    SYSTEM,    // -isystem and -include: two words
    STANDARD,
    LINK,
    LINK_1,
    HOST,        // -Xcompiler a,b,c
    HOST_LINKER, // -Xlinker a,b
    COMPILER,
    LANGUAGE,
    SEPARATE, // -rdc
    DEVICE_C, // -dc: -c and -rdc=true
    FOLDER,   // -odir
    REFUSE,   // asks for machine code of a GPU
    FLAG,     // sets a bool
} action;

typedef struct known_option {
    const char *name;
    action action;
    size_t flag; // offset of the bool in sim_command
} known_option;

#define OF(member) offsetof(sim_command, member)

// simcc's own.
static const known_option own_options[] = {
    {"--unwatched", FLAG, OF(options.unwatched)},
    {"--divergence", FLAG, OF(options.branches)},
    {"--quick", FLAG, OF(options.quick)},
    {"--rewrite", FLAG, OF(rewrite)},
    {"-h", FLAG, OF(help)},
    {"--help", FLAG, OF(help)},
    {"-V", FLAG, OF(version)},
    {"--version", FLAG, OF(version)},
    {"--list-gpu-arch", FLAG, OF(list_code)},
    {"-arch-ls", FLAG, OF(list_code)},
    {"--list-gpu-code", FLAG, OF(list_code)},
    {"-code-ls", FLAG, OF(list_code)},
    {NULL, IGNORE, 0},
};

static const known_option options[] = {
    {"-o", OUTPUT, 0},
    {"--output-file", OUTPUT, 0},
    {"-MD", FLAG, OF(options.depends)},
    {"--generate-dependencies-with-compile", FLAG, OF(options.depends)},
    {"-MMD", FLAG, OF(options.depends)}, // the system's headers do no harm
    {"--generate-nonsystem-dependencies-with-compile", FLAG, OF(options.depends)},
    {"-MP", FLAG, OF(options.depends_phony)},
    {"--generate-dependency-targets", FLAG, OF(options.depends_phony)},
    {"-MF", DEPEND_FILE, 0},
    {"--dependency-output", DEPEND_FILE, 0},
    {"-MT", DEPEND_TARGET, 0},
    {"--dependency-target-name", DEPEND_TARGET, 0},
    {"-MQ", DEPEND_TARGET, 0},
    {"-I", INCLUDE, 0},
    {"--include-path", INCLUDE, 0},
    {"-isystem", INCLUDE, 0},
    {"--system-include", INCLUDE, 0},
    {"-include", SYSTEM, 0},
    {"--pre-include", SYSTEM, 0},
    {"-D", COMPILE_1, 0},
    {"--define-macro", COMPILE_1, 0},
    {"-U", COMPILE_1, 0},
    {"--undefine-macro", COMPILE_1, 0},
    {"-std", STANDARD, 0},
    {"--std", STANDARD, 0},
    {"-L", LINK_1, 0},
    {"--library-path", LINK_1, 0},
    {"-l", LINK_1, 0},
    {"--library", LINK_1, 0},
    {"-Xcompiler", HOST, 0},
    {"--compiler-options", HOST, 0},
    {"-Xlinker", HOST_LINKER, 0},
    {"--linker-options", HOST_LINKER, 0},
    {"-ccbin", COMPILER, 0},
    {"--compiler-bindir", COMPILER, 0},
    {"--compiler", COMPILER, 0},
    {"-x", LANGUAGE, 0},
    {"--x", LANGUAGE, 0},
    {"-c", FLAG, OF(options.compile_only)},
    {"--compile", FLAG, OF(options.compile_only)},
    {"-dc", DEVICE_C, 0},
    {"--device-c", DEVICE_C, 0},
    {"-dlink", FLAG, OF(options.device_link)},
    {"--device-link", FLAG, OF(options.device_link)},
    {"-lib", FLAG, OF(options.archive)},
    {"--lib", FLAG, OF(options.archive)},
    {"-run", FLAG, OF(run)},
    {"--run", FLAG, OF(run)},
    {"-M", FLAG, OF(list_depends)},
    {"--generate-dependencies", FLAG, OF(list_depends)},
    {"-MM", FLAG, OF(list_depends)},
    {"--generate-nonsystem-dependencies", FLAG, OF(list_depends)},
    {"-ptx", REFUSE, 0},
    {"--ptx", REFUSE, 0},
    {"-cubin", REFUSE, 0},
    {"--cubin", REFUSE, 0},
    {"-fatbin", REFUSE, 0},
    {"--fatbin", REFUSE, 0},
    {"-E", REFUSE, 0},
    {"--preprocess", REFUSE, 0},
    {"-cuda", FLAG, OF(translate)},
    {"--cuda", FLAG, OF(translate)},
    {"-shared", FLAG, OF(options.shared)},
    {"--shared", FLAG, OF(options.shared)},
    {"-keep", FLAG, OF(options.keep)},
    {"--keep", FLAG, OF(options.keep)},
    {"-w", FLAG, OF(quiet)},
    {"--disable-warnings", FLAG, OF(quiet)},
    {"-pthread", LINK, 0},
    {"-fopenmp", COMPILE, 0},
    {"-odir", FOLDER, 0},
    {"--output-directory", FOLDER, 0},
    {"-v", FLAG, OF(verbose)},
    {"--verbose", FLAG, OF(verbose)},
    {"-dryrun", FLAG, OF(dry_run)},
    {"--dryrun", FLAG, OF(dry_run)},
    {"-ansi", IGNORE, 0},
    {"-arch", IGNORE_VALUE, 0},
    {"--gpu-architecture", IGNORE_VALUE, 0},
    {"-code", IGNORE_VALUE, 0},
    {"--gpu-code", IGNORE_VALUE, 0},
    {"-gencode", IGNORE_VALUE, 0},
    {"--generate-code", IGNORE_VALUE, 0},
    {"-maxrregcount", IGNORE_VALUE, 0},
    {"--maxrregcount", IGNORE_VALUE, 0},
    {"-rdc", SEPARATE, 0},
    {"--relocatable-device-code", SEPARATE, 0},
    {"-cudart", IGNORE_VALUE, 0},
    {"--cudart", IGNORE_VALUE, 0},
    {"-cudadevrt", IGNORE_VALUE, 0},
    {"--cudadevrt", IGNORE_VALUE, 0},
    {"-Xptxas", IGNORE_VALUE, 0},
    {"--ptxas-options", IGNORE_VALUE, 0},
    {"-Xnvlink", IGNORE_VALUE, 0},
    {"--nvlink-options", IGNORE_VALUE, 0},
    {"-Xcudafe", IGNORE_VALUE, 0},
    {"-Xarchive", IGNORE_VALUE, 0},
    {"-Xfatbinary", IGNORE_VALUE, 0},
    {"-diag-suppress", IGNORE_VALUE, 0},
    {"--diag-suppress", IGNORE_VALUE, 0},
    {"-diag-warn", IGNORE_VALUE, 0},
    {"--diag-warn", IGNORE_VALUE, 0},
    {"-diag-error", IGNORE_VALUE, 0},
    {"--diag-error", IGNORE_VALUE, 0},
    {"-default-stream", IGNORE_VALUE, 0},
    {"--default-stream", IGNORE_VALUE, 0},
    {"-ftz", IGNORE_VALUE, 0},
    {"--ftz", IGNORE_VALUE, 0},
    {"-fmad", IGNORE_VALUE, 0},
    {"--fmad", IGNORE_VALUE, 0},
    {"-prec-div", IGNORE_VALUE, 0},
    {"--prec-div", IGNORE_VALUE, 0},
    {"-prec-sqrt", IGNORE_VALUE, 0},
    {"--prec-sqrt", IGNORE_VALUE, 0},
    {"-t", IGNORE_VALUE, 0},
    {"--threads", IGNORE_VALUE, 0},
    {"-keep-dir", IGNORE_VALUE, 0},
    {"--keep-dir", IGNORE_VALUE, 0},
    {"-opt-info", IGNORE_VALUE, 0},
    {"--optimization-info", IGNORE_VALUE, 0},
    {"-dopt", IGNORE_VALUE, 0},
    {"--dopt", IGNORE_VALUE, 0},
    {"-Werror", IGNORE_VALUE, 0},
    {"-m", IGNORE_VALUE, 0},
    {"--machine", IGNORE_VALUE, 0},
    {"-m64", IGNORE, 0},
    {"-g", IGNORE, 0},
    {"--debug", IGNORE, 0},
    {"-G", IGNORE, 0},
    {"--device-debug", IGNORE, 0},
    {"-lineinfo", IGNORE, 0},
    {"--generate-line-info", IGNORE, 0},
    {"--source-in-ptx", IGNORE, 0},
    {"-pg", IGNORE, 0},
    {"-dw", IGNORE, 0},
    {"-noeh", IGNORE, 0},
    {"-allow-unsupported-compiler", IGNORE, 0},
    {"--allow-unsupported-compiler", IGNORE, 0},
    {"-forward-unknown-to-host-compiler", IGNORE, 0},
    {"--forward-unknown-to-host-compiler", IGNORE, 0},
    {"-forward-unknown-opts", IGNORE, 0},
    {"--forward-unknown-opts", IGNORE, 0},
    {"-extra-device-vectorization", IGNORE, 0},
    {"--extra-device-vectorization", IGNORE, 0},
    {"-src-in-ptx", IGNORE, 0},
    {"-use_fast_math", IGNORE, 0},
    {"--use_fast_math", IGNORE, 0},
    {"-restrict", IGNORE, 0},
    {"--restrict", IGNORE, 0},
    {"-extended-lambda", IGNORE, 0},
    {"--extended-lambda", IGNORE, 0},
    {"-dlto", IGNORE, 0},
    {"-lto", IGNORE, 0},
    {"-res-usage", IGNORE, 0},
    {"--resource-usage", IGNORE, 0},
    {"-Wno-deprecated-gpu-targets", IGNORE, 0},
    {"-Wreorder", IGNORE, 0},
    {"-Wall", IGNORE, 0},
    {"-Wextra", IGNORE, 0},
    {"-save-temps", IGNORE, 0},
    {NULL, IGNORE, 0},
};

// Prefixes of options that are known to say nothing here.
static const char *const ignored_starts[] = {
    "-O",          "--expt-",    "-expt-", "-W",        "--Wno",      "-split-compile", "--split-compile",
    "--ptxas",     "--optimize", "-g",     "--relaxed", "--generate", "-pie",           "-no-pie",
    "-rdynamic",   "-static",    "-fPI",   "-fpi",      "-fno-",      "-fvisibility",   "-fstack",
    "-ffast-math", "-ffp-",      "-flto",  "-funroll",  "-fstrict",   "-fdiagnostics",  "-fexceptions",
    "-march",      "-mtune",     "-mcpu",  "-mavx",     "-msse",      "-mfma",          NULL};

static bool push(struct sim_list *list, const char *value)
{
    // One place more is kept for the NULL at the end.
    if (!value || !sim_array_grow(&list->at, list->count + 1, &list->room, sizeof *list->at))
        return false;
    list->at[list->count++] = value;
    list->at[list->count] = NULL;
    return true;
}

static const char *own(sim_command *command, char *string)
{
    if (string && sim_array_grow(&command->owned, command->owned_count, &command->owned_room, sizeof *command->owned)) {
        command->owned[command->owned_count++] = string;
        return string;
    }
    free(string);
    return NULL;
}

static const char *join(sim_command *command, const char *start, const char *value)
{
    const size_t bytes = strlen(start) + strlen(value) + 1;
    char *string = malloc(bytes);
    if (string)
        snprintf(string, bytes, "%s%s", start, value);
    return own(command, string);
}

// A folder of a CUDA toolkit would bring in the real headers.
static bool is_toolkit(const char *folder)
{
    static const char header[] = "/cuda_runtime_api.h";
    const size_t bytes = strlen(folder) + sizeof header;
    char *path = malloc(bytes);
    if (!path)
        return false;
    snprintf(path, bytes, "%s%s", folder, header);
    bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

bool sim_build_raises_standard(const char *name)
{
    static const char *const old[] = {"c++98",   "c++03",   "c++0x",   "c++11",   "c++1y",   "c++14", "gnu++98",
                                      "gnu++03", "gnu++0x", "gnu++11", "gnu++1y", "gnu++14", NULL};
    return is_one_of(name, old);
}

static void add_standard(sim_command *command, const char *value)
{
    command->standard = value;
    if (!sim_build_raises_standard(value))
        push(&command->compile, join(command, "-std=", value));
}

// Of the options for the host's compiler, those that change what the source means. Others only cost or save time, or
// would have the compiler load and run files.
static bool changes_meaning(const char *word)
{
    static const char *const whole[] = {"-fopenmp",        "-pthread",        "-fpermissive",
                                        "-funsigned-char", "-fsigned-char",   "-fno-signed-char",
                                        "-fwrapv",         "-fms-extensions", NULL};
    return is_one_of(word, whole) || strncmp(word, "-std=", 5) == 0 ||
           (word[0] == '-' && word[1] && strchr("DUI", word[1]) && word[2]);
}

static void add_host_word(sim_command *command, const char *word)
{
    if (!word || !changes_meaning(word))
        return;
    if (strncmp(word, "-std=", 5) == 0)
        add_standard(command, word + 5);
    else if (word[1] == 'I')
        push(&command->include, word + 2);
    else
        push(&command->compile, word);
    if (strcmp(word, "-fopenmp") == 0 || strcmp(word, "-pthread") == 0)
        push(&command->link, word);
}

// The compiler reads `@name` as a file of options, and `-name` as one.
static void add_include(sim_command *command, const char *path)
{
    push(&command->compile, "-include");
    push(&command->compile, path[0] == '@' || path[0] == '-' ? join(command, "./", path) : path);
}

// The words of a list a,b,c, or, as a shell hands them on, "a b c".
static void add_words(sim_command *command, const char *words, bool linker)
{
    bool includes = false;
    while (*words) {
        size_t length = strcspn(words, ", ");
        const char *word = own(command, strndup(words, length));
        if (word && length && linker) {
            push(&command->link, "-Xlinker");
            push(&command->link, word);
        } else if (word && includes && length) {
            add_include(command, word);
        } else if (length) {
            add_host_word(command, word);
        }
        includes = word && !linker && strcmp(word, "-include") == 0; // its file is the next word
        words += length + (words[length] != 0);
    }
}

// Whether an option has a value that it can have. An empty one would have the compiler take the next word for it.
static bool accepts(const known_option *option, const char *value)
{
    const bool defines = option->action == COMPILE_1;
    switch (option->action) {
    case COMPILE_1:
    case LINK_1:
    case SYSTEM:
    case INCLUDE: return value[0] && (!defines || isalpha((unsigned char)value[0]) || value[0] == '_');
    default: return true;
    }
}

static void apply(sim_command *command, const known_option *option, const char *value)
{
    char letters[3] = {option->name[0], option->name[1], 0};
    if (strcmp(option->name, "--define-macro") == 0 || strcmp(option->name, "--undefine-macro") == 0)
        letters[1] = option->name[2] == 'd' ? 'D' : 'U';
    if (strcmp(option->name, "--library-path") == 0 || strcmp(option->name, "--library") == 0)
        letters[1] = strlen(option->name) > strlen("--library") ? 'L' : 'l';
    switch (option->action) {
    case IGNORE:
    case IGNORE_VALUE: break;
    case OUTPUT: command->options.output = value; break;
    case DEPEND_FILE: command->options.depend_file = value; break;
    case DEPEND_TARGET: command->options.depend_target = value; break;
    case INCLUDE:
        if (!is_toolkit(value))
            push(&command->include, value);
        break;
    case SYSTEM: add_include(command, value); break;
    case COMPILE:
        push(&command->compile, option->name);
        push(&command->link, option->name);
        break;
    case COMPILE_1: push(&command->compile, join(command, letters, value)); break;
    case STANDARD: add_standard(command, value); break;
    case LINK: push(&command->link, option->name); break;
    case LINK_1: push(&command->link, join(command, letters, value)); break;
    case HOST: add_words(command, value, false); break;
    case HOST_LINKER: add_words(command, value, true); break;
    case COMPILER: command->options.compiler = value; break;
    case LANGUAGE: command->options.all_cuda = strcmp(value, "cu") == 0; break;
    case SEPARATE: command->options.separate = strcmp(value, "true") == 0; break;
    case DEVICE_C: command->options.separate = command->options.compile_only = true; break;
    case FOLDER: command->options.objects = value; break;
    case REFUSE: command->refused = option->name; break;
    case FLAG: *(bool *)((char *)command + option->flag) = true; break;
    }
}

static bool takes_value(const known_option *option)
{
    switch (option->action) {
    case IGNORE:
    case COMPILE:
    case LINK:
    case DEVICE_C:
    case REFUSE:
    case FLAG: return false;
    default: return true;
    }
}

// Whether the argument is this option: -o, --option=value, or, when joined, -Dvalue. *value: what follows; NULL:
// nothing.
static bool matches(const known_option *option, const char *argument, bool joined, const char **value)
{
    size_t length = strlen(option->name);
    if (strncmp(argument, option->name, length) != 0)
        return false;
    *value = NULL;
    if (!argument[length])
        return true;
    if (!takes_value(option))
        return false;
    *value = argument + length + (joined ? 0 : 1);
    return joined ? length == 2 && strchr("oIDULlx", option->name[1]) : argument[length] == '=';
}

// Whole names first: -lineinfo is not -l ineinfo.
static const known_option *find_option(const known_option *table, const char *argument, const char **value)
{
    for (int joined = 0; joined < 2; joined++)
        for (const known_option *option = table; option->name; option++)
            if (matches(option, argument, joined, value))
                return option;
    return NULL;
}

static sim_option_use use_of(const known_option *option)
{
    switch (option->action) {
    case IGNORE:
    case IGNORE_VALUE: return SIM_OPTION_IGNORED;
    case OUTPUT:
    case DEPEND_FILE:
    case DEPEND_TARGET:
    case HOST_LINKER:
    case DEVICE_C:
    case FOLDER:
    case REFUSE:
    case FLAG: return SIM_OPTION_OUTPUT;
    default: return SIM_OPTION_SOURCE;
    }
}

static sim_option_use use_of_others(sim_command *command, const char *argument)
{
    if (strncmp(argument, "-Wl,", 4) == 0)
        return push(&command->link, argument) ? SIM_OPTION_OUTPUT : SIM_OPTION_IGNORED;
    if (changes_meaning(argument)) { // nvcc forwards these to the host's compiler when it is asked to, and CMake asks
        add_host_word(command, argument);
        return SIM_OPTION_SOURCE;
    }
    for (int i = 0; ignored_starts[i]; i++)
        if (strncmp(argument, ignored_starts[i], strlen(ignored_starts[i])) == 0)
            return SIM_OPTION_IGNORED;
    return SIM_OPTION_UNKNOWN;
}

static sim_option_use read_option(sim_command *command, const known_option *table, int argc, char *const *argv, int *at)
{
    const char *value, *argument = argv[*at];
    const known_option *option = find_option(table, argument, &value);
    if (!option)
        return table == options ? use_of_others(command, argument) : SIM_OPTION_UNKNOWN;
    if (takes_value(option) && !value) {
        if (*at + 1 >= argc)
            return SIM_OPTION_INCOMPLETE;
        value = argv[++*at];
    }
    if (takes_value(option) && !accepts(option, value))
        return SIM_OPTION_INCOMPLETE;
    apply(command, option, value);
    return use_of(option);
}

sim_option_use sim_command_option(sim_command *command, int argc, char *const *argv, int *at)
{
    return read_option(command, options, argc, argv, at);
}

static bool parse_option(sim_command *command, int argc, char **argv, int *at, sim_build_result *result)
{
    const char *argument = argv[*at];
    sim_option_use use = read_option(command, own_options, argc, argv, at);
    if (use == SIM_OPTION_UNKNOWN)
        use = read_option(command, options, argc, argv, at);
    if (use == SIM_OPTION_UNKNOWN)
        sim_build_say(result, SIM_MESSAGE_WARNING, "option %s is unknown and ignored", argument);
    if (use == SIM_OPTION_INCOMPLETE)
        sim_build_say(result, SIM_MESSAGE_ERROR, "option %s needs a value", argument);
    return use != SIM_OPTION_INCOMPLETE;
}

bool sim_command_parse(sim_command *command, int argc, char **argv, sim_build_result *result)
{
    *command = (sim_command){0};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(command, argc, argv, &i, result))
                return false;
        } else {
            push(&command->files, argv[i]);
        }
    }
    command->options.files = command->files.at;
    command->options.include = command->include.at;
    command->options.compile = command->compile.at;
    command->options.link = command->link.at;
    if (!command->files.count && !command->help && !command->version && !command->list_code) {
        sim_build_say(result, SIM_MESSAGE_ERROR, "no source file; try simcc --help");
        return false;
    }
    return true;
}

void sim_command_free(sim_command *command)
{
    for (int i = 0; i < command->owned_count; i++)
        free(command->owned[i]);
    free(command->owned);
    free(command->files.at);
    free(command->include.at);
    free(command->compile.at);
    free(command->link.at);
    *command = (sim_command){0};
}
