// cnn_step's operators one after another on the cpu. Which rung of each is the caller's choice.
#ifndef HEDDLE_OPS_CNN_STEP_CPU_H
#define HEDDLE_OPS_CNN_STEP_CPU_H

#include "ops/cnn_step/chain.h"

typedef const heddle_rung *heddle_cnn_step_choice(const heddle_op *op);

heddle_status heddle_cnn_step_cpu_launch(const heddle_call *call, heddle_cnn_step_choice *rung_of);
size_t heddle_cnn_step_cpu_workspace(const void *shape, int threads, heddle_cnn_step_choice *rung_of);

#endif
