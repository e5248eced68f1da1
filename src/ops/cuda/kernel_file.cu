// NVRTC and the driver's launch, both looked up at run time: a machine without them keeps everything else.

#include "ops/cuda/kernel_file.h"

#if !defined(HEDDLE_SIM_MODULE) && __has_include(<nvrtc.h>) // a toolkit may come without it

#include <cuda.h>
#include <dlfcn.h>
#include <limits.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda/cuda.h"
#include "ops/cuda/rung.h"

enum {
    USUAL_SHARED = 48 << 10, // bytes; a kernel that needs more has to request it
    HOPPER = 90,             // from here on an architecture's own instructions need its own name: sm_90a
};

#define EACH_OF_NVRTC(X)                                                                                               \
    X(nvrtcCreateProgram)                                                                                              \
    X(nvrtcAddNameExpression)                                                                                          \
    X(nvrtcCompileProgram)                                                                                             \
    X(nvrtcGetProgramLogSize)                                                                                          \
    X(nvrtcGetProgramLog)                                                                                              \
    X(nvrtcGetLoweredName) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcDestroyProgram) X(nvrtcGetErrorString)
// By the names that the header gives them: cuModuleGetGlobal is cuModuleGetGlobal_v2 in the library.
#define EACH_OF_DRIVER(X)                                                                                              \
    X(cuModuleLoadData)                                                                                                \
    X(cuModuleUnload)                                                                                                  \
    X(cuModuleGetFunction)                                                                                             \
    X(cuModuleGetGlobal) X(cuMemcpyDtoH) X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuGetErrorString)

#define AS_TEXT(name) #name
#define NAME_OF(name) AS_TEXT(name)
#define MEMBER(name)  decltype(&::name) name##_;
#define FIND(name)    {NAME_OF(name), (void **)&library.name##_},

static struct {
    EACH_OF_NVRTC(MEMBER)
    EACH_OF_DRIVER(MEMBER)
} library;

struct heddle_cuda_kernel {
    CUmodule module;
    CUfunction function;
};

// --- finding the libraries -------------------------------------------------------------------------------------------

typedef struct symbol {
    const char *name;
    void **place;
} symbol;

static heddle_status find_all(const char *what, const char *const *files, const symbol *symbols)
{
    void *object = NULL;
    for (int i = 0; files[i] && !object; i++)
        object = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return heddle_cuda_fail(HEDDLE_MISSING,
                                "%s not found: install NVRTC of the CUDA toolkit, or give the file a function that "
                                "launches its kernel, which nvcc compiles",
                                what);
    for (int i = 0; symbols[i].name; i++)
        if (!(*symbols[i].place = dlsym(object, symbols[i].name)))
            return heddle_cuda_fail(HEDDLE_MISSING, "%s is too old: it has no %s", what, symbols[i].name);
    return HEDDLE_OK;
}

static heddle_status load_libraries(void)
{
    static const char *const nvrtc_files[] = {"libnvrtc.so", "libnvrtc.so." NAME_OF(__CUDACC_VER_MAJOR__),
                                              "/usr/local/cuda/lib64/libnvrtc.so",
                                              "/usr/local/cuda/lib64/libnvrtc.so." NAME_OF(__CUDACC_VER_MAJOR__), NULL};
    static const char *const driver_files[] = {"libcuda.so.1", NULL};
    static const symbol nvrtc[] = {EACH_OF_NVRTC(FIND){NULL, NULL}};
    static const symbol driver[] = {EACH_OF_DRIVER(FIND){NULL, NULL}};
    HEDDLE_TRY(find_all("libnvrtc.so", nvrtc_files, nvrtc));
    return find_all("libcuda.so.1", driver_files, driver);
}

static heddle_status nvrtc_checked(nvrtcResult result, const char *what)
{
    if (result == NVRTC_SUCCESS)
        return HEDDLE_OK;
    return heddle_cuda_fail(HEDDLE_DEVICE, "NVRTC: %s: %s", what, library.nvrtcGetErrorString_(result));
}

static heddle_status driver_checked(CUresult result, const char *what)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS)
        return HEDDLE_OK;
    library.cuGetErrorString_(result, &text);
    return heddle_cuda_fail(HEDDLE_DEVICE, "yours: %s: %s", what, text ? text : "an unknown error");
}

// --- compiling -------------------------------------------------------------------------------------------------------

static void read_log(nvrtcProgram program, char **log)
{
    size_t size = 0;
    if (library.nvrtcGetProgramLogSize_(program, &size) != NVRTC_SUCCESS || size <= 1)
        return;
    *log = (char *)malloc(size);
    if (*log && library.nvrtcGetProgramLog_(program, *log) != NVRTC_SUCCESS)
        (*log)[0] = '\0';
}

