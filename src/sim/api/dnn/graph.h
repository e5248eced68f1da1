// Descriptors of cuDNN's graph interface: a type and the attributes that were set.
#pragma once

#include "api/dnn/dnn.h"

typedef struct dnn_attribute {
    struct dnn_attribute *next;
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    char elements[];
} dnn_attribute;

typedef struct dnn_part {
    cudnnBackendDescriptorType_t type;
    bool finished;
    int users; // the program, and the parts that have it as an attribute
    dnn_attribute *attributes;
} dnn_part;

// parts.c: element `index` of an attribute. It was not set, or has fewer elements: NULL, or `otherwise`.
dnn_part *sim_dnn_child(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index);
void *sim_dnn_pointer(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index);
int64_t sim_dnn_number(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index, int64_t otherwise);
double sim_dnn_real(const dnn_part *part, cudnnBackendAttributeName_t name, double otherwise);
// Whether it is a finished part of this type.
bool sim_dnn_is(const dnn_part *part, cudnnBackendDescriptorType_t type);
// The operations that a plan runs; NULL: none.
const dnn_part *sim_dnn_graph_of(const dnn_part *plan);

// graph.c: bytes of what lies between operations; -1: an operation is not complete.
int64_t sim_dnn_graph_workspace(const dnn_part *graph);
