/*
** newfile.c - see newfile.h.
*/
#include "text/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* By the name: what is there belongs to the system. One that goes up again may
   lead anywhere. */
static bool is_system (const char *path) {
  static const char *const places[] = {"/dev/", "/proc/self/fd/"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (strncmp(path, places[i], strlen(places[i])) == 0)
      return strstr(path, "/../") == NULL;
  }
  return false;
}

bool tg_newfile_is_link (const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && !is_system(path);
}

int tg_newfile_open (const char *path) {
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  return open(path, is_system(path) ? flags : flags | O_NOFOLLOW,
              TG_NEWFILE_MODE);
}

/* By mkostemps, which makes it with O_EXCL and 0600: a name that somebody else
   can guess may be there before. */
int tg_newfile_beside (const char *path, char **name) {
  static const char ending[] = ".XXXXXX.part";
  size_t size = strlen(path) + sizeof ending;
  *name = tg_malloc(size);
  if (*name == NULL) {
    errno = ENOMEM;
    return -1;
  }
  snprintf(*name, size, "%s%s", path, ending);
  int fd = mkostemps(*name, (int)strlen(".part"), O_CLOEXEC);
  if (fd < 0) {
    int error = errno;
    tg_free(*name);
    *name = NULL;
    errno = error;
  }
  return fd;
}

bool tg_newfile_place (const char *working, const char *path, bool whole) {
  if (whole && rename(working, path) == 0)
    return true;
  int error = errno;
  unlink(working);
  errno = error;
  return false;
}

void tg_newfile_drop (const char *path) {
  struct stat st;
  int error = errno;
  if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
    unlink(path);
  errno = error;
}

const char *tg_newfile_words (int error) {
  switch (error) {
    case ELOOP: return "a symbolic link, through which nothing is written";
    case ENOLCK: case ENOSYS: case EOPNOTSUPP:
      return "the file system has no locks, which a recording needs (another "
             "directory may do)";
    default: return strerror(error);
  }
}
