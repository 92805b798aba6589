// speedscope.mjs FILE... - speedscope's own importer, out of the page that its
// package has: the page is run as far as where it would show itself.

import {readFileSync, readdirSync} from "node:fs"
import {basename} from "node:path"
import vm from "node:vm"

import {each, grouped} from "./normal.mjs"

const page = "node_modules/speedscope/dist/release/"

// Whatever is asked of the browser while the page loads: nothing comes of it.
const nothing = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => ""
                   : key === "then" ? undefined : nothing,
  apply: () => nothing,
  construct: () => nothing,
  set: () => true
})

function find (text, pattern) {
  const found = pattern.exec(text)
  if (!found)
    throw new Error(`speedscope's page has no ${pattern}`)
  return found
}

// The page's text, with what it imports by in a global instead of its end.
function prepared () {
  const script = readdirSync(page).find((name) =>
    /^speedscope-\w+\.js$/.test(name))
  const text = readFileSync(page + script, "utf8")
  const module = find(text, /(\w+),\{importFromFileSystemDirectoryEntry:/)[1]
  const loaded = find(text, new RegExp(
    `Promise\\.resolve\\(\\)\\.then\\(\\(\\)=>\\(\\w+\\(\\),${module}\\)\\)`))
  const end = find(text, /console\.log\(`speedscope v/).index
  return text.slice(0, end) + `globalThis.importers=${loaded[0]};})();`
}

async function load () {
  const world = {
    window: nothing, document: nothing, localStorage: nothing,
    navigator: {userAgent: ""}, location: {protocol: "http:", hash: ""},
    console: {...console, log () {}}, performance, URL, setTimeout,
    TextDecoder, TextEncoder, HTMLElement: class {}
  }
  world.globalThis = world.self = world
  vm.runInContext(prepared(), vm.createContext(world))
  return world.importers
}

const inMs = {nanoseconds: 1e-6, microseconds: 1e-3, milliseconds: 1,
              seconds: 1e3, none: 1e-3}

// Remarks of the exporter are frames that are no calls.
const remark = /^\[(error|unfinished|deeper calls)\]$/

function sourceOf ({file, line}) {
  return file === undefined ? undefined
         : line === undefined ? file : `${file}:${line}`
}

function nodesOf (children, unit) {
  return children.filter((child) => !remark.test(child.frame.name))
    .map((child) => ({
      name: child.frame.name, source: sourceOf(child.frame),
      self: child.getSelfWeight() * unit, total: child.getTotalWeight() * unit,
      calls: 1, roots: nodesOf(child.children, unit)
    }))
}

const importers = await load()

// A file of collapsed stacks has its threads as the outermost frames.
function threadsOf (profile) {
  const unit = inMs[profile.getWeightUnit()]
  const roots = grouped(nodesOf(
    profile.getAppendOrderCalltreeRoot().children, unit))
  return {name: profile.getName(), unit: profile.getWeightUnit(), roots,
          weight: profile.getTotalWeight() * unit}
}

await each(async (file) => {
  const bytes = readFileSync(file)
  const group = await importers.importProfilesFromArrayBuffer(
    basename(file), new Uint8Array(bytes).buffer)
  if (!group)
    throw new Error("not recognised")
  return group.profiles.map(threadsOf)
})
