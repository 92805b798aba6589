/* unpack.c - see unpack.h. */
#include "outside/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Packing {
  const char *tool;
  uint8_t magic[6];
  uint8_t size;
} Packing;

static const Packing packings[] = {
  {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4},
  {"lz4", {0x04, 0x22, 0x4d, 0x18}, 4},
  {"gzip", {0x1f, 0x8b}, 2},
  {"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6}
};

static const Packing *packing_of (int fd) {
  uint8_t head[6] = {0};
  if (pread(fd, head, sizeof head, 0) <= 0)
    return NULL;
  for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
    if (memcmp(head, packings[i].magic, packings[i].size) == 0)
      return &packings[i];
  }
  return NULL;
}

/* A file without a name in the directory for such. */
static int nameless (void) {
  const char *where = getenv("TMPDIR");
  char path[4200];
  snprintf(path, sizeof path, "%s/tracegrip.XXXXXX",
           (where != NULL && *where != '\0') ? where : "/tmp");
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0)
    unlink(path);
  return fd;
}

#define NO_TOOL 127

/* Runs "TOOL -dc" from one file to another; its exit status. */
static int run (const char *tool, int from, int to) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    if (dup2(from, 0) >= 0 && dup2(to, 1) >= 0)
      execlp(tool, tool, "-dc", (char *)NULL);
    _exit(NO_TOOL);
  }
  if (child < 0)
    return NO_TOOL;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      return NO_TOOL;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int unpack (const char *path, int from, const Packing *packing,
                   tg_Buf *words) {
  int to = nameless();
  if (to < 0) {
    tg_buf_addfmt(words, "%s cannot be unpacked: %s", path, strerror(errno));
    return -1;
  }
  int status = run(packing->tool, from, to);
  if (status == 0)
    return to;
  close(to);
  if (status == NO_TOOL)
    tg_buf_addfmt(words, "%s is compressed: that needs the program %s", path,
                  packing->tool);
  else
    tg_buf_addfmt(words, "%s cannot be unpacked by %s", path, packing->tool);
  return -1;
}

int tg_unpack_open (const char *path, tg_Buf *words) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    tg_buf_addfmt(words, "%s: %s", path, strerror(errno));
    return -1;
  }
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    tg_buf_addfmt(words, "%s is no file", path);
    close(fd);
    return -1;
  }
  const Packing *packing = packing_of(fd);
  if (packing == NULL)
    return fd;
  int plain = unpack(path, fd, packing, words);
  close(fd);
  return plain;
}
