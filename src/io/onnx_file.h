// Between the reader of ONNX files and what holds their graphs.
#pragma once

// Frees the messages that a graph's names and tensors point into; NULL is fine.
void heddle_onnx_free_file(void *file);
