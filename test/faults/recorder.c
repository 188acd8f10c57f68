/*
 * Writes down what a process does to the files under one folder, and lets syncs fail when it is told to. Preloaded into
 * a service (recorder.ts builds and reads it). Each record is a struct head and its payload, appended in one write, so
 * that several processes may share a record. Changes are recorded under a lock around the change itself: their order is
 * the order in which the kernel saw them. A sync has a record before it begins and one after it ended.
 *
 *   SVC_RECORD       the record, appended to
 *   SVC_RECORD_ROOT  the folder, without a slash at its end
 *
 * While a file `<record>.fail` exists, syncs of files whose path ends with its text fail with EIO and do nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NAMED = 1, WRITTEN, RESIZED, RENAMED, UNLINKED, MADE, LINKED, SYNCING, SYNCED, UNKNOWN };

struct head {
  uint32_t operation, process, thread, bytes;
  uint64_t inode, offset;
  int64_t result;
};

#define FILES 65536
static struct { int tracked; uint64_t inode, device; } files[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *record_path, *root;
static size_t root_length;
static int record = -1;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

__attribute__((constructor)) static void begin(void) {
  record_path = getenv("SVC_RECORD");
  root = getenv("SVC_RECORD_ROOT");
  if (!record_path || !root) return;
  root_length = strlen(root);
  record = syscall(SYS_openat, AT_FDCWD, record_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(int operation, uint64_t inode, uint64_t offset, int64_t result, const struct iovec *data, int pieces, size_t bytes) {
  struct head head = {operation, getpid(), (uint32_t)syscall(SYS_gettid), bytes, inode, offset, result};
  struct iovec all[1 + pieces];
  all[0] = (struct iovec){&head, sizeof head};
  size_t left = bytes;
  int used = 1;
  for (int i = 0; i < pieces && left > 0; i++) {
    size_t length = data[i].iov_len < left ? data[i].iov_len : left;
    all[used++] = (struct iovec){data[i].iov_base, length};
    left -= length;
  }
  if (syscall(SYS_writev, record, all, used) != (long)(sizeof head + bytes)) abort();
}

static void put_names(int operation, uint64_t inode, const char *first, const char *second) {
  struct iovec names[2] = {{(void *)first, strlen(first) + 1}, {(void *)second, strlen(second) + 1}};
  put(operation, inode, 0, 0, names, 2, names[0].iov_len + names[1].iov_len);
}

static int within(const char *path) {
  return record >= 0 && !strncmp(path, root, root_length) && (path[root_length] == '/' || path[root_length] == 0);
}

/* The absolute path of what is named from a folder. */
static int absolute(int folder, const char *path, char *into) {
  if (record < 0) return 0;
  if (path[0] == '/') snprintf(into, PATH_MAX, "%s", path);
  else {
    char of[64], base[PATH_MAX / 2];
    if (folder == AT_FDCWD) snprintf(of, sizeof of, "/proc/self/cwd");
    else snprintf(of, sizeof of, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(of, base, sizeof base - 1);
    if (length < 0) return 0;
    base[length] = 0;
    snprintf(into, PATH_MAX, "%s/%s", base, path);
  }
  return within(into);
}

/* Node closes files by calls that nobody sees, so a number may mean another file by now. */
static int is_tracked(int file) {
  if (file < 0 || file >= FILES || !files[file].tracked) return 0;
  int error = errno;
  struct stat now;
  int same = fstat(file, &now) == 0 && now.st_ino == files[file].inode && now.st_dev == files[file].device;
  if (!same) files[file].tracked = 0;
  errno = error;
  return same;
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (!absolute(folder, path, full)) return syscall(SYS_openat, folder, path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat before;
  int is_new = (flags & O_CREAT) && lstat(full, &before) != 0;
  int file = syscall(SYS_openat, folder, path, flags, mode);
  int error = errno;
  struct stat now;
  if (file >= 0 && file < FILES && fstat(file, &now) == 0) {
    files[file].tracked = 1;
    files[file].inode = now.st_ino;
    files[file].device = now.st_dev;
    if (is_new) put_names(NAMED, now.st_ino, full, "");
    if ((flags & O_TRUNC) && !is_new) put(RESIZED, now.st_ino, 0, 0, NULL, 0, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return file;
}

#define OPEN(name, folder_parameter, folder) \
  int name(folder_parameter const char *path, int flags, ...) { \
    va_list more; \
    va_start(more, flags); \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
    va_end(more); \
    return opened(folder, path, flags, mode); \
  }
#define NOTHING
#define FOLDER int folder,
OPEN(open, NOTHING, AT_FDCWD)
OPEN(open64, NOTHING, AT_FDCWD)
OPEN(openat, FOLDER, folder)
OPEN(openat64, FOLDER, folder)

int close(int file) {
  if (is_tracked(file)) files[file].tracked = 0;
  return REAL(close)(file);
}

static ssize_t written(int file, const struct iovec *data, int pieces, off_t at) {
  pthread_mutex_lock(&lock);
  ssize_t result = at < 0 ? syscall(SYS_writev, file, data, pieces) : syscall(SYS_pwritev, file, data, pieces, at, 0L);
  int error = errno;
  if (result > 0) put(WRITTEN, files[file].inode, at < 0 ? lseek(file, 0, SEEK_CUR) - result : at, result, data, pieces, result);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

ssize_t write(int file, const void *data, size_t bytes) {
  struct iovec one = {(void *)data, bytes};
  return is_tracked(file) ? written(file, &one, 1, -1) : syscall(SYS_write, file, data, bytes);
}
ssize_t writev(int file, const struct iovec *data, int pieces) {
  return is_tracked(file) ? written(file, data, pieces, -1) : syscall(SYS_writev, file, data, pieces);
}
#define PWRITE(name, offset) \
  ssize_t name(int file, const void *data, size_t bytes, offset at) { \
    struct iovec one = {(void *)data, bytes}; \
    return is_tracked(file) ? written(file, &one, 1, at) : syscall(SYS_pwrite64, file, data, bytes, at); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
#define PWRITEV(name, offset) \
  ssize_t name(int file, const struct iovec *data, int pieces, offset at) { \
    return is_tracked(file) ? written(file, data, pieces, at) : syscall(SYS_pwritev, file, data, pieces, at, 0L); \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define FTRUNCATE(name, offset) \
  int name(int file, offset bytes) { \
    if (!is_tracked(file)) return syscall(SYS_ftruncate, file, bytes); \
    pthread_mutex_lock(&lock); \
    int result = syscall(SYS_ftruncate, file, bytes), error = errno; \
    if (result == 0) put(RESIZED, files[file].inode, bytes, 0, NULL, 0, 0); \
    pthread_mutex_unlock(&lock); \
    errno = error; \
    return result; \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

/* What is not modelled must not pass unseen. */
static void unknown(int file, const char *what) {
  if (is_tracked(file)) put_names(UNKNOWN, files[file].inode, what, "");
}
int fallocate(int file, int mode, off_t at, off_t bytes) {
  unknown(file, "fallocate");
  return syscall(SYS_fallocate, file, mode, at, bytes);
}
int posix_fallocate(int file, off_t at, off_t bytes) {
  unknown(file, "posix_fallocate");
  return REAL(posix_fallocate)(file, at, bytes);
}
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t bytes, unsigned flags) {
  unknown(to, "copy_file_range");
  return syscall(SYS_copy_file_range, from, at, to, there, bytes, flags);
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t bytes) {
  unknown(to, "sendfile");
  return syscall(SYS_sendfile, to, from, at, bytes);
}
ssize_t sendfile(int to, int from, off_t *at, size_t bytes) {
  unknown(to, "sendfile");
  return syscall(SYS_sendfile, to, from, at, bytes);
}

static uint64_t inode_of(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 ? found.st_ino : 0;
}

static int named(int operation, int from_folder, const char *from, int to_folder, const char *to, long (*change)(int, const char *, int, const char *, int), int flags) {
  char first[PATH_MAX] = "", second[PATH_MAX] = "";
  int mine = absolute(from_folder, from, first);
  if (to) mine |= absolute(to_folder, to, second);
  if (!mine) return change(from_folder, from, to_folder, to, flags);
  pthread_mutex_lock(&lock);
  uint64_t inode = operation == MADE ? 0 : inode_of(first);
  int result = change(from_folder, from, to_folder, to, flags), error = errno;
  if (result == 0) put_names(operation, operation == MADE ? inode_of(first) : inode, first, second);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
static long do_rename(int a, const char *from, int b, const char *to, int flags) { return syscall(SYS_renameat2, a, from, b, to, flags); }
static long do_unlink(int a, const char *path, int b, const char *to, int flags) { return syscall(SYS_unlinkat, a, path, flags); }
static long do_mkdir(int a, const char *path, int b, const char *to, int mode) { return syscall(SYS_mkdirat, a, path, mode); }
static long do_link(int a, const char *from, int b, const char *to, int flags) { return syscall(SYS_linkat, a, from, b, to, flags); }

int rename(const char *from, const char *to) { return named(RENAMED, AT_FDCWD, from, AT_FDCWD, to, do_rename, 0); }
int renameat(int a, const char *from, int b, const char *to) { return named(RENAMED, a, from, b, to, do_rename, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return named(RENAMED, a, from, b, to, do_rename, flags); }
int unlink(const char *path) { return named(UNLINKED, AT_FDCWD, path, 0, NULL, do_unlink, 0); }
int unlinkat(int a, const char *path, int flags) { return named(UNLINKED, a, path, 0, NULL, do_unlink, flags); }
int rmdir(const char *path) { return named(UNLINKED, AT_FDCWD, path, 0, NULL, do_unlink, AT_REMOVEDIR); }
int mkdir(const char *path, mode_t mode) { return named(MADE, AT_FDCWD, path, 0, NULL, do_mkdir, mode); }
int mkdirat(int a, const char *path, mode_t mode) { return named(MADE, a, path, 0, NULL, do_mkdir, mode); }
int link(const char *from, const char *to) { return named(LINKED, AT_FDCWD, from, AT_FDCWD, to, do_link, 0); }
int linkat(int a, const char *from, int b, const char *to, int flags) { return named(LINKED, a, from, b, to, do_link, flags); }

int truncate64(const char *path, off64_t bytes) {
  int file = open(path, O_WRONLY);
  if (file < 0) return -1;
  int result = ftruncate(file, bytes), error = errno;
  close(file);
  errno = error;
  return result;
}
int truncate(const char *path, off_t bytes) { return truncate64(path, bytes); }

/* Whether syncs of this file are to fail. */
static int fails(int file) {
  char control[PATH_MAX], ending[256], of[64], path[PATH_MAX];
  snprintf(control, sizeof control, "%s.fail", record_path);
  int open_control = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC, 0);
  if (open_control < 0) return 0;
  ssize_t length = syscall(SYS_read, open_control, ending, sizeof ending);
  syscall(SYS_close, open_control);
  snprintf(of, sizeof of, "/proc/self/fd/%d", file);
  ssize_t whole = readlink(of, path, sizeof path);
  return length > 0 && whole >= length && !memcmp(path + whole - length, ending, length);
}

static int synced(int file, long number, const char *what) {
  if (!is_tracked(file)) return syscall(number, file);
  uint64_t inode = files[file].inode;
  struct iovec name = {(void *)what, strlen(what)};
  put(SYNCING, inode, 0, 0, &name, 1, name.iov_len);
  int broken = fails(file);
  int result = broken ? -1 : syscall(number, file);
  int error = result == 0 ? 0 : broken ? EIO : errno;
  put(SYNCED, inode, 0, error, &name, 1, name.iov_len);
  errno = error;
  return result;
}
int fsync(int file) { return synced(file, SYS_fsync, "fsync"); }
int fdatasync(int file) { return synced(file, SYS_fdatasync, "fdatasync"); }
int syncfs(int file) { return synced(file, SYS_syncfs, "syncfs"); }
int sync_file_range(int file, off64_t at, off64_t bytes, unsigned flags) {
  struct iovec name = {"sync_file_range", 15};
  if (is_tracked(file)) put(SYNCING, files[file].inode, 0, 0, &name, 1, 15);
  return syscall(SYS_sync_file_range, file, at, bytes, flags);
}
void sync(void) {
  struct iovec name = {"sync", 4};
  if (record >= 0) put(SYNCING, 0, 0, 0, &name, 1, 4);
  syscall(SYS_sync);
}
