// Variables by which build tools find nvcc, and a cache that a hostile build cannot spoil for later checks.

#include "check/project_environment.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check/toolkit.h"
#include "sim/build/build.h"
#include "sim/build/home.h"

// --- variables -------------------------------------------------------------------------------------------------------

static heddle_status set(heddle_check_environment *environment, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = malloc(size);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to start the command");
    snprintf(text, size, "%s=%s", name, value);
    heddle_status status = heddle_check_strings_add(&environment->variables, text);
    free(text);
    return status;
}

static heddle_status set_joined(heddle_check_environment *environment, const char *name, const char *first,
                                const char *between, const char *second)
{
    size_t size = strlen(first) + strlen(between) + strlen(second) + 1;
    char *text = malloc(size);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to start the command");
    snprintf(text, size, "%s%s%s", first, between, second);
    heddle_status status = set(environment, name, text);
    free(text);
    return status;
}

// A list of folders with ours in front.
static heddle_status set_first(heddle_check_environment *environment, const char *name, const char *folder)
{
    const char *others = getenv(name);
    return set_joined(environment, name, folder, others && *others ? ":" : "", others ? others : "");
}

// Variables for make, " NAME=VALUE ...", behind what the person has set: variables come after "--".
static heddle_status set_make(heddle_check_environment *environment, const char *variables)
{
    const char *given = getenv("MAKEFLAGS");
    bool has_variables = given && (strncmp(given, "-- ", 3) == 0 || strstr(given, " -- "));
    return set_joined(environment, "MAKEFLAGS", given ? given : "", has_variables ? "" : " --", variables);
}

// By these names makefiles and CMake know where CUDA is. A makefile that sets one itself is overruled.
static const char *const roots[] = {"CUDA_PATH", "CUDA_HOME",         "CUDA_DIR",
                                    "CUDA_ROOT", "CUDA_INSTALL_PATH", "CUDA_TOOLKIT_PATH"};
enum { ROOTS = sizeof roots / sizeof *roots };

static heddle_status set_variables(heddle_check_environment *environment)
{
    char path[2 * HEDDLE_CHECK_PATH], flags[ROOTS * 2 * HEDDLE_CHECK_PATH] = "";
    const char *toolkit = environment->toolkit;
    snprintf(path, sizeof path, "%s/bin", toolkit);
    HEDDLE_TRY(set_first(environment, "PATH", path));
    snprintf(path, sizeof path, "%s/include", toolkit);
    HEDDLE_TRY(set_first(environment, "CPATH", path));
    snprintf(path, sizeof path, "%s/lib64", toolkit);
    HEDDLE_TRY(set_first(environment, "LIBRARY_PATH", path));
    snprintf(path, sizeof path, "%s/bin/nvcc", toolkit);
    HEDDLE_TRY(set(environment, "NVCC", path));
    HEDDLE_TRY(set(environment, "CUDACXX", path));
    HEDDLE_TRY(set(environment, "CMAKE_CUDA_COMPILER", path));
    HEDDLE_TRY(set(environment, "CUDAToolkit_ROOT", toolkit));
    for (int i = 0; i < ROOTS; i++) {
        size_t used = strlen(flags);
        HEDDLE_TRY(set(environment, roots[i], toolkit));
        snprintf(flags + used, sizeof flags - used, " %s=%s", roots[i], toolkit);
    }
    return strchr(toolkit, ' ') ? HEDDLE_OK : set_make(environment, flags);
}

// --- the cache -------------------------------------------------------------------------------------------------------

// Compiles nothing once, so that the usual headers are precompiled where every check finds them.
static heddle_status precompile(const heddle_check_state *state)
{
    char source[HEDDLE_CHECK_PATH], object[HEDDLE_CHECK_PATH];
    heddle_check_folder_path(&state->outer, "nothing.cu", source, sizeof source);
    heddle_check_folder_path(&state->outer, "nothing.o", object, sizeof object);
    HEDDLE_TRY(heddle_file_write_atomic(source, &(heddle_slice){"\n", 1}, 1));
    const char *const files[] = {source, NULL};
    sim_build_options options = {.files = files, .output = object, .compile_only = true, .folder = state->outer.path};
    sim_build_result result = {0};
    sim_build_status built = sim_build(&options, &result);
    heddle_status status = HEDDLE_OK;
    if (built == SIM_BUILD_NO_COMPILER)
        status = heddle_fail(HEDDLE_MISSING, "%s", result.count > 0 ? result.messages[0].text : "no C++ compiler");
    sim_build_result_free(&result);
    return status;
}

// Links to what is there already: what the command changes is in this folder alone.
static heddle_status link_cache(const char *from, const char *to)
{
    DIR *entries = opendir(from);
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        char there[PATH_MAX], here[PATH_MAX];
        snprintf(there, sizeof there, "%s/%s", from, entry->d_name);
        snprintf(here, sizeof here, "%s/%s", to, entry->d_name);
        if (entry->d_name[0] != '.' && symlink(there, here) != 0) {
            heddle_status status = heddle_fail(HEDDLE_IO, "%s: %s", here, strerror(errno));
            closedir(entries);
            return status;
        }
    }
    if (entries)
        closedir(entries);
    return HEDDLE_OK;
}

static heddle_status make_cache(heddle_check_environment *environment, const heddle_check_state *state)
{
    char kept[HEDDLE_CHECK_PATH];
    HEDDLE_TRY(precompile(state));
    if (!state->options->sandbox || !sim_home_cache(kept, sizeof kept))
        return HEDDLE_OK;
    heddle_check_folder_path(&state->outer, "cache", environment->cache, sizeof environment->cache);
    HEDDLE_TRY(heddle_folder_create(environment->cache));
    HEDDLE_TRY(link_cache(kept, environment->cache));
    return set(environment, "SIM_CACHE", environment->cache);
}

// --- both ------------------------------------------------------------------------------------------------------------

static void add_folder(heddle_check_environment *environment, const char *folder)
{
    if (environment->folder_count < HEDDLE_CHECK_PROJECT_FOLDERS && folder[0])
        snprintf(environment->folders[environment->folder_count++], HEDDLE_CHECK_PATH, "%s", folder);
}

heddle_status heddle_check_environment_make(heddle_check_environment *environment, const heddle_check_state *state,
                                            const char *build)
{
    HEDDLE_TRY(heddle_check_toolkit_make(state->outer.path, environment->toolkit, sizeof environment->toolkit));
    HEDDLE_TRY(set_variables(environment));
    HEDDLE_TRY(make_cache(environment, state));
    heddle_check_folder_path(&state->folder, "compiled", environment->record, sizeof environment->record);
    HEDDLE_TRY(set(environment, "SIM_BUILT", environment->record));
    add_folder(environment, state->folder.path);
    add_folder(environment, environment->cache);
    add_folder(environment, build);
    return HEDDLE_OK;
}

void heddle_check_environment_free(heddle_check_environment *environment)
{
    heddle_check_strings_free(&environment->variables);
}

heddle_status heddle_check_environment_sandbox(const heddle_check_environment *environment, const char *own,
                                               const heddle_check_options *options, const heddle_check_output *output,
                                               heddle_sandbox *sandbox)
{
    const char *folders[HEDDLE_CHECK_PROJECT_FOLDERS + 3] = {".", own};
    for (int i = 0; i < environment->folder_count; i++)
        folders[i + 2] = environment->folders[i];
    int to = output->program >= 0 ? output->program : options->output;
    int errors = output->program >= 0 ? output->errors : options->errors;
    const int files[] = {to >= 0 ? to : errors, errors, -1};
    return heddle_sandbox_open(sandbox, folders, files);
}
