// The samples' helper_image.h, written anew: PGM and PPM pictures, raw files, and comparing results with references.
#pragma once
#define COMMON_HELPER_IMAGE_H_

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <exception.h>
#include <helper_string.h>

#ifndef MIN
#define MIN(a, b) ((a < b) ? a : b)
#endif
#ifndef MAX
#define MAX(a, b) ((a > b) ? a : b)
#endif
#ifndef MIN_EPSILON_ERROR
#define MIN_EPSILON_ERROR 1e-3f
#endif

namespace sim
{
// The next number of a picture's header; -1 at its end.
inline int sample_header_number(FILE *file)
{
    int c = fgetc(file);
    while (c != EOF && (isspace(c) || c == '#')) {
        if (c == '#')
            while (c != EOF && c != '\n')
                c = fgetc(file);
        c = fgetc(file);
    }
    int number = -1;
    for (; c != EOF && isdigit(c); c = fgetc(file))
        number = (number < 0 ? 0 : number) * 10 + (c - '0');
    return number;
}

// malloc'ed memory, as the samples' callers free() it.
template <class T> inline T *sample_array(size_t count)
{
    return (T *)malloc(sizeof(T) * (count ? count : 1));
}

template <class T> inline T sample_from_byte(unsigned char value)
{
    return (T)value / (T)255;
}
template <> inline unsigned char sample_from_byte<unsigned char>(unsigned char value)
{
    return value;
}
template <class T> inline unsigned char sample_to_byte(T value)
{
    return (unsigned char)(value * (T)255);
}
template <> inline unsigned char sample_to_byte<unsigned char>(unsigned char value)
{
    return value;
}
} // namespace sim

inline bool __loadPPM(const char *file, unsigned char **data, unsigned int *w, unsigned int *h, unsigned int *channels)
{
    FILE *picture = fopen(file, "rb");
    if (!picture) {
        std::cerr << "__LoadPPM() : Failed to open file: " << file << std::endl;
        return false;
    }
    char magic[3] = {0, 0, 0};
    bool good = fread(magic, 1, 2, picture) == 2 && (strcmp(magic, "P5") == 0 || strcmp(magic, "P6") == 0);
    *channels = good && magic[1] == '5' ? 1 : 3;
    int width = good ? sim::sample_header_number(picture) : -1, height = good ? sim::sample_header_number(picture) : -1;
    good = good && sim::sample_header_number(picture) > 0 && width > 0 && height > 0;
    if (good && *data && (*w != (unsigned)width || *h != (unsigned)height)) {
        std::cerr << "__LoadPPM() : Invalid image dimensions." << std::endl;
        good = false;
    }
    if (good) {
        *w = (unsigned)width;
        *h = (unsigned)height;
        size_t bytes = (size_t)width * (size_t)height * *channels;
        if (!*data)
            *data = sim::sample_array<unsigned char>(bytes);
        good = fread(*data, 1, bytes, picture) == bytes;
        if (!good)
            std::cerr << "__LoadPPM() read data returned error." << std::endl;
    }
    fclose(picture);
    return good;
}

inline bool __savePPM(const char *file, unsigned char *data, unsigned int w, unsigned int h, unsigned int channels)
{
    FILE *picture = fopen(file, "wb");
    if (!picture) {
        std::cerr << "__savePPM() : Opening file failed." << std::endl;
        return false;
    }
    size_t bytes = (size_t)w * h * channels;
    fprintf(picture, "%s\n%u\n%u\n%d\n", channels == 1 ? "P5" : "P6", w, h, 255);
    bool good = fwrite(data, 1, bytes, picture) == bytes;
    return fclose(picture) == 0 && good;
}

template <class T> inline bool sdkLoadPGM(const char *file, T **data, unsigned int *w, unsigned int *h)
{
    unsigned char *bytes = NULL;
    unsigned int channels = 0;
    if (!__loadPPM(file, &bytes, w, h, &channels) || channels != 1) {
        free(bytes);
        return false;
    }
    size_t count = (size_t)*w * *h;
    if (!*data)
        *data = sim::sample_array<T>(count);
    for (size_t i = 0; i < count; i++)
        (*data)[i] = sim::sample_from_byte<T>(bytes[i]);
    free(bytes);
    return true;
}

