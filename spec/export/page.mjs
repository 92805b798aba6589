// page.mjs PAGE - what the page of "export html" shows in Chromium, as JSON:
// the table, and what is told of calls that are clicked on.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {start} from "../../build-aux/browser.mjs"

const directory = mkdtempSync(join(tmpdir(), "tracegrip-page-"))
const browser = await start(directory)
const page = await browser.open(`file://${resolve(process.argv[2])}`,
  {width: 1200, height: 700, scheme: "light"})
await page.until("document.documentElement?.dataset.ready > 0")

const text = (selector) =>
  page.value(`document.querySelector("${selector}").innerText`)
const press = (selector) =>
  page.value(`document.querySelector("${selector}").click()`)
const frame = () => page.value(
  "new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")

// The box of level 'level' in the middle of the canvas.
async function chosen (level) {
  const top = await page.value(
    'document.querySelector("#stage").getBoundingClientRect().top')
  await page.click(600, top + level)
  await frame()
  return text("#detail")
}

const seen = {}
try {
  seen.about = await text("#about")
  seen.timeline = [await chosen(22 + 9), await chosen(22 + 18 + 9)]
  await press("[data-view=flame]")
  await frame()
  seen.flame = [await chosen(9), await chosen(18 + 9), await chosen(36 + 9)]
  await press("#callers")
  await frame()
  seen.callers = await chosen(18 + 9)
  await press("[data-view=table]")
  await frame()
  seen.table = await page.value(`[...document.querySelectorAll("tbody tr")]
    .map(row => [...row.children].map(cell => cell.textContent))`)
  await page.value(`document.querySelector("#search").value = "inner";
    document.querySelector("#search").oninput()`)
  await frame()
  seen.found = await page.value(
    'document.querySelectorAll("tbody tr").length')
  console.log(JSON.stringify(seen))
} finally {
  await browser.close()
  rmSync(directory, {recursive: true, force: true})
}
