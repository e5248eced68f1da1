// The program's own symbol table: where its __shared__ variables (thread-local symbols) and its __device__ variables
// (data symbols) lie, and which function a place is in. Read once, from the module's file.
#define _GNU_SOURCE 1
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/arena.h"
#include "program/names.h"
#include "program/program.h"

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;

typedef struct symbol_list {
    const void **items; // const elf_symbol *, sorted by address
    size_t count;
} symbol_list;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const elf_symbol *symbols;
static size_t symbol_count;
static const char *strings;
static size_t string_bytes;
static bool complete; // not only what the dynamic linker needs
static symbol_list objects, functions;
static sim_shared_variable *variables;
static size_t variable_count;
static const elf_symbol **guards; // of thread-local variables
static size_t guard_count;
static const elf_symbol *dynamic_buffer; // what every extern __shared__ name is an alias of

static const char *name_of(const elf_symbol *symbol)
{
    return symbol->st_name < string_bytes ? strings + symbol->st_name : "";
}

static int type_of(const elf_symbol *symbol)
{
    return symbol->st_info & 0xf; // the same in 32 and 64 bit ELF
}

// --- reading the file -----------------------------------------------------------------------------------------------

static const char *map_file(const char *path, size_t *bytes)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0)
        return NULL;
    void *map = MAP_FAILED;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0)
        map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    *bytes = map == MAP_FAILED ? 0 : (size_t)status.st_size;
    return map == MAP_FAILED ? NULL : map;
}

static bool inside(size_t offset, size_t length, size_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

// A stripped program has only the table for the dynamic linker.
static void find_table(const char *file, size_t bytes)
{
    const elf_header *header = (const elf_header *)file;
    if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof(elf_section) ||
        !inside(header->e_shoff, header->e_shnum * sizeof(elf_section), bytes))
        return;
    const elf_section *sections = (const elf_section *)(file + header->e_shoff);
    const elf_section *best = NULL;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best))
            best = &sections[i];
    if (!best || best->sh_link >= header->e_shnum || !inside(best->sh_offset, best->sh_size, bytes))
        return;
    const elf_section *text = &sections[best->sh_link];
    if (!inside(text->sh_offset, text->sh_size, bytes) || text->sh_size == 0 ||
        file[text->sh_offset + text->sh_size - 1] != '\0')
        return;
    symbols = (const elf_symbol *)(file + best->sh_offset);
    symbol_count = best->sh_size / sizeof *symbols;
    strings = file + text->sh_offset;
    string_bytes = text->sh_size;
    complete = best->sh_type == SHT_SYMTAB;
}

static int compare_address(const void *left, const void *right)
{
    const elf_symbol *a = left, *b = right;
    return (a->st_value > b->st_value) - (a->st_value < b->st_value);
}

static symbol_list list_of(int type)
{
    symbol_list list = {0};
    size_t count = 0;
    for (size_t i = 0; i < symbol_count; i++)
        count += type_of(&symbols[i]) == type;
    list.items = sim_arena_take((count + 1) * sizeof *list.items);
    for (size_t i = 0; list.items && i < symbol_count; i++)
        if (type_of(&symbols[i]) == type && symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_size > 0)
            list.items[list.count++] = &symbols[i];
    if (list.items)
        sim_sort(list.items, list.count, compare_address);
    return list;
}

// --- shared variables -----------------------------------------------------------------------------------------------

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// Thread-local but no __shared__ variable: the simulator's, the C++ library's, and what the compiler adds.
static bool is_foreign(const char *name, bool from_c)
{
    static const char *const starts[] = {"sim_",   "_ZN3sim", "_ZZN3sim", "_ZSt", "_ZNSt", "_ZNKSt",
                                         "_ZZNSt", "_ZGV",    "_ZTH",     "_ZTW", "__",    "$"};
    static const char *const whole[] = {"threadIdx", "blockIdx", "blockDim",         "gridDim",
                                        "warpSize",  "errno",    "_TLS_MODULE_BASE_"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts_with(name, starts[i]))
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    return from_c;
}

