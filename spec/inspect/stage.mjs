// stage.mjs - a program in front of the debugger that Chromium brings along,
// and what a person does and sees there. The scripts beside this one are called by
// frontend_spec.lua with BUILD and DIRECTORY.
//
//   play(files, line, steps)   writes the files, stops "app.lua" before the
//                              line (debugged.mjs), opens the front end and
//                              calls steps(stage); ends the process
//   stage.page                 the front end's page, with its functions...
//     page.choose(line, item)  ...an item of the menu beside a line
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

import {mkdtempSync, rmSync, writeFileSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {attach, debug} from "../../build-aux/debugged.mjs"
import {start, waitFor} from "../../build-aux/browser.mjs"

const SIZE = {width: 1200, height: 900, scheme: "light"}
const [build, directory] = process.argv.slice(2)

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
  page.still = () => page.stands("")
}

function act (page) {
  const variable = (name) => `(e) => e.classList.contains("name-and-value")
    && e.innerText.replace(/\\s+/g, " ").trim().startsWith(
      ${JSON.stringify(`${name} :`)})`
  // A menu of the page's own: the system's are not in it.
  page.choose = async (line, item) => {
    await page.value(`(async () => {
      const {ContextMenu} = await import("./ui/legacy/legacy.js")
      ContextMenu.ContextMenu.useSoftMenu = true
    })()`)
    await page.gutter(line, "right")
    await page.on(`"${item}" in the menu`, `(e) =>
      e.classList.contains("soft-context-menu-item")
      && e.innerText.trim() === ${JSON.stringify(item)}`)
  }
  page.edit = async (name, text) => {
    await page.on(`the value of ${name}`, `(e) => e.classList.contains("value")
      && [e.closest(".name-and-value")].some((e) => e && (${
        variable(name)})(e))`, "left", 2)
    await page.type(text)
  }
  page.unfold = async (name) => {
    await page.on(`the variable ${name}`, variable(name))
    await page.key("ArrowRight", 39)
  }
}

async function open (browser, program) {
  const page = await attach(browser, program.address, SIZE)
  watch(page)
  act(page)
  return page
}

export async function play (files, line, steps) {
  const profile = mkdtempSync(join(tmpdir(), "tracegrip-stage-"))
  const programs = []
  const begin = async (line) => {
    programs.push(await debug(resolve(build), directory, "app.lua", line))
    return programs.at(-1)
  }
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(directory, name), text)
  const browser = await start(profile)
  try {
    const program = await begin(line)
    await steps({program, page: await open(browser, program), debug: begin,
                 open: (program) => open(browser, program)})
  }
  finally {
    await browser.close()
    programs.forEach((program) => program.kill())
    rmSync(profile, {recursive: true, force: true})
  }
  process.exit()
}
