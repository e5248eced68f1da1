// Between the files that make layers of ONNX nodes: onnx_linear.c has the linear layers, which take in what follows
// them.
#pragma once

#include "nn/onnx_reader.h"

// A layer of this type behind the list's last one.
heddle_layer heddle_onnx_layer(const heddle_onnx_layers *layers, const char *type);
// Sets one of its settings, if it is in the range that the type has.
heddle_status heddle_onnx_set(const heddle_onnx_reader *reader, const heddle_onnx_node *node, heddle_layer *layer,
                              const char *name, double value);
// Appends it to the list.
heddle_status heddle_onnx_add(const heddle_onnx_reader *reader, const heddle_onnx_node *node, heddle_layer *layer,
                              heddle_onnx_layers *layers);
// The numbers of its parameters, one after another.
void heddle_onnx_add_values(heddle_onnx_reader *reader, const float *values, size_t elements);
// Scale, shift, mean and variance of a BatchNormalization over so many channels.
heddle_status heddle_onnx_read_norm(const heddle_onnx_reader *reader, const heddle_onnx_node *node, size_t channels,
                                    const heddle_onnx_tensor *parts[4], float *epsilon);
// Gemm, or MatMul with the Add behind it; a BatchNormalization behind that is folded in.
heddle_status heddle_onnx_linear(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                 heddle_onnx_layers *layers);
