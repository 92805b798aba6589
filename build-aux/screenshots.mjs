// screenshots.mjs BUILD [NAME...] - the pictures of docs/images, or those with
// these names: what viewers show of the demo's recording, light and dark.
// `make pictures` makes what it needs.
//
// Needs chromium, pngquant, fonts (fonts-dejavu-core, fonts-symbola,
// fonts-noto-color-emoji) and Node 20 with --experimental-websocket (newer ones
// know WebSocket without it). Speedscope is the npm package's page; the
// Performance panel is the one that Chromium brings along. Nothing is drawn
// here: files are exported and opened, and the page is taken as it stands. Only
// the directory of the tree is another in them: it is nobody's business.
// Whatever goes wrong ends it with a message and status 1.

import {execFileSync} from "node:child_process"
import {copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync,
  writeFileSync} from "node:fs"
import {tmpdir} from "node:os"
import {basename, join, resolve} from "node:path"
import {setTimeout as sleep} from "node:timers/promises"

import {start} from "./browser.mjs"
import {attach, debug, recorded} from "./debugged.mjs"

const build = resolve(process.argv[2] ?? "build")
const chosen = process.argv.slice(3)
const images = resolve("docs/images")
const LONGEST_MS = 60000        // of a command
const recording = join(build, "demo/orders.tgr")
const speedscope =
  join(build, "importers/node_modules/speedscope/dist/release/index.html")
const directory = mkdtempSync(join(tmpdir(), "tracegrip-screenshots-"))

function exported (name, format, ...options) {
  const path = join(directory, name)
  execFileSync(join(build, "bin/tracegrip"),
    ["export", format, recording, "-o", path, ...options],
    {stdio: ["ignore", "inherit", "ignore"], timeout: LONGEST_MS})
  writeFileSync(path, readFileSync(path, "utf8")
    .replaceAll(resolve(".") + "/", "/src/tracegrip/"))
  return path
}

// ---- speedscope ----

// The page of an installed package loads a file by such a script.
async function inSpeedscope (browser, file, view, scheme) {
  const script = join(directory, "profile.js")
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(
    basename(file))}, "${readFileSync(file, "base64")}")`)
  const page = await browser.open(
    `file://${speedscope}#localProfilePath=${script}&view=${view}`,
    {width: 1000, height: 380, scheme})
  await page.until(`document.querySelector("canvas") !== null
    && !document.body.innerText.includes("Loading")`)
  await page.settle()
  return page
}

// ---- the Performance panel ----

// Its elements are in trees of their own, one in another.
const all = `(function all (root) {
  return [...root.querySelectorAll("*")].flatMap((e) =>
    e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
})(document)`

const ready = `${all}.some((e) =>
  e.classList.contains("timeline-landing-page"))`

const load = `(async () => {
  const {TimelinePanel} = await import("./panels/timeline/timeline.js")
  globalThis.panel = await TimelinePanel.TimelinePanel.instance()
  await panel.loadFromFile(new File([globalThis.text], globalThis.name))
})()`

// What a person does by a click on the triangle of each track.
const unfold = `(() => {
  globalThis.chart = panel.flameChart.getMainFlameChart()
  const groups = chart.timelineData()?.groups ?? []
  groups.forEach((_, i) => chart.expandGroup(i))
  return groups.length > 0
})()`

// ...and by one on the longest call of a function, and on a tab.
const select = (name) => `(() => {
  const data = panel.flameChart.getMainDataProvider?.()
               ?? panel.flameChart.mainDataProvider
  const events = chart.timelineData().entryLevels.length
  let longest
  for (let i = 0; i < events; i++) {
    const event = data.eventByIndex(i)
    const called = event?.callFrame?.functionName ?? event?.name
    if (called === ${JSON.stringify(name)}
        && !(longest?.dur >= event.dur))
      longest = event
  }
  panel.flameChart.setSelectionAndReveal({event: longest})
})()`

const tab = (title) => `${all}.find((e) =>
    e.classList.contains("tabbed-pane-header-tab")
    && e.innerText.trim() === ${JSON.stringify(title)})
  .dispatchEvent(new MouseEvent("mousedown", {bubbles: true, button: 0}))`

async function inDevTools (browser, file, scheme) {
  const page = await browser.open(
    `http://127.0.0.1:${browser.port}/devtools/devtools_app.html`
    + "?panel=timeline", {width: 1100, height: 640, scheme})
  await page.until(ready)
  await page.settle()
  await page.value(
    `globalThis.text = ${JSON.stringify(readFileSync(file, "utf8"))};
     globalThis.name = ${JSON.stringify(basename(file))}; 0`)
  await page.value(load)
  await page.until(unfold)
  await page.settle()
  await page.click(1071, 77)      // the help away
  await page.click(16, 40)        // the sidebar too
  return page
}

// ---- the debugger ----

