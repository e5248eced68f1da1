// The device that a command runs on: the one that --device names, or the default, which is the same for all commands.
#pragma once

#include <stdio.h>

#include "dist/dist.h"
#include "heddle/device.h"

#define HEDDLE_CLI_DEVICE_HELP "cpu, cuda, cuda:1 or sim; default: cuda if a GPU is available, else cpu"

typedef struct heddle_cli_device {
    heddle_device *device;
    heddle_device_kind kind;
    char reason[160]; // why the default is this one; "": --device names it
} heddle_cli_device;

// `name` is the value of --device, or NULL. If a GPU is named and missing, the message ends with `instead`: what to do
// without one. NULL: the advice of heddle_device_open.
heddle_status heddle_cli_device_open(const char *name, int threads, const char *instead, heddle_cli_device *opened);
// The same for all ranks together: each rank of a machine gets its own GPU, and the default is a GPU only if every rank
// has one. All ranks succeed or all fail.
heddle_status heddle_cli_device_open_ranks(heddle_dist *dist, const char *name, int threads, const char *instead,
                                           heddle_cli_device *opened);
void heddle_cli_device_close(heddle_cli_device *opened);

// " (default: no NVIDIA driver is loaded)", or "" if --device was given; returns `text`.
const char *heddle_cli_device_reason(const heddle_cli_device *opened, char *text, size_t size);
// Prints "device  cpu (default: no NVIDIA driver is loaded)"; nothing if --device was given.
void heddle_cli_device_print(const heddle_cli_device *opened, FILE *file);
// Adds "device", unless it is there already, and "device_reason" to a JSON object.
struct cJSON;
void heddle_cli_device_add(const heddle_cli_device *opened, struct cJSON *json);
