// Landlock for files, signals and TCP; seccomp for all other sockets. Where the kernel has no Landlock, bubblewrap.

#include "check/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__linux__) && __has_include(<linux/seccomp.h>) && __has_include(<linux/filter.h>)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

#include "check/wrapper.h"

// --- Landlock --------------------------------------------------------------------------------------------------------

// As in linux/landlock.h, which older systems lack or have without the later rights: the kernel says which it knows.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, PATH_BENEATH = 1 };
enum { VERSION_OF_REFER = 2, VERSION_OF_TRUNCATE = 3, VERSION_OF_NETWORK = 4, VERSION_OF_SCOPES = 6 };

typedef struct ruleset {
    uint64_t files, network, scopes; // that are forbidden where no rule allows them
} ruleset;

typedef struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t folder;
} path_rule;

static const uint64_t write_file = 1u << 1, truncate_file = 1u << 14;
// Removing and making files and folders of all kinds: bits 4 to 12. Linking and moving between folders: bit 13.
static const uint64_t change_folder = 0x1ff0, refer = 1u << 13;
// Making devices, through which root would write anywhere.
static const uint64_t make_devices = 1u << 6 | 1u << 11;
static const uint64_t tcp = 1u << 0 | 1u << 1;               // bind, connect
static const uint64_t outside_processes = 1u << 0 | 1u << 1; // abstract sockets, signals

static int landlock_version(void)
{
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

static ruleset wanted_rules(int version)
{
    return (ruleset){
        .files = write_file | change_folder | (version >= VERSION_OF_REFER ? refer : 0) |
                 (version >= VERSION_OF_TRUNCATE ? truncate_file : 0),
        .network = version >= VERSION_OF_NETWORK ? tcp : 0,
        .scopes = version >= VERSION_OF_SCOPES ? outside_processes : 0,
    };
}

static size_t size_of_rules(int version)
{
    return version >= VERSION_OF_SCOPES    ? sizeof(ruleset)
           : version >= VERSION_OF_NETWORK ? offsetof(ruleset, scopes)
                                           : offsetof(ruleset, network);
}

// What cannot be opened or is not a file of a file system, as a pipe, needs no rule.
static void allow(const heddle_sandbox *sandbox, const char *path, uint64_t rights)
{
    struct stat about;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && !S_ISDIR(about.st_mode))
        rights &= write_file | truncate_file;
    syscall(ADD_RULE, sandbox->rules, PATH_BENEATH, &(path_rule){rights, file}, 0);
    close(file);
}

static heddle_status open_rules(heddle_sandbox *sandbox, int version, const char *const *folders, const int *files)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    const ruleset rules = wanted_rules(version);
    sandbox->rules = (int)syscall(CREATE_RULESET, &rules, size_of_rules(version), 0);
    if (sandbox->rules < 0)
        return heddle_fail(HEDDLE_INTERNAL, "the program cannot be contained: %s; --no-sandbox runs it as it is",
                           strerror(errno));
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        allow(sandbox, devices[i], rules.files);
    for (int i = 0; folders[i]; i++)
        allow(sandbox, folders[i], rules.files & ~make_devices);
    for (int i = 0; files[i] >= 0; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", files[i]);
        allow(sandbox, path, rules.files);
    }
    return HEDDLE_OK;
}

// --- seccomp ---------------------------------------------------------------------------------------------------------

#if defined(SECCOMP_RET_ERRNO) && defined(AUDIT_ARCH_AARCH64) && (defined(__aarch64__) || defined(__x86_64__))
#ifdef __aarch64__
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
enum { OTHER_TABLES = 0x7fffffff };
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
enum { OTHER_TABLES = 0x3fffffff }; // beyond are the calls of the x32 table
#endif

#define LOAD(field)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))

