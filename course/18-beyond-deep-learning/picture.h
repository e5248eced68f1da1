// Writes a grey or colour picture as a PNG file, uncompressed: a header, one block of stored data, checksums.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t crc_of(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static uint8_t *put(uint8_t *to, uint32_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *to++ = (uint8_t)(number >> 8 * i);
    return to;
}

// A chunk: length, name, contents, checksum of name and contents. `contents` has 4 bytes of room before it.
static void write_chunk(FILE *file, const char *name, uint8_t *contents, size_t count)
{
    uint8_t number[4];
    for (int i = 0; i < 4; i++)
        contents[i - 4] = (uint8_t)name[i];
    fwrite(number, 1, (size_t)(put(number, (uint32_t)count, 4) - number), file);
    fwrite(contents - 4, 1, count + 4, file);
    fwrite(number, 1, (size_t)(put(number, crc_of(contents - 4, count + 4), 4) - number), file);
}

// pixels: (height, width, channels), channels 1 or 3. Returns false if the file cannot be written.
static inline bool write_picture(const char *path, const uint8_t *pixels, int width, int height, int channels)
{
    size_t row = (size_t)width * channels, raw = (row + 1) * height, blocks = (raw + 65534) / 65535;
    uint8_t header[4 + 13], *data = (uint8_t *)malloc(4 + 2 + raw + 5 * blocks + 4), *to = data + 4;
    FILE *file = fopen(path, "wb");
    if (file == NULL || data == NULL) {
        fprintf(stderr, "%s cannot be written\n", path);
        return false;
    }
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    uint8_t *at = put(put(header + 4, (uint32_t)width, 4), (uint32_t)height, 4);
    put(put(at, 8, 1), channels == 3 ? 2u << 24 : 0, 4); // 8 bits; colour or grey; no filter, not interlaced
    write_chunk(file, "IHDR", header + 4, 13);
    to = put(to, 0x7801, 2);
    uint32_t low = 1, high = 0;
    for (size_t done = 0; done < raw;) {
        size_t count = raw - done < 65535 ? raw - done : 65535;
        *to++ = done + count == raw; // the last block?
        for (int i = 0; i < 2; i++) {
            uint32_t length = i == 0 ? (uint32_t)count : ~(uint32_t)count;
            *to++ = (uint8_t)length;
            *to++ = (uint8_t)(length >> 8);
        }
        for (size_t end = done + count; done < end; done++) {
            uint8_t byte = done % (row + 1) == 0 ? 0 : pixels[done / (row + 1) * row + done % (row + 1) - 1];
            *to++ = byte;
            low = (low + byte) % 65521;
            high = (high + low) % 65521;
        }
    }
    to = put(to, high << 16 | low, 4);
    write_chunk(file, "IDAT", data + 4, (size_t)(to - data - 4));
    write_chunk(file, "IEND", header + 4, 0);
    free(data);
    return fclose(file) == 0;
}
