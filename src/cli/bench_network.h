// What the files behind `heddle bench train` and `heddle bench infer` share: a step of the bench is one way to run the
// same network, and the peers stand beside it.
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
    char message[HEDDLE_CLI_MESSAGE_SIZE]; // why it has no figure
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
    struct cJSON *peers; // the document of peers/train_gpu.py; NULL: they were not run
} heddle_cli_network_bench;

// bench_network_plan.c: which steps there are, from the command line and the device.
heddle_status heddle_cli_network_plan(heddle_cli_network_bench *bench, heddle_device_kind kind);

// bench_network_peers.c: runs PyTorch and JAX, where they are, at the same batches and precisions. Not finding them is
// no failure: bench->peers stays NULL and *why says it.
heddle_status heddle_cli_network_peers(heddle_cli_network_bench *bench, const char **why);
// A step's microseconds over the fastest peer's at the same batch and precision, the other way round: how many times as
// fast the step is. NAN: there is none.
double heddle_cli_network_speedup(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row);

// bench_network_json.c: the document, and a row of it.
struct cJSON *heddle_cli_network_json(const heddle_cli_network_bench *bench);
struct cJSON *heddle_cli_network_row_json(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row);

#endif
