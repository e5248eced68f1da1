// Training on a GPU: steps are queued many at a time and follow each other without the host, which has a copy of the
// device's tally brought over now and then. Two such reports are on their way at any time, so that the device has work
// while the host looks at one.

#include <stdlib.h>

#include "base/text.h"
#include "nn/ring.h"
#include "nn/run.h"
#include "nn/trainer.h"

enum {
    REPORTS = 2,
    CHUNK_GROWTH = 4,
    MOST_CHUNK = 4096, // steps
    RANKS_CHUNK = 64,  // with several ranks all take as many: they have to queue the same exchanges
};

// How long the steps of one report take, about: often enough for a person who watches or interrupts, seldom enough to
// cost nothing.
static const double SHORT_CHUNK = 0.0125, LONG_CHUNK = 0.05;

struct heddle_flight {
    void *pinned;
    heddle_feed_report *reports; // pinned, REPORTS of them
    heddle_event *landed[REPORTS];
    int next, count;  // the report to come next, and how many are on their way
    int chunk;        // steps from one report to the next
    int epoch;        // the one whose order and schedule are on the device; -1: none
    int queued;       // batches of it that have been queued
    int64_t left_out; // steps, when it began
    double clock;     // when the last report came
    // For models with dropout: what its layers draw at each step of the epoch.
    int64_t *random_pinned, *random; // (batches, dropouts, HEDDLE_RANDOM_WORDS); `random` is on the device
};

// --- making and ending ----------------------------------------------------------------------------------------------

static size_t random_words(const heddle_trainer *trainer)
{
    return (size_t)trainer->full->lowering.dropouts * HEDDLE_RANDOM_WORDS;
}

heddle_status heddle_trainer_device_set_up(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight = calloc(1, sizeof *flight);
    if (!flight)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a training run");
    flight->chunk = trainer->ranks.ranks > 1 ? RANKS_CHUNK : 1;
    flight->epoch = -1;
    size_t random_bytes = (size_t)trainer->batches * random_words(trainer) * sizeof(int64_t);
    const heddle_part parts[] = {
        {(void **)&flight->reports, REPORTS * sizeof(heddle_feed_report)},
        {(void **)&flight->random_pinned, random_bytes},
    };
    HEDDLE_TRY(heddle_alloc_pinned_parts(trainer->device, parts, 2, &flight->pinned));
    HEDDLE_TRY(heddle_alloc_for(trainer->device, "dropout's random numbers", random_bytes, (void **)&flight->random));
    for (int i = 0; i < REPORTS; i++)
        HEDDLE_TRY(heddle_event_create(trainer->device, &flight->landed[i]));
    return HEDDLE_OK;
}

void heddle_trainer_device_tear_down(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight;
    if (!flight)
        return;
    for (int i = 0; i < REPORTS; i++)
        heddle_event_destroy(flight->landed[i]);
    heddle_free(trainer->device, flight->random);
    heddle_free_pinned(trainer->device, flight->pinned);
    free(flight);
}

// --- queueing -------------------------------------------------------------------------------------------------------

// Brings what the epoch's steps need onto the device. Nothing is queued at this point, so pinned memory is free.
static heddle_status begin_epoch(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight;
    const heddle_position *position = &trainer->position;
    size_t words = random_words(trainer);
    HEDDLE_TRY(heddle_feed_begin(trainer->feed, trainer->stream, trainer->options, position, trainer->steps,
                                 trainer->state->hyper));
    for (int i = 0; i < trainer->batches && words; i++) {
        int left = trainer->train->count - i * trainer->batch, first;
        heddle_shard(left < trainer->batch ? left : trainer->batch, trainer->ranks.rank, trainer->ranks.ranks, &first);
        heddle_trainer_random(trainer, position->step - position->batch + i, first, flight->random_pinned + i * words);
    }
    HEDDLE_TRY(heddle_copy(trainer->stream, flight->random, flight->random_pinned,
                           (size_t)trainer->batches * words * sizeof(int64_t)));
    flight->epoch = position->epoch;
    flight->queued = position->batch;
    flight->left_out = position->left_out;
    return HEDDLE_OK;
}

