/* Kills a process with SIGKILL at its n-th write below a folder: before it, in the middle of it, or after it.
 * KILL_BELOW names the folder, KILL_AT is n (0: never), KILL_HOW is 0, 1 or 2. At its end a process that was not killed
 * writes how many writes it made into KILL_COUNT. Only the process that was started so counts, none of its children. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long made;
static long at, how;
static pid_t owner;
static char below[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("KILL_BELOW");
    if (!folder || getenv("KILL_OWNER")) return;
    setenv("KILL_OWNER", "1", 1);
    snprintf(below, sizeof below, "%s/", folder);
    at = atol(getenv("KILL_AT"));
    how = atol(getenv("KILL_HOW"));
    owner = getpid();
}

__attribute__((destructor)) static void finish(void) {
    const char *file = getenv("KILL_COUNT");
    if (owner != getpid() || !file) return;
    owner = 0;
    FILE *out = fopen(file, "w");
    if (out) {
        fprintf(out, "%ld", made);
        fclose(out);
    }
}

static int is_below(const char *path) {
    return owner && owner == getpid() && strncmp(path, below, strlen(below)) == 0;
}

static int is_below_fd(int fd) {
    char link[64], path[PATH_MAX];
    if (!owner || owner != getpid()) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len <= 0) return 0;
    path[len] = 0;
    return is_below(path);
}

/* Whether this write is the one. */
static int is_last(int counts) {
    if (!counts || atomic_fetch_add(&made, 1) + 1 != at) return 0;
    if (how == 0) kill(owner, SIGKILL);
    return 1;
}

static void die(int last) {
    if (last) kill(owner, SIGKILL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(counts, result, call)   \
    do {                             \
        int last = is_last(counts);  \
        result = call;               \
        die(last);                   \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t len) {
    int last = is_last(is_below_fd(fd));
    ssize_t result = REAL(write)(fd, bytes, last && how == 1 ? len / 2 : len);
    die(last);
    return result;
}
int fsync(int fd) { int done; CALL(is_below_fd(fd), done, REAL(fsync)(fd)); return done; }
int fdatasync(int fd) { int done; CALL(is_below_fd(fd), done, REAL(fdatasync)(fd)); return done; }
int ftruncate64(int fd, off64_t len) { int done; CALL(is_below_fd(fd), done, REAL(ftruncate64)(fd, len)); return done; }
int rename(const char *from, const char *to) { int done; CALL(is_below(to), done, REAL(rename)(from, to)); return done; }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    int done;
    CALL(is_below(to), done, REAL(renameat2)(a, from, b, to, flags));
    return done;
}
int link(const char *from, const char *to) { int done; CALL(is_below(to), done, REAL(link)(from, to)); return done; }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    int done;
    CALL(is_below(to), done, REAL(linkat)(a, from, b, to, flags));
    return done;
}
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int done;
    CALL(flags & O_CREAT && is_below(path), done, REAL(open64)(path, flags, mode));
    return done;
}
int unlink(const char *path) { int done; CALL(is_below(path), done, REAL(unlink)(path)); return done; }
int mkdir(const char *path, mode_t mode) { int done; CALL(is_below(path), done, REAL(mkdir)(path, mode)); return done; }
