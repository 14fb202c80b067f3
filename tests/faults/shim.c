/*
 * A preloaded library that watches what one process does below one directory, writes it down,
 * and makes it fail or die at a chosen point. tests/faults/shim.py compiles and steers it.
 *
 *   SIBYL_SHIM_ROOT   the directory, without symbolic links in its path
 *   SIBYL_SHIM_TRACE  file to append the trace to, outside of that directory
 *   SIBYL_SHIM_RULES  faults: "ACTION FIRST LAST ERRNO KINDS", separated by ";". A rule counts the
 *                     operations of its kinds (",write,sync,", or "*" for all that have a number)
 *                     and acts on the FIRST to the LAST of them.
 *
 * Operations on watched files are done one after the other, whatever threads there are, so that
 * the order of the trace is the order of the effects. The variables and LD_PRELOAD are taken out
 * of the environment at the start: neither a fork nor a program that is started is watched.
 *
 * Not seen: mmap, sendfile, copy_file_range, fallocate, writes through C's stdio, close, chmod.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_RULES 16
/* Out of the way of descriptors that a program expects: 0 to 2 may be closed when it starts. */
#define FIRST_TRACE_DESCRIPTOR 100

/* The 64-bit names at the end are plain second names only where these are one size. */
typedef char offsets_have_64_bits[sizeof(off_t) == 8 ? 1 : -1];

/* ---- The functions that stand behind ours ------------------------------------------------- */

static struct {
    int (*open)(const char *, int, ...);
    int (*openat)(int, const char *, int, ...);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*pwritev)(int, const struct iovec *, int, off_t);
    ssize_t (*pwritev2)(int, const struct iovec *, int, off_t, int);
    int (*fsync)(int);
    int (*fdatasync)(int);
    int (*rename)(const char *, const char *);
    int (*renameat)(int, const char *, int, const char *);
    int (*renameat2)(int, const char *, int, const char *, unsigned int);
    int (*link)(const char *, const char *);
    int (*linkat)(int, const char *, int, const char *, int);
    int (*unlink)(const char *);
    int (*unlinkat)(int, const char *, int);
    int (*rmdir)(const char *);
    int (*ftruncate)(int, off_t);
    int (*truncate)(const char *, off_t);
    int (*mkdir)(const char *, mode_t);
    int (*mkdirat)(int, const char *, mode_t);
    int (*utimensat)(int, const char *, const struct timespec[2], int);
    int (*futimens)(int, const struct timespec[2]);
} real;

static void find_real_functions(void)
{
/* ISO C has no cast from an object pointer to a function pointer; POSIX asks for this one. */
#define FIND(name) (*(void **)&real.name = dlsym(RTLD_NEXT, #name))
    FIND(open), FIND(openat);
    FIND(write), FIND(pwrite), FIND(writev), FIND(pwritev), FIND(pwritev2);
    FIND(fsync), FIND(fdatasync), FIND(ftruncate), FIND(truncate);
    FIND(rename), FIND(renameat), FIND(renameat2), FIND(link), FIND(linkat);
    FIND(unlink), FIND(unlinkat), FIND(rmdir), FIND(mkdir), FIND(mkdirat);
    FIND(utimensat), FIND(futimens);
#undef FIND
}

/* ---- What was asked for ------------------------------------------------------------------- */

struct rule {
    char action[16];
    unsigned long first, last;
    int error;
    char kinds[128];
    unsigned long seen; /* operations of its kinds so far */
};

static struct {
    pid_t process; /* 0: nothing is watched */
    char root[PATH_MAX];
    size_t root_length;
    int trace; /* -1: none */
    struct rule rules[MAX_RULES];
    int rule_count;
    unsigned long operations;
    bool next_write_fails;
} shim = {.trace = -1};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void give_up(const char *reason)
{
    fprintf(stderr, "shim: %s\n", reason);
    _exit(120);
}

static void read_rules(char *text)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        struct rule *rule = &shim.rules[shim.rule_count];
        if (shim.rule_count++ == MAX_RULES)
            give_up("too many rules");
        if (sscanf(one, "%15s %lu %lu %d %127s", rule->action, &rule->first, &rule->last,
                   &rule->error, rule->kinds) != 5)
            give_up("a rule is not ACTION FIRST LAST ERRNO KINDS");
    }
}

static void open_trace(const char *path)
{
    int low = real.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    shim.trace = fcntl(low, F_DUPFD_CLOEXEC, FIRST_TRACE_DESCRIPTOR);
    if (shim.trace < 0 || real.write(shim.trace, "shim 1\n", 7) != 7)
        give_up("the trace cannot be written");
    close(low);
}

