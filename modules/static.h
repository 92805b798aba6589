/*
** static.h - what is in the one file beside code (static.c): Lua modules as
** text, made of their files by build-aux/embed.lua; C modules by their openers.
*/
#ifndef TG_STATIC_H
#define TG_STATIC_H

#include <stddef.h>

/* Of modules: lua/NAME.lua or lua/NAME/init.lua. */
typedef struct tg_StaticText {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} tg_StaticText;

/* Ends with a name that is NULL. */
extern const tg_StaticText tg_static_texts[];

#endif
