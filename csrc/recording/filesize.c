/*
** filesize.c - see filesize.h.
*/
#include "recording/filesize.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "recording/contents.h"
#include "text/fdwriter.h"

#define GIGABYTE (UINT64_C(1) << 30)

/* errno is the program's. */
static void say (tg_Buf *text, int error) {
  tg_FdWriter errors;
  if (!text->failed) {
    tg_fdwriter_open(&errors, STDERR_FILENO);
    tg_fdwriter_write(&errors, text->data, text->size);
    tg_fdwriter_close(&errors);
  }
  tg_buf_free(text);
  errno = error;
}

uint64_t tg_filesize_passed (uint64_t from, uint64_t to) {
  return to / GIGABYTE > from / GIGABYTE ? to / GIGABYTE : 0;
}

/* Of what users other than root may have. */
static bool is_low (int fd, uint64_t *left) {
  struct statvfs st;
  if (fstatvfs(fd, &st) != 0 || st.f_blocks == 0)
    return false;
  *left = (uint64_t)st.f_bavail * st.f_frsize;
  return st.f_bavail < st.f_blocks / 10;
}

void tg_filesize_grown (tg_FileSize *z, const char *path, int fd, uint64_t from,
                        uint64_t to) {
  int error = errno;
  tg_Buf text = {0};
  uint64_t passed = tg_filesize_passed(from, to), left;
  if (!z->tells || to < TG_FILESIZE_WORTH)
    return;
  if (passed > 0)
    tg_buf_addfmt(&text, "tracegrip: %s has %" PRIu64 " GiB by now\n", path,
                  passed);
  if (!z->low && is_low(fd, &left)) {
    z->low = true;
    tg_buf_addfmt(&text, "tracegrip: %s has %" PRIu64 " MiB, and less than a "
                  "tenth of its disk is left: %" PRIu64 " MiB\n", path,
                  to >> 20, left >> 20);
  }
  if (text.size > 0)
    say(&text, error);
  errno = error;
}

void tg_filesize_full (const char *path) {
  int error = errno;
  tg_Buf text = {0};
  tg_buf_addfmt(&text, "tracegrip: %s has the size that it may have "
                "(--max-size): the trace has ended\n", path);
  say(&text, error);
}

void tg_filesize_closed (const char *path) {
  int error = errno;
  char reason[160];
  struct stat st;
  tg_Status status;
  tg_Contents c;
  tg_Words words;
  tg_Buf text = {0};
  if (stat(path, &st) != 0 || (uint64_t)st.st_size < TG_FILESIZE_WORTH)
    return;
  tg_Recording *r = tg_recording_open(path, &status, reason, sizeof reason);
  if (r != NULL && tg_contents_measure(r, &c)) {
    tg_contents_words(&c, &words);
    tg_buf_addfmt(&text, "tracegrip: %s: %s\n", path, words.text);
    say(&text, error);
  }
  tg_recording_close(r);
  errno = error;
}