static void set_up(void)
{
    const char *root = getenv("SIBYL_SHIM_ROOT");
    const char *trace = getenv("SIBYL_SHIM_TRACE");
    char *rules = getenv("SIBYL_SHIM_RULES");
    find_real_functions();
    if (!root)
        return;
    shim.root_length = strlen(root);
    if (shim.root_length >= sizeof shim.root)
        give_up("the root's path is too long");
    strcpy(shim.root, root);
    if (trace)
        open_trace(trace);
    if (rules)
        read_rules(rules);
    unsetenv("LD_PRELOAD");
    unsetenv("SIBYL_SHIM_ROOT");
    unsetenv("SIBYL_SHIM_TRACE");
    unsetenv("SIBYL_SHIM_RULES");
    shim.process = getpid();
}

/* Other libraries' constructors may come first and open files: see is_watching. */
__attribute__((constructor)) static void at_start(void) { pthread_once(&once, set_up); }

/* Every function below asks this first, and finds the real ones afterwards. */
static bool is_watching(void)
{
    pthread_once(&once, set_up);
    return shim.process != 0 && shim.process == getpid();
}

/* ---- Paths -------------------------------------------------------------------------------- */

static bool is_below_root(const char *path)
{
    return strncmp(path, shim.root, shim.root_length) == 0 &&
           (path[shim.root_length] == '/' || path[shim.root_length] == '\0');
}

static bool path_of_descriptor(int descriptor, char *path)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = '\0';
    return path[0] == '/';
}

/* The kernel adds a word to the name of a file that was unlinked. */
static void without_deleted(char *path)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(path), tail = sizeof mark - 1;
    if (length > tail && strcmp(path + length - tail, mark) == 0 && access(path, F_OK) != 0)
        path[length - tail] = '\0';
}

/* The whole path, its directory without symbolic links; the last name stays as it is. */
static bool path_of_name(int directory, const char *name, char *path)
{
    char whole[2 * PATH_MAX] = "", parent[PATH_MAX];
    if (strlen(name) >= PATH_MAX)
        return false;
    if (name[0] != '/' && directory != AT_FDCWD) {
        if (!path_of_descriptor(directory, whole))
            return false;
        strcat(whole, "/");
    }
    strcat(whole, name);
    for (size_t end = strlen(whole); end > 1 && whole[end - 1] == '/'; end--)
        whole[end - 1] = '\0';
    char *slash = strrchr(whole, '/');
    const char *last = slash ? slash + 1 : whole;
    if (*last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return realpath(whole, path) != NULL;
    if (slash)
        *slash = '\0';
    if (!realpath(!slash ? "." : slash == whole ? "/" : whole, parent))
        return false;
    if (strlen(parent) + strlen(last) + 2 > PATH_MAX)
        return false;
    strcpy(path, strcmp(parent, "/") == 0 ? "" : parent);
    strcat(path, "/");
    strcat(path, last);
    return true;
}

/* ---- One operation ------------------------------------------------------------------------ */

struct operation {
    const char *kind;
    char path[PATH_MAX], second[PATH_MAX];
    const char *data;
    long long offset, length;
    int flags;
    unsigned long long inode; /* of an open file; 0 where only names are meant */
    unsigned long number;     /* 0: not counted */
    const char *fault;        /* what a rule did; "-": nothing */
    int error;                /* to fail with */
    int errno_before;
};

static bool watch_name(struct operation *op, int directory, const char *name)
{
    op->errno_before = errno;
    bool found = is_watching() && path_of_name(directory, name, op->path) && is_below_root(op->path);
    errno = op->errno_before;
    return found;
}

/* Watched if either of the two is below the root. */
static bool watch_names(struct operation *op, int directory, const char *name, int directory2,
                        const char *name2)
{
    op->errno_before = errno;
    bool found = is_watching() && path_of_name(directory, name, op->path) &&
                 path_of_name(directory2, name2, op->second) &&
                 (is_below_root(op->path) || is_below_root(op->second));
    errno = op->errno_before;
    return found;
}

static void identify(struct operation *op, int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) == 0)
        op->inode = status.st_ino;
}

static bool watch_descriptor(struct operation *op, int descriptor)
{
    op->errno_before = errno;
    bool found = is_watching() && path_of_descriptor(descriptor, op->path) && is_below_root(op->path);
    if (found) {
        without_deleted(op->path);
        identify(op, descriptor);
    }
    errno = op->errno_before;
    return found;
}

