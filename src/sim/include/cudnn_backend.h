// Part of cudnn.h, under the name that cuDNN also gives it.
#pragma once

#include <cudnn_graph.h>
