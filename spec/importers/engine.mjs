// engine.mjs FILE... - what is behind Chrome DevTools' Performance panel: trace
// events and CPU profiles. 'bottomUp' and 'callTree' of a thread are the panel's
// tables of those names, by its own code: self times of functions, and a tree.

import {readFileSync} from "node:fs"

import {each, grouped} from "./normal.mjs"

globalThis.DOMRect ??= class {
  static fromRect () { return {} }
}

const {Handlers, Helpers, TraceModel} =
  await import("@paulirish/trace_engine/models/trace/trace.js")

const {BottomUpRootNode, TopDownRootNode} =
  await import("@paulirish/trace_engine/models/trace/extras/TraceTree.js")

const inMs = 1e-3
const all = {accept: () => true}

async function parsed (events, metadata) {
  const model = TraceModel.Model.createWithAllHandlers()
  await model.parse(events, {metadata})
  return model.parsedTrace(0).data
}

// The panel's own way into a file: a profile is wrapped into an event.
function traceOf (json) {
  if (json.nodes === undefined)
    return json
  return Helpers.SamplesIntegrator.SamplesIntegrator
    .createFakeTraceFromCpuProfile(json, 1)
}

// A call of a profile names its function in a frame, an event names itself.
function nameOf ({callFrame, name, args}) {
  if (callFrame === undefined)
    return {name, source: args.source}
  const {functionName, url, lineNumber} = callFrame
  return {name: functionName, source: url ? `${url}:${lineNumber + 1}` : ""}
}

function nodesOf (list) {
  return [...list].map((node) => ({
    ...nameOf(node.entry), self: (node.selfTime ?? 0) * inMs,
    total: (node.entry.dur ?? 0) * inMs, calls: 1,
    roots: nodesOf(node.children)
  }))
}

function countOf (nodes) {
  return nodes.reduce((sum, node) => sum + node.calls + countOf(node.roots), 0)
}

const whatever = {
  textFilter: all, filters: [all], startTime: 0, endTime: Infinity
}

function callsOf (node) {
  return [...node.children().values()].map((child) => ({
    ...nameOf(child.event), self: child.selfTime, total: child.totalTime,
    roots: callsOf(child)
  }))
}

function callTreeOf ({entries}) {
  return entries.length === 0
    ? [] : grouped(callsOf(new TopDownRootNode(entries, whatever)))
}

function bottomUpOf ({entries}) {
  if (entries.length === 0)
    return []
  const root = new BottomUpRootNode(entries, whatever)
  return [...root.children().values()].map(({event, selfTime}) =>
    ({...nameOf(event), self: selfTime}))
}

// 'shown' are the calls in the tree; of the entries, none should be missing.
function threadOf (thread) {
  const roots = nodesOf(thread.tree.roots)
  return {name: thread.name, tid: thread.tid, roots: grouped(roots),
          bottomUp: bottomUpOf(thread), callTree: callTreeOf(thread),
          entries: thread.entries.length, shown: countOf(roots)}
}

await each(async (file) => {
  const trace = traceOf(JSON.parse(readFileSync(file, "utf8")))
  const data = await parsed(trace.traceEvents, trace.metadata)
  return Handlers.Threads.threadsInTrace(data).map(threadOf)
})
