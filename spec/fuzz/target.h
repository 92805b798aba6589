/*
** target.h - what is done with bytes that may be a recording: all that anybody
** does with one.
**
** fuzz_one opens them, reads each trace as packets into JSON, as a report and
** tree, as a log, and saves it. Whatever the bytes are it comes to an end, in
** time and memory that go with their size; promises of the headers that can be
** checked from outside are checked, and a broken one aborts.
*/
#ifndef TG_FUZZ_TARGET_H
#define TG_FUZZ_TARGET_H

#include "base/buf.h"

void fuzz_one (const uint8_t *data, size_t size);

/* The packets of the first trace as JSON Lines, at most some megabytes. */
void fuzz_packets (const uint8_t *data, size_t size, tg_Buf *out);

#endif