template <class T> inline bool sdkSavePGM(const char *file, T *data, unsigned int w, unsigned int h)
{
    std::vector<unsigned char> bytes((size_t)w * h);
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = sim::sample_to_byte<T>(data[i]);
    return __savePPM(file, bytes.data(), w, h, 1);
}

template <class T> inline bool sdkLoadPPM4(const char *file, T **data, unsigned int *w, unsigned int *h)
{
    unsigned char *bytes = NULL;
    unsigned int channels = 0;
    if (!__loadPPM(file, &bytes, w, h, &channels) || channels != 3) {
        free(bytes);
        return false;
    }
    size_t count = (size_t)*w * *h;
    if (!*data)
        *data = sim::sample_array<T>(count * 4);
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++)
            (*data)[4 * i + c] = sim::sample_from_byte<T>(bytes[3 * i + c]);
        (*data)[4 * i + 3] = 0;
    }
    free(bytes);
    return true;
}

inline bool sdkLoadPPM4ub(const char *file, unsigned char **data, unsigned int *w, unsigned int *h)
{
    return sdkLoadPPM4<unsigned char>(file, data, w, h);
}

inline bool sdkSavePPM4ub(const char *file, unsigned char *data, unsigned int w, unsigned int h)
{
    size_t count = (size_t)w * h;
    std::vector<unsigned char> bytes(count * 3);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            bytes[3 * i + c] = data[4 * i + c];
    return __savePPM(file, bytes.data(), w, h, 3);
}

inline bool sdkSavePPM3ub(const char *file, unsigned char *data, unsigned int w, unsigned int h)
{
    return __savePPM(file, data, w, h, 3);
}

// Numbers as text, separated by white space; *length 0: as many as there are.
template <class T> inline bool sdkReadFile(const char *filename, T **data, unsigned int *length, bool verbose)
{
    std::ifstream file(filename);
    if (!file.good()) {
        if (verbose)
            std::cerr << "sdkReadFile() : Opening file failed." << std::endl;
        return false;
    }
    std::vector<T> numbers;
    for (T number; file >> number;)
        numbers.push_back(number);
    if (*data && *length && *length != numbers.size()) {
        std::cerr << "sdkReadFile() : Initialized memory given but size mismatch with signal read " << std::endl;
        return false;
    }
    if (!*data)
        *data = sim::sample_array<T>(numbers.size());
    *length = (unsigned)numbers.size();
    std::copy(numbers.begin(), numbers.end(), *data);
    return true;
}

template <class T, class S>
inline bool sdkWriteFile(const char *filename, const T *data, unsigned int length, const S epsilon, bool verbose,
                         bool append = false)
{
    std::ofstream file(filename, append ? std::ios::app : std::ios::out);
    if (!file.good()) {
        if (verbose)
            std::cerr << "sdkWriteFile() : Opening file failed." << std::endl;
        return false;
    }
    file << "# " << epsilon << "\n";
    for (unsigned i = 0; i < length; i++)
        file << data[i] << ' ';
    file << std::endl;
    return file.good();
}

// Whether at most `threshold` (a share of all) of the values differ by more than epsilon.
template <class T, class S>
inline bool compareData(const T *reference, const T *data, const unsigned int length, const S epsilon,
                        const float threshold)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < length; i++) {
        double difference = (double)reference[i] - (double)data[i];
        if (!(difference <= (double)epsilon && difference >= -(double)epsilon))
            wrong++;
    }
    if (threshold == 0.0f)
        return wrong == 0;
    if (wrong)
        printf("%4.2f(%%) of bytes mismatched (count=%u)\n", (double)wrong * 100 / (double)length, wrong);
    return (float)length * threshold > (float)wrong;
}

template <class T, class S>
inline bool compareDataAsFloatThreshold(const T *reference, const T *data, const unsigned int length, const S epsilon,
                                        const float threshold)
{
    return compareData(reference, data, length, MAX((float)epsilon, 0.0f), threshold);
}

inline bool compareDataAsFloat(const float *reference, const float *data, const unsigned int length,
                               const float epsilon)
{
    return compareData(reference, data, length, epsilon, 0.0f);
}

