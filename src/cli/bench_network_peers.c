// Measures PyTorch and JAX: runs peers/train_gpu.py, which is part of the source, and reads its results.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "check/child.h"
#include "cli/bench_network.h"
#include "cli/precision.h"

enum { PATH_SIZE = 4096, LIST_SIZE = 256, DOCUMENT_LIMIT = 16 << 20, MOST_WORDS = 24 };

// Measured by default: the modes that are usually fastest and compile within seconds.
static const char quick_modes[] = "scan,step,graph channels-last,compile graph channels-last,whole-step compile graph";

// $HEDDLE_PEERS, or `peers` beside the folder of this program, as in a checkout with its build folder.
static bool find_script(char path[PATH_SIZE])
{
    const char *told = getenv("HEDDLE_PEERS");
    char folder[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length < 0)
        return false;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    int written = told ? snprintf(path, PATH_SIZE, "%s/train_gpu.py", told)
                       : snprintf(path, PATH_SIZE, "%s/../peers/train_gpu.py", folder);
    return written < PATH_SIZE && heddle_file_exists(path);
}

// "tf32" for tf32; tf32x3 is compared with fp32.
static const char *peer_precision(heddle_arithmetic arithmetic)
{
    return arithmetic == HEDDLE_TF32X3 ? heddle_cli_precisions[HEDDLE_FULL] : heddle_cli_precisions[arithmetic];
}

// Builds "64,1024" and "fp32,tf32": each word once, in the order of the rows.
static void add_word(char list[LIST_SIZE], const char *word)
{
    size_t used = strlen(list), length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return;
    snprintf(list + used, LIST_SIZE - used, "%s%s", used ? "," : "", word);
}

static void list_wanted(const heddle_cli_network_bench *bench, char batches[LIST_SIZE], char precisions[LIST_SIZE])
{
    batches[0] = precisions[0] = '\0';
    for (int i = 0; i < bench->row_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", bench->rows[i].batch);
        add_word(batches, number);
        add_word(precisions, peer_precision(bench->rows[i].arithmetic));
        // A 16-bit step has two peers: with float32 copies of the parameters, and without.
        if (bench->rows[i].arithmetic == HEDDLE_FP16 || bench->rows[i].arithmetic == HEDDLE_BFLOAT) {
            char pure[LIST_SIZE];
            snprintf(pure, sizeof pure, "%s-pure", heddle_cli_precisions[bench->rows[i].arithmetic]);
            if (bench->settings->peers == HEDDLE_CLI_PEERS_ALL)
                add_word(precisions, pure);
        }
    }
}

static heddle_status read_document(const char *path, cJSON **document)
{
    char *text = NULL;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, DOCUMENT_LIMIT, &text, &size));
    *document = cJSON_ParseWithLength(text, size);
    free(text);
    return *document ? HEDDLE_OK : heddle_fail(HEDDLE_CORRUPT, "peers/train_gpu.py did not write JSON");
}

static heddle_status run_script(heddle_cli_network_bench *bench, char *script, char *output)
{
    char batches[LIST_SIZE], precisions[LIST_SIZE], seconds[32];
    list_wanted(bench, batches, precisions);
    snprintf(seconds, sizeof seconds, "%g", bench->settings->seconds > 0 ? bench->settings->seconds : 0.5);
    const char *python = getenv("PEERS_PYTHON");
    char *words[MOST_WORDS] = {"/usr/bin/env",
                               (char *)(python ? python : "python3"),
                               script,
                               "--batches",
                               batches,
                               "--precisions",
                               precisions,
                               "--seconds",
                               seconds,
                               "--json",
                               output,
                               "--jobs",
                               "4"};
    int count = 13;
    if (bench->settings->peers != HEDDLE_CLI_PEERS_ALL) {
        words[count++] = "--modes";
        words[count++] = (char *)quick_modes;
    }
    heddle_child_options options = {.argv = words, .input = -1, .output = STDERR_FILENO, .errors = -1};
    heddle_child child;
    HEDDLE_TRY(heddle_child_start(&child, &options));
    heddle_child_wait(&child, -1);
    if (child.end != HEDDLE_CHILD_EXITED || child.code != 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "peers/train_gpu.py measured nothing");
    return read_document(output, &bench->peers);
}

heddle_status heddle_cli_network_peers(heddle_cli_network_bench *bench, const char **why)
{
    char script[PATH_SIZE], output[] = "/tmp/heddle-peers-XXXXXX";
    *why = "";
    if (!find_script(script)) {
        *why = "PyTorch and JAX were not measured: peers/train_gpu.py is part of heddle's source; set HEDDLE_PEERS to "
               "its folder";
        return HEDDLE_OK;
    }
    int file = mkstemp(output);
    if (file < 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", output, strerror(errno));
    close(file);
    if (run_script(bench, script, output) != HEDDLE_OK)
        *why =
            "PyTorch and JAX were not measured: neither runs on this GPU; set PEERS_PYTHON to a Python that has them";
    unlink(output);
    return HEDDLE_OK;
}

double heddle_cli_network_speedup(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row)
{
    const char *precision = peer_precision(row->arithmetic);
    double fastest = NAN;
    const cJSON *peer, *peers = cJSON_GetObjectItemCaseSensitive(bench->peers, "results");
    cJSON_ArrayForEach(peer, peers)
    {
        const cJSON *time = cJSON_GetObjectItemCaseSensitive(peer, "microseconds");
        const cJSON *batch = cJSON_GetObjectItemCaseSensitive(peer, "batch");
        const char *of = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(peer, "precision"));
        size_t length = strlen(precision);
        bool same = of && strncmp(of, precision, length) == 0 && (of[length] == '\0' || of[length] == '-');
        if (same && cJSON_IsNumber(time) && cJSON_IsNumber(batch) && (int)batch->valuedouble == row->batch)
            fastest = fmin(fastest, time->valuedouble);
    }
    return fastest / (1000 * row->rate.step_milliseconds);
}
