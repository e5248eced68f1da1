// Edits of assembler text and of ELF symbol tables. A symbol is renamed by giving it another name in a string table
// that is written anew at the end of the file.

#define _GNU_SOURCE 1
#include "build/object.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/lexer.h"

// A gap as large as the array itself catches an index that is off by a row or a tile; the bounds keep small arrays
// guarded and large ones cheap.
enum { CARD_SECTIONS = 3 };
enum { SMALLEST_GAP = 512, LARGEST_GAP = 4096, LARGEST_CARD_GAP = 65536, GAP_UNIT = 16 };

static const char *word_start(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    return line;
}

static bool starts_with(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) > length && memcmp(at, word, length) == 0 && strchr(" \t\n", at[length]);
}

// The size of what a line of a section without contents reserves; 0: nothing. clang writes a single number as one.
static unsigned long reserved(const char *at, const char *end)
{
    static const struct {
        const char *word;
        unsigned long size;
    } numbers[] = {{".byte", 1}, {".hword", 2}, {".short", 2}, {".2byte", 2}, {".word", 4},
                   {".long", 4}, {".4byte", 4}, {".xword", 8}, {".quad", 8},  {".8byte", 8}};
    if (starts_with(at, end, ".zero") || starts_with(at, end, ".skip"))
        return strtoul(at + strlen(".zero"), NULL, 10);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (starts_with(at, end, numbers[i].word))
            return numbers[i].size;
    return 0;
}

static unsigned long gap_behind(unsigned long size, unsigned long largest)
{
    unsigned long gap = size < SMALLEST_GAP ? SMALLEST_GAP : size > largest ? largest : size;
    return (gap + GAP_UNIT - 1) / GAP_UNIT * GAP_UNIT;
}

static bool is_data(const char *at, const char *end)
{
    static const char *const words[] = {".zero",  ".skip",  ".byte",   ".short", ".value",  ".word",  ".hword",
                                        ".long",  ".quad",  ".xword",  ".octa",  ".2byte",  ".4byte", ".8byte",
                                        ".ascii", ".asciz", ".string", ".fill",  ".base64", NULL};
    for (int i = 0; words[i]; i++)
        if (starts_with(at, end, words[i]))
            return true;
    return false;
}

static bool is_section(const char *name, const char *end, const char *wanted)
{
    size_t length = strlen(wanted);
    return (size_t)(end - name) > length && memcmp(name, wanted, length) == 0 && strchr(",\n", name[length]);
}

// The number of the section among those of the card's variables (sim/keywords.h); -1: another one.
static int card_section(const char *name, const char *end)
{
    static const char *const names[CARD_SECTIONS] = {"sim_device", "sim_constant", "sim_managed"};
    for (int i = 0; i < CARD_SECTIONS; i++)
        if (is_section(name, end, names[i]))
            return i;
    return -1;
}

// ".size table, 32"
static void read_size(sim_assembly *assembly, const char *at, const char *end)
{
    const char *comma = memchr(at, ',', (size_t)(end - at));
    unsigned long size = comma ? strtoul(comma + 1, NULL, 10) : 0;
    assembly->size = size > 0 ? size : assembly->size;
}

static void add_named_gap(sim_assembly *assembly, unsigned long bytes, sim_text *out)
{
    const unsigned number = ++assembly->gaps;
    sim_text_print(out, "\t.type\tsim_gap.%u, \"object\"\n\t.size\tsim_gap.%u, %lu\nsim_gap.%u:\n\t.zero\t%lu\n",
                   number, number, bytes, number, bytes);
}

// Below the first variable that this file has there is room, too.
static void enter_section(sim_assembly *assembly, const char *name, const char *end, sim_text *out)
{
    const int card = card_section(name, end);
    assembly->in_thread_local = end - name > 5 && memcmp(name, ".tbss", 5) == 0;
    assembly->in_card = card >= 0;
    assembly->in_constants = is_section(name, end, ".rodata");
    bool *guarded = &assembly->guarded[card >= 0 ? card : CARD_SECTIONS];
    if (assembly->in_card && !*guarded)
        sim_text_print(out, "\t.zero\t%d\n", LARGEST_GAP);
    else if (assembly->in_constants && !*guarded)
        add_named_gap(assembly, SMALLEST_GAP, out);
    if (assembly->in_card || assembly->in_constants)
        *guarded = true;
}

