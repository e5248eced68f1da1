// `heddle bench FILE.cu` for a file with a kernel and no host code: NVRTC compiles it in a fraction of nvcc's time, and
// it is launched as the comment in the file says (check/launch.h).

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "check/fields.h"
#include "check/operator.h"
#include "check/sources.h"
#include "cli/bench.h"
#include "device/backend.h"
#include "ops/cuda/kernel_file.h"

enum {
    MOST_ARGUMENTS = 2 * HEDDLE_MAX_OPERANDS + HEDDLE_MAX_SHAPE_BYTES / (int)sizeof(int),
};

#define FLAG "heddle_yours_complete"

// A launcher gets nothing but the call, so the kernel is found here. The command measures one file.
static heddle_check_job job;
static const heddle_cuda_kernel_functions *functions;
static heddle_cuda_kernel *kernel;
static int complete; // it also takes the fields that have a default

// --- the lines behind the file ---------------------------------------------------------------------------------------

static bool is_passed(const heddle_field *field, bool with_usual)
{
    return with_usual || isnan(field->initial);
}

static void print_type(const char *name, bool with_usual, FILE *file)
{
    const heddle_op *op = job.op;
    fprintf(file, "typedef void %s(", name);
    for (int i = 0; i < op->operand_count; i++)
        fprintf(file, "%s%s%s *", i > 0 ? ", " : "", op->operands[i].role == HEDDLE_INPUT ? "const " : "",
                heddle_check_c_type(op->operands[i].dtype));
    for (int i = 0; i < op->field_count; i++)
        if (is_passed(&op->fields[i], with_usual))
            fprintf(file, ", %s", op->fields[i].kind == HEDDLE_FIELD_INT ? "int" : "float");
    fprintf(file, ");\n");
}

// The driver takes arguments as bytes, so the kernel's type must be exactly one of the two that are allowed.
static void print_test(FILE *file)
{
    char signature[2048];
    fprintf(file, "\n#line 1 \"heddle\"\n"
                  "template <class A, class B> struct heddle_same { static constexpr bool value = false; };\n"
                  "template <class A> struct heddle_same<A, A> { static constexpr bool value = true; };\n");
    print_type("heddle_type_complete", true, file);
    print_type("heddle_type_short", false, file);
    fprintf(file,
            "static_assert(heddle_same<decltype(%s), heddle_type_complete>::value ||\n"
            "              heddle_same<decltype(%s), heddle_type_short>::value, \"the kernel should be %s\");\n"
            "extern \"C\" __device__ int " FLAG " = heddle_same<decltype(%s), heddle_type_complete>::value;\n",
            job.function, job.function,
            heddle_check_job_signature(job.op, job.function, false, signature, sizeof signature), job.function);
}

static heddle_status make_text(const char *path, char **text)
{
    char *source = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, HEDDLE_CHECK_LARGEST_SOURCE, &source, &size));
    FILE *file = open_memstream(text, &size);
    if (file) {
        fputs(source, file);
        print_test(file);
    }
    free(source);
    if (!file || fclose(file) != 0)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the text of %s", path);
    return HEDDLE_OK;
}

// --- life ------------------------------------------------------------------------------------------------------------

static heddle_status find_functions(heddle_device *device)
{
    Dl_info module;
    void *object = dladdr((const void *)device->backend, &module) && module.dli_fname
                       ? dlopen(module.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                       : NULL;
    functions = object ? dlsym(object, HEDDLE_CUDA_KERNEL_FUNCTIONS) : NULL;
    if (object)
        dlclose(object); // it stays loaded: the device is open
    return functions ? HEDDLE_OK
                     : heddle_fail(HEDDLE_MISSING,
                                   "heddle was built without NVRTC, which a kernel without host code needs; rebuild "
                                   "where nvrtc.h is installed, or add a function that launches the kernel");
}

heddle_status heddle_cli_bench_kernel_open(const heddle_check_job *prepared, const char *path, heddle_device *device,
                                           bool *takes_all)
{
    char *text = NULL, *log = NULL;
    job = *prepared;
    HEDDLE_TRY(find_functions(device));
    HEDDLE_TRY(make_text(path, &text));
    const heddle_cuda_kernel_source source = {path, text, job.function, "&" FLAG};
    heddle_status status = functions->open(device, &source, &kernel, &complete, &log);
    if (log)
        fprintf(stderr, "%s", log);
    free(log);
    free(text);
    *takes_all = complete != 0;
    return status;
}

void heddle_cli_bench_kernel_close(void)
{
    if (kernel)
        functions->close(kernel);
    kernel = NULL;
}

heddle_status heddle_cli_bench_kernel_launch(const heddle_call *call)
{
    const heddle_op *op = job.op;
    heddle_check_launch launch;
    void *operand[2 * HEDDLE_MAX_OPERANDS], *arguments[MOST_ARGUMENTS];
    union {
        int whole;
        float real;
    } field[HEDDLE_MAX_SHAPE_BYTES / sizeof(int)];
    int count = 0;
    HEDDLE_TRY(heddle_check_launch_read(job.launch, op, call->shape, &launch));
    if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0)
        return HEDDLE_OK;
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        bool output = heddle_operand_slot(op, i, &slot);
        operand[i] = output ? call->output[slot] : (void *)call->input[slot];
        arguments[count++] = &operand[i];
    }
    for (int i = 0; i < op->field_count; i++) {
        double value = heddle_check_field_value(&op->fields[i], call->shape);
        if (!is_passed(&op->fields[i], complete))
            continue;
        if (op->fields[i].kind == HEDDLE_FIELD_INT)
            field[i].whole = (int)value;
        else
            field[i].real = (float)value;
        arguments[count++] = &field[i];
    }
    return functions->launch(kernel, call, launch.grid, launch.block, launch.shared, arguments);
}
