// The inside of a training run, shared by the files that run it, save it and resume it.
#pragma once

#include "heddle/ops.h"
#include "nn/checkpoint.h"
#include "nn/feed.h"
#include "nn/network.h"
#include "nn/plan.h"
#include "ops/across.h"

// Host memory that copies to and from the device run from; pinned.
typedef struct heddle_step_exchange {
    float hyper[HEDDLE_HYPER_COUNT];
    float loss;
    int32_t correct;
    int64_t random[HEDDLE_MAX_DROPOUTS * HEDDLE_RANDOM_WORDS];
} heddle_step_exchange;

typedef struct heddle_flight heddle_flight;
typedef struct heddle_trainer_curve heddle_trainer_curve;

typedef struct heddle_trainer {
    heddle_device *device;
    const heddle_model *model;
    const heddle_dataset *train, *test;
    const heddle_train_options *options;
    heddle_state *state;
    heddle_stream *stream;
    heddle_plan *full, *rest; // for a whole batch, and for the short last one of an epoch
    heddle_network *evaluator;
    // On cpu the loader brings each batch and the host looks at each step; on a GPU steps are queued many at a time.
    heddle_loader *loader;
    heddle_step_exchange *exchange;
    heddle_feed *feed;
    heddle_flight *flight;
    heddle_trainer_curve *curve; // NULL: none is written
    heddle_ranks ranks;          // 0 of 1 when alone
    heddle_across across;        // sums of batch statistics over ranks, for the rungs on cpu
    bool stop_agreed;            // with several ranks: one was asked to stop, and all know it
    heddle_position position;
    uint64_t fingerprint; // of the training data, and what its images look like
    heddle_image_traits traits;
    int folder_lock;    // a descriptor of the folder, locked; -1: none
    bool begun;         // last.safetensors is there and this run's
    bool set_aside;     // the run that this one replaces is still there; trainer_replace.c
    bool dropped;       // it is gone, or there was none
    int64_t saved_step; // steps done as of last.safetensors
    int batch;          // samples of a whole one, over all ranks: as asked for, or all there are
    int batches;        // of an epoch
    int64_t steps;      // of the whole run
    double seconds;     // training alone
    double last_save;
    double smooth_loss; // exponential mean over recent steps; NAN before the first
    bool best_now;      // the latest evaluation was the best so far
    bool late;          // the latest report had waited for the host: heddle_train_event
    int64_t images;     // trained on in this process
} heddle_trainer;

// --- trainer_step.c -------------------------------------------------------------------------------------------------

void heddle_trainer_report(const heddle_trainer *trainer, heddle_train_event_kind kind, const char *path);
// HEDDLE_DIVERGED where `loss`, the mean over `steps` steps, is not finite or far above that of guessing for a while.
heddle_status heddle_trainer_check_loss(heddle_trainer *trainer, double loss, int steps);
// What a run that diverged has left, to end a message with: "; the last checkpoint is from before"; "" without a
// folder.
const char *heddle_trainer_kept(const heddle_trainer *trainer);
bool heddle_trainer_asked_to_stop(const heddle_trainer *trainer);
bool heddle_trainer_save_is_due(const heddle_trainer *trainer);
// What dropout's `random` operands hold at a step, for the samples of its batch from `first` on. They follow from the
// step alone, so a resumed run draws the same, and so do the ranks of one together.
void heddle_trainer_random(const heddle_trainer *trainer, int64_t step, int first, int64_t *words);

// --- trainer_ranks.c: several processes -----------------------------------------------------------------------------

