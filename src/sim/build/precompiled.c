// The cache of precompiled headers: a folder for each combination of compiler, flags and header files, named by a hash
// of them. Made under a temporary name and renamed, so that a reader sees all or nothing; those that make the same one
// at the same time wait for each other.

#include "build/precompiled.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "build/process.h"
#include "build/temporary.h"

enum { MOST_ENTRIES = 18, DEEPEST_FOLDER = 8, MOST_ROUNDS = 64 };

const char *const sim_vector_headers[] = {"vector", "algorithm", NULL};
const char *const sim_slow_headers[] = {"iostream",   "string", "fstream", "sstream", "iomanip", "map",
                                        "functional", "random", "chrono",  "memory",  "numeric", NULL};

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u; // FNV-1a
    return hash;
}

static uint64_t mix_file(uint64_t hash, const char *path)
{
    struct stat about;
    hash = mix(hash, path, strlen(path) + 1);
    if (stat(path, &about) != 0)
        return hash;
    hash = mix(hash, &about.st_size, sizeof about.st_size);
    hash = mix(hash, &about.st_ino, sizeof about.st_ino);
    return mix(hash, &about.st_mtim, sizeof about.st_mtim);
}

// All files below a folder, in any order: their hashes are added up.
static uint64_t hash_folder(const char *folder, int depth)
{
    uint64_t sum = 0;
    DIR *entries = opendir(folder);
    if (!entries)
        return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[4096];
        struct stat about;
        if (entry->d_name[0] == '.' ||
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path ||
            stat(path, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode) && depth < DEEPEST_FOLDER)
            sum += hash_folder(path, depth + 1);
        else
            sum += mix_file(0xcbf29ce484222325u, path);
    }
    closedir(entries);
    return sum;
}

// gcc keeps the names of the headers inside, for lists of what a program was made of (-MD), only where it writes one.
static const char *const keep_names[] = {"-MD", "-MF", "/dev/null", NULL};

// libstdc++'s header of C++17's special functions. Every program that has read it compiles a hundred templates, which
// takes a quarter of the time for a small one, and hardly any program calls one of them.
#define SPECIAL_FUNCTIONS "_GLIBCXX_BITS_SPECFUN_H"
static const char *const special_functions[] = {"assoc_laguerre", "assoc_legendre", "beta",        "comp_ellint_",
                                                "cyl_bessel_",    "cyl_neumann",    "ellint_",     "expint",
                                                "hermite",        "laguerre",       "legendre",    "riemann_zeta",
                                                "sph_bessel",     "sph_legendre",   "sph_neumann", NULL};

static uint64_t hash_all(const sim_precompiled *wanted)
{
    uint64_t hash = hash_folder(wanted->home->headers, 0);
    hash = mix(hash, &wanted->kind, sizeof wanted->kind);
    hash = mix_file(hash, wanted->compiler->path);
    hash = mix(hash, &wanted->compiler->version, sizeof wanted->compiler->version);
    hash = mix_file(hash, "/usr/include/stdlib.h"); // stands for the C library's headers
    hash = mix(hash, SPECIAL_FUNCTIONS, sizeof SPECIAL_FUNCTIONS);
    for (int i = 0; i < wanted->flags->count; i++)
        hash = mix(hash, wanted->flags->at[i], strlen(wanted->flags->at[i]) + 1);
    for (int i = 0; keep_names[i]; i++)
        hash = mix(hash, keep_names[i], strlen(keep_names[i]) + 1);
    return hash;
}

static void write_includes(FILE *file, const char *const *names)
{
    for (; *names; names++)
        fprintf(file, "#include <%s>\n", *names);
}

static bool write_forwarder(const char *path, const sim_home *home, sim_standin_kind kind)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "#define " SPECIAL_FUNCTIONS " 1\n#include \"%s/sim/standin.h\"\n", home->headers);
    if (kind != SIM_STANDIN_FAST)
        write_includes(file, sim_vector_headers);
    if (kind == SIM_STANDIN_SLOW)
        write_includes(file, sim_slow_headers);
    fprintf(file, "#undef " SPECIAL_FUNCTIONS "\n");
    return fclose(file) == 0;
}

