// page.mjs PAGE... - what pages of "export html" show in Chromium, as a list in
// JSON: by mouse, by keys, to who cannot see it and, of the first, on a phone.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {start} from "../../build-aux/browser.mjs"

const ROW = 18                  // of the picture (htmlpage/boxes.lua)
const directory = mkdtempSync(join(tmpdir(), "tracegrip-page-"))
const browser = await start(directory)

// What is asked of a page, in short.
function asking (page) {
  const one = (selector) => `document.querySelector(${JSON.stringify(selector)})`
  const text = (selector) => page.value(`${one(selector)}.innerText`)
  const press = (selector) => page.value(`${one(selector)}.click()`)
  const frame = () => page.value(
    "new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))")
  const top = () => page.value(`${one("#stage")}.getBoundingClientRect().top`)

  async function look (view) {
    await press(`[data-view=${view}]`)
    await frame()
  }
  async function clicked (x, level) {
    const y = await top() + level * ROW + ROW / 2
    for (const type of ["mousePressed", "mouseReleased"])
      await page.send("Input.dispatchMouseEvent",
        {type, x, y, button: "left", clickCount: 1})
    await frame()
    return text("#detail")
  }
  // What is told of a box in a row of the picture, of the one in its middle, or
  // where others had the processor then, of one beside that.
  async function chosen (level) {
    const told = []
    for (const x of [600, 500, 700, 400, 800]) {
      told.push(await clicked(x, level))
      if (!told.at(-1).startsWith("Trace "))
        return told.at(-1)
    }
    return told[0]
  }
  async function keys (...names) {
    for (const name of names)
      await page.key(name, 0, name.length === 1 ? name : undefined)
    await frame()
    return text("#detail")
  }
  return {text, press, frame, top, look, chosen, keys, one}
}

const table = (page) => page.value(
  `[...document.querySelectorAll("tbody tr")]
    .map(row => [...row.children].map(cell => cell.textContent))`)

// The first row of the timeline is below its axis and markers.
async function byMouse (page, ask) {
  const seen = {about: await ask.text("#about"), clicked: []}
  const first = await page.value(
    'Number(document.querySelector("#canvas").dataset.top)') / ROW
  for (const level of [0, 1])
    seen.clicked.push(await ask.chosen(first + level))
  await ask.look("flame")
  seen.flame = []
  for (const level of [0, 1, 2])
    seen.flame.push(await ask.chosen(level))
  await ask.press("#callers")
  await ask.frame()
  seen.callers = [await ask.chosen(1), await ask.chosen(2)]
  await ask.look("table")
  seen.table = await table(page)
  return seen
}

// What is told of the function that the table has first.
async function ofRow (ask) {
  await ask.look("table")
  await ask.press("tbody tr")
  await ask.frame()
  return ask.text("#detail")
}

async function search (page, ask, text) {
  await page.value(`{const search = document.querySelector("#search");
    search.value = ${JSON.stringify(text)}; search.oninput(); search.focus()}`)
  await ask.frame()
}

const focused = (page) => page.value(
  `[document.activeElement.tagName,
    document.activeElement.firstChild?.textContent].join(" ")`)

async function byKeys (page, ask) {
  const seen = {walked: []}
  await ask.look("timeline")
  await page.value('document.querySelector("#canvas").focus()')
  const name = (detail) => detail.split("\n")[0]
  await ask.keys("Escape")
  for (const key of ["ArrowRight", "ArrowDown", "ArrowUp", "ArrowRight"])
    seen.walked.push(name(seen.error = await ask.keys(key)))
  seen.outline = await page.value(`(({outlineWidth, outlineStyle}) =>
    outlineWidth + " " + outlineStyle)(getComputedStyle(
      document.querySelector("#canvas")))`)
  seen.marker = await ask.keys("0", "M")
  await search(page, ask, "FAILED")
  seen.hit = await ask.keys("Enter")
  seen.hits = await ask.text("#hits")
  await search(page, ask, "er")
  await ask.look("table")
  seen.found = await ask.text("#hits")
  await search(page, ask, "")
  await page.value(
    `document.querySelector("tbody tr[tabindex='0']").focus()`)
  await ask.keys("Home")
  seen.row = await focused(page)
  await ask.keys("ArrowDown")
  seen.nextrow = await focused(page)
  return seen
}

// Steps from moment to moment: by keys, a button, the slider, the search.
async function byMoments (page, ask) {
  const stack = () => page.value(
    `[...document.querySelectorAll("#stack tbody tr")].map(row =>
      [...row.children].slice(0, 2).map(cell => cell.textContent).join(" "))`)
  const at = async (detail) => ({
    what: detail.split("\n")[0], detail, stack: await stack(),
    moment: Number(await page.value(one("#walk") + ".dataset.at")),
    value: Number(await page.value(one("#moment") + ".value"))})
  const {one} = ask, seen = {steps: []}
  await ask.look("timeline")
  await ask.keys("Escape", "0", "ArrowRight", "ArrowDown")
  await ask.look("moments")
  seen.chosen = await at(await ask.text("#detail"))
  for (const key of ["Home", "ArrowRight", "ArrowDown", "ArrowUp", "o",
                     "ArrowRight", "ArrowRight", "ArrowLeft", "O", "End"])
    seen.steps.push([key, await at(await ask.keys(key))])
  await page.value(`{const slider = ${one("#moment")}
    slider.value = 2; slider.oninput({target: slider})}`)
  await ask.frame()
  seen.slid = await at(await ask.text("#detail"))
  seen.spoken = await page.value(
    one("#moment") + '.getAttribute("aria-valuetext")')
  await ask.press('[data-step="out"]')
  await ask.frame()
  seen.pressed = await at(await ask.text("#detail"))
  await search(page, ask, "fails")
  seen.found = await at(await ask.keys("Enter"))
  await search(page, ask, "")
  await ask.keys("Escape", "Home")
  seen.dead = await page.value(
    `[...document.querySelectorAll("#steps button:disabled")].map(button =>
      button.textContent)`)
  return seen
}

