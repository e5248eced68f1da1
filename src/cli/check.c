// `heddle check`: checks a CUDA program on the simulated GPU. This file reads the command line and shows the result;
// the room check/ does the work.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/terminal.h"
#include "check/check.h"
#include "check/describe.h"
#include "check/show.h"
#include "cli/check_flags.h"
#include "cli/check_kernel.h"
#include "cli/check_progress.h"
#include "cli/check_refuse.h"
#include "cli/check_watch.h"
#include "cli/cli.h"
#include "cli/held.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/shapes.h"

enum { MOST_FILES = 64 };

#define PLACE(field) offsetof(heddle_check_settings, field)

static const heddle_cli_option options[] = {
    {"op", HEDDLE_CLI_TEXT, PLACE(op), "NAME", NULL,
     "operator that a file without main implements; its results are compared with a float64 reference", 0, 0, NULL},
    {"shape", HEDDLE_CLI_LIST, PLACE(shapes), "SHAPE", NULL,
     "with --op: shape to compare at, such as \"m=512 n=512 k=100\"; may be repeated; default: the operator's test "
     "shapes",
     0, 0, NULL},
    {"kernel", HEDDLE_CLI_TEXT, PLACE(kernel), "NAME", NULL,
     "kernel of a file without main to launch, such as softmax or \"ops::softmax<float, 256>\"; see --args", 0, 0,
     NULL},
    {"args", HEDDLE_CLI_TEXT, PLACE(args), "LINE", NULL,
     "with --kernel: its arguments by name, such as \"x: float[n, 64] = normal(seed=1), y: out float[n, 64], n = 100\"",
     0, 0, NULL},
    {"grid", HEDDLE_CLI_TEXT, PLACE(grid), "SIZES", NULL,
     "with --kernel: blocks, as up to three expressions over the numbers of --args: \"cdiv(n, 256)\"", 0, 0, NULL},
    {"block", HEDDLE_CLI_TEXT, PLACE(block), "SIZES", NULL, "with --kernel: threads of a block, written like --grid", 0,
     0, NULL},
    {"shared", HEDDLE_CLI_TEXT, PLACE(shared), "BYTES", NULL,
     "with --kernel: dynamic shared memory, written like --grid; default: 0", 0, 0, NULL},
    {"reference", HEDDLE_CLI_TEXT, PLACE(reference), "FILE", NULL,
     "with --kernel: what the output should be: FILE.npy, or FILE.py:FUNCTION, which gets the arguments by name as "
     "NumPy "
     "arrays and returns the outputs",
     0, 0, NULL},
    {"tolerance", HEDDLE_CLI_NUMBER, PLACE(tolerance), "X", NULL,
     "with --kernel: allowed difference, X + X times the expected value; default: by type, 1e-5 for float", 0, 1e6,
     NULL},
    {"driver", HEDDLE_CLI_TEXT, PLACE(driver), "FILE.cu", NULL,
     "file with a main that launches kernels of the other files, which stand before it", 0, 0, NULL},
    {"list-kernels", HEDDLE_CLI_FLAG, PLACE(list_kernels), NULL, NULL,
     "list the kernels of the files with their parameters, and a command line for each to edit; runs nothing", 0, 0,
     NULL},
    {"watch", HEDDLE_CLI_FLAG, PLACE(watch), NULL, NULL,
     "check again each time a source, a header of it or another file of the check is saved; Ctrl-C ends", 0, 0, NULL},
    {"cmake", HEDDLE_CLI_TEXT, PLACE(cmake), "DIR", NULL,
     "check a whole CMake project: build it in a temporary folder and run every CUDA program of it, with the arguments "
     "after -- and the same standard input; -D NAME=VALUE is for CMake",
     0, 0, NULL},
    {"schedules", HEDDLE_CLI_INT, PLACE(schedules), "N", "2",
     "number of runs, each in a different legal order of blocks and threads", 1, HEDDLE_CHECK_MOST_RUNS, NULL},
    {"gpu", HEDDLE_CLI_TEXT, PLACE(gpu), "NAME", NULL, "GPU to simulate: h200, h100, a100, rtx4090, ...; default: h200",
     0, 0, NULL},
    {"strict", HEDDLE_CLI_FLAG, PLACE(strict), NULL, NULL, "treat warnings as errors", 0, 0, NULL},
    {"grade", HEDDLE_CLI_FLAG, PLACE(grade), NULL, NULL,
     "judge like a teacher: warnings are errors, and so is a program that launches no kernel; comments suppress "
     "nothing",
     0, 0, NULL},
    {"expect", HEDDLE_CLI_LIST, PLACE(expect), "FILE", NULL,
     "compare the program's output with this file, line by line; white space at the end of a line is ignored. With "
     "--kernel: NAME=FILE.npy, an output and what it should be; may be repeated",
     0, 0, NULL},
    {"any-status", HEDDLE_CLI_FLAG, PLACE(any_status), NULL, NULL, "ignore the program's exit status", 0, 0, NULL},
    {"suppress", HEDDLE_CLI_TEXT, PLACE(suppress), "FILE", NULL,
     "file of findings to ignore. One rule per line: a KIND, a space, then SOURCE, SOURCE:LINE or kernel:NAME", 0, 0,
     NULL},
    {"unwatched", HEDDLE_CLI_FLAG, PLACE(unwatched), NULL, NULL, "run the program without any checks, which is faster",
     0, 0, NULL},
    {"budget", HEDDLE_CLI_NUMBER, PLACE(budget), "SECONDS", "10",
     "watch every access for about this long in each run; beyond it, only some blocks of a large launch are watched in "
     "full, and the others are only checked for wrong addresses",
     0.001, 1e6, NULL},
    {"full", HEDDLE_CLI_FLAG, PLACE(full), NULL, NULL, "watch every access, without a budget", 0, 0, NULL},
    {"counters", HEDDLE_CLI_FLAG, PLACE(counters), NULL, NULL,
     "print the counts of memory sectors and bank conflicts even if errors were found", 0, 0, NULL},
    {"no-counters", HEDDLE_CLI_FLAG, PLACE(no_counters), NULL, NULL,
     "do not print the counts of memory sectors and bank conflicts", 0, 0, NULL},
    {"divergence", HEDDLE_CLI_FLAG, PLACE(divergence), NULL, NULL,
     "also count divergent branches; builds and runs the program once more", 0, 0, NULL},
    {"quiet", HEDDLE_CLI_FLAG, PLACE(quiet), NULL, NULL, "do not print the program's output", 0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
    {"sarif", HEDDLE_CLI_TEXT, PLACE(sarif), "FILE", NULL,
     "also write the findings as SARIF, for editors and code hosts", 0, 0, NULL},
    {"html", HEDDLE_CLI_TEXT, PLACE(html), "FILE", NULL,
     "also write a web page: the source with its findings and counts, and pictures of small launches", 0, 0, NULL},
    {"trace", HEDDLE_CLI_TEXT, PLACE(trace), "FILE", NULL,
     "also write what the first blocks of small launches did, access by access, as JSON (see docs/json.md)", 0, 0,
     NULL},
    {"include", HEDDLE_CLI_LIST, PLACE(include), "DIR", NULL, "folder to search for headers; the same as -I DIR", 0, 0,
     NULL},
    {"define", HEDDLE_CLI_LIST, PLACE(define), "NAME[=VALUE]", NULL, "macro to define; the same as -D", 0, 0, NULL},
    {"std", HEDDLE_CLI_TEXT, PLACE(standard), "NAME", NULL, "C++ standard; the same as -std=NAME; default: c++17", 0, 0,
     NULL},
    {"library", HEDDLE_CLI_LIST, PLACE(library), "NAME", NULL, "library to link; the same as -l", 0, 0, NULL},
    {"compiler", HEDDLE_CLI_TEXT, PLACE(compiler), "NAME", NULL,
     "C++ compiler to use: gcc, clang or a path; default: gcc if it is installed, else clang", 0, 0, NULL},
    {"timeout", HEDDLE_CLI_NUMBER, PLACE(timeout), "SECONDS", "60",
     "time limit for each run; the command of a project, which also builds, gets ten times as long", 0.1, 1e6, NULL},
    {"memory", HEDDLE_CLI_NUMBER, PLACE(memory), "GB", NULL,
     "memory limit for the program, and for each compiler; default: three quarters of the available memory", 0.01, 1e6,
     NULL},
    {"seed", HEDDLE_CLI_SEED, PLACE(seed), "N", "1",
     "random seed for the inputs of --op and --kernel, and for the choice of the blocks that are watched in full "
     "beyond --budget",
     0, 0, NULL},
    {"nvcc", HEDDLE_CLI_FLAG, PLACE(nvcc), NULL, NULL,
     "also compile the source with nvcc, and fail if nvcc is not installed; default: use nvcc if it is installed", 0, 0,
     NULL},
    {"no-nvcc", HEDDLE_CLI_FLAG, PLACE(no_nvcc), NULL, NULL, "do not run nvcc", 0, 0, NULL},
    {"no-sandbox", HEDDLE_CLI_FLAG, PLACE(no_sandbox), NULL, NULL,
     "run the program with all of your permissions; by default it may write only below the working folder and $TMPDIR, "
     "and has no network access",
     0, 0, NULL},
    {"keep", HEDDLE_CLI_FLAG, PLACE(keep), NULL, NULL, "keep the built program and its reports, and print their folder",
     0, 0, NULL},
};

// --- the command line ------------------------------------------------------------------------------------------------

static char *const *program_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return argv + i + 1;
    return NULL;
}

