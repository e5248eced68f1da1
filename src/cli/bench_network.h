// Shared by the files of `heddle bench train` and `heddle bench infer`: a row is one way to run the network, and
// PyTorch and JAX are listed beside the rows.
#pragma once

#include <time.h>

#include "bench/rate.h"
#include "cli/bench.h"
#include "cli/device.h"
#include "heddle/model.h"

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
    heddle_arithmetic asked, arithmetic; // `arithmetic` is what products were computed in, once it is measured
    bool measured;
    heddle_rate rate;
    char message[HEDDLE_CLI_MESSAGE_SIZE]; // why it was not measured
    heddle_status status;
} heddle_cli_network_row;

typedef struct heddle_cli_network_bench {
    const heddle_cli_bench_settings *settings;
    const char *job; // "train" or "infer"
    const char *data;
    char default_data[64];
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

// bench_network_peers.c: measures the model in PyTorch and JAX at the same batch sizes and precisions. Not finding them
// is not a failure: rows of bench->peers say why they have no figure, and `why` says so below the table where one is
// not installed, or there is no figure at all.
heddle_status heddle_cli_network_peers(heddle_cli_network_bench *bench, const heddle_model *model,
                                       char why[HEDDLE_CLI_MESSAGE_SIZE]);
// The fastest peer's row at the same batch size and precision; NULL: there is none.
const struct cJSON *heddle_cli_network_fastest(const heddle_cli_network_bench *bench,
                                               const heddle_cli_network_row *row);
// Speed-up of a row over it. NAN: there is none.
double heddle_cli_network_speedup(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row);
// "PyTorch" for the row of a peer.
const char *heddle_cli_network_framework(const struct cJSON *peer);
// A text of a peer's row, such as its "mode"; "": it has none.
const char *heddle_cli_network_text(const struct cJSON *peer, const char *name);

// bench_network_json.c: the document, and a row of it.
struct cJSON *heddle_cli_network_json(const heddle_cli_network_bench *bench);
struct cJSON *heddle_cli_network_row_json(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row);
