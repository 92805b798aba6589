/*
** family.c - see family.h.
**
** Called once, when a recording on a file begins. All of it is read from /proc;
** what cannot be read, another user's process or a machine without /proc, ends
** the search, and the number is that of the last process that was found.
*/
#include "base/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARENTS_MAX 1000

typedef struct Process {
  long pid, parent;
  unsigned long long start;     /* in ticks since the machine was started */
} Process;

/* Closed when the process becomes another program ('e'). */
static FILE *open_proc (long pid, const char *what) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", pid, what);
  return fopen(path, "rbe");
}

/* The name, the second field, may have blanks and brackets (proc(5)): what
   follows is found from the last bracket on. */
static bool find_process (long pid, Process *p) {
  char text[1024];
  FILE *f = open_proc(pid, "stat");
  size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f != NULL)
    fclose(f);
  text[n] = '\0';
  const char *rest = strrchr(text, ')');
  p->pid = pid;
  return rest != NULL
         && sscanf(rest + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u"
                   " %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                   &p->parent, &p->start) == 2;
}

/* Whether the environment with which the process was started assigns this.
   Later changes by the process are not in there (proc(5)), nor are they
   meant. */
static bool was_told (long pid, const char *assignment) {
  char *one = NULL;
  size_t size = 0;
  bool told = false;
  FILE *f = open_proc(pid, "environ");
  if (f == NULL)
    return false;
  while (!told && getdelim(&one, &size, '\0', f) > 0)
    told = strcmp(one, assignment) == 0;
  free(one);
  fclose(f);
  return told;
}

/* FNV-1a: a few bytes, once, and no need to be secret. */
static uint32_t mix (uint32_t hash, const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ p[i]) * UINT32_C(16777619);
  return hash;
}

/* A pid is given again, but not with the same moment of start; and ticks since
   the start of the machine are the same after each of its starts. */
static uint32_t number_of (const Process *p) {
  char boot[64] = "";
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "rbe");
  if (f != NULL) {
    if (fgets(boot, sizeof boot, f) == NULL)
      boot[0] = '\0';
    fclose(f);
  }
  uint32_t hash = mix(UINT32_C(2166136261), boot, strlen(boot));
  hash = mix(hash, &p->pid, sizeof p->pid);
  hash = mix(hash, &p->start, sizeof p->start);
  return hash != 0 ? hash : 1;
}

/* The number of the first of the parents that had the same value in its
   environment: all processes that it started have the value too. Without a
   name, or a value, it is the process's own number. */
uint32_t tg_family (const char *name) {
  const char *value = name != NULL ? getenv(name) : NULL;
  char *assignment = NULL;
  Process p = {.pid = getpid()}, parent;
  bool known = find_process(p.pid, &p);
  if (value != NULL && asprintf(&assignment, "%s=%s", name, value) < 0)
    assignment = NULL;
  for (int i = 0; known && assignment != NULL && i < PARENTS_MAX; i++) {
    if (p.parent <= 0 || !was_told(p.parent, assignment)
        || !find_process(p.parent, &parent))
      break;
    p = parent;
  }
  free(assignment);
  return number_of(&p);
}
