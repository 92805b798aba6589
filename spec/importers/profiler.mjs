// profiler.mjs FILE... - the Firefox Profiler, by its command line, which keeps
// a file in a process of its own: samples as a tree, and the markers of calls
// put into each other by their times.

import {execFileSync} from "node:child_process"
import {mkdtempSync, readdirSync, readFileSync, rmSync} from "node:fs"
import {createConnection} from "node:net"
import {tmpdir} from "node:os"
import {join} from "node:path"
import {createInterface} from "node:readline"

import {each, grouped} from "./normal.mjs"

const script = "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
const sessions = mkdtempSync(join(tmpdir(), "tracegrip-profiler-"))

function call (...words) {
  return execFileSync(process.execPath, [script, ...words], {
    env: {...process.env, PROFILER_CLI_SESSION_DIR: sessions},
    stdio: ["ignore", "pipe", "pipe"], encoding: "utf8"
  })
}

// What the command line asks that process, without starting one for each
// question. Returns a function (command) -> answer.
function connect () {
  const session = readdirSync(sessions).find((name) => name.endsWith(".json"))
  const {socketPath} = JSON.parse(readFileSync(join(sessions, session)))
  const socket = createConnection(socketPath)
  const answers = createInterface({input: socket})[Symbol.asyncIterator]()
  async function ask (command) {
    socket.write(JSON.stringify({type: "command", command}) + "\n")
    const {type, result, error} = JSON.parse((await answers.next()).value)
    if (type !== "success")
      throw new Error(error)
    return result
  }
  ask.end = () => socket.end()
  return ask
}

function treeOf (children) {
  return children.map((child) => {
    if (child.childrenTruncated)
      throw new Error("the tree is cut")
    return {name: child.name, self: child.selfSamples,
            total: child.totalSamples, roots: treeOf(child.children)}
  })
}

async function samplesOf (ask, thread) {
  const {regularCallTree, weightType} = await ask({
    command: "thread", subcommand: "samples-top-down", thread,
    includeIdle: true, callTreeOptions: {maxNodes: 1000000}
  })
  return {weightType, roots: treeOf(regularCallTree.children)}
}

// Markers that begin while another lasts are inside it. They come in order of
// their beginning, and the longer first.
function nested (markers) {
  const root = {end: Infinity, roots: []}
  const open = [root]
  for (const {name, start, duration, data} of markers) {
    while (start >= open.at(-1).end)
      open.pop()
    const node = {name, source: data?.source, data, end: start + duration,
                  calls: 1, self: duration, total: duration, roots: []}
    open.at(-1).self -= duration
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
  const calls = flatMarkers.filter(({duration}) => duration !== undefined)
  calls.sort((a, b) => a.start - b.start || b.duration - a.duration)
  return {roots: grouped(nested(calls)), entries: calls.length,
          others: flatMarkers.filter(({duration}) => duration === undefined)
            .map(({name}) => name)}
}

async function threadOf (ask, {threadHandle, name, tid}) {
  return {name, tid, samples: await samplesOf(ask, threadHandle),
          markers: await markersOf(ask, threadHandle)}
}

async function threadsOf () {
  const ask = connect()
  const {threads} = await ask({
    command: "thread", subcommand: "list", threadListOptions: {sort: "index"}
  })
  const list = []
  for (const thread of threads)
    list.push(await threadOf(ask, thread))
  ask.end()
  return list
}

try {
  await each(async (file) => {
    call("load", file, "--session", "s")
    try {
      return await threadsOf()
    }
    finally {
      call("stop", "s")
    }
  })
}
finally {
  rmSync(sessions, {recursive: true, force: true})
}
