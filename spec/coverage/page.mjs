// page.mjs PAGE - what the page of "coverage" shows in Chromium, as JSON: the
// table, sorted and searched, and a file's source, by mouse and by keys.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {start} from "../../build-aux/browser.mjs"

const directory = mkdtempSync(join(tmpdir(), "tracegrip-coverage-page-"))
const rows = (page, where) => page.value(
  `[...document.querySelectorAll("${where} tbody tr")]
    .map(row => [...row.children].map(cell => cell.textContent))`)

const press = (page, selector) =>
  page.value(`document.querySelector(${JSON.stringify(selector)}).click()`)

const source = (page) => page.value(
  `[...document.querySelectorAll("#source tr")].map(row =>
    [...[...row.children].map(cell => cell.textContent), row.className])`)

async function table (page, seen) {
  seen.about = await page.value("document.querySelector('#about').textContent")
  seen.files = await rows(page, "#sums")
  await press(page, "#folders")
  await press(page, "#sums thead th:nth-child(2) button")
  seen.worst = await page.value(
    "document.querySelector('#sums tbody a').textContent")
  await page.value(`(() => {
    const search = document.querySelector("#search")
    search.value = "LIB/"
    search.dispatchEvent(new Event("input"))
    document.querySelector("#sums thead th button").click()
  })()`)
  seen.found = await page.value(
    "[...document.querySelectorAll('#sums a')].map(one => one.textContent)")
}

async function file (page, seen) {
  await press(page, "#sums tbody a")
  await page.until("!document.querySelector('#source').hidden")
  seen.source = await source(page)
  await page.key("n", 0, "n")
  await page.until("document.querySelector('#source tr.here') !== null")
  seen.missed = await page.value(
    "document.querySelector('#source tr.here td').textContent")
  seen.option = await page.value(
    "document.querySelector('#functions').options[2].textContent")
  await page.value(`location.hash = "#" + encodeURIComponent(
    files = JSON.parse(document.querySelector("#data").textContent).files
      .find(one => one.name.startsWith("a&b")).name
      .replace("\\u0001", "\\\\u{1}"))`)
  await page.until(
    "document.querySelector('#source').textContent.includes('script')")
  seen.nasty = (await source(page))[0]
  await page.key("Escape", 0)
  await page.until("document.querySelector('#source').hidden")
  seen.back = await page.value("!document.querySelector('#sums').hidden")
}

let browser
try {
  browser = await start(directory)
  const page = await browser.open("file://" + resolve(process.argv[2]),
                                  {width: 1000, height: 600, scheme: "light"})
  await page.until("document.documentElement?.dataset.ready !== undefined")
  const seen = {}
  await table(page, seen)
  await file(page, seen)
  seen.complaints = page.complaints
  console.log(JSON.stringify(seen))
} finally {
  await browser?.close()
  rmSync(directory, {recursive: true, force: true})
}
