// The samples' helper_string.h, written anew: reading `--name=value` arguments and finding data files.
#pragma once
#define COMMON_HELPER_STRING_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <strings.h>

#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#endif
#ifndef STRNCASECMP
#define STRNCASECMP strncasecmp
#endif
#ifndef STRCPY
#define STRCPY(to, bytes, from) strcpy(to, from)
#endif
#ifndef FOPEN
#define FOPEN(handle, name, mode) (handle = fopen(name, mode))
#endif
#ifndef FOPEN_FAIL
#define FOPEN_FAIL(result) (result == NULL)
#endif
#ifndef SSCANF
#define SSCANF sscanf
#endif
#ifndef SPRINTF
#define SPRINTF sprintf
#endif
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

// The index of the first character of `string` that is not the delimiter.
inline int stringRemoveDelimiter(char delimiter, const char *string)
{
    int start = 0;
    while (string[start] == delimiter)
        start++;
    return start >= (int)strlen(string) - 1 ? 0 : start;
}

inline int getFileExtension(char *filename, char **extension)
{
    char *dot = strrchr(filename, '.');
    *extension = dot ? dot + 1 : NULL;
    return dot ? (int)(dot + 1 - filename) : 0;
}

namespace sim
{
// What follows `name` in the last argument of that name ("" for a bare flag); NULL where there is none.
inline const char *sample_argument(int argc, const char **argv, const char *name)
{
    const char *found = NULL;
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i] + stringRemoveDelimiter('-', argv[i]);
        const char *equals = strchr(argument, '=');
        size_t own = equals ? (size_t)(equals - argument) : strlen(argument);
        if (own == length && strncasecmp(argument, name, length) == 0)
            found = equals ? equals + 1 : argument + own;
    }
    return found;
}
} // namespace sim

inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name)
{
    return sim::sample_argument(argc, argv, name) != NULL;
}

template <class T> inline bool getCmdLineArgumentValue(const int argc, const char **argv, const char *name, T *value)
{
    const char *text = sim::sample_argument(argc, argv, name);
    if (text)
        *value = (T)atoi(text);
    return text != NULL;
}

inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name)
{
    const char *text = sim::sample_argument(argc, argv, name);
    return text ? atoi(text) : 0;
}

inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name)
{
    const char *text = sim::sample_argument(argc, argv, name);
    return text ? (float)atof(text) : 0.0f;
}

inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name, char **value)
{
    const char *text = sim::sample_argument(argc, argv, name);
    *value = const_cast<char *>(text);
    return text != NULL;
}

// Where the samples keep their data, seen from where programs are run. The result is the caller's to free; NULL: not
// found.
inline char *sdkFindFilePath(const char *filename, const char *executable_path)
{
    static const char *const places[] = {"./",
                                         "./data/",
                                         "../data/",
                                         "./Data/",
                                         "../",
                                         "../../",
                                         "../../data/",
                                         "../../../data/",
                                         "../../Common/data/",
                                         "../../../Common/data/"};
    std::string beside;
    if (executable_path) {
        beside = executable_path;
        size_t slash = beside.rfind('/');
        beside = slash == std::string::npos ? "" : beside.substr(0, slash + 1);
    }
    for (int pass = 0; pass < 2; pass++)
        for (const char *place : places) {
            std::string path = (pass ? beside : std::string()) + place + filename;
            if (std::ifstream(path).good())
                return strdup(path.c_str());
        }
    return NULL;
}
