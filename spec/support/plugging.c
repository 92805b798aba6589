/*
** plugging.c - a host that has Lua only in a plug-in, whose libraries are seen
** by nobody else (RTLD_LOCAL): plugging PLUGIN ARGUMENTS. For
** spec/cli/preload_spec.lua.
*/
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main (int argc, char **argv) {
  int (*run) (int, char **);
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void *function = plugin != NULL ? dlsym(plugin, "embedding_main") : NULL;
  if (function == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  memcpy(&run, &function, sizeof run);
  return run(argc - 1, argv + 1);
}