// --- showing ---------------------------------------------------------------------------------------------------------

typedef heddle_status writer(const heddle_check_result *result, FILE *file);

typedef struct held_outputs {
    heddle_cli_held json, sarif, html, trace;
} held_outputs;

// All of it, or the file stays as it was. A link stays a link.
static heddle_status write_file(const heddle_check_result *result, const heddle_cli_held *held, writer *write)
{
    char *content = NULL;
    size_t size = 0;
    if (held->path == NULL)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cli_held_check(held));
    FILE *file = open_memstream(&content, &size);
    if (file == NULL)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write it", held->path);
    heddle_status status = write(result, file);
    if (fclose(file) != 0 && status == HEDDLE_OK)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write it", held->path);
    if (status == HEDDLE_OK)
        status = heddle_file_write_atomic(heddle_cli_held_place(held), &(heddle_slice){content, size}, 1);
    free(content);
    return heddle_cli_held_status(held, status);
}

static heddle_status print_text(const heddle_check_settings *settings, const heddle_check_result *result)
{
    const char *no_colour = getenv("NO_COLOR");
    heddle_check_style style = {
        .colour = heddle_terminal_is(stdout) && (no_colour == NULL || no_colour[0] == '\0'),
        .utf8 = heddle_terminal_utf8(),
        .command = heddle_cli_name(),
        .counters = !settings->no_counters && !settings->unwatched && (settings->counters || result->errors == 0),
    };
    if (!settings->quiet && result->coloured && heddle_terminal_is(stdout))
        fputs("\033[0m", stdout); // the colour of the program's output ends with it
    if (!settings->quiet && result->open_line)
        putchar('\n');
    return heddle_check_show_text(result, &style, stdout);
}

