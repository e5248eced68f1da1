// The rounds: who has the next slice, how long it is, and when a rung has had enough of them.

#include "bench/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/statistics.h"

enum {
    MOST_SAMPLES = 4096,
    FEWEST_SAMPLES = 11, // before a median may count as settled
    FEWEST_ROUNDS = 6,   // before ratios may
    FEWEST_SLOW = 3,     // launches of a rung that takes long
    LEAD = 1,        // launches at the head of a slice that do not count: the one before left its code in the caches
    SLICE = 3,       // launches that do
    ROW_REPEATS = 3, // rows, whose median counts
    LOOK_SHARE = 8,  // the spread is looked at again after an eighth more launches: sorting takes time
};

static const double settled_spread = 0.005; // of the median, relative
static const double warm_up_share = 0.1;    // of the time for cold launches
// A launch with its flush that takes longer is a slice by itself: what caches hold of code no longer matters, and the
// shorter the slices the less the card changes between two of them.
static const double long_launch = 1e-3;
// A reference waits for rungs that take at most so many times as long: the others' ratios need no such care.
static const double near_reference = 4;

typedef struct field {
    heddle_bench_timer *timer;
    heddle_bench_entry *entries;
    int count;
    const heddle_bench_rounds_options *options;
    int *turns; // entries that take part in a round
} field;

static void tell(const field *on, const char *doing)
{
    if (on->options->listener)
        on->options->listener(on->options->context, doing);
}

// A failure is the entry's, and everybody's only when the device is lost with it.
static heddle_status blame(const field *on, heddle_bench_entry *entry, heddle_status status)
{
    if (status == HEDDLE_OK)
        return HEDDLE_OK;
    entry->status = status;
    entry->timing = (heddle_bench_timing){0};
    snprintf(entry->why, sizeof entry->why, "%s", heddle_last_error());
    entry->lost = heddle_bench_timer_is_lost(on->timer);
    return entry->lost ? HEDDLE_DEVICE : HEDDLE_OK;
}

static heddle_status check_stop(const field *on)
{
    return on->options->stop && *on->options->stop ? heddle_fail(HEDDLE_INTERRUPTED, "stopped") : HEDDLE_OK;
}

// --- cold ------------------------------------------------------------------------------------------------------------

static bool is_slow(const heddle_bench_entry *entry)
{
    return entry->with_flush > heddle_bench_slow_launch;
}

static heddle_status start(const field *on, heddle_bench_entry *entry)
{
    entry->rounds = calloc(HEDDLE_BENCH_ROUNDS, sizeof *entry->rounds);
    entry->samples = calloc(MOST_SAMPLES, sizeof *entry->samples);
    if (!entry->rounds || !entry->samples)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for samples");
    HEDDLE_TRY(heddle_bench_warm_up(on->timer, &entry->work, warm_up_share * on->options->seconds, &entry->with_flush,
                                    &entry->launch));
    HEDDLE_TRY(heddle_bench_check_stream(on->timer, &entry->work, entry->launch));
    HEDDLE_TRY(heddle_bench_check_cache(on->timer));
    if (is_slow(entry)) // its warm-up counts
        entry->samples[entry->timing.launches++] = entry->launch;
    return HEDDLE_OK;
}

static int slice_launches(const heddle_bench_entry *entry)
{
    return entry->with_flush > long_launch ? 1 : LEAD + SLICE;
}

static bool has_fewest(const heddle_bench_entry *entry)
{
    if (is_slow(entry))
        return entry->timing.launches >= FEWEST_SLOW;
    return entry->timing.launches >= FEWEST_SAMPLES && entry->slices >= FEWEST_ROUNDS;
}

// Whether another slice would be one too many.
static bool is_used_up(const field *on, const heddle_bench_entry *entry)
{
    double slice = slice_launches(entry) * entry->with_flush;
    return has_fewest(entry) &&
           (entry->timing.launches + SLICE > MOST_SAMPLES || entry->spent + slice > on->options->seconds);
}

static bool is_done(const field *on, const heddle_bench_entry *entry)
{
    return entry->status != HEDDLE_OK || (has_fewest(entry) && entry->timing.settled) || is_used_up(on, entry);
}

// A rung that has settled leaves the rounds: time is for those that have not, and for what they are compared with.
static bool takes_part(const field *on, const heddle_bench_entry *entry)
{
    if (!is_done(on, entry))
        return true;
    if (!entry->reference || entry->status != HEDDLE_OK || is_used_up(on, entry))
        return false;
    for (int i = 0; i < on->count; i++)
        if (!is_done(on, &on->entries[i]) && on->entries[i].with_flush < near_reference * entry->with_flush)
            return true;
    return false;
}

static void look(heddle_bench_entry *entry)
{
    int count = entry->timing.launches;
    if (count < FEWEST_SAMPLES || count < entry->next_look)
        return;
    entry->timing.settled = heddle_bench_median_spread(entry->samples, count) < settled_spread;
    entry->next_look = count + count / LOOK_SHARE;
}

static heddle_status take_slice(const field *on, heddle_bench_entry *entry, int round)
{
    double samples[LEAD + SLICE], began = heddle_now();
    int launches = slice_launches(entry), lead = launches > 1 ? LEAD : 0, count = launches - lead;
    HEDDLE_TRY(heddle_bench_time_cold(on->timer, &entry->work, launches, samples));
    entry->spent += heddle_now() - began;
    HEDDLE_TRY(heddle_bench_check_cache(on->timer));
    memcpy(entry->samples + entry->timing.launches, samples + lead, (size_t)count * sizeof *samples);
    entry->timing.launches += count;
    entry->slices++;
    entry->rounds[round] = heddle_bench_median(samples + lead, count);
    look(entry);
    return HEDDLE_OK;
}

