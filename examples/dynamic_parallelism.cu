// Dynamic parallelism against one flat launch. Rows of very different length are scaled, each by its own factor: by a
// thread a row; by a parent kernel that launches a child for every long row; by one that launches a child for every
// row; and by one flat launch that gives every element a thread, which finds its row by bisection. Prints a table and a
// verdict made from it.
//
//     nvcc -O3 -arch=native -rdc=true examples/dynamic_parallelism.cu -lcudadevrt -o dynamic_parallelism
//     ./dynamic_parallelism [results.json]
//
// Its sizes are too large for the simulated GPU: this needs a real one. Exit: 0 fine, 1 a result was wrong, 3 no GPU.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call) check((call), #call)

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "dynamic_parallelism: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

enum {
    BLOCK = 256,
    ROWS = 16384,
    LONG_EVERY = 64,   // one row in this many is long
    LONG = 16384,      // its elements: four million in all
    SHORT = 16,        // elements of the others
    CHILD_FROM = 1024, // rows from this length on get a child of their own
    ROUNDS = 15,       // the median of
};

// offsets: (ROWS + 1), values and scaled: (offsets[ROWS])
struct problem {
    const int *offsets;
    const float *values;
    float *scaled;
};

__device__ static float factor_of(int row)
{
    return (float)(row % 7 + 1);
}

__global__ void a_thread_a_row(problem rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    for (int i = rows.offsets[row]; i < rows.offsets[row + 1]; i++)
        rows.scaled[i] = rows.values[i] * factor_of(row);
}

__global__ void child(int begin, int end, float factor, const float *values, float *scaled)
{
    const int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end)
        scaled[i] = values[i] * factor;
}

// Rows from `from` elements on get a child; the thread does the others itself.
__global__ void parent(problem rows, int from)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const int begin = rows.offsets[row], end = rows.offsets[row + 1];
    if (end - begin >= from) {
        child<<<(end - begin + BLOCK - 1) / BLOCK, BLOCK>>>(begin, end, factor_of(row), rows.values, rows.scaled);
        return;
    }
    for (int i = begin; i < end; i++)
        rows.scaled[i] = rows.values[i] * factor_of(row);
}

__global__ void flat(problem rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows.offsets[ROWS])
        return;
    int row = 0, beyond = ROWS; // offsets[row] <= i < offsets[beyond]
    while (beyond - row > 1) {
        const int middle = (row + beyond) / 2;
        if (rows.offsets[middle] <= i)
            row = middle;
        else
            beyond = middle;
    }
    rows.scaled[i] = rows.values[i] * factor_of(row);
}

enum way { THREAD_A_ROW, CHILD_A_LONG_ROW, CHILD_A_ROW, FLAT, WAYS };
static const char *const names[] = {"a thread a row", "a child for each long row", "a child for every row",
                                    "one flat launch"};

static void launch(way which, const problem &rows, int elements)
{
    const int row_blocks = (ROWS + BLOCK - 1) / BLOCK;
    switch (which) {
    case THREAD_A_ROW: a_thread_a_row<<<row_blocks, BLOCK>>>(rows); break;
    case CHILD_A_LONG_ROW: parent<<<row_blocks, BLOCK>>>(rows, CHILD_FROM); break;
    case CHILD_A_ROW: parent<<<row_blocks, BLOCK>>>(rows, 1); break;
    default: flat<<<(elements + BLOCK - 1) / BLOCK, BLOCK>>>(rows); break;
    }
    CHECK(cudaGetLastError());
}

static int ascending(const void *a, const void *b)
{
    const float first = *(const float *)a, second = *(const float *)b;
    return (first > second) - (first < second);
}

