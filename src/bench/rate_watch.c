// Where a round may end, and what is made of the rounds.

#include "bench/rate_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LONGEST_WARM_UP = 1; // seconds
// A host that is held up sees a report late, and then knows how much is done by about one report's steps too little.
// Pieces begin and end at reports that are not late; where they cannot, they are so long that this much is small.
static const double LATE_TIMES = 32;
enum { RECENT_IMAGES = 256 }; // enough for a mean of the loss, few enough to be the end of the run

void heddle_rate_watch_start(heddle_rate_watch *watch, const heddle_rate_options *options, double now)
{
    *watch = (heddle_rate_watch){
        .options = options,
        .piece = options->warm_up > 0 ? HEDDLE_RATE_WARM_UP : HEDDLE_RATE_ROUND,
        .began = now,
        .last = now,
        .sustained = NAN,
    };
}

static void keep_loss(heddle_rate_watch *watch, const heddle_rate_report *report)
{
    struct heddle_rate_recent *recent = watch->recent;
    if (recent[0].images >= RECENT_IMAGES) {
        recent[1] = recent[0];
        recent[0] = (struct heddle_rate_recent){0};
    }
    recent[0].loss_sum += report->loss * (double)report->images;
    recent[0].images += report->images;
}

double heddle_rate_watch_loss(const heddle_rate_watch *watch)
{
    const struct heddle_rate_recent *recent = watch->recent;
    // Those before only where they are needed: the later, the better learnt.
    bool both = recent[0].images < RECENT_IMAGES;
    double sum = recent[0].loss_sum + (both ? recent[1].loss_sum : 0);
    int64_t images = recent[0].images + (both ? recent[1].images : 0);
    return images ? sum / (double)images : NAN;
}

static bool is_over(const heddle_rate_watch *watch, const heddle_rate_report *report)
{
    const heddle_rate_options *options = watch->options;
    double spent = report->now - watch->began;
    const bool late = report->late || watch->began_late;
    if (late && (watch->longest == 0 || spent < LATE_TIMES * watch->longest)) // 0: not known yet
        return false;
    switch (watch->piece) {
    case HEDDLE_RATE_WARM_UP:
        return watch->images >= (int64_t)options->warm_up * options->batch || spent >= LONGEST_WARM_UP;
    case HEDDLE_RATE_ROUND:
        return spent > 0 && spent >= options->seconds && watch->images >= (int64_t)options->steps * options->batch;
    case HEDDLE_RATE_SETTLING:
    case HEDDLE_RATE_SUSTAINED: return spent >= options->sustained / 2;
    case HEDDLE_RATE_OVER: break;
    }
    return false;
}

// Keeps what the piece has shown and says which comes next.
static heddle_rate_piece finish(heddle_rate_watch *watch, double spent)
{
    double rate = (double)watch->images / spent;
    switch (watch->piece) {
    case HEDDLE_RATE_WARM_UP: return HEDDLE_RATE_ROUND;
    case HEDDLE_RATE_ROUND:
        watch->rate[watch->done++] = rate;
        watch->measured += watch->images;
        if (watch->done < watch->options->rounds)
            return HEDDLE_RATE_ROUND;
        return watch->options->sustained > 0 ? HEDDLE_RATE_SETTLING : HEDDLE_RATE_OVER;
    case HEDDLE_RATE_SETTLING: return HEDDLE_RATE_SUSTAINED;
    case HEDDLE_RATE_SUSTAINED: watch->sustained = rate; break;
    case HEDDLE_RATE_OVER: break;
    }
    return HEDDLE_RATE_OVER;
}

bool heddle_rate_watch_take(heddle_rate_watch *watch, const heddle_rate_report *report)
{
    if (watch->all == 0)
        watch->first = report->now;
    else // the first comes after all that was set up
        watch->longest = fmax(watch->longest, report->now - watch->last);
    watch->last = report->now;
    watch->images += report->images;
    watch->all += report->images;
    keep_loss(watch, report);
    if (is_over(watch, report)) {
        watch->piece = finish(watch, report->now - watch->began);
        watch->began = report->now;
        watch->began_late = report->late;
        watch->images = 0;
        watch->longest = 0;
    }
    return watch->piece == HEDDLE_RATE_OVER;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

void heddle_rate_watch_sum_up(const heddle_rate_watch *watch, heddle_rate *rate)
{
    double sorted[HEDDLE_RATE_MAX_ROUNDS];
    int count = watch->done, middle = count / 2;
    memcpy(sorted, watch->rate, sizeof sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    // Of two in the middle the mean of their times.
    double median = count % 2 ? sorted[middle] : 2 / (1 / sorted[middle - 1] + 1 / sorted[middle]);
    *rate = (heddle_rate){
        .images_per_second = median,
        .least = sorted[0],
        .most = sorted[count - 1],
        .step_milliseconds = 1000.0 * watch->options->batch / median,
        .images = watch->measured,
        .rounds = count,
        .first = watch->first,
        .sustained = watch->sustained,
        .loss = heddle_rate_watch_loss(watch),
    };
    memcpy(rate->round, watch->rate, (size_t)count * sizeof *rate->round);
}