async function attached (browser, scheme, where, script, line) {
  return inFrontEnd(browser, scheme, await debug(build, where, script, line))
}

async function inFrontEnd (browser, scheme, program) {
  const page = await attach(browser, program.address,
    {width: 1000, height: 560, scheme})
  const close = page.close
  page.close = () => {
    program.kill()
    return close()
  }
  return page
}

// Its list of files, which has the tree's directory, is folded away.
async function inDebugger (browser, scheme, line) {
  const page = await attached(browser, scheme, resolve("."),
    "examples/shop.lua", line)
  await page.press("Hide navigator")
  return page
}

// A recording at its first error, one moment back.
async function inRecording (browser, scheme) {
  const file = join(directory, "replayed.tgr")
  execFileSync(join(build, "bin/tracegrip"),
    ["record", "--sources", "-o", file, "shop.lua"],
    {cwd: "examples", stdio: "ignore", timeout: LONGEST_MS})
  const page = await inFrontEnd(browser, scheme,
    await recorded(build, resolve("."), file))
  await page.press("Hide navigator")
  await page.key("Escape", 27)
  await page.say("err, line")
  await page.say("stepBack()")
  await page.settle()
  return page
}

const REPORTED = 52           // the line after its first report
const WATCHED = 1500          // ms that it runs while it is recorded

// Its directory is shown, so it is one with a plain name.
async function inStall (browser, scheme) {
  const shop = join(tmpdir(), "shop")
  mkdirSync(shop, {recursive: true})
  copyFileSync("examples/stall.lua", join(shop, "stall.lua"))
  const page = await attached(browser, scheme, shop, "stall.lua", REPORTED)
  const close = page.close
  page.close = () => {
    rmSync(shop, {recursive: true})
    return close()
  }
  return page
}

async function inConsole (browser, scheme) {
  const page = await inStall(browser, scheme)
  await page.show("console")
  return page
}

async function inCoverage (browser, scheme) {
  const page = await inStall(browser, scheme)
  await page.press("Hide navigator")
  await page.show("coverage")
  await page.cover(true)
  await page.press("Resume script execution")
  await sleep(WATCHED)
  await page.press("Pause script execution")
  await page.settle()
  await page.cover(false)
  return page
}

async function inPerformance (browser, scheme) {
  const page = await inStall(browser, scheme)
  await page.press("Resume script execution")
  await page.show("timeline")
  await page.press("Record")
  await sleep(WATCHED)
  await page.press("Stop")
  await page.settle()
  await page.click(971, 77)       // the help away
  await page.click(16, 40)        // the sidebar too
  await page.settle()
  return page
}

// ---- the Memory panel ----

const OPENED = 66             // before leak.lua's customers come
const LEAKED = 69             // its last line: all of them are served

async function inLeak (browser, scheme, line) {
  const leak = join(tmpdir(), "shop")
  mkdirSync(leak, {recursive: true})
  copyFileSync("examples/leak.lua", join(leak, "leak.lua"))
  const page = await attached(browser, scheme, leak, "leak.lua", line)
  const close = page.close
  page.close = () => {
    rmSync(leak, {recursive: true})
    return close()
  }
  return page
}

// The class of what has leaked is opened, and its first object chosen.
async function chooseSession (page) {
  const row = `(e) => e.tagName === "TD"
    && e.innerText.trim().startsWith("shop.Session")`
  await page.until(`${all}.some(${row})`)
  await page.on("the class", row)
  for (const [name, code] of [["ArrowRight", 39], ["ArrowDown", 40]]) {
    await page.key(name, code)
    await page.settle()
  }
}

async function inMemory (browser, scheme) {
  const page = await inLeak(browser, scheme, LEAKED)
  await page.show("heap-profiler")
  await page.press("Take heap snapshot")
  await page.settle()                     // it then shows where the program is
  await page.show("heap-profiler")
  await chooseSession(page)
  return page
}

async function inMakers (browser, scheme) {
  const page = await inLeak(browser, scheme, OPENED)
  const click = (text) => page.on(text, `(e) => e.children.length === 0
    && e.innerText?.trim().startsWith("${text}")`)
  await page.gutter(LEAKED)
  await page.show("heap-profiler")
  await click("Allocations on timeline")
  await click("Allocation stack traces")
  await click("Start")
  await page.offers("Stop recording heap profile")
  await page.show("sources", true)
  await page.press("Resume script execution")
  await page.until(`${all}.some((e) => e.innerText === "Paused on breakpoint")`)
  await page.show("heap-profiler", true)
  await page.press("Stop recording heap profile")
  await chooseSession(page)
  await page.tab("Allocation stack")
  return page
}

// ---- the pictures ----

