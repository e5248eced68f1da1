// Unified memory against explicit copies: the same array goes to the GPU, through a kernel and back, once with copies,
// once as managed memory that moves when it is touched, once as managed memory that is moved ahead; and all that again
// for a kernel that touches one page in 64. Prints a table and a verdict made from it.
//
//     nvcc -O3 -arch=native examples/unified_memory.cu -o unified_memory && ./unified_memory [results.json]
//     heddle check examples/unified_memory.cu        without a GPU: checks it, and has no time
//
// Exit: 0 fine, 1 a result was wrong, 3 no GPU.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_runtime.h>

#define CHECK(call) check((call), #call)

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "unified_memory: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

enum {
    BLOCK = 256,
    PAGE = 64 * 1024 / sizeof(float), // floats of the least that moves at once
    HOST_PAGE = 4096 / sizeof(float),
    SPARSE = 64, // the sparse kernel touches one page in this many
    ROUNDS = 9,  // the median of
};

// Floats of the array: 64 MiB, more than a GPU's caches. The simulated GPU watches every access: there fewer say as
// much.
static size_t array_count = (size_t)16 << 20;
static const size_t SIMULATED_COUNT = 3 * PAGE + 5;

// Adds 1 to every `stride`-th page of values: (count).
__global__ void increment(size_t count, size_t stride, float *values)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t place = at / PAGE * stride * PAGE + at % PAGE;
    if (place < count)
        values[place] += 1;
}

static void launch(size_t stride, float *values)
{
    const size_t pages = (array_count / PAGE + stride - 1) / stride + 1; // one more for a part of a page
    increment<<<(unsigned)((pages * PAGE + BLOCK - 1) / BLOCK), BLOCK>>>(array_count, stride, values);
    CHECK(cudaGetLastError());
}

// To the GPU, or with `device` -1 to the host. CUDA 13 names the place by a struct.
static void prefetch(float *values, int device)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation place;
    place.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = device < 0 ? 0 : device;
    CHECK(cudaMemPrefetchAsync(values, array_count * sizeof(float), place, 0, 0));
#else
    CHECK(cudaMemPrefetchAsync(values, array_count * sizeof(float), device < 0 ? cudaCpuDeviceId : device, 0));
#endif
}

enum way { COPIES, MANAGED, PREFETCHED, WAYS };
static const char *const names[] = {"explicit copies, pinned", "managed, moves when touched", "managed, prefetched"};

static double now(void)
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// The array on the host, to the GPU, through the kernel, and back until the host has it: what a program waits for.
static double run_once(way which, size_t stride, float *host, float *device)
{
    float *values = which == COPIES ? host : device;
    for (size_t i = 0; i < array_count; i++)
        values[i] = (float)(i % 1000);
    const double began = now();
    if (which == COPIES)
        CHECK(cudaMemcpyAsync(device, host, array_count * sizeof(float), cudaMemcpyHostToDevice));
    if (which == PREFETCHED)
        prefetch(device, 0);
    launch(stride, device);
    if (which == COPIES)
        CHECK(cudaMemcpyAsync(host, device, array_count * sizeof(float), cudaMemcpyDeviceToHost));
    if (which == PREFETCHED)
        prefetch(device, -1);
    CHECK(cudaDeviceSynchronize());
    volatile float touched = 0; // the host needs every page: those that are not there yet come now
    for (size_t i = 0; i < array_count; i += HOST_PAGE)
        touched = values[i];
    (void)touched;
    const double seconds = now() - began;
    size_t wrong = 0;
    for (size_t i = 0; i < array_count; i++)
        wrong += values[i] != (float)(i % 1000) + (i / PAGE % stride == 0 ? 1 : 0);
    if (wrong == 0)
        return seconds;
    fprintf(stderr, "unified_memory: %s: %zu elements are wrong\n", names[which], wrong);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double measure(way which, size_t stride)
{
    double times[ROUNDS];
    float *host = NULL, *device = NULL;
    if (which == COPIES) {
        CHECK(cudaMallocHost(&host, array_count * sizeof(float)));
        CHECK(cudaMalloc(&device, array_count * sizeof(float)));
    } else {
        CHECK(cudaMallocManaged(&device, array_count * sizeof(float)));
    }
    run_once(which, stride, host, device); // warms up
    for (int i = 0; i < ROUNDS; i++)
        times[i] = run_once(which, stride, host, device);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    qsort(times, ROUNDS, sizeof *times, ascending);
    return 1e3 * times[ROUNDS / 2];
}

static void write_json(const char *path, const char *name, const double times[2][WAYS], const char *verdict)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    int driver = 0;
    char date[32];
    const time_t seconds = time(NULL);
    CHECK(cudaDriverGetVersion(&driver));
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
    fprintf(file,
            "{\"format\": \"heddle unified memory 1\", \"device_name\": \"%s\", \"runtime\": %d, \"driver\": %d, "
            "\"date\": \"%s\",\n",
            name, CUDART_VERSION, driver, date);
    fprintf(file, " \"bytes\": %zu, \"sparse\": %d, \"rounds\": %d,\n \"rows\": [\n", array_count * sizeof(float),
            SPARSE, ROUNDS);
    for (int i = 0; i < WAYS; i++)
        fprintf(file, "  {\"name\": \"%s\", \"all\": %.4f, \"sparse\": %.4f}%s\n", names[i], times[0][i], times[1][i],
                i + 1 < WAYS ? "," : "");
    fprintf(file, " ],\n \"verdict\": \"%s\"}\n", verdict);
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "unified_memory: no GPU here: run it on a machine that has one, or check it by "
                        "`heddle check examples/unified_memory.cu`\n");
        return 3;
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const bool simulated = strstr(properties.name, "(simulated)") != NULL;
    if (simulated)
        array_count = SIMULATED_COUNT;
    double times[2][WAYS]; // all pages touched, few pages touched
    for (int sparse = 0; sparse < 2; sparse++)
        for (int i = 0; i < WAYS; i++)
            times[sparse][i] = measure((way)i, sparse ? SPARSE : 1);
    if (simulated) {
        printf("all results are right; the simulated GPU has no time\n");
        return 0;
    }
    printf("%zu MiB to %s, through a kernel, and back until the host has read it\n\n",
           array_count * sizeof(float) >> 20, properties.name);
    printf("%-30s %14s %18s\n", "", "all of it, ms", "1 page in 64, ms");
    for (int i = 0; i < WAYS; i++)
        printf("%-30s %14.2f %18.2f\n", names[i], times[0][i], times[1][i]);

    char verdict[512];
    const double touched = times[0][MANAGED] / times[0][COPIES], ahead = times[0][PREFETCHED] / times[0][COPIES];
    const double sparse = times[1][MANAGED] / times[1][COPIES];
    snprintf(
        verdict, sizeof verdict,
        "Moved when touched, unified memory takes %.1f times as long as explicit copies, prefetched %.1f times: %s; "
        "where few pages are touched it takes %.2f times as long: %s.",
        touched, ahead, ahead <= 1.1 ? "prefetch it, and it costs nothing" : "copies are the faster way", sparse,
        sparse < 1 ? "there it wins, for only those pages move" : "it does not win even there");
    printf("\nverdict: %s\n", verdict);
    if (count > 1)
        write_json(arguments[1], properties.name, times, verdict);
    return 0;
}