static heddle_status write_files(const held_outputs *held, const heddle_check_result *result)
{
    HEDDLE_TRY(write_file(result, &held->sarif, heddle_check_show_sarif));
    HEDDLE_TRY(write_file(result, &held->trace, heddle_check_show_trace));
    return write_file(result, &held->html, heddle_check_show_html);
}

static heddle_status write_json(const heddle_check_settings *settings, const heddle_cli_held *held,
                                const heddle_check_result *result)
{
    heddle_cli_json json = settings->json;
    heddle_status status = heddle_cli_held_check(held);
    if (status != HEDDLE_OK)
        return status;
    if (json.file)
        json.file = heddle_cli_held_place(held);
    return heddle_cli_held_status(held, heddle_cli_json_result(&json, heddle_check_json(result)));
}

// The findings are printed first, so that a file that cannot be written does not hide them. A JSON document says
// whether all went well, so it comes after the files.
static heddle_status show(const heddle_check_settings *settings, const held_outputs *held, heddle_check_result *result)
{
    char why[1024];
    if (!settings->json.print)
        HEDDLE_TRY(print_text(settings, result));
    fflush(stdout);
    heddle_status status = write_files(held, result);
    if (status != HEDDLE_OK) {
        snprintf(why, sizeof why, "%s", heddle_last_error());
        result->unwritten = true;
        heddle_check_result_note(result, "not written: %s", why);
    }
    HEDDLE_TRY(write_json(settings, &held->json, result));
    return status == HEDDLE_OK ? HEDDLE_OK : heddle_fail(status, "%s", why);
}