static heddle_status time_cold(const field *on)
{
    for (int round = 0; round < HEDDLE_BENCH_ROUNDS; round++) {
        char doing[64];
        int count = 0;
        for (int i = 0; i < on->count; i++)
            if (takes_part(on, &on->entries[i]))
                on->turns[count++] = i;
        if (count == 0)
            break;
        snprintf(doing, sizeof doing, "timing, round %d", round + 1);
        if ((round & (round + 1)) == 0) // 1, 2, 4, 8, ...: a terminal must not slow the rounds down
            tell(on, doing);
        for (int i = 0; i < count; i++) {
            heddle_bench_entry *entry = &on->entries[on->turns[heddle_bench_turn(count, round, i)]];
            HEDDLE_TRY(check_stop(on));
            HEDDLE_TRY(blame(on, entry, take_slice(on, entry, round)));
        }
    }
    return HEDDLE_OK;
}

static void sum_up(heddle_bench_entry *entry)
{
    heddle_bench_timing *timing = &entry->timing;
    timing->seconds = heddle_bench_median(entry->samples, timing->launches);
    timing->low = heddle_bench_quantile(entry->samples, timing->launches, 0.1);
    timing->high = heddle_bench_quantile(entry->samples, timing->launches, 0.9);
    timing->settled = timing->launches >= FEWEST_SAMPLES &&
                      heddle_bench_median_spread(entry->samples, timing->launches) < settled_spread;
}

// --- back to back ----------------------------------------------------------------------------------------------------

static heddle_status start_row(const field *on, heddle_bench_entry *entry)
{
    double uploading;
    entry->row = heddle_bench_row_length(entry->timing.seconds);
    entry->graph = heddle_bench_capture_row(on->timer, &entry->work, entry->row);
    entry->timing.captured = entry->graph != NULL;
    if (is_slow(entry))
        return HEDDLE_OK;
    return heddle_bench_time_row(on->timer, &entry->work, entry->row, entry->graph, &uploading); // a graph's first run
}

static heddle_status take_row(const field *on, heddle_bench_entry *entry, int round)
{
    double *rows = entry->samples; // the cold ones are summed up
    HEDDLE_TRY(heddle_bench_time_row(on->timer, &entry->work, entry->row, entry->graph, &rows[round]));
    HEDDLE_TRY(heddle_bench_check_cache(on->timer));
    entry->timing.back_to_back = heddle_bench_median(rows, round + 1);
    return HEDDLE_OK;
}

static heddle_status time_rows(const field *on)
{
    tell(on, "timing in a row");
    for (int i = 0; i < on->count; i++)
        if (on->entries[i].status == HEDDLE_OK)
            HEDDLE_TRY(blame(on, &on->entries[i], start_row(on, &on->entries[i])));
    for (int round = 0; round < ROW_REPEATS; round++) {
        for (int i = 0; i < on->count; i++) {
            heddle_bench_entry *entry = &on->entries[heddle_bench_turn(on->count, round, i)];
            HEDDLE_TRY(check_stop(on));
            if (entry->status == HEDDLE_OK && (round == 0 || !is_slow(entry)))
                HEDDLE_TRY(blame(on, entry, take_row(on, entry, round)));
        }
    }
    return HEDDLE_OK;
}

// --- all of it -------------------------------------------------------------------------------------------------------

static heddle_status time_field(const field *on)
{
    HEDDLE_TRY(heddle_bench_timer_reset(on->timer));
    tell(on, "warming up");
    for (int i = 0; i < on->count; i++) {
        HEDDLE_TRY(check_stop(on));
        HEDDLE_TRY(blame(on, &on->entries[i], start(on, &on->entries[i])));
    }
    HEDDLE_TRY(time_cold(on));
    for (int i = 0; i < on->count; i++)
        if (on->entries[i].status == HEDDLE_OK)
            sum_up(&on->entries[i]);
    return time_rows(on);
}

heddle_status heddle_bench_time_in_turn(heddle_bench_timer *timer, heddle_bench_entry *entries, int count,
                                        const heddle_bench_rounds_options *options)
{
    if (count == 0)
        return HEDDLE_OK;
    field on = {timer, entries, count, options, calloc((size_t)count, sizeof *on.turns)};
    if (!on.turns)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for rounds");
    heddle_status status = time_field(&on);
    for (int i = 0; i < count; i++) {
        if (entries[i].graph)
            heddle_graph_destroy(entries[i].graph);
        entries[i].graph = NULL;
    }
    free(on.turns);
    return status;
}

void heddle_bench_entries_free(heddle_bench_entry *entries, int count)
{
    for (int i = 0; entries && i < count; i++) {
        free(entries[i].rounds);
        free(entries[i].samples);
    }
    free(entries);
}

double heddle_bench_entry_ratio(const heddle_bench_entry *entry, const heddle_bench_entry *versus)
{
    double scratch[HEDDLE_BENCH_ROUNDS];
    return heddle_bench_paired_ratio(versus->rounds, entry->rounds, HEDDLE_BENCH_ROUNDS, scratch);
}
