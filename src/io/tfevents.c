// Writes TensorBoard's event files. A record is: length (8 bytes), CRC of it, an Event, CRC of that. The fields and
// their numbers are those of tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto.

#include "io/tfevents.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/append.h"
#include "base/file.h"

static const char PREFIX[] = "events.out.tfevents.", SUFFIX[] = ".heddle";

enum {
    PATH_SIZE = 4096,
    HOST_SIZE = 64,
    // Wire types of protobuf.
    VARINT = 0,
    FIXED64 = 1,
    BYTES = 2,
    FIXED32 = 5,
    // Fields of Event.
    EVENT_WALL_TIME = 1,
    EVENT_STEP = 2,
    EVENT_FILE_VERSION = 3,
    EVENT_SUMMARY = 5,
    // Of Summary and Summary.Value.
    SUMMARY_VALUE = 1,
    VALUE_TAG = 1,
    VALUE_SIMPLE = 2,
    VALUE_TENSOR = 8,
    VALUE_METADATA = 9,
    // Of SummaryMetadata and its PluginData.
    METADATA_PLUGIN = 1,
    PLUGIN_NAME = 1,
    // Of TensorProto, TensorShapeProto and its Dim.
    TENSOR_TYPE = 1,
    TENSOR_SHAPE = 2,
    TENSOR_STRING = 8,
    SHAPE_DIM = 2,
    DIM_SIZE = 1,
    TYPE_STRING = 7,
};

struct heddle_tfevents {
    heddle_append *file;
    uint32_t table[256]; // of the CRC
};

// --- CRC-32C --------------------------------------------------------------------------------------------------------

static void fill_table(uint32_t table[256])
{
    const uint32_t polynomial = 0x82f63b78; // Castagnoli's, reflected
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? polynomial : 0);
        table[i] = crc;
    }
}

// A CRC over data that holds a CRC would be weak, so TensorFlow stores it turned and shifted.
static uint32_t masked_crc(const heddle_tfevents *events, const uint8_t *data, size_t size)
{
    const uint32_t shift = 0xa282ead8;
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < size; i++)
        crc = (crc >> 8) ^ events->table[(crc ^ data[i]) & 0xff];
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + shift;
}

// --- messages -------------------------------------------------------------------------------------------------------

// A message as it grows.
typedef struct message {
    uint8_t *data;
    size_t size;
    bool failed; // out of memory
} message;

static void put(message *to, const void *data, size_t size)
{
    uint8_t *more = to->failed || size == 0 ? NULL : realloc(to->data, to->size + size);
    to->failed |= more == NULL && size > 0;
    if (!more)
        return;
    memcpy(more + to->size, data, size);
    to->data = more;
    to->size += size;
}

static void put_little(message *to, uint64_t value, int bytes)
{
    uint8_t data[sizeof value];
    for (int i = 0; i < bytes; i++)
        data[i] = (uint8_t)(value >> (8 * i));
    put(to, data, (size_t)bytes);
}

