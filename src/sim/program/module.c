// The loaded module that this runtime was linked into, program or shared object: its file, its segments, and where this
// thread's copy of its thread-local segment lies.
#define _GNU_SOURCE 1
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sim_module module;
static size_t offset_of_anchor; // of `sim_module_anchor` in the thread-local segment
static __thread volatile char sim_module_anchor;

static void widen(uintptr_t *low, uintptr_t *high, uintptr_t start, uintptr_t end)
{
    if (*high == 0 || start < *low)
        *low = start;
    if (end > *high)
        *high = end;
}

static bool holds_this_code(const struct dl_phdr_info *info)
{
    uintptr_t here = (uintptr_t)&widen;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && here >= start && here - start < segment->p_memsz)
            return true;
    }
    return false;
}

static void set_path(const char *name)
{
    char path[PATH_MAX] = "";
    if (name && name[0]) {
        if (!realpath(name, path)) // given relative to a directory that has been left
            path[0] = '\0';
    } else {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
    }
    if (strlen(path) < sizeof module.path)
        memcpy(module.path, path, strlen(path) + 1);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)context;
    if (!holds_this_code(info))
        return 0;
    module.base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type == PT_TLS)
            module.tls_bytes = segment->p_memsz;
        if (segment->p_type == PT_GNU_RELRO)
            widen(&module.tables_lo, &module.tables_hi, start, end);
        if (segment->p_type != PT_LOAD)
            continue;
        widen(&module.image_lo, &module.image_hi, start, end);
        if (segment->p_flags & PF_X)
            widen(&module.text_lo, &module.text_hi, start, end);
        if (segment->p_flags & PF_W)
            widen(&module.data_lo, &module.data_hi, start, end);
    }
    if (size >= offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) && info->dlpi_tls_data)
        offset_of_anchor = (uintptr_t)&sim_module_anchor - (uintptr_t)info->dlpi_tls_data;
    module.is_program = !info->dlpi_name || !info->dlpi_name[0];
    set_path(info->dlpi_name);
    return 1;
}

static void find(void)
{
    sim_module_anchor = 0; // this thread's segment exists from here on: in a shared object it is made at the first use
    dl_iterate_phdr(look_at, NULL);
}

const sim_module *sim_module_self(void)
{
    pthread_once(&once, find);
    return &module;
}

uintptr_t sim_module_tls(void)
{
    pthread_once(&once, find);
    return (uintptr_t)&sim_module_anchor - offset_of_anchor;
}