static bool precompile(const sim_precompiled *wanted, const char *header, const char *result)
{
    char temporary[4096 + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld", result, (long)getpid());
    sim_arguments call = {0};
    sim_arguments_add(&call, wanted->compiler->path);
    sim_arguments_add_list(&call, wanted->flags->at);
    sim_arguments_add_list(&call, keep_names);
    const char *const rest[] = {"-I", wanted->home->headers, "-x", "c++-header", header, "-o", temporary, NULL};
    sim_arguments_add_list(&call, rest);
    sim_text messages = {0};
    int slot = sim_temporary_watch(temporary);
    bool fine =
        !call.failed && sim_process_run(call.at, &messages, wanted->limits) == 0 && rename(temporary, result) == 0;
    if (!fine)
        unlink(temporary);
    sim_temporary_forget(slot);
    sim_text_free(&messages);
    sim_arguments_free(&call);
    return fine;
}

// Removes the entries that were not used for longest, so that the cache does not grow for ever.
static void prune(const char *cache)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        DIR *entries = opendir(cache);
        char oldest[4096] = "", path[4096];
        struct timespec oldest_time = {0};
        int count = 0;
        for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
            struct stat about;
            if (entry->d_name[0] == '.' ||
                (size_t)snprintf(path, sizeof path, "%s/%s", cache, entry->d_name) >= sizeof path ||
                stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
                continue;
            count++;
            if (!oldest[0] || about.st_mtim.tv_sec < oldest_time.tv_sec) {
                memcpy(oldest, path, strlen(path) + 1);
                oldest_time = about.st_mtim;
            }
        }
        if (entries)
            closedir(entries);
        if (count <= MOST_ENTRIES)
            return;
        sim_folder_remove(oldest);
    }
}

// The size that the header had when it was made stands in the file that locks it. A header that a crash or a full disk
// has cut short has another.
static bool is_whole(const char *folder, const char *result)
{
    char path[4096], text[32] = "";
    struct stat about;
    if (stat(result, &about) != 0 || (size_t)snprintf(path, sizeof path, "%s/lock", folder) >= sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    bool known = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    return known && strtoll(text, NULL, 10) == (long long)about.st_size;
}

static bool note_size(int lock, const char *result)
{
    char text[32];
    struct stat about;
    if (stat(result, &about) != 0)
        return false;
    int length = snprintf(text, sizeof text, "%lld\n", (long long)about.st_size);
    return ftruncate(lock, 0) == 0 && pwrite(lock, text, (size_t)length, 0) == length;
}

// All but the lock: whoever holds it is the only one to make this entry, so that the rest is of one that was killed.
static void empty_entry(const char *folder)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lock") != 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

// Makes the entry unless another process does so first.
static bool make_entry(const sim_precompiled *wanted, const char *folder, const char *header, const char *result)
{
    char lock_path[4096];
    mkdir(folder, 0700);
    if ((size_t)snprintf(lock_path, sizeof lock_path, "%s/lock", folder) >= sizeof lock_path)
        return false;
    int lock = open(lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (lock < 0)
        return false;
    flock(lock, LOCK_EX);
    bool fine = is_whole(folder, result);
    if (!fine) {
        empty_entry(folder);
        fine = write_forwarder(header, wanted->home, wanted->kind) && precompile(wanted, header, result) &&
               note_size(lock, result);
    }
    close(lock);
    return fine;
}

bool sim_precompiled_include(const sim_precompiled *wanted, sim_arguments *arguments, char *storage, size_t room)
{
    char cache[1024], folder[2048], header[2100], result[2200];
    bool fine = sim_home_cache(cache, sizeof cache), clang = wanted->compiler->clang;
    if (fine) {
        snprintf(folder, sizeof folder, "%s/%016llx", cache, (unsigned long long)hash_all(wanted));
        snprintf(header, sizeof header, "%s/standin.h", folder);
        snprintf(result, sizeof result, "%s.%s", header, clang ? "pch" : "gch");
        if (!is_whole(folder, result)) {
            prune(cache);
            fine = make_entry(wanted, folder, header, result);
        }
    }
    if (fine) {
        utimensat(AT_FDCWD, folder, NULL, 0); // used just now
        snprintf(storage, room, "%s", clang ? result : header);
    } else {
        snprintf(storage, room, "%s/sim/standin.h", wanted->home->headers);
    }
    sim_arguments_add(arguments, fine && clang ? "-include-pch" : "-include");
    sim_arguments_add(arguments, storage);
    return fine;
}

bool sim_precompiled_is_refused(const char *said)
{
    static const char *const signs[] = {"precompiled header", "PCH file", "AST file", "standin.h.gch"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(said, signs[i]))
            return true;
    return false;
}

// Compilers quote names, with ' or, by locale, with the UTF-8 of a typographic quote.
bool sim_precompiled_lacks(const char *said)
{
    for (int i = 0; special_functions[i]; i++)
        for (const char *at = said; (at = strstr(at, special_functions[i])) != NULL; at++)
            if (at > said && (at[-1] == '\'' || at[-1] == '\x98'))
                return true;
    return false;
}

void sim_precompiled_remove(const char *path)
{
    char compiled[4096];
    if (strstr(path, ".pch"))
        unlink(path);
    else if ((size_t)snprintf(compiled, sizeof compiled, "%s.gch", path) < sizeof compiled)
        unlink(compiled);
}
