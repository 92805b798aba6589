// integrator.mjs FILE... - calls and samples of a chrome export put together by
// DevTools' own SamplesIntegrator, to compare its tree with tracegrip's.
//
// The export has them on two tracks, since the engine opens each frame anew at
// every event of a track. Here they are on one, as a browser's are: what is
// called are invocations, "FunctionCall", and the frame that such a call is in
// samples too is that call. A sample has the time before it in tracegrip, and in
// the engine the time behind it: so each is put where its time begins, behind
// the event before.

import {readFileSync} from "node:fs"

import {each, grouped} from "./normal.mjs"

globalThis.DOMRect ??= class {
  static fromRect () { return {} }
}

const {Handlers, TraceModel} =
  await import("@paulirish/trace_engine/models/trace/trace.js")

const inMs = 1e-3
const track = 1               // the whole program
const behind = 0.002          // microseconds: events are one ns apart at least

// The samples that all chunks have, with the time at which each begins, ends.
function ticksOf (events) {
  let time = events.find(({name}) => name === "Profile").ts
  const ticks = [], nodes = []
  for (const {name, args} of events) {
    if (name !== "ProfileChunk")
      continue
    nodes.push(...args.data.cpuProfile.nodes)
    args.data.cpuProfile.samples.forEach((node, i) => {
      time += args.data.timeDeltas[i]
      if (ticks.length > 0)
        ticks.at(-1).end = time
      ticks.push({node, begin: time, end: time})
    })
  }
  return {ticks, nodes}
}

// The latest of ascending times that is not after `time`.
function latest (times, time) {
  let low = 0, high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle] <= time) low = middle + 1
    else high = middle
  }
  return low > 0 ? times[low - 1] : -Infinity
}

function invocation ({pid, ts, dur, name, args}) {
  return {ph: "X", cat: "devtools.timeline", name: "FunctionCall", pid,
          tid: track, ts, dur, args: {data: {}, called: {name, args}}}
}

// The events of one track; `calls` of them are invocations.
function joined (events) {
  const calls = events.filter(({ph, tid, args}) =>
    ph === "X" && tid === track && !args.sampled)
  const bounds = calls.flatMap(({ts, dur}) => [ts, ts + dur])
    .sort((a, b) => a - b)
  const {ticks, nodes} = ticksOf(events)
  const head = events.find(({name}) => name === "Profile")
  const data = {cpuProfile: {nodes, samples: []}, timeDeltas: []}
  let time = head.ts
  for (const {node, begin, end} of ticks) {
    const at = Math.max(begin, latest(bounds, end)) + behind
    data.cpuProfile.samples.push(node)
    data.timeDeltas.push(Math.max(at - time, 0))
    time = Math.max(at, time)
  }
  return [...calls.map(invocation), {...head, tid: track},
          {...head, tid: track, name: "ProfileChunk", args: {data}}]
}

function nameOf ({name, callFrame, args}) {
  if (callFrame === undefined)
    return {name: args.called.name, source: args.called.args.source}
  const {functionName, url, lineNumber} = callFrame
  return {name: functionName, source: url ? `${url}:${lineNumber + 1}` : ""}
}

// A frame that is the invocation around it is not another one: what it has is
// that call's own.
function nodesOf (children, around) {
  return [...children].flatMap((child) => {
    const {name, source} = nameOf(child.entry)
    const sampled = child.entry.callFrame !== undefined
    const node = {
      name, source, self: (child.selfTime ?? 0) * inMs,
      total: (child.entry.dur ?? 0) * inMs,
      roots: []
    }
    if (sampled && around.some((call) => call.name === name)) {
      around.at(-1).self += node.self
      return nodesOf(child.children, around)
    }
    node.roots = nodesOf(child.children, sampled ? around : [...around, node])
    return [node]
  })
}

await each(async (file) => {
  const {traceEvents} = JSON.parse(readFileSync(file, "utf8"))
  const model = TraceModel.Model.createWithAllHandlers()
  await model.parse(joined(traceEvents), {})
  return Handlers.Threads.threadsInTrace(model.parsedTrace(0).data)
    .map(({name, tree}) => ({name, roots: grouped(nodesOf(tree.roots, []))}))
})
