/*
** asked.h - lists of values by the public API, as bytes. Private to the files
** of capture.
*/
#ifndef TG_CAPTURE_ASKED_H
#define TG_CAPTURE_ASKED_H

#include "capture/capture.h"

/* tg_capture_list by the public API. */
uint8_t *tg_capture_asked (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, uint8_t *p,
                           const uint8_t *lim);

/* The value at index 'i', from 1 up, is to stay hidden. */
void tg_capture_learn (tg_Session *s, lua_State *L, int i);   /* [-0, +0, -] */

#endif