static int compare_variable(const void *left, const void *right)
{
    const sim_shared_variable *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool in_dynamic_buffer(const elf_symbol *symbol)
{
    return dynamic_buffer && symbol->st_value >= dynamic_buffer->st_value &&
           symbol->st_value - dynamic_buffer->st_value < dynamic_buffer->st_size;
}

static void add_variable(const elf_symbol *symbol)
{
    sim_shared_variable *variable = &variables[variable_count++];
    variable->offset = symbol->st_value;
    variable->bytes = symbol->st_size;
    sim_name_of_variable(name_of(symbol), variable->name, sizeof variable->name);
}

// What the compiler sets when it has called the constructor of a thread-local variable. CUDA allows only empty
// constructors in shared memory, but the compiler asks for each that it has not seen to be empty.
static bool is_guard(const char *name)
{
    return starts_with(name, "_ZGV") || strcmp(name, "__tls_guard") == 0;
}

// Local symbols follow the name of the file they are from: those of a C file are the runtime's, for CUDA is C++.
static void find_shared(void)
{
    size_t count = 0;
    for (size_t i = 0; i < symbol_count; i++) {
        count += type_of(&symbols[i]) == STT_TLS;
        if (type_of(&symbols[i]) == STT_TLS && strcmp(name_of(&symbols[i]), "sim_dynamic_buffer") == 0)
            dynamic_buffer = &symbols[i];
    }
    variables = sim_arena_take((count + 1) * sizeof *variables);
    guards = sim_arena_take((count + 1) * sizeof *guards);
    bool from_c = false;
    for (size_t i = 0; variables && i < symbol_count; i++) {
        const elf_symbol *symbol = &symbols[i];
        const char *name = name_of(symbol);
        if (type_of(symbol) == STT_FILE)
            from_c = strlen(name) > 2 && strcmp(name + strlen(name) - 2, ".c") == 0;
        if (guards && type_of(symbol) == STT_TLS && is_guard(name))
            guards[guard_count++] = symbol;
        if (type_of(symbol) != STT_TLS || symbol->st_shndx == SHN_UNDEF ||
            is_foreign(name, from_c && symbol->st_info >> 4 == STB_LOCAL))
            continue;
        if (!in_dynamic_buffer(symbol) && symbol->st_size > 0)
            add_variable(symbol);
    }
    if (variables)
        qsort(variables, variable_count, sizeof *variables, compare_variable);
}

static void read_symbols(void)
{
    size_t bytes = 0;
    const char *file = map_file(sim_module_self()->path, &bytes);
    if (file)
        find_table(file, bytes);
    objects = list_of(STT_OBJECT);
    functions = list_of(STT_FUNC);
    find_shared();
}

// --- asking ---------------------------------------------------------------------------------------------------------

const sim_shared_variable *sim_shared_variables(size_t *count)
{
    pthread_once(&once, read_symbols);
    *count = variable_count;
    return variables;
}

// How far `address` lies from [start, start + bytes).
static size_t distance(uintptr_t address, uintptr_t start, size_t bytes)
{
    if (address < start)
        return start - address;
    return address - start < bytes ? 0 : address - start - bytes + 1;
}

bool sim_symbol_nearest_shared(uintptr_t address, uintptr_t tls, sim_symbol *symbol)
{
    pthread_once(&once, read_symbols);
    if (variable_count == 0)
        return false;
    // The last that starts at or before it, or the one behind: they are sorted, and none lies in another.
    size_t low = 0, high = variable_count - 1;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (tls + variables[middle].offset <= address)
            low = middle;
        else
            high = middle - 1;
    }
    const sim_shared_variable *best = &variables[low], *above = best + (low + 1 < variable_count);
    if (distance(address, tls + above->offset, above->bytes) < distance(address, tls + best->offset, best->bytes))
        best = above;
    memcpy(symbol->name, best->name, sizeof symbol->name);
    symbol->start = tls + best->offset;
    symbol->bytes = best->bytes;
    symbol->shared = true;
    symbol->internal = false;
    return true;
}

