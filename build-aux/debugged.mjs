// debugged.mjs - a program that stands still at a line or an error, and
// Chromium's own front end for it: for pictures (screenshots.mjs) and for
// spec/inspect/stage.mjs.
//
//   debug(build, directory, script, line) -> {address, output(), kill()}
//     starts the program in that directory, and has it stop before the line;
//     null: at its first error; 0: where it stands before it begins. The
//     address is the one that a person is told to open, as it was printed
//   recorded(build, directory, file, ...options) -> the same of a recording
//     (tracegrip inspect), with these words of the command line before it
//   attach(browser, address, size) -> page with, beside its own functions,
//     page.all           an expression: all elements of the page
//     page.texts(name)   what elements of that class say that can be seen
//     page.on(what, found, button, count)
//                        clicks the element of which found, a function's text,
//                        is true, once there is one that stands still and that
//                        nothing covers; no other element is clicked
//     page.press(label)  clicks the button of that name
//     page.offers(label) waits until there is one
//     page.tab(name)     chooses a tab inside of a panel, once it is there
//     page.gutter(line, button)
//                        clicks beside a line
//     page.fill(holder, text)
//                        types into the editor that has appeared in an element
//                        of that class, until it goes away or is empty
//     page.say(text)     types into the console
//     page.show(name, moves)
//                        brings a panel to the front: "console", "coverage" ...
//                        and waits until it stands still, unless it moves
//     page.cover(begin)  begins or ends recording coverage, by blocks
//     page.turn(program) goes to another program, as a person does who has
//                        started one anew

import {spawn} from "node:child_process"

import {waitFor, within} from "./browser.mjs"

// The session that leads the program to the line: the front end then finds it
// there. 'story' is what the program has said, for whom it ends too early.
async function session (address, story) {
  const socket = new WebSocket(`ws://${address.match(/[?&]ws=(.*)$/)[1]}`)
  const replies = []
  const pauses = []
  let gone = false
  await within("a connection to the program", new Promise((done, fail) => {
    socket.onopen = done
    socket.onerror = () => fail(new Error(`no connection: ${story()}`))
  }))
  socket.onmessage = ({data}) => {
    const message = JSON.parse(data)
    if (message.id !== undefined)
      replies[message.id] = message
    else if (message.method === "Debugger.paused")
      pauses.push(message.params)
  }
  socket.onclose = () => { gone = true }
  const come = (what, found) => waitFor(what, () => {
    const value = found()
    if (!value && gone)
      throw new Error(`the program ended before ${what}: ${story()}`)
    return value
  })
  return {
    async ask (method, params = {}) {
      const id = replies.push(null) - 1
      socket.send(JSON.stringify({id, method, params}))
      const {result, error} = await come(`its answer to ${method}`,
                                         () => replies[id])
      if (error)
        throw new Error(`${method}: ${error.message}`)
      return result
    },
    paused: () => come("its pause", () => pauses.shift())
  }
}

// Its address, which it writes when it can be debugged.
async function begin (build, directory, ...words) {
  const child = spawn(`${build}/bin/tracegrip`, words,
    {cwd: directory, stdio: ["ignore", "pipe", "pipe"]})
  process.on("exit", () => child.kill("SIGKILL"))   // whatever went wrong
  let said = "", written = ""
  child.stdout.on("data", (bytes) => { written += bytes })
  child.stderr.on("data", (bytes) => { said += bytes })
  const [, address] = await waitFor("a program to debug", () => {
    if (child.exitCode !== null)
      throw new Error(`the program ended: ${said}`)
    return said.match(/to debug, open (\S+)\n/)
  })
  return {address, output: () => written, errors: () => said,
          kill: () => child.kill("SIGKILL")}
}

async function lead ({address, errors}, line) {
  const {ask, paused} = await session(address, errors)
  await ask("Debugger.enable")
  await ask("Runtime.runIfWaitingForDebugger")
  const {url} = (await paused()).callFrames[0]
  if (line === 0)
    return
  const {breakpointId} = await (line === null
    ? ask("Debugger.setPauseOnExceptions", {state: "all"})
    : ask("Debugger.setBreakpointByUrl", {url, lineNumber: line - 1}))
  await ask("Debugger.resume")
  await paused()
  if (breakpointId)
    await ask("Debugger.removeBreakpoint", {breakpointId})
}

export async function debug (build, directory, script, line) {
  const program = await begin(build, directory, "serve", "--inspect-brk=0",
                              script)
  await lead(program, line).catch((error) => {
    program.kill()
    throw error
  })
  return program
}

