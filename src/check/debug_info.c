// Reads DWARF by libdw, of elfutils. Units are asked one by one whether they have an address: clang writes no table of
// addresses.

#include "check/debug_info.h"

#include <stddef.h>

#ifdef HEDDLE_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct heddle_debug_info {
    Dwarf *dwarf;
    int file;
};

heddle_debug_info *heddle_debug_info_open(const char *program)
{
    heddle_debug_info *info = malloc(sizeof *info);
    if (!info)
        return NULL;
    info->file = open(program, O_RDONLY | O_CLOEXEC);
    info->dwarf = info->file >= 0 ? dwarf_begin(info->file, DWARF_C_READ) : NULL;
    if (info->dwarf)
        return info;
    heddle_debug_info_close(info);
    return NULL;
}

void heddle_debug_info_close(heddle_debug_info *info)
{
    if (!info)
        return;
    if (info->dwarf)
        dwarf_end(info->dwarf);
    if (info->file >= 0)
        close(info->file);
    free(info);
}

static bool find_unit(const heddle_debug_info *info, Dwarf_Addr address, Dwarf_Die *unit)
{
    size_t header = 0;
    for (Dwarf_Off at = 0, next; dwarf_nextcu(info->dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next)
        if (dwarf_offdie(info->dwarf, at + header, unit) && dwarf_haspc(unit, address) > 0)
            return true;
    return false;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static int number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? (int)value : 0;
}

static heddle_debug_frame innermost(Dwarf_Die *unit, Dwarf_Addr address)
{
    heddle_debug_frame frame = {.file = "", .function = ""};
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    if (line && dwarf_lineno(line, &frame.line) == 0 && dwarf_linecol(line, &frame.column) == 0)
        frame.file = or_empty(dwarf_linesrc(line, NULL, NULL));
    return frame;
}

// Where the inlined function was called.
static heddle_debug_frame caller(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files = NULL;
    size_t count = 0;
    heddle_debug_frame frame = {.file = "",
                                .function = "",
                                .line = number(inlined, DW_AT_call_line),
                                .column = number(inlined, DW_AT_call_column)};
    if (dwarf_getsrcfiles(unit, &files, &count) == 0)
        frame.file = or_empty(dwarf_filesrc(files, (size_t)number(inlined, DW_AT_call_file), NULL, NULL));
    return frame;
}

int heddle_debug_info_frames(const heddle_debug_info *info, uint64_t address, heddle_debug_frame *frames, int most)
{
    Dwarf_Die unit, *scopes = NULL, *around = NULL;
    if (!info || !find_unit(info, address, &unit) || dwarf_getscopes(&unit, address, &scopes) <= 0)
        return 0;
    int depth = dwarf_getscopes_die(&scopes[0], &around), count = 0; // those above are of where a function was written
    heddle_debug_frame frame = innermost(&unit, address);
    for (int i = 0; i < depth && count < most; i++) {
        int tag = dwarf_tag(&around[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        frame.function = or_empty(dwarf_diename(&around[i]));
        frames[count++] = frame;
        if (tag == DW_TAG_subprogram)
            break;
        frame = caller(&unit, &around[i]);
    }
    free(around);
    free(scopes);
    return count;
}

#else

heddle_debug_info *heddle_debug_info_open(const char *program)
{
    (void)program;
    return NULL;
}

void heddle_debug_info_close(heddle_debug_info *info)
{
    (void)info;
}

int heddle_debug_info_frames(const heddle_debug_info *info, uint64_t address, heddle_debug_frame *frames, int most)
{
    (void)info, (void)address, (void)frames, (void)most;
    return 0;
}

#endif