// A variable ends with the first line that is none of its data: gcc says its size before that, clang there.
static void end_variable(sim_assembly *assembly, sim_text *out)
{
    if ((assembly->in_card || assembly->is_static) && assembly->has_data)
        sim_text_print(out, "\t.zero\t%lu\n", gap_behind(assembly->size, LARGEST_CARD_GAP));
    else if (assembly->has_data && assembly->is_variable)
        add_named_gap(assembly, gap_behind(assembly->size, LARGEST_GAP), out);
    if (assembly->has_data)
        assembly->is_variable = assembly->is_static = false;
    assembly->has_data = false;
}

// Whether a static variable of a device function is named here (sim/keywords.h).
static bool names_static(const char *at, const char *end)
{
    static const char *const tags[] = {"B10sim_device", "B12sim_constant"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (memmem(at, (size_t)(end - at), tags[i], strlen(tags[i])))
            return true;
    return false;
}

// ".comm counter,16,16": without contents, and without a section that is said.
static void add_common_gap(sim_assembly *assembly, const char *at, const char *end, sim_text *out)
{
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (!comma || !names_static(at, comma))
        return;
    const unsigned long gap = gap_behind(strtoul(comma + 1, NULL, 10), LARGEST_CARD_GAP);
    const unsigned number = ++assembly->gaps;
    sim_text_print(out, "\t.local\tsim_gap.%u\n\t.comm\tsim_gap.%u,%lu,%d\n", number, number, gap, GAP_UNIT);
}

// ".type table, @object"
static bool names_variable(const char *at, const char *end)
{
    static const char word[] = "object";
    for (size_t length = sizeof word - 1; (size_t)(end - at) > length; at++)
        if (memcmp(at, word, length) == 0 && strchr(" \t\n", at[length]))
            return true;
    return false;
}

void sim_assembly_line(sim_assembly *assembly, const char *line, size_t bytes, sim_text *out)
{
    const char *end = line + bytes, *at = word_start(line, end);
    const bool directive = at < end && *at == '.', data = directive && is_data(at, end);
    if (directive && starts_with(at, end, ".size"))
        read_size(assembly, at, end);
    if (directive && !data)
        end_variable(assembly, out);
    if (directive && starts_with(at, end, ".type"))
        assembly->is_variable = names_variable(at, end);
    sim_text_add_bytes(out, line, bytes);
    if (!directive && end - at > 2 && end[-1 - (end[-1] == '\n')] == ':')
        assembly->is_static = names_static(at, end);
    if (!directive)
        return;
    if (starts_with(at, end, ".section")) {
        enter_section(assembly, word_start(at + strlen(".section"), end), end, out);
    } else if (starts_with(at, end, ".text") || starts_with(at, end, ".data") || starts_with(at, end, ".bss")) {
        assembly->in_thread_local = assembly->in_card = assembly->in_constants = false;
    } else if (starts_with(at, end, ".comm")) {
        add_common_gap(assembly, at, end, out);
    } else if (assembly->in_card || assembly->in_constants || assembly->is_static) {
        assembly->has_data |= data;
    } else if (assembly->in_thread_local && reserved(at, end) > 0) {
        sim_text_print(out, "\t.zero\t%lu\n", gap_behind(reserved(at, end), LARGEST_GAP));
    }
}

// --- symbols ---------------------------------------------------------------------------------------------------------

typedef struct object_file {
    sim_text file;
    Elf64_Shdr *sections, *symbols_section, *names_section;
    Elf64_Sym *symbols;
    size_t section_count, symbol_count;
    char *names;
} object_file;

static bool inside(const object_file *object, uint64_t offset, uint64_t bytes)
{
    return offset <= object->file.bytes && bytes <= object->file.bytes - offset;
}

static bool read_object(object_file *object, const char *path)
{
    *object = (object_file){0};
    if (!sim_text_read(&object->file, path) || object->file.bytes < sizeof(Elf64_Ehdr))
        return false;
    char *base = object->file.at;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8)
        return false;
    object->section_count = header->e_shnum;
    if (!inside(object, header->e_shoff, 0) || !inside(object, header->e_shoff, sizeof(Elf64_Shdr)))
        return false;
    object->sections = (Elf64_Shdr *)(base + header->e_shoff);
    if (object->section_count == 0) // more than fit in 16 bits: the first section says how many
        object->section_count = object->sections[0].sh_size;
    if (object->section_count > object->file.bytes / sizeof(Elf64_Shdr) ||
        !inside(object, header->e_shoff, object->section_count * sizeof(Elf64_Shdr)))
        return false;
    for (size_t i = 0; i < object->section_count && !object->symbols_section; i++)
        if (object->sections[i].sh_type == SHT_SYMTAB)
            object->symbols_section = &object->sections[i];
    Elf64_Shdr *symbols = object->symbols_section;
    if (!symbols || symbols->sh_link >= object->section_count || !inside(object, symbols->sh_offset, symbols->sh_size))
        return false;
    object->names_section = &object->sections[symbols->sh_link];
    if (!inside(object, object->names_section->sh_offset, object->names_section->sh_size) || symbols->sh_offset % 8)
        return false;
    object->symbols = (Elf64_Sym *)(base + symbols->sh_offset);
    object->symbol_count = symbols->sh_size / sizeof(Elf64_Sym);
    object->names = base + object->names_section->sh_offset;
    return true;
}

