// extension.js - VS Code's side of tracegrip: it starts the debug adapter
// (tracegrip dap), which does the debugging, and offers what has no place in
// the debug adapter's protocol: this file, this test, this recording and steps
// back in it, a table's calls, and a profile's times beside the lines.

const {execFile} = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const {promisify} = require("util");
const vscode = require("vscode");

const TYPE = "lua-tracegrip";

const setting = name =>
  vscode.workspace.getConfiguration("tracegrip").get(name);

// VS Code says nothing of a command that is not there.
function command() {
  const name = setting("path");
  const places = name.includes("/") ? [name]
    : (process.env.PATH || "").split(":").map(one => path.join(one, name));
  if (!places.some(place => fs.existsSync(place))) {
    throw new Error(`There is no command ${name}: install tracegrip, or say ` +
                    "where it is in the settings (tracegrip.path).");
  }
  return name;
}

// ---- sessions ----

const adapters = {
  createDebugAdapterDescriptor: () =>
    new vscode.DebugAdapterExecutable(command(), ["dap"])
};

// F5 without a launch.json debugs the file in front.
const configurations = {
  resolveDebugConfiguration: (folder, config) => ({
    ...(folder && {cwd: folder.uri.fsPath}), ...config,
    ...(!config.type && !config.request && {type: TYPE, request: "launch",
                                            name: "Debug this file",
                                            program: "${file}"})
  })
};

const folderOf = document => vscode.workspace.getWorkspaceFolder(document);
const directory = document =>
  folderOf(document)?.uri.fsPath || path.dirname(document.fsPath);

function start(document, more, options) {
  const name = path.basename(document.fsPath), cwd = directory(document);
  return vscode.debug.startDebugging(folderOf(document),
    {type: TYPE, request: "launch", name, cwd, ...more}, options);
}

// The file that a menu names, or the one in front, as it is on the disk.
async function file(uri) {
  const document = uri || vscode.window.activeTextEditor?.document.uri;
  if (!document) {
    throw new Error("There is no file to run.");
  }
  await vscode.workspace.saveAll(false);
  return document;
}

async function run(uri, more, options) {
  const document = await file(uri);
  return start(document, {program: document.fsPath, ...more}, options);
}

// ---- tests ----

const TEST = /^\s*(?:it|describe|test|spec|context)\s*\(?\s*(["'])(.*?)\1/;

const lenses = {
  provideCodeLenses(document) {
    const wanted = setting("testLenses");
    return document.getText().split("\n").flatMap((text, i) => {
      const found = wanted && TEST.exec(text);
      return found ? [new vscode.CodeLens(document.lineAt(i).range, {
        title: "Debug test", command: "tracegrip.debugTest",
        arguments: [document.uri, found[2]]
      })] : [];
    });
  }
};

// ---- recordings ----

async function openRecording(uri) {
  const chosen = uri || (await vscode.window.showOpenDialog({
    filters: {"Recordings of tracegrip": ["tgr"]}
  }) || [])[0];
  return chosen && start(chosen, {recording: chosen.fsPath});
}

// A click on one begins a session; there is nothing to edit.
const recordings = {
  openCustomDocument: uri => ({uri, dispose() {}}),
  resolveCustomEditor(document, panel) {
    const name = path.basename(document.uri.fsPath).replace(/[<&]/g, "");
    panel.webview.html = `<p>${name} is open in Run and Debug.</p>`;
    openRecording(document.uri);
  }
};

// Steps that the protocol has no words for, in the thread that is looked at.
const step = request => () => {
  const {session, threadId} = vscode.debug.activeStackItem || {};
  return session && session.customRequest(request, {threadId});
};

// Every call that had a table, and who changed it, in the debug console.
async function showHistory(of) {
  const {session, frameId} = vscode.debug.activeStackItem || {};
  const table = session && (of?.variable?.evaluateName ||
    await vscode.window.showInputBox({prompt: "The calls that had the table"}));
  if (table) {
    const {result} = await session.customRequest("history",
                                                 {expression: table, frameId});
    vscode.debug.activeDebugConsole.appendLine(`${table}:\n${result}`);
    vscode.commands.executeCommand("workbench.debug.action.focusRepl");
  }
}

// ---- times beside the lines ----

const grey = new vscode.ThemeColor("editorCodeLens.foreground");
const times = vscode.window.createTextEditorDecorationType({
  after: {margin: "0 0 0 3em", color: grey}, isWholeLine: true
});
let lines = new Map();          // path -> line -> ms

const execute = (words, cwd) =>
  promisify(execFile)(command(), words, {maxBuffer: 1 << 28, cwd});

function collect(report, cwd) {
  const found = new Map();
  for (const one of report.functions) {
    const name = path.resolve(cwd, one.url || "");
    const known = found.set(name, found.get(name) || new Map()).get(name);
    for (const {line, self_ms} of one.lines || [])
      known.set(line, (known.get(line) || 0) + self_ms);
  }
  return found;
}

function decorate(editor) {
  const known = lines.get(editor.document.uri.fsPath) || new Map();
  editor.setDecorations(times, [...known].map(([line, ms]) => ({
    range: editor.document.lineAt(
      Math.min(line, editor.document.lineCount) - 1).range,
    renderOptions: {after: {contentText: `${ms.toFixed(1)} ms`}}
  })));
}

function show(found) {
  lines = found;
  vscode.window.visibleTextEditors.forEach(decorate);
}

// What the program prints, or that it fails, is not what is asked for here.
async function profileFile(uri) {
  const document = await file(uri), cwd = directory(document);
  const where = fs.mkdtempSync(path.join(os.tmpdir(), "tracegrip-"));
  const recording = path.join(where, "profile.tgr");
  try {
    await vscode.window.withProgress(
      {location: vscode.ProgressLocation.Notification, title: "Profiling"},
      () => execute(["record", "--sample", "1000", "-o", recording,
                     document.fsPath], cwd)
        .catch(error => fs.existsSync(recording) || Promise.reject(error)));
    const {stdout} = await execute(["report", "--json", "--lines", recording]);
    show(collect(JSON.parse(stdout), cwd));
  } finally {
    fs.rmSync(where, {recursive: true, force: true});
  }
}

exports.activate = context => {
  const commands = {
    runFile: uri => run(uri, {}, {noDebug: true}), debugFile: uri => run(uri),
    debugTest: (uri, test) => run(uri, {busted: true, test}),
    openRecording, stepBackIn: step("stepBackIn"),
    stepBackOut: step("stepBackOut"), showHistory, profileFile,
    hideTimes: () => show(new Map())
  };
  context.subscriptions.push(
    times, vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, adapters),
    vscode.debug.registerDebugConfigurationProvider(TYPE, configurations),
    vscode.languages.registerCodeLensProvider({pattern: "**/*_spec.lua"},
                                              lenses),
    vscode.window.registerCustomEditorProvider("tracegrip.recording",
                                               recordings),
    vscode.window.onDidChangeVisibleTextEditors(all => all.forEach(decorate)),
    ...Object.keys(commands).map(name =>
      vscode.commands.registerCommand("tracegrip." + name, commands[name])));
};
