// `heddle version`: the version of heddle, its compiler, and its libraries.

#include <stdio.h>

#include <cjson/cJSON.h>
#include <zlib.h>

#ifdef HEDDLE_HAVE_OPENBLAS
#include <cblas.h>
#endif
#ifdef HEDDLE_HAVE_CURL
#include <curl/curl.h>
#endif
#ifdef HEDDLE_HAVE_CRYPTO
#include <openssl/crypto.h>
#endif
#ifdef HEDDLE_HAVE_PNG
#include <png.h>
#endif
#ifdef HEDDLE_HAVE_JPEG
#include <jpeglib.h>
#define TEXT(value)    TEXT_OF(value)
#define TEXT_OF(value) #value
#endif

#include "cli/cli.h"
#include "cli/json.h"
#include "heddle/device.h"
#include "heddle/heddle.h"

enum { MOST_PARTS = 16, VERSION_SIZE = 160 };

typedef struct version_settings {
    heddle_cli_json json;
} version_settings;

static const heddle_cli_option options[] = {
    HEDDLE_CLI_JSON_OPTION(offsetof(version_settings, json)),
};

typedef struct part {
    const char *name;
    char version[VERSION_SIZE];
} part;

static void add(part *parts, int *count, const char *name, const char *version)
{
    parts[*count].name = name;
    snprintf(parts[(*count)++].version, VERSION_SIZE, "%s", version);
}

static void add_cpu(part *parts, int *count)
{
    heddle_device *device;
    heddle_device_info info;
    if (heddle_device_open("cpu", 1, &device) != HEDDLE_OK)
        return;
    if (heddle_device_describe(device, &info) == HEDDLE_OK)
        add(parts, count, "instructions", info.instructions);
    heddle_device_close(device);
}

static void collect(part *parts, int *count)
{
    add(parts, count, "heddle", heddle_version());
#ifdef __clang__
    add(parts, count, "compiler", __VERSION__); // begins with its name
#else
    add(parts, count, "compiler", "gcc " __VERSION__);
#endif
    add_cpu(parts, count);
    add(parts, count, "zlib", zlibVersion());
    add(parts, count, "cJSON", cJSON_Version());
#ifdef HEDDLE_HAVE_OPENBLAS
    add(parts, count, "OpenBLAS", openblas_get_config());
#else
    add(parts, count, "OpenBLAS", "not in this build");
#endif
#ifdef HEDDLE_HAVE_CURL
    add(parts, count, "libcurl", curl_version_info(CURLVERSION_NOW)->version);
#else
    add(parts, count, "libcurl", "not in this build");
#endif
#ifdef HEDDLE_HAVE_CRYPTO
    add(parts, count, "libcrypto", OpenSSL_version(OPENSSL_VERSION));
#else
    add(parts, count, "libcrypto", "not in this build");
#endif
#ifdef HEDDLE_HAVE_PNG
    add(parts, count, "libpng", png_get_libpng_ver(NULL));
#else
    add(parts, count, "libpng", "not in this build");
#endif
#if defined HEDDLE_HAVE_JPEG && defined LIBJPEG_TURBO_VERSION
    add(parts, count, "libjpeg", "turbo " TEXT(LIBJPEG_TURBO_VERSION));
#elif defined HEDDLE_HAVE_JPEG
    add(parts, count, "libjpeg", TEXT(JPEG_LIB_VERSION));
#else
    add(parts, count, "libjpeg", "not in this build");
#endif
}

static int run_command(int argc, char **argv)
{
    version_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_version, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    part parts[MOST_PARTS];
    int count = 0;
    collect(parts, &count);
    cJSON *all = cJSON_CreateObject();
    for (int i = 0; i < count; i++)
        cJSON_AddStringToObject(all, parts[i].name, parts[i].version);
    for (int i = 0; i < count && !settings.json.print; i++)
        printf(i == 0 ? "%s %s\n" : "  %-12s  %s\n", parts[i].name, parts[i].version);
    return heddle_cli_json_exit(&settings.json, all);
}

const heddle_cli_command heddle_command_version = {
    .name = "version",
    .summary = "show the version of heddle, its compiler and its libraries",
    .example = "heddle version",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