export const recorded = (build, directory, file, ...options) =>
  begin(build, directory, "inspect", "--port=0", ...options, file)

// The front end's own modules are at hand in its page.
const views = (then) => `(async () => {
  const {ViewManager} = await import("./ui/legacy/legacy.js")
  const views = ViewManager.ViewManager.instance()
  ${then}
  return true
})()`

// All elements, those of shadow trees too.
const all = `(function all (root) {
  return [...root.querySelectorAll("*")].flatMap((e) =>
    e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
})(document)`

const named = (label) =>
  `(e) => (e.getAttribute("aria-label") ?? e.title ?? "").startsWith(
    ${JSON.stringify(label)})`

// What stands in the editor that has the focus, if that is in an element of
// the class; else undefined.
const focus = (holder) => `(() => {
  const inner = (root) => root.activeElement?.shadowRoot?.activeElement
    ? inner(root.activeElement.shadowRoot) : root.activeElement
  const above = (e) => e.parentNode ?? e.host
  const isIn = (e) => e && (e.classList?.contains(${JSON.stringify(holder)})
                            || isIn(above(e)))
  const editor = inner(document)
  return editor?.isContentEditable && isIn(editor)
    ? editor.textContent : undefined
})()`

// Where an element can be clicked that stands still for two frames; undefined:
// there is none. Until aimed() is asked, which tells whether it was the element
// that was hit, a click on anything else does nothing: what is drawn meanwhile
// may have moved it away.
const aim = (found) => `(async () => {
  const found = ${all}.filter(${found})
    .find((e) => e.getClientRects().length > 0)
  const middle = () => {
    const {left, top, width, height} = found.getBoundingClientRect()
    return [left + width / 2, top + height / 2]
  }
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  if (!found)
    return
  found.scrollIntoView({block: "nearest"})
  const place = middle()
  await frame()
  await frame()
  if (String(middle()) !== String(place))
    return
  const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click",
                 "dblclick", "auxclick", "contextmenu"]
  let hit
  const heed = (event) => {
    hit ??= event.composedPath().includes(found)
    if (!hit) {
      event.stopImmediatePropagation()
      event.preventDefault()
    }
  }
  kinds.forEach((kind) => addEventListener(kind, heed, true))
  globalThis.aimed = () => {
    kinds.forEach((kind) => removeEventListener(kind, heed, true))
    return hit === true
  }
  return place
})()`

export async function attach (browser, address, size) {
  const page = await browser.open(address, size)
  page.all = all
  page.texts = (name) => page.value(`${all}
    .filter((e) => e.classList.contains(${JSON.stringify(name)})
      && e.getClientRects().length > 0)
    .map((e) => e.innerText.trim())`)
  page.on = async (what, found, button, count) => {
    const click = async () => {
      const place = await page.value(aim(found))
      if (place)
        await page.click(...place, button, count)
      return place && page.value("aimed()")
    }
    return waitFor(what, click)
  }
  page.press = (label) => page.on(`the button ${label}`, named(label))
  page.offers = (label) => page.until(`${all}.some(${named(label)})`)
  page.gutter = (line, button) => page.on(`line ${line}`,
    `(e) => e.innerText === "${line}"
      && e.parentElement?.classList.contains("cm-lineNumbers")`, button)
  page.fill = async (holder, text) => {
    await page.until(`${focus(holder)} !== undefined`)
    await page.type(text)
    await page.until(`(${focus(holder)} ?? "") === ""`)
  }
  page.say = async (text) => {
    await page.on("the console's prompt", `(e) => e.id === "console-prompt"`)
    await page.fill("console-prompt-editor-container", text)
    await page.settle()
  }
  page.tab = (name) => page.until(`(() => {
    const tab = ${all}.find((e) =>
      e.classList.contains("tabbed-pane-header-tab")
      && e.innerText.trim() === ${JSON.stringify(name)})
    tab?.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, button: 0}))
    return tab !== undefined
  })()`)
  page.show = async (name, moves) => {
    await page.value(views(`await views.showView(${JSON.stringify(name)})`))
    if (!moves)
      await page.settle()
  }
  page.cover = (begin) => page.value(views(`
    const panel = await views.view("coverage").widget()
    await panel.${begin
      ? "startRecording({reload: false, jsCoveragePerBlock: true})"
      : "stopRecording()"}`))
  const ready = () => page.until(`${all}.some((e) =>
    e.classList.contains("call-frame-item-title"))`)
  page.turn = async ({address}) => {
    await page.go(address)
    await ready()
  }
  await ready()
  await page.settle()
  return page
}
