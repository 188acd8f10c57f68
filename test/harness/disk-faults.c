/*
 * Preloaded into a process: does to its calls of the file system what slow, full and broken disks do. It obeys a
 * control file, SVC_TEST_FAULTS_CONTROL, which it looks at on every call, and tells SVC_TEST_FAULTS_LOG of each call
 * that a rule met. test/harness/disk-faults.ts writes the one and reads the other; what a rule means stands there.
 *
 * A rule is a line of fields between tabs: id, call, path part, thread, when, action, argument, skip, count.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RULES_MAX 64
#define FIELD_MAX 256

typedef struct {
  char id[FIELD_MAX], call[FIELD_MAX], path[FIELD_MAX], thread[FIELD_MAX], action[FIELD_MAX];
  int after;
  long argument, skip, count, met;
} rule;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rule rules[RULES_MAX];
static int rules_held;
static struct stat read_at;
static const char *control, *logged;

__attribute__((constructor)) static void begin(void) {
  control = getenv("SVC_TEST_FAULTS_CONTROL");
  logged = getenv("SVC_TEST_FAULTS_LOG");
}

static void pause_ms(long ms) {
  struct timespec left = {ms / 1000, (ms % 1000) * 1000000};
  while (nanosleep(&left, &left) == -1 && errno == EINTR) {}
}

static int same_file(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int parse(char *line, rule *into) {
  char *fields[9];
  for (int at = 0; at < 9; at++) {
    fields[at] = strsep(&line, "\t");
    if (fields[at] == NULL || strlen(fields[at]) >= FIELD_MAX) return 0;
  }
  strcpy(into->id, fields[0]);
  strcpy(into->call, fields[1]);
  strcpy(into->path, fields[2]);
  strcpy(into->thread, fields[3]);
  into->after = strcmp(fields[4], "after") == 0;
  strcpy(into->action, fields[5]);
  into->argument = atol(fields[6]);
  into->skip = atol(fields[7]);
  into->count = atol(fields[8]);
  into->met = 0;
  return 1;
}

/**
 * The control file is replaced as a whole, so that another file means other rules. A rule that stays keeps its count.
 */
static void read_rules(void) {
  struct stat now;
  if (control == NULL) return;
  if (stat(control, &now) == -1) {
    rules_held = 0;
    memset(&read_at, 0, sizeof read_at);
    return;
  }
  if (same_file(&now, &read_at)) return;
  static char text[RULES_MAX * FIELD_MAX];
  static rule fresh[RULES_MAX];
  int file = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC, 0);
  if (file == -1) return;
  ssize_t length = read(file, text, sizeof text - 1);
  syscall(SYS_close, file);
  text[length < 0 ? 0 : length] = 0;
  int held = 0;
  char *rest = text, *line;
  while ((line = strsep(&rest, "\n")) != NULL && held < RULES_MAX) {
    if (!parse(line, &fresh[held])) continue;
    for (int at = 0; at < rules_held; at++)
      if (strcmp(rules[at].id, fresh[held].id) == 0) fresh[held].met = rules[at].met;
    held++;
  }
  memcpy(rules, fresh, sizeof rules);
  rules_held = held;
  read_at = now;
}

static int is_there(const char *id) {
  int found = 0;
  pthread_mutex_lock(&lock);
  read_rules();
  for (int at = 0; at < rules_held; at++) found |= strcmp(rules[at].id, id) == 0;
  pthread_mutex_unlock(&lock);
  return found;
}

static int is_main(void) { return syscall(SYS_gettid) == getpid(); }

static int of_thread(const char *wanted) {
  char name[17] = {0};
  if (strcmp(wanted, "any") == 0) return 1;
  if (strcmp(wanted, "main") == 0) return is_main();
  if (strcmp(wanted, "other") == 0) return !is_main();
  prctl(PR_GET_NAME, name);
  return strstr(name, wanted) != NULL;
}

