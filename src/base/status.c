// Status names and the thread's last error. Formatting only; who prints it is the caller's business.

#include "heddle/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { MESSAGE_SIZE = 1024 };

static _Thread_local char message[MESSAGE_SIZE];

const char *heddle_status_name(heddle_status status)
{
    switch (status) {
    case HEDDLE_OK: return "HEDDLE_OK";
    case HEDDLE_INVALID: return "HEDDLE_INVALID";
    case HEDDLE_NOT_FOUND: return "HEDDLE_NOT_FOUND";
    case HEDDLE_IO: return "HEDDLE_IO";
    case HEDDLE_CORRUPT: return "HEDDLE_CORRUPT";
    case HEDDLE_OUT_OF_MEMORY: return "HEDDLE_OUT_OF_MEMORY";
    case HEDDLE_UNSUPPORTED: return "HEDDLE_UNSUPPORTED";
    case HEDDLE_MISSING: return "HEDDLE_MISSING";
    case HEDDLE_DEVICE: return "HEDDLE_DEVICE";
    case HEDDLE_DIVERGED: return "HEDDLE_DIVERGED";
    case HEDDLE_INTERRUPTED: return "HEDDLE_INTERRUPTED";
    case HEDDLE_INTERNAL: return "HEDDLE_INTERNAL";
    }
    return "unknown status";
}

const char *heddle_last_error(void)
{
    return message;
}

heddle_status heddle_fail(heddle_status status, const char *format, ...)
{
    // Formatted aside first, so that the old message may be one of the arguments.
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    heddle_text_one_line(text);
    memcpy(message, text, sizeof message);
    return status;
}

heddle_status heddle_fail_within(heddle_status status, const char *format, ...)
{
    char context[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);

    char text[2 * MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s: %s", context, message);
    memcpy(message, text, sizeof message - 1);
    message[sizeof message - 1] = '\0';
    heddle_text_one_line(message);
    return status;
}