// `steps` of one plan.
static heddle_status queue_plan(heddle_trainer *trainer, heddle_plan *plan, int steps)
{
    size_t words = random_words(trainer);
    if (!words)
        return heddle_plan_run_steps(plan, trainer->stream, steps);
    for (int i = 0; i < steps; i++) {
        const int64_t *row = trainer->flight->random + (size_t)(trainer->flight->queued + i) * words;
        HEDDLE_TRY(heddle_copy(trainer->stream, plan->random, row, words * sizeof *row));
        HEDDLE_TRY(heddle_plan_run(plan, trainer->stream));
    }
    return HEDDLE_OK;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static heddle_status queue_steps(heddle_trainer *trainer, int steps)
{
    heddle_flight *flight = trainer->flight;
    heddle_ring *ring = trainer->feed->ring;
    int whole = trainer->train->count / trainer->batch;
    while (steps > 0) {
        int run = steps;
        if (ring) {
            int available;
            HEDDLE_TRY(heddle_ring_take(ring, trainer->stream, &available));
            run = least(run, available);
        }
        bool full = flight->queued < whole;
        run = full ? least(run, whole - flight->queued) : 1;
        HEDDLE_TRY(queue_plan(trainer, full ? trainer->full : trainer->rest, run));
        if (ring)
            HEDDLE_TRY(heddle_ring_give(ring, trainer->stream, run));
        flight->queued += run;
        steps -= run;
    }
    return HEDDLE_OK;
}

// The next steps of the epoch, and a report behind them.
static heddle_status queue_chunk(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight;
    int place = (flight->next + flight->count) % REPORTS, longest = trainer->full->several[0].steps;
    int steps = least(flight->chunk, trainer->batches - flight->queued);
    if (longest > 0 && steps > longest && flight->queued + steps < trainer->batches) // whole graphs, as far as it goes
        steps -= steps % longest;
    HEDDLE_TRY(queue_steps(trainer, steps));
    HEDDLE_TRY(heddle_feed_report_to(trainer->feed, trainer->stream, &flight->reports[place]));
    HEDDLE_TRY(heddle_event_record(flight->landed[place], trainer->stream));
    flight->count++;
    return HEDDLE_OK;
}

// --- reports --------------------------------------------------------------------------------------------------------

static void measure_chunk(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight;
    double now = heddle_now(), spent = now - flight->clock;
    flight->clock = now;
    trainer->seconds += spent;
    if (trainer->ranks.ranks > 1)
        return;
    if (spent < SHORT_CHUNK)
        flight->chunk = least(flight->chunk * CHUNK_GROWTH, MOST_CHUNK);
    else if (spent > LONG_CHUNK && flight->chunk > 1)
        flight->chunk /= 2;
}

static heddle_status take_report(heddle_trainer *trainer, const heddle_feed_report *report)
{
    heddle_position *position = &trainer->position;
    int steps = (int)report->cursor[1] - position->batch;
    int64_t images = report->cursor[1] * trainer->batch;
    if (images > trainer->train->count)
        images = trainer->train->count;
    bool finite = report->tally[2] == 0;
    double loss =
        finite ? (report->tally[0] - position->loss_sum) / (double)(images - position->images) : report->tally[3];
    trainer->images += images - position->images;
    if (!finite) { // from some step on all are so: that one is told, not the first since the last report
        int before = (int)report->cursor[1] - (int)report->tally[2];
        position->step += before - position->batch;
        position->batch = before;
    }
    HEDDLE_TRY(heddle_trainer_check_loss(trainer, loss, steps));
    position->loss_sum = report->tally[0];
    position->correct = (int64_t)report->tally[1];
    position->left_out = trainer->flight->left_out + (int64_t)report->tally[4];
    position->images = images;
    position->step += steps;
    position->batch += steps;
    heddle_trainer_report(trainer, HEDDLE_TRAIN_STEP, NULL);
    return HEDDLE_OK;
}

// Waits for the oldest report that is on its way.
static heddle_status land(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight;
    bool landed = false;
    bool known = heddle_event_query(flight->landed[flight->next], &landed) == HEDDLE_OK; // if not, the wait says why
    trainer->late = known && landed && flight->count > 1; // with nothing queued behind it the device has waited too
    HEDDLE_TRY(heddle_event_synchronize(flight->landed[flight->next]));
    measure_chunk(trainer);
    if (trainer->options->probe)
        trainer->options->probe->poll(trainer->options->probe);
    heddle_feed_report *report = &flight->reports[flight->next];
    HEDDLE_TRY(heddle_trainer_sum_report(trainer, report));
    flight->next = (flight->next + 1) % REPORTS;
    flight->count--;
    return take_report(trainer, report);
}

static heddle_status advance(heddle_trainer *trainer)
{
    heddle_flight *flight = trainer->flight;
    flight->clock = heddle_now();
    if (flight->epoch != trainer->position.epoch)
        HEDDLE_TRY(begin_epoch(trainer));
    HEDDLE_TRY(queue_chunk(trainer));
    while (flight->count > 0) {
        bool halt = heddle_trainer_asked_to_stop(trainer) || heddle_trainer_save_is_due(trainer);
        // What several ranks queue must not depend on what one of them has seen: chunk by chunk.
        halt |= trainer->ranks.ranks > 1 && flight->count > 0;
        while (!halt && flight->count < REPORTS && flight->queued < trainer->batches)
            HEDDLE_TRY(queue_chunk(trainer));
        bool another = trainer->position.epoch + 1 < trainer->options->epochs;
        if (another && flight->queued == trainer->batches) // the device is busy, so this costs no time
            heddle_feed_prepare(trainer->feed, trainer->options, trainer->position.epoch + 1,
                                trainer->position.left_out, trainer->steps);
        HEDDLE_TRY(land(trainer));
    }
    return HEDDLE_OK;
}

heddle_status heddle_trainer_device_advance(heddle_trainer *trainer)
{
    heddle_status status = advance(trainer);
    if (status == HEDDLE_OK || status == HEDDLE_DIVERGED)
        return status;
    return heddle_fail_within(status, "training stopped in epoch %d after step %d%s", trainer->position.epoch + 1,
                              trainer->position.batch,
                              trainer->options->folder ? ", the last checkpoint is whole" : "");
}
