// screenshots.mjs BUILD - the pictures of docs/images: what viewers show of the
// demo's recording. After `make demo` and `make importers`:
//
//   node --experimental-websocket build-aux/screenshots.mjs build
//
// needs chromium, fonts (fonts-dejavu-core, fonts-symbola,
// fonts-noto-color-emoji) and Node 20 (newer ones know WebSocket without the
// option). Speedscope is the npm package's page; the Performance panel is the
// one that Chromium brings along. Nothing is drawn: files are exported, opened,
// and the page is taken as it stands.

import {execFileSync, spawn} from "node:child_process"
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync,
        writeFileSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"
import {setTimeout as sleep} from "node:timers/promises"

const build = resolve(process.argv[2] ?? "build")
const images = resolve("docs/images")
const recording = join(build, "demo/orders.tgr")
const speedscope =
  join(build, "importers/node_modules/speedscope/dist/release/index.html")
const directory = mkdtempSync(join(tmpdir(), "tracegrip-screenshots-"))

function exported (name, format, ...options) {
  const path = join(directory, name)
  execFileSync(join(build, "bin/tracegrip"),
    ["export", format, recording, "-o", path, ...options])
  return path
}

// ---- the browser ----

let browser, socket, port
const answers = new Map()

async function start () {
  browser = spawn("chromium", ["--headless=new", "--no-sandbox",
    `--user-data-dir=${directory}/browser`, "--remote-debugging-port=0",
    "--remote-allow-origins=*", "--hide-scrollbars",
    "--allow-file-access-from-files", "about:blank"], {stdio: "ignore"})
  const file = join(directory, "browser/DevToolsActivePort")
  while (!existsSync(file))
    await sleep(50)
  await sleep(200)
  const [number, path] = readFileSync(file, "utf8").split("\n")
  port = number
  socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
  await new Promise((done) => { socket.onopen = done })
  socket.onmessage = ({data}) => {
    const {id, result, error} = JSON.parse(data)
    if (id !== undefined)
      answers.get(id)(result ?? {error})
  }
}

function send (method, params = {}, sessionId) {
  const id = answers.size
  socket.send(JSON.stringify({id, method, params, sessionId}))
  return new Promise((done) => answers.set(id, done))
}

// A page of that size: send(method, params), value(expression), click(x, y),
// shot(name).
async function open (url, width, height) {
  const {targetId} =
    await send("Target.createTarget", {url: "about:blank", newWindow: true})
  const {sessionId} =
    await send("Target.attachToTarget", {targetId, flatten: true})
  const page = (method, params) => send(method, params, sessionId)
  await page("Emulation.setDeviceMetricsOverride",
    {width, height, deviceScaleFactor: 1, mobile: false})
  await page("Page.navigate", {url})
  return {
    async value (expression) {
      const {result, exceptionDetails} = await page("Runtime.evaluate",
        {expression, awaitPromise: true, returnByValue: true})
      if (exceptionDetails)
        throw new Error(JSON.stringify(exceptionDetails))
      return result.value
    },
    async click (x, y) {
      for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
        await page("Input.dispatchMouseEvent",
          {type, x, y, button: "left", clickCount: 1})
      await sleep(500)
    },
    async shot (name) {
      const {data} = await page("Page.captureScreenshot", {})
      writeFileSync(join(images, name), Buffer.from(data, "base64"))
    }
  }
}

// ---- the viewers ----

async function inSpeedscope (file, view, name) {
  const script = join(directory, "profile.js")
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(
    "orders.cpuprofile")}, "${readFileSync(file, "base64")}")`)
  const page = await open(
    `file://${speedscope}#localProfilePath=${script}&view=${view}`, 1000, 380)
  await sleep(5000)
  await page.shot(name)
}

// What a person does by "Load profile", and by a click on each track's arrow.
const show = `(async () => {
  const {TimelinePanel} = await import("./panels/timeline/timeline.js")
  const panel = await TimelinePanel.TimelinePanel.instance()
  await panel.loadFromFile(new File([globalThis.text], "orders.trace.json"))
  await new Promise((done) => setTimeout(done, 5000))
  const chart = panel.flameChart.getMainFlameChart()
  chart.timelineData().groups.forEach((_, i) => chart.expandGroup(i))
})()`

async function inDevTools (file, name) {
  const page = await open(
    `http://127.0.0.1:${port}/devtools/devtools_app.html?panel=timeline`,
    1100, 700)
  await sleep(4000)
  await page.value(
    `globalThis.text = ${JSON.stringify(readFileSync(file, "utf8"))}; 0`)
  await page.value(show)
  await page.click(1071, 77)      // the help away
  await page.click(16, 40)        // the sidebar too
  await sleep(1000)
  await page.click(300, 163)      // a call
  await page.shot(name)
}

mkdirSync(images, {recursive: true})
try {
  const whole = exported("whole.cpuprofile", "cpuprofile", "--no-c",
    "--limit", "all")
  const part = exported("part.json", "chrome", "--from", "100", "--to", "101")
  await start()
  await inSpeedscope(whole, "left-heavy", "speedscope.png")
  await inDevTools(part, "devtools.png")
  await send("Browser.close")
}
finally {
  browser?.kill()
  await sleep(500)
  rmSync(directory, {recursive: true, force: true})
}
process.exit(0)
