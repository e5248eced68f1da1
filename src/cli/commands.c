// The list of commands. It alone refers to all of them, so that a test can link one without the rest.

#include "cli/cli.h"

const heddle_cli_command *const heddle_cli_commands[] = {
    &heddle_command_train,   &heddle_command_eval,
    &heddle_command_predict, &heddle_command_bench,
    &heddle_command_check,   &heddle_command_pipeline,
    &heddle_command_trace,   &heddle_command_data,
    &heddle_command_ops,     &heddle_command_devices,
    &heddle_command_doctor,  &heddle_command_help,
    &heddle_command_version, NULL,
};