// Safe to read as a string: the file's text ends with a 0.
static const char *name_of(const object_file *object, const Elf64_Sym *symbol)
{
    return symbol->st_name < object->names_section->sh_size ? object->names + symbol->st_name : "";
}

bool sim_names_add(sim_names *names, const char *name)
{
    char *copy = strdup(name);
    if (!copy || !sim_array_grow(&names->at, names->count, &names->room, sizeof *names->at)) {
        free(copy);
        return false;
    }
    names->at[names->count++] = copy;
    return true;
}

bool sim_names_have(const sim_names *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

// The name that an undefined symbol is to have; NULL: its own.
static const char *new_name(const char *name, bool thread_local, const sim_names *defined, bool watched)
{
    static const char *const watched_names[][2] = {
        {"memcpy", "__tsan_memcpy"}, {"memmove", "__tsan_memmove"}, {"memset", "__tsan_memset"}};
    static const char *const others[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
    static const char *const starts[] = {"sim_", "_ZSt", "_ZNSt", NULL}; // the runtime's and the library's own
    if (!thread_local) {
        for (int i = 0; watched && i < 3; i++)
            if (strcmp(name, watched_names[i][0]) == 0)
                return watched_names[i][1];
        return NULL;
    }
    for (int i = 0; others[i]; i++)
        if (strcmp(name, others[i]) == 0)
            return NULL;
    for (int i = 0; starts[i]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return NULL;
    return sim_names_have(defined, name) ? NULL : "sim_dynamic_buffer";
}

static bool write_object(const object_file *object, const char *path, const sim_text *names)
{
    object->names_section->sh_offset = object->file.bytes;
    object->names_section->sh_size = names->bytes;
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool fine = fwrite(object->file.at, 1, object->file.bytes, file) == object->file.bytes &&
                fwrite(names->at, 1, names->bytes, file) == names->bytes;
    return fclose(file) == 0 && fine;
}

bool sim_object_patch(const char *path, const sim_names *defined, bool watched)
{
    object_file object;
    bool fine = read_object(&object, path), changed = false;
    sim_text names = {0};
    if (fine)
        sim_text_add_bytes(&names, object.names, object.names_section->sh_size);
    for (size_t i = 1; fine && i < object.symbol_count; i++) {
        Elf64_Sym *symbol = &object.symbols[i];
        if (symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
            continue;
        const char *name =
            new_name(name_of(&object, symbol), ELF64_ST_TYPE(symbol->st_info) == STT_TLS, defined, watched);
        if (!name)
            continue;
        symbol->st_name = (Elf64_Word)names.bytes;
        sim_text_add_bytes(&names, name, strlen(name) + 1);
        changed = true;
    }
    if (fine && changed)
        fine = !names.failed && write_object(&object, path, &names);
    sim_text_free(&names);
    sim_text_free(&object.file);
    return fine;
}

bool sim_object_defined(const char *path, sim_names *defined)
{
    object_file object;
    bool fine = read_object(&object, path);
    for (size_t i = 1; fine && i < object.symbol_count; i++) {
        const Elf64_Sym *symbol = &object.symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS || symbol->st_shndx == SHN_UNDEF ||
            ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
            continue;
        fine = sim_names_add(defined, name_of(&object, symbol));
    }
    sim_text_free(&object.file);
    return fine;
}

// --- one name in several objects -------------------------------------------------------------------------------------

static const char *section_name(const object_file *object, const Elf64_Sym *symbol)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)object->file.at;
    if (symbol->st_shndx >= object->section_count || header->e_shstrndx >= object->section_count)
        return "";
    uint64_t at = object->sections[header->e_shstrndx].sh_offset + (uint64_t)object->sections[symbol->st_shndx].sh_name;
    return at < object->file.bytes ? object->file.at + at : "";
}

// Whether a mangled name holds one of these names, its length before it: _Z5scalef.
static bool is_mangled_of(const char *symbol, const sim_names *names)
{
    char part[512];
    for (int i = 0; i < names->count; i++) {
        snprintf(part, sizeof part, "%zu%s", strlen(names->at[i]), names->at[i]);
        const char *found = strncmp(symbol, "_Z", 2) == 0 ? strstr(symbol, part) : NULL;
        if (found && (found[-1] < '0' || found[-1] > '9'))
            return true;
    }
    return false;
}

static bool is_device_symbol(const object_file *object, const Elf64_Sym *symbol, const sim_names *functions)
{
    static const char start[] = "sim_";
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL)
        return false;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
        return strncmp(section_name(object, symbol), start, sizeof start - 1) == 0;
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && is_mangled_of(name_of(object, symbol), functions);
}

bool sim_object_device_symbols(const char *path, const sim_names *functions, sim_names *symbols)
{
    object_file object;
    bool fine = read_object(&object, path);
    for (size_t i = 1; fine && i < object.symbol_count; i++)
        if (is_device_symbol(&object, &object.symbols[i], functions))
            fine = sim_names_add(symbols, name_of(&object, &object.symbols[i]));
    sim_text_free(&object.file);
    return fine;
}

bool sim_object_separate(const char *path, const sim_names *symbols, int number)
{
    object_file object;
    bool fine = read_object(&object, path);
    sim_text names = {0};
    if (fine)
        sim_text_add_bytes(&names, object.names, object.names_section->sh_size);
    for (size_t i = 1; fine && i < object.symbol_count; i++) {
        Elf64_Sym *symbol = &object.symbols[i];
        const char *name = name_of(&object, symbol);
        if (symbol->st_shndx == SHN_UNDEF || !sim_names_have(symbols, name))
            continue;
        symbol->st_name = (Elf64_Word)names.bytes;
        sim_text_print(&names, "%s.%d", name, number);
        sim_text_add_bytes(&names, "", 1);
    }
    fine = fine && !names.failed && write_object(&object, path, &names);
    sim_text_free(&names);
    sim_text_free(&object.file);
    return fine;
}

void sim_names_release(sim_names *names)
{
    for (int i = 0; i < names->count; i++)
        free(names->at[i]);
    free(names->at);
    *names = (sim_names){0};
}
