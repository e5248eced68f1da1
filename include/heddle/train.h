// Training, evaluation, prediction. A checkpoint is a safetensors file that carries the model, its parameters, the
// optimiser's state and the position, so that a resumed run gives the same bits as one that never stopped.
#ifndef HEDDLE_TRAIN_H
#define HEDDLE_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "heddle/data.h"
#include "heddle/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum heddle_optimizer { HEDDLE_SGD, HEDDLE_MOMENTUM, HEDDLE_ADAMW } heddle_optimizer;
typedef enum heddle_schedule {
    HEDDLE_CONSTANT,
    HEDDLE_LINEAR, // to zero over the run
    HEDDLE_COSINE, // to zero over the run
} heddle_schedule;

// Where the images are while a GPU trains on them. `cpu` takes them from where the dataset has them.
typedef enum heddle_data_place {
    HEDDLE_DATA_AUTO,     // resident where the device has the memory, else streamed
    HEDDLE_DATA_RESIDENT, // in the device's memory, as bytes, from the start
    HEDDLE_DATA_STREAMED, // copied from pinned memory a few batches ahead, while the steps before them run
} heddle_data_place;
// "auto", "resident", "streamed", by heddle_data_place; NULL-terminated.
HEDDLE_API extern const char *const heddle_data_place_names[];

// The processes that train together, one a rank: dist/dist.h. Opened by whoever launches them, mpirun or Slurm.
typedef struct heddle_dist heddle_dist;

typedef struct heddle_train_event heddle_train_event;
typedef void heddle_train_listener(void *context, const heddle_train_event *event);

typedef struct heddle_train_options {
    int epochs;
    int batch;
    heddle_optimizer optimizer;
    heddle_schedule schedule;
    double learning_rate;
    double momentum; // HEDDLE_MOMENTUM, and AdamW's beta 1
    double beta2;    // AdamW
    double epsilon;  // AdamW
    double weight_decay;
    uint64_t seed;
    heddle_augment augment;       // of the training images; all zero: none
    heddle_tier kernels;          // which part of the ladders
    heddle_arithmetic arithmetic; // of products; parameters and sums stay float32
    heddle_data_place data;
    bool deterministic;              // the same bits every run, on a machine and device: no rung that adds in any order
    const char *folder;              // checkpoints and curve.jsonl go here, of one run at a time; NULL: nowhere
    const char *init;                // safetensors or ONNX file whose weights a new run starts from; NULL: the seed's
    const char *tensorboard;         // folder for TensorBoard's event files; NULL: none are written
    bool resume;                     // go on from folder/last.safetensors
    bool overwrite;                  // a run that is in the folder already may be lost
    double save_every;               // seconds between saves inside an epoch; 0: only at its end
    heddle_train_listener *listener; // may be NULL
    void *listener_context;
    heddle_dist *dist; // NULL: alone. Each rank gives the same options and takes its shard of every batch
    size_t bucket;     // bytes of gradients that ranks add up at a time, while others are computed; 0: all at once
    const volatile int *stop; // may be NULL; non-zero: finish the step, save, return HEDDLE_INTERRUPTED. Negative: the
                              // caller has what it wanted, and the curve says complete
    struct heddle_probe *probe; // watches the operator calls of training steps, for the profiler; NULL: nobody does
} heddle_train_options;

// Plain SGD, batch 16, float32 products, the same bits every run: the defaults of `heddle train`.
HEDDLE_API heddle_train_options heddle_train_defaults(void);

// The settings a checkpoint was trained with, and the name of its dataset (cut to `size`).
HEDDLE_API heddle_status heddle_train_options_from(const char *checkpoint, heddle_train_options *options, char *dataset,
                                                   size_t size);
// The model of a checkpoint; the caller closes it.
HEDDLE_API heddle_status heddle_model_from(const char *checkpoint, heddle_model **model);

typedef enum heddle_train_event_kind {
    HEDDLE_TRAIN_STARTED,   // position says where (not 0 when resumed)
    HEDDLE_TRAIN_STEP,      // loss and accuracy so far in this epoch; on a GPU after every few steps
    HEDDLE_TRAIN_EVALUATED, // after an epoch: loss and accuracy on the test set
    HEDDLE_TRAIN_SAVED,     // path
} heddle_train_event_kind;

