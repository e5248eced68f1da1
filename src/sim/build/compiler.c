// Finds a compiler and knows its options.

#include "build/compiler.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/process.h"
#include "source/lexer.h"

enum { OLDEST_GCC = 10, NEWEST_GCC = 16, OLDEST_CLANG = 14, NEWEST_CLANG = 22 };

void sim_arguments_add(sim_arguments *arguments, const char *argument)
{
    if (!argument || !sim_array_grow(&arguments->at, arguments->count + 1, &arguments->room, sizeof *arguments->at)) {
        arguments->failed = true;
        return;
    }
    arguments->at[arguments->count++] = argument;
    arguments->at[arguments->count] = NULL;
}

void sim_arguments_add_list(sim_arguments *arguments, const char *const *list)
{
    for (; list && *list; list++)
        sim_arguments_add(arguments, *list);
}

void sim_arguments_free(sim_arguments *arguments)
{
    free(arguments->at);
    *arguments = (sim_arguments){0};
}

// --- finding ---------------------------------------------------------------------------------------------------------

static bool find_program(const char *name, char *path, size_t room)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 && (size_t)snprintf(path, room, "%s", name) < room;
    const char *folders = getenv("PATH");
    for (folders = folders ? folders : "/usr/bin:/bin"; *folders;) {
        int length = (int)strcspn(folders, ":");
        if (length && (size_t)snprintf(path, room, "%.*s/%s", length, folders, name) < room && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

// Asks the program what it is: "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6".
static bool identify(sim_compiler *compiler)
{
    const char *const arguments[] = {compiler->path, "--version", NULL};
    sim_text said = {0};
    bool fine = sim_process_run(arguments, &said, NULL) == 0 && said.at;
    if (fine) {
        char *line_end = strchr(said.at, '\n');
        if (line_end)
            *line_end = 0;
        const char *clang = strstr(said.at, "clang version ");
        const char *number = clang ? clang + strlen("clang version ") : strrchr(said.at, ')');
        while (number && *number && (*number < '0' || *number > '9'))
            number++;
        compiler->clang = clang != NULL;
        compiler->version = number ? (int)strtol(number, NULL, 10) : 0;
    }
    sim_text_free(&said);
    return fine && compiler->version > 0;
}

static bool try_name(sim_compiler *compiler, const char *name)
{
    return find_program(name, compiler->path, sizeof compiler->path) && identify(compiler);
}

static bool try_family(sim_compiler *compiler, const char *name, int oldest, int newest)
{
    if (try_name(compiler, name) && compiler->version >= oldest)
        return true;
    for (int version = newest; version >= oldest; version--) {
        char numbered[64];
        snprintf(numbered, sizeof numbered, "%s-%d", name, version);
        if (try_name(compiler, numbered))
            return true;
    }
    return false;
}

bool sim_compiler_find(sim_compiler *compiler, const char *wanted)
{
    *compiler = (sim_compiler){0};
    bool gcc = !wanted || strcmp(wanted, "gcc") == 0 || strcmp(wanted, "g++") == 0;
    bool clang = !wanted || strcmp(wanted, "clang") == 0 || strcmp(wanted, "clang++") == 0;
    if (gcc && try_family(compiler, "g++", OLDEST_GCC, NEWEST_GCC))
        return true;
    if (clang && try_family(compiler, "clang++", OLDEST_CLANG, NEWEST_CLANG))
        return true;
    return !gcc && !clang && try_name(compiler, wanted);
}

const char *sim_compiler_linker(void)
{
    char path[4096];
    return find_program("ld.gold", path, sizeof path) ? "-fuse-ld=gold" : NULL;
}

// --- options ---------------------------------------------------------------------------------------------------------

// Why each: a barrier must stay the call it was (sibling calls, crossjumping, tail merging, identical functions made
// one); __shared__ must need no initialiser (extern-tls-init); a loop that waits must not vanish (finite-loops); one
// buffer is read as many types (strict-aliasing); an index that overflows wraps, as on a GPU (wrapv).
static const char *const gcc_always[] = {"-fno-extern-tls-init", "-fno-optimize-sibling-calls",
                                         "-fno-crossjumping",    "-fno-tree-tail-merge",
                                         "-fno-ipa-icf",         NULL};
// Accesses as they were written: a float4 is one access (sra), a read above the if that uses it stays there (sink), a
// loop's body is one place (unrolling, vectors), and code lies in the order of the source, by which lanes that have
// parted are brought together again (reorder); memcpy and its kin stay calls, because the code they are turned into
// otherwise has no hooks (builtin); and a shared array that nobody fills is read all the same, instead of being taken
// for zeros (reference-addressable). A switch has no table of jumps, whose bytes could not reach over the checks that
// build/checks.c puts in (jump-tables).
static const char *const gcc_watched[] = {"-O2",
                                          "-fsanitize=thread",
                                          "-U__SANITIZE_THREAD__",
                                          "-DSIM_WATCHED=1",
                                          "-fsanitize=bounds",
                                          "-fno-tree-sra",
                                          "-fno-ipa-sra",
                                          "-fno-ipa-reference-addressable",
                                          "-fno-tree-sink",
                                          "-fno-tree-vectorize",
                                          "-fno-unroll-loops",
                                          "-fno-section-anchors",
                                          "-fno-jump-tables",
                                          "-fno-reorder-blocks",
                                          "-fno-reorder-blocks-and-partition",
                                          "-fno-builtin-memcpy",
                                          "-fno-builtin-memmove",
                                          "-fno-builtin-memset",
                                          NULL};
// Since gcc 11; what 10 calls at the entry and exit of functions does nothing.
static const char *const gcc_watched_later[] = {"--param", "tsan-instrument-func-entry-exit=0", "--param",
                                                "tsan-distinguish-volatile=1", NULL};
// The same (code-sinking); and accesses of two branches are not made one, which would have no line (common-insts,
// tail-merge); loads of vectors stay whole where only their elements are used (vector-combine, build/copies.h).
static const char *const clang_watched[] = {"-O2",
                                            "-fsanitize=thread,array-bounds",
                                            "-fno-vectorize",
                                            "-fno-slp-vectorize",
                                            "-fno-unroll-loops",
                                            "-fno-jump-tables",
                                            "-mllvm",
                                            "-tsan-instrument-read-before-write=1",
                                            "-mllvm",
                                            "-tsan-instrument-func-entry-exit=0",
                                            "-mllvm",
                                            "-tsan-distinguish-volatile=1",
                                            "-mllvm",
                                            "-disable-vector-combine",
                                            "-mllvm",
                                            "-hoist-common-insts=0",
                                            "-mllvm",
                                            "-sink-common-insts=0",
                                            "-mllvm",
                                            "-enable-tail-merge=0",
                                            "-mllvm",
                                            "-instcombine-code-sinking=0",
                                            NULL};
// The library's checked memcpy and its kin (some systems turn them on by themselves) are builtins by another name,
// which become code without hooks. -Wp: the preprocessor sees it after all that the program's own options define.
static const char *const always[] = {"-std=c++17",
                                     "-gdwarf-4",
                                     "-g1",
                                     "-ffp-contract=fast",
                                     "-fno-finite-loops",
                                     "-fno-strict-aliasing",
                                     "-fwrapv",
                                     "-pthread",
                                     "-U_FORTIFY_SOURCE", // where the driver itself would turn them on
                                     "-Wp,-U_FORTIFY_SOURCE",
                                     "-w",
                                     NULL};

void sim_compiler_flags(const sim_compiler *compiler, bool watched, bool shared, sim_arguments *arguments)
{
    sim_arguments_add_list(arguments, always);
    if (compiler->clang) {
        sim_arguments_add(arguments, "-fno-optimize-sibling-calls");
        if (watched)
            sim_arguments_add_list(arguments, clang_watched);
    } else {
        sim_arguments_add_list(arguments, gcc_always);
        if (watched)
            sim_arguments_add_list(arguments, gcc_watched);
        if (watched && compiler->version > OLDEST_GCC)
            sim_arguments_add_list(arguments, gcc_watched_later);
    }
    if (!watched)
        sim_arguments_add(arguments, "-O3");
    sim_arguments_add(arguments, shared ? "-fPIC" : "-fPIE");
}

// Of what the lowest level leaves out, small functions inside others are what kernels are slow without. Registers are
// allocated for a whole function at once (ira-region), which saves a twentieth of the time.
void sim_compiler_flags_quick(const sim_compiler *compiler, sim_arguments *arguments)
{
    static const char *const gcc_quick[] = {"-finline-small-functions", "-findirect-inlining", "-fpartial-inlining",
                                            "-fira-region=one", NULL};
    sim_arguments_add(arguments, compiler->clang ? "-O1" : "-Og");
    if (!compiler->clang)
        sim_arguments_add_list(arguments, gcc_quick);
}