static void check_results(way which, const problem &rows, const std::vector<int> &offsets)
{
    std::vector<float> scaled(offsets[ROWS]);
    CHECK(cudaMemcpy(scaled.data(), rows.scaled, scaled.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int row = 0; row < ROWS; row++)
        for (int i = offsets[row]; i < offsets[row + 1]; i++)
            if (scaled[i] != (float)(i % 100) * (float)(row % 7 + 1)) {
                fprintf(stderr, "dynamic_parallelism: %s: element %d of row %d is wrong\n", names[which],
                        i - offsets[row], row);
                exit(1);
            }
}

// Microseconds, by events around the launch: children count, for a parent ends when they have.
static double measure(way which, const problem &rows, const std::vector<int> &offsets)
{
    float times[ROUNDS];
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemset(rows.scaled, 0xff, offsets[ROWS] * sizeof(float))); // NaN: none of another way's results
    launch(which, rows, offsets[ROWS]);                                  // warms up
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(cudaEventRecord(start));
        launch(which, rows, offsets[ROWS]);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&times[i], start, end));
    }
    check_results(which, rows, offsets);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    qsort(times, ROUNDS, sizeof *times, ascending);
    return 1e3 * times[ROUNDS / 2];
}

static problem make(const std::vector<int> &offsets)
{
    std::vector<float> values(offsets[ROWS]);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = (float)(i % 100);
    int *device_offsets;
    float *device_values, *scaled;
    CHECK(cudaMalloc(&device_offsets, offsets.size() * sizeof(int)));
    CHECK(cudaMalloc(&device_values, values.size() * sizeof(float)));
    CHECK(cudaMalloc(&scaled, values.size() * sizeof(float)));
    CHECK(cudaMemcpy(device_offsets, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    return {device_offsets, device_values, scaled};
}

static void write_json(const char *path, const char *name, int elements, const double *times, const char *verdict)
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
            "{\"format\": \"heddle dynamic parallelism 1\", \"device_name\": \"%s\", \"runtime\": %d, \"driver\": %d, "
            "\"date\": \"%s\",\n",
            name, CUDART_VERSION, driver, date);
    fprintf(file, " \"row_count\": %d, \"elements\": %d, \"long_rows\": %d, \"rounds\": %d,\n \"rows\": [\n", ROWS,
            elements, ROWS / LONG_EVERY, ROUNDS);
    for (int i = 0; i < WAYS; i++)
        fprintf(file, "  {\"name\": \"%s\", \"microseconds\": %.2f}%s\n", names[i], times[i], i + 1 < WAYS ? "," : "");
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
        fprintf(stderr,
                "dynamic_parallelism: no GPU here, and its sizes are too large for the simulated one: run it on a "
                "machine with a GPU\n");
        return 3;
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ROWS)); // a child for every row may be under way
    std::vector<int> offsets(ROWS + 1);
    for (int row = 0; row < ROWS; row++)
        offsets[row + 1] = offsets[row] + (row % LONG_EVERY == 0 ? LONG : SHORT);
    const problem rows = make(offsets);
    double times[WAYS];
    printf("%d rows scaled on %s: %d of %d elements, the others of %d\n\n", ROWS, properties.name, ROWS / LONG_EVERY,
           LONG, SHORT);
    for (int i = 0; i < WAYS; i++) {
        times[i] = measure((way)i, rows, offsets);
        printf("%-28s %10.1f us\n", names[i], times[i]);
    }
    char verdict[512];
    const double against_naive = times[THREAD_A_ROW] / times[CHILD_A_LONG_ROW];
    const double against_flat = times[CHILD_A_LONG_ROW] / times[FLAT];
    snprintf(
        verdict, sizeof verdict,
        "Children for the long rows %s a thread a row (%.1f times as fast), and take %.1f times as long as one flat "
        "launch; a child for every row takes %.0f times as long: %s.",
        against_naive > 1 ? "beat" : "do not beat", against_naive, against_flat, times[CHILD_A_ROW] / times[FLAT],
        against_flat > 1.1 ? "where the work can be laid out flat, lay it out flat"
                           : "children cost nothing here, where each has enough to do");
    printf("\nverdict: %s\n", verdict);
    if (count > 1)
        write_json(arguments[1], properties.name, offsets[ROWS], times, verdict);
    return 0;
}