struct heddle_train_event {
    heddle_train_event_kind kind;
    int epoch, epochs;            // from 0
    int64_t images, images_total; // done in this epoch
    double loss, accuracy;
    double best_accuracy; // best on the test set so far; NAN before the first
    bool best;            // HEDDLE_TRAIN_EVALUATED: this is it
    double seconds;       // spent training so far (evaluation and saving not counted)
    const char *path;
    // HEDDLE_TRAIN_STEP of a GPU: these steps had ended before the host looked, and the device is busy with more, so
    // that the time of this event says nothing of them. Never so at the end of an epoch.
    bool late;
    // What products are computed in: finer than options.arithmetic where the device or the kernels have nothing for
    // that.
    heddle_arithmetic arithmetic;
};

typedef struct heddle_train_result {
    int epochs;                        // finished
    double train_loss, train_accuracy; // of the last epoch
    double test_loss, test_accuracy;   // after the last epoch
    double best_accuracy;
    double seconds; // training alone
    double images_per_second;
} heddle_train_result;

// `test` may be NULL: nothing is evaluated, and best.safetensors is not written. Parameters that are no longer finite
// are HEDDLE_DIVERGED and never saved, so that what is on disk can always be used and resumed.
HEDDLE_API heddle_status heddle_train(heddle_device *device, const heddle_model *model, const heddle_dataset *train,
                                      const heddle_dataset *test, const heddle_train_options *options,
                                      heddle_train_result *result);

// --- using a trained network ----------------------------------------------------------------------------------------

typedef struct heddle_network heddle_network;

// Loads a checkpoint for inference on `device`, in batches of up to `batch` samples.
HEDDLE_API heddle_status heddle_network_open(heddle_device *device, const char *checkpoint, int batch,
                                             heddle_tier kernels, heddle_network **network);
// The same with fresh parameters from a seed, for measuring.
HEDDLE_API heddle_status heddle_network_create(heddle_device *device, const heddle_model *model, uint64_t seed,
                                               int batch, heddle_tier kernels, heddle_network **network);

typedef struct heddle_network_options {
    int batch;
    heddle_tier kernels;
    heddle_arithmetic arithmetic;
    bool deterministic; // as in heddle_train_options
} heddle_network_options;

// The same two with everything there is to choose.
HEDDLE_API heddle_status heddle_network_open_with(heddle_device *device, const char *checkpoint,
                                                  const heddle_network_options *options, heddle_network **network);
HEDDLE_API heddle_status heddle_network_create_with(heddle_device *device, const heddle_model *model, uint64_t seed,
                                                    const heddle_network_options *options, heddle_network **network);
// What HEDDLE_INT8 needs before the first prediction: finds the ranges of activations with `count` images of a dataset
// like those that the network was trained on, evenly spaced; a few hundred will do. On a CPU, too. The first
// convolutions stay in fp16, and a model with layers that have no kernels for bytes is computed in bf16, or on a CPU in
// float32, with a warning. *quantised says which, and may be NULL.
enum { HEDDLE_CALIBRATION_IMAGES = 512 };
HEDDLE_API heddle_status heddle_network_calibrate(heddle_network *network, const heddle_dataset *dataset, int count,
                                                  bool *quantised);
HEDDLE_API void heddle_network_close(heddle_network *network);
HEDDLE_API const heddle_model *heddle_network_model(const heddle_network *network);
// Name of class `index` as the training data had it, or its number. Valid until the thread's next call.
HEDDLE_API const char *heddle_network_class_name(const heddle_network *network, int index);
// images (count, channels, height, width) in [0, 1] on the host; probabilities (count, classes).
HEDDLE_API heddle_status heddle_network_predict(heddle_network *network, const float *images, int count,
                                                float *probabilities);
// The same from bytes, 255 meaning 1. On a GPU this is the fast way: a quarter of the bytes is copied, in the
// precisions of 16 bits and in tf32 activations are 16 bits, and several batches are under way at a time. Memory from
// heddle_alloc_pinned is copied without a detour.
HEDDLE_API heddle_status heddle_network_predict_bytes(heddle_network *network, const uint8_t *images, int count,
                                                      float *probabilities);

typedef struct heddle_evaluation {
    int count, correct;
    double loss, accuracy;
    int classes;
    int *confusion; // (classes, classes): rows are the truth; the caller's, zeroed by the call; may be NULL
} heddle_evaluation;
HEDDLE_API heddle_status heddle_network_evaluate(heddle_network *network, const heddle_dataset *dataset,
                                                 heddle_evaluation *evaluation);

#ifdef __cplusplus
}
#endif
#endif
