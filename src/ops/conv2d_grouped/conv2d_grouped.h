// conv2d_grouped: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"

extern const heddle_op heddle_op_conv2d_grouped_forward, heddle_op_conv2d_grouped_backward_data,
    heddle_op_conv2d_grouped_backward_weight;

// Sizes that the rungs have in common.
typedef struct heddle_conv2d_group {
    int channels, filters; // of one group
    int out_h, out_w;
    size_t in_plane, out_plane;
} heddle_conv2d_group;

static inline heddle_conv2d_group heddle_conv2d_group_of(const heddle_conv2d_grouped_shape *shape)
{
    heddle_conv2d_group group;
    group.channels = shape->conv.c / shape->groups;
    group.filters = shape->conv.k / shape->groups;
    group.out_h = heddle_conv2d_extent(&shape->conv, shape->conv.h, shape->conv.r);
    group.out_w = heddle_conv2d_extent(&shape->conv, shape->conv.w, shape->conv.s);
    group.in_plane = (size_t)shape->conv.h * shape->conv.w;
    group.out_plane = (size_t)group.out_h * group.out_w;
    return group;
}

// Floats of shared memory for a filter in rung 02_block_per_plane.
enum { HEDDLE_CONV2D_GROUPED_FILTER = 4096 };

heddle_status heddle_conv2d_grouped_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_conv2d_grouped_backward_data_cpu_naive(const heddle_call *call);
heddle_status heddle_conv2d_grouped_backward_weight_cpu_naive(const heddle_call *call);
heddle_status heddle_conv2d_grouped_forward_cpu_planes(const heddle_call *call);
heddle_status heddle_conv2d_grouped_backward_data_cpu_planes(const heddle_call *call);
heddle_status heddle_conv2d_grouped_backward_weight_cpu_planes(const heddle_call *call);
