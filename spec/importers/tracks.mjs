// tracks.mjs FILE... - what the Firefox Profiler's timeline shows, without its
// page: the names of the threads, and the counters with the rows of their
// tooltips. The same code draws the page's tracks: what throws here leaves a
// blank page there.

import {each} from "./normal.mjs"
import {within} from "./session.mjs"

async function counterOf (ask, counter) {
  const {name, label, unit, graphType, color, stats, sampleCount, rangeStart,
         rangeEnd} = await ask({command: "counter", subcommand: "info", counter})
  return {name, label, unit, graphType, color, sampleCount, rangeStart,
          rangeEnd, stats: stats.map(({label, value}) => ({label, value}))}
}

await each((file) => within(file, async (ask) => {
  const {processes} = await ask({command: "profile", subcommand: "info",
                                 all: true})
  const {counters} = await ask({command: "counter", subcommand: "list"})
  const list = []
  for (const {counterHandle} of counters)
    list.push(await counterOf(ask, counterHandle))
  return {names: processes.flatMap(({threads}) => threads.map((t) => t.name)),
          counters: list}
}))