static heddle_check_options options_of(const heddle_check_settings *settings, const heddle_check_flags *flags)
{
    const double gigabyte = 1e9;
    const double accesses_per_second = 100; // in millions: a fixed rate, so that no verdict depends on the machine
    return (heddle_check_options){
        .op = settings->op,
        .include = flags->include,
        .define = settings->define.items,
        .library = settings->library.items,
        .compile = flags->compile,
        .link = flags->link,
        .ignored = flags->ignored,
        .all_cuda = flags->nvcc.options.all_cuda,
        .separate = flags->nvcc.options.separate,
        .compiler = settings->compiler ? settings->compiler : flags->nvcc.options.compiler,
        .standard = settings->standard,
        .gpu = settings->gpu,
        .suppress = settings->suppress,
        .any_status = settings->any_status,
        .schedules = settings->unwatched ? 1 : settings->schedules,
        .budget = settings->full ? 0 : settings->budget * accesses_per_second,
        .seconds = settings->timeout,
        .memory = (uint64_t)(settings->memory * gigabyte),
        .seed = settings->seed,
        .nvcc = settings->no_nvcc || settings->unwatched || settings->kernel || settings->driver
                    ? HEDDLE_CHECK_NVCC_NEVER // nvcc would ask for PyTorch's headers
                : settings->nvcc ? HEDDLE_CHECK_NVCC_ALWAYS
                                 : HEDDLE_CHECK_NVCC_IF_INSTALLED,
        .sandbox = !settings->no_sandbox,
        .carry = true,
        .strict = settings->strict,
        .grade = settings->grade,
        .expect = settings->kernel ? NULL : settings->expect.items[0],
        .expects = settings->kernel ? settings->expect.items : NULL,
        .kernel = settings->kernel,
        .args = settings->args,
        .grid = settings->grid,
        .block = settings->block,
        .shared = settings->shared,
        .reference = settings->reference,
        .driver = settings->driver,
        .tolerance = settings->tolerance,
        .unwatched = settings->unwatched,
        .divergence = settings->divergence,
        .keep = settings->keep,
        .trace = settings->trace || settings->html,
        .progress = heddle_cli_check_progress_line(),
        .output = settings->quiet        ? -1
                  : settings->json.print ? STDERR_FILENO
                                         : STDOUT_FILENO,
        .errors = settings->quiet ? -1 : STDERR_FILENO,
    };
}

// --- checking -------------------------------------------------------------------------------------------------------

static heddle_status hold_outputs(const heddle_check_settings *settings, held_outputs *held)
{
    HEDDLE_TRY(heddle_cli_hold(&held->json, settings->json.file));
    HEDDLE_TRY(heddle_cli_hold(&held->sarif, settings->sarif));
    HEDDLE_TRY(heddle_cli_hold(&held->trace, settings->trace));
    return heddle_cli_hold(&held->html, settings->html);
}

