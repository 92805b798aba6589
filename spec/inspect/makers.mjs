// makers.mjs - what the Memory panel shows of who has made an object: the calls,
// each with its way to the source; and the same of a file that is loaded.

import {execFileSync} from "node:child_process"
import {readFileSync} from "node:fs"
import {join, resolve} from "node:path"

import {waitFor} from "../../build-aux/browser.mjs"
import {play} from "./stage.mjs"

const app = `local Item = {}
Item.__name = "Item"
kept = {}
local function make (i)
  return setmetatable({i}, Item)
end
local function fill (i)
  local item = make(i)
  kept[i % 1000] = item
end
local rounds = 0
while not stop do
  rounds = rounds + 1
  fill(rounds)
  if rounds % 1000 == 0 then
    io.stdout:write("."):flush()
  end
end
`

// The same, to its end.
const ended = app.replace("not stop", "rounds < 1000")

const [build, directory] = process.argv.slice(2)

function timelineOf (name) {
  const path = join(directory, "a.heaptimeline")
  execFileSync(resolve(build, "bin/tracegrip"),
    ["heap", "-o", path, "--", join(directory, name)])
  return readFileSync(path, "utf8")
}

// As by "Load profile": the file that is chosen there.
const load = (page, text) => page.value(`(() => {
  const input = ${page.all}.filter((e) => e.tagName === "INPUT"
    && e.type === "file").at(-1)
  const list = new DataTransfer()
  list.items.add(new File([${JSON.stringify(text)}], "a.heaptimeline"))
  input.files = list.files
  input.dispatchEvent(new Event("change"))
})()`)

await play({"app.lua": app, "ended.lua": ended}, 13, async (stage) => {
  const {page, program} = stage
  const click = (what, text) => page.on(what, `(e) =>
    e.children.length === 0 && e.innerText?.trim().startsWith("${text}")`)
  // Those of the one stack that is in front.
  const calls = async () => (await page.value(`${page.all}
    .filter((e) => e.matches(".heap-allocation-stack *")
      && e.offsetParent && e.children.length === 0)
    .map((e) => e.innerText.trim())`))
    .filter((text) => text !== "" && !/:\d+$/.test(text)).join(" ")
  const chooseItem = async () => {
    const row = (pattern) => `(e) => e.tagName === "TD"
      && ${pattern}.test(e.innerText.trim())`
    await page.on("the class", row("/^Item/"))
    await page.key("ArrowRight", 39)
    await page.on("one of it", row("/^Item.*@/s"))
    await page.tab("Allocation stack")
  }
  await page.show("heap-profiler")
  await click("the kind", "Allocations on timeline")
  await click("the box", "Allocation stack traces")
  await click("the button", "Start")
  await page.offers("Stop recording heap profile")
  await page.show("sources", true)
  await page.press("Resume script execution")
  await waitFor("the program's rounds", () => program.output().length >= 2)
  await page.show("heap-profiler", true)
  await page.press("Stop recording heap profile")
  await chooseItem()
  await page.sees("who has made it", calls, "make fill (main chunk) (root)")
  await click("the place of make", "app.lua:4")
  await page.sees("the source", async () => (await page.value(`${page.all}
    .filter((e) => e.matches(".tabbed-pane-header-tab.selected"))
    .map((e) => e.innerText)`))[0], "Sources")
  await page.sees("its line", () => page.texts("cm-highlightedLine"),
    ["local function make (i)"])
  await page.show("heap-profiler", true)
  await click("the profiles", "Profiles")
  await load(page, timelineOf("ended.lua"))
  await chooseItem()
  await page.sees("who made it there", calls, "make fill (main chunk) (root)")
})