heddle_status heddle_trainer_ranks_set_up(heddle_trainer *trainer);
void heddle_trainer_ranks_tear_down(heddle_trainer *trainer);
bool heddle_trainer_is_first(const heddle_trainer *trainer); // the rank that writes files
// The part of a batch of `whole` samples that is this rank's, as the plan's options. One without samples computes on a
// stand-in that does not count.
void heddle_trainer_take_share(const heddle_trainer *trainer, int whole, heddle_plan_options *plan);
// On a GPU every rank must have samples of every batch; *batch is how many it has of a whole one.
heddle_status heddle_trainer_check_shards(const heddle_trainer *trainer, bool streamed, int *batch);
// After a step: loss_sum and correct go from this rank's samples to those of all, and all know whether to stop.
heddle_status heddle_trainer_sum_step(heddle_trainer *trainer, double *loss_sum, int64_t *correct);
heddle_status heddle_trainer_agree_to_stop(heddle_trainer *trainer);
// The same for what a GPU reports of several steps.
heddle_status heddle_trainer_sum_report(heddle_trainer *trainer, heddle_feed_report *report);
// Gives all ranks rank 0's numbers. They have them but for bits that rungs of other machines, or others that were
// faster there, round differently.
heddle_status heddle_trainer_align(heddle_trainer *trainer);
// Each rank evaluates its part of the test set; all have the whole result.
heddle_status heddle_trainer_evaluate(heddle_trainer *trainer, heddle_evaluation *evaluation);

// --- trainer_host.c: one step at a time -----------------------------------------------------------------------------

heddle_status heddle_trainer_host_set_up(heddle_trainer *trainer);
void heddle_trainer_host_tear_down(heddle_trainer *trainer);
// Takes one step; the position is where the numbers are.
heddle_status heddle_trainer_host_advance(heddle_trainer *trainer);

// --- trainer_device.c: many steps at a time -------------------------------------------------------------------------

// Needs the feed and the plans.
heddle_status heddle_trainer_device_set_up(heddle_trainer *trainer);
void heddle_trainer_device_tear_down(heddle_trainer *trainer);
// Takes steps until the epoch is over, somebody asks to stop, or it is time to save; then nothing is queued, and the
// position is where the numbers are.
heddle_status heddle_trainer_device_advance(heddle_trainer *trainer);

// --- trainer_curve.c: the curve of the run, in its folder -----------------------------------------------------------

// Begins curve.jsonl or, in a resumed run, goes on with it behind the checkpoint. Only what hinders that fails the run.
heddle_status heddle_trainer_curve_begin(heddle_trainer *trainer);
// Adds what the event of this kind says; heddle_trainer_report calls it.
void heddle_trainer_curve_note(const heddle_trainer *trainer, heddle_train_event_kind kind);
// Before a checkpoint: the curve on disk is not behind it.
void heddle_trainer_curve_sync(const heddle_trainer *trainer);
// Says how the run ended. Leaves the thread's message alone.
void heddle_trainer_curve_end(heddle_trainer *trainer, heddle_status status);

// --- trainer_save.c -------------------------------------------------------------------------------------------------

// A number that changes when the training data does.
uint64_t heddle_trainer_fingerprint(const heddle_dataset *dataset);
// Makes and locks the folder, and refuses to overwrite a run unless options->overwrite is set.
heddle_status heddle_trainer_prepare_folder(heddle_trainer *trainer);
// Writes the first last.safetensors of a new run, then removes an earlier run's best.safetensors; both are set aside.
heddle_status heddle_trainer_begin_files(heddle_trainer *trainer);
// A resumed run that has steps left writes the last.safetensors that is there once more, bit for bit: what hinders it
// shows before the first step.
heddle_status heddle_trainer_try_files(heddle_trainer *trainer);
// Write the checkpoint of where the run is, and of where it was best. A failure says from where the run can go on.
heddle_status heddle_trainer_save_last(heddle_trainer *trainer);
heddle_status heddle_trainer_save_best(heddle_trainer *trainer);
// Takes numbers and position from folder/last.safetensors; refuses settings that would not continue the same run.
heddle_status heddle_trainer_resume(heddle_trainer *trainer);

// --- trainer_replace.c -----------------------------------------------------------------------------------------------

// Gives the files of an earlier run second names.
void heddle_trainer_set_aside(heddle_trainer *trainer);
// This run has a checkpoint of its own: the earlier one goes.
void heddle_trainer_drop_set_aside(heddle_trainer *trainer);
// This run came to nothing: the earlier one gets its names back, if it is still there.
void heddle_trainer_bring_back(heddle_trainer *trainer);
