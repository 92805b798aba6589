// page.mjs PAGE - what the page of a heap snapshot shows in Chromium, as JSON: by
// mouse, by keys, by search, to who cannot see it, on a phone.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {start} from "../../build-aux/browser.mjs"

const directory = mkdtempSync(join(tmpdir(), "tracegrip-heappage-"))
const browser = await start(directory)
const url = `file://${resolve(process.argv[2])}`

const frame = (page) => page.value(
  "new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))")
const text = (page, selector) =>
  page.value(`document.querySelector(${JSON.stringify(selector)}).innerText`)
const crumbs = (page) => page.value(
  '[...document.querySelectorAll("#crumbs button")].map(one => one.innerText)')
const look = (page, view) => page.value(
  `document.querySelector("[data-view=${view}]").click()`)
const rows = (page) => page.value(
  `[...document.querySelectorAll("#sums tbody tr")]
    .map(row => [...row.children].map(cell => cell.textContent))`)

async function press (page, ...names) {
  for (const name of names)
    await page.key(name, 0, name.length === 1 ? name : undefined)
  await frame(page)
}

// The colours that a grid of its pixels has.
const colours = (page) => page.value(`(() => {
  const canvas = document.querySelector("canvas")
  const pen = canvas.getContext("2d"), set = new Set()
  for (let x = 5; x < canvas.width; x += 7)
    for (let y = 40; y < canvas.height; y += 7)
      set.add(pen.getImageData(x, y, 1, 1).data.join())
  return set.size
})()`)

// A place of the map where an order itself is, and not what it keeps, which
// cannot be gone into.
async function placeOfOrder (page) {
  const [left, top, width, height] = await page.value(`(() => {
    const {left, top, width, height} =
      document.querySelector("canvas").getBoundingClientRect()
    return [left, top, width, height]
  })()`)
  for (let i = 1; i < 4000; i++) {
    const place = [left + width * (i * 0.6180339887 % 1),
                   top + height * (i * 0.7548776662 % 1)]
    await page.move(...place)
    if (/^\[\d+\] app\.model\.Order /.test(await text(page, "#tip")))
      return place
  }
  throw new Error("no order is on the map")
}

// A click has led into the map: on a busy machine that takes some frames.
const entered = (page) => page.until(
  'document.querySelectorAll("#crumbs button").length > 1')

async function onMap (page) {
  const seen = {about: await text(page, "#about"), colours: await colours(page),
                first: await crumbs(page)}
  const place = await placeOfOrder(page)
  seen.tip = await text(page, "#tip")
  await page.click(...place)
  await entered(page)
  seen.entered = await crumbs(page)
  seen.detail = await text(page, "#detail")
  await page.value('document.querySelectorAll("#crumbs button")[1].click()')
  await frame(page)
  seen.out = await crumbs(page)
  await page.value('document.querySelector("#detail .way button").click()')
  await frame(page)
  seen.stepped = await text(page, "#detail h2")
  return seen
}

async function byKeys (page) {
  await page.value('document.querySelector("canvas").focus()')
  await press(page, "0")
  const seen = {walked: []}
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"]) {
    await press(page, key)
    seen.walked.push((await text(page, "#detail")).split("\n").at(2))
  }
  await press(page, "Enter")
  seen.entered = await crumbs(page)
  await press(page, "Backspace")
  seen.out = await crumbs(page)
  return seen
}

async function search (page, words) {
  await page.value(`{const search = document.querySelector("#search");
    search.value = ${JSON.stringify(words)}; search.oninput(); search.focus()}`)
  await frame(page)
}

async function bySearch (page) {
  await look(page, "map")
  await search(page, "ORDER")
  const seen = {hits: await text(page, "#hits")}
  await press(page, "Enter")
  seen.next = await text(page, "#hits")
  seen.chosen = await text(page, "#detail h2")
  await look(page, "tree")
  seen.rows = (await rows(page)).length
  await search(page, "")
  return seen
}

async function inTree (page) {
  await look(page, "tree")
  const seen = {rows: await rows(page)}
  const key = async (name) => {
    await press(page, name)
    return page.value(`[document.activeElement.ariaExpanded,
      document.activeElement.ariaLevel,
      document.activeElement.firstChild.textContent].join(" ")`)
  }
  await page.value('document.querySelector("#sums tbody tr").focus()')
  seen.keys = []
  for (const name of ["ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"])
    seen.keys.push(await key(name))
  await page.value('document.querySelector("#rooted").click()')
  seen.rooted = await rows(page)
  await page.value('document.querySelector("#rooted").click()')
  return seen
}

const sorted = (page) => page.value(
  `[...document.querySelectorAll("th[aria-sort]")].map(one =>
    [one.textContent, one.ariaSort].join(" ")).join()`)

async function inClasses (page) {
  await look(page, "classes")
  const seen = {sorted: [await sorted(page)], rows: await rows(page)}
  const heading = (k) => page.value(
    `document.querySelectorAll("#sums thead button")[${k}].click()`)
  await heading(1)
  seen.sorted.push(await sorted(page))
  seen.byCount = (await rows(page)).map((row) => row[1])
  await heading(0)
  seen.sorted.push(await sorted(page))
  await page.value(`[...document.querySelectorAll("#sums tbody tr")]
    .find((row) => row.textContent.includes("app.model.Order")).click()`)
  seen.detail = await text(page, "#detail")
  await page.value('document.querySelector("#detail .way button").click()')
  seen.largest = await text(page, "#detail")
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

async function onPhone () {
  const page = await browser.open("about:blank",
    {width: 390, height: 844, scheme: "dark"})
  await page.send("Emulation.setDeviceMetricsOverride",
    {width: 390, height: 844, deviceScaleFactor: 2, mobile: true})
  await page.send("Emulation.setTouchEmulationEnabled",
    {enabled: true, maxTouchPoints: 1})
  await page.go(url)
  await page.until("document.documentElement?.dataset.ready > 0")
  await frame(page)
  const [x, y] = await placeOfOrder(page)
  for (const [type, touchPoints] of [["touchStart", [{x, y}]],
                                     ["touchEnd", []]])
    await page.send("Input.dispatchTouchEvent", {type, touchPoints})
  await entered(page)
  const seen = {entered: await crumbs(page), widths: []}
  for (const view of ["map", "tree", "classes", "waste"]) {
    await look(page, view)
    seen.widths.push(await page.value("document.documentElement.scrollWidth"))
  }
  seen.dark = await page.value(
    "getComputedStyle(document.body).backgroundColor")
  await page.close()
  return seen
}

try {
  const page = await browser.open(url,
    {width: 1200, height: 700, scheme: "light", calm: false})
  await page.until("document.documentElement?.dataset.ready > 0")
  await frame(page)
  const seen = {map: await onMap(page), keys: await byKeys(page)}
  seen.tree = await inTree(page)
  seen.accessible = await tree(page)
  seen.classes = await inClasses(page)
  await look(page, "waste")
  seen.waste = await text(page, "#sums")
  seen.search = await bySearch(page)
  seen.requests = await page.value(
    'performance.getEntriesByType("resource").map(({name}) => name)')
  seen.images = await page.value("document.images.length")
  seen.complaints = page.complaints
  seen.phone = await onPhone()
  console.log(JSON.stringify(seen))
} finally {
  await browser.close()
  rmSync(directory, {recursive: true, force: true})
}