static void put_varint(message *to, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put(to, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    put(to, &(uint8_t){(uint8_t)value}, 1);
}

static void put_key(message *to, int field, int type)
{
    put_varint(to, (uint64_t)field << 3 | (uint64_t)type);
}

static void put_number(message *to, int field, uint64_t value)
{
    put_key(to, field, VARINT);
    put_varint(to, value);
}

static void put_bytes(message *to, int field, const void *data, size_t size)
{
    put_key(to, field, BYTES);
    put_varint(to, size);
    put(to, data, size);
}

static void put_text(message *to, int field, const char *text)
{
    put_bytes(to, field, text, strlen(text));
}

// Puts `inner` into `to` and frees it.
static void put_message(message *to, int field, message *inner)
{
    to->failed |= inner->failed;
    put_bytes(to, field, inner->data, inner->size);
    free(inner->data);
    *inner = (message){0};
}

static void put_double(message *to, int field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(to, field, FIXED64);
    put_little(to, bits, sizeof bits);
}

static void put_float(message *to, int field, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_key(to, field, FIXED32);
    put_little(to, bits, sizeof bits);
}

// --- events ---------------------------------------------------------------------------------------------------------

// Frees the event.
static void add_record(heddle_tfevents *events, message *event)
{
    message record = {.failed = event->failed};
    put_little(&record, event->size, sizeof(uint64_t));
    if (!record.failed)
        put_little(&record, masked_crc(events, record.data, record.size), sizeof(uint32_t));
    put(&record, event->data, event->size);
    put_little(&record, masked_crc(events, event->data, event->size), sizeof(uint32_t));
    if (!record.failed) // without memory a point is left out
        heddle_append_add(events->file, record.data, record.size);
    free(record.data);
    free(event->data);
}

// Frees the value.
static void add_value(heddle_tfevents *events, double time, int64_t step, message *value)
{
    message event = {0}, summary = {0};
    put_message(&summary, SUMMARY_VALUE, value);
    put_double(&event, EVENT_WALL_TIME, time);
    put_number(&event, EVENT_STEP, (uint64_t)step);
    put_message(&event, EVENT_SUMMARY, &summary);
    add_record(events, &event);
}

void heddle_tfevents_scalar(heddle_tfevents *events, double time, int64_t step, const char *tag, double number)
{
    message value = {0};
    put_text(&value, VALUE_TAG, tag);
    put_float(&value, VALUE_SIMPLE, number);
    add_value(events, time, step, &value);
}

// A tensor of one string, and the name of the plugin that shows it.
void heddle_tfevents_text(heddle_tfevents *events, double time, const char *tag, const char *markdown)
{
    message value = {0}, plugin = {0}, metadata = {0}, dim = {0}, shape = {0}, tensor = {0};
    put_text(&plugin, PLUGIN_NAME, "text");
    put_message(&metadata, METADATA_PLUGIN, &plugin);
    put_number(&dim, DIM_SIZE, 1);
    put_message(&shape, SHAPE_DIM, &dim);
    put_number(&tensor, TENSOR_TYPE, TYPE_STRING);
    put_message(&tensor, TENSOR_SHAPE, &shape);
    put_text(&tensor, TENSOR_STRING, markdown);
    put_text(&value, VALUE_TAG, tag);
    put_message(&value, VALUE_TENSOR, &tensor);
    put_message(&value, VALUE_METADATA, &metadata);
    add_value(events, time, 0, &value);
}

// --- the file -------------------------------------------------------------------------------------------------------

static bool is_ours(const char *name)
{
    const size_t length = strlen(name), end = sizeof SUFFIX - 1;
    return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && length > end && strcmp(name + length - end, SUFFIX) == 0;
}

static void remove_earlier(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    // cppcheck-suppress readdirCalled ; the stream is ours alone, and readdir_r is deprecated
    while (entries && (entry = readdir(entries)) != NULL)
        if (is_ours(entry->d_name))
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

heddle_status heddle_tfevents_create(const char *folder, heddle_tfevents **events)
{
    char path[PATH_SIZE], host[HOST_SIZE] = "";
    const time_t now = time(NULL);
    (void)gethostname(host, sizeof host - 1);
    host[sizeof host - 1] = '\0';
    *events = NULL;
    if (snprintf(path, sizeof path, "%s/%s%lld.%s%s", folder, PREFIX, (long long)now, host, SUFFIX) >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", PATH_SIZE);
    HEDDLE_TRY(heddle_folder_create(folder));
    remove_earlier(folder);
    heddle_tfevents *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for TensorBoard's events", path);
    heddle_status status = heddle_append_open(path, "TensorBoard's events", &made->file);
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    fill_table(made->table);
    message event = {0};
    put_double(&event, EVENT_WALL_TIME, (double)now);
    put_text(&event, EVENT_FILE_VERSION, "brain.Event:2");
    add_record(made, &event);
    *events = made;
    return HEDDLE_OK;
}

void heddle_tfevents_close(heddle_tfevents *events)
{
    if (!events)
        return;
    heddle_append_close(events->file);
    free(events);
}