// The page of a snapshot of examples/leak.lua, which ends by itself.
function leaked () {
  const snapshot = join(directory, "leak.heapsnapshot")
  const page = join(directory, "leak.html")
  const run = (...words) => execFileSync(join(build, "bin/tracegrip"), words,
    {stdio: "ignore", timeout: LONGEST_MS, cwd: resolve("examples")})
  run("heap", "-o", snapshot, "--", "leak.lua")
  run("export", "html", snapshot, "-o", page)
  return page
}

// The page of examples/shop.lua.
function sold () {
  const recording = join(directory, "shop.tgr")
  const page = join(directory, "shop.html")
  const run = (...words) => execFileSync(join(build, "bin/tracegrip"), words,
    {stdio: "ignore", timeout: LONGEST_MS, cwd: resolve("examples")})
  run("record", "-o", recording, "shop.lua")
  run("export", "html", recording, "-o", page)
  return page
}

// Made when a picture of them is taken.
const files = {
  get part () {
    return exported("orders.trace.json", "chrome", "--from", "+60",
      "--to", "+61.5")
  },
  get whole () {
    return exported("orders.cpuprofile", "cpuprofile", "--no-c",
      "--to", "+12")
  },
  get profile () {
    return exported("orders.speedscope.json", "speedscope", "--no-c",
      "--to", "+7")
  },
  get folded () { return exported("orders.folded", "folded", "--no-c") },
  get html () { return exported("orders.html", "html") },
  get leak () { return leaked() },
  get shop () { return sold() }
}

const pictures = {
  async devtools (browser, scheme) {
    const page = await inDevTools(browser, files.part, scheme)
    await page.value(select("scantable"))
    await page.value("chart.scrollGroupIntoView(0)")
    return page
  },
  debugger: (browser, scheme) => inDebugger(browser, scheme, 14),
  exception: (browser, scheme) => inDebugger(browser, scheme, null),
  "debugger-console": inConsole,
  "debugger-recording": inRecording,
  "debugger-coverage": inCoverage,
  "debugger-performance": inPerformance,
  async cpuprofile (browser, scheme) {
    const page = await inDevTools(browser, files.whole, scheme)
    await page.value(select("(main chunk) orders.lua"))
    await page.value(tab("Bottom-up"))
    return page
  },
  speedscope: (browser, scheme) =>
    inSpeedscope(browser, files.profile, "time-ordered", scheme),
  folded: (browser, scheme) =>
    inSpeedscope(browser, files.folded, "left-heavy", scheme),
  async html (browser, scheme) {
    const page = await browser.open(`file://${files.html}`,
      {width: 1100, height: 640, scheme})
    await page.until("document.documentElement?.dataset.ready > 0")
    await page.value(`for (let i = 0; i < 14; i++)
      document.onkeydown(new KeyboardEvent("keydown", {key: "w"}))`)
    await page.settle()
    await page.click(550, 215)
    return page
  },
  // Where the bill fails: an item that has no price.
  async "html-moments" (browser, scheme) {
    const page = await browser.open(`file://${files.shop}`,
      {width: 1100, height: 560, scheme})
    await page.until("document.documentElement?.dataset.ready > 0")
    await page.value(`document.querySelector("[data-view=moments]").click()`)
    const press = (key) => page.value(
      `document.onkeydown(new KeyboardEvent("keydown", {key: "${key}"}))`)
    const title = 'document.querySelector("#detail h2").textContent'
    for (let i = 0; i < 200 && await page.value(title) !== "error is called";
         i++)
      await press("ArrowRight")
    return page
  },
  heap: inMemory,
  "heap-makers": inMakers,
  async "heap-html" (browser, scheme) {
    const page = await browser.open(`file://${files.leak}`,
      {width: 1100, height: 640, scheme})
    await page.until("document.documentElement?.dataset.ready > 0")
    await page.value(`{
      const search = document.querySelector("#search")
      search.value = '["customer 30"]'
      search.oninput()
      search.focus()
    }`)
    await page.key("Enter", 13, "\r")
    await page.value(`{
      const search = document.querySelector("#search")
      search.value = ""
      search.oninput()
      search.blur()
    }`)
    return page
  }
}

async function take (browser, name, scheme) {
  const path = join(images,
    scheme === "light" ? `${name}.png` : `${name}-${scheme}.png`)
  const page = await pictures[name](browser, scheme)
  await page.settle()
  await page.shot(path)
  await page.close()
  execFileSync("pngquant", ["--force", "--ext", ".png", "64", path],
    {timeout: LONGEST_MS})
}

async function main () {
  const browser = await start(join(directory, "browser"))
  try {
    for (const name of chosen.length > 0 ? chosen : Object.keys(pictures)) {
      await take(browser, name, "light")
      await take(browser, name, "dark")
    }
  }
  finally {
    await browser.close()
  }
}

mkdirSync(images, {recursive: true})
try {
  await main()
}
catch (error) {
  console.error(`screenshots: ${error.message}`)
  process.exitCode = 1
}
finally {
  rmSync(directory, {recursive: true, force: true})
}
process.exit()
