// TensorBoard's event files: scalars over steps, and a page of text. Records are protobuf messages in TensorFlow's
// record framing, of which a training run needs six fields; they are written here by hand.
#pragma once

#include <stdint.h>

#include "heddle/status.h"

typedef struct heddle_tfevents heddle_tfevents;

// Creates an event file in `folder`, which is created too, and removes those that were created here before.
heddle_status heddle_tfevents_create(const char *folder, heddle_tfevents **events);
// `time` is in seconds since 1970.
void heddle_tfevents_scalar(heddle_tfevents *events, double time, int64_t step, const char *tag, double number);
// Markdown, under Text.
void heddle_tfevents_text(heddle_tfevents *events, double time, const char *tag, const char *markdown);
// NULL is allowed.
void heddle_tfevents_close(heddle_tfevents *events);