static void release_outputs(held_outputs *held)
{
    heddle_cli_held_release(&held->json);
    heddle_cli_held_release(&held->sarif);
    heddle_cli_held_release(&held->html);
    heddle_cli_held_release(&held->trace);
}

static void interrupt_check(int number)
{
    (void)number;
    heddle_check_interrupt();
}

static int check(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                 const heddle_check_flags *flags, char *const *program)
{
    const char *sources[MOST_FILES + 1] = {NULL};
    for (int i = 0; i < arguments->count; i++)
        sources[i] = arguments->items[i];
    heddle_check_options how = options_of(settings, flags);
    const bool has_files = arguments->count > 0;
    how.sources = has_files ? sources : NULL;
    how.cmake = settings->cmake;
    how.command = has_files || settings->cmake ? NULL : (const char *const *)program;
    how.arguments = has_files || settings->cmake ? (const char *const *)program : NULL;
    heddle_cli_shapes shapes;
    heddle_check_result *result = NULL;
    held_outputs held = {.json.file = -1, .sarif.file = -1, .html.file = -1, .trace.file = -1};
    heddle_status status = heddle_cli_shapes_read(&settings->shapes, &shapes);
    how.shapes = shapes.count > 0 ? shapes.items : NULL;
    fflush(stdout);
    heddle_cli_stop_gently(&(heddle_cli_gently){.also = interrupt_check});
    if (status == HEDDLE_OK && !has_files && !settings->cmake && !(program && program[0]))
        status =
            heddle_fail(HEDDLE_INVALID, "nothing to check: name a .cu file, a command after -- or --cmake DIR; see "
                                        "`heddle check --help`");
    if (status == HEDDLE_OK)
        status = heddle_cli_check_refuse(settings, arguments, flags);
    if (status == HEDDLE_OK && settings->kernel && program)
        status =
            heddle_fail(HEDDLE_INVALID, "with --kernel there are no program arguments: --args describes the kernel's");
    if (status == HEDDLE_OK)
        status = hold_outputs(settings, &held);
    if (status == HEDDLE_OK)
        status = heddle_check_run(&how, &result);
    if (status == HEDDLE_OK)
        status = show(settings, &held, result);
    release_outputs(&held);
    const bool stale = status == HEDDLE_INTERRUPTED && !heddle_cli_interrupted; // --watch stopped it: a file was saved
    int exit_code = stale                         ? HEDDLE_EXIT_FAILED
                    : status != HEDDLE_OK         ? heddle_cli_fail(status)
                    : heddle_check_failed(result) ? HEDDLE_EXIT_FAILED
                                                  : HEDDLE_EXIT_OK;
    heddle_check_result_free(result);
    heddle_cli_shapes_free(&shapes);
    return exit_code;
}

// One check after another of the same files.
typedef struct watched_check {
    const heddle_check_settings *settings;
    const heddle_cli_arguments *arguments;
    const heddle_check_flags *flags;
    char *const *program;
} watched_check;

static int check_again(void *context)
{
    const watched_check *one = context;
    heddle_check_resume();
    return check(one->settings, one->arguments, one->flags, one->program);
}

static int run_check(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                     const heddle_check_flags *flags, char *const *program)
{
    watched_check one = {settings, arguments, flags, program};
    if (settings->list_kernels)
        return heddle_cli_check_kernel_list(arguments, flags->include);
    if (settings->watch && arguments->count > 0)
        return heddle_cli_check_watch(settings, arguments, flags->include, check_again, &one);
    return check(settings, arguments, flags, program);
}

