// profiler.mjs FILE... - the Firefox Profiler without its page: samples as a
// tree, the markers of calls put into each other by their times, and the lines
// of its marker table.

import {each, grouped} from "./normal.mjs"
import {within} from "./session.mjs"

// Time in another coroutine is shown as a frame, which is no call.
const elsewhere = /^\(in coroutine /

function treeOf (children, unit) {
  return children.filter(({name}) => !elsewhere.test(name)).map((child) => {
    if (child.childrenTruncated)
      throw new Error("the tree is cut")
    const away = child.children.filter(({name}) => elsewhere.test(name))
      .reduce((sum, node) => sum + node.totalSamples, 0)
    return {name: child.name, self: (child.selfSamples + away) * unit,
            total: child.totalSamples * unit,
            roots: treeOf(child.children, unit)}
  })
}

// Of samples without weights, each stands for an interval.
async function samplesOf (ask, thread, interval) {
  const {regularCallTree, weightType} = await ask({
    command: "thread", subcommand: "samples-top-down", thread,
    includeIdle: true,
    callTreeOptions: {maxNodes: 1e9, maxDepth: 1e9, maxChildrenPerNode: 1e9}
  })
  const unit = weightType === "tracing-ms" ? 1 : interval
  return {weightType, interval,
          roots: grouped(treeOf(regularCallTree.children, unit))}
}

// Thousandths of a nanosecond: so much tells markers apart that begin together.
const inPs = (ms) => Math.round(ms * 1e9)

// Markers that begin while another lasts are inside it. They come as they are
// drawn: in order of their beginning.
function nested (markers) {
  const calls = markers.map(({name, start, duration, data}) => ({
    name: data?.fn ?? name, start: inPs(start), end: inPs(start + duration)
  }))
  const root = {end: Infinity, roots: []}
  const open = [root]
  for (const {name, start, end} of calls) {
    while (start >= open.at(-1).end)
      open.pop()
    const time = (end - start) * 1e-9
    const node = {name, end, calls: 1, self: time, total: time, roots: []}
    open.at(-1).self -= time
    open.at(-1).roots.push(node)
    open.push(node)
  }
  return root.roots
}

async function markersOf (ask, thread) {
  const {flatMarkers} = await ask({
    command: "thread", subcommand: "markers", thread,
    markerFilters: {list: true}
  })
  const calls = flatMarkers.filter(({duration}) => duration != null)
  return {roots: grouped(nested(calls)), entries: calls.length,
          lines: calls.map(({label}) => label),
          others: flatMarkers.filter(({duration}) => duration == null)
            .map(({name}) => name),
          said: flatMarkers.filter(({name}) => name === "Console" || name === "Timer")
            .map(({name, label, start, duration}) => ({name, label, start, duration}))}
}

async function threadOf (ask, {threadHandle, name, tid}, interval) {
  return {name, tid, samples: await samplesOf(ask, threadHandle, interval),
          markers: await markersOf(ask, threadHandle)}
}

await each((file) => within(file, async (ask) => {
  const {threads} = await ask({
    command: "thread", subcommand: "list", threadListOptions: {sort: "index"}
  })
  const {interval} = await ask({command: "profile", subcommand: "meta"})
  const list = []
  for (const thread of threads)
    list.push(await threadOf(ask, thread, interval))
  return list
}))
