// A program of somebody else's: includes all of the public API, opens a device, and makes heddle fail on purpose.

#include <stdio.h>
#include <string.h>

#include <heddle/heddle.h>

int main(void)
{
    heddle_device *device;
    if (heddle_device_open("cpu", 1, &device) != HEDDLE_OK) {
        fprintf(stderr, "%s\n", heddle_last_error());
        return 1;
    }
    heddle_device_close(device);
    if (heddle_device_open("nosuch", 1, &device) == HEDDLE_OK || strlen(heddle_last_error()) == 0)
        return 1;
    printf("heddle %s\n", heddle_version());
    return 0;
}