static int run_command(int argc, char **argv)
{
    heddle_check_settings settings = {.tolerance = -1};
    heddle_cli_arguments arguments;
    heddle_check_flags flags;
    int exit_code = HEDDLE_EXIT_FAILED;
    heddle_status status = heddle_check_flags_read(&heddle_command_check, argc, argv, &flags);
    if (status != HEDDLE_OK) {
        exit_code = heddle_cli_fail(status);
    } else if (heddle_cli_parse(&heddle_command_check, flags.own_count, flags.own, &settings, &arguments, &exit_code)) {
        if (!settings.standard)
            settings.standard = flags.nvcc.standard;
        status = heddle_check_flags_lists(&flags, &settings.include);
        exit_code = status == HEDDLE_OK ? run_check(&settings, &arguments, &flags, program_arguments(argc, argv))
                                        : heddle_cli_fail(status);
    }
    heddle_check_flags_free(&flags);
    return exit_code;
}

const heddle_cli_command heddle_command_check = {
    .name = "check",
    .summary = "find races, out-of-bounds accesses and other errors in a CUDA program, without a GPU",
    .arguments = "FILE.cu... [-- ARGUMENTS] | -- COMMAND | --cmake DIR",
    .least_arguments = 0,
    .most_arguments = MOST_FILES,
    .description =
        "Builds the program with the host compiler and runs it on a simulated GPU that watches every memory access. "
        "For each error it prints the source line, the cause and how to fix it. Also counts memory sectors and bank "
        "conflicts, line by line. Arguments after -- go to the program.\n\n"
        "You can pass the nvcc flags of a Makefile as they are. A check uses those that change what the source means, "
        "such as -I, -D, -std and -l. It ignores the others, such as -O3, -arch and -o, and lists them in a note.\n\n"
        "A whole project is checked by its own build: `heddle check -- make run` runs the command with an nvcc that "
        "builds for the simulated GPU, and watches every program that the command runs. PATH, NVCC, CUDACXX, "
        "CUDA_HOME, "
        "CUDA_PATH and the like lead to that nvcc. The build writes where it always does, and its files are then those "
        "of the simulated GPU. `--cmake DIR` builds a CMake project in a temporary folder instead and runs every CUDA "
        "program of it. There is one report for all programs; each is run again by itself in other orders.\n\n"
        "A check is a test run, not a proof: code that the input does not reach is not checked.\n\n"
        "The program's host code runs on this machine, in a sandbox if the system supports one: the program may write "
        "only below the working folder and in a temporary folder of its own ($TMPDIR), and it has no network access. "
        "`heddle doctor` says which sandbox this machine has.\n\n"
        "A kernel of a file without main, such as a PyTorch extension, is launched on tensors that a line describes: "
        "--kernel, --args, --grid and --block. PyTorch need not be installed: host code that needs it is not compiled, "
        "and a note names it. --list-kernels prints a line for each kernel to start from.\n\n"
        "Otherwise, if no file has a main, the file must implement the operator that --op names. It defines a function "
        "with the "
        "operator's "
        "name. The parameters of the function are device pointers to the operands, then the fields of the shape:\n"
        "  void matmul(const float *a, const float *b, float *output, int m, int n, int k)\n"
        "`heddle ops NAME` lists operands and fields. Fields that have a default are optional: the "
        "function has parameters for all of them or for none.\n\n"
        "Exit codes:\n"
        "  0    no errors; with --strict or --grade, no warnings either; with --grade, a kernel was launched\n"
        "  1    errors, the build failed, the program's exit status was not 0, or nvcc did not finish\n"
        "  2    wrong usage\n"
        "  3    no C++ compiler\n"
        "  130  interrupted",
    .example = "heddle check reduce.cu\n"
               "heddle check main.cu kernels.cu -I include --gpu a100 -- 1024 1024\n"
               "heddle check -- make run\n"
               "heddle check --cmake . -- --size 64\n"
               "heddle check matmul.cu --op matmul --html matmul.html\n"
               "heddle check extension.cu --list-kernels\n"
               "heddle check scale.cu --kernel \"scale<float>\" --args \"x: float[99], n = 99\" --grid 1 --block 128\n"
               "heddle check --watch reduce.cu\n"
               "heddle check --grade --expect expected.txt homework.cu\n"
               "heddle check matmul.cu --op matmul --shape \"m=64 n=64 k=100\"",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
