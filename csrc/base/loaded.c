/*
** loaded.c - see loaded.h. What the loader refuses is not told: a library that
** it does not know, since it is a part of the program, is not unloaded either.
*/
#include <dlfcn.h>

#include "base/loaded.h"

static const char here;

/* By the address of something in it: its name the loader knows. */
void tg_loaded_keep (void) {
  Dl_info info;
  if (dladdr(&here, &info) != 0)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
