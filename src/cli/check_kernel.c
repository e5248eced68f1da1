// The options of a kernel that heddle launches itself.

#include "cli/check_kernel.h"

#include <stdio.h>

#include "base/file.h"
#include "check/extension.h"
#include "cli/cli.h"

heddle_status heddle_cli_check_kernel_refuse(const heddle_check_settings *settings)
{
    const struct {
        const char *name;
        bool given;
    } alone[] = {
        {"--args", settings->args},     {"--grid", settings->grid},           {"--block", settings->block},
        {"--shared", settings->shared}, {"--reference", settings->reference}, {"--tolerance", settings->tolerance >= 0},
    };
    for (size_t i = 0; i < sizeof alone / sizeof *alone && !settings->kernel; i++)
        if (alone[i].given)
            return heddle_fail(HEDDLE_INVALID,
                               "%s goes with --kernel NAME, a kernel of the file; --list-kernels lists them",
                               alone[i].name);
    if (!settings->kernel && settings->expect.count > 1)
        return heddle_fail(HEDDLE_INVALID, "--expect may be repeated only with --kernel, once for each output");
    if ((settings->kernel || settings->driver) && settings->op)
        return heddle_fail(HEDDLE_INVALID, "--op does not go with %s", settings->kernel ? "--kernel" : "--driver");
    if ((settings->kernel || settings->driver) && settings->nvcc)
        return heddle_fail(HEDDLE_INVALID, "--nvcc does not go with %s: the file is not compiled as a whole",
                           settings->kernel ? "--kernel" : "--driver");
    return HEDDLE_OK;
}

int heddle_cli_check_kernel_list(const heddle_cli_arguments *arguments, const char *const *folders)
{
    if (arguments->count == 0)
        return heddle_cli_fail(heddle_fail(HEDDLE_INVALID, "--list-kernels: name the files to look at"));
    for (int i = 0; i < arguments->count; i++)
        if (!heddle_file_exists(arguments->items[i]))
            return heddle_cli_fail(heddle_fail(HEDDLE_INVALID, "%s: no such file", arguments->items[i]));
    const char *files[HEDDLE_CHECK_MOST_KERNELS + 1] = {NULL};
    for (int i = 0; i < arguments->count && i < HEDDLE_CHECK_MOST_KERNELS; i++)
        files[i] = arguments->items[i];
    heddle_status status = heddle_check_extension_list(files, folders, heddle_cli_name(), stdout);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}
