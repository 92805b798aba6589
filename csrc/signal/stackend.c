/*
** stackend.c - see stackend.h.
*/
#include "signal/stackend.h"

#include <pthread.h>

uintptr_t tg_stackend (void) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return 0;
  bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? (uintptr_t)low + size : 0;
}