// Roles, names and what else is told of them.
async function tree (page) {
  const {nodes} = await page.send("Accessibility.getFullAXTree", {})
  return nodes.filter((node) => !node.ignored).map((node) => {
    const told = Object.fromEntries((node.properties || [])
      .map(({name, value}) => [name, value.value]))
    return [node.role?.value, node.name?.value,
            told.pressed === undefined ? "" : `pressed=${told.pressed}`,
            told.live || ""].filter((word) => word).join(" ")
  })
}

async function toOthers (page, ask) {
  const seen = {tree: await tree(page), sorted: await page.value(
    `[...document.querySelectorAll("th[aria-sort]")].map(one =>
      [one.scope, one.textContent, one.getAttribute("aria-sort")].join(" "))`)}
  await ask.look("timeline")
  const canvas = await tree(page)
  seen.tree = [...seen.tree, ...canvas]
  seen.canvas = canvas.find((one) => /^application/i.test(one))
  seen.requests = await page.value(
    'performance.getEntriesByType("resource").map(({name}) => name)')
  return seen
}

async function fromViewToView (page, ask) {
  const tops = []
  for (const view of ["timeline", "moments", "flame", "table"]) {
    await ask.look(view)
    tops.push(await ask.top())
  }
  return {tops}
}

// How much time the picture shows: less, once it was zoomed.
async function onPhone (url) {
  const page = await browser.open("about:blank",
    {width: 390, height: 844, scheme: "dark"})
  await page.send("Emulation.setDeviceMetricsOverride",
    {width: 390, height: 844, deviceScaleFactor: 2, mobile: true})
  await page.send("Emulation.setTouchEmulationEnabled",
    {enabled: true, maxTouchPoints: 2})
  await page.go(url)
  await page.until("document.documentElement?.dataset.ready > 0")
  const ask = asking(page), y = await ask.top() + 60
  const touch = async (list) => {
    for (const [i, points] of list.entries())
      await page.send("Input.dispatchTouchEvent",
        {type: i === 0 ? "touchStart" : "touchMove",
         touchPoints: points.map((x, id) => ({x, y, id}))})
    await page.send("Input.dispatchTouchEvent",
      {type: "touchEnd", touchPoints: []})
    await ask.frame()
    return page.value(
      'document.querySelector("#canvas").dataset.shown.split(" ").map(Number)')
  }
  const seen = {gestures: await page.value(
    'getComputedStyle(document.querySelector("#canvas")).touchAction')}
  const apart = [0, 1, 2, 3, 4, 5].map((i) => [180 - i * 15, 210 + i * 15])
  const [start, end] = await touch([[200]])
  const [from, to] = await touch(apart)
  const [moved] = await touch([[300], [250], [200], [150]])
  Object.assign(seen, {whole: end - start, zoomed: to - from, from, moved})
  seen.scale = await page.value("visualViewport.scale")
  await ask.look("table")
  seen.width = await page.value("document.documentElement.scrollWidth")
  seen.first = await page.value(`(() => {
    const sums = document.querySelector("#sums"); sums.scrollLeft = 200
    const {left, top} = sums.querySelector("tbody th").getBoundingClientRect()
    return document.elementFromPoint(left + 3, top + 3).textContent })()`)
  await page.close()
  return seen
}

// As it is before the script has begun.
async function loading (url) {
  const page = await browser.open("about:blank",
    {width: 800, height: 600, scheme: "light"})
  await page.send("Emulation.setScriptExecutionDisabled", {value: true})
  await page.go(url)
  await page.until('document.querySelector("#detail") !== null')
  const seen = await page.value(`[
    document.querySelector("#loading").textContent,
    document.querySelector("#bar").inert]`)
  await page.close()
  return seen
}

async function ask (file, whole) {
  const url = `file://${resolve(file)}`
  const page = await browser.open(url,
    {width: 1200, height: 700, scheme: "light"})
  await page.until("document.documentElement?.dataset.ready > 0")
  const asked = asking(page)
  const seen = await byMouse(page, asked)
  if (whole) {
    Object.assign(seen, await byKeys(page, asked),
                  await toOthers(page, asked),
                  await fromViewToView(page, asked),
                  {moments: await byMoments(page, asked)})
    seen.loading = await loading(url)
    seen.phone = await onPhone(url)
  } else seen.row = await ofRow(asked)
  await page.close()
  return seen
}

try {
  const list = []
  for (const [i, file] of process.argv.slice(2).entries())
    list.push(await ask(file, i === 0))
  console.log(JSON.stringify(list))
} finally {
  await browser.close()
  rmSync(directory, {recursive: true, force: true})
}
