// Measures PyTorch and JAX: runs peers/train_gpu.py, which is installed with heddle, and reads its results.

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
#include "cli/interrupt.h"
#include "cli/peers.h"
#include "cli/precision.h"

enum { LIST_SIZE = 256, DOCUMENT_LIMIT = 16 << 20, LOG_LIMIT = 1 << 20 };
static const double default_seconds = 0.5;

// "tf32" for tf32; tf32x3 is compared with fp32, and int8 with bf16.
static const char *peer_precision(heddle_arithmetic arithmetic)
{
    if (arithmetic == HEDDLE_INT8)
        return heddle_cli_precisions[HEDDLE_BFLOAT];
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

// --- running the script ---------------------------------------------------------------------------------------------

// A file of its own with this text; `path` ends in XXXXXX and becomes its name.
static heddle_status write_temporary(char *path, const char *text)
{
    int file = mkstemp(path);
    if (file < 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    FILE *stream = fdopen(file, "w");
    bool written = stream && fputs(text, stream) >= 0;
    if (stream)
        written &= fclose(stream) == 0;
    else
        close(file);
    if (written)
        return HEDDLE_OK;
    unlink(path);
    return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
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

// `log`: the descriptor of a file that takes what it prints.
static heddle_status run_script(heddle_cli_network_bench *bench, char *script, char *model, char *output, int log)
{
    char batches[LIST_SIZE], precisions[LIST_SIZE], seconds[32], threads[16];
    const heddle_cli_bench_settings *settings = bench->settings;
    bool gpu = bench->info.kind == HEDDLE_CUDA;
    list_wanted(bench, batches, precisions);
    snprintf(seconds, sizeof seconds, "%g", settings->seconds > 0 ? settings->seconds : default_seconds);
    snprintf(threads, sizeof threads, "%d", settings->threads);
    char *words[] = {"/usr/bin/env",
                     (char *)heddle_cli_peers_python(),
                     script,
                     "--job",
                     (char *)bench->job,
                     "--model",
                     model,
                     "--batches",
                     batches,
                     "--precisions",
                     precisions,
                     "--seconds",
                     seconds,
                     "--block-seconds",
                     "0.1",
                     "--json",
                     output,
                     "--device",
                     gpu ? "cuda" : "cpu",
                     "--jobs",
                     gpu ? "4" : "1", // processes that compile at once; on a CPU they would take turns with the cores
                     "--threads",
                     threads,
                     settings->peers == HEDDLE_CLI_PEERS_ALL ? NULL : "--quick",
                     NULL};
    heddle_child_options options = {
        .argv = words, .input = -1, .output = log, .errors = log, .stop = &heddle_cli_interrupted};
    heddle_child child;
    HEDDLE_TRY(heddle_child_start(&child, &options));
    heddle_child_wait(&child, -1);
    return read_document(output, &bench->peers);
}

// What the script prints repeats the table in other words, so it is shown only if there is nothing to make rows of.
static heddle_status run_quietly(heddle_cli_network_bench *bench, char *script, char *model, char *output)
{
    FILE *log = tmpfile();
    char *text = NULL;
    if (!log)
        return heddle_fail(HEDDLE_IO, "cannot make a temporary file: %s", strerror(errno));
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "PyTorch and JAX ...\n");
    heddle_status status = run_script(bench, script, model, output, fileno(log));
    if (status != HEDDLE_OK && !heddle_cli_interrupted && (text = calloc(1, LOG_LIMIT))) {
        rewind(log);
        fwrite(text, 1, fread(text, 1, LOG_LIMIT, log), stderr);
    }
    free(text);
    fclose(log);
    return status;
}

static bool has_figure(const cJSON *document)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(document, "results"))
    {
        if (cJSON_HasObjectItem(row, "microseconds"))
            return true;
    }
    return false;
}

