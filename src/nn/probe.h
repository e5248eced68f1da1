// What may watch a plan's operator calls and the trainer around them. The layer that does (profile/) stands above this
// one, so it comes as a struct of functions. Without a probe a plan is what it always is: nothing is asked while it
// runs.
#pragma once

#include "heddle/device.h"
#include "nn/trace.h"

struct heddle_plan;
typedef struct heddle_probe heddle_probe;

// One call of a plan as it is put into a stream: `steps` of them where one call takes several steps at once.
typedef struct heddle_probed_call {
    const struct heddle_plan *plan;
    int call;
    int steps;
    heddle_stream *stream;
} heddle_probed_call;

// Work of a trainer that is no operator call.
typedef struct heddle_probed_work {
    const char *name; // "images in"; lives as long as the program
    heddle_phase phase;
    double bytes;          // 0: no copy
    heddle_stream *stream; // that it is queued on
} heddle_probed_work;

struct heddle_probe {
    // Just before and just behind the launch of a call, while its graph is captured or where it is launched at once.
    heddle_status (*before)(heddle_probe *probe, const heddle_probed_call *call);
    heddle_status (*behind)(heddle_probe *probe, const heddle_probed_call *call);
    // Likewise of work that a trainer queues, step by step.
    heddle_status (*begin)(heddle_probe *probe, const heddle_probed_work *work);
    heddle_status (*end)(heddle_probe *probe, const heddle_probed_work *work);
    // The host did something from `from` to `to`, as heddle_now() has it. `name` lives as long as the program.
    void (*host)(heddle_probe *probe, const char *name, heddle_phase phase, double from, double to);
    // Every few steps, from the thread that trains: time for the probe's own affairs.
    void (*poll)(heddle_probe *probe);
};