inline bool sdkCompareL2fe(const float *reference, const float *data, const unsigned int length, const float epsilon)
{
    double error = 0, norm = 0;
    for (unsigned i = 0; i < length; i++) {
        double difference = (double)reference[i] - (double)data[i];
        error += difference * difference;
        norm += (double)reference[i] * (double)reference[i];
    }
    if (std::fabs(std::sqrt(norm)) < 1e-7) {
        std::cerr << "ERROR, reference l2-norm is 0\n";
        return false;
    }
    bool good = std::sqrt(error) / std::sqrt(norm) < (double)epsilon;
    if (!good)
        std::cerr << "ERROR, l2-norm error " << std::sqrt(error) / std::sqrt(norm) << " is greater than epsilon "
                  << epsilon << "\n";
    return good;
}

namespace sim
{
template <class T> inline bool sample_read_raw(const char *name, const char *executable, std::vector<T> &values)
{
    char *path = sdkFindFilePath(name, executable);
    FILE *file = path ? fopen(path, "rb") : NULL;
    bool good = file && fread(values.data(), sizeof(T), values.size(), file) == values.size();
    if (!good)
        printf("could not read %u values from file <%s>\n", (unsigned)values.size(), name);
    if (file)
        fclose(file);
    free(path);
    return good;
}

template <class T>
inline bool sample_compare_raw(const char *source, const char *reference, unsigned count, float epsilon,
                               float threshold, char *executable)
{
    std::vector<T> left(count), right(count);
    return sample_read_raw(source, executable, left) && sample_read_raw(reference, executable, right) &&
           compareData(right.data(), left.data(), count, epsilon, threshold);
}
} // namespace sim

template <class T>
inline bool sdkCompareBin2BinUint(const char *source, const char *reference, T count, const float epsilon,
                                  const float threshold, char *executable)
{
    return sim::sample_compare_raw<unsigned int>(source, reference, (unsigned)count, epsilon, threshold, executable);
}

inline bool sdkCompareBin2BinFloat(const char *source, const char *reference, unsigned int count, const float epsilon,
                                   const float threshold, char *executable)
{
    return sim::sample_compare_raw<float>(source, reference, count, epsilon, threshold, executable);
}

template <class T> inline void sdkDumpBin(T *data, unsigned int bytes, const char *filename)
{
    FILE *file = fopen(filename, "wb");
    if (!file)
        return;
    if (fwrite(data, bytes, 1, file) != 1)
        fprintf(stderr, "sdkDumpBin: <%s> could not be written\n", filename);
    fclose(file);
}

namespace sim
{
inline bool sample_compare_pictures(const char *source, const char *reference, float epsilon, float threshold)
{
    unsigned char *left = NULL, *right = NULL;
    unsigned w[2] = {0, 0}, h[2] = {0, 0}, channels[2] = {0, 0};
    bool good = __loadPPM(source, &left, &w[0], &h[0], &channels[0]) &&
                __loadPPM(reference, &right, &w[1], &h[1], &channels[1]) && w[0] == w[1] && h[0] == h[1] &&
                channels[0] == channels[1];
    good = good && compareData(right, left, w[0] * h[0] * channels[0], epsilon, threshold);
    free(left);
    free(right);
    return good;
}
} // namespace sim

inline bool sdkComparePPM(const char *source, const char *reference, const float epsilon, const float threshold,
                          bool verbose)
{
    bool good = sim::sample_compare_pictures(source, reference, epsilon, threshold);
    if (verbose)
        std::cout << (good ? "    OK\n" : "    FAILURE!\n");
    return good;
}

inline bool sdkComparePGM(const char *source, const char *reference, const float epsilon, const float threshold,
                          bool verbose)
{
    return sdkComparePPM(source, reference, epsilon, threshold, verbose);
}

inline unsigned char *sdkLoadFile(const char *filename, size_t *bytes)
{
    FILE *file = fopen(filename, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    unsigned char *data = sim::sample_array<unsigned char>((size_t)size);
    *bytes = fread(data, 1, (size_t)size, file);
    fclose(file);
    return data;
}
