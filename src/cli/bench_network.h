// Shared by the files of `heddle bench train` and `heddle bench infer`: a row is one way to run the network, and
// PyTorch and JAX are listed beside the rows.
#ifndef HEDDLE_CLI_BENCH_NETWORK_H
#define HEDDLE_CLI_BENCH_NETWORK_H

#include <time.h>

#include "bench/rate.h"
#include "cli/bench.h"
#include "cli/device.h"

struct cJSON;

enum {
    HEDDLE_CLI_MOST_BATCHES = 16,
    HEDDLE_CLI_MOST_ROWS = 512,
    HEDDLE_CLI_MESSAGE_SIZE = 256,
};

typedef struct heddle_cli_network_row {
    int batch;
    bool on_cpu; // the CPU's row in the table of a GPU
    heddle_tier kernels;
    heddle_arithmetic arithmetic;
    bool measured;
    heddle_rate rate;
    char message[HEDDLE_CLI_MESSAGE_SIZE]; // why it was not measured
    heddle_status status;
} heddle_cli_network_row;

typedef struct heddle_cli_network_bench {
    const heddle_cli_bench_settings *settings;
    const char *job; // "train" or "infer"
    const char *data;
    int batches[HEDDLE_CLI_MOST_BATCHES];
    int batch_count;
    heddle_cli_network_row rows[HEDDLE_CLI_MOST_ROWS];
    int row_count;
    heddle_cli_device device;
    heddle_device_info info, info_after, cpu;
    time_t began;
    double started;      // heddle_now() when the command began
    struct cJSON *peers; // the document of peers/train_gpu.py; NULL: they were not run
} heddle_cli_network_bench;

// bench_network_plan.c: the rows to measure, from the command line and the device.
heddle_status heddle_cli_network_plan(heddle_cli_network_bench *bench, heddle_device_kind kind);

// bench_network_peers.c: measures PyTorch and JAX at the same batch sizes and precisions. Not finding them is not a
// failure: bench->peers stays NULL and *why says so.
heddle_status heddle_cli_network_peers(heddle_cli_network_bench *bench, const char **why);
// Speed-up of a row over the fastest peer at the same batch size and precision. NAN: there is none.
double heddle_cli_network_speedup(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row);

// bench_network_json.c: the document, and a row of it.
struct cJSON *heddle_cli_network_json(const heddle_cli_network_bench *bench);
struct cJSON *heddle_cli_network_row_json(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row);

#endif
