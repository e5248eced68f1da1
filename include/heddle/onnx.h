// ONNX: networks for other programs, and networks from them. docs/onnx.md lists operators and what is refused. A build
// without protobuf-c has these calls too; they are HEDDLE_MISSING.
#ifndef HEDDLE_ONNX_H
#define HEDDLE_ONNX_H

#include <stdbool.h>

#include "heddle/model.h"
#include "heddle/train.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether this build reads and writes ONNX files.
HEDDLE_API bool heddle_onnx_available(void);

// Writes the network of a checkpoint: opset 17, weights in the file, "images" (batch, channels, height, width) in
// [0, 1] to "logits" (batch, classes), any batch. Class names and the checkpoint's own metadata go along.
HEDDLE_API heddle_status heddle_onnx_export(const char *checkpoint, const char *path);
// Writes the int8 network that a calibrated one computes (heddle_network_calibrate), with QuantizeLinear and
// DequantizeLinear around what is quantised, batchnorm folded. HEDDLE_UNSUPPORTED where the network has no int8.
HEDDLE_API heddle_status heddle_onnx_export_int8(heddle_network *network, const char *path);

// Writes the network of an ONNX file as a checkpoint. `input` says what images are like where the file does not, and
// may be NULL; its classes are ignored.
HEDDLE_API heddle_status heddle_onnx_import(const char *path, const heddle_input_shape *input, const char *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
