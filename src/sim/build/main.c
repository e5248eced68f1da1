// simcc: nvcc's place in a build, for a machine without a GPU. Makes a program that runs its kernels on the simulated
// GPU.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/build.h"
#include "build/command.h"
#include "build/nvcc.h"
#include "build/words.h"
#include "rewrite/rewrite.h"

static const char help[] =
    "simcc [options] FILE.cu ... -o PROGRAM\n"
    "\n"
    "Builds CUDA source into a program that runs its kernels on the simulated GPU. simcc takes nvcc's options,\n"
    "and ignores those about code generation.\n"
    "\n"
    "  -o FILE             name of the program, default: a.out; with -c, name of the object file\n"
    "  -c, -dc             compile only; -dc: device code of all files is linked together\n"
    "  -dlink, -lib        write an empty object for device code, or an archive of the objects\n"
    "  -run                run the program that was built\n"
    "  @FILE               read more of the command line from FILE; the same as --options-file FILE\n"
    "  -I DIR, -D NAME[=VALUE], -U NAME, -std=c++20, -include FILE\n"
    "  -L DIR, -l NAME, -Xcompiler OPTIONS, -Xlinker OPTIONS\n"
    "  -MD [-MF FILE] [-MT TARGET]\n"
    "                      write a dependency file for make\n"
    "  -x cu               treat every source file as CUDA, whatever its name\n"
    "  --shared            build a loadable module instead of a program\n"
    "  --unwatched         build a program without checks and counters, which is faster\n"
    "  --divergence        build a slower program that also counts divergent branches, for SIM_REPORT\n"
    "  --quick             optimise less, which takes half the time; counters may differ\n"
    "  --compiler NAME     gcc, clang or a path; default: gcc if it is installed, else clang\n"
    "  --rewrite           print FILE.cu as the compiler would see it, and stop\n"
    "  --keep              keep the rewritten files and print their folder\n"
    "  -w                  no warnings about options\n"
    "\n"
    "Example: simcc -O3 -arch=sm_90 vector_add.cu -o vector_add && ./vector_add\n";

static const int exit_codes[] = {[SIM_BUILD_FINE] = 0,
                                 [SIM_BUILD_FAILED] = 1,
                                 [SIM_BUILD_USAGE] = 2,
                                 [SIM_BUILD_NO_COMPILER] = 3,
                                 [SIM_BUILD_SYSTEM] = 1};

