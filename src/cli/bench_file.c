// `heddle bench FILE.cu`: the user's own kernel as a rung called `yours`. The file is one that `heddle check --op`
// takes: a function with the operator's name that takes device pointers and the shape. nvcc makes a shared object of
// it, with a few lines around it that pass the operands on.
//
// A function whose last parameter is a cudaStream_t launches there. Any other runs on the default stream; events make
// it wait for our stream and our stream for it, which adds a few microseconds to its time. If the function is a kernel,
// bench_kernel.c compiles and launches it.

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/place.h"
#include "base/text.h"
#include "bench/bench.h"
#include "check/child.h"
#include "check/fields.h"
#include "check/folder.h"
#include "check/operator.h"
#include "cli/bench.h"
#include "device/backend.h"

typedef int function_type(const heddle_call *call, const void *const *input, void *const *output, const double *field);
typedef const char *error_type(int error);

struct heddle_cli_bench_file {
    heddle_op op; // the registry's, with one more rung
    heddle_rung *ladder;
    heddle_check_folder folder;
    void *object;
    bool kernel; // handled by bench_kernel.c
};

// A launcher gets nothing but the call, so the function is found here. The command measures one file.
static const heddle_op *yours;
static function_type *function;
static error_type *error_text;

static heddle_status launch(const heddle_call *call)
{
    double field[HEDDLE_MAX_SHAPE_BYTES / sizeof(int)];
    for (int i = 0; i < yours->field_count; i++)
        field[i] = heddle_check_field_value(&yours->fields[i], call->shape);
    int error = function(call, call->input, call->output, field);
    return error ? heddle_fail(HEDDLE_DEVICE, "yours: %s", error_text(error)) : HEDDLE_OK;
}

static bool supports_usual(const void *shape)
{
    return heddle_check_usual_shape(yours, shape);
}

// --- the lines around the file ---------------------------------------------------------------------------------------

// Prints operands and fields as arguments, or as their types. `complete`: also fields that have a default.
static void print_arguments(const heddle_op *op, bool complete, bool types, FILE *file)
{
    int inputs = 0, outputs = 0;
    for (int i = 0; i < op->operand_count; i++) {
        bool input = op->operands[i].role == HEDDLE_INPUT;
        const char *type = heddle_check_c_type(op->operands[i].dtype), *begin = i > 0 ? ", " : "";
        if (types)
            fprintf(file, "%s%s%s *", begin, input ? "const " : "", type);
        else
            fprintf(file, "%s(%s%s *)%s[%d]", begin, input ? "const " : "", type, input ? "input" : "output",
                    input ? inputs++ : outputs++);
    }
    for (int i = 0; i < op->field_count; i++) {
        const char *type = op->fields[i].kind == HEDDLE_FIELD_INT ? "int" : "float";
        if (!complete && !isnan(op->fields[i].initial))
            continue;
        if (types)
            fprintf(file, ", %s", type);
        else
            fprintf(file, ", (%s)field[%d]", type, i);
    }
}

// A branch for a function of this form; the compiler takes the one that fits.
static void print_form(const heddle_op *op, bool complete, bool stream, FILE *file)
{
    fprintf(file, "    else if constexpr (std::is_invocable_v<F, ");
    print_arguments(op, complete, true, file);
    fprintf(file, "%s>) {\n", stream ? ", cudaStream_t" : "");
    fprintf(file, stream ? "" : "        heddle_enter(stream);\n");
    fprintf(file, "        function(");
    print_arguments(op, complete, false, file);
    fprintf(file, stream ? ", stream);\n" : ");\n        heddle_leave(stream);\n");
    fprintf(file, "    }\n");
}

