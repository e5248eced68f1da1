// Answers as nvcc of CUDA 13 does.

#include "build/nvcc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewrite/text.h"

void sim_nvcc_print_version(void)
{
    puts("nvcc: NVIDIA (R) Cuda compiler driver\n"
         "Played by simcc of heddle " HEDDLE_VERSION ", which builds programs for the simulated GPU\n"
         "Cuda compilation tools, release 13.0, V13.0.88\n"
         "Build cuda_13.0.r13.0/heddle");
}

void sim_nvcc_print_code(void)
{
    puts("compute_75\ncompute_80\ncompute_86\ncompute_87\ncompute_89\ncompute_90\ncompute_100\ncompute_120");
}

// CMake takes the first word of the link line for the program that links, and the libraries from the rest.
void sim_nvcc_print_commands(const sim_command *command, const char *toolkit)
{
    const char *path = getenv("PATH"), *output = command->options.output;
    fprintf(stderr, "#$ TOP=%s\n", toolkit);
    fprintf(stderr, "#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n", toolkit);
    fprintf(stderr, "#$ PATH=%s/bin:%s\n", toolkit, path ? path : "");
    fprintf(stderr, "#$ INCLUDES=\"-I%s/include\"\n", toolkit);
    fprintf(stderr, "#$ LIBRARIES=  \"-L%s/lib64/stubs\" \"-L%s/lib64\"\n", toolkit, toolkit);
    for (const char *const *file = command->options.files; file && *file; file++)
        fprintf(stderr, "#$ cicc -arch compute_75 \"%s\"\n", *file);
    if (!command->options.compile_only)
        fprintf(stderr,
                "#$ \"%s/bin/nvcc\" -o \"%s\" -Wl,--start-group   \"-L%s/lib64/stubs\" \"-L%s/lib64\" -lcudadevrt "
                "-lcudart_static -lrt -lpthread -ldl -Wl,--end-group\n",
                toolkit, output ? output : "a.out", toolkit, toolkit);
}

static void add_path(sim_text *record, char what, const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole) {
        sim_text_add_bytes(record, &what, 1);
        sim_text_add_bytes(record, whole, strlen(whole) + 1);
    }
    free(whole);
}

void sim_nvcc_record(const sim_command *command)
{
    const char *file = getenv("SIM_BUILT");
    const sim_build_options *options = &command->options;
    sim_text record = {0};
    if (!file || !*file)
        return;
    for (const char *const *source = options->files; source && *source; source++)
        if (sim_build_is_source(*source))
            add_path(&record, 's', *source);
    for (const char *const *folder = options->include; folder && *folder; folder++)
        add_path(&record, 'i', *folder);
    // One call, so that builds with several compilers at once do not mix their lists.
    int to = record.at ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600) : -1;
    if (to >= 0 && write(to, record.at, record.bytes) != (ssize_t)record.bytes)
        fprintf(stderr, "simcc: the list of what was compiled cannot be written to %s (SIM_BUILT)\n", file);
    if (to >= 0)
        close(to);
    sim_text_free(&record);
}
