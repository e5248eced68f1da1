// The rows that `heddle bench train` measures: the batch sizes, kernels and precisions that the command line names, or
// all of them from the CPU to the fused step on tensor cores.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/bench_network.h"
#include "cli/precision.h"

enum { WORD_SIZE = 32, MOST_CHOICES = 8, MOST_BATCH = 1 << 20 };

// Copies the next word of "64,1024" from *text and moves *text past it; false at the end.
static bool next_word(const char **text, char word[WORD_SIZE])
{
    if (**text == '\0')
        return false;
    size_t length = strcspn(*text, ",");
    snprintf(word, WORD_SIZE, "%.*s", (int)length, *text);
    *text += length + ((*text)[length] == ',');
    return true;
}

static heddle_status read_batches(heddle_cli_network_bench *bench, const char *text)
{
    char word[WORD_SIZE];
    while (next_word(&text, word)) {
        long batch = strtol(word, NULL, 10);
        size_t length = heddle_text_number(word, true);
        if (length == 0 || word[length] != '\0' || batch < 1 || batch > MOST_BATCH)
            return heddle_fail(HEDDLE_INVALID, "--batch takes integers from 1 to %d, as in 64,1024, not '%s'",
                               MOST_BATCH, word);
        if (bench->batch_count == HEDDLE_CLI_MOST_BATCHES)
            return heddle_fail(HEDDLE_INVALID, "--batch takes at most %d sizes", HEDDLE_CLI_MOST_BATCHES);
        bench->batches[bench->batch_count++] = (int)batch;
    }
    return bench->batch_count ? HEDDLE_OK : heddle_fail(HEDDLE_INVALID, "--batch needs a number");
}

// Sets chosen[i] for every choice that the list names.
static heddle_status read_choices(const char *option, const char *text, const char *const *choices,
                                  bool chosen[MOST_CHOICES])
{
    char word[WORD_SIZE], all[128] = "";
    int count = 0;
    for (size_t used = 0; choices[count]; count++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", count ? ", " : "", choices[count]);
    while (next_word(&text, word)) {
        int found = 0;
        while (choices[found] && strcmp(choices[found], word) != 0)
            found++;
        const char *nearest = choices[found] ? NULL : heddle_text_nearest(word, choices, count);
        if (!choices[found])
            return heddle_fail(HEDDLE_INVALID, "--%s takes a list of %s, not '%s'%s%s%s", option, all, word,
                               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        chosen[found] = true;
    }
    return HEDDLE_OK;
}

static heddle_status add_row(heddle_cli_network_bench *bench, int batch, bool on_cpu, heddle_tier kernels,
                             heddle_arithmetic arithmetic)
{
    if (bench->row_count == HEDDLE_CLI_MOST_ROWS)
        return heddle_fail(HEDDLE_INVALID, "more than %d rows; use fewer batch sizes", HEDDLE_CLI_MOST_ROWS);
    bench->rows[bench->row_count++] = (heddle_cli_network_row){
        .batch = batch, .on_cpu = on_cpu, .kernels = kernels, .asked = arithmetic, .arithmetic = arithmetic};
    return HEDDLE_OK;
}

heddle_status heddle_cli_network_plan(heddle_cli_network_bench *bench, heddle_device_kind kind)
{
    const heddle_cli_bench_settings *settings = bench->settings;
    bool kernels[MOST_CHOICES] = {false}, precisions[MOST_CHOICES] = {false};
    bool all_kernels = !settings->kernels, all_precisions = !settings->precision;
    HEDDLE_TRY(read_batches(bench, settings->batch));
    HEDDLE_TRY(read_choices("kernels", all_kernels ? "naive,tuned,vendor,fused" : settings->kernels, heddle_tier_names,
                            kernels));
    const bool infers = strcmp(bench->job, "infer") == 0;
    HEDDLE_TRY(read_choices("precision", all_precisions ? "fp32,tf32x3,tf32,fp16,bf16" : settings->precision,
                            infers ? heddle_cli_precisions : heddle_cli_training_precisions, precisions));
    for (int i = HEDDLE_FULL; i <= HEDDLE_INT8 && kind == HEDDLE_CPU && !all_precisions; i++)
        if (precisions[i])
            HEDDLE_TRY(heddle_cli_precision_check(kind, (heddle_arithmetic)i));
    for (int i = 0; i < bench->batch_count; i++) {
        if (kind != HEDDLE_CPU && all_kernels && all_precisions)
            HEDDLE_TRY(add_row(bench, bench->batches[i], true, HEDDLE_FUSED, HEDDLE_FULL));
        for (int tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++)
            for (int arithmetic = HEDDLE_FULL; arithmetic <= HEDDLE_INT8; arithmetic++) {
                // By default, other precisions are measured where they are fastest: fused, on a GPU.
                bool shown =
                    arithmetic == HEDDLE_FULL || !all_precisions || (tier == HEDDLE_FUSED && kind != HEDDLE_CPU);
                shown &=
                    arithmetic != HEDDLE_INT8 || tier == HEDDLE_FUSED || !all_kernels; // only fused kernels have it
                if (kernels[tier] && precisions[arithmetic] && shown)
                    HEDDLE_TRY(
                        add_row(bench, bench->batches[i], false, (heddle_tier)tier, (heddle_arithmetic)arithmetic));
            }
    }
    return HEDDLE_OK;
}