static void on_signal(int signal_number)
{
    sim_build_interrupted(); // NOLINT(bugprone-signal-handler): made for this, see build.h
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void print_messages(const sim_build_result *result, bool quiet)
{
    for (int i = 0; i < result->count; i++) {
        const sim_build_message *message = &result->messages[i];
        if (quiet && message->kind == SIM_MESSAGE_WARNING)
            continue;
        char *text = sim_build_message_text(message);
        fprintf(stderr, "%s%s\n", message->file ? "" : "simcc: ", text ? text : message->text);
        free(text);
    }
}

// Where a rewritten file goes; NULL: it cannot be written.
static FILE *open_rewritten(const sim_command *command, const char *file)
{
    char path[4096];
    const char *slash = strrchr(file, '/'), *output = command->options.output;
    if (!command->translate)
        return stdout;
    snprintf(path, sizeof path, "%s.cpp.ii", slash ? slash + 1 : file);
    return fopen(output ? output : path, "w");
}

static int print_rewritten(const sim_command *command)
{
    for (const char *const *file = command->options.files; *file; file++) {
        sim_rewrite_options options = {.folders = command->options.include};
        sim_rewritten rewritten;
        if (!sim_rewrite_unit(*file, &options, &rewritten)) {
            fprintf(stderr, "simcc: %s: %s\n", *file, strerror(errno));
            return exit_codes[SIM_BUILD_USAGE];
        }
        FILE *to = open_rewritten(command, *file);
        bool fine = to && fwrite(rewritten.files[0].text, 1, rewritten.files[0].bytes, to) == rewritten.files[0].bytes;
        if (to && to != stdout)
            fine = fclose(to) == 0 && fine;
        sim_rewritten_free(&rewritten);
        if (!fine) {
            fprintf(stderr, "simcc: the rewritten %s cannot be written: %s\n", *file, strerror(errno));
            return exit_codes[SIM_BUILD_SYSTEM];
        }
    }
    return 0;
}

// nvcc -M: the list alone. It is made by compiling, into nothing that stays.
static int print_depends(sim_command *command, sim_build_result *result)
{
    char object[4096];
    const char *temporary = getenv("TMPDIR");
    snprintf(object, sizeof object, "%s/simcc-depends-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    int file = mkstemp(object);
    sim_build_options *options = &command->options;
    char target[1024];
    const char *slash = strrchr(options->files[0], '/'), *name = slash ? slash + 1 : options->files[0];
    const char *dot = strrchr(name, '.');
    snprintf(target, sizeof target, "%.*s.o", dot ? (int)(dot - name) : (int)strlen(name), name);
    if (!options->depend_file)
        options->depend_file = options->output ? options->output : "/dev/stdout";
    if (!options->depend_target)
        options->depend_target = target;
    options->depends = options->compile_only = true;
    options->output = object;
    int code = exit_codes[sim_build(options, result)];
    if (file >= 0)
        close(file);
    unlink(object);
    return code;
}

// Runs what was built in our place.
static int become(const char *program)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", strchr(program, '/') ? "" : "./", program);
    execv(path, (char *[]){path, NULL});
    fprintf(stderr, "simcc: %s: %s\n", path, strerror(errno));
    return exit_codes[SIM_BUILD_SYSTEM];
}

// toolkit: what nvcc is part of, where simcc stands in for it; NULL: it is called by its own name.
static int build(sim_command *command, const char *toolkit, sim_build_result *result)
{
    if (toolkit && (command->verbose || command->dry_run))
        sim_nvcc_print_commands(command, toolkit);
    if (command->dry_run)
        return 0;
    if (command->refused) {
        sim_build_say(result, SIM_MESSAGE_ERROR, "%s: the simulated GPU runs source, not machine code or PTX",
                      command->refused);
        return exit_codes[SIM_BUILD_FAILED];
    }
    if (toolkit && command->options.shared && !command->options.device_link) {
        sim_build_say(result, SIM_MESSAGE_ERROR,
                      "a shared library would have a simulated GPU of its own; build a static one (CMake: "
                      "-DBUILD_SHARED_LIBS=OFF)");
        return exit_codes[SIM_BUILD_FAILED];
    }
    command->options.keep &= !toolkit;
    if (command->list_depends)
        return print_depends(command, result);
    int code = exit_codes[sim_build(&command->options, result)];
    if (code == 0)
        sim_nvcc_record(command);
    return code;
}

static int obey(sim_command *command, const char *toolkit, sim_build_result *result)
{
    if (command->help)
        fputs(help, stdout);
    else if (command->version && toolkit)
        sim_nvcc_print_version();
    else if (command->version)
        printf("simcc of heddle %s\n", HEDDLE_VERSION);
    else if (command->list_code)
        sim_nvcc_print_code();
    else if (command->rewrite || command->translate)
        return print_rewritten(command);
    else
        return build(command, toolkit, result);
    return 0;
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const char as_nvcc[] = "--as-nvcc=";
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
    signal(SIGPIPE, SIG_IGN); // an assembler that gives up early is not the end of us
    const bool stands_in = argc > 1 && strncmp(argv[1], as_nvcc, sizeof as_nvcc - 1) == 0;
    const char *toolkit = stands_in ? argv[1] + sizeof as_nvcc - 1 : NULL;
    sim_words words = {0};
    sim_words_add_list(&words, 1, argv);
    sim_words_add_text(&words, toolkit ? getenv("NVCC_PREPEND_FLAGS") : NULL);
    sim_words_add_list(&words, argc - 1 - stands_in, argv + 1 + stands_in);
    sim_words_add_text(&words, toolkit ? getenv("NVCC_APPEND_FLAGS") : NULL);
    sim_command command = {0};
    sim_build_result result = {0};
    int code = exit_codes[SIM_BUILD_USAGE];
    if (words.failed)
        sim_build_say(&result, SIM_MESSAGE_ERROR, words.unread ? "%s: cannot be read" : "no memory%s",
                      words.unread ? words.unread : "");
    else if (sim_command_parse(&command, words.count, words.at, &result))
        code = obey(&command, toolkit, &result);
    print_messages(&result, command.quiet);
    char *program = code == 0 && command.run ? strdup(command.options.output ? command.options.output : "a.out") : NULL;
    sim_build_result_free(&result);
    sim_command_free(&command);
    sim_words_free(&words);
    return program ? become(program) : code;
}
