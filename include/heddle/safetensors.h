// safetensors files: named arrays with a JSON header, as Hugging Face defines them. Fully validated before use; written
// so that a crash leaves the old file or the new one.
#ifndef HEDDLE_SAFETENSORS_H
#define HEDDLE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "heddle/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_SAFETENSORS_MAX_RANK = 8 };

typedef struct heddle_array {
    const char *name;
    heddle_dtype dtype;
    int rank;
    int64_t dims[HEDDLE_SAFETENSORS_MAX_RANK];
    const void *data;
    size_t bytes;
} heddle_array;

typedef struct heddle_text_pair {
    const char *key, *value;
} heddle_text_pair;

typedef struct heddle_safetensors heddle_safetensors;

HEDDLE_API heddle_status heddle_safetensors_open(const char *path, heddle_safetensors **file);
// The same from memory, which must outlive it; `what` names it in errors.
HEDDLE_API heddle_status heddle_safetensors_parse(const char *what, const void *content, size_t size,
                                                  heddle_safetensors **file);
HEDDLE_API void heddle_safetensors_close(heddle_safetensors *file);
HEDDLE_API int heddle_safetensors_count(const heddle_safetensors *file);
HEDDLE_API const heddle_array *heddle_safetensors_at(const heddle_safetensors *file, int index);
HEDDLE_API const heddle_array *heddle_safetensors_find(const heddle_safetensors *file, const char *name); // or NULL
HEDDLE_API const char *heddle_safetensors_metadata(const heddle_safetensors *file, const char *key);      // or NULL

// Notes two CRC-32s in the metadata, tensors_crc32 of the tensors' names and bytes and header_crc32 of everything else
// that the header says, both whatever the order; and as heddle.checksums that both are there. Reading a file that has
// them holds it against them.
HEDDLE_API heddle_status heddle_safetensors_write(const char *path, const heddle_array *arrays, int count,
                                                  const heddle_text_pair *metadata, int metadata_count);

#ifdef __cplusplus
}
#endif
#endif
