// Images per second that a whole network trains on or predicts: batch load, forward, backward and update as the trainer
// runs them.
#pragma once

#include "bench/rate_watch.h"

heddle_status heddle_rate_train(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate);
heddle_status heddle_rate_infer(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate);
