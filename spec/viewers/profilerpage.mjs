// profilerpage.mjs DIR [--shots TO] FILE... - recordings in the Firefox
// Profiler's own page, as JSON: for each file the tracks that the page names,
// what each of its panels shows, and what its code complained about.
//
// DIR is a built checkout of firefox-devtools/profiler (docs/contributing.md).
// Each panel is opened, each track touched by the mouse: names, graphs and
// tooltips are made by code that no query of a document comes to. With --shots
// each panel is a picture, TO/FILE-PANEL.png.

import {createServer} from "node:http"
import {existsSync, mkdtempSync, readFileSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {basename, extname, join, resolve} from "node:path"

import {start, waitFor} from "../../build-aux/browser.mjs"

const words = process.argv.slice(2)
const dist = join(resolve(words.shift()), "dist")
const shots = words[0] === "--shots" ? words.splice(0, 2)[1] : undefined
const size = {width: 1400, height: 800, scheme: "light"}

const types = {".js": "text/javascript", ".css": "text/css",
               ".html": "text/html", ".wasm": "application/wasm",
               ".json": "application/json"}

// The page is one document, whatever its address; recordings are "/open/N". The
// worker that keeps the deployed page for later is not built: an empty one.
const server = createServer(({url}, answer) => {
  const path = new URL(url, "http://localhost").pathname
  const number = path.match(/^\/open\/(\d+)$/)?.[1]
  const wanted = number ? words[number] : join(dist, path)
  const file = path !== "/" && existsSync(wanted) ? wanted
                                                  : join(dist, "index.html")
  const worker = path === "/sw.js"
  answer.setHeader("Content-Type",
    types[extname(worker ? path : file)] ?? "application/octet-stream")
  answer.end(worker ? "" : readFileSync(file))
})
await new Promise((done) => server.listen(0, "127.0.0.1", done))
const origin = `http://localhost:${server.address().port}`

const panels = {
  calltree: "Call Tree", "flame-graph": "Flame Graph",
  "stack-chart": "Stack Chart", "marker-chart": "Marker Chart",
  "marker-table": "Marker Table"
}

const every = (selector, use) =>
  `[...document.querySelectorAll("${selector}")].map((e) => ${use})`

// The page stands, or says why it does not.
const drawn = `document.querySelector(".tabBarTab") !== null
  || document.querySelector(".rootMessageTitle, .rootMessageText") !== null`

const frame = (page) => page.value("new Promise((done) =>"
  + " requestAnimationFrame(() => setTimeout(done, 100)))")

async function hover (page, x, y) {
  await page.move(x, y)
  await frame(page)
  return page.value(every(".tooltip", "e.innerText") + ".join()")
}

// What the mouse is shown above each track's graph.
async function touch (page) {
  const places = await page.value(every(".timelineTrackTrack",
    `{const {x, y, width, height} = e.getBoundingClientRect()
      return [x + width / 2, y + height / 2]}`))
  const told = []
  for (const [x, y] of places)
    told.push(await hover(page, x, y))
  return told.filter((text) => text !== "")
}

async function look (page, name, file) {
  const there = await page.value(`(() => {
    const tab = [...document.querySelectorAll(".tabBarTab")]
      .find((e) => e.innerText.trim() === ${JSON.stringify(panels[name])})
    tab?.querySelector("button").click()
    return tab !== undefined
  })()`)
  if (!there)
    return null
  await frame(page)
  if (shots)
    await page.shot(join(shots, `${basename(file)}-${name}.png`))
  return page.value(`document.querySelector(".tabContent, [role=tabpanel]")
    ?.innerText.slice(0, 2000) ?? ""`)
}

// What the page says of any thread that rests, when the mouse is above the end
// of a stay: its own samples have stacks always.
const resting = /^Stack index was null for sample index/

async function open (browser, file, number) {
  const address = encodeURIComponent(`${origin}/open/${number}`)
  const page = await browser.open(`${origin}/from-url/${address}`, size)
  const seen = {file, panels: {}}
  try {
    await waitFor("the page", async () =>
      page.complaints.length > 0 || await page.value(drawn))
    await frame(page)
    seen.message = await page.value(
      'document.querySelector(".rootMessage")?.innerText ?? null')
    seen.tracks = await page.value(every(".timelineTrackNameButton", "e.innerText"))
    seen.tooltips = await touch(page)
    for (const name of Object.keys(panels))
      seen.panels[name] = await look(page, name, file)
    seen.standing = await page.value(
      'document.querySelector("#root").childElementCount > 0')
  }
  catch (error) {
    page.complaints.push(String(error))
  }
  seen.complaints = page.complaints.filter((line) => !resting.test(line))
  await page.close()
  return seen
}

const directory = mkdtempSync(join(tmpdir(), "tracegrip-page-"))
const browser = await start(directory)
try {
  const all = []
  for (const [number, file] of words.entries())
    all.push(await open(browser, file, number))
  console.log(JSON.stringify(all))
}
finally {
  await browser.close()
  server.close()
  rmSync(directory, {recursive: true, force: true})
}
