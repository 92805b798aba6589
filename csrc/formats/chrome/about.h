/*
** about.h - what a document of trace events says of itself: "otherData",
** which is free for the writer (Trace Event Format). For a person or a script
** that wants to know where it is from, and what it does not have.
*/
#ifndef TG_CHROMEABOUT_H
#define TG_CHROMEABOUT_H

#include "formats/chrome/events.h"

/* The end of the document, behind its last event: when all is read. */
void tg_chromeabout_put (const tg_ChromeEvents *e);

#endif