static bool has_filters(void)
{
    const uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// Sockets are all ways out that are not files; pairs of connected ones stay. A ring of requests could make sockets too.
// Shared memory, semaphores and queues of System V, and keys, would outlive the program. Limits and priorities are its
// own to set, not those of other processes. Two calls on a terminal would type into the shell that the check was
// started from.
enum { IO_URING_SETUP = 425 };
#define REFUSE_CALL(number, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), REFUSE(error)
// A call whose first argument is a process, or 0 for the one that calls.
#define ONLY_ITSELF(number)                                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),    \
        REFUSE(EPERM), RETURN(SECCOMP_RET_ALLOW)
static struct sock_filter lines[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
    REFUSE(ENOSYS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, OTHER_TABLES, 0, 1),
    REFUSE(ENOSYS),
    REFUSE_CALL(SYS_socket, EACCES),
    REFUSE_CALL(IO_URING_SETUP, ENOSYS),
    REFUSE_CALL(SYS_shmget, EACCES),
    REFUSE_CALL(SYS_semget, EACCES),
    REFUSE_CALL(SYS_msgget, EACCES),
    REFUSE_CALL(SYS_mq_open, EACCES),
    REFUSE_CALL(SYS_add_key, EACCES), // it would outlive the program
    REFUSE_CALL(SYS_request_key, EACCES),
    REFUSE_CALL(SYS_keyctl, EACCES),
    ONLY_ITSELF(SYS_prlimit64),
    ONLY_ITSELF(SYS_sched_setaffinity),
    ONLY_ITSELF(SYS_sched_setscheduler),
    ONLY_ITSELF(SYS_sched_setparam),
    ONLY_ITSELF(SYS_sched_setattr),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioprio_set, 0, 6),
    LOAD(args[0]), // 1: of a process, not of a group or a user
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 2),
    LOAD(args[1]),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    REFUSE(EPERM),
    RETURN(SECCOMP_RET_ALLOW),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setpriority, 0, 6),
    LOAD(args[0]), // 0: of a process, not of a group or a user
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
    LOAD(args[1]),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    REFUSE(EPERM),
    RETURN(SECCOMP_RET_ALLOW),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
    LOAD(args[1]), // its lower half
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 1),
    REFUSE(EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

static bool enter_filters(void)
{
    const struct sock_fprog program = {.len = sizeof lines / sizeof *lines, .filter = lines};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// A file for bwrap, which enters them after all else. -1: none.
static int filter_file(void)
{
    int file = memfd_create("filters", MFD_CLOEXEC);
    if (file >= 0 && write(file, lines, sizeof lines) != (ssize_t)sizeof lines) {
        close(file);
        file = -1;
    }
    return file;
}
#else
static bool has_filters(void)
{
    return false;
}

static bool enter_filters(void)
{
    return true;
}

static int filter_file(void)
{
    return -1;
}
#endif

// --- root ------------------------------------------------------------------------------------------------------------

// What root may do beyond others goes, but for reading and writing files of others: containers run as root on folders
// that belong to somebody else, and where it may write is limited anyway. Other users have nothing to lose.
static void drop_capabilities(void)
{
    enum { CAPABILITIES = 64, OVERRIDE_ACCESS = 1, OVERRIDE_READING = 2 };
    const uint32_t kept = 1u << OVERRIDE_ACCESS | 1u << OVERRIDE_READING;
    for (unsigned long i = 0; i < CAPABILITIES; i++)
        if (i >= CHAR_BIT * sizeof kept || !(kept >> i & 1))
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    struct __user_cap_header_struct about = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &about, held) != 0)
        return;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        const uint32_t left = i == 0 ? held[i].permitted & kept : 0;
        held[i] = (struct __user_cap_data_struct){.effective = left, .permitted = left};
    }
    syscall(SYS_capset, &about, held);
}

// --- both ------------------------------------------------------------------------------------------------------------

const char *heddle_sandbox_name(void)
{
    if (landlock_version() > 0)
        return has_filters() ? "Landlock and seccomp" : "Landlock";
    if (heddle_wrapper_works())
        return has_filters() ? "bubblewrap and seccomp" : "bubblewrap";
    return has_filters() ? "seccomp, for sockets alone" : "none";
}

bool heddle_sandbox_contains(void)
{
    return landlock_version() > 0 || heddle_wrapper_works();
}

heddle_status heddle_sandbox_open(heddle_sandbox *sandbox, const char *const *folders, const int *files)
{
    int version = landlock_version();
    *sandbox = (heddle_sandbox){.rules = -1, .filters = has_filters()};
    if (version > 0)
        return open_rules(sandbox, version, folders, files);
    if (!heddle_wrapper_works())
        return HEDDLE_OK;
    sandbox->filter_file = sandbox->filters ? filter_file() : -1;
    heddle_status status = heddle_wrapper_make(folders, sandbox->filter_file, &sandbox->wrapper);
    if (status != HEDDLE_OK && sandbox->filter_file >= 0)
        close(sandbox->filter_file);
    return status;
}

void heddle_sandbox_close(heddle_sandbox *sandbox)
{
    if (sandbox->rules >= 0)
        close(sandbox->rules);
    if (sandbox->wrapper && sandbox->filter_file >= 0)
        close(sandbox->filter_file);
    heddle_wrapper_free(sandbox->wrapper);
    *sandbox = (heddle_sandbox){.rules = -1};
}

bool heddle_sandbox_enter(const heddle_sandbox *sandbox)
{
    if (sandbox->wrapper) // which does the rest; the descriptor's place in its file is shared by all runs
        return sandbox->filter_file < 0 ||
               (lseek(sandbox->filter_file, 0, SEEK_SET) == 0 && fcntl(sandbox->filter_file, F_SETFD, 0) == 0);
    // Without this a program with more rights, such as sudo, would be let out, so the kernel asks for it.
    if ((sandbox->rules >= 0 || sandbox->filters) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    drop_capabilities();
    if (sandbox->rules >= 0 && syscall(RESTRICT_SELF, sandbox->rules, 0) != 0)
        return false;
    return !sandbox->filters || enter_filters();
}