// "PyTorch and JAX": those that its Python does not have.
static const char *list_missing(const cJSON *document, char list[LIST_SIZE])
{
    const cJSON *name;
    size_t used = 0;
    list[0] = '\0';
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(document, "missing"))
    {
        const bool jax = cJSON_IsString(name) && strcmp(name->valuestring, "jax") == 0;
        if (used < LIST_SIZE)
            used +=
                (size_t)snprintf(list + used, LIST_SIZE - used, "%s%s", used ? " and " : "", jax ? "JAX" : "PyTorch");
    }
    return list;
}

// What to say below the table; "": nothing.
static void say_missing(const heddle_cli_network_bench *bench, bool ran, char why[HEDDLE_CLI_MESSAGE_SIZE])
{
    char missing[LIST_SIZE];
    if (list_missing(bench->peers, missing)[0])
        snprintf(
            why, HEDDLE_CLI_MESSAGE_SIZE,
            "not installed for %.64s: %s; to compare with them, install torch and jax with pip, or set PEERS_PYTHON to "
            "a Python that has them",
            heddle_cli_peers_python(), missing);
    else if (!ran || !has_figure(bench->peers))
        snprintf(why, HEDDLE_CLI_MESSAGE_SIZE,
                 "PyTorch and JAX were not measured: neither ran here; set PEERS_PYTHON to a Python that has them");
}

static void say_not_found(char why[HEDDLE_CLI_MESSAGE_SIZE])
{
    const char *told = getenv("HEDDLE_PEERS");
    if (told && told[0])
        snprintf(why, HEDDLE_CLI_MESSAGE_SIZE,
                 "PyTorch and JAX were not measured: HEDDLE_PEERS is %.96s, which does not have the scripts for that",
                 told);
    else
        snprintf(why, HEDDLE_CLI_MESSAGE_SIZE,
                 "PyTorch and JAX were not measured: the scripts for that are not beside heddle; set HEDDLE_PEERS to "
                 "the folder peers of its source");
}

heddle_status heddle_cli_network_peers(heddle_cli_network_bench *bench, const heddle_model *model,
                                       char why[HEDDLE_CLI_MESSAGE_SIZE])
{
    char script[HEDDLE_PLACE_SIZE], output[] = "/tmp/heddle-peers-XXXXXX", description[] = "/tmp/heddle-model-XXXXXX";
    why[0] = '\0';
    if (!heddle_cli_find_peers(script)) {
        say_not_found(why);
        return HEDDLE_OK;
    }
    HEDDLE_TRY(write_temporary(description, heddle_model_json(model)));
    heddle_status status = write_temporary(output, "");
    if (status == HEDDLE_OK) {
        say_missing(bench, run_quietly(bench, script, description, output) == HEDDLE_OK, why);
        unlink(output);
    }
    unlink(description);
    return status;
}

// --- what it found --------------------------------------------------------------------------------------------------

const char *heddle_cli_network_text(const cJSON *peer, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(peer, name));
    return text ? text : "";
}

const char *heddle_cli_network_framework(const cJSON *peer)
{
    return strcmp(heddle_cli_network_text(peer, "framework"), "jax") == 0 ? "JAX" : "PyTorch";
}

static double microseconds_of(const cJSON *peer)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(peer, "microseconds")); // NAN: it has none
}

const cJSON *heddle_cli_network_fastest(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row)
{
    const char *precision = peer_precision(row->arithmetic);
    size_t length = strlen(precision);
    const cJSON *peer, *fastest = NULL;
    cJSON_ArrayForEach(peer, cJSON_GetObjectItemCaseSensitive(bench->peers, "results"))
    {
        const char *of = heddle_cli_network_text(peer, "precision");
        bool same = strncmp(of, precision, length) == 0 && (of[length] == '\0' || of[length] == '-') &&
                    cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(peer, "batch")) == row->batch;
        if (same && isfinite(microseconds_of(peer)) && (!fastest || microseconds_of(peer) < microseconds_of(fastest)))
            fastest = peer;
    }
    return fastest;
}

double heddle_cli_network_speedup(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row)
{
    const cJSON *peer = heddle_cli_network_fastest(bench, row);
    return peer ? microseconds_of(peer) / (1000 * row->rate.step_milliseconds) : NAN;
}
