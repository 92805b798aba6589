// stage.mjs - a program in front of the debugger that Chromium brings along,
// and what a person does and sees there. The scripts beside this one are called by
// frontend_spec.lua with BUILD, DIRECTORY and PROFILE, that of the browser
// which all of them share (keeper.mjs). Each opens pages that know nothing of
// any other.
//
//   play(files, line, steps, own)
//                              writes the files, stops "app.lua" before the
//                              line (debugged.mjs), opens the front end and
//                              calls steps(stage); ends the process. With 'own'
//                              the page is the browser's own profile's
//   replay(files, record, steps, ...options)
//                              the same of a recording of "app.lua", made with
//                              these options of record, and opened with the last
//                              of these
//   stage.page                 the front end's page, with its functions...
//     page.choose(line, item)  ...an item of the menu beside a line
//     page.restart(name)       ...that of a frame, "Restart frame"
//     page.give(line, item, text)
//                              ...and what its editor asks for then
//     page.marked(lines)       waits for breakpoints beside these, in order
//     page.variable(name)      the value of a variable in the panel "Scope"
//     page.edit(name, text)    by a double click there
//     page.unfold(name)        shows what is in it
//     page.places()            "file:line" of the call stack's Lua functions
//     page.file()              the file in front
//     page.messages()          what the console shows
//     page.sees(what, read, wanted)
//                              waits until read() gives that
//     page.stands(places, variables)
//                              the same of the panels "Call Stack" and "Scope"
//     page.still()             nothing is shown of a program that runs
//   stage.program              output(), kill()
//   stage.debug(line), stage.open(program)
//                              another program of these files; another page
//
// What is not seen in a minute is an error that says what was seen instead.

import {execFileSync} from "node:child_process"
import {writeFileSync} from "node:fs"
import {join, resolve} from "node:path"

import {attach, debug, recorded} from "../../build-aux/debugged.mjs"
import {share, waitFor} from "../../build-aux/browser.mjs"

const SIZE = {width: 1200, height: 900, scheme: "light", calm: false}
const [build, directory, profile] = process.argv.slice(2)

const plain = (text) => text.replace(/\s+/g, " ")

function watch (page) {
  page.places = async () => (await page.texts("call-frame-location"))
    .filter((text) => /^\w+\.lua/.test(text)).join(" ")
  page.variable = async (name) => (await page.texts("name-and-value"))
    .map(plain).find((text) => text.startsWith(`${name} :`))
    ?.slice(name.length + 2).trim()
  page.file = () => page.value(`${page.all}.find((e) =>
    e.classList.contains("closeable") && e.classList.contains("selected"))
    ?.innerText`)
  page.messages = async () => (await page.texts("console-message-text"))
    .map(plain)
  page.sees = async (what, read, wanted) => {
    let seen
    await waitFor(what, async () => {
      seen = await read()
      return JSON.stringify(seen) === JSON.stringify(wanted)
    }).catch(({message}) => {
      throw new Error(`${message}: ${JSON.stringify(wanted)} was to be seen, `
                      + `not ${JSON.stringify(seen)}`)
    })
  }
  page.stands = (places, variables = {}) => page.sees("a pause", async () => {
    const values = {}
    for (const name of Object.keys(variables))
      values[name] = await page.variable(name)
    return [await page.places(), values]
  }, [places, variables])
  page.marked = (lines) => page.sees("breakpoints",
    () => page.texts("cm-breakpoint"), lines.map(String))
  page.still = () => page.stands("")
}

function act (page) {
  const variable = (name) => `(e) => e.classList.contains("name-and-value")
    && e.innerText.replace(/\\s+/g, " ").trim().startsWith(
      ${JSON.stringify(`${name} :`)})`
  // A menu of the page's own: the system's are not in it.
  const pick = async (item, open) => {
    await page.value(`(async () => {
      const {ContextMenu} = await import("./ui/legacy/legacy.js")
      ContextMenu.ContextMenu.useSoftMenu = true
    })()`)
    await open()
    await page.on(`"${item}" in the menu`, `(e) =>
      e.classList.contains("soft-context-menu-item")
      && e.innerText.trim() === ${JSON.stringify(item)}`)
  }
  page.choose = (line, item) => pick(item, () => page.gutter(line, "right"))
  page.restart = (name) => pick("Restart frame", () => page.on(
    `the frame of ${name}`, `(e) =>
      e.classList.contains("call-frame-item-title")
      && e.innerText.trim() === ${JSON.stringify(name)}`, "right"))
  page.give = async (line, item, text) => {
    await page.choose(line, item)
    await page.fill("sources-edit-breakpoint-dialog", text)
  }
  page.edit = async (name, text) => {
    await page.on(`the value of ${name}`, `(e) => e.classList.contains("value")
      && [e.closest(".name-and-value")].some((e) => e && (${
        variable(name)})(e))`, "left", 2)
    await page.fill("text-prompt-root", text)
  }
  page.unfold = async (name) => {
    await page.on(`the variable ${name}`, variable(name))
    await page.key("ArrowRight", 39)
  }
}

async function open (browser, program, own) {
  const page = await attach(browser, program.address, {...SIZE, own})
  watch(page)
  act(page)
  return page
}

export async function play (files, line, steps, own) {
  const programs = []
  const begin = async (line) => {
    programs.push(await debug(resolve(build), directory, "app.lua", line))
    return programs.at(-1)
  }
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(directory, name), text)
  const browser = await share(profile)
  const first = await begin(line)
  const page = await open(browser, first, own)
  try {
    await steps({program: first, page, debug: begin,
                 open: (program) => open(browser, program)})
  }
  finally {
    programs.forEach((program) => program.kill())
    if (own)
      await page.close()
  }
  process.exit()
}

export async function replay (files, record, steps, ...options) {
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(directory, name), text)
  execFileSync(join(resolve(build), "bin/tracegrip"),
    ["record", ...record, "-o", "app.tgr", "app.lua"],
    {cwd: directory, stdio: "ignore"})
  const program = await recorded(resolve(build), directory, "app.tgr",
                                 ...options)
  try {
    const page = await open(await share(profile), program)
    await steps({program, page})
  }
  finally {
    program.kill()
  }
  process.exit()
}
