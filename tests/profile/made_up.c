// See made_up.h.

#include "made_up.h"

#include <stdlib.h>
#include <string.h>

void made_up_calls(heddle_profile_data *data)
{
    static const heddle_profile_call calls[MADE_UP_CALLS] = {
        {.layer = "conv1",
         .op = "conv2d_forward",
         .rung = "01_naive",
         .phase = HEDDLE_PHASE_FORWARD,
         .cost = {.flops = 3000, .bytes_read = 200, .bytes_written = 100},
         .steps = 1,
         .first = true},
        {.layer = "conv1 to <pool1>",
         .op = "conv2d_backward",
         .rung = "02_tiles",
         .phase = HEDDLE_PHASE_BACKWARD,
         .cost = {.flops = 8000, .bytes_read = 400},
         .steps = 1},
        {.op = "sgd_update", .rung = "01_naive", .phase = HEDDLE_PHASE_UPDATE, .cost = {.bytes_read = 50}, .steps = 1},
        {.op = "load", .phase = HEDDLE_PHASE_LOAD, .steps = 1, .host = true},
    };
    *data = (heddle_profile_data){.device = HEDDLE_CPU, .call_count = MADE_UP_CALLS};
    data->calls = malloc(sizeof calls);
    memcpy(data->calls, calls, sizeof calls);
}

void made_up_spans(heddle_profile_data *data)
{
    static const struct {
        int call, begin, end;
    } step[] = {{MADE_UP_LOAD, -45, -5}, {0, 0, 300}, {1, 350, 750}, {2, 800, 900}};
    static const int begins[] = {8500, 10000, 11000, 12000};
    enum { STEPS = sizeof begins / sizeof *begins, SPANS = sizeof step / sizeof *step };
    made_up_calls(data);
    data->lanes = calloc(2, sizeof *data->lanes);
    data->lane_count = 2;
    data->lanes[0] = (heddle_profile_lane){.kind = HEDDLE_LANE_STREAM, .name = "stream 1"};
    data->lanes[1] = (heddle_profile_lane){.kind = HEDDLE_LANE_HOST, .name = "host"};
    data->spans = calloc(STEPS * SPANS, sizeof *data->spans);
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < SPANS; j++) {
            data->spans[data->span_count] = (heddle_profile_span){.begin = begins[i] + step[j].begin,
                                                                  .end = begins[i] + step[j].end,
                                                                  .call = step[j].call,
                                                                  .name = -1,
                                                                  .lane = step[j].call == MADE_UP_LOAD,
                                                                  .run = (uint32_t)data->span_count};
            data->span_count++;
        }
    heddle_profile_group(data);
}

void made_up_free(heddle_profile_data *data)
{
    free(data->calls);
    free(data->lanes);
    free(data->spans);
    free(data->launches);
}