// A variable that the stand-in headers or the runtime brought into the program: no person knows its name.
static bool is_internal(const elf_symbol *symbol)
{
    const char *name = name_of(symbol);
    if (starts_with(name, "_ZL")) {
        name += strlen("_ZL");
        while (*name >= '0' && *name <= '9')
            name++;
    }
    return starts_with(name, "sim_") || starts_with(name, "__start_sim") || starts_with(name, "__stop_sim") ||
           starts_with(name, "_ZN3sim") || starts_with(name, "_ZZN3sim");
}

// The first one that has a name for people, from the item at `index` on in steps of `step`.
static const elf_symbol *named_from(size_t index, int step)
{
    for (; index < objects.count; index += (size_t)step)
        if (!is_internal(objects.items[index]))
            return objects.items[index];
    return NULL;
}

// How many of the list start at or before `address`, an offset in the module.
static size_t count_before(const symbol_list *list, uintptr_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (((const elf_symbol *)list->items[middle])->st_value <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const elf_symbol *last_before(const symbol_list *list, uintptr_t address)
{
    const size_t count = count_before(list, address);
    return count ? list->items[count - 1] : NULL;
}

// Whether the rewriter has given it this tag.
static bool is_tagged(const elf_symbol *symbol, const char *tag)
{
    return strstr(name_of(symbol), tag) != NULL;
}

static void describe(const elf_symbol *found, sim_symbol *symbol)
{
    sim_name_of_variable(name_of(found), symbol->name, sizeof symbol->name);
    symbol->start = sim_module_self()->base + found->st_value;
    symbol->bytes = found->st_size;
    symbol->shared = false;
    symbol->internal = is_internal(found);
    symbol->merged = found->st_info >> 4 != STB_LOCAL && found->st_info >> 4 != STB_GLOBAL;
    symbol->constant = is_tagged(found, "B12sim_constant");
    symbol->card = symbol->constant || is_tagged(found, "B10sim_device");
}

// Room between constants (build/object.h).
static bool is_gap(const elf_symbol *symbol)
{
    return starts_with(name_of(symbol), "sim_gap.");
}

// The variable that holds an offset in the module; NULL: none does.
static const elf_symbol *holder(uintptr_t at)
{
    const elf_symbol *found = last_before(&objects, at);
    return found != NULL && distance(at, found->st_value, found->st_size) == 0 && !is_gap(found) ? found : NULL;
}

sim_fixed sim_symbol_fixed(uintptr_t address, uintptr_t *start, size_t *bytes)
{
    pthread_once(&once, read_symbols);
    const uintptr_t at = address - sim_module_self()->base;
    const elf_symbol *found = last_before(&objects, at);
    if (found == NULL || distance(at, found->st_value, found->st_size) != 0)
        return SIM_FIXED_UNKNOWN;
    *start = sim_module_self()->base + found->st_value;
    *bytes = found->st_size;
    return is_gap(found) ? SIM_FIXED_GAP : SIM_FIXED_VARIABLE;
}

bool sim_symbol_nearest_data(uintptr_t address, sim_symbol *symbol)
{
    pthread_once(&once, read_symbols);
    const uintptr_t at = address - sim_module_self()->base;
    const elf_symbol *found = holder(at);
    if (found) {
        describe(found, symbol);
        return true;
    }
    const size_t count = count_before(&objects, at);
    const elf_symbol *below = named_from(count - 1, -1), *above = named_from(count, 1);
    if (!below && !above)
        return false;
    const bool nearer_above = above && (!below || distance(at, above->st_value, above->st_size) <
                                                      distance(at, below->st_value, below->st_size));
    describe(nearer_above ? above : below, symbol);
    return true;
}

bool sim_symbols_complete(void)
{
    pthread_once(&once, read_symbols);
    return complete;
}

static bool find_shared_at(uintptr_t address, sim_symbol *symbol)
{
    uintptr_t tls = sim_module_tls();
    if (address < tls || address - tls >= sim_module_self()->tls_bytes)
        return false;
    if (dynamic_buffer && distance(address, tls + dynamic_buffer->st_value, dynamic_buffer->st_size) == 0) {
        symbol->name[0] = '\0'; // every name of it was made this one by the linker
        symbol->start = tls + dynamic_buffer->st_value;
        symbol->bytes = dynamic_buffer->st_size;
        symbol->shared = true;
        symbol->internal = false;
        return true;
    }
    return sim_symbol_nearest_shared(address, tls, symbol) && distance(address, symbol->start, symbol->bytes) == 0;
}

bool sim_symbol_is_guard(uintptr_t address)
{
    pthread_once(&once, read_symbols);
    for (size_t i = 0; i < guard_count; i++)
        if (distance(address, sim_module_tls() + guards[i]->st_value, guards[i]->st_size) == 0)
            return true;
    return false;
}

bool sim_symbol_at(uintptr_t address, sim_symbol *symbol)
{
    pthread_once(&once, read_symbols);
    const sim_module *module = sim_module_self();
    if (find_shared_at(address, symbol))
        return true;
    const elf_symbol *found =
        address >= module->image_lo && address < module->image_hi ? holder(address - module->base) : NULL;
    if (found != NULL)
        describe(found, symbol);
    return found != NULL;
}

bool sim_symbol_is_variable(const char *name)
{
    pthread_once(&once, read_symbols);
    for (size_t i = 0; i < objects.count; i++) {
        char called[sizeof((sim_symbol *)0)->name];
        sim_name_of_variable(name_of(objects.items[i]), called, sizeof called);
        if (strcmp(called, name) == 0)
            return true;
    }
    return false;
}

// "_Z7overrunPii" and "_ZN3app7overrunILi4EEEvPi" give "overrun": for programs without the C++ runtime's own way.
static void plain_name(const char *mangled, char *name, size_t bytes)
{
    const char *at = mangled + strlen("_Z");
    const bool nested = *at == 'N';
    at += nested || *at == 'L';
    char *end = NULL;
    for (size_t length = strtoul(at, &end, 10); end != at && length > 0; length = nested ? strtoul(at, &end, 10) : 0) {
        if (strlen(end) < length)
            return;
        snprintf(name, bytes, "%.*s", (int)length, end);
        at = end + length;
    }
}

const char *sim_symbol_function_called(uintptr_t address)
{
    char demangled[1024], name[256];
    size_t offset;
    const char *mangled = sim_symbol_function(address, &offset);
    if (!mangled || offset != 0)
        return NULL;
    sim_name_demangle(mangled, demangled, sizeof demangled);
    sim_name_of_function(demangled, name, sizeof name);
    if (strncmp(demangled, "_Z", strlen("_Z")) == 0)
        plain_name(demangled, name, sizeof name);
    return name[0] ? sim_arena_string(name, strlen(name)) : NULL;
}

static const elf_symbol *function_at(uintptr_t pc, size_t *offset)
{
    pthread_once(&once, read_symbols);
    uintptr_t value = pc - sim_module_self()->base;
    const elf_symbol *found = last_before(&functions, value);
    if (!found || value - found->st_value >= found->st_size)
        return NULL;
    *offset = value - found->st_value;
    return found;
}

const char *sim_symbol_function(uintptr_t pc, size_t *offset)
{
    const elf_symbol *found = function_at(pc, offset);
    return found ? name_of(found) : NULL;
}

bool sim_symbol_function_bounds(uintptr_t pc, uintptr_t *start, uintptr_t *end)
{
    size_t offset;
    const elf_symbol *found = function_at(pc, &offset);
    if (!found)
        return false;
    *start = pc - offset;
    *end = *start + found->st_size;
    return true;
}