static void print_driver(const heddle_op *op, const char *function_name, const char *source, FILE *file)
{
    fprintf(file, "#include <type_traits>\n#include <cuda_runtime.h>\n#include \"%s\"\n\n", source);
    fputs("struct heddle_call;\n"
          "cudaStream_t heddle_cuda_stream_of(const heddle_call *call);\n\n"
          "static cudaEvent_t heddle_before, heddle_after;\n\n"
          "static void heddle_enter(cudaStream_t stream)\n"
          "{\n"
          "    if (!heddle_before) {\n"
          "        cudaEventCreateWithFlags(&heddle_before, cudaEventDisableTiming);\n"
          "        cudaEventCreateWithFlags(&heddle_after, cudaEventDisableTiming);\n"
          "    }\n"
          "    cudaEventRecord(heddle_before, stream);\n"
          "    cudaStreamWaitEvent(cudaStreamLegacy, heddle_before, 0);\n"
          "}\n\n"
          "static void heddle_leave(cudaStream_t stream)\n"
          "{\n"
          "    cudaEventRecord(heddle_after, cudaStreamLegacy);\n"
          "    cudaStreamWaitEvent(stream, heddle_after, 0);\n"
          "}\n\n"
          "template <class F>\n"
          "static void heddle_run(F function, const void *const *input, void *const *output, const double *field,\n"
          "                       cudaStream_t stream)\n"
          "{\n"
          "    if constexpr (false) {\n"
          "    }\n",
          file);
    for (int form = 0; form < 4; form++)
        print_form(op, form < 2, form % 2 == 0, file);
    fprintf(file,
            "    else\n        static_assert(std::is_void_v<F>, \"the parameters of %s do not match the "
            "operator\");\n}\n\n",
            function_name);
    fprintf(file,
            "extern \"C\" __attribute__((visibility(\"default\"))) extern const int heddle_yours_complete =\n"
            "    std::is_invocable_v<decltype(&%s), ",
            function_name);
    print_arguments(op, true, true, file);
    fprintf(file, ", cudaStream_t> || std::is_invocable_v<decltype(&%s), ", function_name);
    print_arguments(op, true, true, file);
    fprintf(file,
            ">;\n\n"
            "extern \"C\" __attribute__((visibility(\"default\"))) const char *heddle_yours_error(int error)\n"
            "{\n    return cudaGetErrorString((cudaError_t)error);\n}\n\n"
            "extern \"C\" __attribute__((visibility(\"default\"))) int heddle_yours(\n"
            "    const heddle_call *call, const void *const *input, void *const *output, const double *field)\n"
            "{\n    heddle_run(&%s, input, output, field, heddle_cuda_stream_of(call));\n"
            "    return (int)cudaGetLastError();\n}\n",
            function_name);
}

static heddle_status write_driver(const heddle_op *op, const char *function_name, const char *source, const char *path)
{
    char whole[PATH_MAX];
    if (!realpath(source, whole))
        return heddle_fail(HEDDLE_IO, "%s: %s", source, strerror(errno));
    FILE *file = fopen(path, "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    print_driver(op, function_name, whole, file);
    return fclose(file) == 0 ? HEDDLE_OK : heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
}

// --- compiling -------------------------------------------------------------------------------------------------------

static heddle_status compile(heddle_device *device, const char *source, const char *driver, const char *object)
{
    static const double longest = 600; // seconds
    heddle_device_info info = {0};
    char nvcc[HEDDLE_PLACE_SIZE], architecture[64];
    Dl_info module;
    HEDDLE_TRY(heddle_device_describe(device, &info));
    if (!heddle_find_nvcc(nvcc))
        return heddle_fail(HEDDLE_MISSING, "nvcc not found: install the CUDA toolkit, or add its bin folder to PATH");
    if (!dladdr((const void *)device->backend, &module))
        return heddle_fail(HEDDLE_INTERNAL, "the device's module cannot be found");
    // Hopper's specific instructions need the architecture's specific name.
    const char *special = info.capability >= 90 ? "a" : "";
    snprintf(architecture, sizeof architecture, "arch=compute_%d%s,code=sm_%d%s", info.capability, special,
             info.capability, special);
    const char *const argv[] = {nvcc,      "-std=c++17", "-O3",   "-lineinfo", "-gencode",       architecture,
                                "-shared", "-Xcompiler", "-fPIC", driver,      module.dli_fname, "-o",
                                object,    NULL};
    heddle_child_options options = {
        .argv = (char *const *)argv, .input = -1, .output = STDERR_FILENO, .errors = STDERR_FILENO, .seconds = longest};
    heddle_child child;
    HEDDLE_TRY(heddle_child_start(&child, &options));
    heddle_child_wait(&child, -1);
    if (child.end != HEDDLE_CHILD_EXITED || child.code != 0)
        return heddle_fail(HEDDLE_CORRUPT, "%s: nvcc failed; see its messages above", source);
    return HEDDLE_OK;
}

// The ladder with the file's rung at its end.
static heddle_status add_rung(heddle_cli_bench_file *file, heddle_status (*launcher)(const heddle_call *),
                              bool complete)
{
    const heddle_op *op = yours;
    file->ladder = calloc((size_t)op->rungs + 1, sizeof *file->ladder);
    if (!file->ladder)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a ladder");
    memcpy(file->ladder, op->ladder, (size_t)op->rungs * sizeof *file->ladder);
    file->ladder[op->rungs] = (heddle_rung){
        .name = "yours",
        .device = HEDDLE_CUDA,
        .tier = HEDDLE_TUNED,
        .launch = launcher,
        .note = "the file on the command line",
        .supports = complete ? NULL : supports_usual,
    };
    file->op = *op;
    file->op.ladder = file->ladder;
    file->op.rungs = op->rungs + 1;
    return HEDDLE_OK;
}

static heddle_status load(heddle_cli_bench_file *file, const char *object)
{
    file->object = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!file->object)
        return heddle_fail(HEDDLE_CORRUPT, "%s", dlerror());
    *(void **)&function = dlsym(file->object, "heddle_yours"); // ISO C has no cast from object to function
    *(void **)&error_text = dlsym(file->object, "heddle_yours_error");
    const int *complete = dlsym(file->object, "heddle_yours_complete");
    if (!function || !error_text || !complete)
        return heddle_fail(HEDDLE_INTERNAL, "the object that nvcc built lacks a function: %s", dlerror());
    return add_rung(file, launch, *complete);
}

