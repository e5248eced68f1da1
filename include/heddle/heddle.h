// All of libheddle's public C API.
#ifndef HEDDLE_H
#define HEDDLE_H

#include "heddle/data.h"
#include "heddle/device.h"
#include "heddle/dtype.h"
#include "heddle/model.h"
#include "heddle/onnx.h"
#include "heddle/op.h"
#include "heddle/ops.h"
#include "heddle/random.h"
#include "heddle/safetensors.h"
#include "heddle/status.h"
#include "heddle/tensor.h"
#include "heddle/train.h"

#ifdef __cplusplus
extern "C" {
#endif

// "MAJOR.MINOR.PATCH"
HEDDLE_API const char *heddle_version(void);

#ifdef __cplusplus
}
#endif
#endif