/* The first rule that this call meets, and whose turn it is. */
static int met(const char *call, const char *path, int after, rule *into) {
  int found = 0;
  pthread_mutex_lock(&lock);
  read_rules();
  for (int at = 0; at < rules_held && !found; at++) {
    rule *one = &rules[at];
    if (one->after != after || (strcmp(one->call, "any") != 0 && strcmp(one->call, call) != 0)) continue;
    if (strstr(path, one->path) == NULL || !of_thread(one->thread)) continue;
    long turn = one->met++;
    if (turn < one->skip || (one->count > 0 && turn >= one->skip + one->count)) continue;
    *into = *one;
    found = 1;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void tell(const rule *by, const char *call, const char *path, const char *what) {
  char line[PATH_MAX + 3 * FIELD_MAX];
  if (logged == NULL) return;
  int length = snprintf(line, sizeof line, "%d\t%s\t%s\t%s\t%s\t%s\n", getpid(), is_main() ? "main" : "other", by->id, call,
                        path, what);
  int file = syscall(SYS_openat, AT_FDCWD, logged, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file == -1) return;
  syscall(SYS_write, file, line, length);
  syscall(SYS_close, file);
}

/* True where the call fails: errno is set. */
static int disturbed(const char *call, const char *path, int after) {
  rule by;
  if (control == NULL || !met(call, path, after, &by)) return 0;
  tell(&by, call, path, by.action);
  if (strcmp(by.action, "fail") == 0) {
    errno = by.argument;
    return 1;
  }
  if (strcmp(by.action, "delay") == 0) pause_ms(by.argument);
  if (strcmp(by.action, "hold") == 0)
    while (is_there(by.id)) pause_ms(5);
  tell(&by, call, path, "done");
  return 0;
}

static void path_of(int file, char *into) {
  char link[64];
  into[0] = 0;
  if (control == NULL) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, into, PATH_MAX - 1);
  into[length < 0 ? 0 : length] = 0;
}

/* Errors of the call itself are kept through what is asked afterwards. */
#define RUN(call, path, real)                     \
  do {                                            \
    int before = errno;                           \
    if (disturbed(call, path, 0)) return -1;      \
    errno = before;                               \
    __typeof__(real) answer = (real);             \
    int reason = errno;                           \
    if (disturbed(call, path, 1)) return -1;      \
    errno = reason;                               \
    return answer;                                \
  } while (0)

#define RUN_ON(call, file, real) \
  do {                           \
    char path[PATH_MAX];         \
    int kept = errno;            \
    path_of(file, path);         \
    errno = kept;                \
    RUN(call, path, real);       \
  } while (0)

#define LOW(offset) ((long)(offset))

int fsync(int file) { RUN_ON("fsync", file, (int)syscall(SYS_fsync, file)); }
int fdatasync(int file) { RUN_ON("fdatasync", file, (int)syscall(SYS_fdatasync, file)); }

int unlink(const char *path) { RUN("unlink", path, (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0)); }
int unlinkat(int folder, const char *path, int flags) {
  RUN("unlink", path, (int)syscall(SYS_unlinkat, folder, path, flags));
}

static int removed(const char *path) {
  int answer = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  return answer == -1 && errno == EISDIR ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR) : answer;
}
int remove(const char *path) { RUN("unlink", path, removed(path)); }

/* A rule finds both names. */
static void both(char *into, const char *from, const char *to) { snprintf(into, 2 * PATH_MAX, "%s -> %s", from, to); }

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
  char path[2 * PATH_MAX];
  both(path, from, to);
  RUN("rename", path, (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int link(const char *from, const char *to) {
  char path[2 * PATH_MAX];
  both(path, from, to);
  RUN("link", path, (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

ssize_t write(int file, const void *bytes, size_t length) {
  RUN_ON("write", file, (ssize_t)syscall(SYS_write, file, bytes, length));
}
ssize_t writev(int file, const struct iovec *pieces, int count) {
  RUN_ON("write", file, (ssize_t)syscall(SYS_writev, file, pieces, count));
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  RUN_ON("pwrite", file, (ssize_t)syscall(SYS_pwrite64, file, bytes, length, offset));
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) { return pwrite64(file, bytes, length, offset); }
ssize_t pwritev64(int file, const struct iovec *pieces, int count, off64_t offset) {
  RUN_ON("pwrite", file, (ssize_t)syscall(SYS_pwritev, file, pieces, count, LOW(offset), 0L));
}
ssize_t pwritev(int file, const struct iovec *pieces, int count, off_t offset) {
  return pwritev64(file, pieces, count, offset);
}

int ftruncate64(int file, off64_t length) { RUN_ON("ftruncate", file, (int)syscall(SYS_ftruncate, file, length)); }
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static int opened(int folder, const char *path, int flags, mode_t mode) {
  RUN("open", path, (int)syscall(SYS_openat, folder, path, flags, mode));
}

#define MODE(mode, flags)                                            \
  mode_t mode = 0;                                                   \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {  \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    mode = va_arg(rest, mode_t);                                     \
    va_end(rest);                                                    \
  }

int open(const char *path, int flags, ...) {
  MODE(mode, flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(mode, flags)
  return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  MODE(mode, flags)
  return opened(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  MODE(mode, flags)
  return opened(folder, path, flags | O_LARGEFILE, mode);
}
