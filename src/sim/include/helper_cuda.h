// The samples' helper_cuda.h, written anew: errors that end the program with file and line, and choosing a device.
#pragma once
#define COMMON_HELPER_CUDA_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>
#include <helper_string.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) (a > b ? a : b)
#endif

inline const char *_cudaGetErrorEnum(cudaError_t error)
{
    return cudaGetErrorName(error);
}

// Every other library's status: its number is all that can be said without its header.
template <class Status> inline const char *_cudaGetErrorEnum(Status)
{
    return "<unknown>";
}

template <class Status> inline void check(Status result, char const *const call, const char *const file, int const line)
{
    if (!(int)result)
        return;
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, (int)result, _cudaGetErrorEnum(result),
            call);
    exit(EXIT_FAILURE);
}

#define checkCudaErrors(call)       check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message)   __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline bool __printLastCudaError(const char *message, const char *file, int line)
{
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return false;
    fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message, (int)error,
            cudaGetErrorString(error));
    return true;
}

inline void __getLastCudaError(const char *message, const char *file, int line)
{
    if (__printLastCudaError(message, file, line))
        exit(EXIT_FAILURE);
}

inline int ftoi(float value)
{
    return value >= 0 ? (int)(value + 0.5f) : (int)(value - 0.5f);
}

namespace sim
{
struct sample_architecture {
    int version; // 0xMm
    int cores;   // of one SM, single precision
    const char *name;
};

inline const sample_architecture *sample_architecture_find(int major, int minor)
{
    static const sample_architecture known[] = {
        {0x30, 192, "Kepler"},   {0x32, 192, "Kepler"},  {0x35, 192, "Kepler"},    {0x37, 192, "Kepler"},
        {0x50, 128, "Maxwell"},  {0x52, 128, "Maxwell"}, {0x53, 128, "Maxwell"},   {0x60, 64, "Pascal"},
        {0x61, 128, "Pascal"},   {0x62, 128, "Pascal"},  {0x70, 64, "Volta"},      {0x72, 64, "Xavier"},
        {0x75, 64, "Turing"},    {0x80, 64, "Ampere"},   {0x86, 128, "Ampere"},    {0x87, 128, "Ampere"},
        {0x89, 128, "Ada"},      {0x90, 128, "Hopper"},  {0xa0, 128, "Blackwell"}, {0xa1, 128, "Blackwell"},
        {0xc0, 128, "Blackwell"}};
    for (const sample_architecture &one : known)
        if (one.version == (major << 4) + minor)
            return &one;
    return &known[sizeof known / sizeof known[0] - 1];
}
} // namespace sim

inline int _ConvertSMVer2Cores(int major, int minor)
{
    return sim::sample_architecture_find(major, minor)->cores;
}

inline const char *_ConvertSMVer2ArchName(int major, int minor)
{
    return sim::sample_architecture_find(major, minor)->name;
}

inline int gpuDeviceInit(int device)
{
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (device < 0)
        device = 0;
    if (device >= count) {
        fprintf(stderr, "gpuDeviceInit: -device=%d is not a valid GPU; %d found.\n", device, count);
        return -device;
    }
    int major = 0, minor = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    checkCudaErrors(cudaSetDevice(device));
    printf("gpuDeviceInit() CUDA Device [%d]: \"%s\n", device, _ConvertSMVer2ArchName(major, minor));
    return device;
}

inline int gpuGetMaxGflopsDeviceId()
{
    int count = 0, best = 0;
    uint64_t best_rate = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; device++) {
        int major = 0, minor = 0, processors = 0, clock = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
        checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
        checkCudaErrors(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        checkCudaErrors(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device));
        uint64_t rate = (uint64_t)processors * (uint64_t)_ConvertSMVer2Cores(major, minor) * (uint64_t)clock;
        if (rate > best_rate) {
            best_rate = rate;
            best = device;
        }
    }
    return best;
}

inline int findCudaDevice(int argc, const char **argv)
{
    if (checkCmdLineFlag(argc, argv, "device")) {
        int device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
        if (device < 0) {
            printf("exiting...\n");
            exit(EXIT_FAILURE);
        }
        return device;
    }
    int device = gpuGetMaxGflopsDeviceId(), major = 0, minor = 0;
    checkCudaErrors(cudaSetDevice(device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, _ConvertSMVer2ArchName(major, minor),
           major, minor);
    return device;
}

inline int findIntegratedGPU()
{
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; device++) {
        int integrated = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, device));
        if (integrated) {
            checkCudaErrors(cudaSetDevice(device));
            return device;
        }
    }
    fprintf(stderr, "CUDA error: No Integrated GPU found that supports CUDA.\n");
    return -1;
}

inline bool checkCudaCapabilities(int major_needed, int minor_needed)
{
    int device = 0, major = 0, minor = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    bool enough = major > major_needed || (major == major_needed && minor >= minor_needed);
    printf(enough ? "  Device %d: <%16s >, Compute SM %d.%d detected\n"
                  : "  Device %d: <%16s >, Compute SM %d.%d is too old for this program\n",
           device, _ConvertSMVer2ArchName(major, minor), major, minor);
    return enough;
}
