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
#include "rewrite/rewrite.h"

static const char help[] =
    "simcc [options] FILE.cu ... -o PROGRAM\n"
    "\n"
    "Builds CUDA source into a program that runs its kernels on the simulated GPU. simcc takes nvcc's options,\n"
    "and ignores those about code generation.\n"
    "\n"
    "  -o FILE             name of the program, default: a.out; with -c, name of the object file\n"
    "  -c                  compile only\n"
    "  -I DIR, -D NAME[=VALUE], -U NAME, -std=c++20, -include FILE\n"
    "  -L DIR, -l NAME, -Xcompiler OPTIONS, -Xlinker OPTIONS\n"
    "  -MD [-MF FILE] [-MT TARGET]\n"
    "                      write a dependency file for make\n"
    "  -x cu               treat every source file as CUDA, whatever its name\n"
    "  --shared            build a loadable module instead of a program\n"
    "  --unwatched         build a program without checks and counters, which is faster\n"
    "  --divergence        build a slower program that also counts divergent branches, for SIM_REPORT\n"
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

static int print_rewritten(const sim_command *command)
{
    for (const char *const *file = command->options.files; *file; file++) {
        sim_rewrite_options options = {.folders = command->options.include};
        sim_rewritten rewritten;
        if (!sim_rewrite_unit(*file, &options, &rewritten)) {
            fprintf(stderr, "simcc: %s: %s\n", *file, strerror(errno));
            return exit_codes[SIM_BUILD_USAGE];
        }
        fwrite(rewritten.files[0].text, 1, rewritten.files[0].bytes, stdout);
        sim_rewritten_free(&rewritten);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
    signal(SIGPIPE, SIG_IGN); // an assembler that gives up early is not the end of us
    sim_command command;
    sim_build_result result = {0};
    int code;
    if (!sim_command_parse(&command, argc, argv, &result)) {
        code = exit_codes[SIM_BUILD_USAGE];
    } else if (command.help) {
        fputs(help, stdout);
        code = 0;
    } else if (command.version) {
        printf("simcc of heddle %s\n", HEDDLE_VERSION);
        code = 0;
    } else if (command.rewrite) {
        code = print_rewritten(&command);
    } else {
        code = exit_codes[sim_build(&command.options, &result)];
    }
    print_messages(&result, command.quiet);
    sim_build_result_free(&result);
    sim_command_free(&command);
    return code;
}