static heddle_status compile(nvrtcProgram program, const heddle_cuda_kernel_source *source, int capability, char **log)
{
    char architecture[64], beside[PATH_MAX + 32];
    const char *slash = strrchr(source->path, '/');
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%s", capability,
             capability >= HOPPER ? "a" : "");
    snprintf(beside, sizeof beside, "--include-path=%.*s", slash ? (int)(slash - source->path) : 1,
             slash ? source->path : ".");
    const char *options[] = {architecture, beside, "--std=c++17", "--generate-line-info",
                             "--include-path=/usr/local/cuda/include"};
    HEDDLE_TRY(nvrtc_checked(library.nvrtcAddNameExpression_(program, source->kernel), source->kernel));
    HEDDLE_TRY(nvrtc_checked(library.nvrtcAddNameExpression_(program, source->flag), source->flag));
    nvrtcResult result = library.nvrtcCompileProgram_(program, sizeof options / sizeof *options, options);
    read_log(program, log);
    if (result == NVRTC_ERROR_COMPILATION)
        return heddle_cuda_fail(HEDDLE_CORRUPT, "%s: it does not compile", source->path);
    return nvrtc_checked(result, source->path);
}

static heddle_status load(nvrtcProgram program, const heddle_cuda_kernel_source *source, heddle_cuda_kernel *kernel,
                          int *flag)
{
    size_t size = 0, bytes = 0;
    CUdeviceptr place = 0;
    const char *name = NULL;
    HEDDLE_TRY(nvrtc_checked(library.nvrtcGetCUBINSize_(program, &size), "the machine code"));
    char *code = (char *)malloc(size);
    if (!code)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the machine code of %s", source->path);
    heddle_status status = nvrtc_checked(library.nvrtcGetCUBIN_(program, code), "the machine code");
    if (status == HEDDLE_OK)
        status = driver_checked(library.cuModuleLoadData_(&kernel->module, code), "loading");
    free(code);
    HEDDLE_TRY(status);
    HEDDLE_TRY(nvrtc_checked(library.nvrtcGetLoweredName_(program, source->kernel, &name), source->kernel));
    HEDDLE_TRY(driver_checked(library.cuModuleGetFunction_(&kernel->function, kernel->module, name), source->kernel));
    HEDDLE_TRY(nvrtc_checked(library.nvrtcGetLoweredName_(program, source->flag, &name), source->flag));
    HEDDLE_TRY(driver_checked(library.cuModuleGetGlobal_(&place, &bytes, kernel->module, name), source->flag));
    return driver_checked(library.cuMemcpyDtoH_(flag, place, sizeof *flag), source->flag);
}

static void close_kernel(heddle_cuda_kernel *kernel)
{
    if (kernel && kernel->module)
        library.cuModuleUnload_(kernel->module);
    free(kernel);
}

static heddle_status open_kernel(heddle_device *device, const heddle_cuda_kernel_source *source,
                                 heddle_cuda_kernel **made, int *flag, char **log)
{
    nvrtcProgram program;
    heddle_device_info info = {};
    *made = NULL;
    *log = NULL;
    HEDDLE_TRY(heddle_cuda_select(device));
    HEDDLE_TRY(heddle_cuda_describe(device, &info));
    HEDDLE_TRY(load_libraries());
    HEDDLE_TRY(
        nvrtc_checked(library.nvrtcCreateProgram_(&program, source->text, source->path, 0, NULL, NULL), "start"));
    heddle_cuda_kernel *kernel = (heddle_cuda_kernel *)calloc(1, sizeof *kernel);
    heddle_status status = kernel ? HEDDLE_OK : heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a kernel");
    if (status == HEDDLE_OK)
        status = compile(program, source, info.capability, log);
    if (status == HEDDLE_OK)
        status = load(program, source, kernel, flag);
    library.nvrtcDestroyProgram_(&program);
    if (status != HEDDLE_OK) {
        close_kernel(kernel);
        return status;
    }
    *made = kernel;
    return HEDDLE_OK;
}

static heddle_status launch_kernel(const heddle_cuda_kernel *kernel, const heddle_call *call, const unsigned grid[3],
                                   const unsigned block[3], unsigned shared, void **arguments)
{
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shared > USUAL_SHARED)
        HEDDLE_TRY(driver_checked(
            library.cuFuncSetAttribute_(kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared),
            "shared memory"));
    return driver_checked(library.cuLaunchKernel_(kernel->function, grid[0], grid[1], grid[2], block[0], block[1],
                                                  block[2], shared, (CUstream)stream, arguments, NULL),
                          "launch");
}

extern "C" HEDDLE_API const heddle_cuda_kernel_functions heddle_cuda_kernel_functions_table;
const heddle_cuda_kernel_functions heddle_cuda_kernel_functions_table = {open_kernel, launch_kernel, close_kernel};

#endif
