/*
** test_claim.c - whose a recording's file is: what makes way and what does not,
** and that of many who want one file at once one has it. Families.
*/
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/family.h"
#include "recording/claim.h"
#include "recording/fileformat.h"
#include "unit.h"

static char path[64], other[80];

/* A file that says it is a recording of this run. */
static void put_recording (uint32_t run, tg_FileState state) {
  tg_Header h = {.run = run, .state = state};
  memcpy(h.magic, TG_FORMAT_MAGIC, sizeof h.magic);
  unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT, 0666);
  UNIT_CHECK(write(fd, &h, sizeof h) == (ssize_t)sizeof h);
  close(fd);
}

static void put_text (const char *text) {
  unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT, 0666);
  UNIT_CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
}

/* Whether a claim gets it, as a new and empty file. */
static bool gets (uint32_t run, bool force) {
  struct stat st = {0};
  int fd = tg_claim(path, run, force);
  if (fd < 0) {
    UNIT_CHECK(errno == EEXIST);
    return false;
  }
  UNIT_CHECK(fstat(fd, &st) == 0 && st.st_size == 0);
  close(fd);
  return true;
}

static void makes_way (void) {
  unlink(path);
  UNIT_CHECK(gets(0, false));
  UNIT_CHECK(!gets(0, false));          /* whatever it is */
  UNIT_CHECK(gets(7, false));           /* an empty file */
  put_recording(6, TG_FILE_COMPLETE);
  UNIT_CHECK(!gets(0, false) && !gets(6, false) && !gets(6, true));
  UNIT_CHECK(gets(7, false));
  put_recording(6, TG_FILE_RUNNING);    /* cut off */
  UNIT_CHECK(gets(7, false));
  put_text("important");
  UNIT_CHECK(!gets(7, false) && gets(7, true));
}

static void is_locked (void) {
  unlink(path);
  int fd = tg_claim(path, 6, false);
  UNIT_CHECK(fd >= 0 && !gets(7, false) && !gets(6, true));
  close(fd);
  UNIT_CHECK(gets(7, false));
}

static void is_no_place (void) {
  UNIT_CHECK(tg_claim("/nowhere/rec", 7, false) < 0 && errno == ENOENT);
  UNIT_CHECK(tg_claim("/dev/null", 7, true) < 0 && errno == EINVAL);
  UNIT_CHECK(tg_claim("/", 7, true) < 0);
  UNIT_CHECK(!tg_claim_try("/nowhere/rec") && errno == ENOENT);
  put_text("important");
  UNIT_CHECK(tg_claim_try(path) && access(path, F_OK) == 0);
  unlink(path);
  UNIT_CHECK(tg_claim_try(path) && access(path, F_OK) != 0);
}

static void refuses_links (void) {
  unlink(path);
  unlink(other);
  UNIT_CHECK(symlink(path, other) == 0 && !tg_claim_try(other)
             && errno == ELOOP);
  UNIT_CHECK(tg_claim(other, 1, true) < 0 && access(path, F_OK) != 0);
  unlink(other);
}

/* ---- many at once ---- */

#define THREADS 8
#define ROUNDS 300

static pthread_barrier_t barrier;

/* One of them gets it, while all of them try; how often that was this one. */
static void *compete (void *won) {
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&barrier);
    int fd = tg_claim(path, 7, false);
    *(int *)won += fd >= 0;
    pthread_barrier_wait(&barrier);
    if (fd >= 0) {
      put_recording(6, TG_FILE_COMPLETE);
      close(fd);
    }
  }
  return NULL;
}

static void one_of_many (void) {
  pthread_t threads[THREADS];
  int won[THREADS] = {0}, all = 0;
  put_recording(6, TG_FILE_COMPLETE);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, compete, &won[i]);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    all += won[i];
  }
  pthread_barrier_destroy(&barrier);
  UNIT_CHECK(all == ROUNDS);
}

/* ---- families ---- */

/* What a child says that is started with this assignment, or with none. */
static uint32_t of_child (const char *self, char *assignment) {
  char text[16] = "";
  char *const args[] = {(char *)(uintptr_t)self, (char *)(uintptr_t)"family",
                        NULL};
  char *const env[] = {assignment, NULL};
  int out[2];
  if (pipe(out) != 0)
    return 0;
  pid_t pid = fork();
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    execve(self, args, env);
    _exit(127);
  }
  close(out[1]);
  UNIT_CHECK(read(out[0], text, sizeof text - 1) > 0);
  close(out[0]);
  waitpid(pid, NULL, 0);
  return (uint32_t)strtoul(text, NULL, 10);
}

static char self[4096];

static void families (void) {
  char same[] = "TG_UNIT=x", different[] = "TG_UNIT=y";
  uint32_t own = tg_family(NULL);
  UNIT_CHECK(own != 0 && own == tg_family(NULL)
             && own == tg_family("TG_NO_SUCH"));
  UNIT_CHECK(own == tg_family("TG_UNIT"));  /* nobody above was told */
  uint32_t a = of_child(self, same), b = of_child(self, same);
  UNIT_CHECK(a == own && b == own);
  UNIT_CHECK(of_child(self, different) != own && of_child(self, NULL) != own);
}

int main (int argc, char **argv) {
  if (argc > 1) {
    printf("%u\n", tg_family("TG_UNIT"));
    return 0;
  }
  if (getenv("TG_UNIT") == NULL) {  /* once more: it counts with what one was
                                       started */
    setenv("TG_UNIT", "x", 1);
    execv("/proc/self/exe", argv);
  }
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  snprintf(path, sizeof path, "/tmp/tracegrip-test-%ld", (long)getpid());
  snprintf(other, sizeof other, "%s-other", path);
  UNIT_RUN(makes_way);
  UNIT_RUN(is_locked);
  UNIT_RUN(is_no_place);
  UNIT_RUN(refuses_links);
  UNIT_RUN(one_of_many);
  UNIT_RUN(families);
  unlink(path);
  return UNIT_END();
}
