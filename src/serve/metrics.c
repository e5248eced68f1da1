// Counters and gauges as Prometheus reads them.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/gpus.h"
#include "serve/parts.h"

static void print(FILE *file, const char *name, const char *type, const char *help, double value)
{
    if (!isfinite(value)) // not known: a series that is not there
        return;
    fprintf(file, "# HELP heddle_%s %s\n# TYPE heddle_%s %s\nheddle_%s %.10g\n", name, help, name, type, name, value);
}

// One series per GPU.
static void print_gpus(FILE *file)
{
    heddle_gpu_now gpus[HEDDLE_MOST_GPUS];
    const int count = heddle_gpus_now(gpus);
    static const char *const series[][2] = {
        {"gpu_load", "Part of the time in which a kernel ran."},
        {"gpu_power_watts", "Power that the GPU draws."},
        {"gpu_memory_used_bytes", "Memory in use on the GPU."},
    };
    for (size_t i = 0; count > 0 && i < sizeof series / sizeof *series; i++) {
        const char *name = series[i][0];
        fprintf(file, "# HELP heddle_%s %s\n# TYPE heddle_%s gauge\n", name, series[i][1], name);
        for (int gpu = 0; gpu < count; gpu++) {
            const double values[] = {gpus[gpu].load, gpus[gpu].watts, gpus[gpu].used};
            if (isfinite(values[i]))
                fprintf(file, "heddle_%s{gpu=\"%d\"} %.10g\n", name, gpu, values[i]);
        }
    }
}

char *heddle_serve_metrics(heddle_serve *serve)
{
    static const char counter[] = "counter", gauge[] = "gauge";
    const heddle_serve_predictor_counts predicted = heddle_serve_predictor_count(serve->predictor);
    const heddle_serve_training_counts trained = heddle_serve_training_count(serve->training);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    print(file, "predict_requests_total", counter, "Requests to predict.", (double)predicted.requests);
    print(file, "predict_images_total", counter, "Images predicted.", (double)predicted.images);
    print(file, "predict_batches_total", counter, "Batches that they were predicted in.", (double)predicted.batches);
    print(file, "predict_seconds_total", counter, "Time spent predicting.", predicted.seconds);
    print(file, "predict_waiting", gauge, "Requests that wait.", predicted.waiting);
    print(file, "check_total", counter, "CUDA programs checked.", (double)heddle_serve_checker_count(serve->checker));
    print(file, "train_runs_total", counter, "Training runs started.", (double)trained.runs);
    print(file, "train_images_total", counter, "Images trained on.", (double)trained.images);
    print(file, "train_active", gauge, "Whether a run is under way.", trained.active);
    print(file, "train_epochs", gauge, "Epochs of the latest run that are done.", trained.epoch);
    print(file, "train_loss", gauge, "Training loss at the latest point of the curve.", trained.loss);
    print(file, "train_accuracy", gauge, "Training accuracy at the latest point of the curve.", trained.accuracy);
    print(file, "train_images_per_second", gauge, "Speed of the latest run.", trained.images_per_second);
    print_gpus(file);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}