// --- life ------------------------------------------------------------------------------------------------------------

heddle_status heddle_cli_bench_file_device(const char *path, const heddle_cli_bench_settings *settings,
                                           heddle_cli_device *device)
{
    const char *const sources[] = {path, NULL};
    char quoted[PATH_MAX], check[HEDDLE_BENCH_MESSAGE];
    if (access(path, R_OK) != 0)
        return heddle_fail(HEDDLE_INVALID, "%s: %s", path, strerror(errno));
    const heddle_op *op = settings->op ? NULL : heddle_check_op_suggest(sources);
    snprintf(check, sizeof check, "`heddle check %s --op %s` checks it without a GPU",
             heddle_text_quote(path, quoted, sizeof quoted),
             settings->op ? settings->op
             : op         ? op->name
                          : "NAME");
    if (settings->device && strcmp(settings->device, "sim") == 0)
        return heddle_fail(HEDDLE_INVALID, "timing %s needs a real GPU; %s", path, check);
    HEDDLE_TRY(heddle_cli_device_open(settings->device, settings->threads, check, device));
    if (device->kind != HEDDLE_CUDA)
        return heddle_fail(HEDDLE_MISSING, "timing %s needs a GPU; %s", path, check);
    return HEDDLE_OK;
}

static heddle_status find_op(const char *path, const char *name, const heddle_op **op)
{
    const char *const sources[] = {path, NULL};
    if (name)
        return heddle_check_op_find(name, op);
    *op = heddle_check_op_suggest(sources);
    if (!*op)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: no function has the name of an operator; name the operator with --op NAME", path);
    return HEDDLE_OK;
}

heddle_status heddle_cli_bench_file_op(const char *path, const char *name, const char **found)
{
    HEDDLE_TRY(find_op(path, name, &yours));
    *found = yours->name;
    return HEDDLE_OK;
}

static heddle_status build(heddle_cli_bench_file *file, const char *path, heddle_device *device)
{
    const char *const sources[] = {path, NULL};
    heddle_check_job job;
    char driver[PATH_MAX], object[PATH_MAX];
    HEDDLE_TRY(heddle_check_job_prepare(&job, yours, sources, 1));
    if (job.launch[0]) {
        bool complete;
        file->kernel = true;
        HEDDLE_TRY(heddle_cli_bench_kernel_open(&job, path, device, &complete));
        return add_rung(file, heddle_cli_bench_kernel_launch, complete);
    }
    HEDDLE_TRY(heddle_check_folder_create(&file->folder, false));
    heddle_check_folder_path(&file->folder, "yours.cu", driver, sizeof driver);
    heddle_check_folder_path(&file->folder, "yours.so", object, sizeof object);
    HEDDLE_TRY(write_driver(yours, job.function, path, driver));
    HEDDLE_TRY(compile(device, path, driver, object));
    return load(file, object);
}

heddle_status heddle_cli_bench_file_open(const char *path, heddle_device *device, heddle_cli_bench_file **opened,
                                         const heddle_op **op)
{
    heddle_cli_bench_file *file = calloc(1, sizeof *file);
    if (!file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %s", path);
    heddle_status status = build(file, path, device);
    if (status != HEDDLE_OK) {
        heddle_cli_bench_file_close(file);
        return status;
    }
    *opened = file;
    *op = &file->op;
    return HEDDLE_OK;
}

void heddle_cli_bench_file_close(heddle_cli_bench_file *file)
{
    if (!file)
        return;
    if (file->object)
        dlclose(file->object);
    if (file->kernel)
        heddle_cli_bench_kernel_close();
    if (file->folder.path[0])
        heddle_check_folder_release(&file->folder);
    free(file->ladder);
    free(file);
}