/* A line of numbers and words, then two paths and the data, whose lengths end the line. */
static void write_trace(const struct operation *op, long long result, int error)
{
    char line[256];
    size_t data = op->data && result > 0 ? (size_t)result : 0;
    int length = snprintf(line, sizeof line, "%lu %s %s %lld %d %lld %lld %d %llu %zu %zu %zu\n",
                          op->number, op->kind, op->fault, result, error, op->offset, op->length,
                          op->flags, op->inode, strlen(op->path), strlen(op->second), data);
    struct iovec parts[] = {
        {line, (size_t)length},
        {(void *)op->path, strlen(op->path)},
        {(void *)op->second, strlen(op->second)},
        {(void *)op->data, data},
        {(void *)"\n", 1},
    };
    ssize_t whole = 0;
    for (int i = 0; i < 5; i++)
        whole += (ssize_t)parts[i].iov_len;
    if (shim.trace >= 0 && real.writev(shim.trace, parts, 5) != whole)
        give_up("the trace cannot be written");
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static bool is_fault(const struct operation *op, const char *fault)
{
    return strcmp(op->fault, fault) == 0;
}

static bool is_write(const struct operation *op) { return strcmp(op->kind, "write") == 0; }

/* What a program only reads or says is counted by rules that name it, and by no others. */
static bool has_number(const struct operation *op)
{
    return strcmp(op->kind, "open-read") != 0 && strcmp(op->kind, "stdout") != 0;
}

static bool concerns(const struct rule *rule, const struct operation *op)
{
    char word[32];
    if (strcmp(rule->kinds, "*") == 0)
        return has_number(op);
    snprintf(word, sizeof word, ",%s,", op->kind);
    return strstr(rule->kinds, word) != NULL;
}

/* Rules that kill stand last in the list, and win over what comes before them. */
static void apply(struct rule *rule, struct operation *op)
{
    bool only_writes = strcmp(rule->action, "short") == 0 || strcmp(rule->action, "kill-half") == 0;
    if (!concerns(rule, op) || ++rule->seen < rule->first || rule->seen > rule->last)
        return;
    if (only_writes && !is_write(op))
        return;
    op->fault = rule->action;
    if (rule->error)
        op->error = rule->error;
}

static void take_fault(struct operation *op)
{
    if (is_write(op) && shim.next_write_fails) {
        shim.next_write_fails = false;
        op->fault = "full";
        op->error = ENOSPC;
    }
    for (int i = 0; i < shim.rule_count; i++)
        apply(&shim.rules[i], op);
    if (is_fault(op, "short")) {
        shim.next_write_fails = true;
        op->error = op->length < 2 ? ENOSPC : 0; /* a write that returns 0 says nothing */
    }
}

/* Whether the operation is to be done. Holds the lock until end() has been called. */
static bool begin(struct operation *op)
{
    pthread_mutex_lock(&one_at_a_time);
    op->fault = "-";
    if (has_number(op))
        op->number = ++shim.operations;
    take_fault(op);
    if (is_fault(op, "kill-before")) {
        write_trace(op, -1, 0);
        die();
    }
    errno = op->error ? op->error : op->errno_before;
    return op->error == 0;
}

static long long end(const struct operation *op, long long result)
{
    int error = errno;
    write_trace(op, result, result < 0 ? error : 0);
    if (is_fault(op, "kill-after") || is_fault(op, "kill-half"))
        die();
    pthread_mutex_unlock(&one_at_a_time);
    errno = error;
    return result;
}

/* ---- open --------------------------------------------------------------------------------- */

static bool takes_mode(int flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_at(int directory, const char *name, int flags, mode_t mode)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    struct operation op = {.kind = writes ? "open" : "open-read", .flags = flags};
    int descriptor = -1;
    if (!watch_name(&op, directory, name))
        return real.openat(directory, name, flags, mode);
    if (begin(&op))
        descriptor = real.openat(directory, name, flags, mode);
    if (descriptor >= 0)
        identify(&op, descriptor);
    return (int)end(&op, descriptor);
}

/* The mode is there only with some of the flags. */
#define MODE_AFTER(flags, mode)                                                                    \
    mode_t mode = 0;                                                                               \
    if (takes_mode(flags)) {                                                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

int open(const char *name, int flags, ...)
{
    MODE_AFTER(flags, mode)
    return open_at(AT_FDCWD, name, flags, mode);
}

int openat(int directory, const char *name, int flags, ...)
{
    MODE_AFTER(flags, mode)
    return open_at(directory, name, flags, mode);
}

int creat(const char *name, mode_t mode)
{
    return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* ---- write -------------------------------------------------------------------------------- */

/* Where the bytes went that were written last. Linux appends a pwrite too, on O_APPEND. */
static off_t place_of(int descriptor, ssize_t written, off_t asked)
{
    struct stat status;
    if (fcntl(descriptor, F_GETFL) & O_APPEND)
        return fstat(descriptor, &status) == 0 ? status.st_size - written : -1;
    return asked >= 0 ? asked : lseek(descriptor, 0, SEEK_CUR) - written;
}

static ssize_t write_plainly(int descriptor, const void *data, size_t size, off_t offset)
{
    return offset < 0 ? real.write(descriptor, data, size)
                      : real.pwrite(descriptor, data, size, offset);
}

/* An offset below 0 stands for the descriptor's own position. */
static ssize_t write_at(int descriptor, const void *data, size_t size, off_t offset)
{
    struct operation op = {.kind = "write", .data = data, .offset = offset, .length = (long long)size};
    ssize_t written = -1;
    if (!watch_descriptor(&op, descriptor)) {
        if (descriptor != STDOUT_FILENO || !is_watching())
            return write_plainly(descriptor, data, size, offset);
        op.kind = "stdout";
        op.path[0] = '\0';
    }
    if (begin(&op)) {
        bool half = is_fault(&op, "short") || is_fault(&op, "kill-half");
        written = write_plainly(descriptor, data, half ? size / 2 : size, offset);
        if (written >= 0 && op.inode) {
            int error = errno;
            op.offset = place_of(descriptor, written, offset);
            errno = error;
        }
    }
    return (ssize_t)end(&op, written);
}

static bool is_of_interest(int descriptor)
{
    struct operation op = {.kind = "write"};
    return watch_descriptor(&op, descriptor) || (descriptor == STDOUT_FILENO && is_watching());
}

/* Several pieces are one operation: they are put together and written at once. */
static ssize_t write_pieces(int descriptor, const struct iovec *pieces, int count, off_t offset)
{
    size_t size = 0, done = 0;
    for (int i = 0; i < count; i++)
        size += pieces[i].iov_len;
    char *whole = malloc(size + 1);
    if (!whole)
        return -1;
    for (int i = 0; i < count; done += pieces[i++].iov_len)
        memcpy(whole + done, pieces[i].iov_base, pieces[i].iov_len);
    ssize_t written = write_at(descriptor, whole, size, offset);
    int error = errno;
    free(whole);
    errno = error;
    return written;
}

ssize_t write(int descriptor, const void *data, size_t size)
{
    return write_at(descriptor, data, size, -1);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    return write_at(descriptor, data, size, offset);
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count)
{
    if (!is_of_interest(descriptor))
        return real.writev(descriptor, pieces, count);
    return write_pieces(descriptor, pieces, count, -1);
}

ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset)
{
    if (!is_of_interest(descriptor))
        return real.pwritev(descriptor, pieces, count, offset);
    return write_pieces(descriptor, pieces, count, offset);
}

/* Python's os.pwritev. A function that an old C library lacks has nobody who calls it. */
ssize_t pwritev2(int descriptor, const struct iovec *pieces, int count, off_t offset, int flags)
{
    if (!is_of_interest(descriptor))
        return real.pwritev2(descriptor, pieces, count, offset, flags);
    if (flags) { /* they change where it goes or what it means; systems may refuse them */
        errno = EOPNOTSUPP;
        return -1;
    }
    return write_pieces(descriptor, pieces, count, offset);
}

/* ---- Everything else ---------------------------------------------------------------------- */

/* Begin, do, end; the operation's own arguments are those of the function around it. */
#define DO(op, call) ((int)end(&(op), begin(&(op)) ? (call) : -1))

int fsync(int descriptor)
{
    struct operation op = {.kind = "sync"};
    if (!watch_descriptor(&op, descriptor))
        return real.fsync(descriptor);
    return DO(op, real.fsync(descriptor));
}

int fdatasync(int descriptor)
{
    struct operation op = {.kind = "sync"};
    if (!watch_descriptor(&op, descriptor))
        return real.fdatasync(descriptor);
    return DO(op, real.fdatasync(descriptor));
}

int rename(const char *name, const char *name2)
{
    struct operation op = {.kind = "rename"};
    if (!watch_names(&op, AT_FDCWD, name, AT_FDCWD, name2))
        return real.rename(name, name2);
    return DO(op, real.rename(name, name2));
}

int renameat(int directory, const char *name, int directory2, const char *name2)
{
    struct operation op = {.kind = "rename"};
    if (!watch_names(&op, directory, name, directory2, name2))
        return real.renameat(directory, name, directory2, name2);
    return DO(op, real.renameat(directory, name, directory2, name2));
}

int renameat2(int directory, const char *name, int directory2, const char *name2, unsigned int flags)
{
    struct operation op = {.kind = "rename", .flags = (int)flags};
    if (!watch_names(&op, directory, name, directory2, name2))
        return real.renameat2(directory, name, directory2, name2, flags);
    return DO(op, real.renameat2(directory, name, directory2, name2, flags));
}

int link(const char *name, const char *name2)
{
    struct operation op = {.kind = "link"};
    if (!watch_names(&op, AT_FDCWD, name, AT_FDCWD, name2))
        return real.link(name, name2);
    return DO(op, real.link(name, name2));
}

int linkat(int directory, const char *name, int directory2, const char *name2, int flags)
{
    struct operation op = {.kind = "link", .flags = flags};
    if (!watch_names(&op, directory, name, directory2, name2))
        return real.linkat(directory, name, directory2, name2, flags);
    return DO(op, real.linkat(directory, name, directory2, name2, flags));
}

int unlink(const char *name)
{
    struct operation op = {.kind = "unlink"};
    if (!watch_name(&op, AT_FDCWD, name))
        return real.unlink(name);
    return DO(op, real.unlink(name));
}

int unlinkat(int directory, const char *name, int flags)
{
    struct operation op = {.kind = flags & AT_REMOVEDIR ? "rmdir" : "unlink", .flags = flags};
    if (!watch_name(&op, directory, name))
        return real.unlinkat(directory, name, flags);
    return DO(op, real.unlinkat(directory, name, flags));
}

int rmdir(const char *name)
{
    struct operation op = {.kind = "rmdir"};
    if (!watch_name(&op, AT_FDCWD, name))
        return real.rmdir(name);
    return DO(op, real.rmdir(name));
}

int ftruncate(int descriptor, off_t length)
{
    struct operation op = {.kind = "truncate", .length = length};
    if (!watch_descriptor(&op, descriptor))
        return real.ftruncate(descriptor, length);
    return DO(op, real.ftruncate(descriptor, length));
}

int truncate(const char *name, off_t length)
{
    struct operation op = {.kind = "truncate", .length = length};
    if (!watch_name(&op, AT_FDCWD, name))
        return real.truncate(name, length);
    return DO(op, real.truncate(name, length));
}

int mkdir(const char *name, mode_t mode)
{
    struct operation op = {.kind = "mkdir"};
    if (!watch_name(&op, AT_FDCWD, name))
        return real.mkdir(name, mode);
    return DO(op, real.mkdir(name, mode));
}

int mkdirat(int directory, const char *name, mode_t mode)
{
    struct operation op = {.kind = "mkdir"};
    if (!watch_name(&op, directory, name))
        return real.mkdirat(directory, name, mode);
    return DO(op, real.mkdirat(directory, name, mode));
}

int utimensat(int directory, const char *name, const struct timespec times[2], int flags)
{
    struct operation op = {.kind = "utime", .flags = flags};
    if (!watch_name(&op, directory, name))
        return real.utimensat(directory, name, times, flags);
    return DO(op, real.utimensat(directory, name, times, flags));
}

int futimens(int descriptor, const struct timespec times[2])
{
    struct operation op = {.kind = "utime"};
    if (!watch_descriptor(&op, descriptor))
        return real.futimens(descriptor, times);
    return DO(op, real.futimens(descriptor, times));
}

/* ---- Other names that glibc has for the same ---------------------------------------------- */

#ifdef __GLIBC__

/* Python is built for large files, and may be built with checks on calls without a mode. */
int open64(const char *name, int flags, ...)
{
    MODE_AFTER(flags, mode)
    return open_at(AT_FDCWD, name, flags | O_LARGEFILE, mode);
}

int openat64(int directory, const char *name, int flags, ...)
{
    MODE_AFTER(flags, mode)
    return open_at(directory, name, flags | O_LARGEFILE, mode);
}

int creat64(const char *name, mode_t mode) { return creat(name, mode); }

int __open_2(const char *name, int flags) { return open_at(AT_FDCWD, name, flags, 0); }

int __open64_2(const char *name, int flags) { return open64(name, flags); }

int __openat_2(int directory, const char *name, int flags)
{
    return open_at(directory, name, flags, 0);
}

int __openat64_2(int directory, const char *name, int flags)
{
    return openat64(directory, name, flags);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset)
{
    return pwrite(descriptor, data, size, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *pieces, int count, off64_t offset)
{
    return pwritev(descriptor, pieces, count, offset);
}

ssize_t pwritev64v2(int descriptor, const struct iovec *pieces, int count, off64_t offset, int flags)
{
    return pwritev2(descriptor, pieces, count, offset, flags);
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

int truncate64(const char *name, off64_t length) { return truncate(name, length); }

#endif
